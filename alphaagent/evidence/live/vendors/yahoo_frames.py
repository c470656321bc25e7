"""What the library makes of a chart, written down: a document of ours in one canonical form, because the library hands out a table and not bytes.

Numbers are the shortest decimal text that reads back as the same number, dates are the exchange's own, and nothing is corrected here: what is
wrong with a row is for whoever reads it to say.
"""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from alphaagent.errors import VendorFault
from alphaagent.evidence.live.vendors.yahoo_markets import VENDOR

COLUMNS = {"open": "Open", "high": "High", "low": "Low", "close": "Close", "volume": "Volume", "dividend": "Dividends", "split": "Stock Splits"}
STATED = ("currency", "exchangeName", "fullExchangeName", "instrumentType", "longName", "shortName", "symbol", "exchangeTimezoneName", "dataGranularity")
NEEDED = ("currency", "exchangeName", "instrumentType", "exchangeTimezoneName", "dataGranularity")
DAILY = "1d"


def history_of(ticker: Any, period: str) -> tuple[Any, Mapping[str, Any]]:
    """The library's table of daily bars and what Yahoo says of the instrument: asked for unadjusted, with holes and with actions."""
    frame = ticker.history(period=period, interval=DAILY, auto_adjust=False, actions=True, keepna=True)
    told = ticker.get_history_metadata()
    return frame, {key: told[key] for key in (*STATED, "regularMarketPrice", "regularMarketTime") if key in told}


def document_of_history(frame: Any, meta: Mapping[str, Any]) -> bytes:
    """The table and what is said of it. Raises VendorFault where either is not of the agreed shape."""
    said = stated(meta)
    lacking = [name for name in COLUMNS.values() if name not in frame.columns]
    if lacking:
        raise VendorFault("schema", f"{VENDOR}'s chart has no {', '.join(lacking)}", fix="update yfinance")
    days = [at.date().isoformat() for at in frame.index]
    rows = zip(days, *([plain(value) for value in frame[name].tolist()] for name in COLUMNS.values()), strict=True)
    return canonical({"meta": said, "columns": ["date", *COLUMNS], "rows": list(rows)})


def stated(meta: Mapping[str, Any]) -> dict[str, str | None]:
    """What Yahoo says of an instrument and its last trade, as text. Raises VendorFault where it does not say what is needed."""
    for key in NEEDED:
        if not isinstance(meta.get(key), str):
            raise VendorFault("schema", f"{VENDOR}'s chart does not state {key}", fix="see the wiki's Live-Data page")
    if meta["dataGranularity"] != DAILY:
        raise VendorFault("schema", f"{VENDOR} answers with bars of {meta['dataGranularity'][:20]!a}, not with daily ones")
    texts = {key: meta[key] if isinstance(meta.get(key), str) else None for key in STATED}
    return texts | {"regularMarketPrice": plain(meta.get("regularMarketPrice")), "regularMarketTime": _instant(meta.get("regularMarketTime"))}


def canonical(document: Mapping[str, Any]) -> bytes:
    """One form for one content."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode("utf-8")


def plain(value: Any) -> str | None:
    """A number as plain decimal text; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return format(Decimal(repr(value)), "f").removesuffix(".0")


def _instant(value: Any) -> str | None:
    """The library makes a table's instant of a number of seconds."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).isoformat()
    return None
