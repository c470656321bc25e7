"""The CIO's turn: what it is shown, and what its answer has to stand on.

The strict parser is the first reader. What it accepts must rest on ids that were given, on no claim that was conceded, and on none that the
evidence contradicts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from alphaagent.debate.answers import answer_schema
from alphaagent.debate.prompts import Prompt, question, render
from alphaagent.debate.record import DebateRecord, Repair, Setup, TurnRecord
from alphaagent.debate.rows import Ledger
from alphaagent.debate.telling import told
from alphaagent.debate.zombies import unfit_reliance
from alphaagent.domain.evidence import EvidenceItem, EvidencePack
from alphaagent.domain.proposal import Action, TradeProposal
from alphaagent.domain.strict_json import shown
from alphaagent.domain.transcript import Fault
from alphaagent.errors import IntakeRefused


@dataclass(slots=True)
class Decider:
    """The verdict while it is taken."""

    ticker: str
    prompt: Prompt
    book: Ledger
    shown: Mapping[str, EvidenceItem]
    """The evidence that the prompt holds; what was cut for its size cannot be relied on."""
    read: Callable[[str, str], TradeProposal]
    repairs: list[Repair] = field(default_factory=list)

    @classmethod
    def of(cls, pack: EvidencePack, setup: Setup, record: DebateRecord, read: Callable[[str, str], TradeProposal]) -> "Decider":
        """The CIO over a debate on record."""
        debate, shortened = told(record.turns, setup.prompt_characters // 2, record)
        values = {"question": question(pack), "cases": debate, "answer": answer_schema("proposal")}
        prompt = render(setup.tasks["verdict"]["description"], values, pack.items, setup.prompt_characters)
        return cls(
            ticker=pack.ticker,
            prompt=Prompt(prompt.text, (*shortened, *prompt.cut)),
            book=record.metrics.ledger if record.metrics else Ledger(),
            shown={item.id: item for item in pack.items if item.id not in prompt.cut},
            read=read,
        )

    def check(self, raw: str, hit_budget: bool) -> Repair | None:  # noqa: ARG002 - a cut answer is no JSON, which the parser says
        """Accepts the verdict, or says what is wrong with it."""
        try:
            proposal = self.read(raw, self.ticker)
        except IntakeRefused as refused:
            return self._back(refused.code, refused.message)
        unfit = unfit_reliance(proposal.relied_on or (), self.book, self.shown)
        if unfit:
            return self._back(*_refusal(*next(iter(unfit.items()))))
        if proposal.action is not Action.HOLD and not proposal.relied_on:
            return self._back("NO_SUPPORT", 'Name in "relied_on" the claims and the evidence that the trade stands on.')
        return None

    def _back(self, code: str, message: str) -> Repair:
        self.repairs.append(Repair(codes=(code,), message=message))
        return self.repairs[-1]

    def record(self, round_: int, outcome: str | Fault) -> TurnRecord:
        return TurnRecord(
            phase="verdict",
            round=round_,
            side="cio",
            answer=None if isinstance(outcome, Fault) else outcome,
            repairs=tuple(self.repairs),
            cut=self.prompt.cut,
        )


def _refusal(name: str, why: str) -> tuple[str, str]:
    """Code and wish for an id that carries nothing."""
    if why == "unknown":
        return "UNKNOWN_REFERENCE", f'"relied_on" names {shown(name)}, which is no id that you were given; use those in the text.'
    return "LOST_CLAIM", f'"relied_on" names {name}, which was {why}; it carries nothing.'
