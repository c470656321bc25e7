"""The two cases that stand beside every decision."""

from typing import Literal

from alphaagent.domain.base import Frozen

DebateClass = Literal["no_debate", "theater", "capitulated", "hollow", "stagnant", "earned", "stubborn", "mixed"]


class CaseLine(Frozen):
    """One point of a case: what it says, how much it weighs, and the evidence that it stands on."""

    text: str
    factor: str
    """The measure behind the point: momentum, trend, drawdown, reversal, quality, value, news, or hole."""
    weight: str
    """Signed contribution to the score as a decimal string; `0.0` where the point only informs."""
    evidence_ids: tuple[str, ...]
    claim_id: str | None = None
    """Of a claim that a model made; its `factor` is then its kind: fact, inference, forecast or value."""
    severity: Literal["high", "med", "low"] | None = None
    direction: Literal["up", "down"] | None = None
    status: Literal["open", "conceded", "narrowed", "upheld", "standing"] | None = None
    """What became of it in the exchange."""
    faults: tuple[str, ...] = ()
    """What code found wrong with it."""


class Case(Frozen):
    """One side's case. `no_case` is an honest answer and then says why."""

    side: Literal["bull", "bear"]
    label: str
    """Who made it; the heuristic engine says that it is a mechanical read."""
    summary: str
    no_case: str | None
    lines: tuple[CaseLine, ...]
    holes: tuple[str, ...]
    """What this side should have seen and could not, in words."""
    evidence_ids: tuple[str, ...]
    p_up: str | None = None
    """The side's own probability that the close 20 sessions on is higher; None for the heuristic engine's cases."""
    stance: Literal["BULLISH", "BEARISH", "NEUTRAL"] | None = None
    counter: str | None = None
    """The best argument against this case and the side's answer to it."""


class Contribution(Frozen):
    """One factor's part in the score: value in [-1, 1], weight, and their product; decimal strings at 1e-6."""

    factor: str
    value: str | None
    weight: str
    contribution: str
    status: Literal["ok", "absent", "lost"]
    """`absent`: does not exist and counts 0. `lost`: its source failed and it counts at its worst."""
    evidence_ids: tuple[str, ...]
    detail: str


class DebateRound(Frozen):
    """Both sides' probabilities in one round, the gap between them and their middle; decimal strings."""

    round: int
    bull: str
    bear: str
    gap: str
    mid: str


class DebateSummary(Frozen):
    """What a debate came to, in a few words; all of it is in the transcript."""

    plan: Literal["quick", "standard", "deep"]
    rounds: tuple[DebateRound, ...]
    outcome: Literal["closed", "held", "widened"] | None
    """What became of the gap; None with a single round."""
    debate_class: DebateClass | None
    """What the debate may be used for; None where the plan has no exchange."""
    flags: tuple[str, ...]
    skipped: Literal["openings_agree", "no_case", "consensus"] | None = None
    """Why phases of the plan were not taken."""


class EngineResult(Frozen):
    """What an engine hands over: the raw proposal text and everything that explains it."""

    engine: Literal["heuristic", "crew"]
    proposal_text: str
    bull_case: Case
    bear_case: Case
    abstained: bool = False
    abstain_reason: str | None = None
    rule_driven: bool = False
    """True for exits and trims that follow from a rule rather than from an opinion; exempt from F3."""
    base_rate: str | None = None
    score: str | None = None
    contributions: tuple[Contribution, ...] = ()
    hold_kind: Literal["balanced", "no_trade_region", "at_target", "no_edge", "barred", "abstained", "held_back"] | None = None
    reducing_only: bool = False
    """The engine stood in for a debate that nobody could pay for: it might sell, and a purchase was held back."""
    flip: str | None = None
    """The smallest change that would alter the action, in words."""
    target_weight: str | None = None
    """The share of NAV that the engine aims at."""
    debate: DebateSummary | None = None
    """None where no model debated."""
    acted_flags: tuple[str, ...] = ()
    """Hard flags that this proposal answers with a trade; a flag is answered once."""
