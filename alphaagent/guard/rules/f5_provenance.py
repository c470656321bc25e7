"""F5: who may open. An answer cut out of prose may hold or reduce only."""

from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known


class ProvenanceGate(Rule):
    """`repaired` opens nothing; the size of a `fallback` is H13's."""

    id = "F5"
    stage = "F"
    title = "Provenance"
    why = "What a repair guessed must not put money at risk."
    codes = ("PROVENANCE",)
    needs = (Need("provenance"),)

    def check(self, subject: Subject) -> Finding:
        provenance = known(subject.snapshot.provenance, "provenance")
        limit = "crew, heuristic or fallback" if subject.opening else "any"
        if subject.opening and provenance == "repaired":
            return Block("PROVENANCE", "a repaired proposal may hold or reduce, not open", provenance, limit)
        return Pass(provenance, limit)
