"""The earnings yield of a share and where it stands in its own point-in-time history (Basu 1977). Pure.

A per-share figure is on the share basis of the day it was filed and is brought to the price's day by the splits in between, so an
as-filed figure never meets a price on another basis. A depositary share (ADS) stands for so many ordinary shares, of which the filings
speak: its earnings are converted, and where a foreign company's ratio is not stated there are none. The history is sampled with what was
known at each sample's close, and only with that.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby

from alphaagent.domain.market import Bar, CorporateAction, Fact
from alphaagent.evidence.fundamentals import CONCEPTS, USABLE_DAYS, Figure, Filed, Name, current_end, earnings_now, order_of_filing, split_ratio

SAMPLE_SESSIONS = 21
YEAR_SESSIONS = 252
MIN_YEARS = 5
MIN_SAMPLES = MIN_YEARS * YEAR_SESSIONS // SAMPLE_SESSIONS

_PER_SHARE: tuple[Name, ...] = ("net_income", "pretax_income", "income_tax", "eps", "diluted_shares")

BEARING_CONCEPTS = frozenset(concept for name in _PER_SHARE for concept in CONCEPTS[name])
"""The concepts that earnings per share are made of."""

FOREIGN_FORMS = ("20-F", "40-F", "6-K")
"""What foreign companies file, amended or not: their traded share may be an ADS."""


@dataclass(frozen=True, slots=True)
class Earnings:
    """Earnings per traded share of the latest twelve months, known from an instant on, on the share basis of one day."""

    known_at: datetime
    basis: date
    figure: Figure | None
    ads_ratio: Decimal = Decimal(1)
    """Ordinary shares that one traded share stands for."""
    foreign_form: str | None = None
    """The form for which there is no figure: whoever files it may trade as an ADS, and nobody says of how many shares."""

    def on(self, session: date, actions: Iterable[CorporateAction]) -> Decimal | None:
        """The same on the share basis of a session; None where there are none, where they are too old by then, or where a split is ambiguous."""
        if self.figure is None or (session - self.figure.end).days > USABLE_DAYS or self.is_ambiguous(session, actions):
            return None
        return self.figure.value / split_ratio(actions, self.basis, session)

    def is_ambiguous(self, session: date, actions: Iterable[CorporateAction]) -> bool:
        """Whether a split since the filing may be one of the ADS alone, of which the ordinary shares know nothing."""
        return self.ads_ratio != 1 and split_ratio(actions, self.basis, session) != 1


@dataclass(frozen=True, slots=True)
class Valuation:
    """Everything about the yield at the last bar: fractions, Decimal; `percentile` in [0, 1] with five years of samples, else None."""

    price: Decimal
    eps_ttm: Decimal | None
    earnings_yield: Decimal | None
    percentile: Decimal | None
    samples: int
    figure: Figure | None
    refused: str | None = None
    """Why earnings that are on file are not set against the price, in words."""

    @property
    def years(self) -> Decimal:
        return Decimal(self.samples * SAMPLE_SESSIONS) / YEAR_SESSIONS


def valuation(facts: Sequence[Fact], bars: Sequence[Bar], actions: Sequence[CorporateAction], currency: str, ads_ratio: Decimal | None = None) -> Valuation:
    """The yield at the last bar by every fact given, against that at every 21st session before it by what was known then."""
    steps = earnings_steps(facts, currency, ads_ratio)
    last = bars[-1]
    eps = steps[-1].on(last.session, actions) if steps else None
    current = None if eps is None else eps / last.close
    past = past_yields(steps, bars, actions)
    percentile = mid_rank(current, past) if current is not None and len(past) >= MIN_SAMPLES else None
    refused = _refused(steps[-1], last.session, actions) if steps else None
    return Valuation(last.close, eps, current, percentile, len(past), steps[-1].figure if eps is not None else None, refused)


def _refused(step: Earnings, session: date, actions: Sequence[CorporateAction]) -> str | None:
    if step.foreign_form is not None:
        return (
            f"the company files {step.foreign_form}: whether the traded share is an ADS and of how many shares is not stated; set ads_ratio in instruments.yaml"
        )
    if step.figure is not None and step.is_ambiguous(session, actions):
        return "the traded share was split since the filing, and whether the shares that it stands for were is not stated"
    return None


def earnings_steps(facts: Iterable[Fact], currency: str, ads_ratio: Decimal | None = None) -> tuple[Earnings, ...]:
    """What earnings per share were known to be after each instant at which a fact that bears on them became known, in order."""
    filed, steps = Filed((), currency), []
    for known_at, together in groupby(
        sorted((fact for fact in facts if fact.concept in BEARING_CONCEPTS), key=order_of_filing), key=lambda fact: fact.known_at
    ):
        for fact in together:
            filed.add(fact)
        steps.append(_as_traded(_earnings(filed, known_at), ads_ratio))
    return tuple(steps)


def _as_traded(ordinary: Earnings, ads_ratio: Decimal | None) -> Earnings:
    """Earnings per ordinary share as those per traded share."""
    if ordinary.figure is None:
        return ordinary
    if ads_ratio is not None:
        return replace(ordinary, figure=replace(ordinary.figure, value=ordinary.figure.value * ads_ratio), ads_ratio=ads_ratio)
    foreign = next((fact.form for fact in ordinary.figure.facts if fact.form.startswith(FOREIGN_FORMS)), None)
    return ordinary if foreign is None else replace(ordinary, figure=None, foreign_form=foreign)


def _earnings(filed: Filed, known_at: datetime) -> Earnings:
    """Earnings over diluted shares of the latest period; where those were not filed, the year's diluted earnings per share."""
    on = known_at.date()
    earnings, end = earnings_now(filed, on), current_end(filed, "diluted_shares", on)
    shares = None if end is None else filed.shortest("diluted_shares", end)
    if earnings is not None and shares is not None and shares.end == earnings.end and shares.value > 0:
        return Earnings(known_at, shares.filed, Figure(earnings.value / shares.value, earnings.end, (*earnings.facts, shares)))
    return _year_as_filed(filed, known_at, current_end(filed, "eps", on))


def _year_as_filed(filed: Filed, known_at: datetime, end: date | None) -> Earnings:
    """A year's earnings per share as one filing gives them: across filings their share bases may differ."""
    figure = None if end is None else filed.trailing("eps", end)
    if figure is None or len(figure.facts) > 1:
        return Earnings(known_at, known_at.date(), None)
    return Earnings(known_at, figure.newest.filed, figure)


def past_yields(steps: Sequence[Earnings], bars: Sequence[Bar], actions: Sequence[CorporateAction]) -> list[Decimal]:
    """The earnings yield at every 21st session before the last bar, newest first; sessions without one are left out."""
    known = [step.known_at for step in steps]
    yields = []
    for bar in bars[-1 - SAMPLE_SESSIONS :: -SAMPLE_SESSIONS] if len(bars) > SAMPLE_SESSIONS else ():
        place = bisect_left(known, bar.known_at) - 1
        eps = steps[place].on(bar.session, actions) if place >= 0 else None
        if eps is not None:
            yields.append(eps / bar.close)
    return yields


def mid_rank(value: Decimal, sample: Sequence[Decimal]) -> Decimal:
    """The share of a sample below a value, ties counting one half."""
    below, ties = sum(other < value for other in sample), sum(other == value for other in sample)
    return (below + Decimal(ties) / 2) / len(sample)
