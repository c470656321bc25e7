"""What goes wrong with one portfolio, one source, one night or the books costs no other: nothing is used up, held up or left out without a word."""

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.desk import Ask
from alphaagent.domain.record import Usage
from alphaagent.domain.spend import SpendAsk
from alphaagent.errors import AlphaAgentError
from alphaagent.execution.settlement import Acted, Settled
from alphaagent.judgement import matter_of
from alphaagent.ledger import database
from alphaagent.ledger.books import SqlBooks
from alphaagent.ledger.verify import verify
from alphaagent.operations.duties import settled as settlement_outcome
from alphaagent.operations.duties import swept as outcome
from alphaagent.settling import exit_code, settle
from tests.builders import SteppingClock
from tests.sweep_home import MOST, Line, account, alone, audit_rows, holding, portfolio, staffed, states, swept
from tests.synthetic import sessions, write_home

DAY, NEXT, THIRD = sessions()[400], sessions()[401], sessions()[402]
TEN = tuple(f"T{n:03d}" for n in range(10))
FIVE = TEN[:5]
DEAR = dict.fromkeys(TEN, Line(cost=str(MOST)))
NOISE = b"\xff\xfe\x00" * 9


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_home(tmp_path_factory.mktemp("alone"), 10)


@pytest.fixture
def folder(snapshot: Path, tmp_path: Path) -> Path:
    """A home over the synthetic names, with nothing in it yet."""
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    (home / "data" / "snapshot").symlink_to(snapshot / "data" / "snapshot")
    return home


# Money


@pytest.mark.parametrize("ahead", ["the heuristic engine decides", "decided before"])
def test_money_is_kept_for_no_portfolio_that_wants_none(folder: Path, ahead: str) -> None:
    portfolio(folder, "alpha", FIVE)
    portfolio(folder, "zeta", FIVE, **({"engine": "heuristic"} if ahead.startswith("the") else {}))
    if ahead == "decided before":
        swept(staffed(folder, {ticker: Line(cost="0") for ticker in FIVE}, ALPHAAGENT_DAILY_SPEND_USD="3")[0], DAY, "zeta")
    place, diary = staffed(folder, DEAR, ALPHAAGENT_DAILY_SPEND_USD="0.61")
    alpha = swept(place, DAY).portfolios[0]
    assert (diary.begun, alpha.spend.refused) == (list(FIVE), ())


def test_who_went_without_a_debate_is_heard_first_the_next_time(folder: Path) -> None:
    """Money for two of five, three nights: everybody is heard, and nobody twice before all others once."""
    heard: list[str] = []
    portfolio(folder, "default", FIVE)
    for night, day in enumerate((DAY, NEXT, THIRD), start=1):
        place, diary = staffed(folder, DEAR, ALPHAAGENT_DAILY_SPEND_USD=str(night * 2 * MOST))
        assert len(alone(swept(place, day, at_once=3)).spend.refused) == 3
        heard += diary.begun
    assert sorted(heard[:5]) == list(FIVE)
    assert heard == [*FIVE, FIVE[0]]


def test_what_is_held_stays_ahead_of_who_has_waited_longest(folder: Path) -> None:
    portfolio(folder, "default", TEN[:4])
    place, _ = staffed(folder, DEAR, ALPHAAGENT_DAILY_SPEND_USD=str(2 * MOST))
    holding(place, DAY, "default", {"T001": 10}, 50_000)
    swept(place, DAY)
    place, diary = staffed(folder, DEAR, ALPHAAGENT_DAILY_SPEND_USD=str(4 * MOST))
    swept(place, NEXT)
    assert diary.begun == ["T001", "T002"]


def at_midnight(place: Workplace, begun: Sequence[str], after: int) -> None:
    """The clock of the desk, on which a new day begins once so many debates have been held."""
    clock, turn = SteppingClock(), SteppingClock().at.replace(hour=23, minute=59)

    class Turning:
        def now(self) -> object:
            clock.at = turn + timedelta(minutes=2) if len(begun) >= after else turn
            return clock.now()

    vars(place)["clock"] = Turning()


