"""What one turn may still spend.

Each turn has a purse of its own: with a shared one, how fast one side's model answers would change what the other may ask, and no debate
could be run again to the same bytes.
"""

from dataclasses import dataclass

from alphaagent.domain.transcript import Fault, TokenUsage

BYTES_PER_TOKEN = 4
"""Of English prose in every tokenizer in use, about; only for knowing beforehand, never for booking."""
SMALLEST_CAP = 64
"""Below this no answer in the schema fits, and asking would only waste the prompt."""
TOLERANCE = 16
"""Tokens by which a provider may overshoot the cap that it was given."""


@dataclass(slots=True)
class Purse:
    """Calls and tokens left. A request that no longer fits is refused before it is sent."""

    calls: int
    tokens: int

    def cap(self, request_bytes: int, wanted: int) -> int | Fault:
        """The completion cap that this request may have, at most `wanted`; or why it may not be sent at all."""
        if self.calls <= 0:
            return Fault(kind="budget", message="the turn has made all the calls that its budget allows")
        left = self.tokens - request_bytes // BYTES_PER_TOKEN
        if left < SMALLEST_CAP:
            return Fault(kind="budget", message=f"the turn has {max(self.tokens, 0)} tokens left, too few for the next prompt and an answer")
        return min(wanted, left)

    def spend_call(self) -> None:
        self.calls -= 1

    def settle(self, usage: TokenUsage, cap: int) -> Fault | None:
        """Books what a reply cost; a Fault where its provider ignored the cap, or where the prompt was so much longer than its estimate that the
        turn has spent more than it had.
        """
        self.tokens -= usage.prompt + usage.completion
        if usage.completion > cap + TOLERANCE:
            return Fault(kind="overrun", message=f"the model wrote {usage.completion} tokens where {cap} were allowed")
        if self.tokens < 0:
            return Fault(kind="budget", message=f"the turn has taken {-self.tokens} tokens more than its budget allows")
        return None
