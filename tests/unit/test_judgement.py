"""What the guard hears of the evidence beside its measures."""

from decimal import Decimal as D

import pytest

from alphaagent.domain.evidence import EvidenceItem, Status
from alphaagent.execution.snapshots import Beside
from alphaagent.judgement import beside_in
from tests.pack_builder import item, lost, news_items

ONE = D(1)


def earnings(status: Status = Status.OK) -> EvidenceItem:
    return item("get_news_sentiment", "earnings_date", {"day": "2020-04-30", "sessions": 31}, status=status, summary="Earnings due 2020-04-30")


def second(close: str, status: Status = Status.OK) -> EvidenceItem:
    return item("get_market_price", "second_source", {"close": "100.0", "second_close": close}, status=status)


def test_without_such_items_nothing_is_heard() -> None:
    assert beside_in(news_items("0.5", ["0.1", "0.2"]), ONE) == Beside(None, None, None, None, None)


def test_a_date_is_heard_as_sessions() -> None:
    assert beside_in((earnings(),), ONE) == Beside(earnings_in_sessions=31)


@pytest.mark.parametrize("status", [Status.STALE, Status.CONFLICT])
def test_a_doubtful_date_is_heard_with_the_doubt(status: Status) -> None:
    assert beside_in((earnings(status),), ONE) == Beside(earnings_in_sessions=31, earnings_unknown="Earnings due 2020-04-30")


@pytest.mark.parametrize("status", [Status.FAILED, Status.EMPTY, Status.NOT_APPLICABLE])
def test_no_date_is_heard_with_the_reason(status: Status) -> None:
    assert beside_in(lost("get_news_sentiment", "earnings_date", status), ONE) == Beside(earnings_unknown="the file is broken")


@pytest.mark.parametrize("status", [Status.OK, Status.CONFLICT])
def test_a_second_close_is_heard_whether_it_agrees_or_not(status: Status) -> None:
    assert beside_in((second("100.2", status),), ONE) == Beside(second_price=D("100.2"))


def test_a_second_close_is_brought_to_the_share_basis_of_the_price() -> None:
    assert beside_in((second("400.8", Status.OK),), D(4)) == Beside(second_price=D("100.2"))


@pytest.mark.parametrize("status", [Status.FAILED, Status.EMPTY])
def test_a_second_source_without_a_close_is_heard_with_the_reason(status: Status) -> None:
    assert beside_in(lost("get_market_price", "second_source", status), ONE) == Beside(second_missing="the file is broken")


def quote(status: Status, **more: str) -> EvidenceItem:
    return item("get_market_price", "quote", {"price": "100.0", "age_sessions": 1, **more}, status=status, summary="no bar for 2020-03-16")


@pytest.mark.parametrize("status", [Status.STALE, Status.CONFLICT])
def test_a_doubt_about_the_prices_is_heard_in_words(status: Status) -> None:
    assert beside_in((quote(status, doubt="yahoo is down"),), ONE) == Beside(prices_doubt="yahoo is down")


def test_a_session_that_is_missing_from_sound_prices_is_no_doubt_about_them() -> None:
    assert beside_in((quote(Status.STALE),), ONE) == Beside()
