"""Models that misbehave, one at a time: what is repaired is the crew's decision, everything else is an outage with its own name.

Every case is played in an opening and in the verdict. Each of them asserts how often the wire was used, that what was paid is what is
booked, that it ended in time, and that the record of it replays with the provider gone.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from tests.crew_home import AS_OF, Misbehaving, Step, bounds, load_crewai, models, transcript, well
from tests.crew_script import USAGE, crew, opening, side_of, verdict
from tests.home import Home
from tests.scripted_provider import CallTools, Disconnect, Drip, Empty, HalfBody, Hang, NoChoices, NoUsage, Raw, Request, ScriptedProvider, Status, Text, wire
from tests.scripted_wire import Behaviour

LONG = 300.0
CALL_SECONDS = 0.6
IN_TIME = 60.0
"""Far below any wait that a case would have to sit out, far above what a busy machine needs for a debate."""
OWN_TOOL = {"bull": "get_news_sentiment", "bear": "get_financial_health", "cio": "get_market_price"}
OTHER_TOOL = {"bull": "get_financial_health", "bear": "get_market_price", "cio": "get_news_sentiment"}

COST_UNKNOWN = ("silence", "half a body, twice")
"""Cases of calls that were sent, may have been paid, and say nothing of it."""

Steps = Callable[[str], Sequence[Step]]


@dataclass(frozen=True)
class Case:
    """What a side does, in order, and the fault that it ends in; None where it is mended."""

    steps: Steps
    fault: str | None
    more: Mapping[str, Any] | None = None
    """Bounds of that side."""


def once(*steps: Step) -> Steps:
    """These and then a good answer."""
    return lambda side: (*steps, well(side))


def only(*steps: Step) -> Steps:
    return lambda _: steps


def answered(change: Callable[[str], str]) -> Steps:
    """A good answer made bad, then a good one."""
    return lambda side: (lambda request: change(well(side)(request)), well(side))


def always(change: Callable[[str], str]) -> Steps:
    """The same bad answer as often as the side may be asked to mend it."""
    return lambda side: (lambda request: change(well(side)(request)),) * (3 if side == "cio" else 2)


def replaced(key: str, literal: str) -> Callable[[str], str]:
    """The answer with another literal at a key."""
    return lambda text: text.replace(f'"{key}": {json.dumps(json.loads(text)[key])}', f'"{key}": {literal}')


def calls(name: Mapping[str, str] | str, arguments: str = "{}", times: int = 1) -> Callable[[str], Sequence[Step]]:
    return lambda side: (CallTools([(name if isinstance(name, str) else name[side], arguments)], usage=USAGE),) * times


def then_well(steps: Steps) -> Steps:
    return lambda side: (*steps(side), well(side))


def late(side: str) -> Sequence[Step]:
    return (lambda request: Text(well(side)(request), latency=LONG, usage=USAGE),)


def looping(side: str) -> Sequence[Step]:
    """Its calls, one that is told to stop, and one that ends the turn."""
    return calls(OWN_TOOL, times={"cio": 1}.get(side, 2) + 2)(side)


SHORT = {"call_seconds": CALL_SECONDS}
DRIP = Drip(wire("openai", Text("slowly, slowly, slowly")), 0.05)
CASES: dict[str, Case] = {
    "an answer after the call's time": Case(late, "timeout", SHORT),
    "silence": Case(only(Hang(LONG)), "timeout", SHORT),
    "one byte at a time": Case(only(DRIP), "timeout", SHORT),
    "half a body, twice": Case(only(HalfBody(), HalfBody()), "unreachable"),
    "half a body, once": Case(once(HalfBody()), None),
    "a broken connection, twice": Case(only(Disconnect(), Disconnect()), "unreachable"),
    "a broken connection, once": Case(once(Disconnect()), None),
    "HTTP 400": Case(only(Status(400)), "http"),
    "HTTP 401": Case(only(Status(401)), "http"),
    "HTTP 403": Case(only(Status(403)), "http"),
    "HTTP 404": Case(only(Status(404)), "http"),
    "HTTP 500, twice": Case(only(Status(500), Status(500)), "http"),
    "HTTP 500, once": Case(once(Status(500)), None),
    "HTTP 529, once": Case(once(Status(529)), None),
    "HTTP 429, come back soon": Case(once(Status(429, headers={"Retry-After": "0"})), None),
    "HTTP 429, come back tomorrow": Case(only(Status(429, headers={"Retry-After": "86400"})), "rate_limited"),
    "HTTP 429, twice": Case(only(Status(429), Status(429)), "rate_limited"),
    "a page instead of JSON": Case(only(Raw(b"<html>busy</html>", "text/html")), "malformed"),
    "no choices": Case(only(NoChoices()), "malformed"),
    "empty content": Case(only(Empty("stop")), "no_answer"),
    "a text that was cut": Case(only(Text('{"action": "BU', finish="length")), "cut"),
    "all reasoning": Case(only(Empty("length", reasoning=20)), "no_answer"),
    "no usage": Case(only(NoUsage("{}")), "no_usage"),
    "more tokens than allowed": Case(only(Text("{}", usage=(900, 5000))), "overrun"),
    "prose around the JSON": Case(answered(lambda text: f"Here you are:\n{text}\nGood luck!"), None),
    "prose around the JSON, always": Case(always(lambda text: f"Here you are:\n{text}\nGood luck!"), "unusable"),
    "two fences": Case(answered(lambda text: f"```json\n{text}\n```\nor\n```json\n{text}\n```"), None),
    "one clean fence": Case(lambda side: (lambda request: f"```json\n{well(side)(request)}\n```",), None),
    "a comma too many": Case(answered(lambda text: text.removesuffix("}") + ",}"), None),
    "a key twice": Case(answered(lambda text: text.replace('"p_up"', '"p_up": 0.9, "p_up"')), None),
    "a key twice, always": Case(always(lambda text: text.replace('"p_up"', '"p_up": 0.9, "p_up"')), "unusable"),
    "NaN": Case(answered(replaced("p_up", "NaN")), None),
    "a probability of 90": Case(answered(replaced("p_up", "90")), None),
    "a probability of 90, always": Case(always(replaced("p_up", "90")), "unusable"),
    "plain prose": Case(answered(lambda _: "I would not Sell. Underweight is my rating."), None),
    "plain prose, always": Case(always(lambda _: "I would not Sell. Underweight is my rating."), "unusable"),
    "an empty object, always": Case(always(lambda _: "{}"), "unusable"),
    "tools without end": Case(looping, "steps"),
    "more tools at once than there are": Case(only(CallTools([("get_price_history", "{}")] * 9, usage=USAGE)), "steps"),
    "an unknown tool": Case(then_well(calls("buy_everything")), None),
    "a tool of the other side": Case(then_well(calls(OTHER_TOOL)), None),
    "arguments to a tool without any": Case(then_well(calls(OWN_TOOL, '{"window": "3 months"}')), None),
    "arguments that are no JSON": Case(then_well(calls(OWN_TOOL, "{window")), None),
    "its own tool": Case(then_well(calls(OWN_TOOL)), None),
    "a tool call as text": Case(answered(lambda _: '{"name": "get_news_sentiment", "arguments": {}}'), None),
    "a tool call as text, always": Case(always(lambda _: "Action: get_news_sentiment\nAction Input: {}"), "unusable"),
    "a model without tools": Case(once(Status(400, message="this model does not support tools")), None),
    "calls without end": Case(lambda side: calls(OWN_TOOL, times=2)(side), "budget", {"calls": 2, "tool_calls": 20}),
    "prompts that eat the budget": Case(lambda side: (CallTools([(OWN_TOOL[side], "{}")], usage=(39_950, 20)),), "budget"),
}
OF_THE_VERDICT: dict[str, Case] = {
    "an amount with a currency sign": Case(answered(replaced("amount", '"$500"')), None),
    "an amount with a currency sign, always": Case(always(replaced("amount", '"$500"')), "unusable"),
    "an unknown action": Case(answered(replaced("action", '"STRONG BUY"')), None),
    "an answer of one word, always": Case(always(lambda _: '{"rating": "Sell"}'), "unusable"),
    "an id that nobody gave": Case(answered(replaced("relied_on", '["c_bull_9"]')), None),
}
OF_AN_OPENING: dict[str, Case] = {
    "an unknown stance": Case(answered(replaced("stance", '"SIDEWAYS"')), None),
    "neither a claim nor a reason for none": Case(answered(replaced("claims", "[]")), None),
    "a mended citation": Case(answered(lambda text: text.replace("ev_", "ev_x")), None),
}
PLAYED = [
    *((name, case, ("bull", "bear")[number % 2]) for number, (name, case) in enumerate({**CASES, **OF_AN_OPENING}.items())),
    *((name, case, "cio") for name, case in {**CASES, **OF_THE_VERDICT}.items()),
]


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    load_crewai()


def requests_of(case: Case, side: str) -> list[str]:
    """Who asks how often: both sides speak whatever becomes of the other, and the verdict only after both."""
    each = dict.fromkeys(("bull", "bear", "cio"), 1) | {side: len(case.steps(side))}
    if case.fault is not None and side != "cio":
        each["cio"] = 0
    return sorted(name for name, times in each.items() for _ in range(times))


def booked(home: Home) -> tuple[int, int, int]:
    spent = home.ok("spend", "--json").document
    return spent["calls"], spent["prompt_tokens"], spent["completion_tokens"]


@pytest.mark.parametrize(("name", "case", "side"), PLAYED, ids=[f"{name}-{side}" for name, _, side in PLAYED])
def test_a_bad_answer_is_mended_or_is_an_outage_with_its_name(home: Home, monkeypatch: pytest.MonkeyPatch, name: str, case: Case, side: str) -> None:
    bounds(home, {side: case.more or {}})
    script = Misbehaving(side, case.steps(side))
    with models(monkeypatch, script):
        began = time.monotonic()
        document = home.decide("AAPL", AS_OF)
        assert time.monotonic() - began < IN_TIME
    if case.fault is None:
        assert (document["provenance"], document["fallback_reason"], document["engine"]) == ("crew", None, "crew")
    else:
        assert (document["provenance"], document["engine"]) == ("fallback", "heuristic")
        assert document["fallback_reason"].partition(":")[0] == case.fault
    assert sorted(script.asked) == requests_of(case, side)
    usage = document["usage"]
    assert booked(home) == (len(script.asked), usage["prompt_tokens"], usage["completion_tokens"])
    assert told(home) == (script.prompt_tokens, script.completion_tokens)
    replayed = home.run("replay", "last")
    assert replayed.code == 0, replayed.out


def told(home: Home) -> tuple[int, int]:
    """What the replies say that they cost; a call whose cost nobody told is booked at its most besides."""
    known = [call["usage"] for call in transcript(home)["calls"] if call["usage"] and not call["estimated"]]
    return sum(usage["prompt"] for usage in known), sum(usage["completion"] for usage in known)


def played(name: str, side: str) -> tuple[Case, Misbehaving]:
    case = CASES[name]
    return case, Misbehaving(side, case.steps(side))


@pytest.mark.parametrize("side", ["bull", "bear", "cio"])
@pytest.mark.parametrize("name", ["silence", "HTTP 401", "half a body, twice", "more tokens than allowed", "plain prose, always", "tools without end"])
def test_without_fallback_an_outage_trades_nothing_and_leaves_its_record(home: Home, monkeypatch: pytest.MonkeyPatch, name: str, side: str) -> None:
    case, script = played(name, side)
    bounds(home, {side: case.more or {}})
    with models(monkeypatch, script, ALLOW_HEURISTIC_FALLBACK="false"):
        began = time.monotonic()
        ran = home.run("decide", "AAPL", "--as-of", AS_OF, "--json")
        assert time.monotonic() - began < IN_TIME
    document = ran.document
    assert (ran.code, document["error"]["code"]) == (4, "ProviderFault")
    assert document["error"]["message"].startswith(f"{case.fault}: ")
    assert [document[key] for key in ("proposal", "guard", "order")] == [None, None, None]
    counts = home.counts()
    assert (counts["decision"], counts["orders"], counts["guard_result"], counts["run_slot"]) == (0, 0, 0, 0)
    calls, *tokens = booked(home)
    assert calls == len(script.asked)
    if name in COST_UNKNOWN:
        assert tokens[0] > script.prompt_tokens
    else:
        assert tokens == [script.prompt_tokens, script.completion_tokens]
    assert kept_transcript(home)["fault"]["kind"] == case.fault
    assert home.run("audit", "verify").code == 0
    monkeypatch.setenv("ALPHAAGENT_LLM_PROVIDER", "none")
    assert home.decide("AAPL", AS_OF, "--engine", "heuristic")["stored"] is False


def kept_transcript(home: Home) -> dict[str, Any]:
    """The transcript that the only failure of the audit trail names."""
    ((detail,),) = home.sql("SELECT payload FROM audit_log WHERE kind = 'failure'")
    ((content,),) = home.sql("SELECT content FROM blob WHERE sha256 = ?", json.loads(detail)["detail"]["transcript"])
    found: dict[str, Any] = json.loads(content)
    return found


@pytest.mark.parametrize("seconds", ["1", "2"])
def test_a_short_wait_that_the_provider_asks_for_is_kept(home: Home, monkeypatch: pytest.MonkeyPatch, seconds: str) -> None:
    script = Misbehaving("cio", (Status(429, headers={"Retry-After": seconds}), well("cio")))
    with models(monkeypatch, script) as provider:
        assert home.decide("AAPL", AS_OF)["provenance"] == "crew"
        first, again = provider.requests[-2:]
    assert again.arrived - (first.completed or 0) >= float(seconds)


def test_an_address_that_refuses_is_unreachable(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch) as provider:
        pass
    document = home.decide("AAPL", AS_OF)
    assert document["fallback_reason"] == "unreachable: the model's address cannot be reached"
    assert provider.requests == ()
    assert booked(home) == (4, 0, 0), "two openings, twice each"
    assert home.run("replay", "last").code == 0


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(home: Home, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    with ScriptedProvider(crew()) as elsewhere:
        away = Status(code, headers={"Location": f"{elsewhere.base_url}/chat/completions"})
        with models(monkeypatch, Misbehaving("cio", (away,))) as provider:
            document = home.decide("AAPL", AS_OF)
        assert document["fallback_reason"] == f"http: the provider answered HTTP {code}"
        assert elsewhere.requests == ()
        assert len(provider.requests) == 3


@pytest.mark.parametrize(("silent", "asked"), [(("bull",), ["bear", "bull"]), (("bull", "bear"), ["bear", "bull"]), (("cio",), ["bear", "bull", "cio"])])
def test_the_deadline_of_a_decision_ends_it_wherever_it_is(home: Home, monkeypatch: pytest.MonkeyPatch, silent: Sequence[str], asked: list[str]) -> None:
    bounds(home, decision_seconds=5)
    heard: list[str] = []

    def script(request: Request) -> Behaviour:
        side = side_of(request)
        heard.append(side)
        return Hang(LONG) if side in silent else Text(well(side)(request), usage=USAGE)

    with models(monkeypatch, script):
        began = time.monotonic()
        document = home.decide("AAPL", AS_OF)
        assert 5 <= time.monotonic() - began < IN_TIME
    assert document["fallback_reason"] == "deadline: the deadline of the decision passed before the model had answered"
    assert sorted(heard) == asked
    assert [call["fault"] and call["fault"]["kind"] for call in transcript(home)["calls"]] == ["deadline" if side in silent else None for side in order(asked)]
    assert home.run("replay", "last").code == 0


def order(sides: Sequence[str]) -> list[str]:
    return [side for side in ("bull", "bear", "cio") if side in sides]


def test_a_wait_beyond_the_deadline_is_not_begun(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    bounds(home, decision_seconds=8)
    script = Misbehaving("bear", (Status(503, headers={"Retry-After": "15"}),))
    with models(monkeypatch, script):
        began = time.monotonic()
        assert home.decide("AAPL", AS_OF)["fallback_reason"].startswith("http: ")
        assert time.monotonic() - began < 15


def test_a_model_that_ignores_its_tools_may_say_that_it_has_no_case(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    bounds(home, evidence="on_request")

    def script(request: Request) -> str:
        side = side_of(request)
        return verdict(request, "HOLD", 0, relied_on=[]) if side == "cio" else opening(side, [], no_case="I looked at nothing.")

    with models(monkeypatch, lambda request: Text(script(request), usage=USAGE)) as provider:
        document = home.decide("AAPL", AS_OF)
    assert (document["provenance"], document["guard"]["code"]) == ("crew", "NO_ORDER")
    assert len(provider.requests) == 3
    assert home.run("replay", "last").code == 0


def test_the_rehearsal_went_the_whole_way() -> None:
    """A tool call, an answer that was sent back, one that was accepted: all of it loaded before two threads need it at once."""
    from alphaagent.engines.crew import room

    assert room.REHEARSED == "yes"
