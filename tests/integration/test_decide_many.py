"""Several tickers in one run: the order on the command line cannot matter, and one failure costs one ticker."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from alphaagent import cli, pipeline
from alphaagent.desk import Ask
from alphaagent.errors import AlphaAgentError, NoEvidence
from alphaagent.operations.importing import book_import, plan_import
from alphaagent.pipeline import Decided
from alphaagent.views_books import DECISION_COLUMNS
from tests.synthetic import sessions, workplace, write_home

DAY = sessions()[400]
NEXT = sessions()[401]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_home(tmp_path_factory.mktemp("many"), 14)


def home_on(snapshot: Path, folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "snapshot").symlink_to(snapshot / "data" / "snapshot")
    return folder


def book_of(home: Path, order: Sequence[str]) -> list[dict[str, object]]:
    """Decides the tickers in one run in a book that is nearly all shares, and gives everything that the books say of it."""
    place = workplace(home)
    at = place.moment(DAY)
    (home / "held.csv").write_text("ticker,quantity,cost,date,cash\nT013,1000,90000,2019-01-02,\n,,,,6000\n")
    book_import(place.desk, plan_import(place.desk, home / "held.csv", "default", at))
    results = pipeline.decide_many(place.desk, [Ask(ticker, at, "heuristic") for ticker in order])
    assert [result.record.request.ticker for result in results if isinstance(result, Decided)] == list(order)
    rows = place.listed_decisions(100)
    return [{column: row[column] for column in DECISION_COLUMNS} for row in rows]


def test_the_order_of_the_tickers_cannot_matter(snapshot: Path, tmp_path: Path) -> None:
    tickers = [f"T{n:03d}" for n in range(14)]
    first = book_of(home_on(snapshot, tmp_path / "a"), tickers)
    second = book_of(home_on(snapshot, tmp_path / "b"), tickers[::-1])
    third = book_of(home_on(snapshot, tmp_path / "c"), tickers[5:] + tickers[:5])
    assert first == second == third
    orders = [row for row in first if row["order"]]
    assert orders
    assert any(row["outcome"] in ("CLIP", "BLOCK") for row in first), "cash must run short for the test to bite"


def test_a_failure_costs_one_ticker_and_a_ticker_named_twice_is_decided_once(snapshot: Path, tmp_path: Path) -> None:
    place = workplace(home_on(snapshot, tmp_path))
    at = place.moment(DAY)
    heard: list[tuple[str, str]] = []
    asks = [Ask(ticker, at, "heuristic") for ticker in ("T001", "NONE", "T000", "T001")]
    results = pipeline.decide_many(place.desk, asks, lambda ticker, stage: heard.append((ticker, stage)))
    assert [type(result) for result in results] == [Decided, NoEvidence, Decided, Decided]
    once, again = results[0], results[3]
    assert isinstance(once, Decided)
    assert isinstance(again, Decided)
    assert once.record.decision_id == again.record.decision_id
    assert sorted([once.repeated, again.repeated]) == [False, True]
    assert sorted(ticker for ticker, _ in heard) == ["NONE", "T000", "T001", "T001"]


def test_a_failed_ticker_gives_its_slot_back(snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = workplace(home_on(snapshot, tmp_path))
    at = place.moment(DAY)
    real = pipeline.form_opinion

    def failing(desk: object, matter: pipeline.Matter, *rest: object) -> object:
        if matter.request.ticker == "T001":
            raise NoEvidence("gone")
        return real(desk, matter, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "form_opinion", failing)
    results = pipeline.decide_many(place.desk, [Ask(ticker, at, "heuristic") for ticker in ("T000", "T001")])
    assert isinstance(results[1], AlphaAgentError)
    monkeypatch.setattr(pipeline, "form_opinion", real)
    assert not pipeline.decide(place.desk, Ask("T001", at, "heuristic")).repeated


def test_the_command_tells_progress_and_sums_up(snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(home_on(snapshot, tmp_path)))
    assert cli.run(["decide", "T001", "NONE", "T000", "--as-of", DAY, "--json"]) == 3
    out, err = capsys.readouterr()
    assert [json.loads(line)["ticker"] for line in out.splitlines()] == ["T001", "NONE", "T000"]
    assert "3/3" in err
    assert "Summary" in err
    assert cli.run(["decide", "T002", "--as-of", DAY]) == 0
    out, err = capsys.readouterr()
    assert "Summary" not in out + err
    assert "1/1" not in err


def test_decisions_are_found_by_ticker_day_engine_and_outcome(
    snapshot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALPHAAGENT_HOME", str(home_on(snapshot, tmp_path)))
    assert cli.run(["decide", "T001", "T000", "--as-of", DAY]) == 0
    assert cli.run(["decide", "T001", "--as-of", NEXT]) == 0
    capsys.readouterr()

    def listed(*filters: str) -> list[str]:
        assert cli.run(["show", "--list", "--json", *filters]) == 0
        return [json.loads(line)["ticker"] for line in capsys.readouterr().out.splitlines()]

    assert sorted(listed()) == ["T000", "T001", "T001"]
    assert listed("--ticker", "T000") == ["T000"]
    assert listed("--since", NEXT) == ["T001"]
    assert len(listed("--engine", "heuristic", "--portfolio", "default", "--limit", "2")) == 2
    assert listed("--engine", "crew") == []
    assert sorted(listed("--until", DAY)) == ["T000", "T001"]
    assert len(listed("--provenance", "heuristic")) == 3
    assert sum(len(listed("--action", action)) for action in ("BUY", "SELL", "HOLD")) == 3
    assert listed("--class", "theater") == []
    assert len(listed("--outcome", "approve")) + len(listed("--outcome", "clip")) + len(listed("--outcome", "block")) == 3
    assert cli.run(["show", "--list", "--since", "yesterday"]) == 2
    assert cli.run(["show"]) == 2
    capsys.readouterr()
    assert cli.run(["show", "last", "--json"]) == 0
    previous = json.loads(capsys.readouterr().out)["previous"]
    assert previous["as_of"].startswith(DAY)
    assert {part["factor"] for part in previous["contributions"]} >= {"momentum", "trend"}
