"""What went wrong in systems of this kind, as cases: each test is named after its row in docs/wiki/Known-Failures.md.

Each is of a kind and not of one input, so ticker, date, word or vendor vary. What is tested elsewhere is named in the same table.
"""

import gzip
import inspect
import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from pathlib import Path
from typing import get_args

import pytest

from alphaagent import cli, judgement, pipeline
from alphaagent.bootstrap import Workplace
from alphaagent.desk import Ask, Desk
from alphaagent.domain.evidence import EvidencePack, Status
from alphaagent.domain.market import ComingEvent, Instrument, Records
from alphaagent.errors import NoEvidence, SourceFault
from alphaagent.evidence.admission import admit
from alphaagent.evidence.gather import gather, supply
from alphaagent.evidence.gathered import Gathered, Supplied
from alphaagent.evidence.headline import CompanyNames
from alphaagent.evidence.index_history import IndexHistory
from alphaagent.evidence.news_tool import MAX_ARTICLES, news_items
from alphaagent.evidence.registry import SOURCES, tools
from alphaagent.evidence.sources.feed import MAX_FEED_BYTES, MAX_TITLE_CHARACTERS, parse_feed
from alphaagent.evidence.sources.instruments import named_by
from alphaagent.evidence.sources.snapshot import file_of
from alphaagent.evidence.sources.snapshot_rows import parse_actions, parse_bars, parse_facts
from alphaagent.operations.importing import book_import, plan_import
from alphaagent.pipeline import Decided
from alphaagent.ports import Supply
from alphaagent.settings import VARIABLES, FileSettings, load_settings
from tests.home import CHECKOUT, Home, read_rows, write_rows
from tests.snapshot_folder import BAR_HEADER, FACT_HEADER, RECORDED, item, recorded_calendar, recorded_instrument, rss
from tests.synthetic import sessions, workplace, write_home
from tests.unit.evidence.headlines import press, shipped_lexicon

CALENDAR = recorded_calendar()
NIGHTS = [("AAPL", "2020-08-28"), ("AAPL", "2014-06-06"), ("NVDA", "2021-07-19"), ("NVDA", "2023-08-29"), ("GOOG", "2022-07-15"), ("MSFT", "2021-03-16")]
FILERS = ("AAPL", "GOOG", "MSFT", "NVDA")
NOBODY = Supplied("none", Status.EMPTY)
Parse = Callable[[bytes], Records]


def after_close(day: str) -> datetime:
    return CALENDAR.closes(date.fromisoformat(day)) + timedelta(seconds=1)


def pack_of(desk: Desk, ticker: str, as_of: datetime) -> EvidencePack:
    session = CALENDAR.last_completed(as_of)
    (instrument,) = desk.market.resolve(ticker, session)
    return gather(desk.suppliers_of(instrument), desk.tools, CALENDAR, instrument, ticker, as_of, session, lambda _: ())


def text_of(pack: EvidencePack) -> str:
    return json.dumps(pack.fields())


def with_articles(path: Path, *items: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace("</channel>", "".join(items) + "</channel>"), encoding="utf-8")


def feed_of(*articles: tuple[str, datetime]) -> Records:
    return parse_feed(rss(*(item(title, f"g{n}", format_datetime(at)) for n, (title, at) in enumerate(articles))).encode(), "news/X.xml")


def gathered(ticker: str, as_of: datetime, news: Supplied) -> Gathered:
    instrument = recorded_instrument(ticker)
    return Gathered(ticker, instrument, as_of, CALENDAR.last_completed(as_of), CALENDAR, NOBODY, NOBODY, news)


# --- evidence -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ticker", "day"), NIGHTS)
def test_e1_nothing_published_at_or_after_as_of_and_nothing_undated_is_read(home: Home, ticker: str, day: str) -> None:
    as_of = after_close(day)
    before, at, later = as_of - timedelta(seconds=1), as_of, datetime(2024, 5, 1, tzinfo=UTC)
    published = {"planted before": before, "planted at": at, "planted later": later}
    dated = [item(title, guid=title, published=format_datetime(when)) for title, when in published.items()]
    with_articles(home.own_snapshot() / "news" / f"{ticker}.xml", *dated, item("planted undated", guid="u", published=""))
    pack = pack_of(Workplace.open().desk, ticker, as_of)
    assert set(re.findall(r"planted \w+", text_of(pack))) == {"planted before"}
    assert pack.find("get_news_sentiment", "news")[0].payload["undated"] == 1


