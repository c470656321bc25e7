"""A quarter of nights over two portfolios, with what goes wrong in one: runs that are killed or overlap, models that are away, a source that is lost.

python tests/soak/quarter.py [--sessions 63] [--names 7] [--seed 7]

Three times the same quarter, each with a home of its own. *Disturbed* is all of it. *Twin* has the same models and sources on the same nights,
and nobody is killed and nothing overlaps: it has to come to the very same books. *Quiet* ends before the first night with models or without a
source: so far it is the rule engine on whole data and nothing else, and has to be the same too. What the books say is read with plain SQL
(reading.py).
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from alphaagent.operations.audit import examine  # noqa: E402
from alphaagent.operations.prospects import Wish  # noqa: E402
from alphaagent.operations.sweep import sweep  # noqa: E402
from alphaagent.settling import settle  # noqa: E402
from tests import crew_script  # noqa: E402
from tests.home import finish, start  # noqa: E402
from tests.scripted_provider import Request, ScriptedProvider, Status, Step, Text  # noqa: E402
from tests.snapshot_folder import RECORDED, recorded_calendar  # noqa: E402
from tests.soak.reading import Reading, Slot, columns, different, wrong  # noqa: E402
from tests.synthetic import workplace  # noqa: E402

FIRST = "2020-07-01"
"""The quarter in which Apple was split, with dividends and a fall of technology shares at its end."""
NAMES = ("AAPL", "AMZN", "GOOG", "META", "MSFT", "NFLX", "NVDA")
PORTFOLIOS: Mapping[str, str] = {"alpha": "cash: 100000\n", "beta": "cash: 9000\nmandate: aggressive\n"}
"""The second one is short of cash, so that it matters who is served first."""
AWAY = 3
"""Nights in a row without a provider."""
KILL, OVERLAP, BOTH = "killed", "two at once", "two at once and one killed"
RULES = "the rule engine"
WHO = {"crew": "the crew", "crew away": "the substitute"}


@dataclass(frozen=True)
class Night:
    """One session: who decides, what is missing, and what happens to the runs."""

    session: str
    engine: str = "heuristic"
    is_away: bool = False
    lost: str | None = None
    """A file of the snapshot that cannot be read on this night."""
    trouble: str | None = None

    @property
    def is_plain(self) -> bool:
        """Whether the rule engine decides on whole data."""
        return self.engine == "heuristic" and self.lost is None

    @property
    def kind(self) -> str:
        return "source lost" if self.lost else self.engine if self.engine == "heuristic" else "crew away" if self.is_away else "crew"


@dataclass
class Told:
    """What a run of the quarter came to, beside its books."""

    home: Path
    last: str
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    @property
    def books(self) -> Reading:
        return Reading(self.home / "data" / "alphaagent.db")


def quarter(count: int, names: Sequence[str], seed: int, crew_nights: int) -> list[Night]:
    """The nights in order: models come, go and come back after two thirds, and sources are lost after that."""
    chance = random.Random(seed)
    days = [day.isoformat() for day in recorded_calendar().sessions if day.isoformat() >= FIRST][:count]
    nights = [Night(day, trouble=chance.choice((KILL, KILL, OVERLAP, BOTH, None, None, None, None))) for day in days]
    if not {KILL, OVERLAP} <= {night.trouble for night in nights[:2]}:
        nights[:2] = [replace(nights[0], trouble=KILL), replace(nights[1], trouble=OVERLAP)]
    begins = min(count * 2 // 3, count - 2 * crew_nights - AWAY - 1)
    for place in range(begins, begins + 2 * crew_nights + AWAY):
        away = crew_nights <= place - begins < crew_nights + AWAY
        nights[place] = Night(days[place], "crew", is_away=away, trouble=KILL if place == begins and crew_nights > 1 else None)
    for number, place in enumerate(sorted({count - 1, max(count - 5, begins + 2 * crew_nights + AWAY)})):
        nights[place] = replace(nights[place], lost=f"{('bars', 'fundamentals')[number % 2]}/{names[0]}.csv")
    return nights


class Models:
    """The provider: a crew that buys some names, sells others and waits with the rest, always the same; or nobody."""

    def __init__(self) -> None:
        self.is_away = False

    def __call__(self, request: Request) -> Step:
        if self.is_away:
            return Status(503)
        side, ids = crew_script.side_of(request), re.findall(r"ev_[0-9a-f]{12}", json.dumps(request.body))
        if side != "cio":
            return Text(crew_script.opening(side, [crew_script.claim("It is as the evidence says.", ids[:1])]), usage=crew_script.USAGE)
        return Text(self._verdict(request, ids), usage=crew_script.USAGE)

    def _verdict(self, request: Request, ids: list[str]) -> str:
        prompt = crew_script.prompt_of(request)
        name = next(name for name in NAMES if f"{name}, decided at" in prompt)
        action = ("BUY", "SELL", "HOLD")[sha256(name.encode()).digest()[0] % 3]
        amount, p_up = {"BUY": (2000, 0.68), "SELL": (1500, 0.32), "HOLD": (0, 0.5)}[action]
        mood = {"BUY": "BULLISH", "SELL": "BEARISH", "HOLD": "NEUTRAL"}[action]
        said = {"action": action, "amount": amount, "sentiment": mood, "reasoning": "It is as the evidence says.", "p_up": p_up, "relied_on": ids[:1]}
        return json.dumps(said)


def made(home: Path, names: Sequence[str]) -> Path:
    """A home with the portfolios, a snapshot of its own, and the plan `quick`."""
    folder = home / "config" / "portfolios"
    folder.mkdir(parents=True)
    for name, more in PORTFOLIOS.items():
        (folder / f"{name}.yaml").write_text(f"watchlist: [{', '.join(names)}]\n{more}", encoding="utf-8")
    (home / "config" / "debate.yaml").write_text("plan: quick\n", encoding="utf-8")
    shutil.copytree(RECORDED, home / "data" / "snapshot")
    return home


@dataclass
class Run:
    """One quarter in one home."""

    told: Told
    models: Models
    environment: dict[str, str]
    names: Sequence[str]
    chance: random.Random

    def night(self, night: Night) -> None:
        self.models.is_away = night.is_away
        with self._without(night.lost):
            if night.trouble == KILL:
                self._killed(night)
            elif night.trouble:
                self._overlapping(night)
            self._swept(night)
        if night.lost:
            self._swept(night)

    def _swept(self, night: Night) -> None:
        """One pass in this process. A fault is one where nothing is missing and it was not undisturbed."""
        place = workplace(self.told.home, **self.environment)
        with closing(place):
            report = sweep(place, (), night.session, Wish(night.engine))
        for one in report.portfolios:
            self.told.counts.update(f"rows {row.state}" for row in one.rows)
        self.told.counts["passes"] += 1
        if report.exit_code and not night.lost:
            self.told.faults.append(
                f"{night.session}: exit {report.exit_code}: {[row.reason for one in report.portfolios for row in one.rows if row.exit_code]}"
            )

    def _killed(self, night: Night) -> None:
        process = self._started(night)
        self.told.counts["killed in the middle"] += self._kill(process)

    def _overlapping(self, night: Night) -> None:
        """Two processes at once, of which one may be killed."""
        both = [self._started(night) for _ in range(2)]
        if night.trouble == BOTH:
            self.told.counts["killed beside another"] += self._kill(both.pop(0))
        self.told.counts["two at once"] += len(both) == 2
        for process in both:
            ran = finish(process)
            if ran.code and not (night.lost and ran.code == 3):
                self.told.faults.append(f"{night.session}: one of two at once ended with {ran.code}: {ran.err[-400:]}")

    def _started(self, night: Night) -> "subprocess.Popen[str]":
        return start(self.told.home, "sweep", "--as-of", night.session, "--engine", night.engine, **self.environment)

    def _kill(self, process: "subprocess.Popen[str]") -> bool:
        """Kills as soon as so many rows have been written that the pass is somewhere in the middle; False where it was over first."""
        wanted = self._written() + self.chance.randrange(1, len(PORTFOLIOS) * len(self.names))
        while process.poll() is None and self._written() < wanted:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        return process.returncode == -signal.SIGKILL

    def _written(self) -> int:
        with suppress(sqlite3.OperationalError):
            return int(self.told.books.rows("SELECT coalesce(max(seq), 0) FROM audit_log")[0][0])
        return 0

    @contextmanager
    def _without(self, lost: str | None) -> Iterator[None]:
        """The snapshot with one file that holds nothing but noise."""
        if lost is None:
            yield
            return
        path = self.told.home / "data" / "snapshot" / lost
        whole = path.read_bytes()
        path.write_bytes(b"\xff\xfe\x00" * 9)
        yield
        path.write_bytes(whole)

    def settled(self) -> None:
        """What is due after the last night."""
        place = workplace(self.told.home, **self.environment)
        with closing(place):
            settle(place.desk, place.moment(self.told.last))


@dataclass(frozen=True)
class Quarter:
    """What the quarters that are compared have in common."""

    names: Sequence[str]
    seed: int
    after: str
    """The session after the last night."""
    models: Models
    environment: Mapping[str, str]

    def played(self, home: Path, nights: Sequence[Night]) -> Told:
        """All nights in a home of its own, settled once more at the end."""
        run = Run(Told(made(home, self.names), self.after), self.models, dict(self.environment), self.names, random.Random(self.seed))
        for night in nights:
            begun = time.monotonic()
            run.night(night)
            print(f"{home.name} {night.session} {night.kind} {night.trouble or ''}", file=sys.stderr, flush=True)
            run.told.counts[f"ms {night.kind}"] += round((time.monotonic() - begun) * 1000)
        run.settled()
        return run.told


@dataclass(frozen=True)
class Findings:
    """Everything that is wrong, line by line, and the figures."""

    wrong: list[str]
    figures: list[tuple[str, object]]


def findings(folder: Path, nights: Sequence[Night], names: Sequence[str], seed: int) -> Findings:
    """Plays the quarter three times, the quiet one as far as it can be compared, and compares."""
    after = next(day.isoformat() for day in recorded_calendar().sessions if day.isoformat() > nights[-1].session)
    plain = next(before.session for before, night in pairwise(nights) if not night.is_plain)
    models = Models()
    with ScriptedProvider(models) as provider:
        common = Quarter(names, seed, after, models, environment(provider.base_url))
        disturbed = common.played(folder / "disturbed", nights)
        twin = common.played(folder / "twin", [replace(night, trouble=None) for night in nights])
        quiet = common.played(folder / "quiet", [replace(night, trouble=None) for night in nights if night.session <= plain])
    slots = [Slot(name, ticker, night.session) for name in PORTFOLIOS for ticker in names for night in nights]
    found = [f"{told.home.name}: {line}" for told in (disturbed, twin) for line in [*told.faults, *wrong(told.books, slots, after)]]
    found += [f"audit verify --replay: {line}" for line in _verified(disturbed)]
    found += [f"disturbed and twin: {line}" for line in different(disturbed.books, twin.books)]
    found += [f"disturbed and quiet, before models and losses: {line}" for line in different(disturbed.books, quiet.books, plain)]
    return Findings(found, [*_figures(disturbed, nights, slots), *_turnover(disturbed.books, nights)])


def environment(base_url: str) -> dict[str, str]:
    return {"ALPHAAGENT_LLM_PROVIDER": "openai-compatible", "ALPHAAGENT_LLM_BASE_URL": base_url, "ALPHAAGENT_LLM_MODEL": "scripted-model"}


def _verified(told: Told) -> list[str]:
    """What the product's own verifier says of the books; nothing where they are sound and every decision replays."""
    report = examine(workplace(told.home).settings.database_url, (), 0, strict=False, replay=True)
    return [] if report.exit_code == 0 else [str(report.exit_code), *(finding.message for finding in report.findings)]


