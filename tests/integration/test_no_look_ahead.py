"""Nothing that became known at or after as_of changes a byte of a decision, whatever stands there."""

import copy
import json
import random
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path

import pytest

from tests.home import Home, Row, read_rows, write_rows
from tests.snapshot_folder import recorded_calendar

CALENDAR = recorded_calendar()
DATES = [
    ("AAPL", "2014-06-06"),
    ("AAPL", "2020-08-28"),  # the session before a split of 4 for 1
    ("AAPL", "2022-01-28"),
    ("NVDA", "2018-11-16"),
    ("NVDA", "2021-07-19"),  # the session before a split of 4 for 1
    ("NVDA", "2023-08-29"),
]
ITEM = re.compile(r"<item>.*?</item>\n?", re.DOTALL)
PUBLISHED = re.compile(r"<pubDate>(.*?)</pubDate>")
Change = Callable[[Path, str, datetime, random.Random], None]


def noise(folder: Path, ticker: str, as_of: datetime, dice: random.Random) -> None:
    """Well-formed values that never happened, in every record that was not yet known."""
    change_later_rows(folder / "bars" / f"{ticker}.csv", "date", as_of, lambda rows: [other_bar(row, dice) for row in rows])
    change_later_rows(folder / "fundamentals" / f"{ticker}.csv", "filed", as_of, lambda rows: [row | {"value": str(dice.randint(1, 10**11))} for row in rows])
    change_later_items(folder / "news" / f"{ticker}.xml", as_of, lambda item: item.replace("revenue", dice.choice(("fraud", "record profit"))))


def garbage(folder: Path, ticker: str, as_of: datetime, dice: random.Random) -> None:
    """Rows that cannot be used: NaN, text, twice the same, all of them anywhere in the file."""
    change_later_rows(folder / "bars" / f"{ticker}.csv", "date", as_of, lambda rows: spoilt(rows, ("close", "open", "volume"), dice), dice)
    change_later_rows(folder / "fundamentals" / f"{ticker}.csv", "filed", as_of, lambda rows: spoilt(rows, ("value", "unit", "accession"), dice))
    change_later_items(folder / "news" / f"{ticker}.xml", as_of, lambda item: re.sub(r"<(title|guid)[^>]*>.*?</\1>", "", item))


def nothing_later(folder: Path, ticker: str, as_of: datetime, dice: random.Random) -> None:
    """The files end where they ended at as_of."""
    for supply, dated_by in (("bars", "date"), ("fundamentals", "filed"), ("actions", "ex_date")):
        change_later_rows(folder / supply / f"{ticker}.csv", dated_by, as_of, lambda rows: [])
    change_later_items(folder / "news" / f"{ticker}.xml", as_of, lambda item: "")


def more_actions(folder: Path, ticker: str, as_of: datetime, dice: random.Random) -> None:
    """Splits and dividends on the sessions that follow, and nonsense among them."""
    path, after = folder / "actions" / f"{ticker}.csv", CALENDAR.next_session(as_of.date())
    change_later_rows(path, "ex_date", as_of, lambda rows: [])
    later = CALENDAR.next_session(after)
    added = [action("split", after, "10"), action("dividend", after, "99"), action("split", later, "NaN"), action("bonus", later, "1")]
    write_rows(path, read_rows(path) + added)


def action(kind: str, ex_date: date, value: str) -> Row:
    return {"kind": kind, "ex_date": ex_date.isoformat(), "value": value}


def other_bar(row: Row, dice: random.Random) -> Row:
    low, high = sorted(dice.uniform(1, 5000) for _ in range(2))
    first, last = (dice.uniform(low, high) for _ in range(2))
    figures = {"open": first, "high": high + 0.02, "low": low - 0.02, "close": last}
    return row | {name: f"{figure:.2f}" for name, figure in figures.items()} | {"volume": str(dice.randint(0, 10**9))}


