"""The whole crew at every provider over a real socket, in that provider's wire form: decided, shown, and held again with the server gone."""

import contextlib
import importlib.util
import io
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from alphaagent import staffing
from alphaagent.cli import run
from alphaagent.debate.orchestrate import Asked
from alphaagent.debate.record import Bounds
from alphaagent.llm.carrier import Carried, Key, Parcel
from alphaagent.llm.dialects import DIALECTS
from alphaagent.llm.provider import Provider, Route
from alphaagent.llm.purse import Purse
from alphaagent.llm.registry import PROVIDERS
from alphaagent.llm.steps import Steps
from alphaagent.llm.trace import Trace
from alphaagent.llm.wire import Seat, Wire
from alphaagent.settings import contained_crewai
from tests import crew_script
from tests.crew_home import quick
from tests.home import CHECKOUT, Home
from tests.scripted_provider import CallTools, Request, ScriptedProvider, Status, Step, Text, wire

AS_OF = "2020-02-05"
USUAL_MODEL = "qwen3:8b"
"""Named where a provider has no model of its own."""
KEY = "key-of-this-test"
STRAY = "of-somebody-else"
LONGEST = "x" * 30_000

every_provider = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS.keys())


def configure(patch: pytest.MonkeyPatch, provider: Provider, scripted: ScriptedProvider, **environment: str) -> None:
    """The environment that leads to this provider at the scripted address, with a key in its own variable; the plan is `quick`."""
    quick(Path(os.environ["ALPHAAGENT_HOME"]))
    patch.setenv("ALPHAAGENT_LLM_PROVIDER", provider.name)
    patch.setenv("ALPHAAGENT_LLM_BASE_URL", scripted.base_url if provider.route == "openai" else scripted.host_url)
    patch.setenv(provider.key_variables[0] if provider.key_variables else "ALPHAAGENT_LLM_API_KEY", KEY)
    if provider.default_model is None:
        patch.setenv("ALPHAAGENT_LLM_MODEL", USUAL_MODEL)
    for name, value in environment.items():
        patch.setenv(name, value)


class Scene:
    """A home that is set up for one provider, which plays a script."""

    def __init__(self, home: Home, patch: pytest.MonkeyPatch) -> None:
        self.home, self._patch = home, patch

    def configure(self, provider: Provider, scripted: ScriptedProvider, **environment: str) -> None:
        configure(self._patch, provider, scripted, **environment)

    def decide(self, provider: Provider, script: Callable[[Request], Step], *more: str, **environment: str) -> tuple[dict[str, Any], tuple[Request, ...]]:
        """A decision of the crew, and what the provider was asked for it."""
        with ScriptedProvider(script) as scripted:
            self.configure(provider, scripted, **environment)
            document = self.home.decide("AAPL", AS_OF, "--engine", "crew", *more)
            return document, scripted.requests

    def transcript(self) -> dict[str, Any]:
        shown: dict[str, Any] = self.home.ok("show", "last", "--calls", "--json").document["transcript"]
        return shown


