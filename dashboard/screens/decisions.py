"""Decisions: every one of them, filtered, by the page; the filters stand in the address, so that a view can be linked.

Chosen on purpose: a page of the table costs what its rows cost, however long the book is, and the file of all that match is made only when somebody asks.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import streamlit as st

from alphaagent.ledger.listing import KNOWN, DecisionFilter, asked_for
from alphaagent.views_review import CLASSES, ENGINES, PROVENANCES, amount, decisions_csv
from dashboard import tables
from dashboard.reader import Reader
from dashboard.words import instant

ROWS = 50
MOST_EXPORTED = 100_000
FIRST_DAY = date(1990, 1, 1)
WIDTH = 165
"""Of a filter, in pixels: two stand beside each other on a phone."""
NAMES = ("ticker", "since", "until", "provenance", "engine", "action", "outcome", "class", "portfolio")
"""The filters, as they stand in the address."""


def show(reader: Reader) -> None:
    st.title("Decisions")
    wanted = _asked(reader)
    total = reader.store.decision_count(wanted)
    if not total:
        _nothing(reader)
        return
    pages = -(-total // ROWS)
    st.session_state["page"] = min(int(st.session_state.get("page", 1)), pages) if "page" in st.session_state else 1
    left, right = st.columns([1, 1], vertical_alignment="center")
    left.markdown(f"**{total:,}** {'decision matches' if total == 1 else 'decisions match'}, recorded last first")
    with right:
        page = st.pagination(pages, key="page", bind="query-params") if pages > 1 else 1
    rows = reader.store.decision_rows(wanted, ROWS, (page - 1) * ROWS)
    told = f"{len(rows)} decisions of {total:,}, page {page} of {pages}"
    ids = [row["decision_id"] for row in rows]
    tables.lead_to(tables.picked([_cells(row) for row in rows], key="chosen", alt=told, ids=ids, help_of=HELP))
    _export(reader, wanted, total)


HELP = {
    "as of": "The instant that the decision was made for, UTC.",
    "decided by": "Who decided: a debate of models, the rule engine, or the rule engine because no model could speak (fallback).",
    "debate": "What the debate may be used for.",
    "guard": "What the execution guard made of it, and its first reason.",
    "order": "What became of the order; empty where there was none.",
}


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "as of": instant(row["as_of"]),
        "ticker": row["ticker"],
        "action": row["action"] or "none",
        "amount": amount(row["amount"]),
        "guard": row["code"] if row["outcome"] == "APPROVE" else f"{row['outcome']} {row['code']}",
        "order": row["order"],
        "decided by": row["provenance"],
        "debate": row["debate_class"],
        "portfolio": row["portfolio"],
        "run": row["slot"],
        "id": row["decision_id"],
    }


def _asked(reader: Reader) -> DecisionFilter:
    """The filters, drawn and read."""
    with st.container(horizontal=True):
        _text("ticker", "Ticker", "any of its names")
        _day("since", "From (day, UTC)")
        _day("until", "To (day, UTC)")
        _choice("provenance", "Decided by", KNOWN["provenance"], PROVENANCES)
        _choice("engine", "Engine", KNOWN["engine"], ENGINES)
        _choice("action", "Action", KNOWN["action"], {"NONE": "nothing could be read"})
        _text("outcome", "Guard", "such as BLOCK", "APPROVE, CLIP, BLOCK, or a code such as NO_ORDER")
        _choice("class", "Debate class", KNOWN["debate_class"], CLASSES)
        _choice("portfolio", "Portfolio", [one.name for one in reader.portfolios()], {})
    said: dict[str, Any] = {name: st.session_state.get(name) for name in NAMES}
    said["debate_class"] = said.pop("class")
    return asked_for(**{name: value.isoformat() if isinstance(value, date) else value for name, value in said.items()})


def _text(key: str, label: str, placeholder: str, words: str | None = None) -> None:
    st.text_input(label, key=key, placeholder=placeholder, max_chars=60, bind="query-params", on_change=_from_the_first, width=WIDTH, help=words)


def _day(key: str, label: str) -> None:
    st.date_input(label, value=None, key=key, min_value=FIRST_DAY, bind="query-params", on_change=_from_the_first, width=WIDTH)


def _choice(key: str, label: str, options: Sequence[str], words: Mapping[str, str]) -> None:
    told = "\n".join(f"- **{one}**: {words[one]}" for one in options if one in words) or None
    st.selectbox(label, options, index=None, key=key, placeholder="any", bind="query-params", on_change=_from_the_first, width=WIDTH, help=told)


def _from_the_first() -> None:
    st.session_state["page"] = 1


def _clear() -> None:
    for name in NAMES:
        st.session_state[name] = "" if name in ("ticker", "outcome") else None
    _from_the_first()


def _nothing(reader: Reader) -> None:
    if reader.store.decision_count(DecisionFilter()):
        st.info("No decision matches. Take a filter away.")
        st.button("Show all decisions", on_click=_clear, icon=":material/filter_alt_off:")
    else:
        st.info("There is no decision in these books yet. Run `alphaagent decide TICKER`, or `alphaagent sweep`.")


def _export(reader: Reader, wanted: DecisionFilter, total: int) -> None:
    def made() -> str:
        return decisions_csv(reader.store.decision_stream(wanted, MOST_EXPORTED))

    st.download_button("Download what matches (CSV)", made, "decisions.csv", "text/csv", on_click="ignore", icon=":material/download:")
    if total > MOST_EXPORTED:
        st.caption(f"The file is cut: it has the newest {MOST_EXPORTED:,} of {total:,}. Narrow the filters to have the rest.")