@pytest.mark.parametrize(("ticker", "day"), NIGHTS)
@pytest.mark.parametrize("field", ["AnalystTargetPrice", "MarketCapitalization", "Revenues"])
def test_e2_a_figure_of_today_is_not_used_for_a_decision_of_the_past(home: Home, ticker: str, day: str, field: str) -> None:
    desk = Workplace.open().desk
    expected = pack_of(desk, ticker, after_close(day)).sha256
    path = home.own_snapshot() / "fundamentals" / f"{ticker}.csv"
    rows = read_rows(path)
    of_today = rows[-1] | {"concept": field, "start": "", "end": day, "value": "424242", "filed": "2024-02-01"}
    write_rows(path, [*rows, of_today])
    assert pack_of(Workplace.open().desk, ticker, after_close(day)).sha256 == expected


@pytest.mark.parametrize("ticker", FILERS)
@pytest.mark.parametrize("filed", ["", "today", "2023-02-30", "NaN"])
def test_e2_a_figure_without_a_date_fails_its_source_and_is_never_a_figure(home: Home, ticker: str, filed: str) -> None:
    path = home.own_snapshot() / "fundamentals" / f"{ticker}.csv"
    rows = read_rows(path)
    write_rows(path, [*rows, rows[-1] | {"value": "424242", "filed": filed}])
    found = pack_of(Workplace.open().desk, ticker, after_close("2021-03-16")).find("get_financial_health")
    assert {one.status for one in found} == {Status.FAILED}


@pytest.mark.parametrize("ticker", FILERS)
def test_e3_a_statement_counts_from_the_session_after_its_filing(ticker: str) -> None:
    rows = read_rows(RECORDED / "fundamentals" / f"{ticker}.csv")
    raw = (RECORDED / "fundamentals" / f"{ticker}.csv").read_bytes()
    all_facts = parse_facts(raw, "f.csv", CALENDAR)
    filings = [day for day in sorted({row["filed"] for row in rows}) if "2014-01-01" < day < "2023-06-01"]
    assert len(filings) >= 3
    for filed in filings:
        next_open = CALENDAR.opens(CALENDAR.next_session(date.fromisoformat(filed)))
        for as_of, known in ((next_open, False), (next_open + timedelta(microseconds=1), True)):
            session = CALENDAR.last_completed(as_of)
            source = SOURCES["fundamentals"](RECORDED)
            seen = {fact.filed.isoformat() for fact in supply(source, CALENDAR, recorded_instrument(ticker), as_of, session).records.facts}
            assert (filed in seen) == known, (filed, as_of)
            assert max(seen, default="") <= filed
    assert any(fact.end < fact.filed - timedelta(days=14) for fact in all_facts.facts), "periods must end well before their filing for the test to bite"


@pytest.mark.parametrize("end", ["2019-12-31", "2023-01-31", "2023-03-31", "2023-04-11"])
@pytest.mark.parametrize("released", ["2023-04-12", "2023-04-14"])
def test_e4_a_figure_is_known_by_its_release_whatever_period_it_speaks_of(end: str, released: str) -> None:
    raw = f"{FACT_HEADER}CPIAUCSL,USD,,{end},301,{released},8-K,0000000000-23-000001\n".encode()
    (fact,) = parse_facts(raw, "fundamentals/X.csv", CALENDAR).facts
    assert fact.known_at == CALENDAR.opens(CALENDAR.next_session(date.fromisoformat(released)))


def test_e4_there_is_no_supply_that_is_dated_by_anything_else() -> None:
    """A supply of macro figures would need a release date of its own, and a case here."""
    assert set(get_args(Supply)) == {"prices", "fundamentals", "news", "events"}


def test_e4_a_date_ahead_is_known_by_when_it_was_seen_and_not_by_the_day_it_speaks_of() -> None:
    as_of, day = CALENDAR.closes(date(2020, 2, 5)), date(2020, 2, 3)
    stated = tuple(ComingEvent("earnings", day, day, as_of + timedelta(seconds=late)) for late in (-1, 0, 1))
    assert admit(Records(coming=stated), as_of, date(2020, 2, 5)).coming == stated[:1]