def spoilt(rows: list[Row], columns: tuple[str, ...], dice: random.Random) -> list[Row]:
    bad = [row | {dice.choice(columns): dice.choice(("NaN", "-1", "n/a", "", "1E5"))} for row in rows]
    mixed = bad + [copy.copy(row) for row in dice.sample(rows, min(20, len(rows)))] * 2
    dice.shuffle(mixed)
    return mixed


def known_at(column: str, text: str) -> datetime:
    """When a row of that date became known, by the rule of the public interface."""
    day = date.fromisoformat(text)
    if column == "date":
        return CALENDAR.closes(day)
    if column == "ex_date":
        return CALENDAR.opens(day)
    return CALENDAR.opens(CALENDAR.next_session(max(day, CALENDAR.first - timedelta(days=1))))


def change_later_rows(path: Path, column: str, as_of: datetime, change: Callable[[list[Row]], list[Row]], scatter: random.Random | None = None) -> None:
    rows = read_rows(path)
    earlier, later = [], []
    for row in rows:
        (later if known_at(column, row[column]) >= as_of else earlier).append(row)
    changed = change(later)
    for row in changed if scatter else ():
        earlier.insert(scatter.randint(0, len(earlier)), row)
    write_rows(path, earlier if scatter else earlier + changed)


def change_later_items(path: Path, as_of: datetime, change: Callable[[str], str]) -> None:
    def changed(found: re.Match[str]) -> str:
        return change(found[0]) if parsedate_to_datetime(PUBLISHED.search(found[0])[1]) >= as_of else found[0]  # type: ignore[index]

    path.write_text(ITEM.sub(changed, path.read_text(encoding="utf-8")), encoding="utf-8")


def dry(home: Home, ticker: str, as_of: str) -> str:
    return home.ok("decide", ticker, "--as-of", as_of, "--dry-run", "--json").out


@pytest.mark.parametrize(("ticker", "as_of"), DATES)
def test_what_is_recorded_later_changes_no_byte_of_a_dry_run(home: Home, ticker: str, as_of: str) -> None:
    instant = CALENDAR.closes(date.fromisoformat(as_of)) + timedelta(seconds=1)
    expected = dry(home, ticker, as_of)
    for number, change in enumerate((noise, garbage, nothing_later, more_actions)):
        folder = home.own_snapshot()
        change(folder, ticker, instant, random.Random(f"{ticker} {as_of} {number}"))
        assert dry(home, ticker, as_of) == expected, change.__name__
        folder.rename(home.folder / f"used-{number}")


@pytest.mark.parametrize(("ticker", "as_of"), [("AAPL", "2020-08-28"), ("NVDA", "2021-07-19")])
def test_what_is_recorded_later_changes_no_byte_of_a_recorded_decision(home: Home, ticker: str, as_of: str) -> None:
    instant = CALENDAR.closes(date.fromisoformat(as_of)) + timedelta(seconds=1)
    documents = []
    for number, change in enumerate((None, noise, garbage, more_actions)):
        folder = home.own_snapshot()
        if change:
            change(folder, ticker, instant, random.Random(number))
        document = home.decide(ticker, as_of)
        del document["audit"]  # its hash holds the new ledger's random identity
        documents.append(json.dumps(document))
        (home.folder / "data").rename(home.folder / f"used-{number}")
    assert documents == [documents[0]] * len(documents)


def test_noise_before_as_of_does_change_the_decision(home: Home) -> None:
    """Or the tests above would prove nothing."""
    expected = dry(home, "AAPL", "2020-08-28")
    for change in (noise, garbage):
        folder = home.own_snapshot()
        change(folder, "AAPL", datetime(2020, 8, 28, 20, tzinfo=UTC), random.Random(1))
        assert home.run("decide", "AAPL", "--as-of", "2020-08-28", "--dry-run", "--json").out != expected
        folder.rename(home.folder / f"used-{change.__name__}")


