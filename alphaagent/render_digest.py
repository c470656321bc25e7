"""The morning digest in lines that fit one screen, whatever there is to tell: 80 columns, at most 40 rows. Pure; the message on a telephone has the same.

The anchor alone is longer than a line, because it is to be copied whole.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from alphaagent.domain.text import inert

COLUMNS, ROWS = 80, 40
IN_FULL = 3
"""So many portfolios have a block of their own; where there are more, each has a line."""
LABEL = 10


def digest_title(document: Mapping[str, Any]) -> str:
    return f"Digest of {_clock(document['at'])}: session {document['session']}, next open {_clock(document['next_open'])} UTC"


def digest_lines(document: Mapping[str, Any]) -> list[str]:
    """The digest without its title, from the kill switch to the anchor."""
    portfolios = document["portfolios"]
    if len(portfolios) <= IN_FULL:
        told = [line for one in portfolios for line in ("", *_block(one))]
    else:
        room = ROWS - 8
        told = ["", *(_line(one) for one in portfolios[:room])]
        told += [f"and {len(portfolios) - room} more: --portfolio NAME"] if len(portfolios) > room else []
    empty = [] if portfolios else ["", "no portfolio yet"]
    return [*_state(document), *told, *empty, "", f"anchor {document['anchor']}"]


def _state(document: Mapping[str, Any]) -> list[str]:
    control = document["control"]
    by = f" by {' and '.join(control['sources'])}" if control["sources"] else ""
    why = f": {control['reason']}" if control["reason"] else ""
    ceiling = f" of {_money(document['ceiling_usd'])}" if document["ceiling_usd"] else ""
    cost = f"models {_money(document['spent_usd'])} USD{ceiling}"
    books = "books sound" if document["books_fault"] is None else f"BOOKS UNSOUND: {document['books_fault']}"
    unsent = f"{document['unsent']} not sent" if document["unsent"] else "all sent"
    return [_cut(f"{control['state']}{by}{why}"), _cut(f"{cost} | {unsent} | {books}")]


def _block(one: Mapping[str, Any]) -> list[str]:
    lines = [
        _cut(f"{one['portfolio']}: {_worth(one)}, {one['positions']} positions, models {_money(one['spent_usd'])} USD"),
        _listed("to fill", [_to_fill(order) for order in one["to_fill"]]),
        _listed("changed", [_changed(act) for act in one["changed"]]),
        _listed("decided", [f"{count} {action}" for action, count in one["decided"].items()], sum(one["decided"].values())),
        _listed("blocked", [_named(act) for act in one["blocked"]]),
        _listed("failed", [_named(act) for act in one["failed"]]),
    ]
    lines += [_listed("frozen", one["frozen"])] if one["frozen"] else []
    return [*lines, _cut(f"  {'prices':{LABEL}}{_prices(one)}")]


def _line(one: Mapping[str, Any]) -> str:
    holds = one["holds"]
    trouble = [f"{len(one[name])} {name}" for name in ("frozen", "failed", "blocked") if one[name]]
    usual = [f"{len(one['to_fill'])} to fill", f"{len(one['changed'])} changed", f"{sum(one['decided'].values())} decided ({holds} HOLD)"]
    return _cut(f"{one['portfolio']}: {', '.join((*trouble, *usual))}")


def _listed(label: str, items: Sequence[str], count: int | None = None) -> str:
    """How many there are, and as many of them as the line has room for."""
    head = f"  {label:{LABEL}}{len(items) if count is None else count:>3}"
    if not items:
        return head
    for shown in range(min(len(items), COLUMNS // 3), 0, -1):
        more = f", and {len(items) - shown} more" if shown < len(items) else ""
        line = f"{head}: {', '.join(items[:shown])}{more}"
        if len(line) <= COLUMNS:
            return inert(line)
    return _cut(f"{head}: {items[0]}")


def _to_fill(order: Mapping[str, Any]) -> str:
    return f"{order['side']} {_number(order['quantity'])} {order['ticker']} ~{_money(order['price'])}"


def _changed(act: Mapping[str, Any]) -> str:
    if "side" not in act:
        return _named(act)
    done = f"{act['side']} {_number(act['quantity'])} {act['ticker']}"
    return f"{done} at {_money(act['price'])}" if act["status"] == "filled" else f"{done} {act['status']}"


def _named(act: Mapping[str, Any]) -> str:
    return f"{act['ticker']} {act['status']}" if act["ticker"] else str(act["status"])


def _worth(one: Mapping[str, Any]) -> str:
    nav = "unknown, a price is missing" if one["equity"] is None else f"{_money(one['equity'])} {one['currency']}"
    return f"NAV {nav}, cash {_money(one['cash'])}"


def _prices(one: Mapping[str, Any]) -> str:
    prices = one["prices"]
    if prices is None:
        return "nothing is held or ordered"
    if not prices["behind"]:
        return f"to {prices['last_session']}, the last session"
    return f"of {prices['ticker']} only to {prices['last_session']}" if prices["last_session"] else f"of {prices['ticker']} unknown"


def _cut(line: str) -> str:
    line = inert(line[: COLUMNS + 1])
    return line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"


def _clock(instant: str) -> str:
    return f"{instant[:10]} {instant[11:16]}"


def _money(text: str) -> str:
    return f"{Decimal(text):,.2f}"


def _number(text: str) -> str:
    return f"{Decimal(text).normalize():f}"
