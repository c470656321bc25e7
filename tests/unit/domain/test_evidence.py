"""Ids that follow from content, a pack hash that covers everything, and who may see what."""

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from alphaagent.domain.evidence import SIDES, EvidenceItem, EvidencePack, Status, evidence_item
from tests.pack_builder import AS_OF, CLOSE, item, news_items, pack

PLAIN: dict[str, Any] = {
    "decision_as_of": AS_OF,
    "ticker": "ACME",
    "tool": "get_price_history",
    "kind": "momentum",
    "event_at": CLOSE,
    "known_at": CLOSE,
    "source": "a test",
    "status": Status.OK,
    "summary": "momentum",
    "payload": {"p_21": "1.0"},
}


def made(**changes: Any) -> EvidenceItem:
    return evidence_item(**(PLAIN | changes))


def test_the_same_content_has_the_same_id() -> None:
    assert made().id == made().id
    assert made(payload={"a": "1.0", "b": "2.0"}).id == made(payload={"b": "2.0", "a": "1.0"}).id


@pytest.mark.parametrize(
    "change",
    [
        {"payload": {"p_21": "1.1"}},
        {"ticker": "ACNE"},
        {"kind": "trend"},
        {"tool": "get_market_price"},
        {"decision_as_of": AS_OF + timedelta(seconds=1)},
    ],
)
def test_the_id_changes_with_what_was_asked_and_what_came_back(change: dict[str, Any]) -> None:
    assert made(**change).id != made().id


def test_a_float_in_a_payload_is_refused() -> None:
    with pytest.raises(TypeError, match="float has no canonical form"):
        made(payload={"p_21": 1.5})


def test_an_id_of_another_shape_is_refused() -> None:
    with pytest.raises(ValidationError, match="ev_"):
        EvidenceItem.model_validate(made().model_dump() | {"id": "ev_short"})


def test_the_sides_of_an_item_are_those_that_hold_its_tool() -> None:
    assert {tool: item(tool, "x", {}).sides for tool in SIDES} == SIDES
    assert "bull" not in SIDES["get_financial_health"]


CHANGED: dict[str, Any] = {
    "ticker": "ACNE",
    "instrument_id": "XNYS:ACME",
    "as_of": AS_OF + timedelta(seconds=1),
    "session": "2020-03-13",
    "items": (),
    "schema_version": 2,
}


def test_a_sealed_pack_carries_its_own_digest() -> None:
    assert pack().sha256 == pack().digest() == pack().model_copy(update={"sha256": ""}).digest()


@pytest.mark.parametrize("field", CHANGED)
def test_the_digest_covers_every_other_field(field: str) -> None:
    assert set(CHANGED) == set(EvidencePack.model_fields) - {"sha256"}
    assert pack().model_copy(update={field: CHANGED[field]}).digest() != pack().digest()


@pytest.mark.parametrize(
    "change",
    [
        {"summary": "other"},
        {"source": "other"},
        {"status": Status.STALE},
        {"sides": ("bear",)},
        {"known_at": CLOSE - timedelta(1)},
        {"as_of": CLOSE - timedelta(1)},
        {"published_at": CLOSE},
    ],
)
def test_the_digest_covers_every_field_of_an_item(change: dict[str, Any]) -> None:
    sealed = pack()
    first = sealed.items[0].model_copy(update=change)

    assert sealed.model_copy(update={"items": (first, *sealed.items[1:])}).digest() != sealed.digest()


def test_the_digest_depends_on_the_order_of_the_items() -> None:
    sealed = pack()

    assert sealed.model_copy(update={"items": sealed.items[::-1]}).digest() != sealed.digest()


def test_a_pack_reads_back_from_its_plain_fields_with_the_same_digest() -> None:
    assert EvidencePack.model_validate(pack().fields()).digest() == pack().sha256


def test_a_side_sees_its_own_tools_in_pack_order() -> None:
    sealed = pack()

    assert {one.tool for one in sealed.visible_to("bull")} == {"get_price_history", "get_news_sentiment"}
    assert {one.tool for one in sealed.visible_to("bear")} == {"get_price_history", "get_news_sentiment", "get_financial_health"}
    assert {one.tool for one in sealed.visible_to("cio")} == {"get_portfolio"}


def test_items_are_found_by_tool_and_kind() -> None:
    sealed = pack(news=news_items("0.1", ["0.2", "0.3"]))

    assert [one.payload["score"] for one in sealed.find("get_news_sentiment", "headline")] == ["0.2", "0.3"]
    assert len(sealed.find("get_news_sentiment")) == 3
    assert sealed.find("get_market_price") == ()
