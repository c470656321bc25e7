"""The rows of the protocol that need the whole of it: the command line, the wire, the books. Models are scripted, CrewAI is the real one.

One standard debate is held once and read by many tests; those that need another one hold a quick one where they can.
"""

import json
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.cli import run
from alphaagent.desk import Ask
from alphaagent.domain.base import sha256_hex
from alphaagent.engines.crew.engine import _room
from alphaagent.pipeline import Decided, decide
from alphaagent.settings import contained_crewai
from tests import crew_script
from tests.crew_home import AS_OF, KEY, SCRIPTED, bounds, models, transcript
from tests.crew_script import ARGUED, USAGE, crew, marker_of, phase_of, side_of
from tests.home import CHECKOUT, Home, finish, start
from tests.scripted_provider import Hang, NoUsage, Request, ScriptedProvider, Text
from tests.scripted_wire import Behaviour

PASSWORD = "pass-canary"
WITHOUT_FALLBACK = {"ALLOW_HEURISTIC_FALLBACK": "false"}
PHASES = ("opening", "rebuttal", "retort", "conclusion", "verdict")


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """CrewAI in this process, so that no test pays for its import."""
    _room(contained_crewai)


@dataclass(frozen=True)
class Debated:
    """A home with one standard debate in its books, and everything that its provider was sent."""

    folder: Path
    requests: tuple[Request, ...]
    code: int


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Debated:
    folder = tmp_path_factory.mktemp("debated")
    with pytest.MonkeyPatch.context() as patch, ScriptedProvider(crew()) as provider:
        address = provider.base_url.replace("//", f"//user:{PASSWORD}@")
        for name, value in {**SCRIPTED, "ALPHAAGENT_LLM_BASE_URL": address, "ALPHAAGENT_HOME": str(folder)}.items():
            patch.setenv(name, value)
        code = run(["decide", "AAPL", "--as-of", AS_OF, "--plan", "standard", "--events", str(folder / "events.jsonl"), "--json"])
        return Debated(folder, provider.requests, code)


@pytest.fixture
def debated(held: Debated, home: Home) -> Home:
    """A home of one's own with the standard debate in its books; no provider is named in it."""
    assert held.code == 0
    shutil.copytree(held.folder, home.folder, dirs_exist_ok=True)
    return home


def transcript_hash(home: Home) -> str:
    """Of the last debate that came to a decision."""
    ((payload,),) = home.sql("SELECT payload FROM audit_log WHERE kind = 'decision' ORDER BY seq DESC LIMIT 1")
    found: str = json.loads(payload)["detail"]["transcript"]
    return found


def stored_transcript(home: Home) -> dict[str, Any]:
    """The transcript of the last debate, as it is stored."""
    ((content,),) = home.sql("SELECT content FROM blob WHERE sha256 = ?", transcript_hash(home))
    found: dict[str, Any] = json.loads(content)
    return found


def unguarded(home: Home, table: str) -> None:
    """Takes away what keeps a table append-only."""
    for (name,) in home.sql("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", table):
        home.sql(f"DROP TRIGGER {name}")


def refused_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, refuse)


