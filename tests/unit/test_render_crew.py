"""A crew's decision on a terminal: everything that was claimed and what it stands on, at any width, and nobody's text obeyed."""

import json
from decimal import Decimal as D
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType
from rich.text import Text

from alphaagent.debate.record import Repair, Transcript, TurnRecord
from alphaagent.domain.record import Usage
from alphaagent.domain.transcript import Fault, ToolCall
from alphaagent.render import decision_page
from alphaagent.render_calls import laid_out, request
from alphaagent.render_crew import case_panel
from alphaagent.render_debate import debate_page
from alphaagent.render_evidence import evidence
from alphaagent.views import decision_document
from alphaagent.views_debate import asking_line, transcript_document
from alphaagent.views_words import cost_line
from tests.crew_record import COUNTER, PACK, USAGE, call, case, crew_record, line, reply, transcript
from tests.pack_builder import BULLISH, pack
from tests.record_builder import record, stored

WIDTHS = [20, 80, 109, 110, 140]
HOSTILE = "[bold red]x[/] :smile: \x1b[31mred\x1b[0m\u202e [/nonsense]"
INERT = "[bold red]x[/] :smile:  [31mred [0m  [/nonsense]"
SPEND = Fault(kind="spend", message="the ceiling is reached")


def shown(*things: RenderableType, width: int = 140) -> str:
    out = Console(file=StringIO(), width=width, markup=False, emoji=False, highlight=False)
    for thing in things:
        out.print(thing)
    return out.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def page(document: dict[str, Any], width: int = 140) -> str:
    out = Console(file=StringIO(), width=width)
    return shown(decision_page(document, out, {}, full=False), width=width)


def flat(text: str) -> str:
    """A page without its frames and line breaks."""
    return " ".join(text.replace("│", " ").split())


def crew_document(*, held: Transcript | None = None, **changes: Any) -> dict[str, Any]:
    made = crew_record(**changes)
    return decision_document(made, stored(made), transcript=held or transcript())


@pytest.mark.parametrize("width", [80, 140])
def test_the_heading_says_who_was_asked_and_what_it_cost(width: int) -> None:
    text = flat(page(crew_document(), width))

    assert "crew: toy at openai-compatible, plan quick 3 calls, 2,700 tokens read and 360 written, USD 0.01" in text
    assert "Both sides were the same model" in text


def test_different_models_are_each_named() -> None:
    text = page(crew_document(held=transcript("other")))

    assert "crew: bull toy, bear other, cio toy at openai-compatible" in text
    assert "same model" not in text


def test_without_its_transcript_the_heading_says_less() -> None:
    made = crew_record()

    assert "crew: models that are named in the transcript, plan quick" in page(decision_document(made, stored(made)))


def test_a_sum_without_prices_is_not_called_the_cost() -> None:
    text = page(crew_document(held=transcript(priced=False)))

    assert "cost unknown, for want of a price" in text
    assert "USD 0.01" not in text


@pytest.mark.parametrize(("cost", "words"), [("0.0", "USD 0.00"), ("0.0042", "USD 0.0042"), ("0.01", "USD 0.01"), ("1.239", "USD 1.24")])
def test_less_than_a_cent_is_told_in_full(cost: str, words: str) -> None:
    assert cost_line(Usage(calls=1, cost_usd=cost).model_dump(), priced=True) == f"1 call, 0 tokens read and 0 written, {words}"


@pytest.mark.parametrize("width", [80, 140])
def test_a_claim_stands_with_its_id_kind_severity_direction_and_evidence(width: int) -> None:
    ids = tuple(item.id for item in PACK.items[:3])
    bull = case(
        "bull",
        line("bull", severity="high", evidence_ids=ids, status="conceded"),
        line("bull", 2, factor="forecast", severity="low", direction="down", evidence_ids=()),
    )
    text = flat(shown(case_panel(crew_document(bull=bull)["bull_case"]), width=width))

    assert f"c_bull_1 fact, high severity, conceded {' '.join(ids)}" in text
    assert "c_bull_2 forecast, low severity, open no evidence" in text
    assert "▲ claim 1 of the bull" in text
    assert "▼ claim 2 of the bull" in text