@pytest.mark.parametrize(("ticker", "day"), [*NIGHTS, ("META", "2018-07-26"), ("NFLX", "2022-04-20"), ("AMZN", "2022-06-03")])
def test_e5_a_measure_is_taken_once_and_guard_and_debate_see_one_price(home: Home, ticker: str, day: str) -> None:
    desk = Workplace.open().desk
    pack = pack_of(desk, ticker, after_close(day))
    kinds = [one.kind for one in pack.items if one.kind not in ("headline", "filing", "hard_flag")]
    assert len(kinds) == len(set(kinds))
    (instrument,) = desk.market.resolve(ticker, date.fromisoformat(day))
    quote = desk.market.quote(instrument, after_close(day))
    assert quote is not None
    (closed,) = [row["close"] for row in read_rows(RECORDED / "bars" / f"{ticker}.csv") if row["date"] == day]
    assert Decimal(pack.find("get_market_price", "quote")[0].payload["price"]) == quote.price == Decimal(closed)


@pytest.mark.parametrize("supply_name", ["news", "fundamentals"])
@pytest.mark.parametrize(("ticker", "day"), NIGHTS[1:4])
def test_e6_one_vendor_that_refuses_is_one_hole_and_no_end(home: Home, ticker: str, day: str, supply_name: str) -> None:
    class Refusing:
        name = "busy-vendor"
        supplies = supply_name

        def fetch(self, instrument: Instrument) -> bytes:
            raise SourceFault("HTTP 429 Too Many Requests", fix="ask later")

        def parse(self, *_: object) -> Records:
            raise AssertionError("nothing was fetched")

    desk = Workplace.open().desk
    refused = replace(desk, sources={**desk.sources, supply_name: Refusing()})  # type: ignore[dict-item]
    pack = pack_of(refused, ticker, after_close(day))
    failed = {one.tool for one in pack.items if one.status is Status.FAILED}
    assert failed == {{"news": "get_news_sentiment", "fundamentals": "get_financial_health"}[supply_name]}
    done = pipeline.decide(refused, Ask(ticker, after_close(day), "heuristic"))
    assert any("HTTP 429" in hole for hole in done.record.result.bear_case.holes)


@pytest.mark.parametrize("ticker", ["GOOG", "NVDA"])
def test_e7_lost_silent_and_neutral_are_three_things_up_to_the_screen(home: Home, ticker: str) -> None:
    path, day = home.own_snapshot() / "news" / f"{ticker}.xml", "2021-03-16"
    name = {"GOOG": "Alphabet", "NVDA": "NVIDIA"}[ticker]
    neutral = item(f"{name} reaffirms guidance", published=format_datetime(after_close(day) - timedelta(hours=3)))
    seen, shown = [], []
    for content in ("HTTP 429 Too Many Requests", rss(), rss(neutral)):
        path.write_text(content, encoding="utf-8")
        (news,) = pack_of(Workplace.open().desk, ticker, after_close(day)).find("get_news_sentiment", "news")
        seen.append((news.status.value, news.payload.get("score")))
        page = home.ok("decide", ticker, "--as-of", day, "--dry-run").out
        shown.append([word for word in ("no news score (failed)", "no news score (empty)", "1 neutral") if word in page])
    assert seen == [("failed", None), ("empty", None), ("ok", "0.0")]
    assert shown[:2] == [["no news score (failed)"], ["no news score (empty)"]]
    assert not any("no news score" in word for word in shown[2])


@pytest.mark.parametrize("option", ["--window", "--period", "--lookback", "--range"])
@pytest.mark.parametrize("length", ["3 months", "6m", "1y", "max", "-1"])
def test_e8_a_window_cannot_be_asked_for_and_is_not_quietly_ignored(home: Home, option: str, length: str) -> None:
    ran = home.run("decide", "AAPL", "--as-of", "2020-08-03", "--dry-run", option, length)
    assert (ran.code, ran.out) == (2, "")


TOOLS = tools(shipped_lexicon(), IndexHistory(RECORDED, frozenset()))


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_e8_a_tool_takes_what_was_gathered_and_no_argument_of_a_model(tool: str) -> None:
    takes = set(inspect.signature(TOOLS[tool]).parameters) - set(getattr(TOOLS[tool], "keywords", {}))  # type: ignore[index]
    assert takes == {"g"}


