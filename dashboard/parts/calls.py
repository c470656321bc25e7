"""Every prompt and reply of the debate, as it went over the wire: shown as plain text and never obeyed."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from alphaagent.views_words import NAMES
from dashboard.inert import label, lines
from dashboard.parts.tables import table

Document = Mapping[str, Any]
LONGEST = 200_000
"""Characters of one body on the page; the whole of it is in the books."""


def calls(transcript: Document | None) -> None:
    st.subheader("Prompts and replies")
    if transcript is None:
        st.caption("No model took part in this decision.")
        return
    if transcript["fault"]:
        st.error(f"The debate ended by {transcript['fault']['kind']}: {label(transcript['fault']['message'], 400)}", icon=":material/error:")
    table([_row(number, call) for number, call in enumerate(transcript["calls"], start=1)], key="calls")
    with st.expander("One call: what was sent and what came", icon=":material/forum:"):
        chosen = st.selectbox("Call", range(len(transcript["calls"])), format_func=lambda number: _name(number, transcript["calls"][number]), key="call")
        if chosen is not None:
            _call(transcript["calls"][chosen])


def _name(number: int, call: Document) -> str:
    again = f", attempt {call['attempt']}" if call["attempt"] > 1 else ""
    return f"{number + 1}. {NAMES[call['side']]}, {call['phase']}, request {call['number']}{again}"


def _row(number: int, call: Document) -> dict[str, Any]:
    usage = call["usage"] or {"prompt": "", "completion": ""}
    return {
        "no.": number,
        "who": NAMES[call["side"]],
        "phase": call["phase"],
        "model": lines(call["model"]),
        "answer": f"HTTP {call['status']}" if call["status"] else "none",
        "tokens read": usage["prompt"],
        "tokens written": usage["completion"],
        "seconds": f"{call['latency_ms'] / 1000:.1f}",
        "USD": call["cost_usd"] or "unknown",
        "fault": call["fault"]["kind"] if call["fault"] else "",
    }


def _call(call: Document) -> None:
    st.markdown("**Sent**")
    st.code(lines(call["request"][:LONGEST]), language=None, wrap_lines=True, height=300)
    st.markdown("**Came**")
    if call["fault"]:
        st.caption(f"{call['fault']['kind']}: {label(call['fault']['message'], 400)}")
    st.code(lines((call["response"] or "nothing")[:LONGEST]), language=None, wrap_lines=True, height=300)
