"""What the next pass would do: the names, by whom, when and for how much; and nothing is written for it."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.operations import preview
from alphaagent.operations.preview import NextRound, next_run
from tests.sweep_home import holding, portfolio, staffed, swept
from tests.synthetic import sessions, workplace, write_home

DAY = sessions()[-1]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    portfolio(tmp_path, "default", ["T000", "T001"])
    return write_home(tmp_path, 3)


def alone(place: Workplace) -> NextRound:
    (one,) = next_run(place).rounds
    return one


def test_without_a_model_the_heuristic_engine_decides_and_nothing_is_to_pay(home: Path) -> None:
    run = next_run(workplace(home))
    (one,) = run.rounds
    assert [(name.ticker, name.reduce_only, name.debated) for name in one.names] == [("T000", False, False), ("T001", False, False)]
    assert (run.model, one.plan, one.cost.debates, one.cost.most) == (None, None, 0, 0)
    assert (run.due, run.fault) == ((), None)
    assert one.as_of is not None
    assert one.as_of.date().isoformat() == DAY
    assert not (home / "data" / "alphaagent.db").exists()


def test_what_is_held_besides_the_list_may_only_be_sold(home: Path) -> None:
    place = workplace(home)
    holding(place, sessions()[-3], "default", {"T002": 10}, 1000)
    assert [(name.ticker, name.reduce_only) for name in alone(place).names] == [("T000", False), ("T001", False), ("T002", True)]


def test_a_debate_has_its_bound_and_what_is_usual(home: Path) -> None:
    place, diary = staffed(home)
    run = next_run(place)
    (one,) = run.rounds
    assert (run.model, one.plan, one.cost.debates) == ("toy at openai", "quick", 2)
    assert place.staff is not None
    most = place.staff.most_cost("quick")
    assert most is not None
    assert one.cost.most == 2 * most
    assert one.cost.usual is not None
    assert 0 < one.cost.usual < one.cost.most
    assert diary.begun == []


def test_of_too_many_names_only_the_bound_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preview, "MOST_ESTIMATED", 1)
    place, _ = staffed(home)
    assert alone(place).cost.usual is None
    assert alone(place).cost.most is not None


def test_what_is_decided_already_is_not_paid_for_again(home: Path) -> None:
    place, _ = staffed(home)
    swept(place, DAY)
    one = alone(place)
    assert all(name.decided for name in one.names)
    assert one.cost.debates == 0


def test_a_portfolio_has_its_engine_and_its_budget(home: Path) -> None:
    portfolio(home, "default", ["T000"], engine="heuristic", daily_spend_usd=2)
    place, _ = staffed(home)
    one = alone(place)
    assert (one.engine, one.plan, one.budget, one.cost.debates) == ("heuristic", None, Decimal(2), 0)


def test_a_name_that_nobody_knows_is_no_reason_to_tell_nothing(home: Path) -> None:
    portfolio(home, "default", ["NOBODY"])
    portfolio(home, "other", ["T000"])
    first, second = next_run(workplace(home)).rounds
    assert first.fault is not None
    assert "NOBODY" in first.fault
    assert [name.ticker for name in second.names] == ["T000"]


def test_a_file_that_cannot_be_read_is_told_with_its_fix(home: Path) -> None:
    (home / "config" / "portfolios" / "default.yaml").write_text("watchlist: [T000]\nplam: quick\n", encoding="utf-8")
    run = next_run(workplace(home))
    assert run.rounds == ()
    assert "plam" in (run.fault or "")
    assert run.fix


def test_with_live_data_the_schedule_says_when(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Morning:
        def now(self) -> datetime:
            return datetime(2020, 3, 16, 12, 0, tzinfo=UTC)

    monkeypatch.setattr("alphaagent.bootstrap.WallClock", Morning)
    place = Workplace(workplace(home, ALPHAAGENT_DATA="live").settings, only_looks=True)
    run = next_run(place)
    assert run.due == (("XNYS", datetime(2020, 3, 16, 20, 30, tzinfo=UTC)),)
    assert all(one.as_of is None for one in run.rounds)
    assert not (home / "data" / "live").exists()
