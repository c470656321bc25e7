"""What the filings say: the items of `get_financial_health`, which the bear alone holds.

One item per test of quality, one per hard flag that is raised, the valuation, and the latest figures. An item is dated at the end
of the period that it speaks of, and known with the newest fact that it was made of.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from alphaagent.domain.base import measured
from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.domain.market import CorporateAction, Fact, Instrument
from alphaagent.evidence.fundamentals import (
    Figure,
    Filed,
    current_end,
    debt_now,
    earnings_now,
    instant_now,
    order_of_filing,
    trailing_now,
)
from alphaagent.evidence.gathered import Gathered, Supplied
from alphaagent.evidence.items import LOST, Measure, listed, lost_item, measure_item, reject_faults
from alphaagent.evidence.quality import Flag, Verdict, flags, quotient, verdicts
from alphaagent.evidence.valuation import FOREIGN_FORMS, MIN_YEARS, Valuation, valuation

NOTHING = "no filing is known before this instant"
YEAR_SESSIONS, YEAR_DAYS = 252, 365
RATIO_PLACES = 12

TITLES = {
    "operating_income": "Operating income over twelve months",
    "revenue_growth": "Revenue over twelve months",
    "margin": "Operating margin over twelve months",
    "net_debt": "Net debt",
    "interest_cover": "Interest cover",
    "current_ratio": "Current ratio",
    "dilution": "Diluted shares on the year",
}

BOUNDS = {"net_debt": "at most", "dilution": "at most"}
"""How a test is worded where it is not `above`."""


def fundamental_items(g: Gathered) -> tuple[EvidenceItem, ...]:
    """The items of get_financial_health, or one of kind `fundamentals` where the supply was lost. Raises SourceFault on unusable rows."""
    if g.fundamentals.status in LOST:
        return (lost_item(g, "get_financial_health", "fundamentals", g.fundamentals, NOTHING),)
    reject_faults(g.fundamentals.records)
    facts = g.fundamentals.records.facts
    filed = Filed(facts, g.instrument.currency)
    unusable = _in_other_money(facts, g.instrument.currency)
    if filed.latest is None or unusable:
        return (lost_item(g, "get_financial_health", "fundamentals", g.fundamentals, unusable or NOTHING),)
    splits = _actions(g, filed.latest)
    return (
        *(_verdict_item(g, verdict, filed.latest) for verdict in verdicts(filed, g.instrument.currency, splits, g.session, g.instrument.sector)),
        *(_flag_item(g, flag) for flag in flags(filed, facts, g.session, lambda day: _sessions_since(g, day))),
        *_valuation_items(g, facts, filed.latest),
        _filing_item(g, filed, filed.latest),
    )


def _in_other_money(facts: Sequence[Fact], currency: str) -> str | None:
    """Says so where all money on file is in another unit than the price."""
    units = sorted({fact.unit.removesuffix("/shares") for fact in facts if fact.unit != "shares"})
    return f"the facts on file are in {listed(units)}, the price in {currency}; nothing is converted" if units and currency not in units else None


def _actions(g: Gathered, latest: Fact) -> Sequence[CorporateAction] | None:
    """The splits and dividends known of the shares on file; None where the price supply was lost, or where the traded share is or may be an ADS."""
    ratio = g.instrument.ads_ratio
    of_other_shares = latest.form.startswith(FOREIGN_FORMS) if ratio is None else ratio != 1
    return None if g.prices.status in LOST or of_other_shares else g.prices.records.actions


def _sessions_since(g: Gathered, day: date) -> int:
    """Sessions from a date to the last completed one; those before the calendar begins are reckoned at 252 a year."""
    first = g.calendar.first
    return g.calendar.sessions_between(max(day, first), g.session) + max(0, (first - day).days) * YEAR_SESSIONS // YEAR_DAYS


def _item(g: Gathered, measure: Measure, event: date, known_at: datetime, supplied: Supplied | None = None) -> EvidenceItem:
    event_at = datetime.combine(event, time(), UTC)
    return measure_item(g, "get_financial_health", supplied or g.fundamentals, measure, event_at=event_at, known_at=known_at)


def _verdict_item(g: Gathered, verdict: Verdict, latest: Fact) -> EvidenceItem:
    newest = max((figure.newest for figure in verdict.figures), key=order_of_filing, default=None)
    end = verdict.figures[0].end if verdict.figures else None
    payload: dict[str, Any] = {
        "test": verdict.test,
        "passed": verdict.passed,
        "value": measured(verdict.value),
        "threshold": measured(verdict.threshold),
        "unit": verdict.unit,
        "period_end": None if end is None else str(end),
        **_filed(newest),
    }
    missing = f"{TITLES[verdict.test]} unknown: {listed(verdict.missing)} not on file" if verdict.missing else None
    pointless = f"{TITLES[verdict.test]} is no test of a company in {verdict.sector}" if verdict.sector else None
    measure = Measure(f"test.{verdict.test}", payload, "" if missing or pointless else _verdict_words(payload), missing, pointless)
    return _item(g, measure, end or latest.end, (newest or latest).known_at)


def _verdict_words(payload: dict[str, Any]) -> str:
    """`Interest cover 5.2, asked above 3.0: passed (period to 2020-06-27)`."""
    test, unit = payload["test"], payload["unit"]
    write = _percent if test in ("margin", "dilution") else _times if unit == "ratio" else _money
    value, bound = (None if payload[key] is None else write(payload[key], unit) for key in ("value", "threshold"))
    number = value or "not limited, no interest to pay"
    asked = f", asked {BOUNDS.get(test, 'above')} {bound}" if bound and value else ""
    return f"{TITLES[test]} {number}{asked}: {'passed' if payload['passed'] else 'failed'} (period to {payload['period_end']})"


def _flag_item(g: Gathered, flag: Flag) -> EvidenceItem:
    numbers = {key: number if isinstance(number, int) else measured(number) for key, number in (("value", flag.value), ("threshold", flag.threshold))}
    payload: dict[str, Any] = {"flag": flag.flag, **numbers, **_filed(flag.fact)}
    if flag.flag == "negative_equity":
        words = f"Hard flag: equity of {_money(payload['value'], flag.fact.unit)} is below zero, filed {payload['filed']}"
    else:
        words = f"Hard flag: an amended filing of {payload['filed']}, {payload['value']} sessions ago"
    return _item(g, Measure("hard_flag", payload, words), flag.fact.end, flag.fact.known_at)


def _valuation_items(g: Gathered, facts: Sequence[Fact], latest: Fact) -> tuple[EvidenceItem, ...]:
    """The valuation; without a price there is none to speak of, and its item says so."""
    bars = g.prices.records.bars
    if g.prices.status in LOST or not bars:
        payload = dict.fromkeys(("earnings_yield", "percentile", "years", "eps_ttm", "price")) | {"samples": 0}
        return (_item(g, Measure("valuation", payload, "", "Valuation unknown: there is no price to set the earnings against"), latest.end, latest.known_at),)
    ratio = g.instrument.ads_ratio
    found = valuation(_since_ratio(facts, g.instrument), bars, g.prices.records.actions, g.instrument.currency, ratio)
    payload = {
        "earnings_yield": measured(found.earnings_yield),
        "percentile": measured(found.percentile),
        "samples": found.samples,
        "years": measured(found.years),
        "eps_ttm": measured(found.eps_ttm),
        "price": measured(found.price),
    } | ({} if ratio is None else {"ads_ratio": measured(ratio, RATIO_PLACES)})
    newest = latest if found.figure is None else found.figure.newest
    measure = Measure("valuation", payload, _valuation_words(payload), _valuation_missing(found, ratio))
    return (_item(g, measure, latest.end if found.figure is None else found.figure.end, max(newest.known_at, bars[-1].known_at), _of_both(g)),)


def _of_both(g: Gathered) -> Supplied:
    """How the filings stand, or, where they are sound, the prices that they are set against."""
    if g.fundamentals.status is not Status.OK or g.prices.status is Status.OK:
        return g.fundamentals
    return Supplied(g.fundamentals.source, g.prices.status, note=f"the price is {g.prices.status.value}: {g.prices.note or g.prices.source}")


def _since_ratio(facts: Sequence[Fact], instrument: Instrument) -> Sequence[Fact]:
    """The facts that an instrument's ratio holds for: filed since it is valid, where it stands for another number of shares than one."""
    if instrument.ads_ratio in (None, 1) or instrument.valid_from is None:
        return facts
    return [fact for fact in facts if fact.filed >= instrument.valid_from]


