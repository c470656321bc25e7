"""A portfolio: what it was worth at every close, beside a benchmark; what it holds against its caps; its trades and what they made."""

from dataclasses import dataclass
from typing import Any

import streamlit as st

from alphaagent.domain.portfolio import Portfolio
from alphaagent.errors import UsageFault
from alphaagent.operations.benchmark import Benchmark, benchmark
from alphaagent.operations.equity import Course, course
from alphaagent.views_portfolio import Caps, Row, caps_of, course_rows, payments, position_rows, result, sector_rows, told, trade_rows
from alphaagent.views_today import order_rows
from dashboard import charts_book
from dashboard.inert import label
from dashboard.reader import Reader
from dashboard.words import NOTHING, instant, money, share

TITLE = "Portfolio"
FEW_POINTS = 2


@dataclass(frozen=True, slots=True)
class Gathered:
    """Everything that the page shows of one portfolio."""

    course: Course
    beside: Benchmark | None
    caps: Caps | None


def show(reader: Reader) -> None:
    st.title(TITLE)
    portfolio = _chosen(reader.portfolios())
    with st.spinner("Going over the postings"):
        found = reader.kept(("portfolio", portfolio.name), lambda: _gathered(reader, portfolio))
    _head(reader, found)
    _figures(found)
    _positions(found)
    _orders(found.course)
    _trades(found.course)


def _chosen(portfolios: tuple[Portfolio, ...]) -> Portfolio:
    """The portfolio of the address, or of the box. Raises UsageFault where there is none."""
    if not portfolios:
        raise UsageFault(
            "there is no portfolio in these books yet", fix="run `alphaagent portfolio create NAME`, `alphaagent sweep`, or `alphaagent decide TICKER`"
        )
    names = [one.name for one in portfolios]
    asked = st.query_params.get("name")
    if asked is not None and asked not in names:
        st.warning(f"There is no portfolio {label(asked, 60)}; this is another one.", icon=":material/help:")
    first = names.index(asked) if asked in names else names.index("default") if "default" in names else 0
    name = st.selectbox("Which one", names, index=first, key="portfolio_name")
    st.query_params["name"] = name
    return portfolios[names.index(name)]


def _gathered(reader: Reader, portfolio: Portfolio) -> Gathered:
    done, mandate = course(reader.workplace, portfolio.name), reader.workplace.desk.mandates.get(portfolio.mandate)
    return Gathered(done, benchmark(reader.workplace, done), caps_of(mandate.document()) if mandate else None)


def _head(reader: Reader, found: Gathered) -> None:
    done, sums, came = found.course, found.course.sums, result(found.course)
    currency, nav = done.portfolio.currency, done.points[-1].nav
    when = "" if reader.is_live else ", the books' own time, for the data are recorded"
    st.caption(f"Mandate {label(done.portfolio.mandate)}. Opened {instant(done.portfolio.opened_at)}; as of {instant(done.at)}{when}.")
    for symbol, why in done.faults.items():
        st.warning(f"No price of **{label(symbol)}**: {label(why)}. Sessions in which it was held have no NAV.", icon=":material/money_off:")
    with st.container(horizontal=True):
        st.metric("NAV", money(nav, currency), border=True)
        st.metric("Return", share(came.returned, 2), help="Since the opening, time-weighted: payments of the owner make none.", border=True)
        st.metric("Profit and loss", money(came.profit, currency), help="NAV less what was paid in.", border=True)
        st.metric("Deepest drawdown", share(came.deepest, 2), help="The largest fall below a highest point before it.", border=True)
        st.metric("Cash", money(done.account.cash, currency), help=f"{money(done.account.settled_cash, currency)} of it has settled.", border=True)
        st.metric("Invested", share(came.invested), help=_gross(found), border=True)
    parts = [
        ("Realised gains", sums.realised, "on shares that are gone, fees included"),
        ("Unrealised", came.unrealised, "on what is held, at the last closes"),
        ("Dividends", sums.dividends, "cash that came in on ex-dates"),
        ("Brought in", sums.brought_in, "what imported shares were worth above their cost when they came"),
    ]
    with st.expander("What the profit is made of", icon=":material/calculate:"):
        st.dataframe([{"part": part, "amount": money(amount, currency), "what it is": what} for part, amount, what in parts], hide_index=True)
        st.caption(
            f"Their sum is the profit: {money(came.profit, currency)}. Paid in: {money(came.paid_in, currency)}. Fees in it: {money(sums.fees, currency)}."
        )


