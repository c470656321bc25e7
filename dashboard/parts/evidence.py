"""All the evidence that was there, what was missing first; each item's values on demand, as they were recorded."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from alphaagent.views_decision import evidence_rows, holes, status_counts
from dashboard.inert import label, lines, say
from dashboard.parts.tables import table

Document = Mapping[str, Any]


def evidence(document: Document) -> None:
    st.subheader("The evidence")
    items: Sequence[Document] = document["evidence"]["items"]
    missing = holes(items)
    if missing:
        with st.container(border=True):
            st.markdown(":material/visibility_off: **What was missing**")
            say("\n".join(missing))
    counts = ", ".join(f"{count} {word}" for word, count in status_counts(items).items())
    st.caption(f"{len(items)} items: {label(counts, 400)}. Pack {document['evidence']['pack_sha256'][:12]}…")
    table(evidence_rows(items), key="evidence")
    with st.expander("Values of one item", icon=":material/data_object:"):
        chosen = st.selectbox("Item", items, format_func=lambda item: f"{item['id']} {item['kind']}", key="item")
        if chosen is not None:
            st.code(lines(json.dumps(chosen["payload"], indent=1, ensure_ascii=False)), language=None, wrap_lines=True)