def test_a_fault_of_a_claim_stands_below_it_without_its_place_in_the_json() -> None:
    bear = case("bear", line("bear", faults=("claims[3]: 'ev_0' is no evidence id that you were given.",)))

    assert "found by the program: 'ev_0' is no evidence id that you were given." in flat(page(crew_document(bear=bear), 80))


def test_what_stayed_at_fault_in_an_answer_is_told_at_its_side() -> None:
    turn = TurnRecord(phase="opening", round=1, side="bear", answer="{}", faults=("UNKNOWN_EVIDENCE",))
    text = flat(page(crew_document(held=transcript(turns=(turn,))), 80))

    assert text.count("left at fault, and counted for nothing: UNKNOWN_EVIDENCE") == 1
    assert text.index("short seller") < text.index("UNKNOWN_EVIDENCE")


def test_both_sides_say_stance_and_probability_and_the_gap_lies_between_them() -> None:
    text = page(crew_document(), 80)

    assert "The bull  opened BULLISH, ends at p(up) 0.660" in text
    assert "The short seller  opened BEARISH, ends at p(up) 0.450" in text
    assert "Debate   round 1: p(up) bull 0.660, bear 0.450; gap 0.210, middle 0.555" in text


def test_outcome_class_and_flags_of_a_longer_debate_are_told() -> None:
    document = crew_document()
    document["debate"] |= {"outcome": "closed", "class": "earned", "skipped": "consensus", "flags": ["zombie"], "rounds": document["debate"]["rounds"] * 2}
    text = page(document)

    assert "the gap closed, class earned" in text
    assert "the exchange ended early, in an earned consensus" in text
    assert "flags: zombie" in text
    assert text.count("round 1: p(up)") == 2


def test_no_case_is_shown_as_the_answer_that_it_is() -> None:
    text = flat(page(crew_document(bear=case("bear", no_case="The accounts are sound.", summary="The accounts are sound.")), 80))

    assert text.count("No case, and said so: The accounts are sound.") == 1
    assert text.count("The accounts are sound.") == 1


def test_a_case_of_which_nothing_stood_says_so() -> None:
    assert "nothing stood" in page(crew_document(bear=case("bear")))


def test_no_claim_is_told_twice_and_the_counter_is_told() -> None:
    text = flat(page(crew_document(), 80))

    assert text.count("claim 1 of the bull") == 1
    assert text.count(f"Strongest counter: {COUNTER}") == 2


def test_the_verdict_names_what_it_relied_on_and_no_slope() -> None:
    text = page(crew_document())

    assert "p(up in 20 sessions) 0.680, base rate 0.550\n" in text.replace(" \n", "\n")
    assert "Relied on: c_bull_1" in text


def test_a_hold_has_no_order_to_rule_on() -> None:
    text = page(crew_document(action="HOLD"))

    assert "Guard at decide  APPROVE  NO_ORDER: there is no order to rule on" in text
    assert "nothing to rule on" not in text


def fallback(*, kept: bool = True) -> dict[str, Any]:
    changes = {"transcript_sha256": "0" * 64 if kept else None, "usage": USAGE}
    made = record(pack(BULLISH), provenance="fallback", reason="timeout: no complete answer within 60 s").model_copy(update=changes)
    return decision_document(made, stored(made), transcript=transcript(fault=SPEND) if kept else None)


def test_a_fallback_says_what_failed_what_it_cost_and_where_the_debate_is() -> None:
    text = flat(page(fallback(), 80))

    assert "fallback: timeout: no complete answer within 60 s; the heuristic engine decided instead" in text
    assert "asked: toy at openai-compatible; 3 calls" in text
    assert "transcript is kept: `alphaagent show dec_0123456789abcdef --transcript`" in text


def test_a_fallback_without_a_debate_promises_no_transcript() -> None:
    assert "transcript" not in page(fallback(kept=False))


