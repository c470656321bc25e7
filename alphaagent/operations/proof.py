"""Whether one decision can be believed: the chain that vouches for its row, and the decision made again from its record. Nothing is written."""

from dataclasses import dataclass

from alphaagent.bootstrap import Workplace
from alphaagent.errors import AlphaAgentError
from alphaagent.ledger.verify import VerifyReport, verify
from alphaagent.replay import Check, replay


@dataclass(frozen=True, slots=True)
class Proof:
    """Both results; `unmade` says why the decision could not be made again."""

    chain: VerifyReport
    parts: tuple[Check, ...]
    unmade: str | None = None

    @property
    def chain_holds(self) -> bool:
        return self.chain.exit_code in (0, 10)

    @property
    def replays(self) -> bool:
        return self.unmade is None and all(part.agrees for part in self.parts)


def prove(workplace: Workplace, decision_id: str) -> Proof:
    """Checks the whole chain, then makes the decision again without a socket and compares every byte."""
    chain = verify(workplace.settings.database_url)
    try:
        stored = workplace.stored_decision(decision_id)
        return Proof(chain, replay(stored, workplace.transcript(stored), workplace.debate_again))
    except AlphaAgentError as fault:
        return Proof(chain, (), fault.message)
