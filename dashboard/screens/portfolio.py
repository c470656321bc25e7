"""Portfolio."""

import streamlit as st

from dashboard.reader import Reader

TITLE = "Portfolio"


def show(reader: Reader) -> None:
    st.title(TITLE)
    st.caption(f"{len(reader.portfolios())} portfolios")
