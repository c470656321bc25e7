"""E4: the price can be a price."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, ZERO, Block, Finding, Need, Pass, Rule, Subject, known, percent


class QuoteSanity(Rule):
    """Positive, not absurd, no finer than the books can store; bid below ask and close to it where both are given."""

    id = "E4"
    stage = "E"
    title = "Quote sane"
    why = "Vendors do send zero, negative, scaled and crossed prices (Nautilus: positive price and precision)."
    codes = ("QUOTE_INVALID",)
    needs = (Need("price"),)

    max_price: Decimal = Field(Decimal(1_000_000), gt=0, le=1_000_000, json_schema_extra=HIGHER)
    max_decimals: int = Field(6, ge=2, le=6, json_schema_extra=HIGHER)
    max_spread_fraction: Decimal = Field(Decimal("0.02"), gt=0, le=Decimal("0.2"), json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        price = subject.number("price")
        value, limit = decimal_text(price), decimal_text(self.max_price)
        reason = self._price_fault(price) or self._spread_fault(subject.snapshot.bid, subject.snapshot.ask)
        return Block("QUOTE_INVALID", reason, value, limit) if reason else Pass(value, limit)

    def _price_fault(self, price: Decimal) -> str | None:
        if price <= 0:
            return "the price is not positive"
        if price > self.max_price:
            return f"the price is above {decimal_text(self.max_price)}"
        if price % Decimal(1).scaleb(-self.max_decimals) != 0:
            return f"the price has more than {self.max_decimals} decimals"
        return None

    def _spread_fault(self, bid: Decimal | None, ask: Decimal | None) -> str | None:
        if bid is None and ask is None:
            return None
        bid, ask = known(bid, "bid"), known(ask, "ask")
        if not ZERO < bid <= ask:
            return "the bid is not positive or lies above the ask"
        if ask - bid > self.max_spread_fraction * bid:
            return f"the spread is {percent(ask - bid, bid)} of the bid; the limit is {percent(self.max_spread_fraction, Decimal(1))}"
        return None
