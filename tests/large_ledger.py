"""A home with a ledger of as many decisions as a test wants, written row by row past the program, with the chain that the program would have written.

Its records are valid and as long as `octets` says; what they say is the same in all of one kind. The prices are those of tests/synthetic.py.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

from sqlmodel import Session

from alphaagent.bootstrap import Workplace
from alphaagent.clock import WallClock
from alphaagent.domain.base import canonical, plain, sha256_hex
from alphaagent.domain.debate import DebateSummary, EngineResult
from alphaagent.domain.portfolio import OrderStatus, Portfolio
from alphaagent.domain.record import DecisionRecord
from alphaagent.ledger import audit, rows, schema
from alphaagent.ledger.audit import Event
from alphaagent.ledger.facts import fact_of, facts_hash
from alphaagent.ledger.store import SqlStore
from alphaagent.ledger.units import to_micros
from tests import builders as build
from tests.synthetic import sessions, workplace, write_home

AT_ONCE = 1000
FIRST_SESSION = 40
FAILS_EVERY = 500
SECOND = timedelta(seconds=1)
Kind = tuple[str, str, str | None, str, str, str | None]
"""Engine, provenance, action, outcome, code, debate class."""
KINDS: tuple[Kind, ...] = (
    ("heuristic", "heuristic", "HOLD", "APPROVE", "NO_ORDER", None),
    ("heuristic", "heuristic", "BUY", "APPROVE", "APPROVED", None),
    ("heuristic", "heuristic", "SELL", "APPROVE", "APPROVED", None),
    ("heuristic", "heuristic", "BUY", "CLIP", "CLIP_CASH", None),
    ("heuristic", "heuristic", "BUY", "BLOCK", "MAX_ORDERS_DAY", None),
    ("heuristic", "fallback", "HOLD", "APPROVE", "NO_ORDER", None),
    *(("crew", "crew", "BUY", "APPROVE", "APPROVED", found) for found in (None, "earned", "mixed", "stubborn", "hollow")),
    ("crew", "crew", "SELL", "BLOCK", "LOW_QUALITY_DEBATE", "theater"),
    ("crew", "crew", None, "BLOCK", "BAD_ACTION", "earned"),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of decision, of which each is a copy."""

    record: DecisionRecord
    document: Mapping[str, Any]
    decided: Mapping[str, Any]
    ruled: Mapping[str, Any]


def make(home: Path, decisions: int, *, tickers: int = 200, octets: int = 0) -> Workplace:
    """A home with so many decisions, spread over two portfolios, these tickers and as many sessions as that takes."""
    place = workplace(write_home(home, tickers))
    with SqlStore.open(place.settings.database_url, WallClock(), ledger_uuid="6f1c7c1e-0f53-4c0e-9c53-0d5a7a5f0002") as store:
        with store.write() as books:
            for ticker in place.desk.market.tickers():
                books.register(place.desk.market.resolve(ticker, date(2020, 1, 2))[0])
            at = place.calendar.closes(place.calendar.first)
            both = [books.create_portfolio(name, currency="USD", kind="paper", mandate="default", cash=Decimal(100_000), at=at) for name in ("default", "beta")]
            books.record_limits(both[0], build.ruling(build.snapshot()).limits_hash, b'{"name":"default"}', at)
        with store._writing() as session:
            _Bulk(session, place, [_shape(kind, octets) for kind in KINDS]).write(decisions, both, tickers)
    return place


def _shape(kind: Kind, octets: int) -> Shape:
    engine, provenance, action, outcome, code, found = kind
    debate = DebateSummary(plan="standard", rounds=(), outcome=None, debate_class=found, flags=()) if engine == "crew" else None  # type: ignore[arg-type]
    record = build.record(
        provenance=provenance,
        result=EngineResult(engine=engine, proposal_text="{}", bull_case=build.case("bull"), bear_case=build.case("bear"), debate=debate),  # type: ignore[arg-type]
        proposal=build.proposal(action, "0" if action == "HOLD" else "1000") if action else None,
        ruling=build.ruling(build.snapshot(), outcome=outcome, code=code, codes=(code,)),
    )
    longer = record.result.model_copy(update={"bull_case": record.result.bull_case.model_copy(update={"summary": "in short " + "x" * octets})})
    document: Any = plain(record.model_copy(update={"result": longer}))
    decided, ruled = rows.decision_row(record, 1, "", "r"), rows.guard_row("", record.ruling)
    return Shape(record, document, decided.model_dump(), ruled.model_dump())


