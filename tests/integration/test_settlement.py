"""Orders become fills at the next open, corporate actions keep the value, and what cannot fill ends with a reason."""

from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.execution.settlement import Settled
from alphaagent.settling import Happened, settle
from tests.home import Home, read_rows, write_rows

SLIPPAGE, FEE = Decimal("0.0005"), Decimal("0.0001")
CENT = Decimal("0.01")


def opening(home: Home, ticker: str, session: str) -> Decimal:
    """The open of the shipped snapshot."""
    from tests.snapshot_folder import RECORDED

    return next(Decimal(row["open"]) for row in read_rows(RECORDED / "bars" / f"{ticker}.csv") if row["date"] == session)


def journal(home: Home, kind: str) -> list[dict[str, Any]]:
    documents = home.ok("ledger", "show", "--json", "--limit", "1000").documents
    return [document for document in documents if document["kind"] == kind]


def cash_of(transaction: dict[str, Any]) -> Decimal:
    return sum((Decimal(posting["amount"]) for posting in transaction["postings"] if posting["account"] == "cash"), Decimal(0))


def bought(home: Home, ticker: str, decided: str, filled: str) -> Decimal:
    """The shares of a buy that has been filled."""
    assert home.decide(ticker, decided)["proposal"]["action"] == "BUY"
    (done,) = home.settle(filled)
    assert done["order"]["status"] == "filled"
    return Decimal(done["order"]["quantity"])


def test_a_buy_fills_at_the_next_open_with_slippage_and_fee(home: Home) -> None:
    order = home.decide("AAPL", "2020-08-03")["order"]
    assert (order["status"], order["side"], order["fill_session"], "price" in order) == ("pending", "BUY", "2020-08-04", False)
    assert home.portfolio()["cash"] == "100000.0"
    (done,) = home.settle("2020-08-04")
    price = opening(home, "AAPL", "2020-08-04") * (1 + SLIPPAGE)
    assert Decimal(done["order"]["price"]) == price.quantize(Decimal("0.000001"))
    assert done["order"]["quantity"] == order["quantity"]
    assert (done["guard"]["stage"], done["guard"]["outcome"]) == ("settle", "APPROVE")
    notional = Decimal(order["quantity"]) * Decimal(done["order"]["price"])
    paid = Decimal(100000) - Decimal(home.portfolio()["cash"])
    assert abs(paid - notional * (1 + FEE)) < Decimal("0.00001")


def test_a_sell_of_the_whole_holding_closes_to_exactly_zero(home: Home) -> None:
    quantity = bought(home, "AAPL", "2022-01-28", "2022-01-31")
    decision = home.decide("AAPL", "2022-12-28")
    assert (decision["proposal"]["action"], decision["order"]["side"], decision["order"]["quantity"]) == ("SELL", "SELL", str(quantity))
    before = Decimal(home.portfolio()["cash"])
    (done,) = home.settle("2022-12-29")
    price = opening(home, "AAPL", "2022-12-29") * (1 - SLIPPAGE)
    assert abs(Decimal(done["order"]["price"]) - price) <= Decimal("0.000001")
    after = home.portfolio()
    assert (after["positions"], after["pending"]) == ([], [])
    assert after["equity"] == after["cash"]
    got = Decimal(after["cash"]) - before
    assert abs(got - quantity * Decimal(done["order"]["price"]) * (1 - FEE)) < Decimal("0.00001")
    assert home.run("audit", "verify", "--replay").code == 0


def test_cash_of_a_sale_is_settled_one_session_later(home: Home) -> None:
    bought(home, "AAPL", "2022-01-28", "2022-01-31")
    home.decide("AAPL", "2022-12-28")
    home.settle("2022-12-29")
    on_the_day, a_session_later = home.portfolio("2022-12-29"), home.portfolio("2022-12-30")
    assert Decimal(on_the_day["settled_cash"]) < Decimal(on_the_day["cash"])
    assert a_session_later["settled_cash"] == a_session_later["cash"] == on_the_day["cash"]


def test_a_split_between_decision_and_fill_keeps_the_order_s_value(home: Home) -> None:
    order = home.decide("AAPL", "2020-08-28")["order"]
    (done,) = home.settle("2020-08-31")
    assert Decimal(done["order"]["quantity"]) == 4 * Decimal(order["quantity"])
    assert Decimal(done["order"]["price"]) == (opening(home, "AAPL", "2020-08-31") * (1 + SLIPPAGE)).quantize(Decimal("0.000001"))
    wanted = Decimal(order["quantity"]) * Decimal("499.23")
    filled = Decimal(done["order"]["quantity"]) * Decimal(done["order"]["price"])
    assert abs(filled / wanted - 1) < Decimal("0.03")
    assert journal(home, "split") == []  # nothing was held before the open


