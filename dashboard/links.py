"""Ways from one page to another. Where a page is drawn without its menu there is nowhere to go, and only the words stand."""

import streamlit as st

from dashboard.inert import label


def link(page: str, words: str, **query: str) -> None:
    """A link to a page of ours; `words` may be foreign."""
    pages = st.session_state.get("pages", {})
    if page in pages:
        st.page_link(pages[page], label=label(words), query_params=query)
    else:
        st.markdown(label(words))