WRITTEN = [
    ("BRK.B", ("BRK.B", "BRK-B", "BRK/B", "brk-b")),
    ("BF/B", ("BF.B", "BF-B", "BF/B", "bf/b")),
    ("HEI-A", ("HEI.A", "HEI-A", "HEI/A")),
    ("0700.HK", ("0700.HK", "0700-HK", "0700.hk")),
    ("GC=F", ("GC=F", "gc=f")),
    ("EURUSD=X", ("EURUSD=X", "eurusd=x")),
]


@pytest.mark.parametrize(("symbol", "spellings"), WRITTEN)
def test_e10_every_spelling_is_one_instrument_and_every_vendor_gets_its_own(symbol: str, spellings: tuple[str, ...]) -> None:
    others = [Instrument(id=f"X:{other}", symbol=other, name=other, mic="XNYS", currency="USD", kind="other") for other, _ in WRITTEN]
    for spelling in spellings:
        (found,) = named_by(spelling, others, date(2020, 1, 2))
        assert found.symbol == symbol
        assert re.fullmatch(r"bars/[A-Z0-9.=-]+\.csv", file_of("bars", found))


@pytest.mark.parametrize("ticker", ["TRUE", "NAN", "ON", "1E5", "NULL", "NO", "007", "INF"])
def test_e11_a_ticker_that_looks_like_something_else_stays_text_to_the_books(tmp_path: Path, ticker: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = workplace(write_home(tmp_path, [ticker, "ACME"]))
    at = place.moment(sessions()[300])
    (tmp_path / "held.csv").write_text(f"ticker,quantity,cost,date,cash\n{ticker},3,300,2019-01-02,\n,,,,5000\n", encoding="utf-8")
    book_import(place.desk, plan_import(place.desk, tmp_path / "held.csv", "default", at))
    done = pipeline.decide(place.desk, Ask(ticker, at, "heuristic"))
    assert (done.record.request.ticker, done.record.instrument_id) == (ticker, f"XNAS:{ticker}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALPHAAGENT_HOME", str(tmp_path))
        assert cli.run(["show", "--list", "--json", "--ticker", ticker]) == 0
        (row,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert cli.run(["portfolio", "show", "--json", "--as-of", sessions()[300]]) == 0
        (position,) = json.loads(capsys.readouterr().out)["positions"]
    assert row["ticker"] == position["ticker"] == ticker


@pytest.mark.parametrize("ticker", FILERS)
@pytest.mark.parametrize("wires", [["Wire"], ["Reuters", "AP", "Dow Jones"]])
def test_e12_forty_copies_of_a_story_are_one_story(ticker: str, wires: list[str]) -> None:
    as_of, name = after_close("2021-03-16"), recorded_instrument(ticker).name
    copies = [(f"{name} cuts guidance for the year - {wires[n % len(wires)]}", as_of - timedelta(minutes=5 + n)) for n in range(40)]
    many, one = (news_items(gathered(ticker, as_of, Supplied("x", Status.OK, feed_of(*some))), shipped_lexicon())[-1] for some in (copies, copies[-1:]))
    assert (many.payload["stories"], many.payload["duplicates"]) == (1, 39)
    assert many.payload["score"] == one.payload["score"] != "0.0"


@pytest.mark.parametrize("name", ["Apple", "Acme", "Volta", "Tesco", "Northwind"])
@pytest.mark.parametrize(
    ("title", "low", "high"),
    [
        ("{} denies fraud", "0", "0"),
        ("{} denies allegations of fraud", "0", "0"),
        ("{} launch failed, losses mount", "-1", "-0.1"),
        ("No. 1 carmaker {} gains share", "0", "1"),
        ("{} posts record loss", "-1", "-0.8"),
        ("{} reports record quarterly loss", "-1", "-0.8"),
    ],
)
def test_e13_denial_failure_rank_and_record_read_alike_for_any_company(name: str, title: str, low: str, high: str) -> None:
    score = press(title.format(name), CompanyNames((name,), ())).score
    assert Decimal(low) <= score <= Decimal(high)


@pytest.mark.parametrize(("ticker", "day"), NIGHTS)
@pytest.mark.parametrize("place", ["first", "last", "anywhere"])
def test_e14_the_newest_article_survives_the_cut(ticker: str, day: str, place: str) -> None:
    as_of = after_close(day)
    older = [(f"{ticker} lion {n} otter {n + 1} heron {n + 2}", as_of - timedelta(days=1, minutes=n)) for n in range(MAX_ARTICLES + 100)]
    newest = (f"{ticker} files for bankruptcy", as_of - timedelta(seconds=2))
    where = {"first": 0, "last": len(older), "anywhere": random.Random(day).randrange(len(older))}[place]
    older.insert(where, newest)
    first, *_ = news_items(gathered(ticker, as_of, Supplied("x", Status.OK, feed_of(*older))), shipped_lexicon())
    assert first.payload["title"] == newest[0]


READERS: dict[str, Parse] = {
    "feed": lambda raw: parse_feed(raw, "news/X.xml"),
    "bars": lambda raw: parse_bars(raw, "bars/X.csv", CALENDAR),
    "actions": lambda raw: parse_actions(raw, "actions/X.csv", CALENDAR),
    "facts": lambda raw: parse_facts(raw, "fundamentals/X.csv", CALENDAR),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("what", ["gzip bomb", "UTF-16", "noise", "a name of a file", "an address"])
def test_e15_a_document_that_is_none_is_refused_by_every_reader(reader: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(rss(item("a secret")), encoding="utf-8")
    raw = {
        "gzip bomb": gzip.compress(b"\0" * 20_000_000),
        "UTF-16": (BAR_HEADER + rss(item())).encode("utf-16"),
        "noise": random.Random(1).randbytes(4000),
        "a name of a file": str(tmp_path / "secret").encode(),
        "an address": b"http://127.0.0.1:9/feed.xml",
    }[what]
    with pytest.raises(SourceFault):
        READERS[reader](raw)


@pytest.mark.parametrize("letter", ["x", "é", "W ", "&amp;"])
@pytest.mark.parametrize("size", [1_000_000, 10_000_000])
def test_e15_an_enormous_title_is_cut_or_its_document_refused(letter: str, size: int) -> None:
    raw = rss(item(letter * (size // len(letter.encode())))).encode()
    if len(raw) > MAX_FEED_BYTES:
        with pytest.raises(SourceFault, match=f"more than {MAX_FEED_BYTES}"):
            parse_feed(raw, "news/X.xml")
    else:
        (article,) = parse_feed(raw, "news/X.xml").articles
        assert 0 < len(article.title) <= MAX_TITLE_CHARACTERS


@pytest.mark.parametrize("ticker", ["AAPL", "NVDA", "NFLX", "GOOG"])
def test_e19_what_was_paid_is_never_the_price(home: Home, ticker: str) -> None:
    (home.folder / "held.csv").write_text(f"ticker,quantity,cost,date,cash\n{ticker},10,77770,2019-01-02,\n,,,,5000\n", encoding="utf-8")
    folder = home.own_snapshot()
    home.ok("portfolio", "import", "held.csv", "--as-of", "2021-03-16")
    (folder / "bars" / f"{ticker}.csv").unlink()
    ran = home.run("decide", ticker, "--as-of", "2021-03-17", "--json")
    assert (ran.code, ran.document["proposal"], ran.document["order"]) == (3, None, None)
    shown = home.run("portfolio", "show", "--json", "--as-of", "2021-03-17")
    assert "7777" not in shown.out.replace('"cost":"77770', "")


@pytest.mark.parametrize(("ticker", "day"), NIGHTS)
def test_e20_a_mark_of_the_session_s_middle_is_never_kept_as_its_close(home: Home, ticker: str, day: str) -> None:
    desk = Workplace.open().desk
    close = CALENDAR.closes(date.fromisoformat(day))
    (instrument,) = desk.market.resolve(ticker, date.fromisoformat(day))
    instants = [close - timedelta(hours=2), close, close + timedelta(seconds=1)]
    closes = {row["date"]: Decimal(row["close"]) for row in read_rows(RECORDED / "bars" / f"{ticker}.csv")}
    before = CALENDAR.previous_session(date.fromisoformat(day)).isoformat()
    for order in (instants, instants[::-1]):
        prices = {at: desk.market.quote(instrument, at).price for at in order}  # type: ignore[union-attr]
        assert [prices[at] for at in instants] == [closes[before], closes[before], closes[day]]


@pytest.mark.parametrize("ticker", FILERS)
def test_e21_who_asks_first_changes_nothing_that_a_later_or_earlier_question_sees(home: Home, ticker: str) -> None:
    filed = next(day for day in sorted({row["filed"] for row in read_rows(RECORDED / "fundamentals" / f"{ticker}.csv")}) if day > "2020-06-01")
    next_open = CALENDAR.opens(CALENDAR.next_session(date.fromisoformat(filed)))
    instants = [next_open, next_open + timedelta(minutes=5), next_open + timedelta(days=30)]
    packs = [{at: pack_of(Workplace.open().desk, ticker, at).sha256 for at in order} for order in (instants, instants[::-1])]
    assert packs[0] == packs[1]
    desk = Workplace.open().desk
    latest = [max((one.known_at for one in pack_of(desk, ticker, at).find("get_financial_health")), default=at) for at in instants]
    assert all(known < at for known, at in zip(latest, instants, strict=True))


# --- guard, ledger, operations --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ticker", "day"), [("AAPL", "2020-08-03"), ("MSFT", "2021-03-16"), ("NFLX", "2022-04-20")])
def test_g11_every_decision_and_every_failure_names_its_ticker(home: Home, monkeypatch: pytest.MonkeyPatch, ticker: str, day: str) -> None:
    made = home.decide(ticker, day)
    outcome = made["guard"]["outcome"]
    for filters in (("--ticker", ticker), ("--since", day), ("--engine", "heuristic"), ("--outcome", outcome), ("--outcome", made["guard"]["code"])):
        (row,) = home.ok("show", "--list", "--json", *filters).documents
        assert row["ticker"] == ticker
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", "false")
    assert home.run("decide", ticker, "--as-of", day, "--slot", "second", "--engine", "crew").code == 4
    rows = home.sql("SELECT payload FROM audit_log WHERE kind IN ('decision', 'failure') ORDER BY seq")
    assert [json.loads(payload)["ticker"] for (payload,) in rows] == [ticker, ticker]


TESTS = "".join(path.read_text(encoding="utf-8") for path in sorted((CHECKOUT / "tests").rglob("*.py")))
OPTIONS = sorted(set(re.findall(r'"(--[a-z-]+)"', "".join(path.read_text(encoding="utf-8") for path in (CHECKOUT / "alphaagent").glob("cli*.py")))))
PARTS = ("alphaagent", "dashboard")
PROGRAM = "".join(path.read_text(encoding="utf-8") for part in PARTS for path in (CHECKOUT / part).rglob("*.py") if path.name != "settings.py")


@pytest.mark.parametrize("option", OPTIONS)
def test_g14_every_option_is_given_in_some_test(option: str) -> None:
    assert re.search(rf"[\"' ]{option}[\"' =]", TESTS)


@pytest.mark.parametrize("variable", [*VARIABLES, "ALLOW_HEURISTIC_FALLBACK"])
def test_g14_every_variable_is_set_in_some_test(variable: str) -> None:
    assert f'"{variable}"' in TESTS or f"{variable}=" in TESTS


def test_g14_the_flags_of_the_verifier_do_what_they_say(pending: Home) -> None:
    anchor = pending.ok("audit", "anchor").out
    (pending.folder / "good.txt").write_text(anchor, encoding="utf-8")
    (pending.folder / "other.txt").write_text(re.sub(r"[0-9a-f]{64}", "ab" * 32, anchor), encoding="utf-8")
    assert pending.run("audit", "verify").code == 0
    assert pending.run("audit", "verify", "--strict").code == 10
    assert pending.run("audit", "verify", "--strict", "--anchor", "good.txt").code == 0
    assert pending.run("audit", "verify", "--anchor", "other.txt").code == 21


@pytest.mark.parametrize("key", [f"{part}.{key}" for part, field in FileSettings.model_fields.items() for key in field.annotation.model_fields])  # type: ignore[union-attr]
def test_g14_every_setting_has_a_caller(key: str) -> None:
    assert f"settings.{key}" in PROGRAM or f"settings.{key.split('.')[1]}" in PROGRAM


def test_g14_a_folder_with_nothing_in_it_is_enough(tmp_path: Path) -> None:
    assert load_settings({}, tmp_path).snapshot is not None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("entry", ["FB", "META", "XNAS:META"])
@pytest.mark.parametrize("asked", ["META", "FB", "meta"])
def test_g18_a_refused_name_is_refused_under_every_name_it_has(home: Home, entry: str, asked: str) -> None:
    home.own_config("mandate.yaml", lambda text: text.replace("refused: none ", f'refused: ["{entry}"] ', 1))
    document = home.decide(asked, "2018-07-20", "--dry-run")
    (restricted,) = [line for line in document["guard"]["rules"] if line["id"] == "D3"]
    assert (restricted["verdict"], restricted["code"]) == ("block", "RESTRICTED")


@pytest.mark.parametrize(("lost", "day"), [("T000", 200), ("T001", 400), ("T002", 300)])
def test_g20_a_name_without_an_opinion_is_kept_and_nothing_is_redistributed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: str, day: int) -> None:
    names = [f"T{n:03d}" for n in range(3)]
    real = judgement.form_opinion

    def failing(desk: object, matter: judgement.Matter, *rest: object) -> object:
        if matter.request.ticker == lost:
            raise NoEvidence("the model did not answer")
        return real(desk, matter, *rest)  # type: ignore[arg-type]

    def run(folder: Path, tickers: list[str]) -> dict[str, tuple[str, str, str]]:
        place = workplace(write_home(folder, names))
        at = place.moment(sessions()[day])
        (folder / "held.csv").write_text("ticker,quantity,cost,date,cash\n" + "".join(f"{n},40,4000,2018-08-01,\n" for n in names) + ",,,,20000\n", "utf-8")
        book_import(place.desk, plan_import(place.desk, folder / "held.csv", "default", at))
        results = [one for one in pipeline.decide_many(place.desk, [Ask(name, at, "heuristic") for name in tickers]) if isinstance(one, Decided)]
        with place.desk.store().read() as books:
            portfolio = books.portfolio("default")
            assert portfolio is not None
            account = books.account(portfolio)
        assert {one.symbol: one.quantity for one in account.positions} == dict.fromkeys(names, Decimal(40))
        assert lost not in {order.symbol for order in account.pending}
        return {one.record.request.ticker: (one.record.result.proposal_text, one.record.ruling.code, str(one.record.ruling.quantity_out)) for one in results}

    without = run(tmp_path / "without", [name for name in names if name != lost])
    monkeypatch.setattr(pipeline, "form_opinion", failing)
    assert run(tmp_path / "failed", names) == without
    assert len(without) == 2


@pytest.mark.parametrize("ratio", ["2", "4", "10", "20", "0.1", "1.5"])
@pytest.mark.parametrize("quantity", ["9995", "12.5", "0.4"])
def test_g25_a_split_of_any_ratio_leaves_the_value_as_it_was(tmp_path: Path, ratio: str, quantity: str) -> None:
    """The prices are cut by the ratio from the ex-date on, as a market would, and the books count what was held."""
    days, n = sessions(), 300
    home = write_home(tmp_path, ["AAA"], {"AAA": f"split,{days[n]},{ratio}"})
    path = home / "data" / "snapshot" / "bars" / "AAA.csv"
    rows = read_rows(path)
    flat = [row | dict.fromkeys(("open", "high", "low", "close"), "120" if row["date"] < days[n] else f"{Decimal(120) / Decimal(ratio):f}") for row in rows]
    write_rows(path, flat)
    place = workplace(home)
    before, after = place.moment(days[n - 1]), place.moment(days[n])
    (home / "held.csv").write_text(f"ticker,quantity,cost,date,cash\nAAA,{quantity},100,2018-08-01,\n,,,,50\n", encoding="utf-8")
    book_import(place.desk, plan_import(place.desk, home / "held.csv", "default", before))
    pipeline.settle(place.desk, after)
    with place.desk.store().read() as books:
        portfolio = books.portfolio("default")
        assert portfolio is not None
        account = books.account(portfolio)
    (position,) = account.positions
    quote = place.desk.market.quote(place.desk.market.resolve("AAA", date.fromisoformat(days[n]))[0], after)
    assert quote is not None
    assert position.quantity == Decimal(quantity) * Decimal(ratio)
    assert position.quantity * quote.price + account.cash == Decimal(quantity) * 120 + 50
