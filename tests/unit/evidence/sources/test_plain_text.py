"""Only what a reader can see is left of a text, and hostile markup costs neither an error nor time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.evidence.sources.plain_text import plain_text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("Revenue up 1.0%; earnings down", "Revenue up 1.0%; earnings down"),
        ("AT&amp;T &lt;rises&gt;", "AT&T"),
        ("margin 3 < 5 > 2", "margin 3 < 5 > 2"),
        ("a<br/>b<p class='x'>c</p>", "a b c"),
        ("a<script>x()</script >b<style>p{}</style>c<!-- d -->e", "a b c e"),
        ("a<script>never closed", "a"),
        ("cut <a href='x", "cut"),
        ("<scr<b>ipt>x", "x"),
        ("two\r\n\tlines\u2028three\u00a0four", "two lines three four"),
        ("pay\u202eload\u2066 \u200bhid\u200dden\ufeff", "payload hidden"),
        ("tag\U000e0041\U000e0042 vs\ufe0f\U000e0100 fill\u3164er soft\u00adhyphen", "tag vs filler softhyphen"),
        ("bell\x07 esc\x1b[2J null\x00", "bell esc [2J null"),
        ("<![foo[ odd ]]>", ""),
        ("日経 émigré ß €5", "日経 émigré ß €5"),
    ],
)
def test_a_text_is_what_can_be_seen_of_it(markup: str, text: str) -> None:
    assert plain_text(markup, 300) == text


@given(st.text(alphabet=st.sampled_from("<>&;#!/-[]abx \u202e\u200b\ud7ff\x1b"), max_size=200))
def test_any_text_gives_short_printable_text(markup: str) -> None:
    text = plain_text(markup, 50)
    assert len(text) <= 50
    assert text.isprintable()
    assert "<script" not in text


@pytest.mark.parametrize("piece", ["<scr", "<script", "</script ", "&lt;", "<!--", "<a ", "&amp;", "<<", "&#60;"])
def test_hostile_repetition_takes_no_time(piece: str) -> None:
    started = time.thread_time()
    plain_text(piece * 200_000, 300)
    assert time.thread_time() - started < 0.5
