"""Today: what every portfolio is worth, what ran and what did not, what the guard refused, and what comes next."""

from decimal import Decimal
from typing import Any

import streamlit as st

from alphaagent.domain.text import inert
from alphaagent.operations.preview import NextRun
from alphaagent.operations.today import PortfolioToday, Today, gather
from alphaagent.views_blocked import blocked_document
from alphaagent.views_today import breaker_text, cost_text, decided, next_rows, order_rows, price_age, substitutes, sweep_rows, undone_rows, unpaid
from dashboard.inert import label, say
from dashboard.links import link
from dashboard.reader import Reader
from dashboard.words import NOTHING, instant, money, rate, share

TITLE = "Today"


def show(reader: Reader) -> None:
    st.title(TITLE)
    with st.spinner("Reading the books"):
        today = reader.kept("today", lambda: gather(reader.workplace))
    _when(reader, today)
    _sums(today)
    for one in today.portfolios:
        _portfolio(one, today)
    _switch(reader, today)
    _orders(today)
    _blocks(reader, today)
    _ran(today)
    _spend(today)
    _next(reader, today.run)


def _when(reader: Reader, today: Today) -> None:
    at, session = instant(today.digest.at), today.digest.session
    if reader.is_live:
        st.caption(f"As of {at}. The last completed session is {session}.")
    else:
        st.caption(f"The data are recorded, so today is the books' own time: {at}, session {session}.")


def _sums(today: Today) -> None:
    """What happened in the session, over all portfolios."""
    actions = decided(today.portfolios)
    with st.container(horizontal=True):
        st.metric("Decided", sum(actions.values()), help="Decisions of the last session.", border=True, width=130)
        st.metric("HOLD", actions.get("HOLD", 0), help="Decisions to leave things as they are.", border=True, width=130)
        st.metric("Blocked", sum(len(one.night.blocks) for one in today.portfolios), help="Orders that the guard refused.", border=True, width=130)
        st.metric("To fill", sum(len(one.night.to_fill) for one in today.portfolios), help="Orders that wait for an open.", border=True, width=130)
        part, _, counted = rate(*substitutes(today.provenance)).partition(" (")
        st.metric("Fallback share", part, counted.rstrip(")"), delta_color="off", delta_arrow="off", help=_provenance(today), border=True, width=180)


def _provenance(today: Today) -> str:
    counted = ", ".join(f"{count} {kind}" for kind, count in sorted(today.provenance.items())) or "none yet"
    return f"How many of the last {sum(today.provenance.values())} decisions a substitute made because the model failed or was not there: {counted}."


def _portfolio(one: PortfolioToday, today: Today) -> None:
    night = one.night
    with st.container(border=True):
        st.subheader(label(night.name), anchor=False)
        with st.container(horizontal=True):
            st.metric("NAV", money(one.nav, night.currency), delta=_delta(one), help=f"Against the close of {today.before}, payments of the owner left out.")
            st.metric("Invested", share(one.invested / one.nav if one.invested is not None and one.nav else None), help="What is held, as a part of NAV.")
            st.metric("Cash", money(night.cash, night.currency))
            st.metric("Positions", night.positions)
        st.caption(f"{label(breaker_text(one.breaker))}  \n{label(price_age(night.oldest_prices, today.digest.session))}")
        for symbol, why in one.unpriced.items():
            st.warning(f"**{label(symbol)}** has no price, so the portfolio has no NAV: {label(why)}", icon=":material/money_off:")
        if night.frozen:
            st.warning(f"Frozen, no order is taken: {label(', '.join(night.frozen))}. `alphaagent portfolio unfreeze` lifts it.", icon=":material/ac_unit:")
        link("portfolio", "Open the portfolio", name=night.name)


def _delta(one: PortfolioToday) -> str | None:
    if one.earned is None:
        return None
    part = "" if one.earned_share is None else f" ({one.earned_share * 100:+.2f}%)"
    return f"{one.earned:+,.2f}{part}"


def _switch(reader: Reader, today: Today) -> None:
    """The kill switch in words, active or not; the frame shows a halt above everything as well."""
    state, sources, reason = reader.control()
    st.subheader("Breakers", anchor=False)
    by = f", set by {', '.join(sources)}" if sources else ""
    st.markdown(f"**Kill switch: {state}**{by}{': ' + label(reason) if reason else ''}")
    opens = [one.night.name for one in today.portfolios if one.breaker is not None and one.breaker.index != "none"]
    st.caption(f"The market breaker is on for: {label(', '.join(opens))}" if opens else "No mandate in use names an index for the market breaker (E10).")
    if today.digest.unsent:
        st.warning(f"{today.digest.unsent} notifications have not arrived: see `alphaagent notify list`.", icon=":material/notifications_off:")


def _orders(today: Today) -> None:
    st.subheader("Orders that wait", anchor=False)
    rows = order_rows((one.night.name, order) for one in today.portfolios for order in one.night.to_fill)
    if rows:
        st.dataframe(rows, hide_index=True, column_config=_amounts("decided at", "about"))
        st.caption("They fill at the open that is named, or expire. `alphaagent settle` does it; a sweep and a decision do as well.")
    else:
        st.caption("None. An approved decision places one.")


