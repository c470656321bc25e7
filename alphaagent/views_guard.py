"""A ruling for a reader: every rule with how much of its limit is left, and each clip and block with what would change it. Pure."""

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from alphaagent.domain.text import inert

Document = dict[str, Any]

VERDICTS = {"pass": "kept", "clip": "cut", "block": "stopped", "not_applicable": "does not apply", "not_configured": "not configured"}
AT_MOST = frozenset({"E4", "E5", "F2", "F6", "G1", "G2", "G3", "G5", *(f"H{n}" for n in (1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13))})
"""Rules whose value may reach their limit and not pass it."""
AT_LEAST = frozenset({"D6", "D7", "G4", "I1", "I2"})
NEAR = frozenset({"E6", "E7", "E8", "E9"})
"""Rules that hold a price against another one."""
A_LIMIT = "A smaller request, or a wider limit of rule {id} in mandate.yaml."
WOULD_CHANGE = {
    "A": "An answer that is exactly one proposal in the agreed form; nothing is repaired.",
    "B1": "`alphaagent resume --reason WHY`, once it is safe to go on.",
    "B2": "`alphaagent audit verify`, the books put in order, and then `alphaagent resume --reason WHY`.",
    "B3": "A later moment: the book does not go back before what it holds already.",
    "B4": "A mandate that is sound and on file: `alphaagent mandate check`, then a new decision.",
    "B5": "A decision made the same way as the portfolio: paper, backtest or live.",
    "C2": "Another amount, or the next session: this order has been placed already.",
    "D1": "A ticker that names exactly one instrument.",
    "D2": "The name on the mandate's list of what is allowed (D2.allowed).",
    "D3": "The name off the mandate's list of what is refused (D3.refused).",
    "D4": "A listing that is valid, and a name that nobody has frozen (`alphaagent portfolio unfreeze`).",
    "D5": "The kind of instrument on the mandate's list (D5.kinds).",
    "D6": "A price above the least, or a lower D6.min_price in mandate.yaml.",
    "D7": "More trading in the name, or a lower D7.min_dollar_volume in mandate.yaml.",
    "D8": "A sale of no more than is held: nothing here borrows shares.",
    "D9": "A quote in the portfolio's own currency.",
    "E2": "A session that the exchange's calendar knows.",
    "E3": "A price of the last completed session.",
    "E4": "A price that is sound.",
    "E5": "Trading in the name again.",
    "E6": "A session without such a move, or a wider E6.max_move_fraction in mandate.yaml.",
    "E7": "A new decision on the new price.",
    "E8": "Two sources that agree about the price.",
    "E9": "A decision made after the company's action.",
    "E10": "A calmer market, or a wider E10.max_fall_fraction in mandate.yaml.",
    "E11": "A decision after the earnings, or fewer sessions in E11.sessions of mandate.yaml.",
    "E12": "Prices that their vendor confirms: `alphaagent data fetch`, then a new decision.",
    "F1": "A new decision: this one is too old for the session that it would fill in.",
    "F2": "Newer or more evidence.",
    "F3": "A proposal whose action, sentiment and probability say the same.",
    "F4": "A debate in which somebody answers somebody.",
    "F5": "A decision that nobody had to repair.",
    "F6": "A case that stands without the evidence that reads like an instruction.",
    "G1": "The next session: this portfolio has placed its orders of this one.",
    "G2": "The next session: this name has had its orders of this one.",
    "G3": "The next session: the name has been asked about often enough in this one.",
    "G4": "Waiting: the name was traded a short time ago.",
    "G5": "The next session, or a wider G5.max_turnover_fraction in mandate.yaml.",
    "H3": "An amount in money that is not the number of shares in disguise.",
    "I1": "A larger order, or lower least amounts of I1 in mandate.yaml.",
    "I2": "A request nearer to the budget that was shown.",
    "I3": "Nothing but a look at the program: its two ways of counting do not agree.",
    "I4": "Nothing but a look at the program: this is a fault of the guard.",
}
"""By rule; of the others the limit is the answer."""


def rule_rows(ruling: Mapping[str, Any], titles: Mapping[str, str]) -> list[Document]:
    """Every rule that had something to say, and after them those that had not."""
    told = sorted(ruling["rules"], key=lambda rule: rule["verdict"] in ("not_applicable", "not_configured"))
    return [
        {
            "rule": rule["id"],
            "what it asks": title_of(rule["id"], titles),
            "verdict": VERDICTS[rule["verdict"]],
            "value": figure(rule["value"]),
            "limit": figure(rule["limit"]),
            "headroom": headroom(rule) or "",
            "in words": inert(rule["reason"] or ""),
        }
        for rule in told
    ]


def title_of(rule_id: str, titles: Mapping[str, str]) -> str:
    """A rule in words; the parser's are one."""
    return titles.get(rule_id) or titles.get(rule_id[0], "")


def headroom(rule: Mapping[str, Any]) -> str | None:
    """How much of a limit is left, in words; None where the two are no numbers that can be held against each other."""
    value, limit = number(rule["value"]), number(rule["limit"])
    if value is None or limit is None:
        return None
    if rule["id"] in AT_MOST:
        return _left(value, limit)
    if rule["id"] in AT_LEAST and limit > 0:
        return f"{value / limit:,.1f} times the least" if value >= limit else f"{(limit - value) / limit:.1%} short of it"
    if rule["id"] in NEAR and limit > 0:
        return f"{abs(value - limit) / limit:.1%} apart"
    return None


