"""A home with a synthetic snapshot of as many tickers as a test wants: random walks from a fixed seed over the recorded sessions."""

import random
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from alphaagent.bootstrap import Workplace
from alphaagent.settings import load_settings
from tests.snapshot_folder import ACTION_HEADER, BAR_HEADER, INSTRUMENTS, RECORDED, recorded_calendar, write_folder

FIRST, BARS = 1400, 420
"""The sessions that are written: 420 from July 2018 on."""


def write_home(home: Path, tickers: int | Sequence[str], actions: Mapping[str, str] | None = None, *, currency: str = "USD", seed: int = 7) -> Path:
    """A home whose data/snapshot holds these tickers (T000, T001, ... for a number), with corporate actions as CSV rows by ticker."""
    names = [f"T{n:03d}" for n in range(tickers)] if isinstance(tickers, int) else list(tickers)
    files: dict[str, str | bytes] = {
        "sessions.csv": (RECORDED / "sessions.csv").read_bytes(),
        "instruments.csv": INSTRUMENTS + "".join(f"XNAS:{name},{name},,{name} Inc.,XNAS,{currency},common,Tech,,,\n" for name in names),
    }
    for number, name in enumerate(names):
        files[f"bars/{name}.csv"] = BAR_HEADER + _walk(random.Random(seed * 1000 + number))
        rows = (actions or {}).get(name)
        files[f"actions/{name}.csv"] = ACTION_HEADER + (f"{rows}\n" if rows else "")
    write_folder(home / "data" / "snapshot", files)
    return home


@cache
def sessions() -> list[str]:
    """The sessions that have bars."""
    return [day.isoformat() for day in recorded_calendar().sessions[FIRST : FIRST + BARS]]


def workplace(home: Path, **variables: str) -> Workplace:
    """A workplace on a home, with nothing of the environment."""
    return Workplace(load_settings({"ALPHAAGENT_HOME": str(home), **variables}, cwd=home))


def _walk(chance: random.Random) -> str:
    price, drift, rows = chance.uniform(40, 160), chance.uniform(-0.001, 0.0015), []
    for day in sessions():
        before, price = price, max(5.0, price * (1 + drift + chance.gauss(0, 0.012)))
        opened = (before + price) / 2
        low, high = min(opened, price) * 0.995, max(opened, price) * 1.005
        rows.append(f"{day},{opened:.2f},{high:.2f},{low:.2f},{price:.2f},{chance.randint(2_000_000, 9_000_000)}\n")
    return "".join(rows)
