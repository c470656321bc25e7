"""D1: the ticker names exactly one instrument, and the snapshot is about that one."""

from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known


class KnownInstrument(Rule):
    """No candidate, several, or another instrument than the one that was priced."""

    id = "D1"
    stage = "D"
    title = "Known instrument"
    why = "Symbols are renamed, reused and spelled in several ways; an order needs one identity (LEAN: MissingSecurity)."
    codes = ("UNKNOWN_TICKER", "AMBIGUOUS_TICKER")
    needs = (Need("candidates"),)

    def check(self, subject: Subject) -> Finding:
        candidates = known(subject.snapshot.candidates, "candidates")
        found = ", ".join(candidates)
        if not candidates:
            return Block("UNKNOWN_TICKER", "the ticker names no known instrument", "0", "1")
        if len(candidates) > 1:
            return Block("AMBIGUOUS_TICKER", f"the ticker names several instruments: {found}", str(len(candidates)), "1")
        priced = known(subject.snapshot.instrument_id, "instrument_id")
        if priced != candidates[0]:
            return Block("AMBIGUOUS_TICKER", f"the ticker names {found} but the data is of {priced}", priced, found)
        return Pass(priced, found)