def test_a_pass_over_midnight_shares_out_the_money_of_the_new_day(folder: Path) -> None:
    """Two debates before midnight and the rest after it: alpha's part of the new day is a half, whatever had been spent on the old one."""
    for name in ("alpha", "beta"):
        portfolio(folder, name, TEN)
    place, diary = staffed(folder, DEAR, ALPHAAGENT_DAILY_SPEND_USD=str(8 * MOST))
    at_midnight(place, diary.begun, 2)
    day = place.clock.now().date()
    spent = place.store().reserve_spend(SpendAsk(day, "alpha", "T000", "openai", "toy", 4 * MOST), None)
    place.store().book_spend(spent.token, Usage(), 4 * MOST, None)
    swept(place, DAY, at_once=1)
    found = [(row["detail"]["day"] > day.isoformat(), row["portfolio"]) for row in audit_rows(place, "spend")]
    assert Counter(found) == {(False, "alpha"): 1 + 2, (True, "alpha"): 4, (True, "beta"): 4}


# Portfolios


def test_a_list_that_names_one_instrument_twice_or_another_mandate_costs_its_portfolio_alone(folder: Path) -> None:
    for name in ("alpha", "beta", "gamma"):
        portfolio(folder, name, TEN[:2], mandate="conservative")
    swept(staffed(folder)[0], DAY)
    portfolio(folder, "beta", TEN[:2], mandate="aggressive")
    place, _ = staffed(folder)
    report = swept(place, NEXT)
    assert [set(states(one).values()) for one in report.portfolios] == [{"decided"}, {"failed"}, {"decided"}]
    assert (report.exit_code, report.portfolios[1].rows[0].fault) == (2, "ConfigFault")
    assert audit_rows(place, "sweep")[-2]["detail"]["undone"] == {"T000": "failed ConfigFault", "T001": "failed ConfigFault"}


def test_a_slot_that_another_request_has_decided_is_left_alone_and_is_no_failure_of_the_night(folder: Path) -> None:
    portfolio(folder, "default", TEN[:2])
    swept(staffed(folder)[0], DAY)
    portfolio(folder, "default", TEN[:3], engine="heuristic")
    report = swept(staffed(folder)[0], DAY)
    assert states(alone(report)) == {"T000": "skipped", "T001": "skipped", "T002": "decided"}
    assert (report.exit_code, alone(report).rows[0].fault) == (2, "SlotTaken")
    assert not outcome(report).failed
    portfolio(folder, "default", TEN[:2], engine="heuristic")
    assert not outcome(swept(staffed(folder)[0], DAY)).failed, "another try would find the same"


def test_a_claim_of_a_killed_pass_with_another_configuration_is_taken_over(folder: Path) -> None:
    portfolio(folder, "default", TEN[:2])
    place, _ = staffed(folder)
    store = place.store()
    matter = matter_of(place.desk, Ask("T001", place.moment(DAY), slot="sweep"))
    store.claim(matter.slot_key, matter.request_hash, time.sleep)
    with sqlite3.connect(store.path) as books:
        books.execute("UPDATE run_slot SET pid = ?, process_start = 'gone'", (2**22 + 1,))
    portfolio(folder, "default", TEN[:2], engine="heuristic")
    assert states(alone(swept(staffed(folder)[0], DAY))) == {"T000": "decided", "T001": "decided"}


def test_what_the_deadline_left_is_worth_another_try_the_same_night(folder: Path) -> None:
    portfolio(folder, "default", TEN[:5])
    place, _ = staffed(folder, dict.fromkeys(TEN, Line(seconds=0.4)))
    report = swept(place, DAY, at_once=1, deadline_seconds=1.0)
    assert report.exit_code == 2
    assert outcome(report).failed
    assert "were over before it began" in outcome(report).detail


# The books


