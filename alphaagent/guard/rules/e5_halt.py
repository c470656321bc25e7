"""E5: the security trades."""

from pydantic import Field

from alphaagent.guard.rule import HIGHER, Block, Finding, Need, Pass, Rule, Subject, known


class Halt(Rule):
    """No volume in the session of the price, or several identical bars without volume in a row before it."""

    id = "E5"
    stage = "E"
    title = "Halted security"
    why = "A feed repeats the last price of a halted stock for as long as the halt lasts; that price buys and sells nothing."
    codes = ("HALTED_SECURITY",)
    needs = (Need("bar_volume"), Need("flat_bars"))

    halt_bars: int = Field(3, ge=1, le=20, json_schema_extra=HIGHER)

    def check(self, subject: Subject) -> Finding:
        volume, flat = known(subject.snapshot.bar_volume, "bar_volume"), known(subject.snapshot.flat_bars, "flat_bars")
        value, limit = str(flat), str(self.halt_bars)
        if volume <= 0:
            return Block("HALTED_SECURITY", "nothing was traded in the session of the price", value, limit)
        if flat >= self.halt_bars:
            return Block("HALTED_SECURITY", f"the last {flat} bars are identical and without volume", value, limit)
        return Pass(value, limit)
