"""The two cases out of one reading: each side speaks only of what its own tools returned, and may have no case."""

from collections.abc import Iterable
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from alphaagent.domain.debate import Case, CaseLine, Contribution
from alphaagent.domain.evidence import BESIDE, EvidenceItem, EvidencePack, Status
from alphaagent.domain.text import inert
from alphaagent.engines.heuristic.profiles import Factor
from alphaagent.engines.heuristic.sizing import Holding, Trade

if TYPE_CHECKING:
    from alphaagent.engines.heuristic.engine import Reading

LABEL = "a mechanical read by the heuristic engine, no model"
BULL_SEES: frozenset[Factor] = frozenset({"momentum", "trend", "drawdown", "reversal", "news"})
BEAR_SEES: frozenset[Factor] = BULL_SEES | {"quality", "value"}
MAX_HEADLINES = 3
SUPPLIES: dict[str, str] = {"get_financial_health": "fundamentals", "get_price_history": "price", "get_news_sentiment": "news"}
MAX_CHARACTERS = 4_000
"""Of the reasoning."""


def bull_case(pack: EvidencePack, reading: "Reading") -> Case:
    """The case for owning it, from news and price history."""
    mine = [part for part in reading.contributions if part.factor in BULL_SEES]
    lines = (*_lines(mine, 1), *_headlines(pack, 1))
    total = _total(mine)
    against = _strongest(mine, -1)
    return _case("bull", pack, lines, total, against, f"no bullish case on {_seen(pack, 'bull')}" if not lines or total <= 0 else None)


def bear_case(pack: EvidencePack, reading: "Reading") -> Case:
    """The case against it, from fundamentals, price history and news."""
    mine = [part for part in reading.contributions if part.factor in BEAR_SEES]
    lines = (*_lines(mine, -1), *_failed_tests(pack), *_hard_flags(pack), *_headlines(pack, -1))
    total = _total(mine)
    against = _strongest(mine, 1)
    return _case("bear", pack, lines, total, against, f"no bearish case on {_seen(pack, 'bear')}" if not lines or total >= 0 else None)


def _seen(pack: EvidencePack, side: Literal["bull", "bear"]) -> str:
    """What a side could look at, and what it could not: no case on what was never seen would be a clean bill of health."""
    found = {item.tool: any(one.status is Status.OK and one.kind not in BESIDE for one in pack.find(item.tool)) for item in pack.visible_to(side)}
    named = [(name, found[tool]) for tool, name in SUPPLIES.items() if tool in found]
    blind = _listed([name for name, seen in named if not seen])
    return _listed([name for name, seen in named if seen]) + (f"; {blind} could not be seen" if blind else "")


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _case(
    side: Literal["bull", "bear"],
    pack: EvidencePack,
    lines: tuple[CaseLine, ...],
    total: Decimal,
    against: Contribution | None,
    none: str | None,
) -> Case:
    holes = tuple(f"{item.tool}: {item.summary}" for item in _holes(pack, side))
    concession = "Nothing it can see stands against."
    if against:
        concession = f"The strongest point against: {against.factor} {Decimal(against.contribution):+.3f} ({against.detail})."
    verdict = f"{f'{none[0].upper()}{none[1:]}: what' if none else 'What'} this side can see adds up to {total:+.3f}."
    cited = dict.fromkeys(key for line in lines for key in line.evidence_ids)
    return Case(
        side=side,
        label=LABEL,
        summary=f"{verdict} {concession}",
        no_case=none,
        lines=lines,
        holes=holes,
        evidence_ids=tuple(cited),
    )


def _lines(parts: Iterable[Contribution], sign: int) -> tuple[CaseLine, ...]:
    """The contributions of one sign, heaviest first."""
    mine = [part for part in parts if Decimal(part.contribution) * sign > 0]
    mine.sort(key=lambda part: (-abs(Decimal(part.contribution)), part.factor))
    return tuple(_line(part) for part in mine)


def _line(part: Contribution) -> CaseLine:
    text = f"{part.factor} is lost and counts at its worst: {part.detail}" if part.status == "lost" else part.detail
    return CaseLine(text=text, factor="hole" if part.status == "lost" else part.factor, weight=part.contribution, evidence_ids=part.evidence_ids)


def _failed_tests(pack: EvidencePack) -> tuple[CaseLine, ...]:
    tests = (item for item in pack.find("get_financial_health") if item.kind.startswith("test.") and item.payload.get("passed") is False)
    return tuple(_remark(item, "quality") for item in tests)


