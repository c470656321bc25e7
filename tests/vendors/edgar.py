"""Plays the SEC: companies' facts made from the recorded snapshot in the shape of its API, their pages, and the list of tickers.

It refuses whoever does not say who he is, and answers 304 to whoever already has the document.
"""

import csv
import hashlib
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from tests.vendors.server import Asked, Page

SNAPSHOT = Path(__file__).parents[2] / "data" / "snapshot"
INDUSTRIES = {
    **{"AAPL": ("3571", "Electronic Computers"), "AMZN": ("5961", "Retail-Catalog & Mail-Order Houses"), "AZN.L": ("2834", "Pharmaceutical Preparations")},
    **{"GOOG": ("7370", "Services-Computer Programming, Data Processing, Etc."), "META": ("7370", "Services-Computer Programming, Data Processing, Etc.")},
    **{"MSFT": ("7372", "Services-Prepackaged Software"), "NFLX": ("7841", "Services-Video Tape Rental")},
    "NVDA": ("3674", "Semiconductors & Related Devices"),
}
FORMER_NAMES = {
    "AAPL": [
        {"name": "APPLE INC", "from": "2007-01-10T00:00:00.000Z", "to": "2019-08-05T00:00:00.000Z"},
        {"name": "APPLE COMPUTER INC", "from": "1994-01-26T00:00:00.000Z", "to": "2007-01-04T00:00:00.000Z"},
    ]
}
OTHERS: tuple[tuple[int, str, str, str | None], ...] = (
    (1652044, "Alphabet Inc.", "GOOGL", "Nasdaq"),
    (1067983, "BERKSHIRE HATHAWAY INC", "BRK-B", "NYSE"),
    (1067983, "BERKSHIRE HATHAWAY INC", "BRK-A", "NYSE"),
    (927971, "BANK OF MONTREAL /CAN/", "BMO", "NYSE"),
    (927971, "BANK OF MONTREAL /CAN/", "FNGU", "NYSE"),
    (884394, "SPDR S&P 500 ETF TRUST", "SPY", "NYSE"),
    (1374310, "Cboe Global Markets, Inc.", "CBOE", "CBOE"),
    (1293451, "TENCENT HOLDINGS LTD", "TCEHY", "OTC"),
    (1000001, "Nowhere Listed Corp", "NOWH", None),
    (1000002, "True Grit Inc", "TRUE", "Nasdaq"),
)
"""The list's rows beside the snapshot's; the last two are made up."""
LISTED_ON = {"XNAS": "Nasdaq", "XNYS": "NYSE"}
DEI = ("EntityCommonStockSharesOutstanding",)


class Edgar:
    """A Player. `upto`: nothing filed after that day is there yet; `changes` replace what is said at a path."""

    def __init__(self, snapshot: Path = SNAPSHOT, upto: date | None = None) -> None:
        self.upto = upto
        self.changes: dict[str, Any] = {}
        self._snapshot = snapshot
        with (snapshot / "instruments.csv").open(encoding="utf-8") as table:
            self._instruments = list(csv.DictReader(table))

    def __call__(self, asked: Asked) -> Page | None:
        known = asked.path in self.changes or asked.path.startswith(("/api/xbrl/companyfacts/", "/submissions/", "/files/"))
        if not known:
            return None
        if "@" not in asked.headers.get("user-agent", ""):
            return Page(b"<html>Your Request Originates from an Undeclared Automated Tool</html>", 403, "text/html")
        document = self.document(asked.path)
        if document is None:
            return Page(b"<Error><Code>NoSuchKey</Code></Error>", 404, "application/xml")
        body = json.dumps(document).encode()
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        return Page(b"", 304) if asked.headers.get("if-none-match") == tag else Page(body, headers={"etag": tag})

    def document(self, path: str) -> Any:
        """What is at a path; None for nothing."""
        if path in self.changes:
            return self.changes[path]
        if path == "/files/company_tickers_exchange.json":
            return self._tickers()
        folder, _, name = path.rpartition("/")
        row = next((row for row in self._instruments if name == f"CIK{row['cik']}.json"), None)
        if row is None:
            return None
        return self._facts(row) if folder == "/api/xbrl/companyfacts" else self._page(row) if folder == "/submissions" else None

    def _filed(self, row: Mapping[str, str]) -> list[dict[str, str]]:
        path = self._snapshot / "fundamentals" / f"{row['symbol']}.csv"
        if not path.exists():
            return []
        with path.open(encoding="utf-8") as table:
            return [fact for fact in csv.DictReader(table) if self.upto is None or date.fromisoformat(fact["filed"]) <= self.upto]

    def _facts(self, row: Mapping[str, str]) -> Any:
        taxonomies: dict[str, Any] = {"dei": {}, "us-gaap": {}}
        for fact in self._filed(row):
            concepts = taxonomies["dei" if fact["concept"] in DEI else "us-gaap"]
            concept = concepts.setdefault(fact["concept"], {"label": fact["concept"], "description": "", "units": {}})
            concept["units"].setdefault(fact["unit"], []).append(fact_row(fact))
        return {"cik": int(row["cik"]), "entityName": row["name"], "facts": taxonomies} if taxonomies["us-gaap"] else None

    def _page(self, row: Mapping[str, str]) -> Any:
        code, words = INDUSTRIES[row["symbol"]]
        reports = sorted({(fact["filed"], fact["form"], fact["accession"]) for fact in self._filed(row)}, reverse=True)
        filings = [entry for filed, form, accession in reports for entry in ((filed, form, "", accession), (filed, "8-K", "2.02,9.01", f"8{accession[1:]}"))]
        columns = dict(zip(("filingDate", "form", "items", "accessionNumber"), zip(*filings, strict=True) if filings else ((),) * 4, strict=True))
        stamps = [f"{filed}T16:30:42.000Z" for filed, *_ in filings]
        return {
            **{"cik": row["cik"], "entityType": "operating", "sic": code, "sicDescription": words, "name": row["name"], "fiscalYearEnd": "0926"},
            **{"tickers": [row["symbol"]], "exchanges": [LISTED_ON.get(row["mic"])], "formerNames": FORMER_NAMES.get(row["symbol"], [])},
            "filings": {"recent": {name: list(column) for name, column in columns.items()} | {"acceptanceDateTime": stamps}, "files": []},
        }

    def _tickers(self) -> Any:
        recorded = [(int(row["cik"]), row["name"], row["symbol"], LISTED_ON[row["mic"]]) for row in self._instruments if row["mic"] in LISTED_ON]
        return {"fields": ["cik", "name", "ticker", "exchange"], "data": [list(row) for row in (*recorded, *OTHERS)]}


def fact_row(fact: Mapping[str, str]) -> dict[str, Any]:
    """A recorded fact as the API writes it; `fy` and `fp` describe some filing and mean nothing."""
    start = {"start": fact["start"]} if fact["start"] else {}
    value = float(fact["value"]) if "." in fact["value"] else int(fact["value"])
    return {**start, "end": fact["end"], "val": value, "accn": fact["accession"], "fy": 1999, "fp": "Q1", "form": fact["form"], "filed": fact["filed"]}
