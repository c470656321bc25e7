"""Who a ticker is: the user's word before the record, the record before the SEC's list, the list before a vendor's directory."""

from collections.abc import Callable
from datetime import date

import pytest

from alphaagent.domain.market import Instrument
from alphaagent.errors import UsageFault
from alphaagent.evidence.live.instruments import LiveInstruments

ON = date(2024, 1, 3)


def share(ticker: str, mic: str = "XNYS", **changes: object) -> Instrument:
    fields = {"id": f"{mic}:{ticker}", "symbol": ticker, "name": f"{ticker} Inc.", "mic": mic, "currency": "USD", "kind": "common", **changes}
    return Instrument.model_validate(fields)


class Directory:
    """A vendor's directory that counts how often it is asked."""

    def __init__(self, *known: Instrument) -> None:
        self.known = {instrument.symbol: instrument for instrument in known}
        self.asked: list[str] = []

    def __call__(self, ticker: str) -> Instrument | None:
        self.asked.append(ticker)
        return self.known.get(ticker)


def no_network(ticker: str) -> Instrument | None:
    raise AssertionError(f"{ticker} was asked for over the network")


def instruments(
    described: tuple[Instrument, ...] = (),
    recorded: tuple[Instrument, ...] = (),
    listed: tuple[Instrument, ...] = (),
    ask: Callable[[str], Instrument | None] = no_network,
    completed: Callable[[Instrument], Instrument] = lambda instrument: instrument,
) -> LiveInstruments:
    return LiveInstruments(described, recorded, lambda: listed, ask, completed)


def test_the_first_that_knows_a_ticker_answers_and_nobody_is_asked() -> None:
    mine, kept, told = share("ACME", name="mine"), share("ACME", name="recorded"), share("ACME", name="listed")
    assert instruments((mine,), (kept,), (told,)).resolve("acme", ON) == (mine,)
    assert instruments((), (kept,), (told,)).resolve("ACME", ON) == (kept,)
    assert instruments((), (), (told,)).resolve("ACME", ON) == (told,)


def test_what_nobody_knows_is_asked_for_and_may_be_nothing() -> None:
    directory = Directory(share("ACME", "XETR"))
    assert instruments(ask=directory).resolve("acme", ON) == (share("ACME", "XETR"),)
    assert instruments(ask=directory).resolve("NONE", ON) == ()
    assert directory.asked == ["ACME", "NONE"]


def test_a_described_instrument_takes_the_place_of_the_recorded_one_under_every_name() -> None:
    mine, kept = share("NEWCO", id="XNYS:OLDCO"), share("OLDCO")
    found = instruments((mine,), (kept,), ask=Directory())
    assert (found.resolve("NEWCO", ON), found.resolve("OLDCO", ON)) == ((mine,), ())


def test_another_share_of_a_described_company_stays_recorded() -> None:
    found = instruments((share("GOOGL", cik="0001652044"),), (share("GOOG", cik="0001652044"),))
    assert [instrument.symbol for instrument in found.resolve("GOOG", ON)] == ["GOOG"]


@pytest.mark.parametrize("written", ["BRK.B", "BRK-B", "BRK/B", "brk-b"])
def test_a_class_of_shares_is_one_however_it_is_written(written: str) -> None:
    assert instruments(listed=(share("BRK.B"),)).resolve(written, ON) == (share("BRK.B"),)


@pytest.mark.parametrize("ticker", ["TRUE", "NAN", "ON", "1E5"])
def test_a_ticker_that_looks_like_something_else_is_a_ticker(ticker: str) -> None:
    assert instruments(listed=(share(ticker),)).resolve(ticker, ON) == (share(ticker),)


@pytest.mark.parametrize(
    ("ticker", "what"),
    [
        *(("GC=F", "a future"), ("EURUSD=X", "a currency pair"), ("BTC-USD", "a pair of a cryptocurrency"), ("eth-usdt", "a pair of a cryptocurrency")),
        *(("^GSPC", "an index"), ("A=B", "no share")),
    ],
)
def test_what_is_no_share_is_refused_by_its_form_before_anything_is_asked(ticker: str, what: str) -> None:
    with pytest.raises(UsageFault, match="shares and exchange-traded funds are supported") as caught:
        instruments().resolve(ticker, ON)
    assert caught.value.message.startswith(f"{ticker} is {what}; ")


