"""B5: a run may only touch a portfolio of its own kind."""

from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known

_KINDS: dict[str, tuple[str, ...]] = {
    "live": ("paper", "live"),
    "scripted": ("paper", "backtest"),
    "replay": ("paper", "backtest"),
    "backtest": ("backtest",),
}


class ModeMatch(Rule):
    """Which portfolio kinds each execution mode may trade."""

    id = "B5"
    stage = "B"
    title = "Mode match"
    why = "A scripted, replayed or simulated decision must never reach a live portfolio, nor a live one a backtest."
    codes = ("MODE_MISMATCH",)
    needs = (Need("execution_mode"), Need("portfolio_kind"))

    def check(self, subject: Subject) -> Finding:
        mode = known(subject.snapshot.execution_mode, "execution_mode")
        kind = known(subject.snapshot.portfolio_kind, "portfolio_kind")
        allowed = _KINDS[mode]
        if kind in allowed:
            return Pass(kind, " or ".join(allowed))
        return Block("MODE_MISMATCH", f"a {mode} run may not trade a {kind} portfolio", kind, " or ".join(allowed))
