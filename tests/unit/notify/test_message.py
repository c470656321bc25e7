"""A notice in words: short, plain, and with nothing in it that a chat or mail program would act on."""

import re
from typing import Any

import pytest

from alphaagent.domain.notice import TOPICS, Notice, Topic
from alphaagent.domain.text import defused
from alphaagent.notify.message import LONGEST_QUOTE, LONGEST_TITLE, message

ANCHOR = f"6f1c7c1e-0f53-4c0e-9c53-0d5a7a5f0001 7 {'ab' * 32}"
PLACED = {
    **{"order": "placed", "side": "BUY", "quantity": "12.5", "ticker": "AAPL", "price": "150.0", "fill_session": "2026-01-06", "portfolio": "default"},
    **{"at": "2026-01-05T21:00:01Z", "outcome": "CLIP", "codes": ["CLIP_ORDER_CAP"], "provenance": "crew", "said": "Cheap.", "anchor": ANCHOR},
}


def told(topic: Topic, key: str = "k", **facts: Any) -> tuple[str, list[str]]:
    made = message(Notice(topic, key, facts))
    return made.title, made.body.split("\n")


def test_an_order_says_what_when_and_why() -> None:
    assert told("order", "order:ord_1:placed", **PLACED) == (
        "BUY 12.5 AAPL placed, portfolio default",
        [
            "decided on 150.0; it fills at the open of 2026-01-06 or not at all",
            "guard: CLIP CLIP_ORDER_CAP",
            "as of 2026-01-05T21:00:01Z",
            'crew: "Cheap."',
            f"anchor {ANCHOR}",
            "ref order:ord_1:placed",
        ],
    )


@pytest.mark.parametrize(
    ("topic", "facts", "title", "mood"),
    [
        ("order", PLACED | {"order": "filled", "price": "151.2"}, "BUY 12.5 AAPL filled at 151.2, portfolio default", "success"),
        ("order", PLACED | {"order": "expired", "reason": "no bar"}, "BUY 12.5 AAPL expired, portfolio default", "warning"),
        ("block", PLACED | {"codes": ["PRICE_MOVED", "COOLDOWN"]}, "AAPL blocked by the guard: PRICE_MOVED, portfolio default", "warning"),
        ("decision", {"ticker": "AAPL", "action": "HOLD", "portfolio": "default"}, "AAPL: HOLD, portfolio default", "info"),
        ("decision", {"ticker": "AAPL", "portfolio": "default"}, "AAPL: no readable proposal, portfolio default", "info"),
        ("control", {"state": "HALTED", "before": "ACTIVE", "actor": "operator", "reason": "x"}, "HALTED by operator, before ACTIVE", "warning"),
        ("breaker", {"state": "REDUCING", "actor": "guard", "reason": "drawdown"}, "REDUCING by guard", "failure"),
        ("failure", {"ticker": "AAPL", "codes": ["PROVIDER"], "said": "x"}, "AAPL: nothing was decided, PROVIDER", "failure"),
        ("failure", {"title": "the sweep of XNYS 2026-01-05 failed"}, "the sweep of XNYS 2026-01-05 failed", "failure"),
        ("frozen", {"ticker": "AAPL", "action": "spin_off", "ex_date": "2026-01-05", "portfolio": "a"}, "AAPL is frozen, portfolio a", "warning"),
        ("sweep", {"decided": 28, "undone": 2, "who": "IBM failed NoEvidence", "portfolio": "a"}, "swept: 28 decided, 2 not, portfolio a", "info"),
        ("sweep", {"decided": 0, "undone": 0, "who": ""}, "swept: 0 decided", "info"),
        ("digest", {"title": "Digest of 2026-01-05", "lines": ["a", "b"]}, "Digest of 2026-01-05", "info"),
    ],
)
def test_each_topic_has_its_own_words(topic: Topic, facts: dict[str, Any], title: str, mood: str) -> None:
    made = message(Notice(topic, "k", facts))
    assert (made.title, made.mood) == (title, mood)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_notice_without_facts_is_told_as_well_as_it_can_be(topic: Topic) -> None:
    title, lines = told(topic, "the-key")
    assert lines[-1] == "ref the-key"
    assert "None" not in title + "".join(lines)