def _blocks(reader: Reader, today: Today) -> None:
    st.subheader("What the guard refused", anchor=False)
    if not today.blocks:
        st.caption("Nothing in this session.")
    titles = reader.workplace.rule_titles()
    for record in today.blocks:
        _card(blocked_document(record, titles))


def _card(card: dict[str, Any]) -> None:
    with st.container(border=True):
        st.markdown(f"**{label(card['ticker'])}** in {label(card['portfolio'])}, {label(card['asked'])}: **{label(card['code'])}**")
        for found in card["findings"]:
            st.markdown(f":material/block: **{label(found['title'])}** ({found['rule']})" + (f", {label(found['over'])}" if found["over"] else ""))
            say(_facts(found))
            st.markdown(f"What would change it: {found['lifted_by']}")
        if card["also"]:
            st.caption("It would have been cut as well by:")
            say("\n".join(card["also"]))
        link("decision", "Open the decision", id=card["decision_id"])


def _facts(found: dict[str, Any]) -> str:
    lines = [found["reason"] or "no rule was asked"]
    if found["value"] is not None or found["limit"] is not None:
        lines.append(f"attempted {found['value'] or NOTHING}, limit {found['limit'] or NOTHING}")
    if found["settings"]:
        lines.append(f"mandate: {', '.join(found['settings'])}")
    return "\n".join(lines)


def _ran(today: Today) -> None:
    st.subheader("What ran", anchor=False)
    if today.sweeps:
        st.dataframe(sweep_rows(today.sweeps), hide_index=True)
    elif today.earlier_sweep is not None:
        st.caption(f"No sweep in this session. The last one was as of {instant(today.earlier_sweep['as_of'])}, of {label(today.earlier_sweep['portfolio'])}.")
    else:
        st.caption("No sweep yet. `alphaagent sweep` goes over the watchlists; `alphaagent schedule` does it after every close.")
    undone = undone_rows(today.sweeps)
    if undone:
        st.markdown("**Skipped or failed**")
        st.dataframe(undone, hide_index=True)
    short = unpaid(today.sweeps)
    if short:
        st.warning(
            f"The money did not reach the debates of {label(', '.join(short))}: they may have been sold, and were not bought.", icon=":material/payments:"
        )
    failed = [(one.night.name, each) for one in today.portfolios for each in one.night.failures]
    if failed:
        st.markdown("**Nothing was decided**")
        st.dataframe([{"portfolio": name, "ticker": each.ticker, "code": inert(each.word)} for name, each in failed], hide_index=True)


def _spend(today: Today) -> None:
    st.subheader("Models", anchor=False)
    ceiling = "no ceiling" if today.digest.ceiling is None else f"of a ceiling of {money(today.digest.ceiling)}"
    held = f", {money(today.spent.reserved)} reserved" if today.spent.reserved else ""
    st.markdown(f"**{money(today.spent.booked)}** spent on {today.spend_day} (UTC){held}, {ceiling}, in {today.spent.calls} calls.")
    if today.spent.unpriced:
        st.warning(f"{today.spent.unpriced} debates had no known price and are not in this sum.", icon=":material/price_check:")
    if today.digest.ceiling:
        used = (today.spent.booked + today.spent.reserved) / today.digest.ceiling
        st.progress(min(1.0, float(used)), text=f"{used * 100:.0f}% of the ceiling is used or reserved")
    for name, budget in today.budgets.items():
        spent = sum((line.total.booked for line in today.spend_lines if line.portfolio == name), Decimal(0))
        st.caption(f"{label(name)}: {money(spent)} of a budget of {money(budget)}")
    if today.budgets_fault:
        st.warning(label(today.budgets_fault), icon=":material/settings_alert:")


def _next(reader: Reader, run: NextRun) -> None:
    st.subheader("The next run", anchor=False)
    if run.fault:
        st.warning(f"It cannot be told: {label(run.fault, 600)}", icon=":material/settings_alert:")
        say(run.fix or "")
        return
    state, _, _ = reader.control()
    if state == "HALTED":
        st.warning("HALTED: nothing of this will run before `alphaagent resume`.", icon=":material/block:")
    for exchange, at in run.due:
        st.markdown(f"`alphaagent schedule` sweeps after the close of {label(exchange)}: **{instant(at)}**")
    if not run.due:
        st.markdown(
            "Nothing runs by itself over recorded data: run `alphaagent sweep`."
            if not reader.is_live
            else "The schedule sweeps nothing: run `alphaagent sweep`."
        )
    for one in run.rounds:
        when = f", as of {instant(one.as_of)}, the last session that all its names have" if one.as_of else ""
        st.markdown(f"**{label(one.portfolio)}**: {len(one.names)} names{when}. Cost: {label(cost_text(one.cost, one.budget))}.")
        if one.fault:
            st.warning(label(one.fault, 600), icon=":material/database_off:")
    st.caption(f"Who speaks: {label(run.model)}" if run.model else "No model is configured: the heuristic engine decides, and that costs nothing.")
    rows = next_rows(run.rounds)
    if rows:
        st.dataframe(rows, hide_index=True)


def _amounts(*columns: str) -> dict[str, Any]:
    return {column: st.column_config.NumberColumn(format="%.2f") for column in columns}
