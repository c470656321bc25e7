"""The page of running debates: what runs, what ran, what fell silent, and that a file of events is never more than text."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.settings import load_settings
from tests.dashboard_home import AWAY, HOSTILE, HOSTILE_DAY

RUN = "dec_00000000000000aa"
START: dict[str, Any] = {
    "event": "run",
    "ticker": "AAPL",
    "as_of": "2020-02-05T21:00:01Z",
    "plan": "standard",
    "phases": ["opening", "rebuttal", "retort", "conclusion"],
    "sides": {"bull": ["one-model"], "bear": ["another-model"], "cio": ["one-model"]},
}
OPENING = {"stance": "BULLISH", "p_up": 0.66, "claims": [{"text": HOSTILE, "kind": "fact", "severity": "high", "direction": "up", "evidence_ids": ["ev_1"]}]}
SAID = {"event": "turn_completed", "phase": "opening", "round": 1, "side": "bull", "p_up": 0.66, "answer": OPENING}
CALL = {"event": "call_completed", "prompt_tokens": 900, "completion_tokens": 120, "cost_usd": "0.0031"}
Write = Callable[..., None]


@pytest.fixture
def home(own_home: Path) -> Path:
    """A copy of the home in which nothing has run."""
    for path in (own_home / "data" / "runs").iterdir():
        path.unlink()
    return own_home


@pytest.fixture
def write(home: Path) -> Write:
    """Writes a run's file as far as it has come, the last line so many seconds ago."""

    def write(*events: Any, run_id: str = RUN, quiet: int = 0, raw: bytes = b"") -> None:
        path = home / "data" / "runs" / f"{run_id}.jsonl"
        path.write_bytes(b"".join(json.dumps(event).encode() + b"\n" for event in events) + raw)
        then = time.time() - quiet
        os.utime(path, (then, then))

    return write


def told(app: Any) -> str:
    kinds = ("title", "subheader", "markdown", "text", "caption", "info", "warning", "error")
    return "\n".join(str(one.value) for kind in kinds for one in getattr(app, kind)).replace("\\", "")


def listed(app: Any) -> list[dict[str, str]]:
    return list(app.dataframe[0].value.to_dict("records"))


def test_where_nothing_has_run_the_page_says_how_to_begin(page: Any, home: Path) -> None:
    app = page("running", home)
    assert not app.exception
    assert "alphaagent decide AAPL" in app.info[0].value


def test_every_debate_that_ended_in_a_decision_is_found_without_a_flag(page: Any, recorded: Path) -> None:
    rows = listed(page("running", recorded))
    assert sorted((row["ticker"], row["state"]) for row in rows) == [
        ("AAPL", "done"),
        ("AAPL", "done"),
        ("GOOG", "failed"),
        *[("MSFT", "done")] * 3,
        ("NVDA", "done"),
    ]


def test_a_run_of_more_than_a_day_ago_is_not_listed(page: Any, home: Path, write: Write) -> None:
    write(START, quiet=25 * 3600)
    assert page("running", home).info


def test_a_debate_is_followed_while_it_is_held(page: Any, home: Path, write: Write) -> None:
    hit = {"event": "objection_raised", "round": 2, "side": "bear", "objection": "o_bear_1", "claim": "c_bull_1"}
    gap = {"event": "gap", "round": 1, "bull": 0.66, "bear": 0.45}
    done = {"event": "phase_completed", "phase": "opening"}
    write(START, {"event": "phase_started", "phase": "opening"}, CALL, CALL, SAID, gap, done, {"event": "phase_started", "phase": "rebuttal"}, hit)
    app = page("running", home, run=RUN)
    said = told(app)
    assert "AAPL: running" in said
    assert ":material/check: openings → :material/pending: rebuttals → :material/radio_button_unchecked: answers to them" in said
    assert "**2** calls so far, 1,800 tokens read and 240 written, USD 0.0062" in said
    assert "round 1: bull 0.66, short seller 0.45." in said
    assert "round 2: the short seller attacks c_bull_1 (o_bear_1)" in said
    assert "Models: one-model, another-model" in said


def test_a_run_that_says_nothing_for_minutes_is_silent(page: Any, home: Path, write: Write) -> None:
    write(START, quiet=11 * 60)
    app = page("running", home, run=RUN)
    assert listed(app)[0]["state"] == "silent for 11 minutes"
    assert "its process may have ended" in told(app)


