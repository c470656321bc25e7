"""Measures a whole `sweep` over many synthetic names in a process of its own: the crew at a scripted latency, and the rule engine without a model.

python tests/benchmarks/sweep.py [--names 100] [--latency 1] [--at-once 10]

The least that it could take is the latencies that have to follow one another in a debate, times the names, by as many as are heard at once. What
it takes beyond that is the program's own. Python computes on one core at a time: where the seconds of the processor come near those on the clock,
it is computing, and no longer the models, that sets the pace.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.benchmarks.crew import configured, environment, models  # noqa: E402
from tests.synthetic import sessions, write_home  # noqa: E402

FOLLOWING = 2
"""Latencies one after the other in a debate of the plan `quick`: the openings, the verdict."""
FIRST, NEXT = 400, 401


@dataclass(frozen=True)
class Swept:
    """One process: seconds on the clock and of the processor, its peak, and the rows by state and provenance."""

    wall: float
    processor: float
    peak_mb: float
    rows: Counter[str]


def home_of(folder: Path, names: int) -> Path:
    """A home with a watchlist of so many names."""
    home = configured(write_home(folder, names))
    (home / "config" / "portfolios").mkdir()
    tickers = ", ".join(f"T{number:03d}" for number in range(names))
    (home / "config" / "portfolios" / "many.yaml").write_text(f"watchlist: [{tickers}]\ncash: 1000000\n", encoding="utf-8")
    return home


def swept(home: Path, session: str, variables: dict[str, str], *more: str) -> Swept:
    """One pass in a process of its own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("ALPHAAGENT_")}
    env |= {"PYTHONPATH": str(ROOT), **variables, "ALPHAAGENT_HOME": str(home)}
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([sys.executable, "-m", "alphaagent", "sweep", "--as-of", session, "--json", *more], env=env, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        out.seek(0)
        err.seek(0)
        if status:
            raise SystemExit(f"a sweep failed: {err.read()[-2000:]}")
        rows = [json.loads(line) for line in out]
    counted = Counter(f"{row['state']} by {row['provenance']}" for row in rows if "state" in row)
    return Swept(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, counted)


def line(name: str, one: Swept, least: float, names: int) -> str:
    rows = ", ".join(f"{count} {what}" for what, count in sorted(one.rows.items()))
    own = f"{(one.wall - least) / names * 1000:.0f} ms a name beyond the models"
    share = f"processor {one.processor:.1f} s ({one.processor / one.wall:.0%} of a core)"
    return f"{name:34s} {one.wall:6.1f} s, least {least:.1f} s, {own}, {share}, peak {one.peak_mb:.0f} MB; {rows}"


def main() -> None:
    """Prints a line per pass: each engine on a new book, on the session after, and once more where all is decided."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=100)
    parser.add_argument("--latency", type=float, default=1.0)
    parser.add_argument("--at-once", type=int, default=10)
    options = parser.parse_args()
    first, following = sessions()[FIRST], sessions()[NEXT]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {options.names} names, {options.at_once} at once, {options.latency:g} s a call\n")
    with tempfile.TemporaryDirectory() as folder, models(options.latency) as url:
        home = home_of(Path(folder) / "rules", options.names)
        passes = (("rule engine, new book", first), ("rule engine, the session after", following), ("rule engine, all decided before", following))
        for name, session in passes:
            print(line(name, swept(home, session, {}, "--engine", "heuristic"), 0, options.names), flush=True)
        home = home_of(Path(folder) / "crew", options.names)
        least = FOLLOWING * options.latency * options.names / options.at_once
        wanted = ("--engine", "crew", "--plan", "quick", "--at-once", str(options.at_once))
        print(line("crew, plan quick, new book", swept(home, first, environment(url, home), *wanted), least, options.names), flush=True)
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
