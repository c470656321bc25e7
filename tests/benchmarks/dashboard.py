"""Measures what the dashboard's pages ask of a large ledger, in a process of its own after the ledger is made.

python tests/benchmarks/dashboard.py [--decisions 100000] [--octets 20000] [--home FOLDER] [--runs 15] [--verify]

`--octets` is how much longer than its least a record is; in use it has 25,000. A home that is there already is measured as it stands.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from alphaagent.ledger.listing import DecisionFilter  # noqa: E402

ROWS = 50
FILTERS = {
    "no filter": DecisionFilter(),
    "ticker": DecisionFilter(ticker="T007"),
    "a ticker that is not there": DecisionFilter(ticker="NOSUCH"),
    "from a day": DecisionFilter(since=date(2018, 12, 3)),
    "between two days": DecisionFilter(since=date(2018, 10, 1), until=date(2018, 10, 5)),
    "engine": DecisionFilter(engine="crew"),
    "provenance": DecisionFilter(provenance="fallback"),
    "action": DecisionFilter(action="SELL"),
    "outcome": DecisionFilter(outcome="BLOCK"),
    "code": DecisionFilter(outcome="CLIP_CASH"),
    "debate class": DecisionFilter(debate_class="theater"),
    "portfolio": DecisionFilter(portfolio="beta"),
    "several, nothing matches": DecisionFilter(engine="crew", action="HOLD"),
}


def timed(action: Callable[[], object], runs: int) -> tuple[float, float]:
    """Seconds: the median and the 95th hundredth of so many runs."""
    taken = []
    for _ in range(runs):
        begun = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begun)
    taken.sort()
    return taken[len(taken) // 2], taken[min(len(taken) - 1, len(taken) * 95 // 100)]


def line(name: str, action: Callable[[], object], runs: int) -> None:
    median, slow = timed(action, runs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{name:46s} p50 {median:7.3f} s  p95 {slow:7.3f} s  peak so far {peak:5.0f} MB", flush=True)


def measure(home: Path, runs: int, *, verify: bool) -> None:
    """Every figure of one home."""
    from alphaagent.ledger import verify as verifier
    from alphaagent.operations import review
    from alphaagent.operations.outcomes import gather
    from alphaagent.views_review import counted, decisions_csv
    from tests.synthetic import workplace

    place = workplace(home)
    store = place.required_store()
    total = store.decision_count(DecisionFilter())
    print(f"{total:,} decisions, {store.head_seq():,} audit rows, load {os.getloadavg()[0]:.1f}")
    line("the whole first page, drawn", lambda: drawn(home), 3)
    for name, wanted in FILTERS.items():
        line(f"a page and its count: {name}", lambda wanted=wanted: (store.decision_rows(wanted, ROWS), store.decision_count(wanted)), runs)
    line("the last page, no filter", lambda: store.decision_rows(DecisionFilter(), ROWS, total - ROWS), runs)
    crew = store.decision_count(DecisionFilter(engine="crew"))
    line("the last page, engine", lambda: store.decision_rows(DecisionFilter(engine="crew"), ROWS, crew - ROWS), runs)
    line("rulings by code", lambda: counted(review.rulings(place, date(2018, 1, 1), date(2024, 1, 1)), {}, "BLOCK"), runs)
    line("a page of events", lambda: review.events(place, ("failure", "sweep"), 25, 0), runs)
    line("outcomes of all", lambda: gather(place), 1)
    line("CSV of all", lambda: decisions_csv(store.decision_stream(DecisionFilter(), 100_000)), 1)
    if verify:
        line("audit verify", lambda: verifier.verify(place.settings.database_url), 1)


def drawn(home: Path) -> None:
    """The page of decisions in its frame, as AppTest draws it."""
    from streamlit.testing.v1 import AppTest

    os.environ["ALPHAAGENT_HOME"] = str(home)
    app = AppTest.from_string("from dashboard.shell import show\nshow('decisions')", default_timeout=120).run()
    if app.exception or not len(app.dataframe):
        raise SystemExit(f"the page was not drawn: {app.exception}")


def main() -> None:
    """Makes the home in a process of its own, so that the peak is that of reading."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=100_000)
    parser.add_argument("--octets", type=int, default=20_000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--verify", action="store_true", help="the check of the whole trail as well, which takes minutes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = options.home or Path(folder)
        if not (home / "data" / "alphaagent.db").exists():
            made = [sys.executable, "-m", "tests.large_ledger", str(home), str(options.decisions), str(options.octets)]
            subprocess.run(made, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)})
        measure(home, options.runs, verify=options.verify)


if __name__ == "__main__":
    main()
