"""F3: a proposal must not contradict itself. Only plain contradictions block."""

from decimal import Decimal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.domain.proposal import Sentiment
from alphaagent.guard.rule import LOWER, Block, Finding, Need, NotApplicable, Pass, Rule, Subject


class Coherence(Rule):
    """A BUY needs a probability at the base rate or above and no bearish sentiment; a SELL must not be bullish on both counts."""

    id = "F3"
    stage = "F"
    title = "Coherence"
    why = "An order against its own forecast is an error of the model, not a view."
    codes = ("SENTIMENT_CONFLICT",)
    needs = (Need("rule_driven"),)

    no_trade_band: Decimal = Field(Decimal(0), ge=0, le=Decimal("0.2"), json_schema_extra=LOWER)

    def check(self, subject: Subject) -> Finding:
        if subject.snapshot.rule_driven and not subject.opening:
            return NotApplicable("a trim or an exit by rule")
        value = self._value(subject)
        bar = self._bar(subject)
        limit = None if bar is None else decimal_text(bar)
        conflict = self._buy_conflict(subject, bar) if subject.opening else self._sell_conflict(subject, bar)
        return Block("SENTIMENT_CONFLICT", conflict, value, limit) if conflict else Pass(value, limit)

    @staticmethod
    def _value(subject: Subject) -> str:
        p_up = subject.proposal.p_up
        return subject.proposal.sentiment.value if p_up is None else f"{subject.proposal.sentiment.value} {decimal_text(p_up)}"

    def _bar(self, subject: Subject) -> Decimal | None:
        """The base rate moved by the band, away from the trade; None where the proposal gives no probability."""
        if subject.proposal.p_up is None:
            return None
        base = subject.number("base_rate")
        return base + self.no_trade_band if subject.opening else base - self.no_trade_band

    @staticmethod
    def _buy_conflict(subject: Subject, bar: Decimal | None) -> str | None:
        p_up = subject.proposal.p_up
        if p_up is not None and bar is not None and p_up < bar:
            return f"a BUY with p_up {decimal_text(p_up)}; it needs at least {decimal_text(bar)}"
        return "a BUY with BEARISH sentiment" if subject.proposal.sentiment is Sentiment.BEARISH else None

    @staticmethod
    def _sell_conflict(subject: Subject, bar: Decimal | None) -> str | None:
        p_up = subject.proposal.p_up
        bullish = subject.proposal.sentiment is Sentiment.BULLISH
        if p_up is None or bar is None:
            return "a SELL with BULLISH sentiment" if bullish else None
        return f"a SELL with BULLISH sentiment and p_up {decimal_text(p_up)} above {decimal_text(bar)}" if bullish and p_up > bar else None
