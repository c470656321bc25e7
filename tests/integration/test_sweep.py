"""One pass over the watchlists: every name told, a session decided once, cash and money for models shared out in a stated order."""

import random
import signal
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent import pipeline
from alphaagent.bootstrap import Workplace
from alphaagent.desk import Ask
from alphaagent.domain.portfolio import OrderStatus
from alphaagent.judgement import matter_of
from alphaagent.ledger.verify import verify
from alphaagent.ports import Claim
from alphaagent.replay import replay
from tests.crew_home import AS_OF, models
from tests.home import Home, finish, start
from tests.sweep_home import Line, account, alone, audit_rows, holding, portfolio, staffed, states, swept
from tests.synthetic import sessions, workplace, write_home

DAY, NEXT, THIRD = sessions()[400], sessions()[401], sessions()[402]
TEN = tuple(f"T{n:03d}" for n in range(10))
TWELVE = tuple(f"T{n:03d}" for n in range(12))
THIRTY = tuple(f"T{n:03d}" for n in range(30))


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_home(tmp_path_factory.mktemp("sweep"), 31)


@pytest.fixture
def folder(snapshot: Path, tmp_path: Path) -> Path:
    """A home over the synthetic names, with nothing in it yet."""
    return home_on(snapshot, tmp_path / "home")


def home_on(snapshot: Path, home: Path) -> Path:
    (home / "data").mkdir(parents=True)
    (home / "data" / "snapshot").symlink_to(snapshot / "data" / "snapshot")
    return home


def decisions(place: Workplace) -> list[tuple[str, str]]:
    rows = place.listed_decisions(1000)
    return sorted((row["portfolio"], row["ticker"]) for row in rows)


# Every name is told, and a session is decided once


def test_a_fresh_clone_sweeps_the_shipped_watchlist(home: Home) -> None:
    ran = home.ok("sweep", "--json")
    *rows, last = ran.documents
    assert [row["ticker"] for row in rows] == ["AAPL", "AMZN", "GOOG", "META", "NFLX", "NVDA"]
    assert {(row["portfolio"], row["state"], row["provenance"]) for row in rows} == {("default", "decided", "heuristic")}
    (told,) = last["summary"]["portfolios"]
    assert (told["portfolio"], told["as_of"], last["summary"]["exit_code"]) == ("default", "2023-09-21T20:00:01Z", 0)
    assert told["counts"] == {"decided": 6, "repeated": 0, "skipped": 0, "failed": 0}
    assert told["audit"]
    assert "default 6/6" in ran.err


def test_a_repeated_pass_returns_the_stored_decisions_and_places_nothing(home: Home) -> None:
    first = home.ok("sweep", "--as-of", "2020-08-03", "--json").documents
    before = home.counts()
    again = home.ok("sweep", "--as-of", "2020-08-03", "--json").documents
    assert [row["decision_id"] for row in again[:-1]] == [row["decision_id"] for row in first[:-1]]
    assert {(row["state"], row["stored"]) for row in again[:-1]} == {("repeated", True)}
    assert again[-1]["summary"]["portfolios"][0]["audit"] is None
    assert "nothing was decided again" in home.ok("sweep", "--as-of", "2020-08-03").out
    assert home.counts() == before


def test_every_name_has_its_line_whatever_became_of_it(folder: Path) -> None:
    portfolio(folder, "growth", ["T001", "NONE", "T000"])
    place = workplace(folder)
    one = alone(swept(place, DAY))
    assert states(one) == {"T001": "decided", "NONE": "failed", "T000": "decided"}
    failed = one.rows[1]
    assert (failed.exit_code, failed.fault, failed.reason) == (3, "NoEvidence", "NONE is unknown here")
    assert one.exit_code == 3
    (row,) = audit_rows(place, "sweep")
    assert (row["portfolio"], row["detail"]["decided"], row["detail"]["undone"]) == ("growth", ["T001", "T000"], {"NONE": "failed NoEvidence"})
    assert verify(place.settings.database_url).exit_code == 0


def test_what_goes_wrong_in_the_same_way_again_is_one_event(folder: Path) -> None:
    portfolio(folder, "growth", ["T001", "NONE"])
    for _ in range(3):
        swept(workplace(folder), DAY)
    place = workplace(folder)
    assert len(audit_rows(place, "sweep")) == 1
    portfolio(folder, "growth", ["T001", "NONE", "NADA"])
    swept(workplace(folder), DAY)
    assert [sorted(row["detail"]["undone"]) for row in audit_rows(place, "sweep")] == [["NONE"], ["NADA", "NONE"]]