def test_A13_a_debate_on_record_is_held_again_without_a_network_to_the_same_bytes(debated: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    refused_everywhere(monkeypatch)
    replayed = debated.ok("replay", "last", "--json").document
    assert replayed["agrees"] is True
    assert "debate, call by call" in [part["part"] for part in replayed["parts"]]


def test_A13_every_prompt_of_both_sides_can_be_read(held: Debated, debated: Home) -> None:
    page = "".join(debated.ok("show", "last", "--calls").out.split())
    prompts = [crew_script.prompt_of(request) for request in held.requests if side_of(request) != "cio"]
    assert len(prompts) == 8
    for prompt in prompts:
        rules = [line.strip() for line in prompt.splitlines() if line.strip().startswith("-")]
        assert rules
        assert [line for line in rules if "".join(line.split()) not in page] == []
    assert [marker_of(request) in page for request in held.requests if side_of(request) != "cio"] == [True] * 8


def test_D22_the_prompts_on_record_are_the_bytes_that_the_server_received(held: Debated, debated: Home) -> None:
    recorded = sorted(call["request"].encode() for call in transcript(debated)["calls"])
    assert recorded == sorted(request.raw for request in held.requests)
    assert [call["request_sha256"] for call in transcript(debated)["calls"]] == [sha256_hex(call["request"].encode()) for call in transcript(debated)["calls"]]


def test_A2_the_numbers_of_the_document_are_those_that_the_models_wrote(debated: Home) -> None:
    rounds = debated.ok("show", "last", "--json").document["debate"]["rounds"]
    assert [(one["bull"], one["bear"]) for one in rounds] == [("0.66", "0.45"), ("0.62", "0.48"), ("0.61", "0.52"), ("0.6", "0.56")]


def test_A11_the_totals_are_the_sum_of_the_calls(debated: Home) -> None:
    stored = stored_transcript(debated)
    paid = [call["usage"] for call in stored["calls"]]
    assert (stored["usage"]["calls"], len(paid)) == (9, 9)
    assert (stored["usage"]["prompt_tokens"], stored["usage"]["completion_tokens"]) == tuple(
        sum(one[kind] for one in paid) for kind in ("prompt", "completion")
    )
    assert debated.ok("show", "last", "--json").document["usage"] == stored["usage"]


def test_A15_wherever_the_middle_is_told_the_gap_is_told_beside_it(debated: Home) -> None:
    rounds = debated.ok("show", "last", "--json").document["debate"]["rounds"]
    assert [set(one) >= {"mid", "gap"} for one in rounds] == [True] * 4
    lines = [line for line in debated.ok("show", "last").out.splitlines() if "middle" in line]
    assert lines
    assert [line for line in lines if "gap" not in line] == []


def test_C1_no_request_of_a_side_holds_the_private_word_of_the_other(held: Debated) -> None:
    words = {side_of(request): marker_of(request) for request in held.requests if phase_of(request) == "opening"}
    crossed = [
        (side_of(request), whose) for request in held.requests for whose, word in words.items() if word.encode() in request.raw and side_of(request) != whose
    ]
    assert (sorted(words), len(set(words.values())), crossed) == (["bear", "bull"], 2, [])


def test_C19_a_changed_transcript_is_found(debated: Home) -> None:
    assert debated.run("audit", "verify").code == 0
    unguarded(debated, "blob")
    forged = debated.sql("UPDATE blob SET content = CAST(replace(content, '0.66', '0.99') AS BLOB) WHERE sha256 = ? RETURNING 1", transcript_hash(debated))
    assert len(forged) == 1
    verified = debated.run("audit", "verify")
    assert verified.code == 22
    assert "changed" in verified.out + verified.err
    assert debated.run("show", "last", "--transcript").code == 5


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("DELETE FROM audit_log WHERE seq = 2", 20),
        ("DELETE FROM audit_log WHERE kind = 'decision'", 21),
        ("UPDATE audit_log SET payload = replace(payload, 'AAPL', 'MSFT') WHERE kind = 'decision'", 20),
    ],
    ids=["one dropped", "the last dropped", "one changed"],
)
def test_C19_a_trail_that_was_changed_is_found_by_its_chain(debated: Home, statement: str, code: int) -> None:
    unguarded(debated, "audit_log")
    debated.sql(statement)
    assert debated.run("audit", "verify").code == code


def test_C27_neither_the_key_nor_what_stood_before_the_host_is_anywhere(held: Debated, debated: Home) -> None:
    shown = debated.ok("show", "last", "--calls", "--json").out + debated.ok("show", "last", "--calls").out
    files = [path.read_bytes() for path in held.folder.rglob("*") if path.is_file()]
    assert files
    for secret in (KEY, PASSWORD):
        assert secret not in shown
        assert [secret.encode() in content for content in files] == [False] * len(files)
    assert stored_transcript(debated)["setup"]["base_url"].startswith("http://127.0.0.1:")


def test_C27_an_error_names_neither(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch) as provider:
        address = provider.base_url.replace("//", f"//user:{PASSWORD}@")
    monkeypatch.setenv("ALPHAAGENT_LLM_BASE_URL", address)
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", "false")
    ran = home.run("decide", "AAPL", "--as-of", AS_OF, "--plan", "quick")
    assert ran.code == 4
    assert [secret in ran.out + ran.err for secret in (KEY, PASSWORD)] == [False, False]