def _figures(told: Told, nights: Sequence[Night], slots: Sequence[Slot]) -> list[tuple[str, object]]:
    orders = Counter(row[6] for row in told.books.orders())
    provenance = Counter(row[7] for row in told.books.decisions())
    kinds = Counter(night.kind for night in nights)
    return [
        ("nights", f"{len(nights)}: " + ", ".join(f"{number} {kind}" for kind, number in kinds.items())),
        ("slots", len(slots)),
        ("decisions", ", ".join(f"{number} {kind}" for kind, number in sorted(provenance.items()))),
        ("orders", ", ".join(f"{number} {status}" for status, number in sorted(orders.items()))),
        ("failures and skips on record, decided later", len(told.books.undone())),
        *((what, number) for what, number in sorted(told.counts.items()) if not what.startswith("ms ")),
        *((f"seconds a night, {kind}", f"{told.counts[f'ms {kind}'] / 1000 / number:.1f}") for kind, number in kinds.items()),
    ]


def _turnover(books: Reading, nights: Sequence[Night]) -> list[tuple[str, object]]:
    """The value traded after the nights of each part of the quarter, in USD a night: what a change of engines costs stands beside what was usual."""
    parts: dict[str, list[Decimal]] = {}
    traded = books.traded()
    for before, night in zip((None, *nights), nights, strict=False):
        who = WHO.get(night.kind, RULES)
        if before and WHO.get(before.kind, RULES) != who:
            who = f"first night of {who} after {WHO.get(before.kind, RULES)}"
        elif before is None:
            who = "the very first night"
        parts.setdefault(who, []).append(traded.get(night.session, Decimal(0)))
    return [
        (f"USD traded a night, {who}", f"{sum(values) / len(values):,.0f} (nights: {len(values)}, most {max(values):,.0f})") for who, values in parts.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=63)
    parser.add_argument("--names", type=int, default=len(NAMES))
    parser.add_argument("--crew-nights", type=int, default=2, help="before the models are away, and after")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        names = NAMES[: options.names]
        found = findings(Path(folder), quarter(options.sessions, names, options.seed, options.crew_nights), names, options.seed)
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    took = [("whole run", f"{time.monotonic() - begun:.0f} s"), ("load of the machine", f"{load} on {os.cpu_count()} cores")]
    print(columns([*found.figures, *took]))
    print("\n".join(found.wrong) or "nothing is wrong")
    raise SystemExit(1 if found.wrong else 0)


if __name__ == "__main__":
    main()
