"""The one thing an engine may say: a trade proposal. Its text form is read by the strict parser in `guard.intake` only."""

import json
from decimal import Decimal
from enum import StrEnum

from pydantic import field_serializer

from alphaagent.domain.base import Frozen, decimal_text


class Action(StrEnum):
    BUY = "BUY"
    SELL = "SELL"
    HOLD = "HOLD"


class Sentiment(StrEnum):
    BULLISH = "BULLISH"
    BEARISH = "BEARISH"
    NEUTRAL = "NEUTRAL"


class TradeProposal(Frozen):
    """`amount` is a notional in the portfolio's currency, positive for BUY and SELL, zero for HOLD."""

    action: Action
    amount: Decimal
    sentiment: Sentiment
    reasoning: str
    p_up: Decimal | None = None
    """Probability that the close 20 sessions on is above today's."""
    relied_on: tuple[str, ...] | None = None
    """Ids of the evidence and claims that carried the decision."""

    @field_serializer("amount", "p_up", when_used="json")
    def _as_number(self, value: Decimal | None) -> int | float | None:
        # The contract says JSON number; Pydantic's own form of a Decimal would be a string.
        if value is None:
            return None
        return int(value) if value == value.to_integral_value() else float(value)

    def as_text(self) -> str:
        """The JSON text that the strict parser reads back to an equal proposal; numbers are written from their Decimal."""
        parts = [
            f'"action":{json.dumps(self.action.value)}',
            f'"amount":{_number(self.amount)}',
            f'"sentiment":{json.dumps(self.sentiment.value)}',
            f'"reasoning":{json.dumps(self.reasoning, ensure_ascii=False)}',
        ]
        if self.p_up is not None:
            parts.append(f'"p_up":{_number(self.p_up)}')
        if self.relied_on is not None:
            parts.append(f'"relied_on":{json.dumps(list(self.relied_on), separators=(",", ":"))}')
        return "{" + ",".join(parts) + "}"


def _number(value: Decimal) -> str:
    return decimal_text(value).removesuffix(".0")
