"""A record answers like the network did, to the recorded request and to no other."""

import base64
from typing import Any

import pytest

from alphaagent.domain.transcript import CallRecord, Fault
from alphaagent.errors import ReplayDiffers
from alphaagent.llm.carrier import Key, Parcel, RecordedCarrier, body_of
from tests.unit.llm.call_records import call

DEADLINE = Fault(kind="deadline", message="late")


def parcel(of: CallRecord, **changes: Any) -> Parcel:
    key: Key = (of.phase, of.round, of.side, of.number, of.attempt)
    plain: dict[str, Any] = {"key": key, "url": "", "path": of.path, "headers": {}, "body": of.request.encode(), "seconds": 1.0}
    return Parcel(**(plain | changes))


def carrier(*calls: CallRecord, ended_by: Fault | None = None) -> RecordedCarrier:
    return RecordedCarrier(calls, ended_by)


def test_the_recorded_request_has_the_recorded_answer() -> None:
    carried = carrier(call()).carry(parcel(call()))
    assert (carried.status, carried.body, carried.content_type, carried.fault) == (200, b'{"said": "yes"}', "application/json", None)
    assert (carried.seq, carried.started_ms, carried.latency_ms) == (1, 3, 5)


def test_bytes_that_are_no_text_come_back_as_they_were() -> None:
    packed = call(response=base64.b64encode(b"\xff\x00").decode(), response_is_base64=True)
    assert (body_of(packed), carrier(packed).carry(parcel(packed)).body) == (b"\xff\x00", b"\xff\x00")


def test_a_fault_of_the_network_comes_back_and_one_of_the_reply_is_found_again() -> None:
    broken = call(status=None, response=None, fault=Fault(kind="unreachable", message="gone"))
    unusable = call(fault=Fault(kind="malformed", message="what"))
    assert carrier(broken).carry(parcel(broken)).fault == broken.fault
    assert carrier(unusable).carry(parcel(unusable)).fault is None


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"body": b'{"from": "bull", "number": 7}'}, "at character"),
        ({"body": b'{"from": "bull", "number": 1} '}, "now"),
        ({"body": b""}, "recorded"),
        ({"path": "/v2/chat/completions"}, "at character 2"),
        ({"key": ("opening", 1, "bear", 1, 1)}, "opening 1 of the bear, number 1 is not in the record"),
        ({"key": ("opening", 1, "bull", 1, 2)}, "opening 1 of the bull, number 1, attempt 2 is not in the record"),
    ],
)
def test_any_other_request_differs_and_the_difference_is_kept(change: dict[str, Any], told: str) -> None:
    record = carrier(call())
    with pytest.raises(ReplayDiffers) as differs:
        record.carry(parcel(call(), **change))
    assert told in differs.value.message
    assert record.difference == differs.value.message


def test_the_first_difference_is_the_one_that_is_told() -> None:
    record = carrier(call())
    for number in (7, 8):
        with pytest.raises(ReplayDiffers):
            record.carry(parcel(call(number=number)))
    assert record.difference
    assert "number 7" in record.difference


def test_a_call_is_answered_once() -> None:
    record = carrier(call())
    record.carry(parcel(call()))
    with pytest.raises(ReplayDiffers):
        record.carry(parcel(call()))


def test_what_nobody_asks_for_is_told() -> None:
    record = carrier(call(), call("bear"))
    record.carry(parcel(call()))
    assert record.unused() == "request opening 1 of the bear, number 1 of the record was not made"
    record.carry(parcel(call("bear")))
    assert record.unused() is None


def test_another_attempt_is_rested_for_where_the_record_holds_one() -> None:
    record = carrier(call(), call(attempt=2))
    assert record.rest(5, ("opening", 1, "bull", 1, 2))
    assert not record.rest(5, ("opening", 1, "bull", 1, 3))


def test_after_a_deadline_what_was_not_sent_any_more_meets_it_again() -> None:
    assert carrier(ended_by=DEADLINE).carry(parcel(call())).fault == DEADLINE
    with pytest.raises(ReplayDiffers):
        carrier(ended_by=Fault(kind="timeout", message="slow")).carry(parcel(call()))
