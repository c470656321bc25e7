"""The list of decisions: its filters, its pages, and how many there are."""

from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.domain.debate import DebateSummary, EngineResult
from alphaagent.errors import UsageFault
from alphaagent.ledger.listing import DecisionFilter, asked_for
from alphaagent.ledger.store import SqlStore
from alphaagent.ports import Claim
from tests import builders as build
from tests.builders import AS_OF, XYZ, SteppingClock, Waits

DAY = timedelta(days=1)


def debated(found: str | None, plan: str = "standard") -> EngineResult:
    summary = DebateSummary(plan=plan, rounds=(), outcome=None, debate_class=found, flags=())  # type: ignore[arg-type]
    return EngineResult(engine="crew", proposal_text="{}", bull_case=build.case("bull"), bear_case=build.case("bear"), debate=summary)


MADE: dict[str, dict[str, Any]] = {
    "d-hold": {"proposal": build.proposal("HOLD", "0")},
    "d-blocked": {"as_of": AS_OF + DAY, "ruling": build.ruling(build.snapshot(), outcome="BLOCK")},
    "d-earned": {"as_of": AS_OF + 2 * DAY, "provenance": "crew", "result": debated("earned")},
    "d-quick": {"as_of": AS_OF + 3 * DAY, "provenance": "crew", "result": debated(None, "quick")},
    "d-unread": {"as_of": AS_OF + 4 * DAY, "provenance": "fallback", "proposal": None},
}
NEWEST_FIRST = list(reversed(MADE))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqlStore]:
    with SqlStore.open(build.database_url(tmp_path_factory.mktemp("listed")), SteppingClock()) as store:
        with store.write() as books:
            books.register(XYZ)
            for name in ("default", "other"):
                books.create_portfolio(name, currency="USD", kind="paper", mandate="default", cash=Decimal(1000), at=AS_OF)
        for id_, changes in MADE.items():
            claim = store.claim(id_, "r", Waits())
            assert isinstance(claim, Claim)
            with store.write() as books:
                books.record_decision(claim, build.record(id_, **changes), None)
        yield store


def listed(store: SqlStore, wanted: DecisionFilter, limit: int = 50, offset: int = 0) -> list[str]:
    return [row["decision_id"] for row in store.decision_rows(wanted, limit, offset)]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, NEWEST_FIRST),
        ({"ticker": "xyz-a"}, NEWEST_FIRST),
        ({"ticker": "NOSUCH"}, []),
        ({"since": "2024-01-06"}, ["d-unread", "d-quick"]),
        ({"until": "2024-01-04"}, ["d-blocked", "d-hold"]),
        ({"since": "2024-01-04", "until": "2024-01-05"}, ["d-earned", "d-blocked"]),
        ({"engine": "crew"}, ["d-quick", "d-earned"]),
        ({"provenance": "fallback"}, ["d-unread"]),
        ({"action": "hold"}, ["d-hold"]),
        ({"action": "NONE"}, ["d-unread"]),
        ({"outcome": "block"}, ["d-blocked"]),
        ({"outcome": "KILL_REDUCING"}, ["d-blocked"]),
        ({"debate_class": "earned"}, ["d-earned"]),
        ({"debate_class": "none"}, ["d-unread", "d-quick", "d-blocked", "d-hold"]),
        ({"portfolio": "default"}, NEWEST_FIRST),
        ({"portfolio": "other"}, []),
        ({"portfolio": "nowhere"}, []),
        ({"engine": "crew", "debate_class": "none", "action": "BUY"}, ["d-quick"]),
    ],
)
def test_a_filter_lets_through_what_it_asks_for_and_is_counted_alike(store: SqlStore, wanted: dict[str, str], found: list[str]) -> None:
    assert (listed(store, asked_for(**wanted)), store.decision_count(asked_for(**wanted))) == (found, len(found))


def test_pages_follow_one_another_and_leave_nothing_out(store: SqlStore) -> None:
    assert [listed(store, DecisionFilter(), 2, offset) for offset in (0, 2, 4, 6)] == [NEWEST_FIRST[:2], NEWEST_FIRST[2:4], NEWEST_FIRST[4:], []]
    assert listed(store, DecisionFilter(debate_class="none"), 2, 1) == ["d-quick", "d-blocked"]


def test_a_row_has_the_class_of_its_debate(store: SqlStore) -> None:
    assert {row["decision_id"]: row["debate_class"] for row in store.decision_rows(DecisionFilter(), 9)} == dict.fromkeys(MADE) | {"d-earned": "earned"}


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ({"since": "yesterday"}, "2020-03-16"),
        ({"until": "2020-13-01"}, "2020-03-16"),
        ({"engine": "oracle"}, "crew, heuristic"),
        ({"provenance": "x"}, "fallback"),
        ({"action": "SHORT"}, "NONE"),
        ({"debate_class": "good"}, "theater"),
    ],
)
def test_what_cannot_match_is_refused_with_what_can(said: dict[str, str], fix: str) -> None:
    with pytest.raises(UsageFault) as fault:
        asked_for(**said)
    assert fix in str(fault.value.fix)
    assert "debate_class" not in fault.value.message, "the option is --class"


def test_nothing_said_is_no_filter() -> None:
    assert asked_for(ticker="", since=None, outcome=" ") == DecisionFilter()
    assert asked_for(until="2020-02-03").until == date(2020, 2, 3)