def test_a_fallback_of_a_dry_run_keeps_nothing() -> None:
    document = fallback()
    del document["audit"], document["order"]

    assert "transcript is kept" not in page(document)


@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_of_a_crew_fits_every_width(width: int) -> None:
    made = crew_record(bear=case("bear", no_case="none"), bull=case("bull", line("bull", text="long " * 40, faults=("fault " * 9,))))
    document = decision_document(made, stored(made), transcript=transcript())
    out = Console(file=StringIO(), width=width)
    parts = [page(document, width), page(fallback(), width), shown(evidence(document, out), width=width), shown(debate(), width=width)]

    assert max(len(each) for part in parts for each in part.splitlines()) <= width


@pytest.mark.parametrize("width", [80, 140, 400])
def test_hostile_claims_are_shown_and_not_obeyed(width: int) -> None:
    bull = case("bull", line("bull", text=HOSTILE, faults=(HOSTILE,)), counter=HOSTILE)
    document = crew_document(bull=bull, bear=case("bear", no_case=HOSTILE))
    document["crew"]["models"] = {side: [HOSTILE] for side in document["crew"]["models"]}
    document["proposal"] |= {"reasoning": HOSTILE, "relied_on": [HOSTILE]}
    text = page(document, width)

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count(":smile:") == 7
    assert width < 400 or text.count(INERT) == 7


def test_evidence_is_a_list_by_tool_where_a_table_has_no_room() -> None:
    document = crew_document()
    narrow, wide = (shown(evidence(document, Console(file=StringIO(), width=width)), width=width) for width in (179, 180))
    first = document["evidence"]["items"][0]

    assert "get_price_history  for bull, short seller" in narrow
    assert narrow.count("get_price_history") == 1
    assert f"  {first['id']}  {first['kind']}  known 2020-03-16" in narrow
    assert f"      {first['summary']}" in narrow
    assert "what it says" in wide


def test_what_is_not_ok_is_marked_in_the_list() -> None:
    document = crew_document()
    document["evidence"]["items"] = [item | {"status": "failed", "summary": HOSTILE} for item in document["evidence"]["items"][:1]]
    text = shown(evidence(document, Console(file=StringIO(), width=80)), width=80)

    assert "known 2020-03-16  failed" in text
    assert INERT in text


TURNS = (
    TurnRecord(
        phase="opening",
        round=1,
        side="bull",
        answer=json.dumps({"p_up": 0.66, "claims": [{"text": "first\nsecond", "evidence_ids": ["ev_1", "ev_2"]}], "no_case": None}),
        repairs=(Repair(codes=("NO_EVIDENCE",), message="cite one"),),
        faults=("NO_EVIDENCE",),
        cut=("ev_9",),
    ),
    TurnRecord(phase="verdict", round=2, side="cio", answer=None),
)
BODY = {
    "model": "toy",
    "max_tokens": 1600,
    "response_format": {"type": "json_schema", "json_schema": {"name": "Answer"}},
    "tools": [{"type": "function", "function": {"name": "get_news_sentiment", "parameters": {"secret": "schema"}}}],
    "messages": [
        {"role": "system", "content": "You are the bull.\nBe checkable."},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "get_news_sentiment", "arguments": "{}"}}]},
        {"role": "tool", "content": "a headline"},
    ],
}
OTHER_FORMS = {
    "anthropic": {
        "model": "toy",
        "system": [{"type": "text", "text": "You are the bull.\nBe checkable."}],
        "tools": [{"name": "get_news_sentiment", "input_schema": {"secret": "schema"}}],
        "messages": [{"role": "user", "content": [{"type": "tool_result", "content": "a headline"}]}],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "You are the bull.\nBe checkable."}]},
        "tools": [{"functionDeclarations": [{"name": "get_news_sentiment", "parameters": {"secret": "schema"}}]}],
        "contents": [{"role": "user", "parts": [{"functionResponse": {"name": "x", "response": "a headline"}}]}],
    },
    "openai": BODY,
}


def debate(**changes: Any) -> RenderableType:
    made = transcript(**({"turns": TURNS, "calls": (call(json.dumps(BODY), "{}", reply('{"p_up": 0.66}')),)} | changes))
    return debate_page(transcript_document(made, calls=True))


