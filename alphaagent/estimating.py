"""What a debate would cost before it begins: a rule of thumb from the real prompts, and the bound that cannot be passed.

The openings' prompts are rendered as they would be sent. What comes after them depends on what is said, so that it is estimated, and named so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from alphaagent.debate.orchestrate import opening_prompt
from alphaagent.debate.turns import DEBATERS
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.transcript import TokenUsage
from alphaagent.llm.purse import BYTES_PER_TOKEN

if TYPE_CHECKING:
    from alphaagent.domain.record import PlanName
    from alphaagent.staffing import Staff

ANSWER_TOKENS = 350
"""An answer of about five sentences with its ids, in the schema."""
GROWTH_TOKENS = 700
"""What a phase adds to the prompts after it: both sides' points, and what was answered."""
FRAME_TOKENS = 450
"""Persona, tool descriptions and CrewAI's own words around a task."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """One decision's debate. `least` is where the openings agree, `usual` where every turn passes at once, `most` what its bounds allow."""

    ticker: str
    plan: str
    calls_least: int
    calls_usual: int
    calls_most: int
    prompt_tokens_usual: int
    completion_tokens_usual: int
    tokens_most: int
    usd_usual: Decimal | None
    usd_most: Decimal | None
    """None where a price is not known."""


def estimate(ticker: str, staff: "Staff", plan: "PlanName", pack: EvidencePack, markers: Mapping[str, str]) -> Estimate:
    """The estimate over a pack; nobody is asked anything."""
    setup, turns = staff.setup(plan, markers), staff.turns(plan)
    opening = [len(opening_prompt(pack, setup, setup.phases[0], side).text.encode()) // BYTES_PER_TOKEN + FRAME_TOKENS for side in DEBATERS]
    prompts = [opening[place % 2] + GROWTH_TOKENS * (place // 2) for place in range(len(turns) - 1)]
    prompts.append(max(opening) + GROWTH_TOKENS * len(setup.phases))
    answers = [min(ANSWER_TOKENS, bounds.completion_tokens) for bounds in turns]
    prices = [staff.price(bounds.model) for bounds in turns]
    costs = [price.cost(TokenUsage(prompt=p, completion=a)) if price else None for price, p, a in zip(prices, prompts, answers, strict=True)]
    return Estimate(
        ticker=ticker,
        plan=plan,
        calls_least=3,
        calls_usual=len(turns),
        calls_most=sum(bounds.calls for bounds in turns),
        prompt_tokens_usual=sum(prompts),
        completion_tokens_usual=sum(answers),
        tokens_most=sum(bounds.tokens for bounds in turns),
        usd_usual=None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0)),
        usd_most=staff.most_cost(plan),
    )