def test_C28_without_a_model_nothing_says_that_there_was_a_debate(home: Home) -> None:
    document = home.decide("AAPL", AS_OF)
    assert (document["engine"], document["debate"], document["usage"]["calls"]) == ("heuristic", None, 0)
    told = home.ok("show", "last", "--transcript")
    assert "no model took part" in told.err
    assert "round 1" not in told.out


def test_C28_a_crew_that_is_asked_for_and_not_there_decides_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", "false")
    ran = home.run("decide", "AAPL", "--as-of", AS_OF, "--engine", "crew", "--json")
    assert (ran.code, ran.document["proposal"], ran.document["error"]["code"]) == (4, None, "ProviderFault")
    assert home.counts()["decision"] == 0


def test_D5_where_there_is_no_evidence_no_model_is_asked(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    with models(monkeypatch) as provider:
        ran = home.run("decide", "NOSUCH", "--as-of", AS_OF, "--plan", "quick", "--json")
        assert (ran.code, ran.document["proposal"], provider.requests) == (3, None, ())


def behaving(change: Callable[[Request], Behaviour | str | None]) -> Callable[[Request], Behaviour]:
    """Well-behaved models, where a change has nothing to say."""
    well = crew()

    def play(request: Request) -> Behaviour:
        said = change(request)
        if said is None:
            return well(request)
        return Text(said, usage=USAGE) if isinstance(said, str) else said

    return play


def failed(home: Home) -> dict[str, Any]:
    """The transcript of the debate that failed, as the audit trail keeps it; nothing else may have come of it."""
    counts = home.counts()
    assert (counts["decision"], counts["orders"], counts["guard_result"], counts["run_slot"]) == (0, 0, 0, 0)
    ((detail,),) = home.sql("SELECT payload FROM audit_log WHERE kind = 'failure'")
    ((content,),) = home.sql("SELECT content FROM blob WHERE sha256 = ?", json.loads(detail)["detail"]["transcript"])
    kept: dict[str, Any] = json.loads(content)
    assert kept["status"] == "failed"
    assert home.run("audit", "verify").code == 0
    return kept


def refused(home: Home, monkeypatch: pytest.MonkeyPatch, change: Callable[[Request], Behaviour | str | None], plan: str = "standard") -> dict[str, Any]:
    """What is kept of a debate in which models do something else; it decides nothing."""
    with models(monkeypatch, behaving(change), **WITHOUT_FALLBACK):
        ran = home.run("decide", "AAPL", "--as-of", AS_OF, "--plan", plan, "--json", "--events", str(home.folder / "events.jsonl"))
    assert (ran.code, ran.document["proposal"], ran.document["order"]) == (4, None, None)
    return failed(home)


@pytest.mark.parametrize("phase", PHASES)
def test_D6_a_model_that_ignores_its_cap_ends_the_debate_in_every_phase(home: Home, monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    def greedy(request: Request) -> Behaviour | None:
        return Text("{}", usage=(900, 5000)) if phase_of(request) == phase and side_of(request) in ("bear", "cio") else None

    kept = refused(home, monkeypatch, greedy)
    assert (kept["fault"]["kind"], kept["turns"][-1]["phase"]) == ("overrun", phase)
    assert kept["usage"]["completion_tokens"] >= 5000, "what was paid is booked all the same"


def test_D6_a_model_that_ignores_its_cap_in_a_repair_ends_it_too(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def greedy(request: Request) -> Behaviour | None:
        if side_of(request) != "bull" or phase_of(request) != "opening":
            return None
        asked.append("bull")
        return Text("no JSON", usage=USAGE) if len(asked) == 1 else Text("{}", usage=(900, 5000))

    kept = refused(home, monkeypatch, greedy, "quick")
    assert (kept["fault"]["kind"], len(asked)) == ("overrun", 2)


def test_C17_a_turn_without_tokens_for_its_prompt_is_over_before_a_call(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    bounds(home, {"bull": {"tokens": 100}})
    heard: list[str] = []

    def listening(request: Request) -> None:
        heard.append(side_of(request))

    kept = refused(home, monkeypatch, listening, "quick")
    assert (kept["fault"]["kind"], heard) == ("budget", ["bear"])


def test_C17_a_turn_with_one_call_is_over_before_its_second(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    bounds(home, {"bull": {"calls": 1}})
    heard: list[str] = []

    def wrong(request: Request) -> str | None:
        heard.append(side_of(request))
        return "no JSON" if side_of(request) == "bull" else None

    kept = refused(home, monkeypatch, wrong, "quick")
    assert (kept["fault"]["kind"], sorted(heard)) == ("budget", ["bear", "bull"])


def test_D3_a_side_that_fails_in_the_third_phase_leaves_no_decision_and_its_debate_on_record(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(request: Request) -> Behaviour | None:
        return NoUsage("{}") if (phase_of(request), side_of(request)) == ("retort", "bear") else None

    kept = refused(home, monkeypatch, failing)
    assert (kept["fault"]["kind"], kept["debate"]["executed"]) == ("no_usage", [0, 1])
    assert [(turn["phase"], turn["side"]) for turn in kept["turns"] if turn["answer"] is None] == [("retort", "bear")]
    events = [json.loads(line) for line in (home.folder / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (events[0]["event"], events[-1]["event"], events[-1]["code"]) == ("run", "run_failed", "no_usage"), "D19: nothing after it"
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


def test_C1_a_private_word_that_is_let_slip_stops_before_the_other_side_is_shown_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(request: Request) -> str | None:
        if (phase_of(request), side_of(request)) != ("opening", "bull"):
            return None
        momentum = crew_script.shown_id(request, "momentum")
        return crew_script.opening("bull", [crew_script.claim(f"Momentum is strong ({marker_of(request)}).", [momentum])])

    kept = refused(home, monkeypatch, leaking)
    assert kept["fault"] == {"kind": "isolation", "message": "the bear was about to be shown the other side's private input; nothing was sent"}
    assert [(call["phase"], call["side"]) for call in kept["calls"] if call["side"] == "bear"] == [("opening", "bear")]


def test_D7_two_models_of_a_second_are_heard_in_less_than_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    room = _room(contained_crewai)

    def speaks(turn: str, _place: object) -> str:
        time.sleep(1.0)
        return f"{turn} has spoken"

    monkeypatch.setattr(room, "_spoken", speaks)
    began = time.monotonic()
    heard = room.CrewRoom(lambda _: None, lambda: None).together(["bull", "bear"])
    assert time.monotonic() - began < 1.9
    assert heard == ("bull has spoken", "bear has spoken")


@pytest.mark.parametrize(("phase", "plan"), [("opening", "quick"), ("rebuttal", "standard")])
def test_D7_each_side_may_wait_for_the_other_to_have_been_asked(home: Home, monkeypatch: pytest.MonkeyPatch, phase: str, plan: str) -> None:
    both_asked, well = threading.Barrier(2, timeout=60), crew()

    def waiting(request: Request) -> Behaviour:
        if phase_of(request) == phase:
            both_asked.wait()
        return well(request)

    with models(monkeypatch, waiting) as provider:
        assert home.decide("AAPL", AS_OF, "--plan", plan)["provenance"] == "crew"
        assert provider.in_flight_most == 2


def test_D19_the_first_line_is_out_before_the_second_call_and_a_broken_pipe_ends_nothing(home: Home) -> None:
    first_line_read, seen = threading.Event(), []
    well, calls = crew(), threading.Lock()

    def waiting(request: Request) -> Behaviour:
        with calls:
            seen.append(first_line_read.wait(60) if seen else True)
        return well(request)

    with ScriptedProvider(waiting) as provider:
        environment = {**SCRIPTED, "ALPHAAGENT_LLM_BASE_URL": provider.base_url, "PATH": os.environ["PATH"]}
        process = start(home.folder, "decide", "AAPL", "--as-of", AS_OF, "--plan", "quick", "--events", "-", **environment)
        assert process.stdout is not None
        line = json.loads(process.stdout.readline())
        first_line_read.set()
        process.stdout.close()
        assert process.stderr is not None
        complaints = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=120) == 0
    assert (line["event"], line["seq"], line["schema_version"]) == ("run", 1, 1)
    assert seen == [True, True, True]
    assert "the event stream was given up (BrokenPipeError); the debate goes on" in complaints
    assert home.counts()["decision"] == 1


def test_C18_a_run_that_is_killed_in_its_debate_has_decided_nothing_and_its_slot_is_free(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, well = threading.Event(), crew()

    def hanging(request: Request) -> Behaviour:
        asked.set()
        return Hang(300) if not killed.is_set() else well(request)

    killed = threading.Event()
    with models(monkeypatch, hanging) as provider:
        environment = {**SCRIPTED, "ALPHAAGENT_LLM_BASE_URL": provider.base_url}
        process = start(home.folder, "decide", "AAPL", "--as-of", AS_OF, "--plan", "quick", **environment)
        assert asked.wait(120)
        os.kill(process.pid, signal.SIGKILL)
        killed.set()
        finish(process)
        assert (home.counts()["decision"], home.counts()["run_slot"]) == (0, 1)
        document = home.decide("AAPL", AS_OF, "--plan", "quick")
    assert (document["provenance"], document["stored"], home.counts()["decision"]) == ("crew", False, 1)
    assert home.run("audit", "verify").code == 0


def test_C18_two_runs_at_one_slot_hold_one_debate(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Decided] = []
    with models(monkeypatch) as provider:
        ask = Ask(ticker="AAPL", as_of=Workplace.open().moments(AS_OF, ["AAPL"])[0], engine="crew", plan="quick", portfolio="default", slot="manual")
        runs = [threading.Thread(target=lambda: found.append(decide(Workplace.open().desk, ask))) for _ in range(2)]
        for one in runs:
            one.start()
        for one in runs:
            one.join(120)
        assert len(provider.requests) == 3
    assert len({one.record.decision_id for one in found}) == 1
    assert sorted(one.repeated for one in found) == [False, True]
    assert home.counts()["decision"] == 1


def recorded_setup(home: Home, temperature: str | None = None) -> dict[str, Any]:
    """What a debate would record of how it was shaped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHAAGENT_HOME", str(home.folder))
        for name, value in {**SCRIPTED, "ALPHAAGENT_LLM_BASE_URL": "http://127.0.0.1:9/v1"}.items():
            patch.setenv(name, value)
        if temperature:
            patch.setenv("ALPHAAGENT_LLM_TEMPERATURE", temperature)
        staff = Workplace.open().staff
        assert staff is not None
        found: dict[str, Any] = staff.setup("quick", {"bull": "b", "bear": "r"}).model_dump(mode="json")
        return found


def different(one: Mapping[str, Any], other: Mapping[str, Any]) -> set[str]:
    return {key for key in one if one[key] != other[key]}


def test_D23_what_shaped_a_debate_differs_on_record_where_it_differs(home: Home) -> None:
    plain = recorded_setup(home)
    assert different(plain, recorded_setup(home)) == set()
    assert different(plain, recorded_setup(home, temperature="0.7")) == {"phases", "sides"}
    home.own_config("tasks.yaml", lambda text: text.replace("Write the opening of the case for", "Now write the opening of the case for"))
    assert different(plain, recorded_setup(home)) == {"tasks", "prompt_fingerprint"}


def test_D23_other_evidence_is_another_pack_on_record(debated: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    before = stored_transcript(debated)["pack_sha256"]
    with models(monkeypatch):
        debated.decide("AAPL", "2020-02-06", "--plan", "quick")
    shown = debated.ok("show", "last", "--json").document["evidence"]["pack_sha256"]
    assert stored_transcript(debated)["pack_sha256"] == shown != before


def test_D1_a_plan_of_ones_own_is_debated_without_a_line_of_code(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    bounds(home, plans={"deep": [{"kind": "opening"}, {"repeat": 2, "phases": [{"kind": "rebuttal"}, {"kind": "retort"}]}]}, consensus_stop=False)

    def argued(request: Request) -> str | None:
        phase = phase_of(request)
        if phase not in ARGUED or not crew_script.waiting(request):
            return None
        said = json.loads(str(ARGUED[phase](request)))
        rulings = [{"objection_id": name, "verdict": "ACCEPT", "reason": "It does answer it.", "evidence_ids": []} for name in crew_script.waiting(request)]
        return json.dumps(said | {"adjudications": rulings, **({"objections": []} if phase == "rebuttal" else {})})

    with models(monkeypatch, behaving(argued)):
        document = home.decide("AAPL", AS_OF, "--plan", "deep")
    assert (document["provenance"], document["debate"]["plan"], len(document["debate"]["rounds"])) == ("crew", "deep", 5)


def test_D1_the_shipped_configuration_is_where_the_plans_are() -> None:
    text = (CHECKOUT / "config" / "debate.yaml").read_text(encoding="utf-8")
    assert [f"  {name}:" in text for name in ("quick", "standard")] == [True, True]
