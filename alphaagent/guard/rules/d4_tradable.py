"""D4: the instrument is listed when the order fills, and nothing has frozen it."""

from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known


class Tradable(Rule):
    """Delisted, renamed, acquired, suspended, or frozen for a reason that the snapshot names."""

    id = "D4"
    stage = "D"
    title = "Tradable"
    why = "A delisted symbol is still quoted for days, and may by then be another company's (LEAN IsTradable)."
    codes = ("NOT_TRADABLE",)
    needs = (Need("listed"),)

    def check(self, subject: Subject) -> Finding:
        if not known(subject.snapshot.listed, "listed"):
            return Block("NOT_TRADABLE", "the listing is not valid in the session that the order fills in", "not listed", "listed")
        if subject.snapshot.frozen is not None:
            return Block("NOT_TRADABLE", f"the instrument is frozen: {subject.snapshot.frozen}", "frozen", "listed")
        return Pass("listed", "listed")