def test_a_pass_is_its_portfolios_in_order_of_name_and_one_can_be_named(folder: Path) -> None:
    portfolio(folder, "zeta", ["T001"])
    portfolio(folder, "alpha", ["T002"], cash=5000, mandate="conservative")
    report = swept(workplace(folder), DAY)
    assert [(one.portfolio, states(one)) for one in report.portfolios] == [("alpha", {"T002": "decided"}), ("zeta", {"T001": "decided"})]
    place = workplace(folder)
    made = account(place, "alpha")
    assert (made.cash, made.portfolio.mandate) == (5000, "conservative")
    assert account(place, "zeta").cash == 100_000
    assert [one.portfolio for one in swept(place, NEXT, "zeta").portfolios] == ["zeta"]


def test_a_failing_provider_costs_its_name_and_the_next_pass_takes_it_up(folder: Path) -> None:
    portfolio(folder, "default", TEN[:3])
    place, _ = staffed(folder, {"T001": Line(fault="the line is dead")}, ALLOW_HEURISTIC_FALLBACK="false")
    one = alone(swept(place, DAY))
    assert states(one) == {"T000": "decided", "T001": "failed", "T002": "decided"}
    assert (one.exit_code, one.rows[1].fault) == (4, "ProviderFault")
    place, diary = staffed(folder, ALLOW_HEURISTIC_FALLBACK="false")
    assert states(alone(swept(place, DAY))) == {"T000": "repeated", "T001": "decided", "T002": "repeated"}
    assert diary.begun == ["T001"]


def test_with_fallback_a_failing_provider_is_a_decision_that_says_so(folder: Path) -> None:
    portfolio(folder, "default", TEN[:2])
    place, _ = staffed(folder, {"T001": Line(fault="the line is dead")})
    one = alone(swept(place, DAY))
    assert (states(one)["T001"], one.exit_code) == ("decided", 0)
    assert one.rows[1].reason == "unreachable: the line is dead"


def test_a_halted_system_is_told_for_every_name_and_leaves_no_event(home: Home) -> None:
    home.ok("sweep", "--as-of", "2020-08-03")
    home.ok("halt", "strange prices")
    before = home.counts()
    ran = home.run("sweep", "--as-of", "2020-08-04", "--json")
    assert ran.code == 5
    assert [row["error"]["code"] for row in ran.documents[:-1]] == ["Halted"] * 6
    assert "strange prices" in ran.documents[0]["reason"]
    assert home.counts() == before


# What is due, and what is held


def test_what_is_due_is_settled_first(folder: Path) -> None:
    portfolio(folder, "default", TEN[:2])
    place, _ = staffed(folder, {"T000": Line("BUY", 2000)})
    assert alone(swept(place, DAY)).settled == ()
    one = alone(swept(place, NEXT))
    assert [done.order.status for done in one.settled] == [OrderStatus.FILLED]  # type: ignore[union-attr]
    assert [position.symbol for position in account(place).positions] == ["T000"]


def test_what_is_due_is_settled_although_every_name_was_decided(folder: Path) -> None:
    portfolio(folder, "default", TEN[:1])
    place, _ = staffed(folder, {"T000": Line("BUY", 2000)})
    swept(place, DAY)
    again = alone(swept(place, f"{NEXT}T19:00:00Z"))
    assert (states(again), len(again.settled)) == ({"T000": "repeated"}, 1)
    assert again.audit is not None


def test_a_holding_that_is_on_no_list_is_decided_and_the_guard_lets_it_shrink_only(folder: Path) -> None:
    portfolio(folder, "default", TEN[:1])
    place, _ = staffed(folder, {"T005": Line("BUY", 1000), "T006": Line("SELL", 1000)})
    holding(place, DAY, "default", {"T005": 10, "T006": 40}, 50_000)
    one = alone(swept(place, DAY))
    buy, sell = one.rows[1:]
    assert [(row.ticker, row.reduce_only) for row in one.rows] == [("T000", False), ("T005", True), ("T006", True)]
    assert buy.record is not None
    assert (buy.record.ruling.outcome, buy.record.ruling.code, buy.record.snapshot.budget) == ("BLOCK", "NOT_IN_UNIVERSE", 0)
    assert sell.stored is not None
    assert sell.stored.order is not None
    assert sell.stored.order.side == "SELL"


