"""What of an audited act is worth telling, its facts, and the rows of the outbox that say so.

An act may make several notices, the most telling first: a target hears of one act once, by the first of them that goes to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from sqlalchemy.dialects.sqlite import insert
from sqlmodel import Session

from alphaagent.domain.base import Json, canonical, decimal_text, instant_text
from alphaagent.domain.notice import Notice, Routes
from alphaagent.domain.text import inert
from alphaagent.ledger.audit import SYSTEM, Event
from alphaagent.ledger.schema import OrderRow, OutboxRow
from alphaagent.ledger.units import from_units, to_micros

LONGEST = 500
"""Of a text that a model, a vendor or a person wrote, in characters."""
AUTOMATIC = (SYSTEM, "guard", "breaker")
"""Actors that are no person."""


def post(session: Session, routes: Routes, notices: Sequence[Notice], at: datetime) -> int:
    """Writes each target the first of these notices that goes to it, in the caller's transaction. How many rows are new; one that is there stays."""
    chosen = {target: notice for notice in reversed(notices) for target in routes.get(notice.topic, ())}
    return sum(_written(session, target, notice, to_micros(at)) for target, notice in sorted(chosen.items()))


def _written(session: Session, target: str, notice: Notice, at: int) -> int:
    new = insert(OutboxRow).on_conflict_do_nothing(index_elements=["target", "dedupe_key"])
    values = {"topic": notice.topic, "target": target, "dedupe_key": notice.key, "payload": canonical(notice.facts).decode(), "created_at": at, "attempts": 0}
    return session.connection().execute(new, values).rowcount


def notices_of(event: Event, anchor: str, order: OrderRow | None, said: str = "") -> tuple[Notice, ...]:
    """The notices of one act; none where it is of no interest. `anchor` is the act's own line for `audit verify --anchor`."""
    return tuple(_notices(event, _facts(event, anchor, said), order))


def _notices(event: Event, facts: dict[str, Json], order: OrderRow | None) -> Iterator[Notice]:
    blocked = event.outcome == "BLOCK"
    match event.kind:
        case "decision":
            if blocked:
                yield Notice("block", f"block:{event.decision_id}:decide", facts)
            if order is not None:
                facts |= _ordered(order, "placed")
                yield Notice("order", f"order:{order.id}:placed", facts)
            yield Notice("decision", f"decision:{event.decision_id}", facts)
        case "fill" | "unfilled" if order is not None:
            status = order.status
            yield Notice("order", f"order:{order.id}:{status}", facts | _ordered(order, status))
            if blocked:
                yield Notice("block", f"block:{event.decision_id}:settle", facts | _ordered(order, status))
        case "control_changed":
            topic = "breaker" if event.actor in AUTOMATIC else "control"
            yield Notice("breaker" if topic == "breaker" else "control", f"{topic}:{_last(facts)}", facts | _detail(event, "state", "before", "reason"))
        case "failure":
            yield Notice("failure", f"failure:{_last(facts)}", facts)
        case "sweep":
            yield Notice("sweep", f"sweep:{_last(facts)}", facts | _pass(event))
        case "frozen":
            yield Notice("frozen", f"frozen:{_last(facts)}", facts | _detail(event, "action", "ex_date"))
        case _:
            pass


def _facts(event: Event, anchor: str, said: str) -> dict[str, Json]:
    facts: dict[str, Json] = {
        "at": instant_text(event.at),
        "actor": event.actor,
        "portfolio": event.portfolio,
        "ticker": event.ticker or _listed(event, "tickers"),
        "outcome": event.outcome,
        "codes": list(event.codes),
        "said": inert(said[:LONGEST]),
        "anchor": anchor,
    }
    if event.proposal is not None:
        facts |= {"action": event.proposal["action"], "amount": event.proposal["amount"]}
    return facts | _detail(event, "provenance", "status", "reason")


def _detail(event: Event, *names: str) -> dict[str, Json]:
    return {name: inert(text[:LONGEST]) for name in names if isinstance(text := event.detail.get(name), str)}


def _listed(event: Event, name: str) -> str | None:
    """Several tickers of one act as one text; None where the act has no such list."""
    found = event.detail.get(name)
    return ", ".join(str(one) for one in found)[:LONGEST] if isinstance(found, list | tuple) and found else None


def _pass(event: Event) -> dict[str, Json]:
    """How a pass over a watchlist ended: how many were decided, and who was not."""
    decided, undone = event.detail.get("decided"), event.detail.get("undone")
    names = [f"{ticker} {how}" for ticker, how in sorted(undone.items())] if isinstance(undone, Mapping) else []
    return {"decided": len(decided) if isinstance(decided, list | tuple) else 0, "undone": len(names), "who": ", ".join(names)[:LONGEST]}


def _ordered(order: OrderRow, status: str) -> dict[str, Json]:
    filled = order.filled_quantity is not None
    price = order.price if filled and order.price is not None else order.decision_price
    return {
        "order": status,
        "side": order.side,
        "quantity": decimal_text(from_units(order.filled_quantity if order.filled_quantity is not None else order.quantity)),
        "price": decimal_text(from_units(price)),
        "fill_session": order.fill_session,
    }


def _last(facts: dict[str, Json]) -> str:
    """The act's hash: an act that has no name of its own is known by it, also where an older copy of the books counts its rows again."""
    return str(facts["anchor"]).rpartition(" ")[2][:32]