class _Bulk:
    """Writes rows in lots, and keeps the chain."""

    def __init__(self, session: Session, place: Workplace, shapes: Sequence[Shape]) -> None:
        self._session, self._place, self._shapes = session, place, shapes
        self._seq, self._head = audit.last(session)
        self._rows: dict[type[Any], list[dict[str, Any]]] = {}

    def write(self, decisions: int, portfolios: Sequence[Portfolio], tickers: int) -> None:
        self._keep(canonical(build.snapshot()))
        for number, (portfolio, ticker, session) in zip(range(decisions), _turns(portfolios, tickers), strict=False):
            self._decide(number, self._shapes[number % len(self._shapes)], portfolio, ticker, session)
            if number % FAILS_EVERY == FAILS_EVERY - 1:
                self._fail(ticker, portfolio, self._place.calendar.closes(session))
            if number % AT_ONCE == AT_ONCE - 1:
                self._flush()
        self._flush()
        head = self._session.get(schema.ControlStateRow, audit.HEAD_KEY)
        assert head is not None
        head.value = audit.head_text(self._seq, self._head)

    def _decide(self, number: int, shape: Shape, portfolio: Portfolio, ticker: str, session: date) -> None:
        as_of, template = self._place.calendar.closes(session) + SECOND, shape.record
        named = {"decision_id": f"dec_{number:016x}", "instrument_id": f"XNAS:{ticker}"}
        asked: dict[str, Any] = {"ticker": ticker, "as_of": as_of, "session": session.isoformat(), "portfolio": portfolio.name, "slot": "sweep"}
        request = template.request.model_copy(update=asked)
        ruling = template.ruling.model_copy(update={"evaluated_at": as_of})
        document = {**shape.document, **named, "request": plain(request), "ruling": plain(ruling)}
        kept = self._keep(json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode())
        changed = {"id": named["decision_id"], "portfolio_id": portfolio.id, "idem_key": f"key-{number}", "instrument_id": named["instrument_id"]}
        changed |= {"ticker": ticker, "session": session.isoformat(), "as_of": to_micros(as_of), "slot": "sweep", "record_sha256": kept}
        decided = schema.DecisionRow(**{**shape.decided, **changed})
        judged = {"decision_id": decided.id, "evaluated_at": to_micros(as_of), "ruling_json": canonical(ruling).decode()}
        ruled = schema.GuardResultRow(**{**shape.ruled, **judged})
        self._add(decided, ruled)
        order = self._order(decided, portfolio, as_of) if ruling.outcome != "BLOCK" and decided.action != "HOLD" else None
        said = {"action": decided.action, "amount": decided.amount_text, "p_up": f"0.{40 + number % 21}", "sentiment": decided.sentiment}
        self._append(
            Event(
                kind="decision",
                at=as_of,
                portfolio=portfolio.name,
                ticker=ticker,
                decision_id=decided.id,
                outcome=decided.outcome,
                codes=ruling.codes,
                proposal=said if decided.action else None,  # type: ignore[arg-type]
                limits_hash=ruling.limits_hash,
                snapshot=ruling.snapshot_hash,
                guard_version=ruling.guard_version,
                rows_hash=facts_hash([fact_of(decided), fact_of(ruled)]),
                order_hash=facts_hash([fact_of(order)]) if order else None,
                detail={"record": kept, "session": decided.session, "slot": "sweep", "provenance": decided.provenance},
            )
        )
        if order is not None:
            self._expire(order, portfolio, self._place.calendar.opens(self._place.calendar.next_session(session)))

    def _order(self, decided: schema.DecisionRow, portfolio: Portfolio, as_of: datetime) -> schema.OrderRow:
        made = build.order(decided.id, portfolio, side=decided.action or "", decided_at=as_of, instrument_id=decided.instrument_id, symbol=decided.ticker)
        return rows.order_row(made)

    def _expire(self, order: schema.OrderRow, portfolio: Portfolio, at: datetime) -> None:
        order.status, order.closed_at = OrderStatus.EXPIRED.value, to_micros(at)
        self._add(order)
        detail = {"status": order.status, "reason": "no bar"}
        known = {"portfolio": portfolio.name, "ticker": order.symbol, "decision_id": order.decision_id}
        self._append(Event("unfilled", at, **known, order_hash=facts_hash([fact_of(order)]), detail=detail))

    def _fail(self, ticker: str, portfolio: Portfolio, at: datetime) -> None:
        kept = self._keep(f"no answer {self._seq}".encode())
        self._append(Event("failure", at, portfolio=portfolio.name, ticker=ticker, codes=("PROVIDER",), detail={"message_hash": kept}))

    def _append(self, event: Event) -> None:
        self._seq += 1
        payload = event.payload(self._seq, event.at)
        leaf = audit.leaf(payload)
        before, self._head = self._head, audit.link(self._seq, self._head, leaf)
        searched = {"seq": self._seq, "kind": event.kind, "decision_id": event.decision_id, "txn_id": None, "at": to_micros(event.at)}
        hashed = {"prev": before, "payload": payload.decode(), "payload_hash": leaf, "hash": self._head}
        self._rows.setdefault(schema.AuditLogRow, []).append(searched | hashed)

    def _keep(self, content: bytes) -> str:
        sha256 = sha256_hex(content)
        self._rows.setdefault(schema.BlobRow, []).append({"sha256": sha256, "content": content})
        return sha256

    def _add(self, *made: Any) -> None:
        for row in made:
            columns = row.model_dump()
            self._rows.setdefault(type(row), []).append({name: value for name, value in columns.items() if (name, value) != ("id", None)})

    def _flush(self) -> None:
        for table in (schema.BlobRow, schema.DecisionRow, schema.GuardResultRow, schema.OrderRow, schema.AuditLogRow):
            schema.insert_rows(self._session, table, self._rows.pop(table, []))


def _turns(portfolios: Sequence[Portfolio], tickers: int) -> Iterator[tuple[Portfolio, str, date]]:
    """Session by session, portfolio by portfolio, name by name."""
    for place in count(FIRST_SESSION):
        for portfolio in portfolios:
            for number in range(tickers):
                yield portfolio, f"T{number:03d}", date.fromisoformat(sessions()[place])


if __name__ == "__main__":
    import sys

    make(Path(sys.argv[1]), int(sys.argv[2]), octets=int(sys.argv[3]))
