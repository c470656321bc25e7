"""The figures of outcomes and of the guard: rows in, an Altair chart and its alternative text out. Pure."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from alphaagent.views_outcomes import percent
from dashboard.charts import BEAR, BENCHMARK, BULL, WARNING

Row = dict[str, Any]
ACTIONS = ("BUY", "HOLD", "SELL")
COLOURS, SHAPES = (BULL, BENCHMARK, BEAR), ("triangle-up", "circle", "triangle-down")
LANE = 70
"""Height of one action's part, in pixels."""
AROUND = 170
"""What title, axis and legend take of a figure's height."""
GUARD_COLOURS = {"BLOCK": BEAR, "CLIP": WARNING}


def returns(points: Sequence[Row], boxes: Sequence[Row]) -> alt.LayerChart:
    """Returns by action: a point a decision, the quartiles as a box, and a line at nothing won and nothing lost."""
    names = {row["action"]: f"{row['action']} ({row['count']:,})" for row in boxes}
    lanes = alt.Y("lane:N", title="What was proposed (decisions)", sort=[names[one] for one in ACTIONS if one in names])
    scale = alt.X("gain:Q", title="Return to the horizon's close (%)", axis=alt.Axis(format="+.0%"))
    spread = [row | {"lane": names[row["action"]], "at": _spread(place)} for place, row in enumerate(points)]
    boxed = _chart([row | {"lane": names[row["action"]]} for row in boxes]).encode(y=lanes)
    whiskers = boxed.mark_rule(color=BENCHMARK).encode(x=scale.copy(deep=True), x2="high:Q").transform_calculate(gain="datum.low")
    box = boxed.mark_bar(size=22, fillOpacity=0.15, stroke=BENCHMARK, strokeWidth=1.5).encode(x=alt.X("q1:Q", title=""), x2="q3:Q")
    middle = boxed.mark_tick(size=30, thickness=3, color=WARNING).encode(x=alt.X("median:Q", title=""))
    dots = (
        _chart(spread)
        .mark_point(filled=True, size=28, opacity=0.75)
        .encode(
            x=scale,
            y=lanes,
            yOffset=alt.YOffset("at:Q", scale=alt.Scale(domain=[-1, 1])),
            color=alt.Color("action:N", title="Proposed", scale=alt.Scale(domain=ACTIONS, range=COLOURS), legend=alt.Legend(orient="bottom")),
            shape=alt.Shape("action:N", title="Proposed", scale=alt.Scale(domain=ACTIONS, range=SHAPES)),
            tooltip=[alt.Tooltip("ticker:N", title="Ticker"), alt.Tooltip("of:N", title="Session"), alt.Tooltip("gain:Q", title="Return", format="+.2%")],
        )
    )
    zero = _chart([{"gain": 0}]).mark_rule(strokeDash=[6, 3], strokeWidth=2, color=BENCHMARK).encode(x="gain:Q")
    chart: alt.LayerChart = (zero + whiskers + box + middle + dots).properties(
        height=LANE * max(1, len(boxes)) + AROUND, title="Return from the first open after the decision to the close of its horizon"
    )
    return chart


def _chart(rows: Sequence[Row]) -> alt.Chart:
    return alt.Chart(alt.Data(values=list(rows)))  # type: ignore[no-untyped-call]


def _spread(place: int) -> float:
    """Where a point stands across its lane: always the same, and beside its neighbours."""
    return ((place * 37) % 41 - 20) / 25


def returns_text(boxes: Sequence[Row]) -> str:
    """The figure for whoever cannot see it."""
    told = [
        f"{row['action']}: {row['count']:,} decisions, median {percent(row['median'])}, the middle half from {percent(row['q1'])} to {percent(row['q3'])}"
        for row in boxes
    ]
    return f"Returns by what was proposed. {'; '.join(told)}."


def reasons(rows: Sequence[Row], outcome: str) -> alt.LayerChart:
    """How often the guard gave which first reason."""
    what = "refused" if outcome == "BLOCK" else "made smaller"
    base = _chart(rows).encode(y=alt.Y("code:N", title="First reason", sort=[row["code"] for row in rows]))
    bars = base.mark_bar(color=GUARD_COLOURS[outcome]).encode(
        x=alt.X("count:Q", title="Rulings (count)", axis=alt.Axis(tickMinStep=1)),
        tooltip=[alt.Tooltip("code:N", title="Code"), alt.Tooltip("count:Q", title="Rulings"), alt.Tooltip("share:Q", title="Of all rulings", format=".1%")],
    )
    words = base.mark_text(align="left", dx=4, color=BENCHMARK).encode(x="count:Q", text=alt.Text("count:Q", format=","))
    chart: alt.LayerChart = (bars + words).properties(height=30 * len(rows) + AROUND, title=f"Orders that the guard {what}, by first reason")
    return chart


def reasons_text(rows: Sequence[Row], outcome: str) -> str:
    what = "refused" if outcome == "BLOCK" else "made smaller"
    return f"Orders that the guard {what}: " + ", ".join(f"{row['code']} {row['count']:,}" for row in rows) + "."