def test_an_index_that_is_described_is_found() -> None:
    index = share("^GSPC", kind="index")
    assert instruments((index,)).resolve("^GSPC", ON) == (index,)


@pytest.mark.parametrize("ticker", ["", "A B", "../x", "A\n", "http://x", "A" * 16, "AAPL240119C00190000"])
def test_what_cannot_be_a_ticker_is_refused(ticker: str) -> None:
    with pytest.raises(UsageFault, match="cannot be a ticker"):
        instruments().resolve(ticker, ON)


@pytest.mark.parametrize(("mic", "why"), [("OTCM", "trades over the counter"), ("XXXX", "is on no exchange that the SEC names")])
def test_what_is_listed_on_no_exchange_is_refused_with_the_reason(mic: str, why: str) -> None:
    with pytest.raises(UsageFault) as caught:
        instruments(listed=(share("TCEHY", mic),)).resolve("TCEHY", ON)
    assert why in caught.value.message


def test_the_users_word_stands_against_the_lists() -> None:
    mine = share("TCEHY", "OTCX")
    assert instruments((mine,), listed=(share("TCEHY", "OTCM"),)).resolve("TCEHY", ON) == (mine,)


def test_one_ticker_of_two_companies_is_told_apart_by_the_date() -> None:
    first, second = share("SNDK", id="XNAS:SNDK.2016", valid_to=date(2016, 5, 12)), share("SNDK", valid_from=date(2025, 2, 24))
    found = instruments((first, second))
    assert [found.resolve("SNDK", day) for day in (date(2016, 5, 12), date(2020, 1, 2), date(2025, 2, 24))] == [(first,), (), (second,)]


def test_two_at_one_time_are_an_ambiguity() -> None:
    both = (share("ACME"), share("ACME", "XNAS"))
    assert instruments(both).resolve("ACME", ON) == both


def test_who_had_a_ticker_before_it_is_known_is_not_told_by_the_list_of_today() -> None:
    kept = share("META", "XNAS", valid_from=date(2012, 5, 18))
    assert instruments((), (kept,), (share("META", "XNAS"), share("META"))).resolve("META", date(2012, 5, 17)) == ()


def test_who_has_a_ticker_since_it_ended_is_told_unless_it_is_the_same() -> None:
    ended = share("ACME", cik="0000000001", valid_to=date(2020, 1, 1))
    other = share("ACME", "XNAS", cik="0000000002")
    assert instruments((ended,), listed=(other,)).resolve("ACME", ON) == (other,)
    for same in (share("ACME", cik="0000000003"), share("ACME", "XNAS", cik="0000000001")):
        assert instruments((ended,), listed=(same,), ask=Directory()).resolve("ACME", ON) == ()
        assert instruments((ended,), ask=Directory(same)).resolve("ACME", ON) == ()


def test_what_the_list_cannot_name_the_kind_of_is_asked_for_and_keeps_its_number() -> None:
    doubtful, fund = share("SPY", kind="other", cik="0000884394"), share("SPY", "ARCX", kind="etf")
    assert instruments(listed=(doubtful,), ask=Directory(fund)).resolve("SPY", ON) == (fund.model_copy(update={"cik": "0000884394"}),)
    assert instruments(listed=(doubtful,), ask=Directory()).resolve("SPY", ON) == (doubtful,)


def test_what_is_kept_of_a_listed_company_completes_it() -> None:
    def with_sector(instrument: Instrument) -> Instrument:
        return instrument.model_copy(update={"sector": "Banks"})

    listed = (share("C"), share("JPM", kind="other"))
    found = instruments(listed=listed, ask=Directory(share("JPM")), completed=with_sector)
    assert [found.resolve(ticker, ON)[0].sector for ticker in ("C", "JPM")] == ["Banks", "Banks"]


def test_a_newer_list_is_seen() -> None:
    lists = [(share("OLD"),)]
    found = LiveInstruments((), (), lambda: lists[-1], Directory())
    assert found.resolve("NEW", ON) == ()
    lists.append((share("NEW"),))
    assert found.resolve("NEW", ON) == (share("NEW"),)


def test_what_can_be_asked_for_without_a_network_is_what_is_described_or_recorded() -> None:
    assert instruments((share("B"),), (share("A"), share("B")), (share("C"),)).tickers() == ("A", "B")