def _left(value: Decimal, limit: Decimal) -> str:
    if value > limit:
        return f"{(value - limit) / limit:.1%} over it" if limit > 0 else "over it"
    return f"{(limit - value) / limit:.0%} left" if limit > 0 else "at the limit"


def overage(rule: Mapping[str, Any]) -> str | None:
    """By how much a limit is missed, in words; None where it is not a matter of more and less."""
    value, limit = number(rule["value"]), number(rule["limit"])
    if value is None or limit is None:
        return None
    if rule["id"] in AT_MOST and value >= limit:
        over = f" ({(value - limit) / limit:.1%} over the limit)" if limit > 0 else ""
        return f"{figure(str(value - limit))} too much{over}" if value > limit else "the limit is reached"
    if rule["id"] in AT_LEAST and value < limit:
        return f"{figure(str(limit - value))} too little"
    return headroom(rule) if rule["id"] in NEAR else None


def stops(ruling: Mapping[str, Any], titles: Mapping[str, str], mandate: Mapping[str, Any]) -> list[Document]:
    """Each clip and block: what was attempted, what is allowed, by how much it was too much, and what would change it."""
    limits = mandate.get("limits", {}).get("rules", {})
    return [
        {
            "id": rule["id"],
            "title": title_of(rule["id"], titles),
            "verdict": VERDICTS[rule["verdict"]],
            "code": rule["code"] or "",
            "reason": inert(rule["reason"] or ""),
            "attempted": figure(rule["value"]),
            "limit": figure(rule["limit"]),
            "overage": overage(rule),
            "limits": {name: str(value) for name, value in limits.get(rule["id"], {}).items()},
            "change": would_change(rule["id"]),
        }
        for rule in ruling["rules"]
        if rule["verdict"] in ("clip", "block")
    ]


def would_change(rule_id: str) -> str:
    """What would turn a rule's verdict."""
    return WOULD_CHANGE.get(rule_id) or WOULD_CHANGE.get(rule_id[0]) or A_LIMIT.format(id=rule_id)


def proposal_and_order(document: Mapping[str, Any]) -> list[Document]:
    """Asked for, allowed and filled, in shares and in money at the price of each step; nothing where there is no order to rule on."""
    guard, proposal, order = document["guard"], document["proposal"], document.get("order")
    if proposal is None or proposal["action"] == "HOLD":
        return []
    price = number(guard["price"])
    asked = {"step": "asked for", "shares": figure(guard["quantity_in"]), "money": f"{Decimal(str(proposal['amount'])):,.2f}", "price": figure(guard["price"])}
    rows = [asked, {"step": "allowed by the guard", **_traded(guard["quantity_out"], price)}]
    settled = document.get("settlement")
    if settled is not None and settled["quantity_out"] != guard["quantity_out"]:
        rows.append({"step": "allowed at the fill", **_traded(settled["quantity_out"], number(settled["price"]))})
    if order is not None and order["status"] == "filled":
        rows.append({"step": f"filled on {order['fill_session']}", **_traded(order["quantity"], number(order["price"]))})
    return rows


def _traded(quantity: str, price: Decimal | None) -> Document:
    money = "" if price is None else f"{Decimal(quantity) * price:,.2f}"
    return {"shares": figure(quantity), "money": money, "price": "" if price is None else f"{price:,.4f}".rstrip("0").rstrip(".")}


def guard_words(ruling: Mapping[str, Any]) -> str:
    """What the guard made of it, in a sentence."""
    if ruling["outcome"] == "BLOCK":
        return f"The guard stopped it: {ruling['code']}."
    if ruling["outcome"] == "CLIP":
        return f"The guard cut it from {figure(ruling['quantity_in'])} to {figure(ruling['quantity_out'])} shares: {ruling['code']}."
    if ruling["code"] == "NO_ORDER":
        return "The guard had nothing to rule on: a HOLD places no order."
    return "The guard let it through as it was asked for."


def order_words(document: Mapping[str, Any]) -> str:
    """What became of the order, in a sentence."""
    order = document.get("order")
    if order is None:
        return "No order was placed."
    told = f"{order['side']} {figure(order['quantity'])} {inert(order['ticker'])}"
    if order["status"] == "filled":
        return f"{told}: filled at {figure(order['price'])} at the open of {order['fill_session']}."
    if order["status"] == "pending":
        return f"{told}: waits for the open of {order['fill_session']}; `alphaagent settle` fills it."
    if order["status"] == "pending_approval":
        return f"{told}: waits for somebody's word."
    return f"{told}: {order['status']}, for the session of {order['fill_session']}; nothing was traded."


def number(text: object) -> Decimal | None:
    """A figure as a number; None where it is none."""
    try:
        found = Decimal(str(text))
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def figure(text: str | None) -> str:
    """A rule's value for a column: hashes cut, numbers to four decimals."""
    shown = inert(text or "")
    if len(shown) == 64 and set(shown) <= set("0123456789abcdef"):
        return shown[:12] + "…"
    found = number(shown)
    if found is None:
        return shown
    return f"{found:,.4f}".rstrip("0").rstrip(".") if found % 1 else f"{found:,.0f}"


def statuses(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many rules said what."""
    counts = {word: sum(row["verdict"] == word for row in rows) for word in VERDICTS.values()}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)
