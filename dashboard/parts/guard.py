"""The guard's ruling: what it cut or stopped and what would change that, asked against allowed against filled, and every rule with its headroom."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from alphaagent.views_guard import proposal_and_order, rule_rows, statuses, stops
from dashboard.inert import label, say
from dashboard.parts.tables import table

Document = Mapping[str, Any]
STAGES = {"decide": "when it was decided, on the last close", "settle": "when it was filled, on the open", "approve": "when it was approved"}


def guard(document: Document, titles: Mapping[str, str], mandate: Mapping[str, Any]) -> None:
    """The rulings at both stages."""
    st.subheader("The guard")
    steps = proposal_and_order(document)
    if steps:
        table(steps, key="steps")
    for name in ("guard", "settlement"):
        if name in document:
            _ruling(document[name], titles, mandate, name)


def _ruling(ruling: Document, titles: Mapping[str, str], mandate: Mapping[str, Any], name: str) -> None:
    st.markdown(f"**{STAGES[ruling['stage']].capitalize()}: {ruling['outcome']}** ({label(', '.join(ruling['codes']))})")
    for stop in stops(ruling, titles, mandate):
        with st.container(border=True):
            _stop(stop)
    rows = rule_rows(ruling, titles)
    with st.expander(f"All rules {'at the fill' if name == 'settlement' else ''}: {statuses(rows)}", icon=":material/rule:"):
        table(rows, key=f"rules_{name}")


def _stop(stop: Document) -> None:
    sign = ":material/block:" if stop["verdict"] == "stopped" else ":material/content_cut:"
    st.markdown(f"{sign} **{stop['id']} {label(stop['title'])}: {stop['verdict']}** ({label(stop['code'])})")
    say(stop["reason"])
    figures = [("attempted", stop["attempted"]), ("limit", stop["limit"]), ("overage", stop["overage"])]
    told = [f"{word}: {value}" for word, value in figures if value]
    if told:
        st.caption(label(" · ".join(told), 300))
    if stop["limits"]:
        st.caption(label("the mandate says " + ", ".join(f"{name} {value}" for name, value in stop["limits"].items()), 300))
    st.markdown(f"**What would change it:** {stop['change']}")  # words of ours: a command stays one
