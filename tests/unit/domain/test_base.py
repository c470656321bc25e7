"""The canonical form and the numbers that evidence carries."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal as D
from enum import Enum, StrEnum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from alphaagent.domain.base import Frozen, Instant, canonical, decimal_text, fingerprint, instant_text, measured, plain, sha256_hex


class Colour(StrEnum):
    RED = "red"


class Number(Enum):
    ONE = 1


class Thing(Frozen):
    size: D
    at: Instant
    names: tuple[str, ...] = ()


NOON = datetime(2020, 3, 16, 12, tzinfo=UTC)


def test_keys_are_sorted_and_no_space_is_wasted() -> None:
    assert canonical({"b": 1, "a": [True, None, "x"]}) == b'{"a":[true,null,"x"],"b":1}'


@pytest.mark.parametrize("value", [1.5, float("nan"), np.float64(2.0), {"deep": [1.0]}, b"bytes", object(), Thing])
def test_floats_and_what_has_no_canonical_form_are_refused(value: object) -> None:
    with pytest.raises(TypeError, match="has no canonical form"):
        canonical(value)


@pytest.mark.parametrize("value", [D("NaN"), D("Infinity"), D("-Infinity")])
def test_a_decimal_that_is_no_number_is_refused(value: D) -> None:
    with pytest.raises(ValueError, match="has no canonical form"):
        canonical(value)


def test_times_are_written_in_utc_with_a_z() -> None:
    tokyo = timezone(timedelta(hours=9))

    assert plain(datetime(2020, 3, 16, 21, tzinfo=tokyo)) == "2020-03-16T12:00:00Z"
    assert instant_text(NOON + timedelta(microseconds=5)) == "2020-03-16T12:00:00.000005Z"
    assert plain(date(2020, 3, 16)) == "2020-03-16"


def test_a_time_without_a_zone_is_refused_everywhere() -> None:
    naive = datetime(2020, 3, 16, 12)  # noqa: DTZ001 - that is the point

    with pytest.raises(ValueError, match="must carry a time zone"):
        plain(naive)
    with pytest.raises(ValidationError, match="must carry a time zone"):
        Thing(size=D(1), at=naive)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1", "1.0"),
        ("1.500", "1.5"),
        ("1E+3", "1000.0"),
        ("1E-7", "0.0000001"),
        ("-2.0", "-2.0"),
        ("-0.00", "0.0"),
        ("0E+5", "0.0"),
        ("123456789012345678901234567890.12", "123456789012345678901234567890.12"),
    ],
)
def test_decimals_are_plain_text(value: str, expected: str) -> None:
    assert decimal_text(D(value)) == expected


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_decimal_text_loses_nothing_and_equal_numbers_read_the_same(value: D) -> None:
    text = decimal_text(value)

    assert D(text) == value
    assert decimal_text(D(text)) == text
    assert "E" not in text.upper()


def test_enums_sets_and_models_have_a_plain_form() -> None:
    thing = Thing(size=D("1.50"), at=NOON, names=("b", "a"))

    assert plain([Colour.RED, Number.ONE]) == ["red", "1"]
    assert plain({"b", "a", "c"}) == ["a", "b", "c"]
    assert plain(thing) == {"size": "1.5", "at": "2020-03-16T12:00:00Z", "names": ["b", "a"]}


def test_a_fingerprint_is_the_hash_of_the_canonical_bytes() -> None:
    assert fingerprint({"a": 1}) == sha256_hex(b'{"a":1}') == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=10,
)


@given(JSON)
def test_canonical_bytes_are_json_that_reads_back(value: object) -> None:
    assert json.loads(canonical(value)) == value


def test_models_are_frozen_and_refuse_unknown_fields() -> None:
    thing = Thing(size=D(1), at=NOON)

    with pytest.raises(ValidationError, match="frozen"):
        thing.size = D(2)  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        Thing(size=D(1), at=NOON, colour="red")  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="finite"):
        Thing(size=D("NaN"), at=NOON)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.5, "1.5"),
        (0.1, "0.1"),
        (1e-9, "0.0"),
        (-1e-9, "0.0"),
        (0.0000005, "0.0"),
        (0.0000015, "0.000002"),
        (3, "3.0"),
        (D("2.50"), "2.5"),
        (np.float64(1.5), "1.5"),
        (np.float32(0.25), "0.25"),
        (np.int64(7), "7.0"),
        (np.mean([1.0, 2.0]), "1.5"),
        (None, None),
    ],
)
def test_a_measured_number_is_text_at_a_millionth(value: float | D | None, expected: str | None) -> None:
    assert measured(value) == expected


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), D("NaN"), np.float64("nan"), np.float64("inf")])
def test_a_measure_that_is_no_number_is_refused(value: float | D) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        measured(value)


def test_places_can_be_fewer() -> None:
    assert measured(2.345678, places=2) == "2.35"


@dataclass
class Loose:
    x: int = 1


def test_a_dataclass_has_to_be_spelt_out() -> None:
    with pytest.raises(TypeError, match="Loose"):
        plain(Loose())
