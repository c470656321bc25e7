"""What codes mean, in the words that the command line and the dashboard share. Pure."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

NAMES = {"bull": "The bull", "bear": "The short seller", "cio": "The CIO"}
SEVERITY = {"high": "high severity", "med": "medium severity", "low": "low severity"}
SAME_MODEL = "Both sides were the same model: where they agree, it may be for no better reason than that."
HOLD_KINDS = {
    "balanced": "under the threshold to enter",
    "no_trade_region": "inside the no-trade region",
    "at_target": "at target",
    "no_edge": "no edge over the base rate",
    "barred": "opening is barred",
    "abstained": "abstained",
    "held_back": "a purchase is held back: no money for a debate",
}
MOVES = {
    "CONCEDED": "conceded",
    "REBUTTED": "rebutted",
    "CARRIED": "carried",
    "MISSING": "did not answer",
    "ACCEPT": "accepted the answer",
    "SUSTAIN": "sustained it",
    "LAPSE": "let it pass",
}
ENDED = {
    "concession": "closed: conceded",
    "acceptance": "closed: rebutted, and the objector accepts it",
    "lapse": "closed: rebutted, and the objector said nothing to it",
    "open": "stays open",
    "dodged": "stays open: no valid answer",
}
UNANCHORED = "unanchored: the middle of the two, no panel stood beside them"
SKIPPED = {
    "openings_agree": "the openings lie too close together to be argued over; the exchange was not held",
    "no_case": "neither side has a case; there was nothing to argue",
    "consensus": "the exchange ended early: the sides came together and somebody had given way",
}
FATES = {
    "open": "open: not attacked, or the attack is not settled",
    "conceded": "conceded: its own side gave it up",
    "narrowed": "narrowed: its own side gave up a part of it",
    "upheld": "upheld: attacked, answered, and the answer was accepted",
    "standing": "standing: attacked and answered, and the other side said no more",
}
NUMBERS = {
    "supported": "the evidence bears it out",
    "contradicted": "the evidence says another number",
    "not_checkable": "it could not be checked: no number stands where it points",
}
STATUSES = {
    "ok": "found",
    "empty": "asked, and there was nothing",
    "failed": "could not be fetched",
    "stale": "old: the source did not answer, this is what it said before",
    "conflict": "in conflict: the source contradicts itself or another",
    "not_applicable": "does not apply here",
}
CLASSES = {
    "no_debate": "nobody answered anybody",
    "theater": "objections were raised, and no valid answer came",
    "capitulated": "a side gave in without defending itself",
    "hollow": "the sides came together without anybody giving way",
    "stagnant": "everything was put off, and nobody moved",
    "earned": "the gap closed because somebody gave way or was answered, on evidence",
    "stubborn": "both defended themselves and conceded nothing",
    "mixed": "some of everything, none of it clear",
}
GAPS = {"closed": "the gap closed", "held": "the gap stayed as it was", "widened": "the gap widened"}
FLAGS = {
    "theater": "objections without one valid answer",
    "stagnant": "everything put off, and nobody moved",
    "stubborn": "answers without one concession",
    "capitulation": "gave in without defending itself",
    "zombie_claim": "said again what had been conceded",
    "costless_concession": "conceded something heavy and kept its number",
    "loop_on_point": "most of the moves went round one claim",
    "asymmetric_effort": "one side brought far more than the other",
    "shared_hallucination": "both stated the same thing that is not there",
    "degraded": "a model answered like one that fails",
    "hollow_consensus": "agreement without anybody giving way",
    "crossed": "the sides passed each other",
    "drift": "both sides moved together",
}
PHASES = {"opening": "openings", "rebuttal": "rebuttals", "retort": "answers to them", "conclusion": "last words", "verdict": "the verdict"}


def cost_line(usage: Mapping[str, Any], *, priced: bool) -> str:
    """Calls, tokens and cost. A sum that leaves calls without a price out is not called the cost."""
    count = f"{usage['calls']} call{'' if usage['calls'] == 1 else 's'}"
    cost = f"USD {_dollars(Decimal(usage['cost_usd']))}" if priced else "cost unknown, for want of a price"
    return f"{count}, {usage['prompt_tokens']:,} tokens read and {usage['completion_tokens']:,} written, {cost}"


def _dollars(cost: Decimal) -> str:
    """Cents where they say enough; more digits where less than a cent was paid."""
    return f"{cost:.2f}" if not cost or cost >= Decimal("0.01") else f"{cost:.6f}".rstrip("0")
