"""The figures of one decision: the gap over the rounds, the engine's factors, the closes around it; each with its alternative text.

Pure, as in charts.py. Nothing is told by colour alone: a side has its own mark and dash as well, and what matters is labelled in words.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import altair as alt

from alphaagent.operations.price_path import PricePath
from dashboard.charts import BEAR, BENCHMARK, BOOK, BULL, OTHER, WARNING

Row = Mapping[str, Any]
Figure = alt.LayerChart | alt.FacetChart
BEFORE, AFTER = "before", "verdict"
SERIES = ("the bull", "the short seller", "the middle", "base rate", "where the debate ended", "the CIO")
COLOURS = (BULL, BEAR, BENCHMARK, WARNING, BOOK, OTHER)
MARKS = ("triangle-up", "triangle-down", "circle", "square", "diamond", "cross")
DASHES = ((1, 0), (6, 3), (2, 2), (1, 0), (1, 0), (1, 0))
PART_COLOURS = {"pulls up": BULL, "pulls down": BEAR}
BAR_HEIGHT = 34
HORIZON_ENDS = "horizon ends"


def _over(rows: Sequence[Row]) -> alt.Chart:
    return alt.Chart(alt.Data(values=[dict(row) for row in rows]))  # type: ignore[no-untyped-call]


def gap_rows(rounds: Sequence[Row], base_rate: str | None, p_final: str | None, p_cio: object) -> list[dict[str, Any]]:
    """One row for each number: its step, whose it is, and the probability."""
    rows = [_point(BEFORE, "base rate", base_rate)]
    for one in rounds:
        step = f"round {one['round']}"
        rows += [_point(step, "the bull", one["bull"]), _point(step, "the short seller", one["bear"]), _point(step, "the middle", one["mid"])]
    rows += [_point(AFTER, "where the debate ended", p_final), _point(AFTER, "the CIO", p_cio)]
    return [row for row in rows if row["p"] is not None]


def _point(step: str, who: str, value: object) -> dict[str, Any]:
    return {"step": step, "who": who, "p": None if value is None else float(Decimal(str(value)))}


def gap_chart(rows: Sequence[Row], rounds: Sequence[Row]) -> Figure:
    """The band between the two sides round by round, with what was known before and what came of it. One round shows as a line between two marks."""
    steps = [BEFORE, *(f"round {one['round']}" for one in rounds), AFTER]
    band = [{"step": f"round {one['round']}", "low": float(one["bear"]), "high": float(one["bull"])} for one in rounds]
    x = alt.X("step:N", sort=steps, scale=alt.Scale(domain=steps), title="step of the debate", axis=alt.Axis(labelAngle=0))
    y = alt.Y("p:Q", title="p(up in 20 sessions)", scale=alt.Scale(domain=_domain(rows), nice=True, zero=False))
    legend = alt.Legend(orient="bottom", columns=2, labelLimit=240)
    colour = alt.Color("who:N", title=None, scale=alt.Scale(domain=SERIES, range=COLOURS), legend=legend)
    shape = alt.Shape("who:N", title=None, scale=alt.Scale(domain=SERIES, range=MARKS), legend=legend)
    dash = alt.StrokeDash("who:N", title=None, scale=alt.Scale(domain=SERIES, range=DASHES), legend=legend)
    numbers = _over(rows)
    shown = [alt.Tooltip("who:N", title="who"), alt.Tooltip("step:N", title="step"), alt.Tooltip("p:Q", title="p(up)", format=".3f")]
    area = _over(band).mark_area(opacity=0.18, color=BENCHMARK).encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
    gap = _over(band).mark_rule(opacity=0.6, color=BENCHMARK).encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
    base = numbers.transform_filter("datum.who === 'base rate'").mark_rule(strokeDash=[4, 4], color=WARNING).encode(y=y)
    lines = numbers.transform_filter("datum.step !== 'before' && datum.step !== 'verdict'").mark_line().encode(x=x, y=y, color=colour, strokeDash=dash)
    marks = numbers.mark_point(size=120, filled=True).encode(x=x, y=y, color=colour, shape=shape, tooltip=shown)
    return alt.layer(area, gap, base, lines, marks).properties(title="How far apart the two sides were", height=480)


def _domain(rows: Sequence[Row]) -> list[float]:
    values = [row["p"] for row in rows] or [0.0, 1.0]
    return [max(0.0, min(values) - 0.05), min(1.0, max(values) + 0.05)]


def gap_text(rounds: Sequence[Row], base_rate: str | None, p_final: str | None, p_cio: object) -> str:
    """The same in words."""
    told = [f"round {one['round']}: bull {_p(one['bull'])}, short seller {_p(one['bear'])}, gap {_p(one['gap'])}" for one in rounds]
    ends = [f"{word} {_p(value)}" for word, value in (("the debate ended at", p_final), ("the CIO said", p_cio)) if value is not None]
    before = [f"base rate {_p(base_rate)} before the debate"] if base_rate is not None else []
    return f"Probability that the price is higher in 20 sessions. {'; '.join([*before, *told, *ends])}."


def _p(value: object) -> str:
    return f"{Decimal(str(value)):.2f}"


def parts_chart(rows: Sequence[Row]) -> Figure:
    """The factors of the score as signed bars, each with its number beside it; one that is lost or absent says so in its name."""
    factors = [row["factor"] for row in rows]
    values = [_bar(row) for row in rows]
    widest = max([abs(one["contribution"]) for one in values] or [0.0]) or 0.01
    y = alt.Y("factor:N", sort=factors, title="factor", axis=alt.Axis(labelLimit=160, labelOverlap=False))
    x = alt.X("contribution:Q", title="contribution to the score (value x weight)", scale=alt.Scale(domain=[-1.35 * widest, 1.35 * widest]))
    colour = alt.Color("pull:N", title=None, scale=alt.Scale(domain=list(PART_COLOURS), range=list(PART_COLOURS.values())), legend=alt.Legend(orient="bottom"))
    chart = _over(values)
    opacity = alt.condition("datum.status === 'ok'", alt.value(1.0), alt.value(0.5))
    shown = [alt.Tooltip("factor:N"), alt.Tooltip("shown:N", title="contribution"), alt.Tooltip("made of:N"), alt.Tooltip("detail:N")]
    bars = chart.mark_bar().encode(x=x, y=y, color=colour, opacity=opacity, tooltip=shown)
    zero = _over([{"contribution": 0}]).mark_rule(color=BENCHMARK).encode(x="contribution:Q")
    right = chart.transform_filter("datum.contribution >= 0").mark_text(align="left", dx=4, color=BENCHMARK).encode(x=x, y=y, text="shown:N")
    left = chart.transform_filter("datum.contribution < 0").mark_text(align="right", dx=-4, color=BENCHMARK).encode(x=x, y=y, text="shown:N")
    return alt.layer(zero, bars, right, left).properties(title="What the score is made of", height=170 + BAR_HEIGHT * len(factors))


def _bar(row: Row) -> dict[str, Any]:
    amount: Decimal = row["contribution"]
    return {**row, "contribution": float(amount), "pull": "pulls down" if amount < 0 else "pulls up", "shown": _signed(amount)}


def _signed(value: Decimal) -> str:
    return f"{value:+.3f}"


def parts_text(rows: Sequence[Row], score: str) -> str:
    """The same in words."""
    parts = "; ".join(f"{row['factor']} {_signed(row['contribution'])}" for row in rows)
    return f"Score {Decimal(score):+.3f}, made of: {parts}."


def price_chart(path: PricePath) -> Figure:
    """Closes with the session that was decided on and the horizon's end as labelled lines."""
    closes = [{"session": f"{day}T12:00:00Z", "close": float(close)} for day, close in path.closes]
    marks = [
        {"session": f"{path.session}T12:00:00Z", "what": "decided", "place": 8},
        {"session": f"{path.horizon}T12:00:00Z", "what": HORIZON_ENDS, "place": 230},
    ]
    x = alt.X("session:T", title="session (UTC)", scale=alt.Scale(type="utc"))
    y = alt.Y("close:Q", title=f"close ({path.currency})", scale=alt.Scale(zero=False))
    shown = [alt.Tooltip("session:T", title="session", format="%Y-%m-%d"), alt.Tooltip("close:Q", title="close", format=",.2f")]
    line = _over(closes).mark_line(color=BULL).encode(x=x, y=y, tooltip=shown)
    what = alt.StrokeDash("what:N", title=None, scale=alt.Scale(domain=["decided", HORIZON_ENDS], range=[[1, 0], [5, 4]]), legend=None)
    rules = _over(marks).mark_rule(size=2, color=BEAR).encode(x=x, strokeDash=what)
    names = _over(marks).mark_text(align="right", dx=-5, color=BEAR).encode(x=x, y=alt.Y("place:Q", scale=None, axis=None), text="what:N")
    return alt.layer(line, rules, names).properties(title="Closes around the decision", height=360)


def price_text(path: PricePath) -> str:
    """The same in words."""
    first, last = path.closes[0], path.closes[-1]
    decided = next((close for day, close in reversed(path.closes) if day <= path.session), first[1])
    return (
        f"Closes from {first[0]} ({first[1]:,.2f}) to {last[0]} ({last[1]:,.2f}) in {path.currency}; decided after {path.session} at {decided:,.2f}; "
        f"the horizon ends with {path.horizon}."
    )