def _hard_flags(pack: EvidencePack) -> tuple[CaseLine, ...]:
    return tuple(_remark(item, "quality") for item in pack.find("get_financial_health", "hard_flag"))


def _headlines(pack: EvidencePack, sign: int) -> tuple[CaseLine, ...]:
    stories = [item for item in pack.find("get_news_sentiment", "headline") if Decimal(str(item.payload.get("score") or 0)) * sign > 0]
    return tuple(_remark(item, "news") for item in stories[:MAX_HEADLINES])


def _remark(item: EvidenceItem, factor: str) -> CaseLine:
    return CaseLine(text=item.summary, factor=factor, weight="0.0", evidence_ids=(item.id,))


def _holes(pack: EvidencePack, side: Literal["bull", "bear"]) -> list[EvidenceItem]:
    return [item for item in pack.visible_to(side) if item.status not in (Status.OK, Status.NOT_APPLICABLE)]


def _total(parts: Iterable[Contribution]) -> Decimal:
    return sum((Decimal(part.contribution) for part in parts), Decimal(0))


def _strongest(parts: Iterable[Contribution], sign: int) -> Contribution | None:
    mine = [part for part in parts if Decimal(part.contribution) * sign > 0]
    return max(mine, key=lambda part: abs(Decimal(part.contribution)), default=None)


HOLD_REASONS = {
    "balanced": "The score is under the threshold to enter, so nothing is bought.",
    "no_trade_region": "The target is so near to what is held that trading would cost more than it mends: inside the no-trade region.",
    "at_target": "The position is at its target.",
    "no_edge": "The probability of a rise does not beat the base rate: no edge.",
    "held_back": "The score asks for a purchase, which is held back: there was no money for a debate, and a substitute for one only reduces risk.",
    "barred": "Opening is barred: a hard flag is raised, or the filings that could raise one are lost.",
}


def reasoning(reading: "Reading", trade: Trade, holding: Holding, sigma: float | None, why_not: str | None) -> str:
    """The proposal's reasoning: the score against its thresholds, what carried it, and how the size follows.

    Evidence may hold anything; what the strict parser would refuse is taken out here, so that no source can undo a decision.
    """
    text = inert(_reasons(reading, trade, holding, sigma, why_not))
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def _reasons(reading: "Reading", trade: Trade, holding: Holding, sigma: float | None, why_not: str | None) -> str:
    if why_not:
        return f"Mechanical read: abstained, the book stays as it is. Reason: {why_not}."
    profile = reading.profile
    head = f"Mechanical read ({profile.name} risk): score {reading.low:+.3f}; enter at {profile.enter:+.2f}, exit at {profile.exit:+.2f}."
    span = ""
    if reading.high != reading.low:
        span = f" A source is lost: the score lies in {reading.low:+.3f} to {reading.high:+.3f}; buying goes by the worst, selling by the best."
    return f"{head}{span} {_carried(reading, 1, 'For')} {_carried(reading, -1, 'Against')} {_sized(trade, holding, sigma)}"


def _carried(reading: "Reading", sign: int, word: str) -> str:
    parts = [part for part in reading.contributions if Decimal(part.contribution) * sign > 0]
    parts.sort(key=lambda part: (-abs(Decimal(part.contribution)), part.factor))
    named = ", ".join(f"{part.factor} {Decimal(part.contribution):+.3f}" + (" (lost)" if part.status == "lost" else "") for part in parts)
    return f"{word}: {named or 'nothing'}."


def _sized(trade: Trade, holding: Holding, sigma: float | None) -> str:
    if trade.action == "HOLD":
        return HOLD_REASONS[str(trade.hold_kind)]
    if trade.action == "SELL":
        return _sold(trade, holding, sigma)
    near = f"the near edge of the no-trade region, {trade.edge:.1%}"
    goes = f"takes it to {near}" if trade.amount < holding.budget or holding.budget <= 0 else f"is the whole budget, on the way to {near}"
    return f"At a volatility of {sigma:.0%} the target is {trade.target:.1%} of NAV; {holding.weight:.1%} is held; buying {trade.amount} {goes}."


def _sold(trade: Trade, holding: Holding, sigma: float | None) -> str:
    """A sale follows from a rule, whatever the view: an exit, a flag, or a holding that has outgrown its target."""
    if trade.amount >= holding.value:
        return "Selling all that is held, by rule."
    return (
        f"{holding.weight:.1%} of NAV is held; at a volatility of {sigma:.0%} the target is {trade.target:.1%}. Selling {trade.amount} of "
        f"{holding.value:.2f} trims it to {trade.edge:.1%}, by rule: this is a matter of size and not of the view."
    )
