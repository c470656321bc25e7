"""A claim's number looked up again."""

from decimal import Decimal
from typing import Any

import pytest

from alphaagent.debate.assertions import holds, number_at, observables, observed, verdict
from tests.unit.debate.debate_scenes import assertion, ev, item, items

PAYLOAD: dict[str, Any] = {
    "value": "1.5",
    "count": 3,
    "passed": True,
    "unit": "USD",
    "filed": "2024-01-29",
    "deep": {"er": "-0.25"},
    "list": ["1"],
    "none": None,
}
KNOWN = items(item(1, payload=PAYLOAD))


@pytest.mark.parametrize(
    ("path", "expected"),
    [("value", "1.5"), ("count", "3"), ("deep.er", "-0.25")] + [(path, None) for path in ("passed", "unit", "filed", "deep", "list.0")],
)
def test_only_a_number_that_is_recorded_counts(path: str, expected: str | None) -> None:
    assert number_at(PAYLOAD, path) == (None if expected is None else Decimal(expected))


@pytest.mark.parametrize("path", ["", ".", "value.", "deep..er", "valu", "value.more", "VALUE", "missing"])
def test_a_path_that_leads_nowhere_decides_nothing(path: str) -> None:
    assert number_at(PAYLOAD, path) is None


@pytest.mark.parametrize(
    ("op", "value", "tolerance", "expected"),
    [
        ("==", "1.5", "0", "supported"),
        ("==", "1.50", "0", "supported"),
        ("==", "1.4", "0.1", "supported"),
        ("==", "1.39", "0.1", "contradicted"),
        ("<", "1.5", "0", "contradicted"),
        ("<", "1.5", "0.01", "supported"),
        ("<=", "1.5", "0", "supported"),
        ("<=", "1.49", "0", "contradicted"),
        (">", "1.5", "0", "contradicted"),
        (">", "1.5", "0.01", "supported"),
        (">=", "1.5", "0", "supported"),
        (">=", "1.51", "0", "contradicted"),
        (">=", "1.51", "0.01", "supported"),
        ("==", "1.65", "0.15", "supported"),
        ("==", "1.66", "99", "contradicted"),
        (">", "1000", "999999", "contradicted"),
    ],
)
def test_code_decides_and_a_tolerance_counts_for_the_claim(op: str, value: str, tolerance: str, expected: str) -> None:
    assert verdict(assertion(op, value, tolerance=tolerance), KNOWN) == expected


def test_what_cannot_be_looked_up_is_not_checkable() -> None:
    assert verdict(assertion(id=ev(9)), KNOWN) == "not_checkable"
    assert verdict(assertion(path="unit"), KNOWN) == "not_checkable"


def test_decimals_are_compared_exactly() -> None:
    assert holds(Decimal("0.1") + Decimal("0.2"), "==", Decimal("0.3"))


def test_observables_are_the_numbers_of_kinds_that_are_held_once() -> None:
    twice = [item(2, kind="headline", payload={"score": "1.0"}), item(3, kind="headline", payload={"score": "2.0"})]
    names = {f"get_price_history.momentum.{path}" for path in ("value", "count", "deep.er")}
    assert observables([*KNOWN.values(), *twice]) == names


@pytest.mark.parametrize(
    ("name", "expected"), [("get_price_history.momentum.deep.er", "-0.25"), ("get_price_history.momentum.unit", None), ("get_price_history.trend.value", None)]
)
def test_an_observable_is_read_on_another_day(name: str, expected: str | None) -> None:
    assert observed(name, KNOWN.values()) == (None if expected is None else Decimal(expected))


def test_a_kind_with_a_dot_is_read_by_its_whole_name() -> None:
    dotted = [item(1, kind="test", payload={"margin": {"value": "9.0"}}), item(2, kind="test.margin", payload={"value": "2.0"})]
    assert observed("get_price_history.test.margin.value", dotted[1:]) == Decimal("2.0")
