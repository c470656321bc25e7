"""A decision, so that it is understood in a minute and months later: the verdict first, then both cases, then what stood behind them."""

from typing import Any

import streamlit as st

from alphaagent.debate.record import Transcript
from alphaagent.ports import StoredDecision
from alphaagent.views import decision_document, difference_document
from alphaagent.views_debate import transcript_document
from alphaagent.views_decision import difference_lines
from dashboard.inert import say
from dashboard.parts.argument import cases, exchange, reading
from dashboard.parts.calls import calls
from dashboard.parts.evidence import evidence
from dashboard.parts.guard import guard
from dashboard.parts.head import head, written
from dashboard.parts.prices import prices
from dashboard.reader import Reader
from dashboard.words import instant

TITLE = "A decision"
LONGEST_ID = 60


def show(reader: Reader) -> None:
    st.title(TITLE)
    stored = _chosen(reader)
    record = stored.record
    debate = reader.workplace.transcript(stored)
    document, told = decision_document(record, stored, transcript=debate), _told(debate)
    argument = told["argument"] if told is not None else None
    head(document, stored, argument)
    written(reader, document)
    cases(document, argument if document["debate"] else None)
    if argument is not None and document["debate"]:
        exchange(document, argument)
    reading(document)
    prices(reader, record)
    guard(document, reader.workplace.rule_titles(), record.mandate)
    evidence(document)
    _since(reader, stored)
    calls(told)


def _told(debate: Transcript | None) -> dict[str, Any] | None:
    return None if debate is None else transcript_document(debate, calls=True)


def _chosen(reader: Reader) -> StoredDecision:
    """The decision that the address names, the newest where it names none. Raises UsageFault where there is none such."""
    wanted = st.query_params.get("id", "")[:LONGEST_ID]
    field, before, after = st.columns((4, 1, 1), vertical_alignment="bottom")
    key = f"open_{wanted}"
    field.text_input("Decision by its id; the newest where this is empty", value=wanted, max_chars=LONGEST_ID, key=key, on_change=_open_typed, args=(key,))
    stored = reader.workplace.stored_decision(wanted.strip() or "last")
    decision_id = stored.record.decision_id
    earlier, later = reader.store.previous(decision_id), reader.store.following(decision_id)
    _beside(before, ":material/arrow_back: Previous", earlier.record.decision_id if earlier else None, "before")
    _beside(after, "Next :material/arrow_forward:", later, "after")
    return stored


def _beside(column: Any, words: str, decision_id: str | None, key: str) -> None:
    """A button to the decision before or after on the same name; it stands there and sleeps where there is none."""
    helped = "on the same name in the same portfolio"
    column.button(words, key=key, disabled=decision_id is None, on_click=_open, args=(decision_id,), help=helped, width="stretch")


def _open_typed(key: str) -> None:
    _open(str(st.session_state[key]).strip())


def _open(decision_id: str | None) -> None:
    if decision_id:
        st.query_params["id"] = decision_id
    else:
        st.query_params.pop("id", None)


def _since(reader: Reader, stored: StoredDecision) -> None:
    st.subheader("Since the decision before")
    before = reader.store.previous(stored.record.decision_id)
    if before is None:
        st.caption("It is the first on this name in this portfolio.")
        return
    difference = difference_document(before.record, stored.record)
    st.caption(f"Since {difference['decision_id']} of {instant(difference['as_of'])}")
    say("\n".join(difference_lines(difference)))
