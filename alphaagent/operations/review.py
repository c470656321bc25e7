"""What an operator looks at from time to time: how models and vendors have done, and what the guard's codes mean. Nothing is written, nobody is asked."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from alphaagent.bootstrap import Workplace
from alphaagent.debate.record import Transcript, read_transcript
from alphaagent.errors import AlphaAgentError
from alphaagent.guard.intake import CODES
from alphaagent.guard.registry import RULES
from alphaagent.ledger import decisions, review
from alphaagent.operations.doctor import Finding, data_checks
from alphaagent.operations.live_data import Row, status

TRANSCRIPTS, AMONG = 20, 500
"""So many of the newest transcripts are opened, looked for among so many decisions and failures."""
OTHERS = {"APPROVED": "every rule was kept", "NO_ORDER": "a HOLD: there is nothing to order"}


def meanings() -> dict[str, str]:
    """What each of the guard's codes says, by the rule that gives it."""
    strict = {code: f"{id_} Strict parser: the answer is not exactly one proposal in the agreed form" for id_, codes in CODES.items() for code in codes}
    return OTHERS | strict | {code: f"{id_} {rule.title}: {rule.why}" for id_, rule in RULES.items() for code in rule.codes}


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """One model: what was paid for in a span of days, and how its calls went in the newest transcripts."""

    provider: str
    model: str
    debates: int
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: Decimal
    looked_at: int
    median_ms: int | None
    p95_ms: int | None
    failed: Mapping[str, int]


@dataclass(slots=True)
class _Heard:
    """The calls of one model that were looked at."""

    latencies: list[int] = field(default_factory=list)
    failed: Counter[str] = field(default_factory=Counter)


def models(workplace: Workplace, since: date, until: date) -> tuple[ModelHealth, ...]:
    """Every model that was paid for or heard lately."""
    with workplace.required_store().review() as session:
        paid = {(one.provider, one.model): one for one in review.spent(session, since, until)}
        heard = _heard(session)
    nothing = review.Spent("", "", 0, 0, 0, 0, Decimal(0))
    return tuple(_health(key, paid.get(key, nothing), heard.get(key, _Heard())) for key in sorted({*paid, *heard}))


def _heard(session: Any) -> dict[tuple[str, str], _Heard]:
    found: dict[tuple[str, str], _Heard] = defaultdict(_Heard)
    for sha256 in review.newest_transcripts(session, TRANSCRIPTS, AMONG):
        transcript = _transcript(session, sha256)
        for call in transcript.calls if transcript else ():
            one = found[transcript.setup.provider, call.model]  # type: ignore[union-attr]
            one.latencies.append(call.latency_ms)
            one.failed.update([call.fault.kind] if call.fault else ())
    return found


def _transcript(session: Any, sha256: str) -> Transcript | None:
    """A stored debate; None where it cannot be read, which the verifier tells."""
    try:
        return read_transcript(decisions.blob(session, sha256))
    except AlphaAgentError:
        return None


def _health(key: tuple[str, str], paid: review.Spent, heard: _Heard) -> ModelHealth:
    ordered = sorted(heard.latencies)
    middle, slow = (ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100]) if ordered else (None, None)
    return ModelHealth(*key, paid.debates, paid.calls, paid.prompt_tokens, paid.completion_tokens, paid.cost, len(ordered), middle, slow, heard.failed)


def failures(workplace: Workplace) -> dict[str, int]:
    """How often nothing was decided, by code."""
    with workplace.required_store().review() as session:
        return review.failures(session)


def days(count: int) -> timedelta:
    """So many days, today among them."""
    return timedelta(days=count - 1)


def rulings(workplace: Workplace, since: date, until: date) -> list[tuple[str, str, str, int]]:
    """The guard's rulings from one day to another, counted."""
    with workplace.required_store().review() as session:
        return review.rulings(session, *_instants(since, until))


def span(workplace: Workplace) -> tuple[date, date] | None:
    """The days of the first and the last ruling; None where there is none."""
    with workplace.required_store().review() as session:
        found = review.span(session)
    return None if found is None else (found[0].date(), found[1].date())


def events(workplace: Workplace, kinds: Sequence[str], limit: int, offset: int) -> tuple[Sequence[tuple[int, dict[str, Any]]], int]:
    """A page of the newest events of some kinds, and how many there are."""
    with workplace.required_store().review() as session:
        return review.events(session, kinds, limit, offset), review.event_count(session, kinds)


def _instants(since: date, until: date) -> tuple[datetime, datetime]:
    return datetime.combine(since, time.min, UTC), datetime.combine(until, time.max, UTC)


def data(workplace: Workplace) -> tuple[tuple[Finding, ...], tuple[Row, ...]]:
    """How the doctor finds the data that are on record, and in live data every answer of the archive."""
    live = workplace.settings.data_mode == "live"
    return data_checks(workplace), status(workplace, []) if live else ()