def test_the_same_purchase_of_a_name_on_the_list_is_made(folder: Path) -> None:
    portfolio(folder, "default", ["T000", "T005"])
    place, _ = staffed(folder, {"T005": Line("BUY", 1000)})
    holding(place, DAY, "default", {"T005": 10}, 50_000)
    one = alone(swept(place, DAY))
    assert [(row.ticker, row.reduce_only) for row in one.rows] == [("T000", False), ("T005", False)]
    assert [order.symbol for order in account(place).pending] == ["T005"]


def test_a_pass_over_an_older_session_asks_for_what_was_held_then(folder: Path) -> None:
    """A book does not go back: what is stored is told, and what came since is not asked for."""
    portfolio(folder, "default", ["T000"])
    place, _ = staffed(folder, {"T000": Line("BUY", 2000)})
    swept(place, DAY)
    swept(place, NEXT)
    portfolio(folder, "default", ["T001"])
    one = alone(swept(staffed(folder)[0], DAY))
    assert (states(one), one.exit_code) == ({"T001": "failed"}, 2)
    assert "lies before the book time" in (one.rows[0].reason or "")


# Exchanges


@pytest.mark.parametrize(
    ("day", "as_of", "london", "new_york"),
    [
        ("2020-06-10", "2020-06-10T20:00:01Z", "2020-06-10", "2020-06-10"),
        ("2020-05-08", "2020-05-08T20:00:01Z", "2020-05-07", "2020-05-08"),
        ("2020-07-03", "2020-07-03T15:30:01Z", "2020-07-03", "2020-07-02"),
    ],
    ids=["both are open", "London has a holiday", "New York has a holiday"],
)
def test_the_session_of_a_name_is_its_own_exchanges(home: Home, day: str, as_of: str, london: str, new_york: str) -> None:
    portfolio(home.folder, "both", ["AZN.L", "AAPL"])
    one = alone(swept(Workplace.open(), day))
    assert one.as_of is not None
    assert one.as_of.isoformat().replace("+00:00", "Z") == as_of
    assert [row.record.request.session for row in one.rows if row.record] == [london, new_york]


def test_a_day_on_which_nobody_trades_is_refused_before_anything_is_done(home: Home) -> None:
    portfolio(home.folder, "both", ["AZN.L", "AAPL"])
    ran = home.run("sweep", "--as-of", "2020-06-13")
    assert (ran.code, home.counts()) == (2, {})
    assert "2020-06-12" in ran.err


# Cash and the models' money


def one_sector_is_enough(folder: Path) -> None:
    """All synthetic names are of one sector; here it is cash that runs short."""
    (folder / "config" / "mandate.yaml").write_text("default: {rules: {H7: {max_sector_fraction: 1}}}\n", encoding="utf-8")


