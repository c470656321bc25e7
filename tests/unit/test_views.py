"""The documents behind `--json`: every key that the interface promises, money as text, the proposal's amount as a number."""

import json
from datetime import date, timedelta
from decimal import Decimal as D

import pytest

from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.portfolio import OrderStatus
from alphaagent.domain.ruling import Outcome, Provenance
from alphaagent.ledger.findings import Finding
from alphaagent.ledger.verify import VerifyReport
from alphaagent.views import (
    case_document,
    decision_document,
    evidence_counts,
    evidence_document,
    failure_document,
    order_document,
    portfolio_document,
    settled_document,
    verify_document,
    verify_lines,
)
from tests.crew_record import crew_record, transcript
from tests.fakes import ACME, AUDIT, BETA, account, closes, order, position
from tests.pack_builder import BEARISH, BULLISH, CLOSE, LOST_NEWS, health_items, holding, item, news_items, pack
from tests.record_builder import record, stored

ALWAYS = {
    "decision_id",
    "stored",
    "ticker",
    "as_of",
    "engine",
    "provenance",
    "execution_mode",
    "fallback_reason",
    "proposal",
    "abstained",
    "bull_case",
    "bear_case",
    "debate",
    "crew",
    "transcript_sha256",
    "evidence",
    "guard",
    "usage",
}
BUY = pack(BULLISH, health_items([True] * 7, percentile="1.0"))
HOLD = pack()


def test_a_dry_run_has_every_promised_key_but_audit_and_order() -> None:
    document = decision_document(record(BUY), None)

    assert set(document) >= ALWAYS
    assert not {"audit", "order"} & set(document)


def test_a_stored_decision_has_audit_and_order() -> None:
    document = decision_document(record(BUY), stored(record(BUY)), repeated=True)

    assert set(document) >= ALWAYS | {"audit", "order"}
    assert (document["stored"], document["audit"]) == (True, {"seq": 7, "hash": "ab" * 32})
    assert document["order"]["status"] == "pending"


def test_a_hold_has_no_order() -> None:
    document = decision_document(record(HOLD), stored(record(HOLD)))

    assert (document["order"], document["guard"]["outcome"], document["guard"]["code"]) == (None, "APPROVE", "NO_ORDER")


