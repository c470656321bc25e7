"""The two probabilities of a debate that is being held, round by round. Pure, as in charts.py."""

from collections.abc import Sequence
from decimal import Decimal

import altair as alt

from dashboard.charts import BEAR, BULL

Figure = alt.LayerChart | alt.FacetChart
WHO = ("the bull", "the short seller")


def rounds_chart(rounds: Sequence[tuple[str, Decimal, Decimal]]) -> Figure:
    """A line and a mark of its own for each side."""
    numbers = [{"round": number, "who": who, "p": float(p)} for number, *both in rounds for who, p in zip(WHO, both, strict=True)]
    data = alt.Data(values=numbers)  # type: ignore[no-untyped-call]
    legend = alt.Legend(orient="bottom")
    colour = alt.Color("who:N", title=None, scale=alt.Scale(domain=WHO, range=(BULL, BEAR)), legend=legend)
    shape = alt.Shape("who:N", title=None, scale=alt.Scale(domain=WHO, range=("triangle-up", "triangle-down")), legend=legend)
    dash = alt.StrokeDash("who:N", title=None, scale=alt.Scale(domain=WHO, range=([1, 0], [6, 3])), legend=legend)
    x = alt.X("round:N", title="round", axis=alt.Axis(labelAngle=0))
    y = alt.Y("p:Q", title="p(up in 20 sessions)", scale=alt.Scale(zero=False, nice=True, padding=12))
    base = alt.Chart(data).encode(x=x, y=y, color=colour)
    return alt.layer(base.mark_line().encode(strokeDash=dash), base.mark_point(size=110, filled=True).encode(shape=shape)).properties(
        title="The gap so far", height=340
    )


def rounds_text(rounds: Sequence[tuple[str, Decimal, Decimal]]) -> str:
    """The same in words."""
    return "; ".join(f"round {number}: bull {bull:.2f}, short seller {bear:.2f}" for number, bull, bear in rounds) + "."
