"""E9: nothing happened to the shares that the order does not know of."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import HIGHER, LOWER, Block, Finding, Need, Pass, Rule, Subject, known, money, percent

_RATIOS = tuple(Decimal(ratio) for ratio in (2, 3, 4, 5, 10, 20))


class CorporateActions(Rule):
    """A rename or merger since the decision, a large dividend before an opening order, or a price that looks like a split nobody filed.

    What nobody could book has frozen the name; where it trades again somebody has looked, so that it passes with a note here.
    The close before the price is on the same share basis, so every split on file is out of the comparison already.
    """

    id = "E9"
    stage = "E"
    title = "Corporate action"
    why = "Ten shares at 100 are not ten shares at 25; a price of a quarter is a split far more often than a crash."
    codes = ("CORP_ACTION",)
    needs = (Need("price"), Need("prior_close"), Need("actions", stages=("settle",)))

    ratio_tolerance: Decimal = Field(Decimal("0.03"), ge=Decimal("0.005"), le=Decimal("0.2"), json_schema_extra=LOWER)
    max_dividend_fraction: Decimal = Field(Decimal("0.05"), gt=0, le=Decimal("0.5"), json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        price, prior = subject.number("price"), subject.number("prior_close")
        value, limit = decimal_text(price), decimal_text(prior)
        notes: list[str] = []
        for happened in known(subject.snapshot.actions, "actions") if subject.snapshot.stage == "settle" else ():
            day = happened.ex_date.isoformat()
            if happened.kind in ("rename", "merger"):
                return Block("CORP_ACTION", f"an action of the kind {happened.kind} took effect on {day}, after the decision", value, limit)
            if happened.kind == "dividend" and subject.opening and happened.value > self.max_dividend_fraction * price:
                reason = f"a dividend of {money(happened.value)}, {percent(happened.value, price)} of the price, went ex on {day}, after the decision"
                return Block("CORP_ACTION", reason, value, limit)
            notes.append(f"{happened.kind} of {decimal_text(happened.value)} on {day}")
        ratio = self._split_ratio(price, prior)
        if ratio is not None:
            reason = f"the price stands to the close before it as in a split of {ratio}, and no such action is on file"
            return Block("CORP_ACTION", reason, value, limit)
        return Pass(value, limit, f"after the decision: {', '.join(notes)}" if notes else None)

    def _split_ratio(self, price: Decimal, prior: Decimal) -> str | None:
        for ratio in _RATIOS if price > 0 and prior > 0 else ():
            if abs(prior - ratio * price) <= self.ratio_tolerance * ratio * price:
                return f"{ratio}:1"
            if abs(price - ratio * prior) <= self.ratio_tolerance * ratio * prior:
                return f"1:{ratio}"
        return None
