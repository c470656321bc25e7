"""Nights as they happen: thirty names in a minute, an exit whatever the caps say, proposals in any order, a mandate that got looser."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent import pipeline
from alphaagent.bootstrap import Workplace
from alphaagent.clock import SessionTable
from alphaagent.desk import Ask, Desk
from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.portfolio import Account
from alphaagent.domain.proposal import Action, Sentiment, TradeProposal
from alphaagent.errors import UsageFault
from alphaagent.pipeline import Decided
from alphaagent.replay import replay
from alphaagent.settings import load_settings
from tests.builders import case
from tests.snapshot_folder import INSTRUMENTS, RECORDED, recorded_calendar, write_folder

NAMES = tuple(f"N{n:02d}" for n in range(30))
SECTORS = tuple(f"Sector {n}" for n in range(10))
FIRST_NIGHT, FIRST_MORNING = date(2022, 9, 16), date(2022, 9, 19)
SECOND_NIGHT, SECOND_MORNING = date(2022, 9, 20), date(2022, 9, 21)
CALENDAR = SessionTable.parse((RECORDED / "sessions.csv").read_text(encoding="utf-8"))
HOUR = timedelta(hours=1)
CALENDAR = recorded_calendar()


@dataclass
class Script:
    """An engine that says what a test has written down for each ticker."""

    says: Mapping[str, tuple[str, str]]
    name = "heuristic"

    def decide(self, pack: EvidencePack, *, reducing_only: bool = False) -> EngineResult:
        action, amount = self.says[pack.ticker]
        sentiment = {"BUY": Sentiment.BULLISH, "SELL": Sentiment.BEARISH, "HOLD": Sentiment.NEUTRAL}[action]
        proposal = TradeProposal(action=Action(action), amount=Decimal(amount), sentiment=sentiment, reasoning="as written down")
        return EngineResult(engine="heuristic", proposal_text=proposal.as_text(), bull_case=case("bull"), bear_case=case("bear"))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Thirty names in ten sectors, all with the same recorded prices."""
    lines = (RECORDED / "bars" / "AAPL.csv").read_text(encoding="utf-8").splitlines()
    bars = "\n".join([lines[0], *(line for line in lines[1:] if "2022-05-01" <= line[:10] <= "2022-10-31")]) + "\n"
    rows = "".join(f"XNAS:{name},{name},,Company {name},XNAS,USD,common,{SECTORS[n % 10]},,,\n" for n, name in enumerate(NAMES))
    files = {"instruments.csv": INSTRUMENTS + rows, "sessions.csv": (RECORDED / "sessions.csv").read_text(encoding="utf-8")}
    write_folder(tmp_path / "data" / "snapshot", files | {f"bars/{name}.csv": bars for name in NAMES})
    return Workplace(load_settings({}, tmp_path)).desk


def night(
    desk: Desk, says: Mapping[str, tuple[str, str]], session: date, *, slot: str = "sweep", portfolio: str = "default", seconds: int = 2
) -> list[Decided]:
    """One pass over some names, each a little later than the one before."""
    scripted, at = replace(desk, engines={"heuristic": Script(says)}), CALENDAR.closes(session) + timedelta(seconds=1)
    asks = [Ask(name, at + timedelta(seconds=2 * n), "heuristic", portfolio, slot) for n, name in enumerate(says)]
    return [pipeline.decide(scripted, ask) for ask in asks]


def account(desk: Desk, name: str = "default") -> Account:
    with desk.store().read() as books:
        portfolio = books.portfolio(name)
        assert portfolio is not None
        return books.account(portfolio)


