"""A blocked order as a card: which limit, what was asked for, by how much that is too much, and what would change it. Pure, like views.py."""

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from alphaagent.domain.base import instant_text
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import RuleTrace

Document = dict[str, Any]

UNITS = {
    "D6": "a share",
    "D7": "a session",
    "G1": "orders",
    "G2": "orders",
    "G3": "proposals",
    "G5": "in a session",
    "H1": "",
    "H2": "shares",
    "H4": "",
    "H5": "shares",
    "H6": "",
    "H7": "",
    "H8": "",
    "H9": "",
    "H10": "",
    "H12": "",
    "H13": "",
    "I1": "",
}
"""The rules whose value and limit are two amounts of one thing, with what comes after the number; of the others a difference would say nothing."""
IN_MONEY = frozenset({"D6", "D7", "G5", "H1", "H4", "H6", "H7", "H8", "H9", "H10", "H12", "H13", "I1"})
AT_LEAST = frozenset({"D6", "D7", "I1"})
"""Rules whose limit is the least that there must be."""

LIFTED = {
    "KILL_HALTED": "`alphaagent resume --reason WHY`, once the reason for the halt is gone.",
    "KILL_REDUCING": "`alphaagent resume --reason WHY`; until then only sales pass.",
    "BOOKS_UNSOUND": "`alphaagent audit verify` says what is wrong; restore the ledger from a backup.",
    "CLOCK_UNSOUND": "A later --as-of: a book does not go back.",
    "LIMITS_INVALID": "`alphaagent mandate check`; the next decision puts a valid mandate on file.",
    "MODE_MISMATCH": "A run of the kind that this portfolio is made for.",
    "DUPLICATE_ORDER": "Nothing has to: the order is there already.",
    "UNKNOWN_TICKER": "Another spelling, or a description of the name in config/instruments.yaml.",
    "AMBIGUOUS_TICKER": "The instrument's full id in place of the ticker.",
    "NOT_IN_UNIVERSE": "The name on the portfolio's watchlist, or among D2.allowed of its mandate.",
    "RESTRICTED": "The name off D3.refused of the mandate.",
    "NOT_TRADABLE": "A valid listing; a frozen name is lifted by `alphaagent portfolio unfreeze`.",
    "TYPE_NOT_ALLOWED": "Its kind among D5.kinds of the mandate.",
    "PENNY_STOCK": "A higher price, or a lower D6.min_price.",
    "ILLIQUID": "More trading in the name, or a lower D7.min_dollar_volume.",
    "SHORT_NOT_ALLOWED": "A smaller sale: short positions are not supported.",
    "CURRENCY_UNSOUND": "A name that trades in the portfolio's currency: nothing is converted.",
    "MARKET_STRESS": "A session in which the index falls less.",
    "EARNINGS_BLACKOUT": "The time after the earnings, or a lower E11.sessions.",
    "EARNINGS_UNKNOWN": "A known date of the next earnings, or E11.sessions of 0.",
    "PRICES_IN_DOUBT": "Prices that can be relied on: `alphaagent data status` says what is wrong with these.",
    "CALENDAR_UNKNOWN": "An instant inside the known calendar.",
    "QUOTE_STALE": "A price of the last completed session: `alphaagent data fetch`, or newer recorded data.",
    "QUOTE_INVALID": "A price that can be one.",
    "HALTED_SECURITY": "Trading in the name again.",
    "PRICE_COLLAR": "A session with a smaller move, or a higher E6.max_move_fraction.",
    "PRICE_MOVED": "A new decision at the new price, or a higher E7.max_move_fraction.",
    "PRICE_DISPUTED": "Two sources that agree, or a higher E8.max_difference_fraction.",
    "CORP_ACTION": "A new decision on the new share basis.",
    "DECISION_STALE": "A new decision: an order fills in the session that it was decided for, or not at all.",
    "EVIDENCE_STALE": "Newer or more evidence.",
    "SENTIMENT_CONFLICT": "A proposal whose action, sentiment and probability agree.",
    "LOW_QUALITY_DEBATE": "A debate in which both sides speak to the evidence and come nearer to each other.",
    "PROVENANCE": "A proposal that did not have to be repaired.",
    "TAINTED_EVIDENCE": "A decision that does not rest on the tainted evidence.",
    "MAX_ORDERS_DAY": "The next session, or a higher limit in G1.",
    "MAX_ORDERS_TICKER": "The next session, or a higher G2.max_orders.",
    "RATE": "The next session, or a higher G3.max_proposals.",
    "COOLDOWN": "Time, or a shorter cooldown in G4.",
    "TURNOVER": "The next session, or a higher G5.max_turnover_fraction.",
    "FAT_FINGER_NOTIONAL": "A smaller request, or a higher H1.max_request_fraction.",
    "FAT_FINGER_SHARES": "A smaller request, or a higher H2.max_volume_fraction.",
    "UNIT_SUSPECT": "An amount in money: this one is a number of shares.",
    "CLIP_ORDER": "A smaller request, or a higher H4.max_order_fraction.",
    "CLIP_ADV": "A smaller request, or more trading in the name.",
    "CLIP_CONCENTRATION": "Less of the name in the book, or a higher H6.max_position_fraction.",
    "CLIP_SECTOR": "Less of the sector in the book, or a higher H7.max_sector_fraction.",
    "CLIP_GROSS": "More cash, or a higher H8.max_gross_fraction.",
    "CLIP_CASH": "More cash: a deposit, or a sale.",
    "CLIP_UNSETTLED": "The settlement of earlier sales, on the next session.",
    "CLIP_TURNOVER": "The next session, or a higher G5.max_turnover_fraction.",
    "CLIP_PROVENANCE": "A decision by the crew itself: a substitute may open less.",
    "CLIP_HELD": "Nothing has to: no more can be sold than is held.",
    "OVERSELL": "Shares that are not being sold already.",
    "TOO_SMALL": "Room for a larger order: more cash, or fewer of the caps below.",
    "CLIPPED_AWAY": "A request nearer to what the caps let through, or a lower I2.min_kept_fraction.",
    "POSTCHECK": "Report it: the guard's caps and its last check disagree.",
    "GUARD_BUG": "Report it: the guard itself is at fault.",
}
DATA_MISSING = "DATA_MISSING"
SUPPLIED = "The missing figure: see the decision for what was not known."
UNREADABLE = "A proposal that can be read: this one was refused before any rule was asked."


