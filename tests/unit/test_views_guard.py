"""A ruling for a reader: headroom, overage, what would change it, and asked against allowed against filled."""

from typing import Any

import pytest

from alphaagent.guard.registry import RULES
from alphaagent.views_guard import figure, guard_words, headroom, order_words, overage, proposal_and_order, rule_rows, statuses, stops, title_of, would_change

TITLES = {"A": "Strict parser", "H4": "Per-order cap"}


def rule(id: str, verdict: str = "pass", value: str | None = None, limit: str | None = None, **more: Any) -> dict[str, Any]:
    return {"id": id, "verdict": verdict, "value": value, "limit": limit, "code": None, "reason": None, **more}


def ruling(*rules: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "stage": "decide",
        "outcome": "APPROVE",
        "code": "APPROVED",
        "codes": ["APPROVED"],
        "quantity_in": "10.0",
        "quantity_out": "10.0",
        "price": "5.0",
        "rules": list(rules),
    } | changes


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (rule("H4", value="2000.0", limit="5000.0"), "60% left"),
        (rule("H4", value="9000.0", limit="5000.0"), "80.0% over it"),
        (rule("H9", value="5.0", limit="0.0"), "over it"),
        (rule("H9", value="0.0", limit="0.0"), "at the limit"),
        (rule("D6", value="20.0", limit="5.0"), "4.0 times the least"),
        (rule("I1", value="5.0", limit="10.0"), "50.0% short of it"),
        (rule("E6", value="102.0", limit="100.0"), "2.0% apart"),
        (rule("B1", value="ACTIVE", limit="ACTIVE"), None),
        (rule("D1", value="1", limit="1"), None),
        (rule("H4", value="NaN", limit="5"), None),
        (rule("H4"), None),
    ],
)
def test_headroom_is_told_where_two_numbers_can_be_held_against_each_other(one: dict[str, Any], words: str | None) -> None:
    assert headroom(one) == words


def test_overage_says_by_how_much_and_is_silent_where_the_number_was_not_at_fault() -> None:
    assert overage(rule("H4", "clip", "9000.0", "5000.0")) == "4,000 too much (80.0% over the limit)"
    assert overage(rule("G1", "block", "20", "20")) == "the limit is reached"
    assert overage(rule("I1", "block", "5.0", "10.0")) == "5 too little"
    assert overage(rule("F2", "block", "0", "3")) is None


def test_every_clip_and_block_says_its_limit_and_what_would_change_it() -> None:
    clip = rule("H4", "clip", "9000.0", "5000.0", code="CLIP_ORDER", reason="the order would be 9% of NAV")
    mandate = {"limits": {"rules": {"H4": {"max_order_fraction": "0.05"}}}}
    (stop,) = stops(ruling(rule("B1"), clip), TITLES, mandate)
    assert (stop["title"], stop["verdict"], stop["attempted"], stop["limit"]) == ("Per-order cap", "cut", "9,000", "5,000")
    assert stop["limits"] == {"max_order_fraction": "0.05"}
    assert "mandate.yaml" in stop["change"]


@pytest.mark.parametrize("id", [*RULES, "A1", "A10"])
def test_every_rule_of_the_guard_says_what_would_change_it(id: str) -> None:
    assert would_change(id).endswith(".")


def test_a_rule_of_the_parser_is_the_parsers() -> None:
    assert title_of("A7", TITLES) == "Strict parser"


def test_rules_that_had_nothing_to_say_come_last() -> None:
    rows = rule_rows(ruling(rule("D8", "not_applicable", reason="it is a BUY"), rule("H4", value="1", limit="2")), TITLES)
    assert [(row["rule"], row["verdict"]) for row in rows] == [("H4", "kept"), ("D8", "does not apply")]
    assert statuses(rows) == "1 kept, 1 does not apply"


def test_asked_allowed_and_filled_are_steps_at_their_own_prices() -> None:
    proposal = {"action": "BUY", "amount": 50}
    order = {"status": "filled", "side": "BUY", "quantity": "8.0", "ticker": "AAPL", "price": "6.0", "fill_session": "2020-02-06"}
    document = {"guard": ruling(outcome="CLIP", quantity_out="8.0"), "proposal": proposal, "order": order}
    assert [(row["step"], row["shares"], row["money"]) for row in proposal_and_order(document)] == [
        ("asked for", "10", "50.00"),
        ("allowed by the guard", "8", "40.00"),
        ("filled on 2020-02-06", "8", "48.00"),
    ]
    assert proposal_and_order(document | {"proposal": {"action": "HOLD", "amount": 0}}) == []
    assert proposal_and_order(document | {"proposal": None}) == []


def test_the_guards_word_is_a_sentence() -> None:
    assert guard_words(ruling()) == "The guard let it through as it was asked for."
    assert guard_words(ruling(code="NO_ORDER")) == "The guard had nothing to rule on: a HOLD places no order."
    assert guard_words(ruling(outcome="BLOCK", code="ILLIQUID")) == "The guard stopped it: ILLIQUID."
    assert guard_words(ruling(outcome="CLIP", code="CLIP_ORDER", quantity_out="8.5")) == "The guard cut it from 10 to 8.5 shares: CLIP_ORDER."


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("pending", "BUY 8 AAPL: waits for the open of 2020-02-06; `alphaagent settle` fills it."),
        ("pending_approval", "BUY 8 AAPL: waits for somebody's word."),
        ("filled", "BUY 8 AAPL: filled at 6 at the open of 2020-02-06."),
        ("expired", "BUY 8 AAPL: expired, for the session of 2020-02-06; nothing was traded."),
    ],
)
def test_the_orders_fate_is_a_sentence(status: str, words: str) -> None:
    order = {"status": status, "side": "BUY", "quantity": "8.0", "ticker": "AAPL", "price": "6.0", "fill_session": "2020-02-06"}
    assert order_words({"order": order}) == words
    assert order_words({"order": None}) == "No order was placed."


def test_a_figure_is_short_and_a_hash_is_cut() -> None:
    assert [figure(text) for text in ("a" * 64, "1234.56789", "2000.0", None, "ACTIVE")] == ["a" * 12 + "…", "1,234.5679", "2,000", "", "ACTIVE"]