@pytest.mark.parametrize("booked", [False, True])
def test_nav_is_conserved_over_a_split_of_what_is_held(home: Home, booked: bool) -> None:
    quantity = bought(home, "NVDA", "2021-07-14", "2021-07-15")
    if booked:
        home.decide("NVDA", "2021-07-20")
        assert len(journal(home, "split")) == 1
    day_before, day_after = home.portfolio("2021-07-19"), home.portfolio("2021-07-20")
    (old,), (new,) = day_before["positions"], day_after["positions"]
    assert (Decimal(old["quantity"]), Decimal(new["quantity"])) == (quantity, 4 * quantity)
    assert (old["mark"], new["mark"]) == ("751.19", "186.12")
    assert new["cost"] == old["cost"]
    moved = Decimal(new["value"]) - Decimal(old["value"])
    assert abs(Decimal(day_after["equity"]) - Decimal(day_before["equity"]) - moved) < Decimal("0.00001")
    assert abs(moved) < Decimal("0.02") * Decimal(old["value"])


def test_the_instant_of_a_split_changes_no_nav(home: Home) -> None:
    bought(home, "NVDA", "2021-07-14", "2021-07-15")
    before, after = home.portfolio("2021-07-20T13:29:59Z"), home.portfolio("2021-07-20T13:30:00Z")
    assert before["equity"] == after["equity"]
    assert Decimal(after["positions"][0]["quantity"]) == 4 * Decimal(before["positions"][0]["quantity"])


def test_a_dividend_goes_to_who_held_before_its_ex_date(home: Home) -> None:
    quantity = bought(home, "AAPL", "2020-08-05", "2020-08-06")
    home.decide("AAPL", "2020-08-07")
    (dividend,) = journal(home, "dividend")
    assert cash_of(dividend) == (quantity * Decimal("0.82")).quantize(Decimal("0.000001"))
    home.decide("AAPL", "2020-08-10")
    assert journal(home, "dividend") == [dividend]


def test_who_buys_at_the_open_of_the_ex_date_gets_no_dividend(home: Home) -> None:
    bought(home, "AAPL", "2020-08-06", "2020-08-07")
    home.decide("AAPL", "2020-08-10")
    assert journal(home, "dividend") == []


def test_who_sells_at_the_open_of_the_ex_date_gets_the_dividend(home: Home) -> None:
    """AAPL, ex 2023-02-10, sold at that open."""
    quantity = bought(home, "AAPL", "2022-01-28", "2022-01-31")
    home.own_config("mandate.yaml", lambda text: text)
    decision = home.decide("AAPL", "2022-11-03")
    assert decision["proposal"]["action"] == "SELL"
    held = Decimal(decision["guard"]["quantity_in"])
    home.settle("2022-11-04")
    dividends = journal(home, "dividend")
    assert held <= quantity
    assert dividends[-1]["trade_at"].startswith("2022-11-04")
    assert cash_of(dividends[-1]) == (quantity * Decimal("0.23")).quantize(Decimal("0.000001"))


def test_a_dividend_that_is_not_booked_yet_counts_in_the_look(home: Home) -> None:
    quantity = bought(home, "AAPL", "2020-08-05", "2020-08-06")
    look = home.portfolio("2020-08-07")
    assert journal(home, "dividend") == []
    home.decide("AAPL", "2020-08-07")
    assert home.portfolio("2020-08-07")["cash"] == look["cash"]
    assert quantity > 0


def test_settling_twice_books_once(home: Home) -> None:
    home.decide("AAPL", "2020-08-03")
    assert len(home.settle("2020-08-04")) == 1
    before = home.counts()
    ran = home.ok("settle", "--as-of", "2020-08-04", "--json")
    assert (ran.out, home.counts()) == ("", before)
    assert "nothing was due" in ran.err


def test_an_order_that_another_run_settles_meanwhile_is_left_to_it(home: Home) -> None:
    for ticker in ("AAPL", "NVDA"):
        home.decide(ticker, "2020-08-03")
    with closing(Workplace.open()) as place:
        as_of = place.moment("2020-08-04")
        ours: list[Happened] = []

        def beside(*_: object) -> None:
            """Between our reading of what is due and our first transaction."""
            ours.extend(settle(place.desk, as_of))

        assert settle(replace(place.desk, prepare=beside), as_of) == ()
    assert [one.order.symbol for one in ours if isinstance(one, Settled)] == ["AAPL", "NVDA"]
    assert home.counts()["txn"] == 3
    assert home.run("audit", "verify", "--replay").code == 0


def test_settling_before_the_open_does_nothing(home: Home) -> None:
    home.decide("AAPL", "2020-08-03")
    before = home.counts()
    assert home.settle("2020-08-04T13:30:00Z") == []
    assert home.counts() == before
    assert len(home.settle("2020-08-04T13:30:00.000001Z")) == 1


