"""The ledger inside one transaction: what it holds, and every act that changes it.

Each act appends exactly one audit row in the same transaction, and that row carries the hashes of what the act wrote. Rows are never
changed, but for an order's outcome, the kill switch and an instrument's description.
"""

import json
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import get_args

from sqlmodel import Session, col, select

from alphaagent.domain.base import Json, canonical, decimal_text
from alphaagent.domain.lots import Gain, Lot, LotMethod, OpeningLot
from alphaagent.domain.market import CorporateAction, Instrument
from alphaagent.domain.notice import NOBODY, Routes
from alphaagent.domain.portfolio import Account, Activity, FrozenName, Order, OrderStatus, Portfolio, PortfolioKind
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import ControlState, GuardSnapshot, Ruling
from alphaagent.domain.sweep import Swept
from alphaagent.errors import UsageFault
from alphaagent.ledger import accounts, activity, audit, catalogue, decisions, freezes, happened, opening, postings, rows, settlement, sweeps
from alphaagent.ledger.journal import Journal, last_fault, schema_version
from alphaagent.ledger.schema import VERSION, ControlStateRow, LimitsRow, PortfolioRow
from alphaagent.ledger.units import from_micros, to_micros, to_units
from alphaagent.ports import ActionBooked, AuditRef, Claim, Clock, Control

KILL_SWITCH = "kill_switch"