def test_books_that_are_busy_while_models_speak_cost_names_and_not_the_pass(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PRAGMAS", (("busy_timeout", "200", 200), *database.PRAGMAS[1:]))
    for name in ("alpha", "beta"):
        portfolio(folder, name, TEN[:3])
    place, diary = staffed(folder, dict.fromkeys(TEN, Line(seconds=0.2)))
    busy = sqlite3.connect(place.store().path, isolation_level=None, check_same_thread=False)

    def keep_busy() -> None:
        while not diary.begun:
            time.sleep(0.005)
        busy.execute("BEGIN IMMEDIATE")
        time.sleep(1.2)
        busy.execute("ROLLBACK")

    other = threading.Thread(target=keep_busy)
    other.start()
    alpha, beta = swept(place, DAY).portfolios
    other.join()
    busy.close()
    assert set(states(alpha).values()) == {"failed"}
    assert "is busy" in (alpha.rows[0].reason or "")
    assert states(beta) in (dict.fromkeys(TEN[:3], "decided"), dict.fromkeys(TEN[:3], "failed"))
    assert place.store().spent_on(place.clock.now().date(), "alpha").reserved >= MOST, "what may have been spent stays counted"
    with sqlite3.connect(place.store().path) as books:
        books.execute("UPDATE run_slot SET claimed_at = 0 WHERE state = 'claimed'")
    assert swept(staffed(folder)[0], DAY).exit_code == 0
    assert verify(place.settings.database_url).exit_code == 0


def test_a_pass_that_cannot_be_written_down_is_told_all_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    portfolio(folder, "alpha", TEN[:1])
    portfolio(folder, "beta", TEN[1:2])
    place, _ = staffed(folder)

    def refuse(*_: object) -> None:
        raise AlphaAgentError("the ledger is busy")

    monkeypatch.setattr("alphaagent.ledger.sweeps.record", refuse)
    report = swept(place, DAY)
    assert [states(one) for one in report.portfolios] == [{"T000": "decided"}, {"T001": "decided"}]
    assert report.exit_code == 1


def test_a_failure_that_cannot_be_audited_costs_nobody_who_was_heard(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    portfolio(folder, "default", TEN[:3])
    place, _ = staffed(folder, {"T001": Line(fault="the line is dead")}, ALLOW_HEURISTIC_FALLBACK="false")

    def refuse(*_: object) -> None:
        raise AlphaAgentError("the ledger is busy")

    monkeypatch.setattr(SqlBooks, "record_failure", refuse)
    one = alone(swept(place, DAY))
    assert states(one) == {"T000": "decided", "T001": "failed", "T002": "decided"}
    assert one.rows[1].reason == "the ledger is busy"


# Settlement


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A home whose files a test may spoil."""
    return write_home(tmp_path / "own", 3, {"T000": f"dividend,{NEXT},1.00"})


def test_a_source_that_fails_while_settling_holds_up_its_own_order_alone(own: Path) -> None:
    portfolio(own, "default", TEN[:3])
    swept(staffed(own, {"T001": Line("BUY", 2000), "T002": Line("BUY", 2000)})[0], DAY)
    bars = own / "data" / "snapshot" / "bars" / "T001.csv"
    whole = bars.read_bytes()
    bars.write_bytes(NOISE)
    place, _ = staffed(own)
    one = alone(swept(place, NEXT))
    assert [done.order.symbol for done in one.settled if isinstance(done, Settled)] == ["T002"]
    assert ([waiting.symbol for waiting in one.unsettled], one.settled_count, one.exit_code) == (["T001"], 1, 3)
    assert audit_rows(place, "sweep")[-1]["detail"]["undone"]["T001"].split()[0] in ("settlement", "failed")
    assert [order.symbol for order in account(place).pending] == ["T001"]
    bars.write_bytes(whole)
    again = alone(swept(staffed(own)[0], THIRD))
    assert [done.order.symbol for done in again.settled if isinstance(done, Settled)] == ["T001"]
    assert verify(place.settings.database_url).exit_code == 0


def test_a_holding_that_cannot_be_read_holds_up_no_dividend_of_another(own: Path) -> None:
    place, _ = staffed(own)
    holding(place, DAY, "default", {"T000": 10, "T001": 10}, 50_000)
    (own / "data" / "snapshot" / "actions" / "T001.csv").write_bytes(NOISE)
    place, _ = staffed(own)
    done = settle(place.desk, place.moment(THIRD))
    assert [one.instrument.symbol for one in done if isinstance(one, Acted)] == ["T000"]
    assert exit_code(done) == 3
    assert account(place).cash == Decimal(50_010)
    told = settlement_outcome(done)
    assert (told.failed, told.exit_code) == (True, 3)
    assert "T001 in default waits: " in told.detail
