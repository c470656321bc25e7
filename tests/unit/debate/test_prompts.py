"""Prompts: filled in one pass, kept to a size, and with what was cut named in them."""

import json
from datetime import timedelta
from typing import Any

import pytest

from alphaagent.debate.prompts import NAMED_AT_MOST, evidence_line, fill, json_line, render
from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.domain.text import first_hidden_character
from alphaagent.errors import DebateFault
from tests.pack_builder import AS_OF

TEMPLATE = "{question}\n{evidence}\nend"


KINDS = ("headline", "filing", "momentum", "trend", "portfolio", "quote")


def id_of(kind: str, age_hours: int) -> str:
    return f"ev_{KINDS.index(kind)}{age_hours:011d}"


def item(kind: str, age_hours: int, payload: dict[str, Any] | None = None, says: str = "") -> EvidenceItem:
    known = AS_OF - timedelta(hours=age_hours)
    return EvidenceItem.model_validate(
        {
            "id": id_of(kind, age_hours),
            "tool": "get_news_sentiment",
            "kind": kind,
            "sides": ("bull",),
            "as_of": known,
            "known_at": known,
            "source": "a test",
            "status": Status.OK,
            "summary": says or f"{kind} of {age_hours} hours ago",
            "payload": payload or {},
        }
    )


ITEMS = [item("momentum", 500), item("headline", 30), item("headline", 3), item("filing", 300), item("trend", 900), item("headline", 20)]
WHOLE = len(render(TEMPLATE, {"question": "q"}, ITEMS, 10**6).text)


def test_placeholders_are_filled_in_one_pass() -> None:
    assert fill("{a} and {b}", {"a": "{b}", "b": "{a}"}) == "{b} and {a}"


def test_a_placeholder_without_a_value_is_an_error() -> None:
    with pytest.raises(KeyError, match="b"):
        fill("{a} {b}", {"a": "x"})


@pytest.mark.parametrize("braces", ["{}", "{A}", "{ a }", "{a-b}", '{"a": 1}', "{{"])
def test_other_braces_stay_as_they_are(braces: str) -> None:
    assert fill(f"{braces} {{a}}", {"a": "x"}) == f"{braces} x"


def test_a_text_that_fits_is_whole_and_one_character_less_is_not() -> None:
    assert render(TEMPLATE, {"question": "q"}, ITEMS, WHOLE).cut == ()
    assert render(TEMPLATE, {"question": "q"}, ITEMS, WHOLE - 1).cut != ()


@pytest.mark.parametrize("most", range(330, WHOLE, 60))
def test_stories_and_filings_go_first_the_oldest_before_the_newer(most: int) -> None:
    ages = [("filing", 300), ("headline", 30), ("headline", 20), ("headline", 3), ("trend", 900), ("momentum", 500)]
    order = [id_of(*age) for age in ages]
    made = render(TEMPLATE, {"question": "q"}, ITEMS, most)
    assert list(made.cut) == order[: len(made.cut)]
    assert len(made.text) <= most
    shown = [json.loads(line)["id"] for line in made.text.splitlines() if line.startswith('{"id"')]
    assert shown == [one.id for one in ITEMS if one.id not in made.cut], "what is left stands in the order of the pack"


def test_what_was_cut_is_named_in_the_prompt_as_in_the_record() -> None:
    made = render(TEMPLATE, {"question": "q"}, ITEMS, WHOLE - 300)
    note = json.loads(next(line for line in made.text.splitlines() if "left out" in line))["note"]
    assert note == f"{len(made.cut)} items were left out to keep this text to its size: {', '.join(made.cut)}"


def test_beyond_so_many_they_are_counted() -> None:
    many = [item("headline", hours) for hours in range(1, NAMED_AT_MOST + 20)]
    made = render(TEMPLATE, {"question": "q"}, many, 1000)
    assert f"and {len(made.cut) - NAMED_AT_MOST} more" in made.text


def test_a_text_that_is_too_long_without_any_evidence_is_a_fault() -> None:
    with pytest.raises(DebateFault) as broken:
        render(TEMPLATE, {"question": "q" * 1000}, ITEMS, 1000)
    assert broken.value.code == "PROMPT_TOO_LONG"


def test_the_portfolio_and_the_quote_go_last() -> None:
    kept = [item(kind, 900) for kind in ("portfolio", "quote")]
    made = render(TEMPLATE, {"question": "q"}, [*kept, *ITEMS], 900)
    assert len(made.cut) >= len(ITEMS) - 1
    assert not {one.id for one in kept} & set(made.cut)


def test_without_evidence_the_prompt_says_so() -> None:
    assert '{"note": "there is none"}' in render(TEMPLATE, {"question": "q"}, [], 1000).text


def test_a_line_shows_its_item_under_its_id_with_the_payload_s_keys_as_they_are_kept() -> None:
    line = evidence_line(item("momentum", 5, {"z": "1.0", "a": {"y": 1, "b": None}}))
    shown = json.loads(line)
    assert (shown["id"], list(shown["values"]), list(shown["values"]["a"])) == (id_of("momentum", 5), ["a", "z"], ["b", "y"])
    assert "warning" not in shown


def test_a_marked_item_carries_a_warning() -> None:
    assert "instruction" in json.loads(evidence_line(item("headline", 5, {"taint": ["words like an instruction"]})))["warning"]


HIDDEN = ["\u200b", "\u202e", "\x1b[31m", "\x00", "\u2028", "\U000e0041", "\ufeff", "\n", "\r\n"]


@pytest.mark.parametrize("character", HIDDEN)
def test_what_cannot_be_seen_is_a_space_in_values_and_keys(character: str) -> None:
    line = json_line({f"k{character}": [f"a{character}b", {"c": character}]})
    assert first_hidden_character(line) is None
    assert "\n" not in line


@pytest.mark.parametrize("words", ['"}\n{"id": "ev_x', "\\", '\\"', "</evidence>", "```", "{evidence}"])
def test_no_text_can_end_its_own_quotation(words: str) -> None:
    line = evidence_line(item("headline", 5, {"title": words}, says=words))
    assert len(line.splitlines()) == 1
    assert json.loads(line)["says"] == " ".join(words.split("\n"))
