"""Gathers all evidence for one ticker before one instant, at once, and freezes it into a pack.

One gate admits records by the time at which they became known; no source and no tool can pass anything around it. A source that
fails leaves a failed item, never a gap that nobody sees; without prices there is nothing to decide on.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from functools import partial

from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status, ToolName
from alphaagent.domain.market import Instrument, Records
from alphaagent.errors import NoEvidence, SourceFault
from alphaagent.evidence.admission import admit
from alphaagent.evidence.gathered import Gathered, SecondOpinion, Supplied
from alphaagent.ports import Calendar, EvidenceSource, Supply

Tool = Callable[[Gathered], tuple[EvidenceItem, ...]]
Supplier = Callable[[Calendar, Instrument, datetime, date], Supplied]
"""Answers for one supply: what may be seen of an instrument at an instant, in a session. A vendor's failure is a status, never raised."""
SecondSource = Callable[[Calendar, Instrument, datetime, date], SecondOpinion]
"""The last close by somebody else."""
WITH_BARS = (Status.STALE, Status.CONFLICT)
"""How prices may stand that are not sound and still say something: whoever reads them is told, and nothing is opened on them unasked."""
WITHOUT_STATEMENTS = ("etf", "leveraged_etf", "inverse_etf", "index")


def gather(
    suppliers: Mapping[Supply, Supplier],
    tools: Mapping[ToolName, Tool],
    calendar: Calendar,
    instrument: Instrument,
    ticker: str,
    as_of: datetime,
    session: date,
    extra: Callable[[Gathered], Sequence[EvidenceItem]],
    second: SecondSource | None = None,
) -> EvidencePack:
    """The sealed pack; `extra` adds what is not fetched (the portfolio). Raises NoEvidence where there are no usable prices."""
    with ThreadPoolExecutor(max_workers=len(suppliers) + 1) as pool:
        other = pool.submit(second, calendar, instrument, as_of, session) if second else None
        supplied = dict(zip(suppliers, pool.map(lambda supplier: supplier(calendar, instrument, as_of, session), suppliers.values()), strict=True))
    gathered = Gathered(
        ticker=ticker,
        instrument=instrument,
        as_of=as_of,
        session=session,
        calendar=calendar,
        prices=supplied["prices"],
        fundamentals=supplied["fundamentals"],
        news=supplied["news"],
        events=supplied.get("events"),
        second=other.result() if other else None,
    )
    _require_prices(gathered)
    items = [item for tool in tools.values() for item in tool(gathered)]
    return _sealed(gathered, (*items, *extra(gathered)))


def recorded(source: EvidenceSource) -> Supplier:
    """A source of recorded data as a supplier."""
    return partial(supply, source)


def supply(source: EvidenceSource, calendar: Calendar, instrument: Instrument, as_of: datetime, session: date) -> Supplied:
    """One source's admitted records, or why there are none. A fault in an admitted row fails the whole supply."""
    if source.supplies == "fundamentals" and instrument.kind in WITHOUT_STATEMENTS:
        return Supplied(source.name, Status.NOT_APPLICABLE, note=f"{instrument.symbol} files no statements of its own")
    try:
        raw = source.fetch(instrument)
        if raw is None:
            return Supplied(source.name, Status.EMPTY, note=f"{source.name} has no {source.supplies} of {instrument.symbol}")
        records = admit(source.parse(raw, instrument, calendar), as_of, session)
    except SourceFault as fault:
        return Supplied(source.name, Status.FAILED, note=fault.message)
    return _judged(source, instrument, records)


def _judged(source: EvidenceSource, instrument: Instrument, records: Records) -> Supplied:
    if records.faults:
        first, more = records.faults[0], len(records.faults) - 1
        note = f"{first.where}: {first.message}" + (f" (and {more} more rows)" if more else "")
        return Supplied(source.name, Status.FAILED, note=note)
    if not (records.bars or records.facts or records.articles or records.coming):
        note = f"{source.name} has no {source.supplies} of {instrument.symbol} before this instant"
        return Supplied(source.name, Status.EMPTY, records, note)
    return Supplied(source.name, Status.OK, records)


def _require_prices(gathered: Gathered) -> None:
    prices = gathered.prices
    if prices.status is Status.OK or (prices.status in WITH_BARS and prices.records.bars):
        return
    message = f"no usable prices of {gathered.ticker} at {gathered.as_of.isoformat()}: {gathered.prices.note}"
    fix = "choose a later --as-of" if gathered.prices.status is Status.EMPTY else "see `alphaagent data status` for what is missing or failed"
    raise NoEvidence(message, fix=fix)


def _sealed(gathered: Gathered, items: tuple[EvidenceItem, ...]) -> EvidencePack:
    late = [item.id for item in items if item.known_at >= gathered.as_of]
    if late:
        raise AssertionError(f"evidence known at or after as_of reached the pack: {late}")
    pack = EvidencePack(
        ticker=gathered.ticker,
        instrument_id=gathered.instrument.id,
        as_of=gathered.as_of,
        session=gathered.session.isoformat(),
        items=items,
    )
    return pack.sealed()
