"""Foreign text on a page: what models, vendors, the web and users wrote is shown and never acts.

Chosen on purpose: foreign text goes through here or into a cell of a table and nowhere else, for Streamlit reads Markdown in titles, captions,
metrics, labels and error boxes. `say` is shown as it is; `label` is for places that read Markdown whether one wants it or not.
"""

import re

import streamlit as st

from alphaagent.domain.text import defused, inert

PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
LONGEST_LABEL = 200


def lines(text: str) -> str:
    """Foreign text with its line breaks and without any other character that hides, reorders or controls."""
    return "\n".join(inert(line) for line in text.splitlines())


def say(text: str) -> None:
    """Shows foreign text: no Markdown, no HTML, no link."""
    st.text(lines(text))


def label(text: str, longest: int = LONGEST_LABEL) -> str:
    """Foreign text for a place that reads Markdown: one line, no markup, no address."""
    return PUNCTUATION.sub(r"\\\1", defused(text, longest))