def test_a_healthy_night_of_thirty_names_is_blocked_by_nothing(desk: Desk) -> None:
    first = dict.fromkeys(NAMES[:10], ("BUY", "2000"))
    assert {done.record.ruling.code for done in night(desk, first, FIRST_NIGHT)} == {"APPROVED"}
    assert {done.order.status for done in pipeline.settle(desk, CALENDAR.opens(FIRST_MORNING) + HOUR)} == {"filled"}

    second = {name: (("SELL", "1000"), ("BUY", "2000"), ("HOLD", "0"))[n // 10] for n, name in enumerate(NAMES)}
    decided = night(desk, second, SECOND_NIGHT)
    assert [done.record.ruling.code for done in decided] == ["APPROVED"] * 20 + ["NO_ORDER"] * 10
    settled = pipeline.settle(desk, CALENDAR.opens(SECOND_MORNING) + HOUR)
    assert ([done.order.status for done in settled], len(settled)) == (["filled"] * 20, 20)
    for done in (decided[0], decided[10]):
        stored = desk.store().decision(done.record.decision_id)
        assert stored is not None
        assert [check.agrees for check in replay(stored) if "ruling" in check.part] == [True, True]


def test_any_holding_can_be_sold_whole_in_one_order(desk: Desk) -> None:
    with desk.store().write() as books:
        from alphaagent.desk import create_portfolio

        create_portfolio(desk, books, "big", "backtest", Decimal(100_000), CALENDAR.opens(FIRST_NIGHT))
    (bought,) = night(desk, {"N00": ("BUY", "40000")}, FIRST_NIGHT, portfolio="big")
    assert bought.record.ruling.code == "APPROVED"
    pipeline.settle(desk, CALENDAR.opens(FIRST_MORNING) + HOUR)
    tight = desk.mandates["conservative"].model_copy(update={"name": "backtest"})
    narrowed = replace(desk, mandates={**desk.mandates, "backtest": tight})
    (sold,) = night(narrowed, {"N00": ("SELL", "999999")}, SECOND_NIGHT, portfolio="big")
    assert (sold.record.ruling.outcome, sold.record.ruling.close_all) == ("APPROVE", True)
    (filled,) = pipeline.settle(narrowed, CALENDAR.opens(SECOND_MORNING) + HOUR)
    assert (filled.order.status, account(desk, "big").positions) == ("filled", ())


@pytest.mark.parametrize("seed", range(3))
def test_proposals_in_any_order_never_exceed_the_caps(desk: Desk, seed: int) -> None:
    names = list(NAMES)
    random.Random(seed).shuffle(names)
    decided = night(desk, dict.fromkeys(names, ("BUY", "5000")), FIRST_NIGHT)
    orders = account(desk).pending
    assert sum(order.quantity * order.decision_price for order in orders) <= 25_000
    assert sum(order.reserved for order in orders) <= 98_000
    for sector in range(10):
        mine = [order for order in orders if int(order.symbol[1:]) % 10 == sector]
        assert sum(order.quantity * order.decision_price for order in mine) <= 20_000
    codes = [done.record.ruling.code for done in decided]
    assert codes[:5] == ["APPROVED"] * 5
    assert set(codes[5:]) <= {"TURNOVER", "TOO_SMALL", "CLIP_TURNOVER"}


def test_asking_again_meets_the_duplicate_the_cooldown_and_the_count(desk: Desk) -> None:
    first, again = (night(desk, {"N00": ("BUY", "2000")}, FIRST_NIGHT, slot=slot)[0] for slot in ("one", "two"))
    assert (first.record.ruling.code, again.record.ruling.code) == ("APPROVED", "DUPLICATE_ORDER")
    assert again.record.ruling.codes == ("DUPLICATE_ORDER", "COOLDOWN")
    later = [night(desk, {"N00": ("BUY", f"{amount}")}, FIRST_NIGHT, slot=f"slot-{amount}")[0] for amount in (3000, 3500)]
    assert [done.record.ruling.codes for done in later] == [("COOLDOWN",), ("RATE", "COOLDOWN")]
    assert len(account(desk).pending) == 1
    assert later[1].record.snapshot.activity is not None
    assert later[1].record.snapshot.activity.ticker_proposals == 3


def test_a_mandate_that_got_looser_says_so_in_the_audit_trail(desk: Desk, tmp_path: Path) -> None:
    import json
    import sqlite3

    night(desk, {"N00": ("HOLD", "0")}, FIRST_NIGHT)
    loose = desk.mandates["aggressive"].model_copy(update={"name": "default"})
    night(replace(desk, mandates={**desk.mandates, "default": loose}), {"N01": ("HOLD", "0")}, SECOND_NIGHT)
    with sqlite3.connect(tmp_path / "data" / "alphaagent.db") as connection:
        rows = connection.execute("SELECT payload FROM audit_log WHERE kind = 'limits_changed' ORDER BY seq").fetchall()
    looser = [json.loads(payload)["detail"]["looser"] for (payload,) in rows]
    assert looser[0] == []
    assert looser[1] == [
        f"{id}.{key}"
        for id, key in (
            ("G5", "max_turnover_fraction"),
            ("H1", "max_request_fraction"),
            ("H4", "max_order_fraction"),
            ("H6", "max_position_fraction"),
            ("H7", "max_sector_fraction"),
            ("H8", "max_gross_fraction"),
            ("H9", "cash_buffer_fraction"),
        )
    ]


def test_a_ruling_of_an_older_guard_is_named_and_not_compared(desk: Desk) -> None:
    (done,) = night(desk, {"N00": ("BUY", "2000")}, FIRST_NIGHT)
    stored = desk.store().decision(done.record.decision_id)
    assert stored is not None
    older = replace(stored, rulings=tuple((snapshot, ruling.model_copy(update={"guard_version": "1"})) for snapshot, ruling in stored.rulings))
    with pytest.raises(UsageFault, match="version 1 of the guard") as refused:
        replay(replace(older, record=stored.record.model_copy(update={"result": stored.record.result})))
    assert refused.value.fix == f"replay it with the program that made it, version {stored.record.program_version}"
