"""Figures of a portfolio: what it was worth, what it returned beside a benchmark, how far it fell, and where its money is. Pure, like charts.py.

The axis of time is in UTC, for Vega would else move a close to the reader's own zone.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
from pandas import DataFrame

from dashboard.charts import BENCHMARK, BOOK, OTHER, WARNING

Row = dict[str, Any]
Figure = alt.Chart | alt.LayerChart | alt.FacetChart
TIME = alt.X("at:T", title="Close of the session (UTC)", scale=alt.Scale(type="utc"))
HEIGHT, LOW, A_BAR, AROUND = 340, 240, 34, 150
"""In pixels, with everything that stands around the lines: titles, axes and the legend."""
WITHIN, ABOVE = "within the cap", "above the cap"
PORTFOLIO, CASH = "portfolio", "cash"


def worth(rows: Sequence[Row], paid: Sequence[Row], currency: str) -> Figure:
    """NAV at every close, with the owner's payments as triangles: up for what came, down for what went."""
    line = (
        alt.Chart(DataFrame(rows))
        .mark_line(color=BOOK)
        .encode(
            x=TIME,
            y=alt.Y("nav:Q", title=f"NAV ({currency})", scale=alt.Scale(zero=False), axis=alt.Axis(format=",.0f")),
            tooltip=[alt.Tooltip("session:N", title="session"), alt.Tooltip("nav:Q", title="NAV", format=",.2f")],
        )
    )
    marks = (
        alt.Chart(DataFrame(paid))
        .mark_point(size=90, filled=True, color=WARNING)
        .encode(
            x=TIME,
            y=alt.Y("nav:Q"),
            shape=alt.Shape("kind:N", title="owner", scale=alt.Scale(domain=["paid in", "taken out"], range=["triangle-up", "triangle-down"])),
            tooltip=[alt.Tooltip("session:N", title="session"), alt.Tooltip("kind:N", title="owner"), alt.Tooltip("paid:Q", title="amount", format=",.2f")],
        )
    )
    layers = [line, marks] if paid else [line]
    return alt.layer(*layers).properties(title="Net asset value at each close", height=HEIGHT)


def returns(rows: Sequence[Row], benchmark: str | None) -> Figure:
    """The time-weighted return beside the benchmark's and that of cash, each with its own dash."""
    names = [PORTFOLIO, *([benchmark] if benchmark else []), CASH]
    values = [{"at": row["at"], "session": row["session"], "line": name, "value": value} for row in rows for name, value in _lines(row, benchmark)]
    colours = {PORTFOLIO: BOOK, CASH: OTHER}
    dashes = {PORTFOLIO: [1, 0], CASH: [2, 3]}
    figure: Figure = (
        alt.Chart(DataFrame(values))
        .mark_line()
        .encode(
            x=TIME,
            y=alt.Y("value:Q", title="Return since the start (%)"),
            color=alt.Color(
                "line:N", title=None, scale=alt.Scale(domain=names, range=[colours.get(name, BENCHMARK) for name in names]), legend=alt.Legend(orient="bottom")
            ),
            strokeDash=alt.StrokeDash("line:N", title=None, scale=alt.Scale(domain=names, range=[dashes.get(name, [7, 4]) for name in names])),
            tooltip=[alt.Tooltip("session:N", title="session"), alt.Tooltip("line:N", title="line"), alt.Tooltip("value:Q", title="return %", format="+.2f")],
        )
        .properties(title="Return without the owner's payments", height=HEIGHT)
    )
    return figure


def _lines(row: Row, benchmark: str | None) -> list[tuple[str, float | None]]:
    return [(PORTFOLIO, row["return"]), *([(benchmark, row["benchmark"])] if benchmark else []), (CASH, 0.0)]


def drawdown(rows: Sequence[Row]) -> Figure:
    """How far below its highest point the portfolio was."""
    figure: Figure = (
        alt.Chart(DataFrame(rows))
        .mark_area(color=WARNING, opacity=0.5, line={"color": WARNING})
        .encode(
            x=TIME,
            y=alt.Y("drawdown:Q", title="Below the highest (%)"),
            tooltip=[alt.Tooltip("session:N", title="session"), alt.Tooltip("drawdown:Q", title="drawdown %", format=".2f")],
        )
        .properties(title="Drawdown", height=LOW)
    )
    return figure


def weights(rows: Sequence[Row], key: str, title: str, axis: str) -> Figure:
    """Bars of weight in per cent of NAV, each with its cap as a tick; what is above the cap is another colour and says so."""
    values = [row | {"state": ABOVE if row["cap %"] is not None and row["weight %"] > row["cap %"] else WITHIN} for row in rows]
    across = alt.Y(f"{key}:N", title=axis, sort=None)
    bars = (
        alt.Chart(DataFrame(values))
        .mark_bar()
        .encode(
            y=across,
            x=alt.X("weight %:Q", title="% of NAV; tick: the cap"),
            color=alt.Color("state:N", title=None, scale=alt.Scale(domain=[WITHIN, ABOVE], range=[BOOK, WARNING]), legend=alt.Legend(orient="bottom")),
            tooltip=[
                alt.Tooltip(f"{key}:N", title=axis.lower()),
                alt.Tooltip("weight %:Q", title="weight %", format=".2f"),
                alt.Tooltip("cap %:Q", title="cap %", format=".2f"),
                alt.Tooltip("state:N", title="state"),
            ],
        )
    )
    caps = alt.Chart(DataFrame(values)).mark_tick(color=OTHER, thickness=3, size=22).encode(y=across, x=alt.X("cap %:Q"))
    return alt.layer(bars, caps).properties(title=title, height=AROUND + A_BAR * len(values))
