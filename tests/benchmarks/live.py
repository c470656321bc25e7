"""What live data cost: time, requests and bytes, against vendors played on this machine, within the shipped limits. `make bench-live`.

The same documents are fetched by a bare client as well, without limits, archive or parsing: that is the peer.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from alphaagent import bootstrap  # noqa: E402
from alphaagent.cli import run  # noqa: E402
from tests.live_home import NIGHT, TestClock  # noqa: E402
from tests.vendors.edgar import Edgar  # noqa: E402
from tests.vendors.feeds import FeedPlayer  # noqa: E402
from tests.vendors.server import Asked, Page, VendorServer, serving  # noqa: E402
from tests.vendors.yahoo import YahooPlayer  # noqa: E402

PLAYED = {"AAPL": "0000320193", "NVDA": "0001045810", "GOOG": "0001652044"}
COUNT = int(os.environ.get("TICKERS", "100"))


def main() -> None:
    """Prints one figure a line."""
    with tempfile.TemporaryDirectory() as folder, serving(_many, Edgar(upto=NIGHT.date()), FeedPlayer(NIGHT)) as server:
        _home(Path(folder), server)
        _one(server)
        _many_at_once(server)
        _bare(server)


YAHOO = YahooPlayer(NIGHT)


def _many(asked: Asked) -> Page | None:
    """Yahoo with as many tickers as are wanted: T001 is Apple under another name, and so on."""
    path = asked.path
    for number, (symbol, _) in enumerate(PLAYED.items()):
        for place in range(number, COUNT, len(PLAYED)):
            if path.endswith(f"/T{place:03}"):
                path = path[: -len(f"T{place:03}")] + symbol
    page = YAHOO(Asked(path, asked.query, asked.headers))
    played = path.rpartition("/")[2]
    if page is None or played not in PLAYED or path == asked.path:
        return page
    return Page(page.body.replace(f'"{played}"'.encode(), f'"{asked.path.rpartition("/")[2]}"'.encode()), page.status, page.content_type, page.headers)


def _home(folder: Path, server: VendorServer) -> None:
    os.environ |= {"ALPHAAGENT_HOME": str(folder), "ALPHAAGENT_DATA": "live"}
    bootstrap.WallClock = TestClock  # type: ignore[assignment,misc]
    (folder / "config").mkdir()
    shipped = (ROOT / "config" / "vendors.yaml").read_text(encoding="utf-8").replace("  address: null\n", "")
    blocks = ("yahoo:", "edgar:", "feeds:", "stooq:")
    placed = "\n".join(f"{line}\n  address: {server.address}" if line in blocks else line for line in shipped.splitlines())
    (folder / "config" / "vendors.yaml").write_text(placed, encoding="utf-8")
    settings = (ROOT / "config" / "alphaagent.yaml").read_text(encoding="utf-8").replace("contact: null", "contact: Bench bench@example.org")
    (folder / "config" / "alphaagent.yaml").write_text(settings, encoding="utf-8")
    ciks = list(PLAYED.values())
    entries = [f'XNAS:T{place:03}: {{name: Company {place}, currency: USD, cik: "{ciks[place % len(ciks)]}"}}' for place in range(COUNT)]
    (folder / "config" / "instruments.yaml").write_text("\n".join(entries) + "\n", encoding="utf-8")


def _timed(*arguments: str) -> tuple[float, str]:
    out, began = io.StringIO(), time.perf_counter()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = run(list(arguments))
    assert code == 0, arguments
    return time.perf_counter() - began, out.getvalue()


def _one(server: VendorServer) -> None:
    _timed("data", "status")  # what is loaded once
    before = sum(server.seen.values())
    cold, _ = _timed("data", "fetch", "AAPL")
    print(f"one ticker, nothing archived: {cold:.2f} s, {sum(server.seen.values()) - before} requests (the index's one included)")
    cached, _ = _timed("data", "fetch", "AAPL")
    print(f"one ticker, everything holds: {cached:.2f} s, no request")
    decided, out = _timed("decide", "AAPL", "--engine", "heuristic", "--dry-run", "--json")
    print(f"a dry decision on archived evidence: {decided:.2f} s, {len(json.loads(out)['evidence']['items'])} items")


def _many_at_once(server: VendorServer) -> None:
    before, tickers = sum(server.seen.values()), [f"T{place:03}" for place in range(COUNT)]
    seconds, out = _timed("data", "fetch", *tickers, "--json")
    rows = [json.loads(line) for line in out.splitlines()]
    states: dict[str, int] = {}
    for row in rows:
        states[row["state"]] = states.get(row["state"], 0) + 1
    requests = sum(server.seen.values()) - before
    octets = Path(os.environ["ALPHAAGENT_HOME"], "data", "live", "archive.db").stat().st_size
    print(f"{COUNT} tickers within the shipped limits: {seconds:.1f} s, {requests / COUNT:.1f} requests each, states {states}, archive {octets / 1e6:.1f} MB")
    TestClock.at += timedelta(minutes=1)
    again, _ = _timed("data", "fetch", *tickers)
    print(f"the same again: {again:.1f} s")


def _bare(server: VendorServer) -> None:
    """The peer: the same addresses by one client, one after the other."""
    paths = [asked.path + ("?" + "&".join(f"{key}={value}" for key, value in asked.query.items()) if asked.query else "") for asked in server.asked[:8]]
    began = time.perf_counter()
    with httpx.Client(headers={"user-agent": "bench@example.org"}) as client:
        octets = sum(len(client.get(server.address + path).content) for path in paths)
    print(f"a bare client, the first {len(paths)} requests of one ticker: {time.perf_counter() - began:.2f} s, {octets / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
