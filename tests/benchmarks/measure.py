"""Measures what the documentation states, on this machine, and prints it: medians of several runs, each beside a peer.

python tests/benchmarks/measure.py [--runs 5]
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
DECIDE = ["-m", "alphaagent", "decide", "AAPL", "--as-of", "2020-08-03", "--engine", "heuristic", "--json"]


def cold(arguments: list[str], runs: int) -> tuple[float, float]:
    """Median wall seconds and peak megabytes of whole processes, each with a home of its own."""
    seconds, peaks = [], []
    for _ in range(runs + 1):
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "ALPHAAGENT_HOME": home, "PYTHONPATH": str(ROOT)}
            begun = time.perf_counter()
            process = subprocess.Popen([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            if status:
                raise SystemExit(f"{arguments} failed")
            seconds.append(time.perf_counter() - begun)
            peaks.append(usage.ru_maxrss / 1024)
    return statistics.median(seconds[1:]), max(peaks)


def rate(action: Callable[[int], object], count: int) -> float:
    """Calls per second after one call to warm up."""
    action(0)
    begun = time.perf_counter()
    for number in range(count):
        action(number)
    return count / (time.perf_counter() - begun)


def warm_rates() -> dict[str, float]:
    """Decisions and guard evaluations per second in this process."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["ALPHAAGENT_HOME"] = home
        from alphaagent import pipeline
        from alphaagent.bootstrap import Workplace
        from alphaagent.desk import Ask
        from alphaagent.guard.evaluate import evaluate
        from alphaagent.guard.mandate import Mandate

        workplace = Workplace.open()
        desk = workplace.desk
        sessions = workplace.calendar.sessions[300:2600]

        def dry(number: int) -> object:
            at = workplace.calendar.closes(sessions[number * 13 % len(sessions)]).replace(second=1)
            return pipeline.dry_run(desk, Ask(("AAPL", "NVDA")[number % 2], at, "heuristic"))

        record = pipeline.dry_run(desk, Ask("AAPL", workplace.calendar.closes(sessions[1600]).replace(second=1), "heuristic")).record
        mandate = Mandate.from_record(record.mandate, "benchmark")
        return {
            "decisions per second (dry runs, one process)": rate(dry, 200),
            "guard evaluations per second": rate(lambda _: evaluate(record.result.proposal_text, record.snapshot, mandate, record.request.as_of), 2000),
        }


def many_rates(counts: tuple[int, ...] = (8, 200)) -> dict[str, float]:
    """Milliseconds per ticker of one run over several synthetic tickers, books written, by evidence threads."""
    from alphaagent import pipeline
    from alphaagent.desk import Ask
    from tests.synthetic import sessions, workplace, write_home

    figures = {}
    for count in counts:
        for threads in (1, pipeline.EVIDENCE_THREADS):
            with tempfile.TemporaryDirectory() as folder:
                place = workplace(write_home(Path(folder), count))
                at = place.moment(sessions()[400])
                asks = [Ask(ticker, at, "heuristic") for ticker in place.desk.market.tickers()]
                usual, pipeline.EVIDENCE_THREADS = pipeline.EVIDENCE_THREADS, threads
                begun = time.perf_counter()
                pipeline.decide_many(place.desk, asks)
                figures[f"ms per ticker, {count} tickers in one run, {threads} threads"] = (time.perf_counter() - begun) / count * 1000
                pipeline.EVIDENCE_THREADS = usual
    return figures


def main() -> None:
    """Prints one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    figures = {
        "--help": cold(["-m", "alphaagent", "--help"], runs),
        "import pandas (peer)": cold(["-c", "import pandas"], runs),
        "decide, cold process, books made": cold(DECIDE, runs),
        "decide --dry-run, cold process": cold([*DECIDE, "--dry-run"], runs),
        "import pandas, ta, sqlmodel, feedparser (peer)": cold(["-c", "import pandas, ta, sqlmodel, feedparser"], runs),
    }
    for name, (seconds, peak) in figures.items():
        print(f"{name:50s} {seconds:7.2f} s  {peak:6.0f} MB")
    for name, value in (warm_rates() | many_rates()).items():
        print(f"{name:50s} {value:7.0f}")
    print(f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
