"""The argument of a debate on a terminal: the chart, who hit what, how it was answered, what stays open."""

from decimal import Decimal
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from alphaagent.render_argument import CHART_WIDTH, argument

EVENT: dict[str, Any] = {"phase": 2, "round": 3, "codes": [], "reason": "It is small.", "evidence_ids": ["ev_2"], "condition": None}


def point(number: int, bull: str, bear: str) -> dict[str, Any]:
    return {"round": number, "bull": bull, "bear": bear, "gap": str(abs(Decimal(bull) - Decimal(bear)))}


def document(**changes: Any) -> dict[str, Any]:
    hit = {
        "id": "o_bear_1",
        "by": "bear",
        "status": "rebutted",
        "closed_by": "acceptance",
        "argument": "It may turn.",
        "severity": "med",
        "fallacy": None,
        "evidence_ids": ["ev_9"],
        "answers": [EVENT | {"side": "bull", "what": "REBUTTED"}, EVENT | {"side": "bear", "what": "ACCEPT", "round": 4}],
    }
    claim = {
        "id": "c_bull_1",
        "by": "bull",
        "status": "upheld",
        "text": "Momentum is strong.",
        "as_first_said": None,
        "kind": "fact",
        "direction": "up",
        "severity": "high",
        "evidence_ids": ["ev_1"],
        "number": "contradicted",
        "hits": [hit],
    }
    open_point = {
        "objection_id": "o_bull_1",
        "claim_id": "c_bear_1",
        "severity": "high",
        "bull_position": "It is dear.",
        "bear_position": "It is cheap.",
        "conditions": [{"observable": "get_price_history.history.close", "operator": ">", "threshold": "330", "by_date": "2020-03-02", "says": "up"}],
    }
    measures = {
        "class": "earned",
        "outcome": "closed",
        "closed_by": "bear",
        "gap_closure": "0.5",
        "settled": {"part": 1, "of": 2},
        "contested": {"part": 2, "of": 3},
        "p_final": "0.5",
        "gap": "0.2",
        "anchored": False,
        "flags": [{"name": "stubborn", "side": None}, {"name": "capitulation", "side": "bear"}],
    }
    said = {
        "claims": [claim],
        "open": [open_point],
        "rounds": [point(1, "0.7", "0.3"), point(2, "0.6", "0.4")],
        "base_rate": "0.5",
        "measures": measures,
        "skipped": None,
        "stances": [],
    }
    return said | changes


def shown(width: int = 100, **changes: Any) -> str:
    out = Console(file=StringIO(), width=width, markup=False, emoji=False, highlight=False)
    out.print(argument(document(**changes)))
    return str(out.file.getvalue())  # type: ignore[attr-defined]


def test_the_chart_shows_both_numbers_the_gap_and_where_the_openings_stood() -> None:
    first, second = [line for line in shown().splitlines() if line.startswith("round")]
    assert first[9 : 9 + CHART_WIDTH].index("▲") == 21
    assert first[9 : 9 + CHART_WIDTH].index("▼") == 9
    assert (second[9 : 9 + CHART_WIDTH].index("▲"), second[9 : 9 + CHART_WIDTH].index("▼")) == (18, 12)
    assert [second[9 + column] for column in (9, 21)] == ["┆", "┆"]
    assert second.endswith("bear 0.40  bull 0.60  gap 0.20")


def test_the_chart_fits_eighty_columns() -> None:
    assert max(len(line) for line in shown(80).splitlines()) <= 80
    assert len([line for line in shown(80).splitlines() if line.startswith("round") and "gap" in line]) == 2


def test_sides_that_crossed_still_show_both_numbers() -> None:
    (line,) = [line for line in shown(rounds=[point(1, "0.3", "0.7")]).splitlines() if line.startswith("round")]
    assert line[9 : 9 + CHART_WIDTH].index("▲") < line[9 : 9 + CHART_WIDTH].index("▼")


def test_a_claim_is_followed_by_who_hit_it_and_how_that_was_answered() -> None:
    text = shown()
    places = [
        text.index(part) for part in ("c_bull_1 upheld", "o_bear_1 It may turn.", "the bull rebutted: It is small.", "the short seller accepted the answer")
    ]
    assert places == sorted(places)
    assert "closed: rebutted, and the objector accepts it" in text
    assert "its number is contradicted by the evidence" in text


def test_a_move_that_does_not_count_says_why() -> None:
    answers = [EVENT | {"side": "bull", "what": "CARRIED", "codes": ["NO_RESOLUTION_CONDITION"]}]
    claim = document()["claims"][0]
    text = shown(claims=[claim | {"hits": [claim["hits"][0] | {"status": "dodged", "closed_by": None, "answers": answers}]}])
    assert "does not count: NO_RESOLUTION_CONDITION" in text
    assert "stays open: no valid answer" in text


def test_what_stays_open_names_both_positions_and_what_would_settle_it() -> None:
    text = shown()
    assert "the bull: It is dear." in text
    assert "would be settled by get_price_history.history.close > 330 by 2020-03-02, which would say up" in text
    assert "nobody said what would settle it" in shown(open=[document()["open"][0] | {"conditions": []}])


def test_the_measures_name_their_denominators_and_each_side_s_flags() -> None:
    assert "gap closed by bear; 2 of 3 claims contested, 1 of 2 settled; class earned; flags: stubborn, capitulation of the bear" in shown(140)


def test_A15_the_final_probability_is_never_shown_without_the_gap() -> None:
    (line,) = [line for line in shown(140).splitlines() if line.startswith("p(up) 0.50")]
    assert line.startswith("p(up) 0.50 with a gap of 0.20, unanchored")


@pytest.mark.parametrize(("reason", "words"), [("openings_agree", "too close together"), ("no_case", "neither side has a case"), ("consensus", "ended early")])
def test_what_was_not_argued_is_said_with_its_reason(reason: str, words: str) -> None:
    assert words in shown(skipped={"after_round": 1, "reason": reason, "phases": [1, 2]})


def test_what_a_model_wrote_is_never_obeyed() -> None:
    claim = document()["claims"][0] | {"text": "[bold]x[/bold] \x1b[31mred\u202e"}
    text = shown(claims=[claim])
    assert "[bold]x[/bold]" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