def thirty_buys(folder: Path, seed: int, **variables: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Thirty purchases with cash for four and money for half of the debates, each as slow as it likes: what the books say, and who was debated."""
    chance = random.Random(seed)
    says = {name: Line("BUY", 1000, cost="0.10", seconds=chance.uniform(0, 0.05)) for name in THIRTY}
    portfolio(folder, "default", THIRTY)
    one_sector_is_enough(folder)
    place, diary = staffed(folder, says, ALPHAAGENT_DAILY_SPEND_USD="1.55", **variables)
    holding(place, DAY, "default", {"T030": 1000}, 6_000)
    swept(place, DAY, at_once=6)
    rows = place.listed_decisions(100)
    kept = ("ticker", "provenance", "action", "amount", "outcome", "code", "order", "decision_id")
    return [{column: row[column] for column in kept} for row in rows], sorted(diary.begun)


def test_the_same_book_comes_out_whichever_debate_is_fast(snapshot: Path, tmp_path: Path) -> None:
    first, debated = thirty_buys(home_on(snapshot, tmp_path / "a"), 1)
    second, again = thirty_buys(home_on(snapshot, tmp_path / "b"), 2)
    assert first == second
    assert debated == again
    assert len(first) == 31
    orders = [row for row in first if row["order"]]
    assert 3 <= len(orders) <= 5, "there is cash for about four"
    assert 10 <= len(debated) <= 16, "the money is gone about half-way"


def test_the_first_portfolio_leaves_the_others_their_part(folder: Path) -> None:
    for name in ("alpha", "beta"):
        portfolio(folder, name, TEN)
    place, diary = staffed(folder, dict.fromkeys(TEN, Line(cost="0.10")), ALPHAAGENT_DAILY_SPEND_USD="1.20")
    alpha, beta = swept(place, DAY).portfolios
    assert [len(TEN) - len(one.spend.refused) for one in (alpha, beta)] == [5, 6]
    assert alpha.spend.refused == TEN[5:]
    assert "the part of alpha in this pass, up to a total of 0.6 USD" in (alpha.rows[5].reason or "")
    assert diary.begun == [*TEN[:5], *TEN[:6]]


def test_what_later_passes_of_the_day_will_want_is_left_to_them(folder: Path) -> None:
    portfolio(folder, "default", TEN)
    place, diary = staffed(folder, dict.fromkeys(TEN, Line(cost="0.10")), ALPHAAGENT_DAILY_SPEND_USD="1.20")
    swept(place, DAY, debates_after=10)
    assert len(diary.begun) == 5


def test_one_debate_is_held_although_its_part_is_less_than_it_may_cost(folder: Path) -> None:
    for name in ("alpha", "beta"):
        portfolio(folder, name, TEN)
    place, diary = staffed(folder, ALPHAAGENT_DAILY_SPEND_USD="0.20")
    swept(place, DAY)
    assert diary.begun == ["T000", "T000", "T001"], "what alpha left over falls to beta"


def test_what_is_held_is_heard_first_and_then_the_list_from_the_top(folder: Path) -> None:
    portfolio(folder, "default", ["T009", "T001", "T004", "T000"])
    place, diary = staffed(folder, dict.fromkeys(TEN, Line(cost="0.12")), ALPHAAGENT_DAILY_SPEND_USD="0.49")
    holding(place, DAY, "default", {"T004": 10, "T007": 10}, 50_000)
    one = alone(swept(place, DAY))
    assert diary.begun == ["T004", "T007", "T009", "T001"]
    assert one.spend.refused == ("T000",)


def test_a_budget_of_its_own_holds_for_a_portfolio_whoever_asks(folder: Path) -> None:
    portfolio(folder, "alpha", TEN, daily_spend_usd=0.25)
    portfolio(folder, "beta", TEN[:2])
    place, diary = staffed(folder, dict.fromkeys(TEN, Line(cost="0.10")), ALPHAAGENT_DAILY_SPEND_USD="off")
    alpha, beta = swept(place, DAY).portfolios
    assert (diary.begun, beta.spend.refused) == (["T000", "T001", "T000", "T001"], ())
    assert (alpha.rows[2].reason or "").startswith("spend: the budget of alpha of 0.25 USD")
    assert (alpha.spend.spent, alpha.spend.budget, alpha.spend.ceiling) == (Decimal("0.20"), Decimal("0.25"), None)
    decided = pipeline.decide(place.desk, Ask("T011", place.moment(DAY), portfolio="alpha"))
    assert (decided.record.fallback_reason or "").startswith("spend: the budget of alpha of 0.25 USD")


def test_at_the_ceiling_the_substitute_sells_and_does_not_buy(folder: Path) -> None:
    portfolio(folder, "default", [*TEN, "T030"])
    place, diary = staffed(folder, ALPHAAGENT_DAILY_SPEND_USD="0")
    holding(place, DAY, "default", {"T030": 1000}, 50_000)
    one = alone(swept(place, DAY))
    held_back = [row for row in one.rows if row.record and row.record.result.hold_kind == "held_back"]
    assert [row.ticker for row in held_back] == ["T002", "T005", "T008", "T009"], "the heuristic engine would buy these"
    assert {row.record.provenance for row in one.rows if row.record} == {"fallback"}
    assert all("for reducing risk only; its purchase is not made" in (row.reason or "") for row in held_back)
    assert [(order.symbol, order.side) for order in account(place).pending] == [("T030", "SELL")]
    assert diary.begun == []
    for row in one.rows:
        assert row.stored is not None
        assert [check.part for check in replay(row.stored) if not check.agrees] == []


def test_the_end_of_the_money_is_one_event(folder: Path) -> None:
    portfolio(folder, "default", TEN)
    place, _ = staffed(folder, ALPHAAGENT_DAILY_SPEND_USD="0", ALLOW_HEURISTIC_FALLBACK="false")
    one = alone(swept(place, DAY))
    assert (one.exit_code, {row.fault for row in one.rows}, account_exists(place)) == (4, {"SpendRefused"}, False)
    (failure,) = audit_rows(place, "failure")
    assert (failure["ticker"], failure["codes"], failure["detail"]["tickers"]) == (None, ["SPEND"], list(TEN))
    (row,) = audit_rows(place, "sweep")
    assert row["detail"]["unpaid"] == list(TEN)
    swept(place, DAY)
    assert len(audit_rows(place, "sweep")) == 1


def account_exists(place: Workplace) -> bool:
    with place.store().read() as books:
        return books.portfolio("default") is not None


def test_names_are_heard_as_many_at_once_as_asked_for(folder: Path) -> None:
    portfolio(folder, "default", TEN[:6])
    place, diary = staffed(folder, dict.fromkeys(TEN, Line(seconds=0.1)))
    swept(place, DAY, at_once=2)
    assert diary.most_at_once == 2


# The deadline, and other runs


def test_what_has_not_begun_by_the_deadline_is_skipped_and_the_next_pass_takes_it_up(folder: Path) -> None:
    portfolio(folder, "default", TEN[:5])
    place, diary = staffed(folder, dict.fromkeys(TEN, Line(seconds=0.4)))
    one = alone(swept(place, DAY, at_once=1, deadline_seconds=1.0))
    done = len(diary.begun)
    assert 1 <= done < 5
    assert list(states(one).values()) == ["decided"] * done + ["skipped"] * (5 - done)
    assert (one.exit_code, one.rows[-1].fault) == (2, "NotBegun")
    assert "were over before it began" in (one.rows[-1].reason or "")
    assert list(states(alone(swept(place, DAY))).values()) == ["repeated"] * done + ["decided"] * (5 - done)


def test_a_pass_without_time_settles_nothing_and_tells_every_name(folder: Path) -> None:
    portfolio(folder, "default", TEN[:2])
    place, _ = staffed(folder, {"T000": Line("BUY", 2000)})
    swept(place, DAY)
    one = alone(swept(place, NEXT, deadline_seconds=0))
    assert (states(one), one.settled) == ({"T000": "skipped", "T001": "skipped"}, ())
    assert account(place).positions == ()


def test_a_slot_that_another_run_is_deciding_is_waited_for_and_then_skipped_with_the_reason(folder: Path) -> None:
    portfolio(folder, "default", TEN[:3])
    (folder / "config" / "alphaagent.yaml").write_text("slots: {wait_seconds: 0.5}\n", encoding="utf-8")
    place, _ = staffed(folder)
    matter = matter_of(place.desk, Ask("T001", place.moment(DAY), slot="sweep"))
    held = place.store().claim(matter.slot_key, matter.request_hash, time.sleep)
    assert isinstance(held, Claim)
    one = alone(swept(place, DAY))
    assert states(one) == {"T000": "decided", "T001": "skipped", "T002": "decided"}
    assert (one.exit_code, one.rows[1].fault) == (2, "NotBegun")
    assert "another run has been deciding this slot" in (one.rows[1].reason or "")
    place.store().release(held)
    assert states(alone(swept(place, DAY))) == {"T000": "repeated", "T001": "decided", "T002": "repeated"}


def test_two_passes_at_the_same_time_decide_each_slot_once(folder: Path) -> None:
    for name in ("alpha", "beta"):
        portfolio(folder, name, TEN)
    both = [start(folder, "sweep", "--as-of", DAY, "--json") for _ in range(2)]
    ran = [finish(process) for process in both]
    assert [one.code for one in ran] == [0, 0], [one.err for one in ran]
    rows = [row for one in ran for row in one.documents[:-1]]
    assert sorted(row["state"] for row in rows) == ["decided"] * 20 + ["repeated"] * 20
    assert decisions(workplace(folder)) == [(name, ticker) for name in ("alpha", "beta") for ticker in TEN]
    assert verify(workplace(folder).settings.database_url).exit_code == 0


@pytest.mark.parametrize("told", ["alpha 1/10", "alpha 6/10", "beta 3/10"])
def test_a_pass_that_was_killed_is_completed_by_the_next(folder: Path, told: str) -> None:
    for name in ("alpha", "beta"):
        portfolio(folder, name, TEN)
    process = start(folder, "sweep", "--as-of", DAY)
    assert process.stderr is not None
    assert next(line for line in process.stderr if line.startswith(told))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    place = workplace(folder)
    before = decisions(place)
    assert 0 < len(before) < 20
    report = swept(place, DAY)
    assert report.exit_code == 0
    assert sum(one.counts()["repeated"] for one in report.portfolios) == len(before)
    assert decisions(place) == [(name, ticker) for name in ("alpha", "beta") for ticker in TEN]
    assert verify(place.settings.database_url).exit_code == 0


# The screen


def test_the_screen_debates_what_is_held_has_moved_or_would_be_bought(folder: Path) -> None:
    portfolio(folder, "default", TWELVE)
    place, diary = staffed(folder, {"T000": Line("BUY", 2000)}, ALPHAAGENT_DAILY_SPEND_USD="off")
    first = alone(swept(place, DAY, screen=True))
    assert {row.screened for row in first.rows} == {"never decided before"}
    diary.begun.clear()
    one = alone(swept(place, NEXT, screen=True))
    out = {row.ticker for row in one.rows if row.record and row.record.provenance == "heuristic"}
    assert {row.ticker for row in one.rows if (row.screened or "").startswith(f"as on {DAY}")} == out
    assert 0 < len(out) < 12
    assert sorted(diary.begun) == sorted(set(TWELVE) - out)
    assert {row.record.proposal.action for row in one.rows if row.ticker in out and row.record and row.record.proposal} == {"HOLD"}
    (held,) = [row for row in one.rows if row.ticker == "T000"]
    assert (held.screened, held.record and held.record.provenance) == ("held, or an order waits", "crew")
    assert all(row.screened for row in one.rows)
    assert audit_rows(place, "sweep")[-1]["detail"]["screened_out"] == [row.ticker for row in one.rows if row.ticker in out]


def test_a_screened_pass_repeats_like_any_other(folder: Path) -> None:
    portfolio(folder, "default", TWELVE)
    place, diary = staffed(folder, ALPHAAGENT_DAILY_SPEND_USD="off")
    swept(place, DAY, screen=True)
    swept(place, NEXT, screen=True)
    diary.begun.clear()
    again = alone(swept(place, NEXT, screen=True))
    assert (set(states(again).values()), diary.begun, again.exit_code) == ({"repeated"}, [], 0)


# The command


def test_every_option_does_what_it_says(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    portfolio(home.folder, "growth", ["AAPL", "NVDA"], engine="heuristic")
    portfolio(home.folder, "other", ["MSFT"])
    options = ("--watchlist", "growth", "--engine", "crew", "--plan", "quick", "--screen", "--deadline", "30", "--at-once", "2")
    with models(monkeypatch) as provider:
        ran = home.ok("sweep", "--as-of", AS_OF, *options, "--json")
    *rows, last = ran.documents
    assert [(row["portfolio"], row["ticker"], row["provenance"], row["screened"]) for row in rows] == [
        ("growth", "AAPL", "crew", "never decided before"),
        ("growth", "NVDA", "crew", "never decided before"),
    ]
    assert len(provider.requests) == 6
    assert last["summary"]["portfolios"][0]["counts"]["decided"] == 2
    assert rows[0]["crew"] is not None


def test_the_files_engine_decides_where_no_option_says_otherwise(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    portfolio(home.folder, "growth", ["AAPL"], engine="heuristic")
    with models(monkeypatch) as provider:
        assert home.ok("sweep", "--as-of", AS_OF, "--json").documents[0]["provenance"] == "heuristic"
        assert provider.requests == ()


def test_an_estimate_adds_up_the_pass_beside_its_limits_and_does_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    portfolio(home.folder, "alpha", ["AAPL", "NVDA"], daily_spend_usd=2, plan="quick")
    portfolio(home.folder, "beta", ["MSFT", "NONE"])
    with models(monkeypatch) as provider:
        ran = home.run("sweep", "--as-of", AS_OF, "--estimate")
        documents = home.run("sweep", "--as-of", AS_OF, "--estimate", "--json").documents
        assert provider.requests == ()
    assert (ran.code, home.counts()) == (3, {})
    assert "NONE is unknown here" in ran.err
    assert [(one["portfolio"], one["ticker"], one["plan"]) for one in documents] == [
        ("alpha", "AAPL", "quick"),
        ("alpha", "NVDA", "quick"),
        ("beta", "MSFT", "quick"),
    ]
    assert "alpha: about 0.0000 USD, at most 0.0000 USD; its budget is 2.0 USD a UTC day" in ran.out
    assert ran.out.splitlines()[-1].startswith("3 decisions: about 0.0000 USD")
    assert "the ceiling is 5 USD a UTC day" in ran.out


def test_what_is_decided_already_is_estimated_to_cost_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    portfolio(home.folder, "alpha", ["AAPL"])
    with models(monkeypatch):
        home.ok("sweep", "--as-of", AS_OF)
        (document,) = home.ok("sweep", "--as-of", AS_OF, "--estimate", "--json").documents
    assert (document["stored"], document["calls"]) == (True, "0")


def test_the_table_tells_why_in_full(home: Home) -> None:
    portfolio(home.folder, "growth", ["AAPL", "NONE"])
    ran = home.run("sweep", "--as-of", "2020-08-03", "--plan", "deep")
    assert ran.code == 3
    lines = ran.out.splitlines()
    assert lines[0].split() == ["portfolio", "ticker", "state", "action", "amount", "guard", "order", "note"]
    assert lines[1].startswith("growth     AAPL    decided  BUY")
    assert lines[2].split(maxsplit=7) == ["growth", "NONE", "failed", "-", "-", "-", "-", "NONE is unknown here"]
    assert lines[3] == "growth: as of 2020-08-03T20:00:01Z: 1 decided, 0 repeated, 0 skipped, 1 failed; 0 settled"
    assert "--plan and --screen have no effect" in ran.err


@pytest.mark.parametrize(
    ("watchlist", "more", "words"),
    [
        (["AAPL"], ["--watchlist", "grwth"], "there is no watchlist 'grwth'; did you mean growth?"),
        (["AAPL"], ["--as-of", "yesterday"], "neither a date nor an instant"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_done(home: Home, watchlist: list[str], more: list[str], words: str) -> None:
    portfolio(home.folder, "growth", watchlist)
    ran = home.run("sweep", *more)
    assert (ran.code, ran.out, home.counts()) == (2, "", {})
    assert words in ran.err


def test_a_list_that_names_one_instrument_twice_decides_nothing(home: Home) -> None:
    portfolio(home.folder, "growth", ["META", "FB"])
    ran = home.run("sweep", "--json")
    assert (ran.code, {row["error"]["code"] for row in ran.documents[:-1]}, home.counts()) == (2, {"ConfigFault"}, {})
    assert "META and FB are the same, XNAS:META" in ran.err
    assert home.run("sweep", "--estimate").code == 2


def test_a_portfolio_keeps_the_mandate_that_it_was_made_with(home: Home) -> None:
    portfolio(home.folder, "growth", ["AAPL"], mandate="conservative")
    home.ok("sweep", "--as-of", "2020-08-03")
    portfolio(home.folder, "growth", ["AAPL"], mandate="aggressive")
    ran = home.run("sweep", "--as-of", "2020-08-04")
    assert ran.code == 2
    assert "mandate is aggressive, and the portfolio was made with conservative" in ran.err


def test_nothing_with_data_is_a_failure_of_every_name(home: Home) -> None:
    portfolio(home.folder, "empty", ["NONE", "NADA"])
    portfolio(home.folder, "full", ["AAPL"])
    ran = home.run("sweep", "--engine", "heuristic", "--json")
    assert ran.code == 3
    assert [(row["ticker"], row["state"]) for row in ran.documents[:-1]] == [("NONE", "failed"), ("NADA", "failed"), ("AAPL", "decided")]


def test_decide_makes_a_portfolio_that_has_a_file(home: Home) -> None:
    portfolio(home.folder, "growth", ["AAPL"], cash=5000)
    home.decide("AAPL", "2020-08-03", "--portfolio", "growth", "--dry-run")
    home.decide("AAPL", "2020-08-03", "--portfolio", "growth")
    assert home.portfolio(name="growth")["cash"] == "5000.0"


def test_spend_shows_the_budgets(home: Home) -> None:
    portfolio(home.folder, "growth", ["AAPL"], daily_spend_usd=1.5)
    home.ok("sweep", "--as-of", "2020-08-03")
    document = home.ok("spend", "--json").document
    assert document["budgets"] == [{"portfolio": "growth", "budget_usd": "1.5", "spent_usd": "0.0", "reserved_usd": "0.0"}]
    assert "growth: 0.0 USD spent, 0.0 USD reserved; its budget is 1.5 USD" in home.ok("spend").out
