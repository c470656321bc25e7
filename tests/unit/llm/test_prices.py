"""The price list: exact arithmetic, exact names, and a fault that names the file and the key."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent.domain.transcript import TokenUsage
from alphaagent.errors import ConfigFault
from alphaagent.llm.prices import FREE, Price, PriceList
from alphaagent.llm.registry import PROVIDERS
from alphaagent.yaml_files import read_yaml

GOOD: dict[str, Any] = {"prompt": Decimal("0.15"), "completion": Decimal("0.60")}
LIST = PriceList.parse({"as_of": "2026-01-31", "models": {"openai/small": GOOD, "openrouter/openai/small": {"prompt": 1, "completion": 2}}}, "prices.yaml")
OPENAI, ENDPOINT = PROVIDERS["openai"], "https://api.example.com/v1"


def test_a_cost_is_exact() -> None:
    cost = LIST.models["openai/small"].cost(TokenUsage(prompt=1_234_567, completion=89))
    assert cost == Decimal("0.18523845")
    assert Price(Decimal("0.000000000001"), Decimal(999_999)).cost(TokenUsage(prompt=1, completion=10**9)) == Decimal("999999000.000000000000000001")


def test_reasoning_is_part_of_the_completion_and_not_paid_twice() -> None:
    price = Price(Decimal(0), Decimal(1))
    assert price.cost(TokenUsage(prompt=0, completion=10, reasoning=9)) == Decimal("0.00001")


def test_a_record_holds_decimal_strings() -> None:
    assert LIST.models["openai/small"].as_record() == {"prompt": "0.15", "completion": "0.6"}
    assert FREE.as_record() == {"prompt": "0.0", "completion": "0.0"}


@pytest.mark.parametrize("model", ["small-2026", "smal", "Small", "small ", "", "openai/small"])
def test_a_name_that_is_not_written_has_no_price(model: str) -> None:
    assert LIST.price_of(OPENAI, model, ENDPOINT) is None


def test_a_name_counts_under_its_provider() -> None:
    assert LIST.price_of(OPENAI, "small", ENDPOINT) == Price(Decimal("0.15"), Decimal("0.60"))
    assert LIST.price_of(PROVIDERS["openrouter"], "openai/small", ENDPOINT) == Price(Decimal(1), Decimal(2))
    assert LIST.price_of(PROVIDERS["openai-compatible"], "small", ENDPOINT) is None


@pytest.mark.parametrize(("name", "url"), [("ollama", ENDPOINT), ("openai", "http://127.0.0.1:8000/v1"), ("openai-compatible", "http://localhost/v1")])
def test_free_providers_and_this_machine_cost_nothing(name: str, url: str) -> None:
    assert LIST.price_of(PROVIDERS[name], "unheard-of", url) is FREE
    assert FREE.cost(TokenUsage(prompt=10**9, completion=10**9)) == 0


def with_price(value: Any, name: str = "openai/x") -> dict[str, Any]:
    return {"as_of": "2026-01-31", "models": {name: value}}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"models": {}}, "as_of is missing"),
    ({"as_of": "2026-01-31"}, "models is missing"),
    ({"as_of": "2026-01-31", "models": {}, "model": {}}, "unknown key model;"),
    ({"as_of": "2026-13-01", "models": {}}, "as_of is '2026-13-01'"),
    ({"as_of": 2026, "models": {}}, "as_of is '2026'"),
    ({"as_of": None, "models": {}}, "as_of is 'None'"),
    ({"as_of": "2026-01-31", "models": []}, "models is '[]'"),
    ({"as_of": "2026-01-31", "models": None}, "models is 'None'"),
    (with_price(None), "models.openai/x is 'None'"),
    (with_price(Decimal(1)), "models.openai/x is '1'"),
    (with_price({"prompt": 1}), "models.openai/x.completion is missing"),
    (with_price({"completion": 1}), "models.openai/x.prompt is missing"),
    (with_price({**GOOD, "cached": 1}), "unknown key models.openai/x.cached"),
    (with_price({**GOOD, "prompt": -1}), "models.openai/x.prompt is '-1'; it must be at least 0"),
    (with_price({**GOOD, "completion": Decimal("-0.01")}), "models.openai/x.completion is '-0.01'"),
    (with_price({**GOOD, "prompt": True}), "models.openai/x.prompt is 'True'; it must be a number"),
    (with_price({**GOOD, "prompt": "0,15"}), "models.openai/x.prompt is '0,15'"),
    (with_price({**GOOD, "prompt": None}), "models.openai/x.prompt is 'None'"),
    (with_price({**GOOD, "prompt": Decimal("NaN")}), "models.openai/x.prompt is 'NaN'"),
    (with_price({**GOOD, "prompt": Decimal("Infinity")}), "models.openai/x.prompt is 'Infinity'"),
    (with_price({**GOOD, "prompt": 1_000_001}), "models.openai/x.prompt is '1000001'"),
    (with_price({**GOOD, "prompt": Decimal("0.1234567890123")}), "at most 12 decimals"),
    (with_price(GOOD, "gpt-4o"), "models.gpt-4o is 'gpt-4o'; it must be written provider/model"),
    (with_price(GOOD, "openai/"), "models.openai/ is"),
    (with_price(GOOD, "openai/a b\n"), "models.openai/a b  is"),
]


@pytest.mark.parametrize(("document", "words"), BAD, ids=[words for _, words in BAD])
def test_a_bad_document_is_refused_with_its_file_and_key(document: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigFault) as caught:
        PriceList.parse(document, "prices.yaml")
    assert caught.value.message.startswith("prices.yaml: ")
    assert words in caught.value.message
    assert caught.value.fix


def test_the_list_is_read_as_the_yaml_reader_hands_it_over(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("as_of: 2026-01-31\nmodels:\n  openai/x: {prompt: 0.1, completion: 3}\n", encoding="utf-8")
    found = PriceList.parse(read_yaml(path), str(path))
    assert (found.as_of.isoformat(), found.models["openai/x"], found.source) == ("2026-01-31", Price(Decimal("0.1"), Decimal(3)), str(path))