@pytest.mark.parametrize("width", [80, 140])
def test_a_turn_is_an_outline_with_what_was_sent_back(width: int) -> None:
    text = shown(debate(), width=width)

    assert "The bull, opening (1 call, 0.0 s)" in text
    assert "sent back: NO_EVIDENCE. cite one" in text
    assert "left as it was: NO_EVIDENCE" in text
    assert "left out of the prompt for its size: ev_9" in text
    assert [each.strip("│ ") for each in text.splitlines() if "claims[0]" in each] == ["claims[0]:"]
    assert [part.strip("│ ") for part in text.splitlines() if "first" in part or "second" in part] == ["text: first", "second"]
    assert "evidence_ids: ev_1, ev_2" in text
    assert "no_case: null" in text
    assert "no usable answer" in text


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_a_request_is_a_conversation_in_every_wire_form(form: str) -> None:
    lines = [each.strip() for each in shown(*request(json.dumps(OTHER_FORMS[form])), width=140).splitlines()]

    assert "tools: get_news_sentiment" in lines
    assert lines[lines.index("You are the bull.") :][:2] == ["You are the bull.", "Be checkable."]
    assert any("a headline" in each for each in lines)
    assert not any("secret" in each for each in lines)


def test_a_call_says_what_was_sent_and_what_came() -> None:
    text = shown(debate(), width=80)

    assert "The bull, opening, request 1: toy, HTTP 200, 12 ms" in text
    assert "model toy, max_tokens 1600, response_format {type, json_schema}" in text
    assert "calls get_news_sentiment({})" in text
    assert "toy, ended by stop, 900 + 120 tokens" in text


def test_a_call_without_an_answer_says_why() -> None:
    fault = Fault(kind="unreachable", message=HOSTILE)
    text = shown(debate(calls=(call("{}", fault=fault),), fault=fault), width=140)

    assert "no answer, 12 ms" in text
    assert f"unreachable: {INERT}" in text
    assert "nothing\n" in text.replace(" \n", "\n").replace(" ", "")
    assert f"ended by unreachable: {INERT}" in text


DEEP = '{"a":' * 300 + "1" + "}" * 300
STRANGE = ["", "null", "[1, 2]", "7", '"text"', "{", "prose", DEEP, '{"messages": 5}', '{"messages": ["x"]}', '{"tools": [3]}', '{"tools": {"a": 1}}']


@pytest.mark.parametrize("text", [*STRANGE, json.dumps({HOSTILE: [HOSTILE, {"x": HOSTILE}]}), HOSTILE])
@pytest.mark.parametrize("width", [20, 140])
def test_whatever_was_sent_or_came_can_be_shown(text: str, width: int) -> None:
    page = shown(*request(text), *laid_out(text), width=width)

    assert "\x1b" not in page
    assert max(map(len, page.splitlines()), default=0) <= width


def test_hostile_replies_are_inert() -> None:
    said = reply(HOSTILE, tool_calls=(ToolCall(id="1", name=HOSTILE, arguments=HOSTILE),), model=HOSTILE, finish_reason=HOSTILE)
    turn = TurnRecord(phase="opening", round=1, side="bull", answer=HOSTILE, repairs=(Repair(codes=("BAD",), message=HOSTILE),))
    text = shown(debate(turns=(turn,), calls=(call(json.dumps({HOSTILE: HOSTILE}), "{}", said),)), width=400)

    assert text.count(INERT) == 9
    assert "\x1b" not in text


def test_the_line_before_a_debate_names_who_is_asked_and_the_most_it_costs() -> None:
    setup = transcript().setup

    assert asking_line(setup, D("0.4219")) == "asking toy at openai-compatible, plan quick: bull and bear, then CIO; at most USD 0.42"
    assert asking_line(setup, None).endswith("; price unknown")
    assert Text(asking_line(transcript("[red]x").setup, D(0))).plain.startswith("asking bull toy, bear [red]x, cio toy at")
