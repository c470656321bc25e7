"""Mandates: what is left out has its default, what is wrong says where, and nothing loosens by being unreadable."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from alphaagent.errors import ConfigFault
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.registry import RULES
from alphaagent.guard.rules.d2_universe import Universe
from alphaagent.guard.rules.e4_quote_sanity import QuoteSanity
from alphaagent.guard.rules.h4_order_cap import OrderCap

D = Decimal
FILE = Path(__file__).parents[3] / "config" / "mandate.yaml"
SHIPPED: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))


def parse(document: Any) -> Mandate:
    return Mandate.parse("mine", document, "mandate.yaml")


def fault(document: Any) -> str:
    with pytest.raises(ConfigFault) as refused:
        parse(document)
    assert refused.value.fix
    return refused.value.message


def limit(value: Any, field: str = "max_order_fraction", rule: str = "H4") -> dict[str, Any]:
    return {"rules": {rule: {field: value}}}


def order_cap(document: Any) -> Decimal:
    return next(rule for rule in parse(document).rules if isinstance(rule, OrderCap)).max_order_fraction


def test_an_empty_document_is_the_default() -> None:
    assert parse({}) == Mandate(name="mine")
    assert tuple(rule.id for rule in parse({}).rules) == tuple(RULES)


def test_the_shipped_default_states_the_defaults() -> None:
    assert Mandate.parse("default", SHIPPED["default"], "x") == Mandate(name="default")
    assert SHIPPED["default"]["rules"].keys() == Mandate(name="default").document()["rules"].keys()


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_mandate_parses_and_round_trips(name: str) -> None:
    mandate = Mandate.parse(name, SHIPPED[name], "config/mandate.yaml")
    again = Mandate.parse(name, mandate.document(), "again")
    assert (again, again.limits_hash, mandate.fault) == (mandate, mandate.limits_hash, None)


def test_the_shipped_mandates_differ_in_the_order_of_their_risk() -> None:
    caps = {name: order_cap(SHIPPED[name]) for name in SHIPPED}
    assert caps["conservative"] < caps["default"] < caps["aggressive"] < caps["backtest"] == 1
    profiles = [parse(SHIPPED[name]).risk_profile for name in ("conservative", "default", "aggressive")]
    assert profiles == ["low", "medium", "high"]


@pytest.mark.parametrize(("value", "expected"), [(0.03, "0.03"), ("0.03", "0.03"), (1, "1"), ("1", "1"), (D("0.5"), "0.5"), (1e-05, "0.00001"), (0.1, "0.1")])
def test_numbers_arrive_in_any_yaml_form_and_exactly(value: Any, expected: str) -> None:
    assert order_cap(limit(value)) == D(expected)


@pytest.mark.parametrize("value", [0, 0.0, "0", -0.01, 1.01, "1.000000000001", 2, float("nan"), float("inf"), D("NaN"), D("Infinity"), D("sNaN")])
def test_what_lies_outside_the_hard_bounds_names_file_key_and_bound(value: Any) -> None:
    message = fault(limit(value))
    assert message.startswith("mandate.yaml: mine.rules.H4.max_order_fraction: ")
    assert message.endswith("it must be more than 0 and at most 1")


@pytest.mark.parametrize("value", [True, False, None, "", " 0.05", "5%", "1_0", "١", "0,05", "1e-2", "NaN", "+0.05", [], [0.05], {}, "0.0000000000001"])
def test_what_is_no_number_is_refused(value: Any) -> None:
    message = fault(limit(value))
    assert message.startswith("mandate.yaml: mine.rules.H4.max_order_fraction: ")
    assert message.endswith("it must be more than 0 and at most 1")


@pytest.mark.parametrize("value", [3, "3", 3.0, D(3)])
def test_a_whole_number(value: Any) -> None:
    rules = parse(limit(value, "max_decimals", "E4")).rules
    assert next(rule for rule in rules if isinstance(rule, QuoteSanity)).max_decimals == 3


@pytest.mark.parametrize("value", [1, 7, 2.5, "x", True, float("nan"), float("inf")])
def test_a_whole_number_outside_its_bounds(value: Any) -> None:
    assert fault(limit(value, "max_decimals", "E4")).endswith("it must be a whole number, at least 2 and at most 6")


@pytest.mark.parametrize("value", [["MSFT", "AAPL", "AAPL"], ("AAPL", "MSFT")])
def test_a_list_of_tickers_is_a_set(value: Any) -> None:
    mandate = parse(limit(value, "allowed", "D2"))
    assert next(rule for rule in mandate.rules if isinstance(rule, Universe)).allowed == ("AAPL", "MSFT")
    assert parse(mandate.document()) == mandate


def test_the_order_of_a_list_does_not_change_the_hash() -> None:
    assert parse(limit(["A", "B"], "allowed", "D2")).limits_hash == parse(limit(["B", "A"], "allowed", "D2")).limits_hash


@pytest.mark.parametrize("value", [[], (), "all", "ANY", "", None, True, ["aapl"], [""], ["A B"], ["A" * 16], ["A\n"], {"AAPL": 1}, 5])
def test_a_list_that_names_nothing_never_means_anything_goes(value: Any) -> None:
    message = fault(limit(value, "allowed", "D2"))
    assert message.startswith("mandate.yaml: mine.rules.D2.allowed")
    assert message.endswith("it must be `any`, or a list of at least one ticker in capitals")


@pytest.mark.parametrize("ticker", ["[ON, AAPL]", "[1E5]", "[NO]", "[.nan]", "[2024-01-01]"])
def test_a_ticker_that_yaml_reads_as_something_else_is_asked_for_in_quotes(ticker: str) -> None:
    assert "write tickers in quotes" in fault(limit(yaml.safe_load(ticker.replace("1E5", "1.0E+5")), "allowed", "D2"))


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"rulez": {}}, "mandate.yaml: mine: unknown key 'rulez'; did you mean 'rules'?"),
        ({"zzz": 1}, "mandate.yaml: mine: unknown key 'zzz'; valid keys: risk_profile, lot, rules"),
        ({1: 1}, "mandate.yaml: mine: unknown key 1; valid keys: risk_profile, lot, rules"),
        ({"rules": {"H44": {}}}, "mandate.yaml: mine.rules: unknown key 'H44'; did you mean 'H4'?"),
        (limit(1, "max_order_fracton"), "mandate.yaml: mine.rules.H4: unknown key 'max_order_fracton'; did you mean 'max_order_fraction'?"),
        (limit(1, "limit", "B1"), "mandate.yaml: mine.rules.B1: unknown key 'limit'; valid keys: none, this rule has no limit to set"),
        ({"risk_profile": "reckless"}, "mandate.yaml: mine.risk_profile: 'reckless' is not one of low, medium, high"),
        ({"risk_profile": ["low"]}, "mandate.yaml: mine.risk_profile: ['low'] is not one of low, medium, high"),
        ({"rules": None}, "mandate.yaml: mine.rules: None is not a mapping of keys to values"),
        ({"rules": {"H4": None}}, "mandate.yaml: mine.rules.H4: None is not a mapping of keys to values"),
        ({"rules": {"H4": 0.05}}, "mandate.yaml: mine.rules.H4: 0.05 is not a mapping of keys to values"),
        ([], "mandate.yaml: mine: [] is not a mapping of keys to values"),
        (None, "mandate.yaml: mine: None is not a mapping of keys to values"),
    ],
)
def test_faults_say_where_and_what_was_meant(document: Any, expected: str) -> None:
    assert fault(document) == expected


@pytest.mark.parametrize("lot", [0, -1, "0.0000001", "0.00000125", 1001, "x", True, float("nan")])
def test_a_lot_that_is_none(lot: Any) -> None:
    message = fault({"lot": lot})
    assert message.startswith("mandate.yaml: mine.lot: ")
    assert message.endswith("it must be at least 0.000001 and at most 1000")


@pytest.mark.parametrize(("lot", "expected"), [(0.0001, "0.0001"), (1, "1"), ("0.000001", "0.000001"), (100, "100")])
def test_a_lot(lot: Any, expected: str) -> None:
    assert parse({"lot": lot}).lot == D(expected)


def test_every_limit_is_part_of_the_hash() -> None:
    seen = {parse({}).limits_hash}
    changes = [
        {"risk_profile": "low"},
        {"lot": 1},
        *(limit(value, field, rule) for rule, field, value in [("H4", "max_order_fraction", "0.051"), ("D2", "allowed", ["A"]), ("E4", "max_decimals", 5)]),
    ]
    for change in changes:
        seen.add(parse(change).limits_hash)
    assert len(seen) == 1 + len(changes)


def test_the_hash_is_of_the_limits_and_not_of_how_they_were_written() -> None:
    assert parse({"lot": 0.0001, "rules": {"H4": {"max_order_fraction": "0.050"}}}).limits_hash == parse({}).limits_hash


def test_a_copy_with_other_limits_has_another_hash() -> None:
    mandate = parse({})
    assert (mandate.limits_hash, mandate.fault) == (parse({}).limits_hash, None)
    copy = mandate.model_copy(update={"lot": D(0)})
    assert copy.limits_hash != mandate.limits_hash
    assert copy.fault is not None


def test_a_mandate_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        parse({}).lot = D(1)  # type: ignore[misc]
    with pytest.raises(ValueError, match="frozen"):
        parse({}).rules[0].anything = 1  # type: ignore[attr-defined]