def _valuation_missing(found: Valuation, ratio: Decimal | None) -> str | None:
    if found.refused is not None:
        return f"Valuation refused: {found.refused}"
    if found.earnings_yield is None:
        return "Valuation unknown: no earnings per share of the latest twelve months on file"
    if found.percentile is None:
        converted = _converted(ratio)
        return f"Earnings yield {found.earnings_yield:.1%}{converted}; its own history covers {found.years:.1f} years and {MIN_YEARS} are needed"
    return None


def _converted(ratio: Decimal | None) -> str:
    return "" if ratio is None or ratio == 1 else f" with one traded share for {ratio.normalize():f} of those on file"


def _valuation_words(payload: dict[str, Any]) -> str:
    if payload["percentile"] is None:
        return ""
    rank = f"above {Decimal(payload['percentile']):.0%} of {Decimal(payload['years']):.1f} years of its own history"
    share = f"{Decimal(payload['eps_ttm']):.2f} a share on {Decimal(payload['price']):,.2f}"
    converted = _converted(Decimal(payload["ads_ratio"])) if "ads_ratio" in payload else ""
    return f"Earnings yield {_percent(payload['earnings_yield'])} ({share}{converted}), {rank}"


def _filing_item(g: Gathered, filed: Filed, latest: Fact) -> EvidenceItem:
    revenue, income = trailing_now(filed, "revenue", g.session), trailing_now(filed, "operating_income", g.session)
    shares_end = current_end(filed, "diluted_shares", g.session)
    shares = None if shares_end is None else filed.shortest("diluted_shares", shares_end)
    same_period = revenue is not None and income is not None and revenue.end == income.end
    figures: dict[str, Figure | None] = {
        "revenue_ttm": revenue,
        "operating_income_ttm": income,
        "earnings_ttm": earnings_now(filed, g.session),
        "operating_margin": quotient(income, revenue) if same_period else None,
        "cash": instant_now(filed, "cash", g.session),
        "debt": debt_now(filed, g.session),
        "equity": instant_now(filed, "equity", g.session),
    }
    payload: dict[str, Any] = {"form": latest.form, "period_end": str(latest.end), **_filed(latest)}
    payload |= {name: None if figure is None else measured(figure.value) for name, figure in figures.items()}
    payload["diluted_shares"] = None if shares is None else measured(shares.value)
    return _item(g, Measure("filing", payload, _filing_words(payload, g.instrument.currency)), latest.end, latest.known_at)


def _filing_words(payload: dict[str, Any], currency: str) -> str:
    parts = [
        f"{word} {_money(payload[name], currency)}"
        for name, word in (("revenue_ttm", "revenue"), ("operating_income_ttm", "operating income"), ("cash", "cash"), ("debt", "debt"))
        if payload[name] is not None
    ]
    return f"{payload['form']} filed {payload['filed']} for the period to {payload['period_end']}: {', '.join(parts) or 'no figure of the last twelve months'}"


def _filed(fact: Fact | None) -> dict[str, str | None]:
    return {"filed": None if fact is None else str(fact.filed), "accession": None if fact is None else fact.accession}


def _money(amount: str, currency: str) -> str:
    """`USD 1,234.5m`."""
    return f"{currency} {Decimal(amount) / 1_000_000:,.0f}m"


def _percent(fraction: str, _unit: str = "") -> str:
    return f"{Decimal(fraction):.1%}"


def _times(ratio: str, _unit: str = "") -> str:
    return f"{Decimal(ratio):.1f}"
