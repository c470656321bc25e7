"""What a reader sees first: what was decided, by whom, what the guard made of it, what became of it, and whether it can be believed."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from alphaagent.operations.proof import Proof, prove
from alphaagent.ports import StoredDecision
from alphaagent.views import verify_lines
from alphaagent.views_debate import models_line
from alphaagent.views_decision import action_words, final_words, hold_words, provenance_words
from alphaagent.views_guard import guard_words, order_words
from alphaagent.views_words import SAME_MODEL, cost_line
from dashboard.inert import label, say
from dashboard.reader import Reader
from dashboard.words import instant

OUTCOMES = {"APPROVE": ":material/check_circle:", "CLIP": ":material/content_cut:", "BLOCK": ":material/block:"}
OWN_MODELS = "The two sides were different models, so an agreement between them says a little more than one model's opinion."
TOLD_DIFFERENCES = 3


def head(document: Mapping[str, Any], stored: StoredDecision, argument: Mapping[str, Any] | None) -> None:
    """The verdict with its reasoning, the guard's word and the order's fate."""
    request, proposal = stored.record.request, document["proposal"]
    with st.container(border=True):
        st.subheader(f"{label(document['ticker'])}: {action_words(document)}")
        sentiment = f"{proposal['sentiment']} · " if proposal else ""
        st.markdown(f"{sentiment}as of {instant(document['as_of'])} · portfolio {label(request.portfolio)} · slot {label(request.slot)}")
        st.markdown(f"**Who decided:** {label(provenance_words(document), 600)}.")
        held = hold_words(document["reading"])
        if held:
            st.markdown(f"**Why nothing was bought or sold:** {label(held, 600)}.")
        say(proposal["reasoning"] if proposal else "The text of the proposal is in the prompts and replies below; it was refused before anybody read it.")
        guard, order = st.columns(2)
        guard.markdown(f"{OUTCOMES[document['guard']['outcome']]} **Guard.** {label(guard_words(document['guard']), 300)}")
        order.markdown(f":material/receipt_long: **Order.** {_order(document)}")
        for line in final_words(argument, document):
            st.caption(label(line, 300))
    _who_spoke(document)


def _order(document: Mapping[str, Any]) -> str:
    settled = document.get("settlement")
    again = f" At the fill: {guard_words(settled)}" if settled is not None and settled["outcome"] != "APPROVE" else ""
    return label(order_words(document) + again, 400)


def _who_spoke(document: Mapping[str, Any]) -> None:
    crew = document["crew"]
    if crew is None:
        return
    st.caption(f"{label(models_line(crew['models'], crew['provider']), 400)}: {cost_line(document['usage'], priced=crew['priced'])}")
    if crew["same_model"]:
        st.warning(SAME_MODEL, icon=":material/content_copy:")
    elif document["debate"]:
        st.caption(OWN_MODELS)


def written(reader: Reader, document: Mapping[str, Any]) -> None:
    """Where the decision is written, and the button that checks it."""
    audit, decision_id = document["audit"], document["decision_id"]
    with st.container(border=True):
        st.markdown(f":material/fingerprint: **Audit row {audit['seq']}** of decision `{decision_id}`, hash:")
        st.code(audit["hash"], language=None, wrap_lines=True)
        if st.button(
            "Verify", key=f"verify_{decision_id}", help="Checks every link of the chain, and makes this decision again from its record, without a network."
        ):
            with st.spinner("checking the chain, and making the decision again"):
                _tell(prove(reader.workplace, decision_id))


def _tell(proof: Proof) -> None:
    chain = proof.chain
    if proof.chain_holds:
        st.success(f"The chain holds: {chain.rows:,} audit rows, every link checked.", icon=":material/link:")
    else:
        st.error("The chain does NOT hold. Nothing in these books can be relied on.", icon=":material/link_off:")
        say("\n".join(verify_lines(chain)[:TOLD_DIFFERENCES]))
    if proof.replays:
        st.success(f"The decision replays: {len(proof.parts)} parts were made again, and every byte agrees.", icon=":material/replay:")
        return
    st.error("The decision does NOT replay.", icon=":material/error:")
    differing = [f"{part.part}: {part.difference}" for part in proof.parts if not part.agrees]
    say(proof.unmade or "\n".join(differing[:TOLD_DIFFERENCES]))
