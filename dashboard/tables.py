"""Tables whose rows lead to decisions. Foreign text stands in cells, which show it and read nothing into it."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from dashboard.shell import page_of

Row = Mapping[str, Any]


def show(rows: Sequence[Row], *, alt: str, help_of: Mapping[str, str] | None = None) -> None:
    """A table to read."""
    st.dataframe(_cells(rows), hide_index=True, alt=alt, column_config=_columns(help_of))


def picked(rows: Sequence[Row], *, key: str, alt: str, ids: Sequence[str], help_of: Mapping[str, str] | None = None) -> str | None:
    """A table of which one row can be chosen; the id of that row's decision."""
    chosen = st.dataframe(_cells(rows), hide_index=True, key=key, on_select="rerun", selection_mode="single-row", alt=alt, column_config=_columns(help_of))
    places: list[int] = chosen["selection"]["rows"]
    return ids[places[0]] if places and places[0] < len(ids) else None


def lead_to(decision_id: str | None) -> None:
    """The way to a decision's page, and its id to copy."""
    if decision_id is None:
        st.caption("Choose a row, by the box before it, to open its decision.")
        return
    left, right = st.columns([1, 2], vertical_alignment="center")
    with left:
        if "pages" in st.session_state:
            st.page_link(page_of("decision"), label="Open this decision", icon=":material/balance:", query_params={"id": decision_id})  # type: ignore[arg-type]
    with right:
        st.code(decision_id, language=None)


def _cells(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Column by column; a missing value is an empty cell."""
    return {name: ["" if row[name] is None else row[name] for row in rows] for name in rows[0]} if rows else {}


def _columns(help_of: Mapping[str, str] | None) -> dict[str, Any]:
    return {name: st.column_config.Column(help=words) for name, words in (help_of or {}).items()}
