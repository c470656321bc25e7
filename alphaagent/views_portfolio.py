"""The rows of a portfolio's page: its course, positions, trades, sectors and sums. Pure: nothing here reads or draws.

Amounts are exact until they stand here; a table and a figure need no more than a float has.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from alphaagent.domain.base import instant_text
from alphaagent.domain.performance import NOTHING, drawdowns

if TYPE_CHECKING:
    from alphaagent.operations.benchmark import Benchmark
    from alphaagent.operations.equity import Course

Row = dict[str, Any]
UNKNOWN_SECTOR = "sector not known"


@dataclass(frozen=True, slots=True)
class Caps:
    """The mandate's limits on weight, as fractions of NAV."""

    position: Decimal
    sector: Decimal
    gross: Decimal


def course_rows(course: "Course", benchmark: "Benchmark | None") -> list[Row]:
    """One row a point: NAV, and as per cent since the first one the return without the owner's payments, the benchmark's, and the drawdown."""
    falls = drawdowns(point.growth for point in course.points)
    beside = benchmark.growth if benchmark else (None,) * len(course.points)
    before = NOTHING
    rows = []
    for point, fall, other in zip(course.points, falls, beside, strict=True):
        rows.append(
            {
                "at": instant_text(point.at),
                "session": point.session.isoformat(),
                "nav": None if point.nav is None else float(point.nav),
                "return": None if point.nav is None else float((point.growth - 1) * 100),
                "drawdown": None if point.nav is None else float(fall * 100),
                "benchmark": None if other is None else float((other - 1) * 100),
                "paid": float(point.paid_in - before),
            }
        )
        before = point.paid_in
    return rows


def position_rows(course: "Course", caps: Caps | None) -> list[Row]:
    """What is held, the largest first; weights in per cent of NAV, beside the mandate's cap on one name."""
    nav = course.points[-1].nav
    rows = []
    for position in course.account.positions:
        mark, instrument = course.mark(position.instrument_id), course.instruments.get(position.instrument_id)
        value = None if mark is None else position.quantity * mark
        weight = value / nav if value is not None and nav is not None and nav > 0 else None
        gain = None if value is None else value - position.cost
        rows.append(
            {
                "ticker": position.symbol,
                "sector": instrument.sector or UNKNOWN_SECTOR if instrument else UNKNOWN_SECTOR,
                "shares": float(position.quantity),
                "last close": _float(mark),
                "value": _float(value),
                "weight %": _float(weight, 100),
                "cap %": _float(caps.position, 100) if caps else None,
                "cost": float(position.cost),
                "unrealised": _float(gain),
                "unrealised %": _float(gain / position.cost, 100) if gain is not None and position.cost > 0 else None,
            }
        )
    return sorted(rows, key=lambda row: -(row["value"] or 0))


def sector_rows(course: "Course", caps: Caps | None) -> list[Row]:
    """Weight by sector as the guard counts it: what is held at its mark, and what is being bought at the price of its decision."""
    nav, worth = course.points[-1].nav, defaultdict[str, Decimal](Decimal)
    for position in course.account.positions:
        worth[_sector(course, position.instrument_id)] += position.quantity * (course.mark(position.instrument_id) or NOTHING)
    for order in course.account.pending:
        if order.side == "BUY":
            worth[_sector(course, order.instrument_id)] += order.quantity * order.decision_price
    if nav is None or nav <= 0:
        return []
    cap = _float(caps.sector, 100) if caps else None
    rows = [{"sector": sector, "value": float(value), "weight %": float(value / nav * 100), "cap %": cap} for sector, value in worth.items()]
    return sorted(rows, key=lambda row: -row["weight %"])


def trade_rows(course: "Course") -> list[Row]:
    """Every fill, newest first."""
    return [
        {
            "filled (UTC)": f"{trade.at:%Y-%m-%d %H:%M}",
            "side": trade.order.side,
            "ticker": trade.order.symbol,
            "shares": float(trade.order.quantity),
            "price": _float(trade.order.price),
            "fee": float(trade.fee),
            "realised gain": _float(trade.gain),
            "decision": trade.order.decision_id,
        }
        for trade in reversed(course.trades)
    ]


@dataclass(frozen=True, slots=True)
class Result:
    """What a portfolio came to since its opening. P = NAV - paid in = realised + unrealised + dividends + brought in."""

    profit: Decimal | None
    paid_in: Decimal
    unrealised: Decimal | None
    returned: Decimal | None
    """Time-weighted, as a fraction."""
    deepest: Decimal
    """The deepest drawdown, zero or below."""
    invested: Decimal | None
    """What is held, as a fraction of NAV."""


def result(course: "Course") -> Result:
    """The sums above a portfolio's figures."""
    last = course.points[-1]
    marks = {position.instrument_id: course.mark(position.instrument_id) for position in course.account.positions}
    held = None if None in marks.values() else sum((one.quantity * (marks[one.instrument_id] or NOTHING) for one in course.account.positions), NOTHING)
    cost = sum((position.cost for position in course.account.positions), NOTHING)
    return Result(
        profit=None if last.nav is None else last.nav - last.paid_in,
        paid_in=last.paid_in,
        unrealised=None if held is None else held - cost,
        returned=None if last.nav is None else last.growth - 1,
        deepest=min(drawdowns(point.growth for point in course.points)),
        invested=held / last.nav if held is not None and last.nav is not None and last.nav > 0 else None,
    )


def payments(rows: Sequence[Row]) -> list[Row]:
    """The points at which the owner paid in or took out, the opening left out."""
    return [row | {"kind": "paid in" if row["paid"] > 0 else "taken out"} for row in rows[1:] if row["paid"]]


def told(rows: Sequence[Row], key: str, what: str, unit: str) -> str:
    """A line of a figure in words, for who does not see it: from where to where, its lowest and its highest."""
    known = [row for row in rows if row[key] is not None]
    if not known:
        return f"{what}: no value is known."
    first, last = known[0], known[-1]
    low, high = min(known, key=lambda row: row[key]), max(known, key=lambda row: row[key])
    return (
        f"{what}: {first[key]:,.2f} {unit} on {first['session']}, {last[key]:,.2f} {unit} on {last['session']}; "
        f"lowest {low[key]:,.2f} on {low['session']}, highest {high[key]:,.2f} on {high['session']}."
    )


def caps_of(mandate: Mapping[str, Any]) -> Caps:
    """The caps of a mandate's document."""
    rules = mandate["rules"]
    return Caps(Decimal(rules["H6"]["max_position_fraction"]), Decimal(rules["H7"]["max_sector_fraction"]), Decimal(rules["H8"]["max_gross_fraction"]))


def _sector(course: "Course", instrument_id: str) -> str:
    instrument = course.instruments.get(instrument_id)
    return instrument.sector or UNKNOWN_SECTOR if instrument else UNKNOWN_SECTOR


def _float(value: Decimal | None, times: int = 1) -> float | None:
    return None if value is None else float(value * times)
