"""Both cases side by side: every claim with its fate and its evidence, who attacked it and how that was answered, and what stays open."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import streamlit as st

from alphaagent.views_decision import cited_rows, claims_of, measure_lines, number_words, part_rows
from alphaagent.views_words import ENDED, FATES, MOVES, NAMES, SEVERITY
from dashboard.charts_decision import gap_chart, gap_rows, gap_text, parts_chart, parts_text
from dashboard.inert import label, say
from dashboard.parts.tables import table

Document = Mapping[str, Any]
DIRECTIONS = {"up": ":material/trending_up: says up", "down": ":material/trending_down: says down"}
STATUS_WORDS = "lost: its source failed, and it counts at its worst; absent: it does not exist, and counts nothing"
FATE_SIGNS = {
    "conceded": ":material/flag:",
    "narrowed": ":material/compress:",
    "upheld": ":material/shield:",
    "standing": ":material/foundation:",
    "open": ":material/pending:",
}


def cases(document: Document, argument: Document | None) -> None:
    """The bull's and the short seller's case, side by side where there is room."""
    st.subheader("The two cases")
    for side, column in zip(("bull", "bear"), st.columns(2), strict=True):
        with column:
            _case(side, document, argument)


def _case(side: str, document: Document, argument: Document | None) -> None:
    case, claims = document[f"{side}_case"], claims_of(document, argument, side)
    ends = f", opened {case['stance']}, ended at p(up) {Decimal(case['p_up']):.3f}" if case.get("p_up") else ""
    st.markdown(f"#### {NAMES[side]}")
    st.caption(f"{label(case['label'], 300)}{label(ends)}")
    if case["no_case"]:
        st.info(f"{NAMES[side]} had no case, and said so:", icon=":material/handshake:")
        say(case["no_case"])
    elif not claims:
        say(case["summary"])
    for claim in claims:
        with st.container(border=True):
            _claim(claim, document["evidence"]["items"])
    if case["holes"]:
        with st.container(border=True):
            st.markdown(":material/visibility_off: **Cannot see**")
            say("\n".join(case["holes"]))
    if case.get("counter"):
        st.markdown("**The strongest counter against its own case**")
        say(case["counter"])
    faults = document["crew"]["faults"][side] if document["crew"] and document["debate"] else ()
    if faults:
        st.caption(f"Left at fault in its answers, and counted for nothing: {label(', '.join(faults), 400)}")


def _claim(claim: Document, items: Sequence[Document]) -> None:
    status = claim["status"]
    told = [f"{FATE_SIGNS[status]} **{label(FATES[status])}**"] if status else []
    told += [SEVERITY[claim["severity"]]] if claim["severity"] else []
    told += [DIRECTIONS[claim["direction"]]] if claim["direction"] else [f"weighs {Decimal(claim['weight']):+.3f}"]
    st.markdown(" · ".join([*told, label(claim["kind"])]))
    say(claim["text"])
    if claim["as_first_said"]:
        st.caption(f"First said: {label(claim['as_first_said'], 600)}")
    number = number_words(claim, items)
    if number:
        sign = ":material/rule:" if claim["number"] != "contradicted" else ":material/error:"
        st.markdown(f"{sign} **Its number, checked by a program**")
        say(number)
    _evidence(claim["evidence_ids"], items)
    for hit in claim["hits"]:
        _hit(hit, items)
    if claim["id"]:
        st.caption(label(claim["id"]))


def _evidence(ids: Sequence[str], items: Sequence[Document]) -> None:
    if not ids:
        st.caption("It cites no evidence.")
        return
    with st.expander(f"Evidence that it cites ({len(ids)})", icon=":material/database:"):
        for row in cited_rows(ids, items):
            say(row["value"])
            details = " · ".join(part for part in (row["status"], row["source"], f"known at {row['known at']}" if row["known at"] else "", row["id"]) if part)
            st.caption(label(details, 300))


def _hit(hit: Document, items: Sequence[Document]) -> None:
    severity = f", {SEVERITY[hit['severity']]}" if hit["severity"] else ""
    ground = f", for the fallacy {label(hit['fallacy'])}" if hit["fallacy"] else ""
    st.markdown(f":material/swords: **{NAMES[hit['by']]} attacks** ({label(hit['id'])}{severity}{ground})")
    say(hit["argument"])
    for answer in hit["answers"]:
        counts = f"; does not count: {label(', '.join(answer['codes']))}" if answer["codes"] else ""
        st.markdown(f"Round {answer['round']}, **{NAMES[answer['side']].lower()}** {MOVES[answer['what']]}{counts}")
        if answer["reason"]:
            say(answer["reason"])
    st.caption(ENDED[hit["closed_by"] or hit["status"]])
    cited = list(dict.fromkeys([*hit["evidence_ids"], *(one for answer in hit["answers"] for one in answer["evidence_ids"])]))
    if cited:
        with st.expander(f"Evidence of this exchange ({len(cited)})", icon=":material/database:"):
            table(cited_rows(cited, items))


def exchange(document: Document, argument: Document) -> None:
    """How far apart the sides were, what the debate came to, what was conceded and what stays open."""
    proposal, measures = document["proposal"], argument["measures"]
    p_cio = proposal.get("p_up") if proposal else None
    rounds = argument["rounds"]
    rows = gap_rows(rounds, argument["base_rate"], measures["p_final"], p_cio)
    st.subheader("The gap")
    told = gap_text(rounds, argument["base_rate"], measures["p_final"], p_cio)
    st.altair_chart(gap_chart(rows, rounds), theme="streamlit", alt=told)
    st.caption(told)
    for line in measure_lines(argument):
        st.markdown(f"- {label(line, 300)}")
    for one in argument["stances"]:
        st.caption(f"{NAMES[one['side']]}, round {one['round']}: its number and its words say different things ({label(one['verdict'])}).")
    _concessions(argument["concessions"])
    _open(argument["open"])


def _concessions(concessions: Sequence[Document]) -> None:
    if not concessions:
        return
    st.markdown("#### Conceded")
    for one in concessions:
        whole = "the whole claim" if one["scope"] == "full" else "a part of the claim"
        moved = f"p(up) from {Decimal(one['p_before']):.2f} to {Decimal(one['p_after']):.2f}"
        st.markdown(f"**{NAMES[one['by']]}**, round {one['round']}: {whole} {label(one['claim_id'])} ({label(moved)})")
        say(one["reason"])


def _open(points: Sequence[Document]) -> None:
    st.markdown("#### What stays open")
    if not points:
        st.caption("Nothing: every attack was settled, or there was none.")
    for point in points:
        with st.container(border=True):
            st.markdown(f"**{label(point['objection_id'])}** on {label(point['claim_id'])}, {SEVERITY[point['severity']]}")
            for side in ("bull", "bear"):
                st.caption(NAMES[side])
                say(point[f"{side}_position"])
            for one in point["conditions"]:
                st.markdown(":material/event: **Would be settled by**")
                say(f"{one['observable']} {one['operator']} {one['threshold']} by {one['by_date']}, which would say {one['says']}")
            if not point["conditions"]:
                st.caption("Nobody said what would settle it.")


def reading(document: Document) -> None:
    """The heuristic engine's arithmetic: its factors, and what would turn it."""
    read = document["reading"]
    if read["score"] is None:
        return
    st.subheader("The score")
    rows = part_rows(read)
    told = parts_text(rows, read["score"])
    st.altair_chart(parts_chart(rows), theme="streamlit", alt=told)
    facts = [f"score {Decimal(read['score']):+.3f}"]
    facts += [f"aims at {Decimal(read['target_weight']):.1%} of NAV"] if read["target_weight"] else []
    facts += [STATUS_WORDS] if any(row["status"] != "ok" for row in rows) else []
    st.caption(label("; ".join(facts), 300))
    if read["flip"]:
        st.markdown("**What would flip it**")
        say(read["flip"])
    with st.expander("The factors as a table", icon=":material/table:"):
        table([{**row, "contribution": f"{row['contribution']:+.3f}"} for row in rows])