def test_a_row_filed_on_the_last_session_is_not_known_at_its_close_even_where_it_is_broken(home: Home) -> None:
    expected = dry(home, "AAPL", "2020-07-16")
    path = home.own_snapshot() / "fundamentals" / "AAPL.csv"
    rows = read_rows(path)
    write_rows(path, [*rows, rows[-1] | {"filed": "2020-07-16", "end": "2020-06-30", "value": "NaN"}])
    assert dry(home, "AAPL", "2020-07-16") == expected
    assert dry(home, "AAPL", "2020-07-17") != expected


def test_an_article_of_the_evening_is_not_known_at_the_close_even_where_it_is_broken(home: Home) -> None:
    expected = dry(home, "AAPL", "2020-07-16")
    path = home.own_snapshot() / "news" / "AAPL.xml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("</channel>", "<item><pubDate>Thu, 16 Jul 2020 22:00:00 +0000</pubDate></item></channel>"), encoding="utf-8")
    assert dry(home, "AAPL", "2020-07-16") == expected


@pytest.mark.parametrize(
    ("as_of", "last_bar"),
    [
        ("2020-08-03T20:00:00Z", "2020-07-31"),
        ("2020-08-03T20:00:00.000001Z", "2020-08-03"),
        ("2020-08-03T16:00:00.000001-04:00", "2020-08-03"),
        ("2020-08-04T20:00:00Z", "2020-08-03"),
    ],
)
def test_a_bar_is_known_strictly_after_its_close(home: Home, as_of: str, last_bar: str) -> None:
    document = home.decide("AAPL", as_of, "--dry-run")
    (history,) = [item for item in document["evidence"]["items"] if item["kind"] == "history"]
    assert history["payload"]["last"] == last_bar


@pytest.mark.parametrize(("as_of", "seen"), [("2020-08-03T13:30:00Z", False), ("2020-08-03T13:30:00.000001Z", True)])
def test_a_filing_is_known_strictly_after_the_next_open(home: Home, as_of: str, seen: bool) -> None:
    path = home.own_snapshot() / "fundamentals" / "AAPL.csv"
    rows = [row for row in read_rows(path) if row["filed"] < "2020-07-31"]
    filed = [row for row in read_rows(path) if row["filed"] >= "2020-07-31" and row["end"] == "2020-06-27"]
    write_rows(path, rows + [row | {"filed": "2020-07-31"} for row in filed if row["filed"] < "2020-10-01"])
    with_filing = dry(home, "AAPL", as_of)
    write_rows(path, rows)
    assert (with_filing != dry(home, "AAPL", as_of)) == seen


@pytest.mark.parametrize(("as_of", "seen"), [("2020-08-03T15:00:00Z", False), ("2020-08-03T15:00:00.000001Z", True)])
def test_an_article_is_known_strictly_after_its_publication(home: Home, as_of: str, seen: bool) -> None:
    published = format_datetime(datetime(2020, 8, 3, 15, tzinfo=UTC))
    path = home.own_snapshot() / "news" / "AAPL.xml"
    item = f'<item><title>Apple raises its guidance</title><guid isPermaLink="false">g1</guid><pubDate>{published}</pubDate></item>'
    path.write_text(path.read_text(encoding="utf-8").replace("</channel>", f"{item}</channel>"), encoding="utf-8")
    items = home.decide("AAPL", as_of, "--dry-run")["evidence"]["items"]
    assert ("Apple raises its guidance" in {item["payload"].get("title") for item in items}) == seen


@pytest.mark.parametrize(("as_of", "close"), [("2020-08-31T13:29:59.999999Z", "499.23"), ("2020-08-31T13:30:00Z", "124.8075")])
def test_a_split_counts_from_the_open_of_its_ex_date(home: Home, as_of: str, close: str) -> None:
    """It is effective before that open: what fills there is on the new share basis, and so is the mark."""
    home.decide("AAPL", "2020-08-03")
    home.settle("2020-08-27")
    assert home.portfolio(as_of)["positions"][0]["mark"] == close
