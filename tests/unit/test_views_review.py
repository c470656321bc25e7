"""Rows and words of the pages that review many decisions at once."""

import csv
import io
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.guard.registry import RULES
from alphaagent.operations.review import ModelHealth, meanings
from alphaagent.views_review import CLASSES, EXPORTED, amount, counted, decisions_csv, event_row, provider_rows

ROW: dict[str, Any] = dict.fromkeys(EXPORTED, "x") | {"amount": "-5.0", "audit_seq": 3}


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠"])
@pytest.mark.parametrize("column", [name for name in EXPORTED if name not in ("amount", "audit_seq")])
def test_no_cell_of_the_file_is_a_formula(start: str, column: str) -> None:
    (read,) = csv.DictReader(io.StringIO(decisions_csv([ROW | {column: f"{start}HYPERLINK(0)"}])))
    assert read[column].startswith("'")
    assert len(read[column].splitlines()) == 1


def test_numbers_stay_numbers_and_nothing_is_an_empty_cell() -> None:
    (read,) = csv.DictReader(io.StringIO(decisions_csv([ROW | {"order": None}])))
    assert (read["amount"], read["audit_seq"], read["order"]) == ("-5.0", "3", "")


FOUND = [("decide", "APPROVE", "APPROVED", 6), ("decide", "BLOCK", "ILLIQUID", 2), ("settle", "BLOCK", "ILLIQUID", 1), ("decide", "BLOCK", "QUOTE_STALE", 1)]


def test_refusals_are_counted_by_code_with_their_share_of_all_rulings() -> None:
    first, second = counted(FOUND, {"ILLIQUID": "D7 Liquidity"}, "BLOCK")
    assert (first["code"], first["count"], first["share"], first["at_decision"], first["at_settlement"]) == ("ILLIQUID", 3, 0.3, 2, 1)
    assert (first["meaning"], second["code"], second["meaning"]) == ("D7 Liquidity", "QUOTE_STALE", "a rule of another release")
    assert counted(FOUND, {}, "CLIP") == []
    assert counted([], {}, "BLOCK") == []


def test_every_code_of_the_guard_has_a_meaning() -> None:
    told = meanings()
    assert [code for rule in RULES.values() for code in rule.codes if not told[code].startswith(f"{rule.id} ")] == []
    assert {"APPROVED", "NO_ORDER", "BAD_ACTION"} <= told.keys()


EVENT: dict[str, Any] = {"at": "2020-02-03T21:00:01Z", "portfolio": "default", "ticker": None, "codes": [], "outcome": None}


@pytest.mark.parametrize(
    ("kind", "detail", "codes", "what"),
    [
        ("sweep", {"decided": ["A"], "repeated": [], "undone": {}}, [], "1 decided, 0 decided before, 0 not decided"),
        (
            "sweep",
            {"decided": [], "repeated": ["A"], "undone": {"B": "failed NoEvidence"}},
            [],
            "0 decided, 1 decided before, 1 not decided: B failed NoEvidence",
        ),
        ("failure", {"tickers": ["A", "B"]}, ["PROVIDER"], "nothing was decided: PROVIDER"),
        ("notification_dead", {"topic": "order", "target": "chat", "attempts": 8}, [], "order never reached chat in 8 tries"),
        ("control_changed", {"state": "HALTED", "reason": "drawdown"}, [], "HALTED: drawdown"),
        ("frozen", {}, [], ""),
    ],
)
def test_an_event_is_told_in_a_line(kind: str, detail: dict[str, Any], codes: list[str], what: str) -> None:
    row = event_row(9, EVENT | {"kind": kind, "detail": detail, "codes": codes})
    assert (row["seq"], row["kind"], row["what"], row["ticker"]) == (9, kind, what, ", ".join(detail.get("tickers", ())))


def test_a_model_is_told_with_what_it_cost_and_how_it_went() -> None:
    heard, silent = provider_rows(
        [
            ModelHealth("a", "m", 2, 9, 900, 100, Decimal("0.12345"), 4, 1500, 4000, {"timeout": 2, "http": 1}),
            ModelHealth("b", "n", 1, 3, 300, 30, Decimal(0), 0, None, None, {}),
        ]
    )
    assert (heard["USD"], heard["median"], heard["slowest twentieth"], heard["failed"]) == ("0.1234", "1.5 s", "4.0 s", "http 1, timeout 2")
    assert (silent["median"], silent["failed"]) == ("–", "none")


def test_amounts_read_like_amounts() -> None:
    assert [amount(text) for text in (None, "0.0", "1234.5")] == ["", "", "1,234.50"]


def test_every_class_that_a_debate_can_have_has_words() -> None:
    from typing import get_args

    from alphaagent.domain.debate import DebateClass

    assert CLASSES.keys() == {*get_args(DebateClass), "none"}