def test_a_finished_run_says_what_the_guard_said_and_leads_to_its_decision(page: Any, recorded: Path) -> None:
    app = page("running", recorded, run=decided(recorded, "AAPL", HOSTILE_DAY))
    said = told(app)
    assert "**Guard:** CLIP CLIP_ORDER" in said
    assert "Open the decision" in said
    assert "conceded o_bull_1" in said


def test_a_failed_debate_says_why_and_leads_to_what_was_decided_instead(page: Any, recorded: Path) -> None:
    said = told(page("running", recorded, run=decided(recorded, "GOOG", AWAY)))
    assert "503" in said
    assert "Open the decision" in said


def decided(home: Path, ticker: str, day: str) -> str:
    rows = Workplace(load_settings({}, home)).listed_decisions(100, ticker=ticker, portfolio="default")
    return str(next(row["decision_id"] for row in rows if row["as_of"].startswith(day)))


def test_a_file_that_ends_in_half_a_line_and_holds_rubbish_is_told_as_far_as_it_goes(page: Any, home: Path, write: Write) -> None:
    rubbish = b'not json\n[1,2]\n{"event": {}}\n' + b"[" * 50_000 + b"\n\xff\xfe\n"
    write(START, raw=rubbish + json.dumps(SAID).encode() + b'\n{"event":"turn_comp')
    app = page("running", home, run=RUN)
    assert not app.exception
    assert "5 lines of the file are no events and were left out" in told(app)
    assert HOSTILE.replace("\\", "") in told(app)


def test_hostile_events_are_text_and_nothing_else(page: Any, home: Path, write: Write) -> None:
    hostile = dict.fromkeys(("ticker", "plan", "as_of", "phase", "side", "p_up", "message", "outcome", "code", "name", "subject"), HOSTILE)
    write(
        {"event": "run", "phases": [HOSTILE], "sides": {"x": [HOSTILE]}, **hostile},
        {**hostile, **SAID, "side": HOSTILE, "phase": HOSTILE},
        {"event": "flag", **hostile},
        {"event": "guard", **hostile},
        {"event": "run_failed", **hostile},
    )
    app = page("running", home, run=RUN)
    assert not app.exception
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error")
    read = "\n".join(str(one.value) for kind in kinds for one in getattr(app, kind))
    for piece in ("<script", "<img", "https://evil.example", "[click]", ":red[", "**bold**"):
        assert piece not in read


def test_a_huge_file_is_read_to_its_bound(page: Any, home: Path, write: Write) -> None:
    write(START, raw=b'{"event":"flag"}\n' * 300_000)
    app = page("running", home, run=RUN)
    assert not app.exception
    assert "it is longer than what is read here" in told(app)


@pytest.mark.parametrize("wanted", ["dec_ffffffffffffffff", "../../config/alphaagent", "<img src=x>", "x" * 3000])
def test_a_run_that_there_is_not_is_told_in_words(page: Any, recorded: Path, wanted: str) -> None:
    app = page("running", recorded, run=wanted)
    assert not app.exception
    assert "There is no run" in app.warning[0].value


def test_a_run_is_chosen_from_the_list(page: Any, recorded: Path) -> None:
    app = page("running", recorded)
    wanted = decided(recorded, "AAPL", HOSTILE_DAY)
    app.selectbox[0].set_value(wanted).run()
    assert app.query_params["run"] == wanted
    assert "AAPL: done" in told(app)


def test_a_run_is_seen_in_a_browser_and_leads_to_its_decision(recorded: Path, site: str, visit: Any) -> None:
    run_id = decided(recorded, "NVDA", HOSTILE_DAY)
    seen = visit(site)
    seen.go(f"running?run={run_id}", "Running")
    seen.page.get_by_role("heading", name="NVDA: done").wait_for(timeout=60_000)
    seen.settled()
    found = seen.page.evaluate("[...document.querySelectorAll('img, script, a')].map(one => one.outerHTML).filter(html => /evil|owned|onerror/.test(html))")
    assert found == []
    assert seen.page.title() == "AlphaAgent"
    assert seen.faults == []
    seen.picture("running-light")
    seen.page.get_by_role("link", name="Open the decision").click()
    seen.page.get_by_role("heading", name="NVDA: BUY for USD 2,000.00").wait_for(timeout=60_000)
    assert f"id={run_id}" in seen.page.url
