"""A debate comes out the same again from its record with no model and no socket; one that was altered shows where."""

import base64
import hashlib
import json
import socket
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.crew_home import AS_OF, KEY, Misbehaving, Step, bounds, load_crewai, models, transcript, well
from tests.crew_script import USAGE
from tests.home import Home
from tests.scripted_provider import CallTools, Disconnect, Empty, Hang, NoUsage, Raw, Status, Text

USERINFO = "user-canary:password-canary"
BASIC = base64.b64encode(USERINFO.encode()).decode()
BUSY = Status(503)
SENT_BACK = "I think that it will rise."
DEBATES: dict[str, tuple[str, Sequence[Step], str]] = {
    "clean": ("bull", (well("bull"),), "crew"),
    "with an opening that was sent back": ("bear", (SENT_BACK, well("bear")), "crew"),
    "with a verdict that was sent back twice": ("cio", (SENT_BACK, "{}", well("cio")), "crew"),
    "with tool calls": ("bull", (CallTools([("get_price_history", "{}"), ("get_news_sentiment", "{}")], usage=USAGE), well("bull")), "crew"),
    "with a refused tool call": ("cio", (CallTools([("get_news_sentiment", "{}")], usage=USAGE), well("cio")), "crew"),
    "with a repeated request": ("bear", (BUSY, well("bear")), "crew"),
    "with a broken connection": ("cio", (Disconnect(), well("cio")), "crew"),
    "with bytes that are no text": ("bull", (Raw(b"\xff\xfe{"),), "malformed"),
    "that timed out": ("bear", (Hang(300),), "timeout"),
    "that was refused": ("cio", (Status(401),), "http"),
    "that was refused with a page": ("cio", (Status(502, body=b"<html>\xff</html>"), Status(502, body=b"<html>\xff</html>")), "http"),
    "that never became an answer": ("bull", (SENT_BACK, SENT_BACK), "unusable"),
    "that ended in silence": ("cio", (Empty("stop"),), "no_answer"),
    "that did not say what it cost": ("bear", (NoUsage("{}"),), "no_usage"),
    "that was cut": ("cio", (Text("{", finish="length"),), "cut"),
}


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    load_crewai()


