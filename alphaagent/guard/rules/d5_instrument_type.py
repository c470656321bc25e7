"""D5: shares and plain funds. What is held already may be sold, whatever it is."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from alphaagent.guard.rule import LONGER, Block, Finding, Need, Pass, Rule, Subject, known

_Kinds = Annotated[tuple[Literal["common", "etf"], ...], Field(min_length=1), AfterValidator(lambda kinds: tuple(sorted(set(kinds))))]


class InstrumentType(Rule):
    """Common stock and plain funds may be opened; leveraged and inverse funds, indices and everything else may not."""

    id = "D5"
    stage = "D"
    title = "Instrument type"
    why = "Leveraged and inverse funds decay, warrants and rights expire, an index cannot be bought; no size cap knows that."
    codes = ("TYPE_NOT_ALLOWED",)
    needs = (Need("instrument_kind"),)

    kinds: _Kinds = Field(("common", "etf"), json_schema_extra=LONGER)

    def check(self, subject: Subject) -> Finding:
        kind, limit = known(subject.snapshot.instrument_kind, "instrument_kind"), " or ".join(self.kinds)
        if kind in self.kinds:
            return Pass(kind, limit)
        if not subject.opening:
            return Pass(kind, limit, f"{kind} may not be bought; what is held may be sold")
        return Block("TYPE_NOT_ALLOWED", f"an instrument of type {kind} may not be bought", kind, limit)
