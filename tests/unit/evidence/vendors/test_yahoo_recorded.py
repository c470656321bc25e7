"""Yahoo's own recorded answers through the library and back: asked of a server on this machine that plays them.

The recordings may not be given on with the project; these tests skip where ALPHAAGENT_REFERENCE_DATA does not name the folder that holds them.
"""

import gzip
import json
import os
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent.domain.market import Bar, ComingEvent, Records
from alphaagent.evidence.fundamentals import Filed, debt_now, trailing_now
from alphaagent.evidence.sources.snapshot import SnapshotPrices
from tests.snapshot_folder import RECORDED, recorded_calendar, recorded_instrument
from tests.vendors.server import Asked, Page
from tests.vendors.yahoo_desk import YahooDesk, yahoo_desk

FOLDER = os.environ.get("ALPHAAGENT_REFERENCE_DATA")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="ALPHAAGENT_REFERENCE_DATA names no folder with recorded answers")
FETCHED = datetime(2025, 2, 24, 12, tzinfo=UTC)
CALENDAR = recorded_calendar()
AAPL = recorded_instrument("AAPL")


def recording(name: str) -> dict[str, Any]:
    (path,) = (Path(FOLDER or "") / "yahoo_recorded").glob(f"{name}*.json.gz")
    body: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))["response"]["bodyJson"]
    return body


def playing(asked: Asked) -> Page | None:
    head, _, symbol = asked.path.rpartition("/")
    if "chart" in head:
        return answer(recording(f"historical-via-chart-{symbol}"))
    if "quoteSummary" in head:
        return answer(recording(f"quoteSummary-all-{symbol}"))
    if "timeseries" in head:
        return answer(statement(symbol, asked.query["type"].split(",")))
    return None


def statement(symbol: str, types: list[str]) -> dict[str, Any]:
    """The recording that holds most of the lines asked for; a series that was not recorded has lines without numbers."""
    for kind in ("financials-annual", "balance-sheet-annual", "balance-sheet-quarterly"):
        found = recording(f"fundamentalsTimeSeries-{symbol}-{kind}")
        if {result["meta"]["type"][0] for result in found["timeseries"]["result"]} & set(types):
            return found
    return {"timeseries": {"result": [{"meta": {"symbol": [symbol], "type": [name]}} for name in types], "error": None}}


def answer(document: dict[str, Any]) -> Page:
    return Page(json.dumps(document).encode())


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[YahooDesk]:
    with yahoo_desk(tmp_path, seconds=5) as made:
        made.server.players = (playing, *made.server.players)
        yield made


def prices_of(desk: YahooDesk, symbol: str) -> tuple[Records, dict[date, Bar]]:
    instrument, source = recorded_instrument(symbol), SnapshotPrices(RECORDED)
    came = desk.prices.fetch(instrument, None)
    assert came is not None
    bars = source.parse(source.fetch(instrument) or b"", instrument, CALENDAR).bars
    return desk.prices.parse(came.raw or b"", instrument, CALENDAR, FETCHED), {bar.session: bar for bar in bars}


def test_a_recorded_split_is_undone(desk: YahooDesk) -> None:
    """NVDA in 2021, recorded after a later split of 10 for 1 that lies outside of the recording."""
    found, snapshot = prices_of(desk, "NVDA")
    assert len(found.bars) == 252
    assert found.faults == ()
    for bar in found.bars:
        assert bar.close * 10 == pytest.approx(snapshot[bar.session].close, abs=Decimal("0.02"))
        assert bar.volume / 10 == pytest.approx(snapshot[bar.session].volume, rel=0.01)
    assert [(action.kind, action.ex_date, action.value) for action in found.actions] == [("split", date(2021, 7, 20), Decimal(4))]


def test_recorded_dividends_and_the_last_trade(desk: YahooDesk) -> None:
    found, snapshot = prices_of(desk, "MSFT")
    assert [bar.close for bar in found.bars] == [snapshot[bar.session].close for bar in found.bars]
    assert [(action.ex_date.isoformat(), str(action.value)) for action in found.actions] == [
        ("2021-02-17", "0.56"),
        ("2021-05-19", "0.56"),
        ("2021-08-18", "0.56"),
        ("2021-11-17", "0.62"),
    ]
    (last,) = found.last_prices
    assert (last.price, last.traded_at) == (Decimal("408.21"), datetime(2025, 2, 21, 21, 0, 1, tzinfo=UTC))


def test_recorded_coming_events(desk: YahooDesk) -> None:
    came = desk.events.fetch(AAPL, None)
    assert came is not None
    day = datetime(2025, 2, 10, 12, tzinfo=UTC)
    assert desk.events.parse(came.raw or b"", AAPL, CALENDAR, day).coming == (
        ComingEvent("earnings", date(2025, 4, 30), date(2025, 5, 5), day),
        ComingEvent("ex_dividend", date(2025, 2, 10), date(2025, 2, 10), day),
    )


def test_recorded_statements(desk: YahooDesk) -> None:
    came = desk.statements.fetch(AAPL, None)
    assert came is not None
    found = desk.statements.parse(came.raw or b"", AAPL, CALENDAR, FETCHED)
    filed, on = Filed(found.facts, "USD"), FETCHED.date()
    revenue, debt = trailing_now(filed, "revenue", on), debt_now(filed, on)
    assert found.faults == ()
    assert revenue is not None
    assert debt is not None
    assert (revenue.value, revenue.end, debt.value) == (Decimal(391035000000), date(2024, 9, 30), Decimal(96799000000))
