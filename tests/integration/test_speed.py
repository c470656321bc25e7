"""Loose guards: nothing heavy is loaded where nothing heavy is needed."""

import os
import resource
import subprocess
import sys

from tests.home import CHECKOUT, Home

RUNS = 3


def seconds(*arguments: str) -> float:
    """What a Python process takes of the processor, which is the same on a busy machine."""
    environment, before = os.environ | {"PYTHONPATH": str(CHECKOUT)}, children()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment, timeout=600)
    return children() - before


def children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_takes_less_time_than_importing_pandas(home: Home) -> None:
    assert min(seconds("-m", "alphaagent", "--help") for _ in range(RUNS)) < min(seconds("-c", "import pandas") for _ in range(RUNS))


def test_a_dry_run_loads_no_crew_no_calendar_library_and_no_migrations(home: Home) -> None:
    heavy = "{'crewai', 'exchange_calendars', 'alembic', 'streamlit', 'yfinance'} & set(sys.modules)"
    code = f"import sys; from alphaagent.cli import run; assert run(['decide', 'AAPL', '--as-of', '2020-08-03', '--dry-run']) == 0; assert not {heavy}, {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(CHECKOUT)}, timeout=120)