def _gross(found: Gathered) -> str:
    return "What is held, as a part of NAV" + (f"; the mandate's cap is {share(found.caps.gross)}." if found.caps else ".")


def _figures(found: Gathered) -> None:
    rows = course_rows(found.course, found.beside)
    if len([row for row in rows if row["nav"] is not None]) < FEW_POINTS:
        st.info("There is no course to draw yet: one session more, or prices of what is held, make one.", icon=":material/show_chart:")
        return
    name, currency = found.beside.name if found.beside else None, found.course.portfolio.currency
    _draw(charts_book.worth(rows, payments(rows), currency), told(rows, "nav", "NAV", currency))
    st.caption("NAV at each session's close, from the postings and the recorded closes. Triangles: the owner paid in (up) or took out (down).")
    against = told(rows, "benchmark", f"Benchmark, {name}", "per cent") if name else ""
    _draw(charts_book.returns(rows, name), f"{told(rows, 'return', 'Return of the portfolio', 'per cent')} {against} Cash: none.")
    st.caption(
        f"Benchmark: {label(found.beside.name)}, {label(found.beside.told, 900)}."
        if found.beside
        else "No benchmark: neither the index nor a name has prices for this."
    )
    _draw(charts_book.drawdown(rows), told(rows, "drawdown", "Drawdown", "per cent"))


def _draw(chart: Any, words: str) -> None:
    st.altair_chart(chart, theme="streamlit", alt=words)


def _positions(found: Gathered) -> None:
    st.subheader("Positions", anchor=False)
    rows = position_rows(found.course, found.caps)
    if not rows:
        st.caption("Nothing is held. An approved purchase fills at the next open.")
        return
    st.dataframe(rows, hide_index=True, column_config=_numbers(rows), placeholder="")
    if all(row["weight %"] is not None for row in rows):
        _draw(charts_book.weights(rows, "ticker", "Weight by name", "Name"), _weights_told(rows, "ticker"))
    sectors = sector_rows(found.course, found.caps)
    if sectors:
        _draw(charts_book.weights(sectors, "sector", "Weight by sector", "Sector"), _weights_told(sectors, "sector"))
        st.caption("Sectors as the guard counts them: purchases that wait are in them, and what has no known sector is one. The ticks are the mandate's caps.")
    if found.caps is None:
        st.caption("The mandate is not in mandate.yaml any more, so that there is no cap to hold these against.")


def _weights_told(rows: list[Row], key: str) -> str:
    cap = f"; the cap is {rows[0]['cap %']:g}%" if rows[0]["cap %"] is not None else ""
    return "; ".join(f"{row[key]} {row['weight %']:.2f}%" for row in rows) + cap + "."


def _orders(done: Course) -> None:
    st.subheader("Orders that wait", anchor=False)
    rows = order_rows((done.portfolio.name, order) for order in done.account.pending)
    if rows:
        st.dataframe(rows, hide_index=True, column_config=_numbers(rows), placeholder="")
    else:
        st.caption("None.")


def _trades(done: Course) -> None:
    st.subheader("Trades", anchor=False)
    rows = trade_rows(done)
    if not rows:
        st.caption("None yet.")
        return
    st.dataframe(rows, hide_index=True, column_config=_numbers(rows), placeholder="")
    sold = [trade.gain for trade in done.trades if trade.gain is not None]
    won = sum(gain > 0 for gain in sold)
    st.caption(f"{len(rows)} fills, {len(sold)} of them sales; {won if sold else NOTHING} sold with a gain. Lot by lot: `alphaagent ledger gains`.")


def _numbers(rows: list[Row]) -> dict[str, Any]:
    """Two decimals for everything that is an amount; shares as they are."""
    numeric = {key for row in rows for key, value in row.items() if isinstance(value, float)} - {"shares"}
    return {key: st.column_config.NumberColumn(format="%.2f") for key in numeric}