class SqlBooks:
    """`ports.Books` over one session, whose transaction is the store's."""

    def __init__(self, session: Session, clock: Clock, routes: Routes = NOBODY) -> None:
        self._session = session
        self._journal = Journal(session, clock, routes)

    # Portfolios

    def portfolio(self, name: str) -> Portfolio | None:
        row = self._session.exec(select(PortfolioRow).where(PortfolioRow.name == name)).first()
        return rows.portfolio(row) if row else None

    def portfolios(self) -> tuple[Portfolio, ...]:
        return tuple(rows.portfolio(row) for row in self._session.exec(select(PortfolioRow).order_by(col(PortfolioRow.id))))

    def create_portfolio(self, name: str, *, currency: str, kind: PortfolioKind, mandate: str, cash: Decimal, at: datetime) -> Portfolio:
        if not name or self.portfolio(name) is not None:
            raise UsageFault(f"a portfolio named {name!r} cannot be made: the name is empty or taken", fix="choose another name")
        if cash < 0:
            raise UsageFault(f"a portfolio cannot open with {cash}", fix="give an amount of zero or more")
        row = PortfolioRow(name=name, currency=currency, kind=kind, mandate=mandate, opened_at=to_micros(at))
        self._journal.insert(row)
        made = rows.portfolio(row)
        booked = self._journal.book(made, "deposit", postings.deposit(to_units(cash), currency, at.date()), at, at.date()) if cash else None
        detail = {"cash": decimal_text(cash), "currency": currency, "mandate": mandate}
        self._journal.append("portfolio_created", at, portfolio=name, rows=(row,), booked=booked, detail=detail)
        return made

    def withdraw(self, portfolio: Portfolio, amount: Decimal, at: datetime) -> AuditRef:
        """Settled cash that no order has reserved goes back to the owner."""
        if amount <= 0:
            raise UsageFault(f"{amount} cannot be withdrawn", fix="give an amount above zero")
        state = self.account(portfolio, at=at)
        free = state.settled_cash - state.reserved()
        if amount > free:
            parts = f"{state.cash:f} cash, of which {state.settled_cash:f} is settled and {state.reserved():f} is reserved by pending orders"
            raise UsageFault(
                f"{amount:f} {portfolio.currency} cannot be withdrawn from {portfolio.name}: {max(free, Decimal(0)):f} is available ({parts})",
                fix="withdraw less, or wait until sales have settled",
            )
        booked = self._journal.book(portfolio, "withdrawal", postings.deposit(-to_units(amount), portfolio.currency, at.date()), at, at.date())
        return self._journal.append("withdrawal", at, portfolio=portfolio.name, booked=booked, detail={"amount": decimal_text(amount)})

    def refuse_import(self, portfolio: Portfolio) -> None:
        opening.refuse_history(self._session, portfolio)

    def record_import(self, portfolio: Portfolio, lots: Sequence[OpeningLot], cash: Decimal, source_sha256: str, at: datetime) -> AuditRef:
        return opening.record_import(self._journal, portfolio, lots, cash, source_sha256, at)

    def deposit(self, portfolio: Portfolio, amount: Decimal, at: datetime) -> AuditRef:
        if amount <= 0:
            raise UsageFault(f"{amount} cannot be deposited", fix="give an amount above zero")
        booked = self._journal.book(portfolio, "deposit", postings.deposit(to_units(amount), portfolio.currency, at.date()), at, at.date())
        return self._journal.append("deposit", at, portfolio=portfolio.name, booked=booked, detail={"amount": decimal_text(amount)})

    def account(self, portfolio: Portfolio, *, at: datetime | None = None) -> Account:
        return accounts.account(self._session, portfolio, at)

    def activity(self, portfolio: Portfolio, instrument_id: str, session: date, at: datetime) -> Activity:
        return activity.activity(self._session, portfolio.id, instrument_id, session, at)

    # Kill switch and soundness

    def control(self) -> Control | None:
        row = self._session.get(ControlStateRow, KILL_SWITCH)
        return _control(row.value) if row else None

    def set_control(self, state: ControlState, reason: str, actor: str, at: datetime) -> AuditRef | None:
        before = self.control()
        if before is not None and before.state == state:
            return None
        self.write_control(state, reason, at)
        detail = {"state": state, "before": before.state if before else None, "reason": reason}
        return self._journal.append("control_changed", at, actor=actor, detail=detail)

    def write_control(self, state: ControlState, reason: str, at: datetime) -> None:
        """The row alone, for a new ledger; `set_control` is the audited act."""
        row = self._session.get(ControlStateRow, KILL_SWITCH) or ControlStateRow(key=KILL_SWITCH, value="", version=0)
        row.value = canonical({"state": state, "reason": reason, "changed_at": to_micros(at)}).decode()
        row.version += 1
        self._journal.update(row)

    def soundness_fault(self) -> str | None:
        version = schema_version(self._session)
        if version != VERSION:
            return f"the schema is {version}, not {VERSION}"
        return audit.head_fault(self._session) or last_fault(self._session)

    # Mandates

    def limits_on_file(self, portfolio: Portfolio) -> str | None:
        return self._session.exec(select(LimitsRow.hash).where(LimitsRow.portfolio_id == portfolio.id).order_by(col(LimitsRow.id).desc()).limit(1)).first()

    def limits_document(self, portfolio: Portfolio) -> bytes | None:
        query = select(LimitsRow.document_sha256).where(LimitsRow.portfolio_id == portfolio.id).order_by(col(LimitsRow.id).desc()).limit(1)
        sha256 = self._session.exec(query).first()
        return decisions.blob(self._session, sha256) if sha256 else None

    def record_limits(self, portfolio: Portfolio, limits_hash: str, document: bytes, at: datetime, looser: Sequence[str] = ()) -> AuditRef | None:
        before = self.limits_on_file(portfolio)
        if before == limits_hash:
            return None
        row = LimitsRow(portfolio_id=portfolio.id, hash=limits_hash, document_sha256=self._journal.keep(document), at=to_micros(at))
        self._journal.insert(row)
        detail = {"before": before, "limits_id": row.id, "looser": list(looser)}
        return self._journal.append("limits_changed", at, portfolio=portfolio.name, limits_hash=limits_hash, rows=(row,), detail=detail)

    # Decisions and what becomes of them

    def record_decision(self, claim: Claim, record: DecisionRecord, order: Order | None, transcript: bytes | None = None) -> AuditRef:
        portfolio = self.portfolio(record.request.portfolio)
        if portfolio is None:
            raise UsageFault(f"there is no portfolio {record.request.portfolio!r}", fix="create it first")
        return decisions.record_decision(self._journal, portfolio, claim, record, order, transcript)

    def record_failure(self, tickers: str | Sequence[str], portfolio: str, code: str, message: str, at: datetime, transcript: bytes | None = None) -> AuditRef:
        named = (tickers,) if isinstance(tickers, str) else tuple(tickers)
        detail: dict[str, Json] = {"message_hash": self._journal.keep(message.encode("utf-8", "backslashreplace"))}
        detail |= decisions.kept_transcript(self._journal, transcript) | ({"tickers": named} if len(named) > 1 else {})
        return self._journal.append(
            "failure", at, portfolio=portfolio, ticker=named[0] if len(named) == 1 else None, codes=(code,), detail=detail, said=message
        )

    def record_sweep(self, portfolio: str, swept: Swept, at: datetime) -> AuditRef | None:
        return sweeps.record(self._journal, portfolio, swept, at)

    def record_fill(
        self,
        order: Order,
        snapshot: GuardSnapshot,
        ruling: Ruling,
        *,
        price: Decimal,
        fee: Decimal,
        at: datetime,
        settle_on: date,
        lot_method: LotMethod = "fifo",
    ) -> AuditRef:
        return settlement.record_fill(self._journal, order, snapshot, ruling, settlement.Fill(price, fee, at, settle_on, lot_method))

    def record_unfilled(self, order: Order, status: OrderStatus, reason: str, at: datetime, snapshot: GuardSnapshot | None, ruling: Ruling | None) -> AuditRef:
        return settlement.record_unfilled(self._journal, order, status, reason, at, snapshot, ruling)

    def record_action(self, portfolio: Portfolio, instrument: Instrument, action: CorporateAction, at: datetime) -> ActionBooked | None:
        return settlement.record_action(self._journal, portfolio, instrument, action, at)

    def frozen(self, portfolio: Portfolio) -> frozenset[str]:
        return frozenset(name.instrument_id for name in self.frozen_names(portfolio))

    def frozen_names(self, portfolio: Portfolio) -> tuple[FrozenName, ...]:
        return freezes.names(self._session, portfolio)

    def unfreeze(self, portfolio: Portfolio, instrument_id: str, reason: str, actor: str, at: datetime) -> AuditRef:
        return freezes.unfreeze(self._journal, portfolio, instrument_id, reason, actor, at)

    # Lots

    def lots(self, portfolio: Portfolio, *, at: datetime | None = None) -> tuple[Lot, ...]:
        return accounts.lots(self._session, portfolio, at)

    def gains(self, portfolio: Portfolio) -> tuple[Gain, ...]:
        return accounts.gains(self._session, portfolio)

    def waiting(self, portfolio: Portfolio) -> tuple[datetime, tuple[Order, ...]]:
        """The book time, and the orders that wait; no posting is read."""
        return accounts.waiting(self._session, portfolio)

    def booked(self, portfolio: Portfolio) -> tuple[accounts.Booked, ...]:
        """Everything that was ever booked in a portfolio, in the order in which it counts."""
        return accounts.booked(self._session, portfolio)

    def fills(self, portfolio: Portfolio) -> tuple[happened.Filled, ...]:
        """Every fill of a portfolio with the order that it filled, oldest first."""
        return happened.fills(self._session, portfolio)

    def due_orders(self, portfolio: Portfolio | None, fill_by: date) -> tuple[Order, ...]:
        return settlement.due_orders(self._session, portfolio, fill_by)

    # Instruments

    def held_instruments(self, portfolio: Portfolio) -> tuple[Instrument, ...]:
        return catalogue.instruments(self._session, sorted(accounts.holdings(self._session, portfolio.id, None, on=date.max).lots))

    def instruments(self, ids: Sequence[str]) -> tuple[Instrument, ...]:
        return catalogue.instruments(self._session, ids)

    def register(self, instrument: Instrument) -> None:
        catalogue.register(self._session, instrument)


def _control(value: str) -> Control | None:
    """The kill switch of its stored text; None where it cannot be read, which means HALTED."""
    try:
        fields = json.loads(value)
        state, reason, changed_at = fields["state"], fields["reason"], fields["changed_at"]
        return Control(state, str(reason), from_micros(changed_at)) if state in get_args(ControlState) else None
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