@pytest.fixture
def scene(home: Home, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(home, monkeypatch)


def calls_first(*names: str) -> Callable[[Request], Step]:
    """A bull that calls these tools once, all in one reply, before it answers."""
    replies: list[Step] = [CallTools([(name, "{}") for name in names], usage=crew_script.USAGE)]
    return lambda request: replies.pop() if replies else crew_script.bull_opening(request)


def model_of(request: Request) -> str:
    return str(request.body["model"]) if request.form != "gemini" else request.path.rpartition("/")[2].partition(":")[0]


def temperature_of(request: Request) -> float | None:
    place = request.body.get("generationConfig", {}) if request.form == "gemini" else request.body
    found: float | None = place.get("temperature")
    return found


def tools_of(request: Request) -> list[str]:
    """The names of the tools that a request offers, read as that wire form writes them."""
    offered = request.body.get("tools", [])
    match request.form:
        case "openai":
            return [tool["function"]["name"] for tool in offered if tool["type"] == "function"]
        case "anthropic":
            return [tool["name"] for tool in offered if tool["input_schema"]["type"] == "object"]
        case _:
            return [declared["name"] for tool in offered for declared in tool["functionDeclarations"]]


def results_of(request: Request) -> list[str]:
    """What the tools of a conversation answered, read as that wire form writes it."""
    match request.form:
        case "openai":
            return [message["content"] for message in request.body["messages"] if message["role"] == "tool"]
        case "anthropic":
            blocks = [block for message in request.body["messages"] if isinstance(message["content"], list) for block in message["content"]]
            return [json.dumps(block["content"], ensure_ascii=False) for block in blocks if block["type"] == "tool_result"]
        case _:
            parts = [part for message in request.body["contents"] for part in message["parts"]]
            return [json.dumps(part["functionResponse"]["response"], ensure_ascii=False) for part in parts if "functionResponse" in part]


def by_side(requests: tuple[Request, ...]) -> dict[str, list[Request]]:
    return {side: [request for request in requests if crew_script.side_of(request) == side] for side in ("bull", "bear", "cio")}


PATHS: Mapping[Route, Callable[[str], str]] = {
    "openai": lambda model: "/v1/chat/completions",
    "anthropic": lambda model: "/v1/messages",
    "gemini": lambda model: f"/v1beta/models/{model}:generateContent",
}
KEYS: Mapping[Route, tuple[str, str]] = {"openai": ("authorization", f"Bearer {KEY}"), "anthropic": ("x-api-key", KEY), "gemini": ("x-goog-api-key", KEY)}


@dataclass(frozen=True)
class Heard:
    """A decision at one provider, everything that its server was asked, and what the books say once that server is gone."""

    provider: Provider
    document: dict[str, Any]
    requests: tuple[Request, ...]
    transcript: dict[str, Any]
    calls_text: str
    agrees: bool

    @property
    def asked(self) -> dict[str, list[Request]]:
        return by_side(self.requests)


def command(*arguments: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert run(list(arguments)) == 0
    return out.getvalue()


def heard(provider: Provider, folder: Path, script: Callable[[Request], Step], **environment: str) -> Heard:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("ALPHAAGENT_") or name.endswith("_API_KEY")]:
            patch.delenv(name)
        patch.setenv("ALPHAAGENT_HOME", str(folder))
        with ScriptedProvider(script) as scripted:
            configure(patch, provider, scripted, **environment)
            document = json.loads(command("decide", "AAPL", "--as-of", AS_OF, "--engine", "crew", "--json"))
        transcript = json.loads(command("show", "last", "--calls", "--json"))["transcript"]
        agrees = json.loads(command("replay", "last", "--json"))["agrees"]
        return Heard(provider, document, scripted.requests, transcript, command("show", "last", "--calls"), agrees)


@pytest.fixture(scope="module", params=PROVIDERS.values(), ids=PROVIDERS.keys())
def each(request: pytest.FixtureRequest) -> Provider:
    found: Provider = request.param
    return found


@pytest.fixture(scope="module")
def usual(each: Provider, tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """As shipped, where the environment holds somebody else's credentials as well; the bull calls two tools."""
    with pytest.MonkeyPatch.context() as patch:
        for stray in ("ANTHROPIC_AUTH_TOKEN", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"):
            patch.setenv(stray, STRAY)
        patch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
        patch.setenv("OPENAI_CUSTOM_HEADERS", f"Authorization: Bearer {STRAY}")
        return heard(each, tmp_path_factory.mktemp("usual"), crew_script.crew(bull=calls_first("get_price_history", "get_news_sentiment")))


@pytest.fixture(scope="module")
def configured(each: Provider, tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """With bounds, temperatures and models of the user's own, one of them unheard of, and a prompt longer than most."""
    folder = tmp_path_factory.mktemp("configured")
    (folder / "config").mkdir()
    changes = {
        "debate.yaml": (
            ("plan: standard", "plan: quick"),
            ("completion_tokens: 1600", "completion_tokens: 777"),
            ("cio: {model: null, temperature: null", "cio: {model: larger, temperature: 0"),
        ),
        "tasks.yaml": (("{question}", f"{LONGEST}\n    {{question}}"),),
    }
    for name, replacements in changes.items():
        text = (CHECKOUT / "config" / name).read_text(encoding="utf-8")
        for before, after in replacements:
            text = text.replace(before, after)
        (folder / "config" / name).write_text(text, encoding="utf-8")
    named = {"ALPHAAGENT_LLM_MODEL": "Some-Model.v2", "ALPHAAGENT_LLM_TEMPERATURE": "0.25", "ALPHAAGENT_DAILY_SPEND_USD": "off"}
    return heard(each, folder, crew_script.crew(), **named)


def test_the_crew_decides_and_the_record_shows_who_spoke(usual: Heard) -> None:
    model = usual.provider.default_model or USUAL_MODEL
    assert (usual.document["engine"], usual.document["provenance"], usual.document["proposal"]["action"]) == ("crew", "crew", "BUY")
    assert usual.document["bull_case"]["label"] == f"Bullish Research Analyst, {model} at {usual.provider.name}"
    assert [(call["side"], call["model"], call["status"]) for call in usual.transcript["calls"]] == [
        (side, model, 200) for side in ("bull", "bull", "bear", "cio")
    ]


def test_the_debate_is_held_again_with_the_server_gone(usual: Heard, configured: Heard) -> None:
    assert usual.agrees
    assert configured.agrees


def test_every_request_goes_to_the_right_place_with_its_key_and_its_headers_and_no_other(usual: Heard) -> None:
    provider = usual.provider
    name, value = KEYS[provider.route]
    for request in usual.requests:
        assert request.path == PATHS[provider.route](provider.default_model or USUAL_MODEL)
        assert request.headers[name] == value
        assert not {other for other, _ in KEYS.values() if other != name} & set(request.headers)
        assert {header: request.headers.get(header.lower()) for header in provider.headers} == dict(provider.headers)
        assert STRAY not in str(request.headers)
    assert KEY not in usual.calls_text


def test_the_bounds_of_the_file_stand_in_every_request_in_the_provider_s_own_field(usual: Heard, configured: Heard) -> None:
    for one, most in ((usual, {"bull": {1600}, "bear": {1600}, "cio": {1200}}), (configured, {"bull": {777}, "bear": {777}, "cio": {1200}})):
        dialect = DIALECTS[one.provider.route]
        assert {side: {dialect.cap_of(request.body) for request in asked} for side, asked in one.asked.items()} == most
        if one.provider.route == "openai":
            assert all({"max_tokens", "max_completion_tokens"} & set(request.body) == {one.provider.cap_field} for request in one.requests)


def test_a_temperature_is_sent_where_one_is_set_and_left_out_otherwise(usual: Heard, configured: Heard) -> None:
    assert {temperature_of(request) for request in usual.requests} == {None}
    assert {side: [temperature_of(one) for one in asked] for side, asked in configured.asked.items()} == {"bull": [0.25], "bear": [0.25], "cio": [0]}


def test_the_model_s_name_goes_out_as_it_was_written(configured: Heard) -> None:
    models = {side: [model_of(one) for one in asked] for side, asked in configured.asked.items()}
    assert models == {"bull": ["Some-Model.v2"], "bear": ["Some-Model.v2"], "cio": ["larger"]}


def test_tools_are_offered_called_and_answered(usual: Heard) -> None:
    assert {side: [tools_of(one) for one in asked] for side, asked in usual.asked.items()} == {
        "bull": [["get_price_history", "get_news_sentiment"]] * 2,
        "bear": [["get_price_history", "get_news_sentiment", "get_financial_health"]],
        "cio": [["get_market_price"]],
    }
    prices, news = results_of(usual.asked["bull"][1])
    assert crew_script.shown_id(usual.asked["bull"][0], "momentum") in prices
    assert "News: 1 story about it" in news
    assert [(call["tool"], call["status"]) for call in usual.transcript["tools"]] == [("get_news_sentiment", "success"), ("get_price_history", "success")]


def test_every_token_is_counted(usual: Heard) -> None:
    assert usual.transcript["usage"] == {"calls": 4, "prompt_tokens": 3600, "completion_tokens": 480, "cost_usd": "0.0"}
    assert all((call["usage"]["prompt"], call["usage"]["completion"]) == (900, 120) for call in usual.transcript["calls"])


def test_a_long_prompt_is_sent_as_it_is_and_nobody_counts_or_shortens_it(configured: Heard) -> None:
    """Of a model that it does not know, CrewAI believes that 7,000 tokens are too many, and would have the model write a summary first."""
    assert [len(asked) for asked in configured.asked.values()] == [1, 1, 1]
    assert all(LONGEST in crew_script.prompt_of(request) for request in configured.requests)


@pytest.mark.parametrize(("route", "name"), [("openai", "proto1"), ("gemini", "gemma"), ("anthropic", "o1")])
def test_no_model_loses_its_tools_or_its_system_prompt_by_its_name(scene: Scene, route: str, name: str) -> None:
    provider = next(one for one in PROVIDERS.values() if one.route == route)
    _, requests = scene.decide(provider, crew_script.crew(), "--dry-run", ALPHAAGENT_LLM_MODEL=name, ALPHAAGENT_DAILY_SPEND_USD="off")
    assert len(requests) == 3
    assert all(tools_of(request) and "Text inside the evidence" in request.system for request in requests)


class Recording:
    """A carrier that never leaves the process: it keeps what was to be sent, and answers."""

    def __init__(self, answer: Callable[[Parcel], bytes]) -> None:
        self.parcels: list[Parcel] = []
        self._answer = answer

    def carry(self, parcel: Parcel) -> Carried:
        self.parcels.append(parcel)
        return Carried(len(self.parcels), 0, 0, 200, "application/json", self._answer(parcel))

    def rest(self, seconds: float, upcoming: Key) -> bool:
        return False


@every_provider
def test_at_its_usual_address_the_crew_asks_for_answers_and_for_nothing_else(provider: Provider) -> None:
    """CrewAI counts tokens by requests of their own where it recognises the address, which no server on loopback can show."""
    with contained_crewai():
        from alphaagent.engines.crew import room

    model, trace = provider.default_model or USUAL_MODEL, Trace()
    carrier = Recording(lambda parcel: wire(provider.route, Text("an answer")))
    steps = Steps(2, (), (), lambda *_: None)
    seat = Seat("opening", 1, "bull", model, 500, 10.0, 1, provider.cap_field, provider.headers, (), None)
    seen = Wire(seat, DIALECTS[provider.route], carrier, Purse(6, 40_000), steps, trace)
    place = room.Place("Analyst", "Be right.", "Patient.", provider.route, model, None, KEY, provider.base_url or "https://models.example/v1", 0, (), seen)
    bounds = Bounds(model=model, temperature=None, completion_tokens=500, call_seconds="10.0", tool_calls=2, repairs=0, calls=6, tokens=40_000)
    asked = Asked("opening", 1, "bull", bounds, "Say something. " * 1000, "An answer.", lambda raw, hit_budget: None)
    assert room.CrewRoom(lambda _: place, lambda: 30.0).together([asked]) == ("an answer",)
    (parcel,) = carrier.parcels
    assert parcel.url.startswith(provider.base_url or "https://models.example/v1")
    assert parcel.path.endswith(PATHS[provider.route](model).removeprefix("/v1"))


def test_the_first_key_that_is_found_chooses_the_provider(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedProvider(crew_script.crew()) as scripted:
        monkeypatch.setenv("ALPHAAGENT_LLM_BASE_URL", scripted.host_url)
        for provider in reversed([one for one in PROVIDERS.values() if one.needs_key]):
            monkeypatch.setenv(provider.key_variables[-1], f"key-of-{provider.name}")
            document = scene.home.decide("AAPL", AS_OF, "--dry-run")
            assert document["bull_case"]["label"].endswith(f"{provider.default_model} at {provider.name}"), "the earlier in the table wins"
            assert scripted.requests[-1].headers[KEYS[provider.route][0]].endswith(f"key-of-{provider.name}")


@pytest.mark.parametrize("name", [provider.name for provider in PROVIDERS.values() if provider.extra])
@pytest.mark.parametrize("fallback", ["true", "false"])
def test_a_named_provider_whose_client_is_not_installed_is_an_error(scene: Scene, monkeypatch: pytest.MonkeyPatch, name: str, fallback: str) -> None:
    provider, found = PROVIDERS[name], importlib.util.find_spec
    missing = staffing.PACKAGES[provider.extra or ""][-1]
    monkeypatch.setattr(staffing.importlib.util, "find_spec", lambda wanted, *more: None if wanted == missing else found(wanted, *more))
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", fallback)
    with ScriptedProvider([]) as scripted:
        scene.configure(provider, scripted)
        ran = scene.home.run("decide", "AAPL", "--as-of", AS_OF)
        assert (ran.code, ran.out, scripted.requests) == (2, "", ())
    assert f"pip install 'alphaagent[{provider.extra}]'" in ran.err
    assert scene.home.counts() == {}
    assert scene.home.decide("AAPL", AS_OF, "--engine", "heuristic")["provenance"] == "heuristic"


SAID: Mapping[str, tuple[int, str]] = {
    "Ollama": (400, "registry.ollama.ai/library/small:1b does not support tools"),
    "vLLM": (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    "OpenRouter": (404, "No endpoints found that support tool use. Try disabling a tool."),
    "llama.cpp": (500, "tools param requires --jinja flag"),
    "Gemini": (400, "Function calling is not enabled for models/small"),
}
"""How servers put it."""


def without_tools(script: Callable[[Request], Step], code: int = 400, message: str = "small does not support tools") -> Callable[[Request], Step]:
    """A server whose model has no tools, and which says so."""
    return lambda request: Status(code, message=message) if tools_of(request) else script(request)


@pytest.mark.parametrize(
    ("route", "server"),
    [*(("openai", server) for server in SAID if server != "Gemini"), ("gemini", "Gemini"), ("anthropic", "Ollama")],
)
def test_a_model_without_tools_is_asked_again_without_them_in_the_same_turn(scene: Scene, route: str, server: str) -> None:
    provider = next(one for one in PROVIDERS.values() if one.route == route)
    document, requests = scene.decide(provider, without_tools(crew_script.crew(), *SAID[server]))
    assert (document["provenance"], document["proposal"]["action"]) == ("crew", "BUY")
    assert {side: [bool(tools_of(one)) for one in asked] for side, asked in by_side(requests).items()} == {
        side: [True, False] for side in ("bull", "bear", "cio")
    }
    transcript = scene.transcript()
    assert transcript["usage"]["calls"] == 6
    assert [(call["side"], call["number"], call["status"], call["fault"]) for call in transcript["calls"][:2]] == [
        ("bull", 1, SAID[server][0], None),
        ("bull", 2, 200, None),
    ]
    assert scene.home.ok("replay", "last", "--json").document["agrees"] is True


def test_a_400_that_is_about_something_else_ends_the_debate(scene: Scene) -> None:
    document, requests = scene.decide(PROVIDERS["openai"], lambda request: Status(400, message="tools[0].function.name is too long"))
    assert document["fallback_reason"].startswith("http: the provider answered HTTP 400")
    assert len(requests) == 2


def called_in_words(tool: str) -> str:
    return f"Thought: I want to know.\nAction: {tool}\nAction Input: {{}}"


IN_WORDS = called_in_words("get_market_price")


def in_words(replies: list[str], answer: Callable[[Request], str] = crew_script.verdict) -> Callable[[Request], Step]:
    """A model that says these things first, and then answers."""
    left = list(replies)
    return lambda request: Text(left.pop(0), usage=crew_script.USAGE) if left else answer(request)


def test_a_model_without_tools_may_call_them_in_words(scene: Scene) -> None:
    document, requests = scene.decide(PROVIDERS["ollama"], without_tools(crew_script.crew(cio=in_words([IN_WORDS]))))
    assert document["provenance"] == "crew"
    asked = by_side(requests)["cio"]
    assert len(asked) == 3
    assert "The last close" in asked[0].body["tools"][0]["function"]["description"]
    assert "Observation: " in json.dumps(asked[2].body["messages"])
    assert [(call["side"], call["tool"], call["status"]) for call in scene.transcript()["tools"]] == [("cio", "get_market_price", "success")]
    assert scene.home.ok("replay", "last", "--json").document["agrees"] is True


def test_words_are_on_the_same_step_budget(scene: Scene) -> None:
    """The bear may call twice. The third time it is told to answer."""
    words = [called_in_words(tool) for tool in ("get_price_history", "get_news_sentiment", "get_financial_health")]
    document, requests = scene.decide(PROVIDERS["ollama"], without_tools(crew_script.crew(bear=in_words(words, crew_script.bear_opening))))
    assert document["provenance"] == "crew"
    assert len(by_side(requests)["bear"]) == 5
    assert "No tool calls are left" in json.dumps(by_side(requests)["bear"][4].body["messages"])
    assert sorted((call["tool"], call["status"]) for call in scene.transcript()["tools"]) == [
        ("get_financial_health", "exhausted"),
        ("get_news_sentiment", "success"),
        ("get_price_history", "success"),
    ]


def test_the_same_call_in_words_is_not_run_twice_and_costs_a_request_all_the_same(scene: Scene) -> None:
    document, requests = scene.decide(PROVIDERS["ollama"], without_tools(crew_script.crew(cio=in_words([IN_WORDS, IN_WORDS]))))
    assert document["provenance"] == "crew"
    assert len(by_side(requests)["cio"]) == 4
    assert [call["status"] for call in scene.transcript()["tools"]] == ["success"]


def test_words_without_end_run_into_the_budget_of_calls(scene: Scene) -> None:
    document, requests = scene.decide(PROVIDERS["ollama"], without_tools(crew_script.crew(cio=lambda request: IN_WORDS)))
    assert (document["provenance"], document["fallback_reason"]) == ("fallback", "budget: the turn has made all the calls that its budget allows")
    assert len(by_side(requests)["cio"]) == 6
    assert scene.home.ok("replay", "last", "--json").document["agrees"] is True


def test_where_a_server_ignores_the_tools_a_call_in_words_is_an_answer_that_is_sent_back(scene: Scene) -> None:
    document, requests = scene.decide(PROVIDERS["openai-compatible"], crew_script.crew(cio=in_words([IN_WORDS])))
    assert document["provenance"] == "crew"
    assert len(by_side(requests)["cio"]) == 2
    verdict = scene.transcript()["turns"][-1]
    assert [repair["codes"] for repair in verdict["repairs"]] == [["NOT_SINGLE_JSON"]]
