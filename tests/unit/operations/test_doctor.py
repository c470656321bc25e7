"""The doctor: looks, changes nothing, and says what to do."""

from datetime import timedelta
from pathlib import Path

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.operations import doctor
from alphaagent.operations.doctor import CHECKS, FRESH_DAYS, Finding, examine
from tests.fakes import FakeClock


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own: shipped configuration and snapshot, no books yet."""
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ALPHAAGENT_HOME", str(tmp_path))
    return tmp_path


def by_check() -> dict[str, Finding]:
    return {finding.check: finding for finding in examine()}


def test_a_fresh_installation_has_no_fault_and_stays_untouched(home: Path) -> None:
    found = by_check()

    assert list(found) == list(CHECKS)
    assert {name for name, finding in found.items() if finding.state == "fault"} == set()
    assert (found["books"].state, found["books"].fix) == ("note", "the first `alphaagent decide TICKER` makes them")
    assert (found["kill switch"].detail, found["model provider"].state) == ("ACTIVE", "ok")
    assert [path.name for path in home.rglob("*")] == ["data"]


def test_settings_that_cannot_be_read_are_the_only_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", "maybe")
    (finding,) = examine()

    assert (finding.check, finding.state, finding.exit_code, finding.fix) == ("settings", "fault", 2, "set ALLOW_HEURISTIC_FALLBACK to true or false")


def test_a_broken_mandate_is_one_fault_among_the_other_checks(home: Path) -> None:
    (home / "config").mkdir()
    (home / "config" / "mandate.yaml").write_text("default: {risk_profil: low}")
    found = by_check()

    assert (found["mandates"].state, found["mandates"].exit_code) == ("fault", 2)
    assert found["recorded data"].state == "ok"


@pytest.mark.parametrize(("how", "source"), [("file", "file"), ("variable", "environment")])
def test_a_halt_is_noted_with_its_source(home: Path, monkeypatch: pytest.MonkeyPatch, how: str, source: str) -> None:
    if how == "file":
        (home / "data" / "HALT").touch()
    else:
        monkeypatch.setenv("ALPHAAGENT_HALT", "true")

    switch = by_check()["kill switch"]
    assert (switch.state, switch.detail, switch.fix) == ("note", f"HALTED by {source}", "lift it where it was set")


def test_missing_provider_without_fallback_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", "false")

    assert "`decide` ends with exit 4" in by_check()["model provider"].detail


def test_a_named_provider_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_LLM_PROVIDER", "openai")
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    found = by_check()["model provider"]
    assert (found.state, found.detail.endswith("a decision; nobody was asked")) == ("ok", True)


def test_a_named_provider_without_its_key_is_a_fault_that_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_LLM_PROVIDER", "openai")

    found = by_check()["model provider"]
    assert (found.state, found.fix) == ("fault", "set OPENAI_API_KEY or ALPHAAGENT_LLM_API_KEY, or use --engine heuristic")


def test_a_model_without_a_price_is_noted_under_a_ceiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAAGENT_LLM_PROVIDER", "openai")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("ALPHAAGENT_LLM_MODEL", "nobody-knows-it")

    found = by_check()["model provider"]
    assert found.state == "fault"
    assert "openai/nobody-knows-it" in (found.fix or "")


@pytest.mark.parametrize(("days", "state"), [(FRESH_DAYS, "ok"), (FRESH_DAYS + 1, "note")])
def test_data_is_old_after_some_days(days: int, state: str) -> None:
    workplace = Workplace.open()
    market, last = workplace.desk.market, workplace.calendar.last
    newest = max(market.last_session(one) for ticker in market.tickers() for one in market.resolve(ticker, last))  # type: ignore[type-var]
    workplace.__dict__["clock"] = FakeClock(workplace.calendar.closes(newest) + timedelta(days=days))  # type: ignore[arg-type]

    assert doctor._age(workplace).state == state


def test_who_is_told_and_what_runs_by_itself_are_looked_at(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert by_check()["notifications"].detail == "none: notify.yaml has no target"
    assert by_check()["schedule"].detail.startswith("for XNYS, from ")
    (home / "config").mkdir()
    (home / "config" / "notify.yaml").write_text("targets: {phone: {url_variable: ALPHAAGENT_NOTIFY_PHONE}}")
    (home / "config" / "schedule.yaml").write_text("tries: 0")
    found = by_check()
    assert (found["notifications"].state, found["notifications"].exit_code) == ("note", 0)
    assert "ALPHAAGENT_NOTIFY_PHONE is not set here" in found["notifications"].detail
    assert (found["schedule"].state, found["schedule"].exit_code) == ("fault", 2)
    monkeypatch.setenv("ALPHAAGENT_NOTIFY_PHONE", "json://desk:hunter2@127.0.0.1/")
    assert by_check()["notifications"].detail == "to phone; `alphaagent notify test` tries them"