@pytest.fixture
def no_socket(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on nothing can be connected to, not even on this machine."""

    def refuse(*_: object) -> None:
        raise AssertionError("a replay opened a socket")

    def begin() -> None:
        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)

    return begin


def held(home: Home, monkeypatch: pytest.MonkeyPatch, name: str) -> dict[str, Any]:
    side, steps, _ = DEBATES[name]
    bounds(home, {side: {"call_seconds": 0.6}} if name == "that timed out" else {})
    with models(monkeypatch, Misbehaving(side, steps)):
        return home.decide("AAPL", AS_OF)


@pytest.mark.parametrize("name", DEBATES)
def test_a_debate_replays_without_a_model_and_without_a_socket(home: Home, monkeypatch: pytest.MonkeyPatch, no_socket: Callable[[], None], name: str) -> None:
    document = held(home, monkeypatch, name)
    ended = DEBATES[name][2]
    assert (document["fallback_reason"] or "crew").partition(":")[0] == ended
    before = home.counts()
    no_socket()
    ran = home.run("replay", "last", "--json")
    assert (ran.code, ran.document["agrees"]) == (0, True), ran.out
    assert "debate, call by call" in [part["part"] for part in ran.document["parts"]]
    assert home.counts() == before


@pytest.mark.parametrize("silent", ["bull", "cio"])
def test_a_debate_that_met_its_deadline_replays(home: Home, monkeypatch: pytest.MonkeyPatch, no_socket: Callable[[], None], silent: str) -> None:
    bounds(home, decision_seconds=4)
    with models(monkeypatch, Misbehaving(silent, (Hang(300),))):
        assert home.decide("AAPL", AS_OF)["fallback_reason"].startswith("deadline: ")
    no_socket()
    assert home.ok("replay", "last", "--json").document["agrees"] is True


def test_a_replay_needs_neither_provider_nor_key_nor_configuration(home: Home, monkeypatch: pytest.MonkeyPatch, no_socket: Callable[[], None]) -> None:
    held(home, monkeypatch, "clean")
    for name in ("PROVIDER", "MODEL", "BASE_URL", "API_KEY"):
        monkeypatch.delenv(f"ALPHAAGENT_LLM_{name}")
    home.own_config("tasks.yaml", lambda text: text.replace("Decide.", "Decide otherwise."))
    home.own_config("agents.yaml", lambda text: text.replace("Chief Investment Officer", "Head of the Desk"))
    bounds(home, {"all": {"completion_tokens": 100}}, prompt_characters=4000)
    no_socket()
    assert home.ok("replay", "last", "--json").document["agrees"] is True


def other_reply(transcript: dict[str, Any]) -> None:
    verdict = transcript["calls"][-1]
    verdict["response"] = verdict["response"].replace("2000", "2001")


def other_request(transcript: dict[str, Any]) -> None:
    transcript["calls"][0]["request"] = transcript["calls"][0]["request"].replace("strictly above", "strictly below")


def other_task(transcript: dict[str, Any]) -> None:
    transcript["setup"]["tasks"]["verdict"]["description"] += " Be bold."


def other_persona(transcript: dict[str, Any]) -> None:
    transcript["setup"]["sides"][0]["backstory"] += " You are never wrong."


def other_bound(transcript: dict[str, Any]) -> None:
    transcript["setup"]["sides"][2]["bounds"]["completion_tokens"] = 1100


def no_call(transcript: dict[str, Any]) -> None:
    del transcript["calls"][1]


def one_call_more(transcript: dict[str, Any]) -> None:
    transcript["calls"].append(transcript["calls"][-1] | {"number": 2})


def other_turn(transcript: dict[str, Any]) -> None:
    transcript["turns"][0]["answer"] = transcript["turns"][0]["answer"].replace("0.66", "0.96")


def other_cost(transcript: dict[str, Any]) -> None:
    transcript["usage"]["prompt_tokens"] += 1


ALTERED = {
    other_reply: "2001",
    other_request: "request opening 1 of the bull, number 1 differs",
    other_task: "Be bold.",
    other_persona: "You are never wrong.",
    other_bound: "request verdict 2 of the cio, number 1 differs",
    no_call: "request opening 1 of the bear, number 1 is not in the record",
    one_call_more: "request verdict 2 of the cio, number 2 of the record was not made",
    other_turn: "0.96",
    other_cost: "2701",
}


def alter(home: Home, change: Callable[[dict[str, Any]], None]) -> None:
    """Rewrites the stored transcript and what names it, as an intruder would, past the triggers."""
    ((record_sha256, content),) = home.sql("SELECT sha256, content FROM blob JOIN decision ON record_sha256 = sha256")
    record = json.loads(content)
    ((spoken,),) = home.sql("SELECT content FROM blob WHERE sha256 = ?", record["transcript_sha256"])
    debate = json.loads(spoken)
    change(debate)
    for (name,) in home.sql("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
        home.sql(f"DROP TRIGGER {name}")
    record["transcript_sha256"] = put(home, debate)
    home.sql("UPDATE decision SET record_sha256 = ? WHERE record_sha256 = ?", put(home, record), record_sha256)


def put(home: Home, document: dict[str, Any]) -> str:
    content = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
    digest = hashlib.sha256(content).hexdigest()
    home.sql("INSERT INTO blob VALUES (?, ?)", digest, content)
    return digest


@pytest.mark.parametrize(("change", "shown"), ALTERED.items(), ids=lambda part: getattr(part, "__name__", ""))
def test_an_altered_debate_differs_and_the_difference_is_shown(
    home: Home, monkeypatch: pytest.MonkeyPatch, change: Callable[[dict[str, Any]], None], shown: str
) -> None:
    held(home, monkeypatch, "clean")
    alter(home, change)
    ran = home.run("replay", "last", "--json")
    assert (ran.code, ran.document["agrees"]) == (6, False)
    differences = " ".join(part["difference"] for part in ran.document["parts"] if not part["agrees"])
    assert shown in differences


def test_another_prompt_of_the_program_differs(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    held(home, monkeypatch, "clean")
    monkeypatch.setattr("alphaagent.debate.orchestrate.question", lambda pack: f"Will {pack.ticker} rise?")
    ran = home.run("replay", "last")
    assert ran.code == 6
    assert "DIFFERS debate, call by call" in ran.out


def test_a_transcript_whose_bytes_changed_is_unsound_books(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    held(home, monkeypatch, "clean")
    home.sql("DROP TRIGGER blob_no_update")
    home.sql(
        "UPDATE blob SET content = CAST(replace(content, 'strictly above', 'strictly below') AS BLOB) WHERE instr(CAST(content AS TEXT), 'strictly above')"
    )
    ran = home.run("replay", "last")
    assert (ran.code, ran.out) == (5, "")


def test_the_calls_are_shown_in_order_with_prompts_and_replies(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    side, steps, _ = DEBATES["with an opening that was sent back"]
    with models(monkeypatch, Misbehaving(side, steps)) as provider:
        home.decide("AAPL", AS_OF)
    calls = transcript(home)["calls"]
    assert [(call["phase"], call["side"], call["number"]) for call in calls] == [
        ("opening", "bull", 1),
        ("opening", "bear", 1),
        ("opening", "bear", 2),
        ("verdict", "cio", 1),
    ]
    assert sorted(call["request"] for call in calls) == sorted(request.raw.decode() for request in provider.requests)
    assert [json.loads(call["response"])["choices"][0]["message"]["content"] for call in calls][1] == SENT_BACK
    page = home.ok("show", "last", "--calls").out
    assert page.count("HTTP 200") == 4
    assert "sent back: NOT_SINGLE_JSON" in page


@pytest.mark.parametrize("name", ["clean", "that was refused"])
def test_the_key_and_the_address_s_credentials_are_nowhere(home: Home, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    side, steps, _ = DEBATES[name]
    told: list[str] = []
    with models(monkeypatch, Misbehaving(side, steps)) as provider:
        monkeypatch.setenv("ALPHAAGENT_LLM_BASE_URL", provider.base_url.replace("//", f"//{USERINFO}@"))
        for command in (("decide", "AAPL", "--as-of", AS_OF, "--json"), ("show", "last", "--calls", "--json"), ("show", "last", "--calls"), ("doctor",)):
            ran = home.run(*command)
            told += [ran.out, ran.err]
        assert {request.headers["authorization"] for request in provider.requests} == {f"Basic {BASIC}"}, "what stands in the address is what is sent"
    home.run("replay", "last")
    kept = b"".join(path.read_bytes() for path in home.folder.rglob("*") if path.is_file())
    for secret in (KEY, "user-canary", "password-canary", BASIC):
        assert secret not in "".join(told)
        assert secret.encode() not in kept
    assert b"scripted-model" in kept, "the search must be able to find something"


def test_the_key_is_sent_and_kept_nowhere(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch, Misbehaving("cio", (Status(401, message=f"wrong key {KEY}"),))) as provider:
        ran = home.run("decide", "AAPL", "--as-of", AS_OF, "--json")
        assert {request.headers["authorization"] for request in provider.requests} == {f"Bearer {KEY}"}
    assert KEY not in ran.out + ran.err
