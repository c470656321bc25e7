"""What every registered provider keeps to. A new provider is one file and one registry line; this suite then covers it."""

import importlib
import importlib.util
import json
import pkgutil
import re
import urllib.request
from pathlib import Path
from typing import Any, get_args

import pytest

from alphaagent.domain.transcript import FaultKind, TokenUsage
from alphaagent.llm import providers as package
from alphaagent.llm.dialect import DefectiveReply
from alphaagent.llm.dialects import DIALECTS
from alphaagent.llm.prices import PriceList
from alphaagent.llm.provider import Provider, Route, is_loopback, redacted
from alphaagent.llm.registry import PROVIDERS
from alphaagent.settings import PROVIDERS as NAMES
from alphaagent.yaml_files import read_yaml
from tests.scripted_provider import CallTools, Empty, NoChoices, NoUsage, Raw, ScriptedProvider, Text

ROOT = Path(__file__).parents[2]
PRICES = PriceList.parse(read_yaml(ROOT / "config" / "prices.yaml"), "prices.yaml")
WIKI = (ROOT / "docs" / "wiki" / "Providers.md").read_text(encoding="utf-8")
EXTRAS = re.findall(r'^(\w+) = \["crewai\[', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
PATHS: dict[Route, str] = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "gemini": "/v1beta/models/any:generateContent"}
CALLS = CallTools([("quote", '{"ticker":"ACME"}'), ("news", "{}")])
DEFECTS: dict[str, tuple[Any, str, str]] = {
    "not JSON": (Raw(b"<html>busy</html>"), "malformed", "no JSON: <html>busy</html>"),
    "nothing": (Raw(b""), "malformed", "no JSON"),
    "NaN": (Raw(b'{"a": NaN}'), "malformed", "no JSON"),
    "too large a number": (Raw(b'{"a": 1e999}'), "malformed", "no JSON"),
    "half a character": (Raw(b'{"a": "\\ud800"}'), "malformed", "no JSON"),
    "no UTF-8": (Raw(b'{"a": "\xff"}'), "malformed", "no JSON"),
    "too deep": (Raw(b"[" * 100_000), "malformed", "no JSON"),
    "a list": (Raw(b"[]"), "malformed", "a list"),
    "an empty object": (Raw(b"{}"), "malformed", "holds no"),
    "an error": (Raw(b'{"error": {"message": "no\\r\\ncredit"}}'), "malformed", "no credit"),
    "no choices": (NoChoices(), "malformed", "holds no"),
    "no usage": (NoUsage("yes"), "no_usage", "how many tokens"),
    "negative usage": (Text("yes", usage=(-1, 2)), "no_usage", "how many tokens"),
    "true as usage": (Text("yes", usage=(True, 2)), "no_usage", "how many tokens"),
    "text as usage": (Text("yes", usage=("1", 2)), "no_usage", "how many tokens"),
    "usage of null": (Text("yes", usage=(None, 2)), "no_usage", "how many tokens"),
    "usage beyond belief": (Text("yes", usage=(1, 10**12)), "no_usage", "how many tokens"),
    "cut": (Text("ye", finish="length"), "cut", "cut before its end"),
    "cut tool calls": (CallTools([("quote", "{}")], finish="length"), "cut", "cut before its end"),
    "empty": (Empty("stop"), "no_answer", "empty"),
    "blank": (Text(" \n", finish="stop"), "no_answer", "empty"),
    "empty at the end of the budget": (Empty("length"), "no_answer", "empty"),
}

every_provider = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS.keys())
every_route = pytest.mark.parametrize("route", DIALECTS)


def body_of(step: Any, route: Route) -> bytes:
    """What the scripted provider sends, over the wire."""
    with ScriptedProvider([step]) as scripted, urllib.request.urlopen(scripted.host_url + PATHS[route], b"{}", timeout=5) as reply:
        return bytes(reply.read())


def test_one_provider_a_file_and_every_file_registered() -> None:
    modules = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    found = {name: importlib.import_module(f"{package.__name__}.{name}").PROVIDER for name in modules}
    assert {provider.name: provider for provider in found.values()} == dict(PROVIDERS)
    assert {name: provider.name.replace("-", "_") for name, provider in found.items()} == {name: name for name in modules}


def test_the_registry_looks_for_keys_first_and_has_every_name_that_settings_take() -> None:
    assert {*PROVIDERS, "none"} == set(NAMES)
    assert [provider.needs_key for provider in PROVIDERS.values()] == sorted((provider.needs_key for provider in PROVIDERS.values()), reverse=True)
    variables = [variable for provider in PROVIDERS.values() for variable in provider.key_variables]
    assert len(variables) == len(set(variables))


@every_provider
def test_identity(provider: Provider) -> None:
    assert PROVIDERS[provider.name] is provider
    assert provider.name in NAMES
    assert provider.route in DIALECTS
    assert all(re.fullmatch(r"[A-Z][A-Z_]+_API_KEY", variable) for variable in provider.key_variables)
    assert provider.extra is None or provider.extra in EXTRAS
    assert (provider.extra is None) == (provider.route == "openai")
    assert set(provider.headers) <= {"HTTP-Referer", "X-Title"}
    assert not any("key" in name.lower() or "auth" in name.lower() for name in provider.headers)


