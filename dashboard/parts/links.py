"""Ways from one page to another."""

import streamlit as st

from dashboard.shell import page_of


def go(words: str, page: str, **query: str) -> None:
    """A link to a page of ours, with what it is to show; words alone where there is no menu, as when a page is drawn by itself."""
    if "pages" not in st.session_state:
        st.caption(words)
        return
    st.page_link(page_of(page), label=words, icon=":material/open_in_new:", query_params=query)  # type: ignore[arg-type]
