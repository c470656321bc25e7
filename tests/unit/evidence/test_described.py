"""config/instruments.yaml: every field, every slip, and tickers that are text whatever they look like."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from alphaagent.domain.market import Instrument
from alphaagent.errors import ConfigFault
from alphaagent.evidence.live.described import parse_instruments
from alphaagent.evidence.sources.instruments import named_by, read_instruments
from alphaagent.yaml_files import read_yaml

ROOT = Path(__file__).parents[3]
VENDORS = ("yahoo", "edgar", "feeds")
ACME: dict[str, Any] = {"name": "Acme", "currency": "USD"}


def described(text: str, folder: Path) -> tuple[Instrument, ...]:
    path = folder / "instruments.yaml"
    path.write_text(text, encoding="utf-8")
    return parse_instruments(read_yaml(path, texts=True), "instruments.yaml", VENDORS)


def shipped() -> dict[str, Instrument]:
    found = parse_instruments(read_yaml(ROOT / "config" / "instruments.yaml", texts=True), "instruments.yaml", VENDORS)
    return {instrument.id: instrument for instrument in found}


def refused(fields: object, key: str = "XNYS:ACME") -> ConfigFault:
    with pytest.raises(ConfigFault) as caught:
        parse_instruments({key: fields}, "instruments.yaml", VENDORS)
    return caught.value


def test_the_shipped_file_shows_every_field_and_repeats_no_recorded_instrument() -> None:
    found = shipped()
    for name in Instrument.model_fields:
        assert any(getattr(instrument, name) not in (None, ()) for instrument in found.values()), name
    assert not set(found) & {instrument.id for instrument in read_instruments(ROOT / "data" / "snapshot")}
    assert found["XNYS:BRK.B"].vendor_symbols == (("yahoo", "BRK-B"),)
    assert (found["XLON:SHEL.L"].currency, found["XLON:SHEL.L"].ads_ratio, found["XNYS:BABA"].ads_ratio) == ("GBp", 1, 8)
    assert found["XHKG:0700.HK"].symbol == "0700.HK"


def test_a_ticker_of_two_companies_is_found_by_its_date() -> None:
    ids = {
        day: [instrument.id for instrument in named_by("SNDK", shipped().values(), day)] for day in (date(2016, 5, 12), date(2016, 5, 13), date(2025, 2, 24))
    }
    assert ids == {date(2016, 5, 12): ["XNAS:SNDK.2016"], date(2016, 5, 13): [], date(2025, 2, 24): ["XNAS:SNDK"]}


@pytest.mark.parametrize("ticker", ["TRUE", "NAN", "ON", "NO", "1E5", "NULL", "Y", "0700", "1.50", "2024.01", "0X1F", "INF"])
def test_a_ticker_stays_what_was_written(tmp_path: Path, ticker: str) -> None:
    entry = f"XNYS:{ticker}:\n  name: {ticker}\n  currency: USD\nXNYS:OTHER:\n  symbol: {ticker}\n  aliases: [{ticker}]\n  name: Other\n  currency: USD\n"
    one, other = described(entry, tmp_path)
    assert (one.symbol, one.name, other.symbol, other.aliases) == (ticker, ticker, ticker, (ticker,))


def test_fields_become_what_an_instrument_has(tmp_path: Path) -> None:
    text = (
        "XNYS:ACME:\n  name: Acme ADS\n  mic: XNAS\n  aliases: [acme-a]\n  currency: USD\n  kind: etf\n  sector: null\n  cik: 42\n"
        "  valid_from: 2020-01-02\n  valid_to:\n  ads_ratio: 2.50\n  vendor_symbols: {yahoo: ACME-A}\n"
    )
    (found,) = described(text, tmp_path)
    assert found == Instrument(
        **{"id": "XNYS:ACME", "symbol": "ACME", "name": "Acme ADS", "aliases": ("ACME.A",), "mic": "XNAS", "currency": "USD", "kind": "etf"},
        **{"cik": "0000000042", "valid_from": date(2020, 1, 2), "ads_ratio": Decimal("2.50"), "vendor_symbols": (("yahoo", "ACME-A"),)},
    )


def test_an_empty_file_describes_nothing(tmp_path: Path) -> None:
    assert described("# nothing\n", tmp_path) == ()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (ACME | {"sektor": "x"}, "unknown key XNYS:ACME.sektor"),
        ({"name": "Acme"}, "XNYS:ACME.currency is missing"),
        (None, "XNYS:ACME.name is missing"),
        (ACME | {"currency": "usd"}, "XNYS:ACME.currency is 'usd'"),
        (ACME | {"mic": "NYSE Arca"}, "XNYS:ACME.mic is 'NYSE Arca'"),
        (ACME | {"symbol": "A B"}, "XNYS:ACME.symbol is 'A B': 'A B' cannot be a ticker"),
        (ACME | {"aliases": ["OK", "../x"]}, "XNYS:ACME.aliases.1 is '../x'"),
        (ACME | {"aliases": "OK"}, "XNYS:ACME.aliases is 'OK'"),
        (ACME | {"kind": "future"}, "XNYS:ACME.kind is 'future'"),
        (ACME | {"cik": "0x1"}, "XNYS:ACME.cik is '0x1'"),
        (ACME | {"valid_from": "20200102"}, "write a date as 2024-01-31"),
        (ACME | {"valid_from": "2020-02-30"}, "XNYS:ACME.valid_from is '2020-02-30'"),
        (ACME | {"valid_from": "2020-01-02", "valid_to": "2020-01-01"}, "XNYS:ACME: valid_from is after valid_to"),
        (ACME | {"ads_ratio": "0"}, "XNYS:ACME.ads_ratio is '0'"),
        (ACME | {"ads_ratio": "NaN"}, "XNYS:ACME.ads_ratio is 'NaN'"),
        (ACME | {"vendor_symbols": {"yahooo": "X"}}, "there is no vendor 'yahooo'; there are yahoo, edgar, feeds"),
        (ACME | {"vendor_symbols": {"yahoo": "X\n"}}, "XNYS:ACME.vendor_symbols.yahoo is 'X\\n'"),
        ("text", "XNYS:ACME: input should be"),
    ],
)
def test_a_slip_is_named_with_its_key(fields: object, said: str) -> None:
    fault = refused(fields)
    assert said in fault.message
    assert fault.message.startswith("instruments.yaml: ")
    assert fault.fix


@pytest.mark.parametrize("key", ["ACME", "XNYS:BRK-B", "xnys:acme", "XNYS:", "XNYS:A B", "XNYS:ACME\n"])
def test_an_id_has_a_market_and_a_symbol(key: str) -> None:
    assert "is no id" in refused(ACME, key).message


def test_an_id_that_is_no_ticker_needs_a_symbol() -> None:
    assert "state a symbol" in str(refused(ACME, "XNYS:ABCDEFGHIJKLMNOPQRST").fix)
    (found,) = parse_instruments({"XNYS:ABCDEFGHIJKLMNOPQRST": ACME | {"symbol": "abc"}}, "instruments.yaml", VENDORS)
    assert found.symbol == "ABC"