def test_settling_weeks_later_books_the_same_fill(home: Home) -> None:
    home.ok("portfolio", "create", "late", "--as-of", "2020-07-31")
    home.decide("AAPL", "2020-08-03")
    home.decide("AAPL", "2020-08-03", "--portfolio", "late")
    (at_once,) = home.ok("settle", "--as-of", "2020-08-04", "--json", "--portfolio", "default").documents
    happened = home.ok("settle", "--as-of", "2020-10-01", "--json", "--portfolio", "late").documents
    (weeks_later,) = [document for document in happened if "order" in document]
    for part in ("status", "side", "quantity", "price", "fill_session"):
        assert at_once["order"][part] == weeks_later["order"][part], part
    look = "2020-08-06"
    assert home.portfolio(look)["equity"] == home.portfolio(look, "late")["equity"]


def test_a_later_decision_settles_the_earlier_order_first(home: Home) -> None:
    first = home.decide("AAPL", "2020-08-03")
    ran = home.ok("decide", "AAPL", "--as-of", "2020-08-10", "--json")
    assert first["decision_id"] in ran.err
    assert home.portfolio()["pending"] == ([ran.document["order"]] if ran.document["order"] else [])
    assert len(journal(home, "trade")) == 1
    assert Decimal(home.portfolio()["positions"][0]["quantity"]) == Decimal(first["order"]["quantity"])


def test_an_order_without_a_bar_waits_and_then_expires(home: Home) -> None:
    order = home.decide("NVDA", "2023-09-21")["order"]
    assert (order["status"], order["fill_session"]) == ("pending", "2023-09-22")
    for early in ("2023-09-22", "2023-09-25T13:30:00Z", "2023-09-25T20:00:00Z"):
        assert home.settle(early) == []
    assert Decimal(home.portfolio()["reserved_cash"]) > 0
    (done,) = home.settle("2023-09-25")
    assert (done["order"]["status"], done["guard"]) == ("expired", None)
    assert "2023-09-22" in done["reason"]
    book = home.portfolio()
    assert (book["cash"], book["reserved_cash"], book["positions"], book["pending"]) == ("100000.0", "0.0", [], [])
    assert home.run("audit", "verify").code == 0


def test_a_halt_between_decision_and_settlement_stops_the_fill_until_it_is_lifted(home: Home) -> None:
    home.decide("AAPL", "2020-08-03")
    home.ok("halt", "strange prices")
    before = home.counts()
    ran = home.run("settle", "--as-of", "2020-08-04", "--json")
    assert (ran.code, ran.out, home.counts()) == (5, "", before)
    home.ok("resume", "--reason", "prices checked")
    (done,) = home.settle("2020-08-04")
    assert done["order"]["status"] == "filled"


def test_a_pending_buy_is_refused_at_settlement_while_reducing(home: Home) -> None:
    home.decide("AAPL", "2020-08-03")
    home.ok("reduce", "too much at risk")
    (done,) = home.settle("2020-08-04")
    assert (done["order"]["status"], done["guard"]["outcome"], done["guard"]["code"]) == ("rejected", "BLOCK", "KILL_REDUCING")
    assert "price" not in done["order"]
    assert journal(home, "trade") == []
    assert home.portfolio()["reserved_cash"] == "0.0"


def test_a_pending_sell_fills_while_reducing(home: Home) -> None:
    bought(home, "AAPL", "2022-01-28", "2022-01-31")
    home.decide("AAPL", "2022-12-28")
    home.ok("reduce", "too much at risk")
    (done,) = home.settle("2022-12-29")
    assert (done["order"]["side"], done["order"]["status"]) == ("SELL", "filled")


def test_an_open_far_above_the_decision_is_refused(home: Home) -> None:
    """A gap between decision and open is judged on the open: ten times the price is an error, not a market."""
    home.ok("portfolio", "create", "default", "--cash", "100000", "--as-of", "2020-07-31")
    home.decide("AAPL", "2020-08-03")
    path = home.own_snapshot() / "bars" / "AAPL.csv"
    rows = read_rows(path)
    gap = {"open": "4300", "high": "4400", "low": "4200", "close": "4300"}
    write_rows(path, [row | gap if row["date"] == "2020-08-04" else row for row in rows])
    (done,) = home.settle("2020-08-04")
    assert done["guard"]["outcome"] == "BLOCK"
    assert "PRICE_COLLAR" in done["guard"]["codes"]
    assert done["order"]["status"] == "rejected"


def test_settlement_of_one_portfolio_leaves_the_others_alone(home: Home) -> None:
    home.ok("portfolio", "create", "other", "--as-of", "2020-07-31")
    home.decide("AAPL", "2020-08-03")
    home.decide("AAPL", "2020-08-03", "--portfolio", "other")
    assert len(home.ok("settle", "--as-of", "2020-08-04", "--json", "--portfolio", "other").documents) == 1
    assert len(home.portfolio()["pending"]) == 1


def test_settling_without_books_makes_none(home: Home) -> None:
    assert home.settle("2020-08-04") == []
    assert home.files() == []