def test_the_inner_documents_have_the_promised_keys() -> None:
    document = decision_document(record(BUY), stored(record(BUY)))

    assert set(document["proposal"]) == {"action", "amount", "sentiment", "reasoning", "p_up", "relied_on"}
    assert set(document["evidence"]) == {"pack_sha256", "items"}
    assert set(document["evidence"]["items"][0]) >= {"id", "tool", "side", "as_of", "known_at", "source", "status"}
    assert set(document["guard"]) >= {"stage", "outcome", "code", "codes", "rules"}
    assert all(set(rule) >= {"id", "verdict", "value", "limit"} for rule in document["guard"]["rules"])
    assert set(document["order"]) >= {"id", "status", "side", "quantity"}
    assert document["usage"] == {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": "0.0"}


def test_the_proposals_amount_is_a_number_and_everything_else_is_text() -> None:
    document = decision_document(record(BUY), stored(record(BUY), OrderStatus.FILLED, D("100.05")))

    assert (document["proposal"]["amount"], type(document["proposal"]["amount"])) == (4200, int)
    assert (document["order"]["quantity"], document["order"]["price"]) == ("42.0", "100.05")
    assert document["guard"]["price"] == "100.0"


@pytest.mark.parametrize("evidence", [BUY, HOLD, pack(BEARISH, **holding("0.05")), pack({"volatility": {"sigma": None}}, news=LOST_NEWS)])
def test_every_document_is_plain_json(evidence: EvidencePack) -> None:
    made = record(evidence)
    document = decision_document(made, stored(made))

    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_refused_proposal_is_null_and_the_guard_says_why() -> None:
    document = decision_document(record(BUY, text="Buy! Buy! Buy!"), None)

    assert (document["proposal"], document["guard"]["outcome"], document["guard"]["code"]) == (None, "BLOCK", "NOT_SINGLE_JSON")


def test_abstaining_and_falling_back_are_said() -> None:
    document = decision_document(record(pack({"volatility": {"sigma": None}}), provenance="fallback", reason="timeout"), None)

    assert (document["abstained"], document["provenance"], document["fallback_reason"]) == (True, "fallback", "timeout")
    assert document["reading"]["abstain_reason"].startswith("the price does not move")


def test_the_last_ruling_of_settlement_is_shown_beside_the_first() -> None:
    document = decision_document(record(BUY), stored(record(BUY), code="GAP", outcome=Outcome.BLOCK))

    assert (document["guard"]["stage"], document["settlement"]["stage"], document["settlement"]["code"]) == ("decide", "settle", "GAP")
    assert "settlement" not in decision_document(record(BUY), stored(record(BUY)))


def test_the_reading_is_the_engines_arithmetic() -> None:
    reading = decision_document(record(BUY), None)["reading"]

    assert set(reading) == {"score", "target_weight", "base_rate", "hold_kind", "abstain_reason", "flip", "contributions"}
    assert sum(D(part["contribution"]) for part in reading["contributions"]) == D(reading["score"])


def test_a_quick_debate_is_one_round_of_the_two_openings() -> None:
    document = decision_document(crew_record(), None, transcript=transcript())

    assert document["debate"] == {
        "plan": "quick",
        "rounds": [{"round": 1, "bull": "0.66", "bear": "0.45", "gap": "0.21", "mid": "0.555"}],
        "outcome": None,
        "class": None,
        "flags": [],
        "skipped": None,
    }
    assert document["crew"] == {
        "provider": "openai-compatible",
        "models": {"bull": ["toy"], "bear": ["toy"], "cio": ["toy"]},
        "same_model": True,
        "priced": True,
        "faults": {"bull": [], "bear": [], "cio": []},
    }
    assert json.loads(json.dumps(document, allow_nan=False)) == document


@pytest.mark.parametrize("provenance", ["heuristic", "fallback"])
def test_a_heuristic_decision_has_no_debate(provenance: Provenance) -> None:
    assert decision_document(record(BUY, provenance=provenance, reason="r"), None, transcript=transcript())["debate"] is None


def test_a_model_without_a_price_is_said_to_have_none() -> None:
    document = decision_document(crew_record(), None, transcript=transcript("other", priced=False))

    assert (document["crew"]["same_model"], document["crew"]["priced"]) == (False, False)


def test_a_failure_has_a_null_proposal_and_an_error() -> None:
    assert failure_document("ACME", "2020-03-16T20:00:01Z", "NoEvidence", "nothing there", "come later") == {
        "ticker": "ACME",
        "as_of": "2020-03-16T20:00:01Z",
        "proposal": None,
        "guard": None,
        "order": None,
        "error": {"code": "NoEvidence", "message": "nothing there", "fix": "come later"},
    }


def test_evidence_names_its_times_and_the_publication_where_there_is_one() -> None:
    plain = item("get_price_history", "history", {"sessions": 3})

    assert (evidence_document(plain)["known_at"], evidence_document(plain)["side"]) == ("2020-03-16T20:00:00Z", ["bull", "bear"])
    assert "published_at" not in evidence_document(plain)
    published = evidence_document(plain.model_copy(update={"published_at": CLOSE - timedelta(hours=1)}))
    assert published["published_at"] == "2020-03-16T19:00:00Z"


def test_a_case_document_holds_its_lines_and_holes() -> None:
    case = case_document(record(pack(news=LOST_NEWS)).result.bear_case)

    assert set(case) == {"side", "label", "summary", "no_case", "lines", "holes", "evidence_ids"}
    assert case["holes"] == ["get_news_sentiment: news lost: the file is broken"]


def test_an_order_shows_a_price_only_once_it_is_filled() -> None:
    assert order_document(order()) == {
        "id": "ord_1",
        "decision_id": "dec_1",
        "ticker": "ACME",
        "status": "pending",
        "side": "BUY",
        "quantity": "10.0",
        "fill_session": "2020-01-10",
    }
    assert order_document(order(price=D("100.5")))["price"] == "100.5"


def test_what_settlement_did_has_order_reason_guard_and_audit() -> None:
    made = record(BUY)

    assert settled_document(order(), None, "expired", AUDIT)["guard"] is None
    assert settled_document(order(), made.ruling, "filled", AUDIT)["guard"]["outcome"] == "APPROVE"
    assert set(settled_document(order(), None, "expired", AUDIT)) == {"order", "reason", "guard", "audit"}


def test_a_portfolio_is_valued_position_by_position() -> None:
    book = account(position("10", cost="900"), position("3", BETA, cost="0"), cash="1000", pending=(order(),))
    document = portfolio_document(closes(date(2020, 1, 9)), book, {ACME.id: D(100), BETA.id: None}, D(2000), "a hole")

    assert document["positions"] == [
        {"ticker": "ACME", "quantity": "10.0", "cost": "900.0", "mark": "100.0", "value": "1000.0", "weight": "0.5", "unrealised": "100.0"},
        {"ticker": "BETA", "quantity": "3.0", "cost": "0.0", "mark": None, "value": None, "weight": None, "unrealised": None},
    ]
    assert (document["equity"], document["cash"], document["reserved_cash"], document["books_fault"]) == ("2000.0", "1000.0", "1010.0", "a hole")
    assert document["pending"] == [order_document(order())]


def test_without_equity_there_are_no_weights() -> None:
    document = portfolio_document(closes(date(2020, 1, 9)), account(position("1"), cash="0"), {ACME.id: D(0)}, D(0), None)

    assert document["positions"][0]["weight"] is None


def test_evidence_is_counted_by_tool_and_status() -> None:
    items = pack(news=[*news_items("0.1", ["0.1"]), *LOST_NEWS]).items

    assert evidence_counts(items)["get_news_sentiment"] == {"ok": 2, "failed": 1}
    assert evidence_counts(()) == {}


def report(**changes: object) -> VerifyReport:
    from dataclasses import replace

    plain = VerifyReport(exit_code=0, rows=9, head=AUDIT, findings=(), not_anchored=0, rulings_replayed=0)
    return replace(plain, **changes)  # type: ignore[arg-type]


def test_a_verified_trail_is_called_sound() -> None:
    assert verify_lines(report()) == ["9 audit rows read, head 7 abababababababab…", "sound"]
    assert verify_document(report())["head"] == {"seq": 7, "hash": "ab" * 32}


def test_rows_without_an_anchor_are_named() -> None:
    assert "4 rows are not anchored" in verify_lines(report(exit_code=10, not_anchored=4))[1]
    assert verify_lines(report(exit_code=10, not_anchored=4))[-1] == "sound"


def test_findings_are_shown_inert_and_the_trail_is_not_sound() -> None:
    finding = Finding(code=20, message="row \x1b[31m differs", seq=3)
    lines = verify_lines(report(exit_code=20, findings=(finding,)))

    assert lines[0] == "20  row 3: row  [31m differs"
    assert lines[-1] == "NOT SOUND"
