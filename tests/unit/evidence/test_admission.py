"""Nothing passes the gate that was not known strictly before as_of."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from alphaagent.domain.market import Article, Bar, ComingEvent, CorporateAction, Fact, LastPrice, Records, RowFault
from alphaagent.evidence.admission import admit

AT = datetime(2020, 1, 3, 21, tzinfo=UTC)
SESSION = date(2020, 1, 3)
MOMENT = timedelta(microseconds=1)


def bar(known_at: datetime) -> Bar:
    one = Decimal(1)
    return Bar(known_at.date(), one, one, one, one, 1, known_at)


def records_known_at(known_at: datetime) -> Records:
    return Records(
        bars=(bar(known_at),),
        actions=(CorporateAction("dividend", SESSION, Decimal(1), known_at),),
        facts=(Fact("Assets", "USD", None, SESSION, Decimal(1), SESSION, "10-Q", "0000000001-20-000001", known_at),),
        articles=(Article("g", "t", "", "", "", "press", None, known_at, known_at),),
        coming=(ComingEvent("earnings", SESSION, SESSION, known_at),),
        last_prices=(LastPrice(Decimal(1), known_at, known_at),),
    )


def test_a_record_known_a_moment_before_as_of_passes() -> None:
    records = records_known_at(AT - MOMENT)
    assert admit(records, AT, SESSION) == records


@pytest.mark.parametrize("known_at", [AT, AT + MOMENT, AT + timedelta(days=900)])
def test_a_record_known_exactly_at_as_of_or_later_does_not_pass(known_at: datetime) -> None:
    assert admit(records_known_at(known_at), AT, SESSION) == Records()


def test_the_cut_falls_between_equal_and_unequal_instants() -> None:
    instants = [AT - MOMENT, AT - MOMENT, AT, AT, AT + MOMENT]
    assert admit(Records(bars=tuple(bar(at) for at in instants)), AT, SESSION).bars == (bar(AT - MOMENT),) * 2


@pytest.mark.parametrize(
    ("session", "passes"),
    [(None, True), (date(2020, 1, 2), True), (SESSION, True), (date(2020, 1, 4), False), (date(2099, 1, 1), False)],
)
def test_a_fault_passes_with_its_session_and_always_without_one(session: date | None, passes: bool) -> None:
    fault = RowFault("bars/ACME.csv line 2", "close 'NaN' is not a plain decimal number", session)
    assert admit(Records(faults=(fault,)), AT, SESSION).faults == ((fault,) if passes else ())


def test_the_counts_of_dropped_items_stay() -> None:
    found = admit(Records(undated=3, off_topic=2), AT, SESSION)
    assert (found.undated, found.off_topic) == (3, 2)
