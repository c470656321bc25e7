"""F4: nothing is opened on a debate that settled nothing."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from alphaagent.domain.base import decimal_text
from alphaagent.guard.rule import AT_DECISION, HIGHER, Block, Finding, Need, NotApplicable, Pass, Rule, Subject, known

_NO_DEBATE = ("none", "no_debate")
_WORTHLESS = {
    "theater": "objections were put and none was met by a valid move",
    "capitulated": "one side gave up nearly everything that was put to it and rebutted nothing",
    "hollow": "the two sides came together although neither had given way",
}
_SOUND = "not theater, capitulated or hollow"


class DebateQuality(Rule):
    """A debate of class theater, capitulated or hollow opens nothing, nor one whose last gap is above the limit, where there is one."""

    id = "F4"
    stage = "F"
    title = "Debate quality"
    why = "Two models that act a quarrel, or agree out of politeness, have tested nothing; their verdict is one model's opinion in costume."
    codes = ("LOW_QUALITY_DEBATE",)
    opening_only = True
    stages = AT_DECISION
    needs = (Need("debate_class", stages=AT_DECISION),)

    max_gap: Literal["off"] | Annotated[Decimal, Field(gt=0, le=1)] = Field("off", json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        found = known(subject.snapshot.debate_class, "debate_class")
        if found in _NO_DEBATE:
            return NotApplicable("there was no debate")
        if found in _WORTHLESS:
            return Block("LOW_QUALITY_DEBATE", f"the debate is classed as {found}: {_WORTHLESS[found]}", found, _SOUND)
        if self.max_gap == "off":
            return Pass(found, _SOUND)
        gap = subject.number("debate_gap")
        value, limit = decimal_text(gap), decimal_text(self.max_gap)
        if gap > self.max_gap:
            return Block("LOW_QUALITY_DEBATE", f"the two sides ended {value} apart; the limit is {limit}", value, limit)
        return Pass(f"{found} {value}", limit)
