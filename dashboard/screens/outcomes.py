"""Outcomes: what happened after each decision, once its horizon has passed.

Chosen on purpose: what is gathered is kept until the audit trail has grown, and at most for some minutes, since prices come in by themselves. It is
kept as it is and shared, for nothing in it can be changed.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import streamlit as st

from alphaagent import views_outcomes as views
from alphaagent.debate.prompts import HORIZON
from alphaagent.operations.outcomes import Outcome, gather
from dashboard import tables
from dashboard.charts_outcomes import returns, returns_text
from dashboard.reader import Reader

ROWS = 50
READ_ANEW = timedelta(minutes=10)
MEANT = f"""
- **Return**: what a share made that was bought at the first open after the decision, where its order would fill, and held to the close of the {HORIZON}th
  session after the one that was decided on, in sessions of its own exchange. Prices are adjusted: splits are taken out, dividends put back in on their
  ex-date. Costs are left out.
- **Right side**: a BUY whose return is above zero, a SELL whose return is below. A HOLD takes no side; only its return is shown.
- **p(up)** was stated of another event: that the horizon's close is above the last close *before* the decision. **It rose** says how often it was.
- **Brier score**: the mean squared distance of p(up) from what happened, 0 is best. Beside it is that of a forecaster who always states the share
  that rose among the same decisions, which is known only afterwards: a score above it says less than that share alone.
- What the guard refused or made smaller counts like any other decision. Windows of one name overlap, and names move together: the counts look
  more certain than they are. Below {views.FEW} a figure says *too few*.
"""


@dataclass(frozen=True)
class Known:
    """All that the page shows, reckoned once."""

    outcomes: tuple[Outcome, ...]
    counts: list[dict[str, Any]]
    grouped: dict[str, list[dict[str, Any]]]
    points: list[dict[str, Any]]
    boxes: list[dict[str, Any]]


def show(reader: Reader) -> None:
    st.title("Outcomes")
    known = _known(reader)
    if not known.outcomes:
        st.info("There is no decision in these books yet. Run `alphaagent decide TICKER`, or `alphaagent sweep`.")
        return
    st.caption(f"What happened after each of {len(known.outcomes):,} decisions, {HORIZON} sessions on.")
    tables.show(known.counts, alt="; ".join(f"{row['decisions']} {row['which']}" for row in known.counts))
    if not known.boxes:
        _none_yet(reader)
    else:
        st.altair_chart(returns(known.points, known.boxes), theme="streamlit", alt=returns_text(known.boxes))
        shown = sum(row["count"] for row in known.boxes)
        if len(known.points) < shown:
            st.caption(f"{len(known.points)} of {shown:,} decisions are drawn as points, evenly from the lowest to the highest; the boxes are of all of them.")
        st.caption("The box holds the middle half, the mark in it is the median, the line goes from the 5th to the 95th hundredth. Dashed: no gain, no loss.")
        _groups(known)
    with st.expander("What is measured, and what it does not say", icon=":material/straighten:"):
        st.markdown(MEANT)
    _list(known)


def _none_yet(reader: Reader) -> None:
    fix = "Run `alphaagent data fetch` for the names below." if reader.is_live else "Recorded prices end where they end; later decisions have no outcome here."
    st.info(f"No decision has an outcome yet: either its {HORIZON} sessions are not over, or prices are missing. {fix}")


def _groups(known: Known) -> None:
    st.subheader("By group")
    by = st.segmented_control("Group by", list(known.grouped), default="who decided", key="by", bind="query-params", required=True)
    rows = known.grouped[by or "who decided"]
    tables.show(rows, alt=f"Outcomes by {by}: {len(rows)} groups")


def _list(known: Known) -> None:
    st.subheader("Each decision")
    states = list(dict.fromkeys(one.state for one in known.outcomes))
    state = st.selectbox(
        "Show", states, index=None, key="state", placeholder="all", format_func=lambda one: f"those that {views.STATES[one]}", bind="query-params"
    )
    chosen = [one for one in known.outcomes if state in (None, one.state)]
    pages = -(-len(chosen) // ROWS)
    if int(st.session_state.get("outcomes_page", 1)) > pages:
        st.session_state["outcomes_page"] = 1
    page = st.pagination(pages, key="outcomes_page") if pages > 1 else 1
    part = chosen[(page - 1) * ROWS : page * ROWS]
    rows = [{name: value for name, value in row.items() if name != "decision_id"} for row in views.listed(part)]
    ids = [one.decided.decision_id for one in part]
    tables.lead_to(tables.picked(rows, key="chosen_outcome", alt=f"{len(rows)} of {len(chosen):,} decisions, newest first", ids=ids, help_of=HELP))


HELP = {
    "session": "The last completed session when it was decided.",
    "ends": "The session whose close decides.",
    "right": "Whether a BUY gained or a SELL fell; a HOLD takes no side.",
    "rose": "Whether that close is above the last one before the decision.",
}


def _known(reader: Reader) -> Known:
    return _reckoned(reader.workplace.settings.database_url, reader.store.head_seq(), reader)


@st.cache_resource(max_entries=2, ttl=READ_ANEW, show_spinner="Looking at what came of each decision…")
def _reckoned(url: str, head: int, _reader: Reader) -> Known:  # noqa: ARG001 - the books and their length are the key
    found = gather(_reader.workplace)
    grouped = {by: views.table(found, by) for by in views.GROUPINGS}
    return Known(found, views.counts(found), grouped, views.points(found), views.boxes(found))
