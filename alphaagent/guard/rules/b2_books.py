"""B2: the books must have been checked and found sound. Anything else halts the system."""

from alphaagent.guard.rule import Block, Finding, Pass, Rule, Subject

_NEVER_NEGATIVE = ("held", "pending_buy", "pending_sell", "reserved_cash")


class Books(Rule):
    """A fault, a check that was not made, or a derived figure that cannot be."""

    id = "B2"
    stage = "B"
    title = "Books sound"
    why = "An order sized on wrong books is wrong by an unknown amount; the check is O(1) and made at every evaluation."
    codes = ("BOOKS_UNSOUND",)

    def check(self, subject: Subject) -> Finding:
        snapshot = subject.snapshot
        if snapshot.books_fault is not None:
            return self._unsound(snapshot.books_fault)
        if snapshot.books_checked is not True:
            return self._unsound("the books were not checked")
        for field in _NEVER_NEGATIVE:
            value = getattr(snapshot, field)
            if value is not None and value < 0:
                return self._unsound(f"{field} is negative in a book that is long only")
        return Pass("sound", "sound")

    @staticmethod
    def _unsound(fault: str) -> Block:
        return Block("BOOKS_UNSOUND", f"the books are unsound: {fault}", "unsound", "sound", halt=True)