@every_provider
def test_the_endpoint_is_safe_to_record_and_encrypted_beyond_this_machine(provider: Provider) -> None:
    if provider.base_url is not None:
        assert redacted(provider.base_url) == provider.base_url
        assert provider.base_url.startswith("https://") != is_loopback(provider.base_url)


@every_provider
def test_the_default_model_has_a_price_unless_it_is_free(provider: Provider) -> None:
    if provider.default_model is None:
        assert not provider.needs_key
        return
    price = PRICES.price_of(provider, provider.default_model, provider.base_url or "")
    assert price is not None
    assert price.cost(TokenUsage(prompt=1, completion=1)) > 0 or provider.is_free


@every_provider
def test_the_wiki_has_its_row(provider: Provider) -> None:
    row = next(line for line in WIKI.splitlines() if line.startswith(f"| `{provider.name}` |"))
    model = f"`{provider.default_model}`" if provider.default_model else "to be named"
    for shown in (*(f"`{variable}`" for variable in provider.key_variables), model, provider.extra or "none", provider.base_url or "to be given"):
        assert shown in row


def test_the_wiki_explains_every_kind_of_failure_once() -> None:
    section = WIKI.split("## What can go wrong")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(get_args(FaultKind))


@every_provider
def test_crewai_knows_the_default_model_without_a_further_library(provider: Provider) -> None:
    spec = importlib.util.find_spec("crewai")
    assert spec is not None
    assert spec.origin is not None
    listed = (Path(spec.origin).parent / "llms" / "constants.py").read_text(encoding="utf-8")
    if provider.name in ("openai", "anthropic", "gemini"):
        assert f'"{provider.default_model}"' in listed
    if provider.name == "deepseek":
        assert (provider.default_model or "").startswith("deepseek")
    # CrewAI takes any name with these letters for a model that cannot call tools.
    assert "o1" not in (provider.default_model or "")


def test_every_price_is_of_a_provider_that_charges() -> None:
    names = {name.partition("/")[0] for name in PRICES.models}
    assert names == {provider.name for provider in PROVIDERS.values() if provider.default_model}


@every_provider
def test_a_normal_reply_is_read(provider: Provider) -> None:
    reply = DIALECTS[provider.route].read(body_of(Text("An answer.", usage=(7, 3)), provider.route))
    assert (reply.text, reply.tool_calls, reply.model) == ("An answer.", (), "scripted-model")
    assert (reply.usage.prompt, reply.usage.completion, reply.usage.reasoning) == (7, 3, 0)


@every_provider
def test_tool_calls_are_read_into_one_form(provider: Provider) -> None:
    reply = DIALECTS[provider.route].read(body_of(CALLS, provider.route))
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("quote", '{"ticker":"ACME"}'), ("news", "{}")]
    assert len({call.id for call in reply.tool_calls}) == 2
    assert reply.text == ""


@pytest.mark.parametrize("defect", DEFECTS)
@every_route
def test_a_defect_is_refused_and_called_by_its_name(route: Route, defect: str) -> None:
    step, kind, words = DEFECTS[defect]
    with pytest.raises(DefectiveReply) as caught:
        DIALECTS[route].read(body_of(step, route))
    assert caught.value.kind == kind
    assert words in caught.value.message
    assert len(caught.value.message) < 300
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("defect", ["no choices", "cut", "cut tool calls", "empty", "blank"])
@every_route
def test_what_a_refused_reply_cost_is_kept(route: Route, defect: str) -> None:
    with pytest.raises(DefectiveReply) as caught:
        DIALECTS[route].read(body_of(DEFECTS[defect][0], route))
    assert caught.value.usage == TokenUsage(prompt=100, completion=20)


@pytest.mark.parametrize("route", ["openai", "gemini"])
def test_reasoning_that_took_everything_is_named(route: Route) -> None:
    with pytest.raises(DefectiveReply, match="20 of its 20 tokens went into reasoning") as caught:
        DIALECTS[route].read(body_of(Empty("length", reasoning=20), route))
    assert caught.value.usage == TokenUsage(prompt=100, completion=20, reasoning=20)


@every_route
def test_a_key_that_stands_twice_is_no_defect(route: Route) -> None:
    body = body_of(Text("yes"), route)
    assert DIALECTS[route].read(b'{"model": "other", ' + body[1:]).text == "yes"


@every_provider
@pytest.mark.parametrize("before", [{}, {"max_tokens": 9}, {"max_completion_tokens": 9}, {"generationConfig": {"maxOutputTokens": 9, "temperature": 0}}])
def test_the_cap_that_was_set_is_the_cap_and_the_request_stays_as_it_was(provider: Provider, before: dict[str, Any]) -> None:
    dialect, document = DIALECTS[provider.route], {"model": "m", "kept": [1], **before}
    copy = json.dumps(document)
    capped = dialect.with_cap(document, 321, provider.cap_field)
    assert dialect.cap_of(capped) == 321
    assert json.dumps(document) == copy
    assert capped["kept"] == [1]
    if provider.route == "openai":
        assert [name for name in capped if "max" in name] == [provider.cap_field]
    if provider.route == "gemini":
        assert capped["generationConfig"].get("temperature") == before.get("generationConfig", {}).get("temperature")


@every_route
def test_a_request_without_a_cap_has_none(route: Route) -> None:
    assert DIALECTS[route].cap_of({"max_tokens": None, "generationConfig": None}) is None
