"""Each recorded listing through the desk: its own calendar, its empty supplies, what the engine makes of them, and a currency that is refused."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent import cli, pipeline
from alphaagent.bootstrap import Workplace
from alphaagent.desk import Ask, Desk, resolve
from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidencePack, Status
from alphaagent.domain.market import Instrument
from alphaagent.errors import NoEvidence, UsageFault
from alphaagent.evidence.gather import gather
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.portfolio_tool import PortfolioView, portfolio_items

SECOND = timedelta(seconds=1)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ALPHAAGENT_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def workplace(home: Path) -> Workplace:
    return Workplace.open()


def instrument_of(desk: Desk, ticker: str) -> Instrument:
    (found,) = desk.market.resolve(ticker, date(2020, 1, 2))
    return found


def judged(desk: Desk, ticker: str, session: str, profile: str = "medium") -> tuple[EvidencePack, EngineResult]:
    """Evidence and the heuristic engine's word on it, with an empty book of 100,000 in the instrument's currency."""
    instrument, day = instrument_of(desk, ticker), date.fromisoformat(session)
    calendar, cash = desk.calendar_of(instrument), Decimal(100_000)
    view = PortfolioView("test", instrument.currency, cash, cash, Decimal(0), Decimal(1), Decimal(0), cash, profile, ())

    def portfolio(gathered: Gathered) -> tuple[object, ...]:
        return portfolio_items(gathered, view)

    pack = gather(desk.suppliers_of(instrument), desk.tools, calendar, instrument, ticker, calendar.closes(day) + SECOND, day, portfolio)  # type: ignore[arg-type]
    return pack, desk.engines["heuristic"].decide(pack)


@pytest.mark.parametrize(
    ("ticker", "text", "instant"),
    [
        ("AAPL", "2020-01-06", "2020-01-06T21:00:01"),
        ("AZN.L", "2020-01-06", "2020-01-06T16:30:01"),
        ("AZN.L", "2020-07-06", "2020-07-06T15:30:01"),
        ("AZN.L", "2020-12-24", "2020-12-24T12:30:01"),
        ("AAPL", "2020-12-24", "2020-12-24T18:00:01"),
        ("AZN.L", "2020-01-06T09:00:00Z", "2020-01-06T09:00:00"),
        ("NOSUCH", "2020-01-06", "2020-01-06T21:00:01"),
        ("no such", "2020-01-06", "2020-01-06T21:00:01"),
    ],
)
def test_a_date_means_a_second_after_the_close_of_the_tickers_own_exchange(workplace: Workplace, ticker: str, text: str, instant: str) -> None:
    assert workplace.moments(text, [ticker]) == [datetime.fromisoformat(instant).replace(tzinfo=UTC)]


def test_several_tickers_have_each_their_own_close(workplace: Workplace) -> None:
    apple, london = workplace.moments("2020-01-06", ["AAPL", "AZN.L"])
    assert (apple.hour, london.hour) == (21, 16)


@pytest.mark.parametrize(
    ("ticker", "day", "neighbours"),
    [
        ("AZN.L", "2020-05-08", "2020-05-07 or 2020-05-11"),
        ("AAPL", "2020-07-03", "2020-07-02 or 2020-07-06"),
        ("AZN.L", "2020-08-31", "2020-08-28 or 2020-09-01"),
    ],
)
def test_a_holiday_of_the_tickers_exchange_is_no_session_and_names_its_neighbours(workplace: Workplace, ticker: str, day: str, neighbours: str) -> None:
    with pytest.raises(UsageFault) as fault:
        workplace.moments(day, [ticker])
    assert fault.value.fix is not None
    assert neighbours in fault.value.fix


@pytest.mark.parametrize(
    ("tickers", "session"),
    [(["AAPL"], "2023-09-21"), (["MSFT"], "2022-06-15"), (["AAPL", "MSFT"], "2022-06-15"), (["NVDA", "META", "AMZN"], "2023-09-21"), (["AZN.L"], "2022-06-15")],
)
def test_without_an_instant_it_is_the_last_session_common_to_the_tickers(workplace: Workplace, tickers: list[str], session: str) -> None:
    assert [instant.date().isoformat() for instant in workplace.moments(None, tickers)] == [session] * len(tickers)


def test_without_tickers_it_is_the_last_recorded_session_at_all(workplace: Workplace) -> None:
    assert workplace.moment(None) == datetime(2023, 9, 21, 20, 0, 1, tzinfo=UTC)


def test_only_unknown_tickers_have_no_common_session(workplace: Workplace) -> None:
    with pytest.raises(NoEvidence, match="NOSUCH"):
        workplace.moments(None, ["NOSUCH"])


@pytest.mark.parametrize(
    ("ticker", "at", "session"),
    [
        ("AAPL", "2020-05-08T20:00:01", "2020-05-08"),
        ("MSFT", "2020-05-08T16:00:00", "2020-05-07"),
        ("FB", "2020-05-08T20:00:01", "2020-05-08"),
        ("META", "2020-05-11T08:00:00", "2020-05-08"),
    ],
)
def test_the_last_completed_session_is_that_of_the_tickers_exchange(workplace: Workplace, ticker: str, at: str, session: str) -> None:
    assert resolve(workplace.desk, ticker, datetime.fromisoformat(at).replace(tzinfo=UTC))[1] == date.fromisoformat(session)


def test_a_price_in_pence_is_heard_and_its_order_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["decide", "AZN.L", "META", "--as-of", "2020-08-03", "--dry-run", "--json"]) == 0
    london, meta = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (london["ticker"], london["as_of"], meta["as_of"]) == ("AZN.L", "2020-08-03T15:30:01Z", "2020-08-03T20:00:01Z")
    assert (london["proposal"]["action"], london["guard"]["outcome"], london["guard"]["code"]) == ("BUY", "BLOCK", "CURRENCY_UNSOUND")


def test_nothing_said_is_the_last_session_of_the_tickers_own_exchange(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["decide", "AZN.L", "--dry-run"]) == 0
    assert "as of 2022-06-15T15:30:01Z" in capsys.readouterr().err


@pytest.mark.parametrize("ticker", ["AMZN", "META", "NFLX", "AZN.L"])
def test_fundamentals_and_news_that_are_not_on_record_are_empty_and_a_hole_in_the_case(workplace: Workplace, ticker: str) -> None:
    pack, result = judged(workplace.desk, ticker, "2021-06-15")
    (fundamentals,), (news,) = pack.find("get_financial_health"), pack.find("get_news_sentiment")
    assert (fundamentals.status, fundamentals.summary) == (Status.EMPTY, f"fundamentals absent: snapshot has no fundamentals of {ticker}")
    assert (news.status, news.payload.get("score")) == (Status.EMPTY, None)
    assert {hole.split(":")[0] for hole in result.bear_case.holes} == {"get_news_sentiment", "get_financial_health"}
    assert {hole.split(":")[0] for hole in result.bull_case.holes} == {"get_news_sentiment"}
    absent = {part.factor: part.status for part in result.contributions if part.status != "ok"}
    assert absent == {"quality": "absent", "value": "absent", "news": "absent"}
    assert {part.contribution for part in result.contributions if part.status != "ok"} == {"0.0"}


@pytest.mark.parametrize(("profile", "abstains"), [("low", True), ("medium", False), ("high", False)])
@pytest.mark.parametrize("ticker", ["AMZN", "META", "NFLX", "AZN.L"])
def test_prices_alone_carry_40_50_and_60_percent_of_the_weight_and_half_is_enough(workplace: Workplace, ticker: str, profile: str, abstains: bool) -> None:
    """T and R weigh .35 + .05, .45 + .05 and .55 + .05 in the three profiles; the engine abstains under .50."""
    _, result = judged(workplace.desk, ticker, "2021-06-15", profile)
    present = sum(Decimal(part.weight) for part in result.contributions if part.status == "ok")
    assert present == {"low": Decimal("0.40"), "medium": Decimal("0.50"), "high": Decimal("0.60")}[profile]
    assert result.abstained is abstains
    if abstains:
        assert result.abstain_reason == "evidence for 40% of the score's weight is there; 50% is needed"


def test_london_is_judged_to_the_end_with_both_cases_and_a_score(workplace: Workplace) -> None:
    pack, result = judged(workplace.desk, "AZN.L", "2021-06-15")
    (quote,) = pack.find("get_market_price", "quote")
    assert (quote.payload["currency"], quote.status, quote.known_at) == ("GBp", Status.OK, datetime(2021, 6, 15, 15, 30, tzinfo=UTC))
    assert result.score is not None
    assert result.bull_case.lines
    assert result.bear_case.summary


@pytest.mark.parametrize(("ticker", "session"), [("AZN.L", "2022-06-17"), ("MSFT", "2022-06-17")])
def test_after_its_last_bar_a_listing_is_stale_and_the_engine_abstains(workplace: Workplace, ticker: str, session: str) -> None:
    pack, result = judged(workplace.desk, ticker, session)
    assert pack.find("get_price_history", "history")[0].status is Status.STALE
    assert result.abstained


@pytest.mark.parametrize(("ticker", "session"), [("GOOG", "2014-04-10"), ("GOOG", "2022-07-21"), ("AMZN", "2022-06-10"), ("NFLX", "2015-07-21")])
def test_a_split_is_no_fall_in_price(workplace: Workplace, ticker: str, session: str) -> None:
    pack, _ = judged(workplace.desk, ticker, session)
    assert Decimal(pack.find("get_price_history", "volatility")[0].payload["sigma"]) < 1
    assert Decimal(pack.find("get_price_history", "drawdown")[0].payload["drawdown"]) < Decimal("0.6")


@pytest.mark.parametrize(
    ("ticker", "session", "period", "figures"),
    [
        ("GOOG", "2020-07-27", "2019-12-31", {"revenue_ttm": "161857", "operating_income_ttm": "34231", "earnings_ttm": "34343"}),
        ("GOOG", "2022-02-02", "2020-12-31", {"revenue_ttm": "182527"}),
        ("GOOG", "2022-02-03", "2021-12-31", {"revenue_ttm": "257637"}),
        ("MSFT", "2021-07-29", "2020-06-30", {"revenue_ttm": "143015"}),
        ("MSFT", "2021-07-30", "2021-06-30", {"revenue_ttm": "168088", "operating_income_ttm": "69916", "earnings_ttm": "61271", "equity": "141988"}),
    ],
)
def test_annual_figures_count_from_the_session_after_their_filing(
    workplace: Workplace, ticker: str, session: str, period: str, figures: dict[str, str]
) -> None:
    pack, _ = judged(workplace.desk, ticker, session)
    (filing,) = pack.find("get_financial_health", "filing")
    assert filing.payload["period_end"] == period
    assert {name: Decimal(filing.payload[name]) / 1_000_000 for name in figures} == {name: Decimal(value) for name, value in figures.items()}


@pytest.mark.parametrize(("session", "eps"), [("2022-07-15", "112.2"), ("2022-07-18", "5.61"), ("2023-02-03", "5.61"), ("2023-02-06", "4.56")])
def test_alphabets_earnings_per_share_stand_on_the_prices_share_basis(workplace: Workplace, session: str, eps: str) -> None:
    (valuation,) = judged(workplace.desk, "GOOG", session)[0].find("get_financial_health", "valuation")
    assert Decimal(valuation.payload["eps_ttm"]) == Decimal(eps)


def test_an_amendment_of_before_the_calendar_is_no_flag_in_its_first_weeks(workplace: Workplace) -> None:
    """Apple amended its annual report in January 2010, three years before the recorded sessions begin."""
    assert judged(workplace.desk, "AAPL", "2013-04-10")[0].find("get_financial_health", "hard_flag") == ()


@pytest.fixture
def own(home: Path) -> Path:
    folder = home / "data" / "own"
    folder.mkdir()
    (home / "config").mkdir()
    (home / "config" / "alphaagent.yaml").write_text("data:\n  own_prices: data/own\n", encoding="utf-8")
    return folder


def write_bars(path: Path, sessions: list[date]) -> None:
    lines = [f"{day},{100 + i % 7},{110 + i % 7},{90 + i % 7},{100 + i % 5},1000" for i, day in enumerate(sessions)]
    path.write_text("\n".join(["date,open,high,low,close,volume", *lines]) + "\n", encoding="utf-8")


def test_a_decision_on_own_prices_names_them_as_its_source(own: Path) -> None:
    write_bars(own / "ACME.csv", [day for day in Workplace.open().calendar.sessions if day.year == 2020])
    workplace = Workplace.open()
    pack, _ = judged(workplace.desk, "ACME", "2020-12-31")
    assert {item.source for item in pack.find("get_price_history") if item.kind != "index"} == {"own"}
    assert "ACME" in workplace.desk.market.tickers()
    assert pipeline.dry_run(workplace.desk, Ask("ACME", workplace.moments(None, ["ACME"])[0], "heuristic")).record.request.session == "2020-12-31"


def test_own_prices_of_later_days_lengthen_the_calendar_and_change_nothing_in_it(own: Path) -> None:
    days = [date(2024, 1, 2) + timedelta(days=n) for n in range(2)]
    write_bars(own / "ACME.csv", days)
    workplace = Workplace.open()
    assert workplace.calendar.last == date(2024, 2, 2)
    assert workplace.calendar.is_session(date(2023, 12, 29))
    assert workplace.calendar.opens(date(2020, 3, 16)) == datetime(2020, 3, 16, 13, 30, tzinfo=UTC)
    assert workplace.calendar.first == date(2013, 1, 2)


def test_own_prices_on_a_market_that_is_not_recorded_get_its_sessions(own: Path) -> None:
    header = "id,symbol,aliases,name,mic,currency,kind,sector,cik,valid_from,valid_to"
    (own / "instruments.csv").write_text(f"{header}\nXETR:SAP,SAP,,SAP,XETR,EUR,common,,,,\nXXXX:Z,Z,,Z,XXXX,USD,common,,,,\n", encoding="utf-8")
    write_bars(own / "SAP.csv", [date(2020, 1, 2), date(2020, 1, 3)])
    workplace = Workplace.open()
    sap, nowhere = (instrument_of(workplace.desk, ticker) for ticker in ("SAP", "Z"))
    assert workplace.desk.market.last_session(sap) == date(2020, 1, 3)
    with pytest.raises(UsageFault, match="XXXX"):
        workplace.calendar_of(nowhere)


@pytest.mark.parametrize(("text", "message"), [("own_prices: nowhere", "'nowhere'"), ("own_price: data/own", "own_prices"), ('own_prices: ""', "''")])
def test_a_wrong_setting_names_the_key(own: Path, home: Path, text: str, message: str) -> None:
    (home / "config" / "alphaagent.yaml").write_text(f"data:\n  {text}\n", encoding="utf-8")
    with pytest.raises(UsageFault, match=message):
        Workplace.open()


def test_a_bad_own_file_is_no_evidence_and_names_the_line(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (own / "AAPL.csv").write_text("date,open,high,low,close,volume\n2020-01-02,10,12,9,NaN,1\n", encoding="utf-8")
    assert cli.run(["decide", "AAPL", "--as-of", "2020-01-06", "--dry-run"]) == 3
    assert "own/AAPL.csv line 2: close 'NaN' is not a plain decimal number" in capsys.readouterr().err
