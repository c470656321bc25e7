"""Daily closes by Stooq, a second source to hold the last closes of another against.

Chosen on purpose: Stooq adjusts its history without telling for what, so the bars are given as they stand and only the newest are read; whoever
compares takes sessions after the last split and dividend. It answers everything with status 200: its limit, its wish for a key and its ignorance
are told from the words.
"""

from datetime import datetime
from urllib.parse import quote

from alphaagent.domain.market import Instrument, Records
from alphaagent.errors import SourceFault, VendorFault
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic
from alphaagent.evidence.live.wire import Wire
from alphaagent.evidence.sources.snapshot_rows import BAR_COLUMNS, parse_bars
from alphaagent.evidence.sources.table import shown
from alphaagent.ports import Calendar

ADDRESS = "https://stooq.com"
HOSTS = ("stooq.com", "www.stooq.com")
"""Where its answers may send us on to."""
HEADER = "Date,Open,High,Low,Close,Volume"
MOST_SESSIONS = 300
AGAIN = "fetch them again"
COUNTRIES = {
    **dict.fromkeys(("XNAS", "XNYS", "XASE", "ARCX", "BATS", "IEXG"), ("", "us")),
    "XLON": (".L", "uk"),
    "XETR": (".DE", "de"),
    "XTKS": (".T", "jp"),
    "XHKG": (".HK", "hk"),
}
"""Market -> the ending that a symbol may bear, and Stooq's."""


class StooqPrices:
    """A second source of prices. `key`: since the spring of 2026 Stooq asks for one, which its site gives for nothing."""

    name = "stooq"
    topic: Topic = "prices"

    def __init__(self, wire: Wire, *, key: str | None = None, address: str | None = None) -> None:
        self._wire = wire
        self._key = key
        self._address = address or ADDRESS

    def not_asked(self, instrument: Instrument) -> str | None:
        if instrument.kind == "index":
            return f"{instrument.symbol} is an index, which stooq calls by a name of its own"
        return None if instrument.mic in COUNTRIES or _given(instrument) else f"stooq is not asked about the market {instrument.mic}"

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:
        if self.not_asked(instrument) is not None:
            return None
        key = f"&apikey={quote(self._key, safe='')}" if self._key else ""
        url = f"{self._address}/q/d/l/?s={quote(stooq_symbol(instrument), safe='')}&i=d{key}"
        answer = self._wire.get(url, before.validators if before else None, accept="text/csv, text/plain;q=0.9")
        if answer is None:
            return None
        if answer.unchanged:
            return Fetched(None, answer.validators)
        return Fetched(answer.body, answer.validators) if _holds_bars(answer.body) else None

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:  # noqa: ARG002 - a bar is known at its session's close
        header, *lines = _text(raw).splitlines()
        if header != HEADER:
            raise SourceFault(f"the closes by stooq begin with {shown(header)}, not with {HEADER}", fix=AGAIN)
        newest = [line for line in lines if line[:10] >= calendar.first.isoformat()][-MOST_SESSIONS:]
        rows = "\n".join((",".join(BAR_COLUMNS), *map(_whole_volume, newest)))
        return parse_bars(f"{rows}\n".encode(), f"stooq {stooq_symbol(instrument)}", calendar)


def stooq_symbol(instrument: Instrument) -> str:
    """`aapl.us`, `brk-b.us`, `azn.uk`, `700.hk`."""
    if given := _given(instrument):
        return given
    ending, country = COUNTRIES[instrument.mic]
    base = instrument.symbol.removesuffix(ending).replace(".", "-").replace("/", "-")
    return f"{base.lstrip('0') if country == 'hk' else base}.{country}".lower()


def _given(instrument: Instrument) -> str | None:
    return dict(instrument.vendor_symbols).get("stooq")


def _holds_bars(body: bytes) -> bool:
    """False where Stooq says that it has no data. Raises VendorFault on everything that is no table of bars."""
    try:
        text = _text(body)
    except SourceFault as fault:
        raise VendorFault("malformed", fault.message) from None
    beginning = text[:4_000].lower()
    if "exceeded the daily hits limit" in beginning:
        raise VendorFault("rate_limited", "stooq has answered as often as it does on one day", fix="try again tomorrow")
    if "apikey" in beginning:
        raise VendorFault("refused", "stooq asks for a key", fix="get one on stooq.com, or leave stooq out")
    if text.strip().lower() == "no data":
        return False
    if beginning.lstrip().startswith("<"):
        raise VendorFault("malformed", "stooq answers with a page for people")
    header, *lines = text.splitlines()
    if header != HEADER:
        raise VendorFault("schema", f"stooq's table begins with {shown(header)}, not with {HEADER}")
    if not text.endswith("\n"):
        raise VendorFault("malformed", "stooq's answer ends in the middle")
    return bool(lines)


def _text(body: bytes) -> str:
    try:
        text = body.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as fault:
        raise SourceFault(f"the closes by stooq are not UTF-8: byte {fault.start} cannot be read", fix=AGAIN) from None
    if not text.strip():
        raise SourceFault("stooq answers with nothing", fix=AGAIN)
    return text


def _whole_volume(line: str) -> str:
    """Adjusted volumes have decimals, shares have none."""
    before, comma, volume = line.rpartition(",")
    return before + comma + (volume.partition(".")[0] if volume.replace(".", "", 1).isdecimal() else volume)
