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
from alphaagent.domain.base import canonical, instant_text, plain, sha256_hex
from alphaagent.domain.debate import DebateSummary, EngineResult
from alphaagent.domain.portfolio import OrderStatus, Portfolio
from alphaagent.domain.record import DecisionRecord
from alphaagent.ledger import audit, rows, schema
from alphaagent.ledger.audit import Event
from alphaagent.ledger.facts import FACTS, fact, facts_hash
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
        self._ordered: dict[str, Any] = {}

    def write(self, decisions: int, portfolios: Sequence[Portfolio], tickers: int) -> None:
        self._keep(canonical(build.snapshot()))
        self._ordered = rows.order_row(build.order("", portfolios[0])).model_dump()
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
        as_of, ruling = self._place.calendar.closes(session) + SECOND, shape.record.ruling
        named = {"decision_id": f"dec_{number:016x}", "instrument_id": f"XNAS:{ticker}"}
        asked = {"ticker": ticker, "as_of": instant_text(as_of), "session": session.isoformat(), "portfolio": portfolio.name, "slot": "sweep"}
        ruled_on = shape.document["ruling"] | {"evaluated_at": instant_text(as_of)}
        kept = self._keep(_canonical({**shape.document, **named, "request": shape.document["request"] | asked, "ruling": ruled_on}))
        decided = {**shape.decided, "id": named["decision_id"], "portfolio_id": portfolio.id, "idem_key": f"key-{number}", "record_sha256": kept}
        decided |= {"instrument_id": named["instrument_id"], "ticker": ticker, "session": asked["session"], "as_of": to_micros(as_of), "slot": "sweep"}
        ruled = {**shape.ruled, "decision_id": decided["id"], "evaluated_at": to_micros(as_of), "ruling_json": _canonical(ruled_on).decode()}
        self._add(schema.DecisionRow, decided)
        self._add(schema.GuardResultRow, {name: value for name, value in ruled.items() if name != "id"})
        ordered = ruling.outcome != "BLOCK" and decided["action"] != "HOLD"
        order = self._order(decided, portfolio, as_of) if ordered else None
        said = {"action": decided["action"], "amount": decided["amount_text"], "p_up": f"0.{40 + number % 21}", "sentiment": decided["sentiment"]}
        self._append(
            Event(
                kind="decision",
                at=as_of,
                portfolio=portfolio.name,
                ticker=ticker,
                decision_id=decided["id"],
                outcome=decided["outcome"],
                codes=ruling.codes,
                proposal=said if decided["action"] else None,
                limits_hash=ruling.limits_hash,
                snapshot=ruling.snapshot_hash,
                guard_version=ruling.guard_version,
                rows_hash=facts_hash([_fact("decision", decided), _fact("guard_result", ruled)]),
                order_hash=facts_hash([_fact("orders", order)]) if order else None,
                detail={"record": kept, "session": asked["session"], "slot": "sweep", "provenance": decided["provenance"]},
            )
        )
        if order is not None:
            self._expire(order, portfolio, self._place.calendar.opens(self._place.calendar.next_session(session)))

    def _order(self, decided: Mapping[str, Any], portfolio: Portfolio, as_of: datetime) -> dict[str, Any]:
        named = {"id": f"o-{decided['id']}", "decision_id": decided["id"], "portfolio_id": portfolio.id, "instrument_id": decided["instrument_id"]}
        return {**self._ordered, **named, "symbol": decided["ticker"], "side": decided["action"], "decided_at": to_micros(as_of)}

    def _expire(self, order: dict[str, Any], portfolio: Portfolio, at: datetime) -> None:
        ended = order | {"status": OrderStatus.EXPIRED.value, "closed_at": to_micros(at)}
        self._add(schema.OrderRow, ended)
        detail = {"status": ended["status"], "reason": "no bar"}
        known = {"portfolio": portfolio.name, "ticker": order["symbol"], "decision_id": order["decision_id"]}
        self._append(Event("unfilled", at, **known, order_hash=facts_hash([_fact("orders", ended)]), detail=detail))

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
        self._add(schema.AuditLogRow, searched | hashed)

    def _keep(self, content: bytes) -> str:
        sha256 = sha256_hex(content)
        self._add(schema.BlobRow, {"sha256": sha256, "content": content})
        return sha256

    def _add(self, table: type[Any], row: dict[str, Any]) -> None:
        self._rows.setdefault(table, []).append(row)

    def _flush(self) -> None:
        for table in (schema.BlobRow, schema.DecisionRow, schema.GuardResultRow, schema.OrderRow, schema.AuditLogRow):
            schema.insert_rows(self._session, table, self._rows.pop(table, []))


def _canonical(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def _fact(table: str, row: Mapping[str, Any]) -> Any:
    return fact(table, [row[column] for column in FACTS[table]])


def _turns(portfolios: Sequence[Portfolio], tickers: int) -> Iterator[tuple[Portfolio, str, date]]:
    """Session by session, portfolio by portfolio, name by name."""
    for place in count(FIRST_SESSION):
        for portfolio in portfolios:
            for number in range(tickers):
                yield portfolio, f"T{number:03d}", date.fromisoformat(sessions()[place])


if __name__ == "__main__":
    import sys

    make(Path(sys.argv[1]), int(sys.argv[2]), octets=int(sys.argv[3]))
