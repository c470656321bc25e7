"""Watchlists over synthetic names, and a crew that says what a test has written down, at its price and in its own time."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from alphaagent.bootstrap import Workplace
from alphaagent.debate.events import Events
from alphaagent.debate.record import DebateRecord, Setup, Transcript
from alphaagent.domain.debate import DebateSummary, EngineResult
from alphaagent.domain.evidence import EvidencePack
from alphaagent.domain.portfolio import Account
from alphaagent.domain.record import Usage
from alphaagent.domain.transcript import Fault
from alphaagent.engines.crew.engine import Crew, Debated
from alphaagent.operations.importing import book_import, plan_import
from alphaagent.operations.prospects import Wish
from alphaagent.operations.sweep import sweep
from alphaagent.operations.sweep_report import PortfolioReport, SweepReport
from tests.builders import case
from tests.synthetic import workplace

MODEL = {"ALPHAAGENT_LLM_PROVIDER": "openai", "ALPHAAGENT_LLM_MODEL": "toy", "ALPHAAGENT_LLM_API_KEY": "k"}
MOST = Decimal("0.12")
"""What a debate of three turns with 40000 tokens each can cost at a dollar a million."""
USUAL = "0.03"
"""What it does cost, unless a test says otherwise."""


@dataclass(frozen=True)
class Line:
    """What the crew says of one name."""

    action: str = "HOLD"
    amount: float = 0
    cost: str = USUAL
    seconds: float = 0
    fault: str | None = None


class Diary:
    """Who was debated, in the order in which debates began, and how many at once at most."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.at_once = 0
        self.most_at_once = 0


@dataclass(frozen=True, slots=True)
class WrittenCrew(Crew):
    """A crew that reads its verdicts off a script; no model, no socket."""

    says: Mapping[str, Line]
    diary: Diary

    def debate(self, pack: EvidencePack, setup: Setup, started_at: datetime, tell: Events) -> Debated:
        line = self.says.get(pack.ticker, Line())
        self.diary.begun.append(pack.ticker)
        self.diary.at_once += 1
        self.diary.most_at_once = max(self.diary.most_at_once, self.diary.at_once)
        time.sleep(line.seconds)
        self.diary.at_once -= 1
        fault = Fault(kind="unreachable", message=line.fault) if line.fault else None
        transcript = Transcript(
            status="failed" if fault else "completed",
            started_at=started_at,
            pack_sha256=pack.sha256,
            setup=setup,
            debate=DebateRecord(p0=Decimal("0.55")),
            fault=fault,
            usage=Usage(calls=3, prompt_tokens=3000, completion_tokens=300, cost_usd=line.cost),
        )
        return Debated(None if fault else _result(line), transcript)


def _result(line: Line) -> EngineResult:
    said = {"action": line.action, "amount": line.amount, "sentiment": {"BUY": "BULLISH", "SELL": "BEARISH", "HOLD": "NEUTRAL"}[line.action]}
    return EngineResult(
        engine="crew",
        proposal_text=json.dumps(said | {"reasoning": "as written down"}),
        bull_case=case("bull"),
        bear_case=case("bear"),
        base_rate="0.5",
        debate=DebateSummary(plan="quick", rounds=(), outcome=None, debate_class=None, flags=()),
    )


def portfolio(home: Path, name: str, watchlist: Sequence[str], **more: Any) -> Path:
    """A portfolio's file in a home."""
    path = home / "config" / "portfolios" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump({"watchlist": list(watchlist), **more}), encoding="utf-8")
    return path


def staffed(home: Path, says: Mapping[str, Line] | None = None, **variables: str) -> tuple[Workplace, Diary]:
    """A workplace whose crew says these lines, HOLD of every other name; at a dollar a million tokens."""
    (home / "config").mkdir(exist_ok=True)
    (home / "config" / "debate.yaml").write_text("plan: quick\n", encoding="utf-8")
    (home / "config" / "prices.yaml").write_text("as_of: 2026-11-30\nmodels:\n  openai/toy: {prompt: 1, completion: 1}\n", encoding="utf-8")
    place, diary = workplace(home, **MODEL, **variables), Diary()
    staff = place.staff
    assert staff is not None
    parts = {part.name: getattr(staff.crew, part.name) for part in fields(Crew)}
    vars(place)["staff"] = replace(staff, crew=WrittenCrew(**parts, says=says or {}, diary=diary))
    return place, diary


def swept(place: Workplace, as_of: str, *names: str, **wish: Any) -> SweepReport:
    """One pass."""
    return sweep(place, names, as_of, Wish(**wish))


def alone(report: SweepReport) -> PortfolioReport:
    (one,) = report.portfolios
    return one


def states(report: PortfolioReport) -> dict[str, str]:
    return {row.ticker: row.state for row in report.rows}


def account(place: Workplace, name: str = "default") -> Account:
    with place.store().read() as books:
        found = books.portfolio(name)
        assert found is not None
        return books.account(found)


def holding(place: Workplace, day: str, name: str, shares: Mapping[str, int], cash: int) -> None:
    """A portfolio that opens with shares, as they would be imported."""
    path = place.settings.home / "held.csv"
    lots = "".join(f"{ticker},{quantity},{quantity * 50},2019-01-02,\n" for ticker, quantity in shares.items())
    path.write_text(f"ticker,quantity,cost,date,cash\n{lots},,,,{cash}\n", encoding="utf-8")
    book_import(place.desk, plan_import(place.desk, path, name, place.moment(day)))


def audit_rows(place: Workplace, kind: str) -> list[dict[str, Any]]:
    """The audit rows of one kind, as they are stored."""
    with place.store().read() as books:
        found = books._session.connection().exec_driver_sql("SELECT payload FROM audit_log WHERE kind = ? ORDER BY seq", (kind,))
        return [json.loads(payload) for (payload,) in found]
