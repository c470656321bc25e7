"""E12: nothing is opened on prices that are in doubt."""

from alphaagent.guard.rule import AT_DECISION, Block, Finding, Pass, Rule, Subject


class PricesInDoubt(Rule):
    """The supply of prices was stale or in conflict. A bar that is missing from a sound supply is E3's, for both sides; an exit passes here."""

    id = "E12"
    stage = "E"
    title = "Prices in doubt"
    why = "An entry can wait until the vendor answers and agrees with itself; what was bought on a history that is wrong is wrong from its first day."
    codes = ("PRICES_IN_DOUBT",)
    since = "4"
    opening_only = True
    stages = AT_DECISION

    def check(self, subject: Subject) -> Finding:
        doubt = subject.snapshot.prices_doubt
        return Pass("sound", "sound") if doubt is None else Block("PRICES_IN_DOUBT", f"the prices are in doubt: {doubt}", "in doubt", "sound")