def blocked_document(record: DecisionRecord, titles: Mapping[str, str]) -> Document:
    """One refused decision; `titles` are the guard's rules by id, in words."""
    proposal, ruling = record.proposal, record.ruling
    return {
        "decision_id": record.decision_id,
        "ticker": record.request.ticker,
        "portfolio": record.request.portfolio,
        "as_of": instant_text(record.request.as_of),
        "asked": f"{proposal.action.value} of {proposal.amount:,.2f}" if proposal else "nothing that could be read",
        "code": ruling.code,
        "findings": [_finding(trace, titles, record) for trace in ruling.rules if trace.verdict == "block"] or [_unread(ruling.code)],
        "also": [f"{titles.get(trace.id, trace.id)} ({trace.id}): {trace.reason}" for trace in ruling.rules if trace.verdict == "clip"],
    }


def _unread(code: str) -> Document:
    told: Document = {"rule": "A", "title": "Strict parser", "code": code, "reason": None, "value": None, "limit": None, "over": None, "settings": []}
    return told | {"lifted_by": lifted_by(code)}


def _finding(trace: RuleTrace, titles: Mapping[str, str], record: DecisionRecord) -> Document:
    return {
        "rule": trace.id,
        "title": titles.get(trace.id, trace.id),
        "code": trace.code,
        "reason": trace.reason,
        "value": _told(trace.id, trace.value),
        "limit": _told(trace.id, trace.limit),
        "over": overage(trace),
        "settings": [*_settings(trace.id, record)],
        "lifted_by": lifted_by(trace.code or record.ruling.code),
    }


def lifted_by(code: str) -> str:
    """What would change a finding, in words."""
    if code.startswith(DATA_MISSING):
        return SUPPLIED
    return LIFTED.get(code, UNREADABLE)


def overage(trace: RuleTrace) -> str | None:
    """By how much a value passes its limit, and as a part of the limit; None where the two are no amounts of one thing."""
    value, limit = _number(trace.value), _number(trace.limit)
    if value is None or limit is None or trace.id not in UNITS:
        return None
    apart = abs(value - limit)
    amount = _amount(trace.id, apart)
    part = f" ({apart / limit * 100:.1f}% of the limit)" if limit > 0 else ""
    way = "short by" if trace.id in AT_LEAST else "over by"
    return f"{way} {amount} {UNITS[trace.id]}".rstrip() + part


def _told(rule: str, text: str | None) -> str | None:
    """A value as a person reads it, where it is an amount."""
    number = _number(text) if rule in UNITS else None
    return text if number is None else _amount(rule, number)


def _amount(rule: str, number: Decimal) -> str:
    return f"{number:,.2f}" if rule in IN_MONEY else f"{number.normalize():,f}"


def _number(text: str | None) -> Decimal | None:
    try:
        return None if text is None else Decimal(text)
    except InvalidOperation:
        return None


def _settings(rule: str, record: DecisionRecord) -> Iterator[str]:
    """The keys of the mandate that the rule reads, with what they held when it ruled."""
    for key, value in record.mandate.get("limits", {}).get("rules", {}).get(rule, {}).items():
        yield f"{rule}.{key}: {value}"
