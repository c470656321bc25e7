"""Tables of foreign text: plain cells, no links, no Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

WIDE = {"value", "in words", "what it asks", "detail", "summary"}
"""Columns of sentences."""
ROW_HEIGHT = 35
MOST_ROWS = 14
"""Rows from which a table scrolls."""


def table(rows: Sequence[Mapping[str, Any]], *, key: str | None = None) -> None:
    """Rows of text as they are."""
    columns = list(rows[0]) if rows else []
    shown = {name: st.column_config.TextColumn(name, width="large" if name in WIDE else None) for name in columns}
    st.dataframe(
        [{name: str(row[name]) for name in columns} for row in rows],
        column_config=shown,
        hide_index=True,
        key=key,
        height=ROW_HEIGHT * (min(len(rows), MOST_ROWS) + 1) + 3,
    )
