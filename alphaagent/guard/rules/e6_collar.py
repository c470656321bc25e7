"""E6: the price is near the close before it. What reduces is marked and let through."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, Block, Finding, Need, Pass, Rule, Subject, percent


class Collar(Rule):
    """Distance of the price from the prior close on the same share basis."""

    id = "E6"
    stage = "E"
    title = "Price collar"
    why = "After such a move the evidence is of another company; US limit-up limit-down bands are 5, 10 and 20%."
    codes = ("PRICE_COLLAR",)
    needs = (Need("price", opening_only=True), Need("prior_close", opening_only=True))

    max_move_fraction: Decimal = Field(Decimal("0.10"), gt=0, le=Decimal("0.5"), json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        if not subject.opening and (subject.snapshot.price is None or subject.snapshot.prior_close is None):
            return Pass(note="there is no close to compare with; an order that reduces passes")
        price, prior = subject.number("price"), subject.number("prior_close")
        value, limit = decimal_text(price), decimal_text(prior)
        if prior > 0 and abs(price - prior) <= self.max_move_fraction * prior:
            return Pass(value, limit)
        words = f"the price is {percent(abs(price - prior), prior)} from the close before it; the limit is {percent(self.max_move_fraction, Decimal(1))}"
        return Block("PRICE_COLLAR", words, value, limit) if subject.opening else Pass(value, limit, f"{words}; an order that reduces passes")
