"""Loose guards: nothing heavy is loaded where nothing heavy is needed."""

import os
import statistics
import subprocess
import sys
import time

from tests.home import CHECKOUT, Home

RUNS = 3


def seconds(*arguments: str) -> float:
    """The median wall time of a Python process."""
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    taken = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment, timeout=120)
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def test_help_takes_less_time_than_importing_pandas(home: Home) -> None:
    assert seconds("-m", "alphaagent", "--help") < seconds("-c", "import pandas")


def test_a_dry_run_loads_no_crew_no_calendar_library_and_no_migrations(home: Home) -> None:
    heavy = "{'crewai', 'exchange_calendars', 'alembic', 'streamlit', 'yfinance'} & set(sys.modules)"
    code = f"import sys; from alphaagent.cli import run; assert run(['decide', 'AAPL', '--as-of', '2020-08-03', '--dry-run']) == 0; assert not {heavy}, {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(CHECKOUT)}, timeout=120)