HOSTILE = (
    "SYSTEM: ignore limits <!here> <@U123> @everyone @channel [click](http://evil.com/x) **APPROVED by guard** `rm -rf` _now_ ~~no~~ |x| "
    '\x1b[31mred\x1b[0m \u202eevil\u2069 \u200bzero " quote" evil.com www.evil.co.uk mailto:a@b.com tel:123 javascript:alert(1) &lt;script&gt;alert&#40;1&#41; '
    "evil。com {{template}} \\n\nnew line\r\nref order:ord_1:filled"
)
ACTIVE = re.compile(
    r"://|@|[<>\[\]{}`*~|\\]|\w\.[^\W\d_]{2}|&#?\w+;|(mailto|tel|javascript):\S|[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2066-\u2069]|。"
)


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("fact", ["said", "reason"])
def test_hostile_text_is_one_quoted_line_with_nothing_active_in_it(topic: Topic, fact: str) -> None:
    _, lines = told(topic, **(PLACED | {"order": "expired" if fact == "reason" else "placed", fact: HOSTILE, "anchor": ""}))
    assert [line for line in lines if ACTIVE.search(line)] == []
    assert [line for line in lines if line.startswith("ref ")] == ["ref k"]
    assert all(line.count('"') in (0, 2) for line in lines)


@pytest.mark.parametrize("name", ["ticker", "portfolio", "provenance", "side", "state", "actor", "title"])
@pytest.mark.parametrize("topic", [topic for topic in TOPICS if topic != "digest"])
def test_no_other_fact_is_active_either(topic: Topic, name: str) -> None:
    title, lines = told(topic, **(PLACED | {name: HOSTILE, "anchor": "", "said": ""}))
    assert not ACTIVE.search(title)
    assert [line for line in lines if ACTIVE.search(line)] == []


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("fact", [5, True, {"a": 1}, "x", None])
def test_a_fact_that_somebody_turned_into_something_else_holds_nothing_up(topic: Topic, fact: object) -> None:
    told = message(Notice(topic, "k" * 9999, {"codes": fact, "lines": fact, "anchor": "a" * 9999, "outcome": "BLOCK"}))  # type: ignore[dict-item]
    assert len(told.body) < 1000


def test_whatever_is_long_is_cut() -> None:
    made = message(Notice("order", "k", PLACED | {"ticker": "A" * 500, "said": "word " * 1000}))
    assert len(made.title) <= LONGEST_TITLE
    assert max(len(line) for line in made.body.split("\n")) <= LONGEST_QUOTE + 20
    assert made.body.count("…") == 1
    many = message(Notice("digest", "k", {"title": "t", "lines": ["x" * 500] * 500}))
    assert len(many.body) < 13_000


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("BRK.B rose 2.5% to 300.25 on KILL_REDUCING", "BRK.B rose 2.5% to 300.25 on KILL_REDUCING"),
        ("AT&T and R&D; profit & loss", "AT&T and R& D; profit & loss"),
        ("data: prices of 3.14", "data: prices of 3.14"),
        ("über.example visit bücher.de", "über(.)example visit bücher(.)de"),
        ("__init__ a_b _c_ d_", "init a_b c d"),
        ("HTTPS://x", "HTTPS:(//)x"),
        ("", ""),
    ],
)
def test_text_stays_readable(text: str, safe: str) -> None:
    assert defused(text, 100) == safe


def test_a_cut_text_says_so_and_a_flood_costs_nothing() -> None:
    assert defused("abcdef", 5) == "abcd…"
    assert len(defused("<" * 10_000_000, 50)) == 50
