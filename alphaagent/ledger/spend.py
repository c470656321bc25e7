"""What model calls cost. Before a debate begins, the most that it can cost is reserved; after it, what it did cost is booked, once.

Chosen on purpose: the ceiling of a day is checked in the transaction that reserves, so that it holds across processes; and a reservation that
nobody books stays counted at its most for its day, because whoever died may have spent it. A booking has an audit row, a reservation has none:
it only ever makes the day tighter. Fractions of a millionth are rounded up.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import groupby
from uuid import uuid4

from sqlmodel import Session, col, func, select

from alphaagent.domain.base import Json, decimal_text
from alphaagent.domain.record import Usage
from alphaagent.domain.spend import SpendAsk, SpendLimit, SpendLine, SpendRef, SpendTotal
from alphaagent.errors import AlphaAgentError, SpendRefused
from alphaagent.ledger.journal import Journal
from alphaagent.ledger.schema import ModelSpendRow
from alphaagent.ledger.units import from_micros, from_units, raised_units, to_micros
from alphaagent.ports import AuditRef

RESERVED, BOOKED = "reserved", "booked"
CEILING_FIX = "raise ALPHAAGENT_DAILY_SPEND_USD, or wait for the next UTC day; `alphaagent spend` shows what it went to"


def reserve(journal: Journal, ask: SpendAsk, ceiling: Decimal | None, at: datetime, limits: Sequence[SpendLimit] = ()) -> SpendRef:
    """Holds the most that a debate can cost. SpendRefused where the day's ceiling or a limit of the portfolio would be passed, or has nothing to
    count with."""
    most, rows = _units(ask.most), _rows(journal.session, ask.day)
    if ceiling is not None:
        _refuse_above(SpendLimit("the ceiling", ceiling, CEILING_FIX), ask, _total(rows))
    for limit in limits:
        _refuse_above(limit, ask, _total(row for row in rows if row.portfolio == ask.portfolio))
    row = ModelSpendRow(
        token=uuid4().hex,
        day=ask.day.isoformat(),
        portfolio=ask.portfolio,
        ticker=ask.ticker,
        provider=ask.provider,
        model=ask.model,
        state=RESERVED,
        reserved=most,
        price_known=int(most is not None),
        at=to_micros(at),
    )
    journal.insert(row)
    return SpendRef(row.token, ask.day)


def _refuse_above(limit: SpendLimit, ask: SpendAsk, spent: SpendTotal) -> None:
    if ask.most is None:
        raise SpendRefused(
            f"{ask.provider}/{ask.model} has no price in prices.yaml, and {limit.what} of {limit.usd:f} USD a day cannot be kept without one",
            fix="add the model's price to prices.yaml, or set ALPHAAGENT_DAILY_SPEND_USD=off to go without a ceiling",
        )
    asked = from_units(raised_units(ask.most))
    if spent.booked + spent.reserved + asked > limit.usd:
        raise SpendRefused(
            f"{limit.what} of {limit.usd:f} USD for {ask.day} (UTC) would be passed:"
            f" {spent.booked:f} is spent, {spent.reserved:f} is reserved, and this debate may take {asked:f}",
            fix=limit.fix,
        )


def book(journal: Journal, token: str, usage: Usage, cost: Decimal | None, decision_id: str | None, at: datetime) -> AuditRef:
    """Turns a reservation into what was spent; `cost` is None where the price is not known. AlphaAgentError where that was done before."""
    row = _reservation(journal.session, token)
    if min(usage.calls, usage.prompt_tokens, usage.completion_tokens) < 0:
        raise AlphaAgentError(f"a spend cannot be booked with less than nothing: {usage}")
    row.calls, row.prompt_tokens, row.completion_tokens = usage.calls, usage.prompt_tokens, usage.completion_tokens
    row.state, row.cost, row.price_known, row.decision_id = BOOKED, _units(cost), int(cost is not None), decision_id
    journal.update(row)
    return journal.append("spend", at, portfolio=row.portfolio, ticker=row.ticker, decision_id=decision_id, rows=(row,), detail=_detail(row))


def _detail(row: ModelSpendRow) -> dict[str, Json]:
    """What the audit row says in words; the row's hash covers the rest."""
    counted: dict[str, Json] = {name: getattr(row, name) for name in ("token", "day", "provider", "model", "calls", "prompt_tokens", "completion_tokens")}
    return counted | {"cost": None if row.cost is None else decimal_text(from_units(row.cost))}


def _reservation(session: Session, token: str) -> ModelSpendRow:
    row = session.get(ModelSpendRow, token)
    if row is None or row.state != RESERVED:
        raise AlphaAgentError(f"the spend {token} {'was never reserved' if row is None else 'has been booked before'}")
    return row


def total(session: Session, day: date, portfolio: str | None) -> SpendTotal:
    """What a day adds up to, of one portfolio or of all."""
    return _total(row for row in _rows(session, day) if portfolio in (None, row.portfolio))


def last_debates(session: Session, portfolio: str) -> dict[str, datetime]:
    """When money was last held for a debate on each ticker of a portfolio, whatever came of it."""
    query = select(ModelSpendRow.ticker, func.max(ModelSpendRow.at)).where(ModelSpendRow.portfolio == portfolio).group_by(col(ModelSpendRow.ticker))
    return {ticker: from_micros(at) for ticker, at in session.exec(query)}


def lines(session: Session, day: date) -> tuple[SpendLine, ...]:
    """What a day went to: portfolio, provider and model, in this order."""
    grouped = groupby(_rows(session, day), key=lambda row: (row.portfolio, row.provider, row.model))
    return tuple(SpendLine(*key, _total(rows)) for key, rows in grouped)


def _rows(session: Session, day: date) -> list[ModelSpendRow]:
    query = select(ModelSpendRow).where(ModelSpendRow.day == day.isoformat())
    return list(session.exec(query.order_by(col(ModelSpendRow.portfolio), col(ModelSpendRow.provider), col(ModelSpendRow.model))).all())


def _total(rows: Iterable[ModelSpendRow]) -> SpendTotal:
    listed = list(rows)
    return SpendTotal(
        booked=from_units(sum(row.cost or 0 for row in listed)),
        reserved=from_units(sum(row.reserved or 0 for row in listed if row.cost is None)),
        calls=sum(row.calls for row in listed),
        prompt_tokens=sum(row.prompt_tokens for row in listed),
        completion_tokens=sum(row.completion_tokens for row in listed),
        unpriced=sum(not row.price_known for row in listed),
        open=sum(row.state == RESERVED for row in listed),
    )


def _units(amount: Decimal | None) -> int | None:
    return None if amount is None else raised_units(amount)
