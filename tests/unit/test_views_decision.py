"""A decision in words: who decided, what each claim stands on, what was missing, what moved."""

from typing import Any

import pytest

from alphaagent.views import decision_document, difference_document
from alphaagent.views_decision import (
    NOT_THERE,
    action_words,
    cited_rows,
    claims_of,
    difference_lines,
    evidence_rows,
    final_words,
    hold_words,
    holes,
    measure_lines,
    number_words,
    part_rows,
    provenance_words,
    status_counts,
)
from tests.crew_record import crew_record, transcript
from tests.pack_builder import BEARISH, BULLISH, LOST_NEWS, pack
from tests.record_builder import record

DOCUMENT = decision_document(crew_record(), None, transcript=transcript())
LOST = decision_document(record(pack(news=LOST_NEWS)), None)
MEASURES: dict[str, Any] = {
    "class": "earned",
    "outcome": "closed",
    "closed_by": "both",
    "settled": {"part": 1, "of": 2},
    "contested": {"part": 2, "of": 3},
    "flags": [{"name": "stubborn", "side": "bull"}],
    "p_final": "0.58",
    "gap": "0.04",
    "anchored": False,
}


def test_a_mechanical_read_says_that_no_model_took_part() -> None:
    assert provenance_words(decision_document(record(pack(BULLISH)), None)) == "a mechanical read, no model took part"


def test_a_fallback_says_why() -> None:
    document = decision_document(record(pack(BULLISH), provenance="fallback", reason="http: HTTP 503"), None)
    assert provenance_words(document) == "a mechanical read in place of a debate that did not come to an end: http: HTTP 503"


def test_a_debate_names_its_plan() -> None:
    assert provenance_words(DOCUMENT) == "a debate between models, plan quick"


def test_the_verdict_is_in_a_few_words() -> None:
    assert action_words(DOCUMENT) == "BUY for USD 2,000.00"
    assert action_words(decision_document(crew_record(action="HOLD"), None)) == "HOLD"
    assert action_words(DOCUMENT | {"proposal": None}) == "None: the proposal's text was refused"


def test_every_kind_of_hold_is_in_words() -> None:
    assert hold_words({"abstain_reason": None, "hold_kind": "balanced"}) == "under the threshold to enter"
    assert hold_words({"abstain_reason": "no price history", "hold_kind": "abstained"}) == "abstained: no price history"
    assert hold_words({"abstain_reason": None, "hold_kind": None}) is None


def test_a_cited_id_resolves_to_what_it_says_or_says_that_it_does_not() -> None:
    items = DOCUMENT["evidence"]["items"]
    known, unknown = cited_rows([items[0]["id"], "ev_ffffffffffff", items[0]["id"]], items)
    assert (known["id"], known["value"], known["known at"]) == (items[0]["id"], items[0]["summary"], items[0]["known_at"])
    assert (unknown["id"], unknown["value"], unknown["status"]) == ("ev_ffffffffffff", NOT_THERE, "unknown id")


def test_what_is_missing_stands_first_and_is_told_with_its_reason() -> None:
    items = LOST["evidence"]["items"]
    first = evidence_rows(items)[0]
    assert first["status"] == "could not be fetched"
    assert holes(items)[0].startswith(f"{first['kind']}: could not be fetched. ")
    assert sum(status_counts(items).values()) == len(items)


def test_what_does_not_apply_is_no_hole_and_stands_last() -> None:
    empty = {"kind": "k", "tool": "t", "side": [], "summary": "s", "source": "x", "known_at": ""}
    items = [empty | {"id": str(n), "status": status} for n, status in enumerate(("not_applicable", "ok", "empty"))]
    assert [row["id"] for row in evidence_rows(items)] == ["2", "1", "0"]
    assert len(holes(items)) == 1


@pytest.mark.parametrize(
    ("path", "verdict", "words"),
    [
        ("p_21", "supported", "the evidence has 150.0: the evidence bears it out"),
        ("nowhere", "not_checkable", "the evidence has nothing: it could not be checked: no number stands where it points"),
    ],
)
def test_a_claims_number_is_told_beside_the_one_in_the_evidence(path: str, verdict: str, words: str) -> None:
    items = [{"id": "ev_1", "payload": {"p_21": "150.0"}}]
    claim = {"number": verdict, "assertion": {"evidence_id": "ev_1", "path": path, "op": ">", "value": "100.0", "tolerance": "0.0"}}
    assert number_words(claim, items) == f"{path} > 100.0 in ev_1; {words}"


def test_a_claim_without_a_number_has_none_to_tell() -> None:
    assert number_words({"number": None, "assertion": None}, []) is None


def test_without_an_argument_a_case_is_its_points() -> None:
    bull = claims_of(decision_document(record(pack(BULLISH)), None), None, "bull")
    assert bull
    assert {claim["status"] for claim in bull} == {None}
    assert all(claim["hits"] == [] and claim["evidence_ids"] for claim in bull)


def test_the_measures_are_in_words() -> None:
    assert measure_lines({"measures": MEASURES, "skipped": None}) == [
        "the gap closed, moved by both sides",
        "2 of 3 claims attacked, 1 of those settled",
        "class earned: the gap closed because somebody gave way or was answered, on evidence",
        "flag stubborn: answers without one concession (the bull)",
    ]


def test_one_round_counts_no_attacks() -> None:
    measures = MEASURES | {"outcome": None, "closed_by": None, "class": "no_debate", "flags": []}
    lines = measure_lines({"measures": measures, "skipped": {"reason": "no_case"}})
    assert lines == [
        "one round: nobody answered anybody",
        "class no debate: nobody answered anybody",
        "neither side has a case; there was nothing to argue",
    ]


def test_both_final_numbers_are_told_with_the_base_rate() -> None:
    assert final_words({"measures": MEASURES}, DOCUMENT) == [
        "The debate ended at p(up) 0.580 with a gap of 0.040; unanchored: the middle of the two, no panel stood beside them.",
        "The CIO put p(up) at 0.680.",
        "Before anybody spoke it was 0.550, the share of past windows that ended higher.",
    ]


def test_a_lost_factor_says_so_in_its_name() -> None:
    assert [row["factor"] for row in part_rows(LOST["reading"]) if row["status"] == "lost"] == ["news (lost)"]


def test_what_moved_since_the_decision_before_is_told_line_by_line() -> None:
    before, after = record(pack(BULLISH)), record(pack(BEARISH))
    lines = difference_lines(difference_document(before, after))
    assert lines[0].startswith("action: ") or lines[0].startswith("the same action")
    assert any(line.startswith("score: ") for line in lines)
    assert any(line.startswith("momentum -") for line in lines)
