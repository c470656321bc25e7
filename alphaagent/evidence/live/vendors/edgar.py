"""What companies filed, from the SEC's EDGAR: every fact of every filing, each with the day on which it was filed.

Chosen on purpose: a fact counts from the open of the session after its filing date, as in the recorded snapshot, and goes by its period's dates
alone; `fy` and `fp` describe the filing and are not read. Of the document only the concepts that some measure uses are taken, whatever the form.
A period that its own filing cannot know of (it ends after the filing date, or before it begins) is the filer's slip and is left out.
"""

import json
import re
from collections.abc import Callable, Hashable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from alphaagent.domain.market import Fact, Instrument, Records, RowFault
from alphaagent.errors import VendorFault
from alphaagent.evidence.fundamentals import CONCEPTS
from alphaagent.evidence.gather import WITHOUT_STATEMENTS
from alphaagent.evidence.live.vendor import Fetched, Seen, Topic
from alphaagent.evidence.live.wire import Wire
from alphaagent.evidence.sources.snapshot_rows import ACCESSION, open_after
from alphaagent.evidence.sources.table import BadRow, Row, shown
from alphaagent.ports import Calendar

ADDRESS = "https://data.sec.gov"
TAXONOMIES = ("us-gaap", "ifrs-full")
USED = frozenset(concept for concepts in CONCEPTS.values() for concept in concepts)
LARGEST_VALUE = Decimal(10) ** 18
SMALLEST_EXPONENT = -30
_UNIT = re.compile(r"[A-Z]{3}|shares|[A-Z]{3}/shares")
_CIK = re.compile(r"[0-9]{1,10}")
_CONTACT_FIX = "set data.contact in alphaagent.yaml to a name and an e-mail address, as the SEC asks"
_REFUSED_FIX = "check data.contact; the SEC also refuses for ten minutes whoever asks too often"


class EdgarFacts:
    """A Vendor of fundamentals. `contact` is what the wire's user agent carries; without one the SEC is not asked."""

    name = "edgar"
    topic: Topic = "fundamentals"

    def __init__(self, wire: Wire, address: str, contact: str | None) -> None:
        self._wire = wire
        self._address = address
        self._contact = contact

    def not_asked(self, instrument: Instrument) -> str | None:
        if instrument.kind in WITHOUT_STATEMENTS:
            return f"{instrument.symbol} files no statements of its own"
        return without_number(instrument)

    def fetch(self, instrument: Instrument, before: Seen | None) -> Fetched | None:
        number = cik_of(instrument)
        url = f"{self._address}/api/xbrl/companyfacts/CIK{number}.json"
        return ask(self._wire, self._contact, url, before, lambda raw: facts_document(raw, number))

    def parse(self, raw: bytes, instrument: Instrument, calendar: Calendar, fetched_at: datetime) -> Records:  # noqa: ARG002 - every fact is dated
        found = _Parsing(calendar)
        for concept, unit, number, row in _rows(facts_document(raw, cik_of(instrument))):
            found.take(concept, unit, f"{concept} in {unit}, row {number}", row)
        ordered = sorted(found.facts.values(), key=lambda fact: fact.known_at)
        return Records(facts=tuple(ordered), faults=tuple(found.faults))


def without_number(instrument: Instrument) -> str | None:
    """Why a company cannot be looked up with the SEC; None where it can."""
    if instrument.cik is None:
        return f"no SEC number of {instrument.symbol} is known"
    return None if _CIK.fullmatch(instrument.cik) else f"the SEC number of {instrument.symbol}, {shown(instrument.cik)}, is no number"


def cik_of(instrument: Instrument) -> str:
    """The SEC number in ten digits. Raises VendorFault where there is none."""
    reason = without_number(instrument)
    if reason is not None:
        raise VendorFault("not_configured", reason, fix="state its cik in instruments.yaml")
    return str(instrument.cik).zfill(10)


def ask(wire: Wire, contact: str | None, url: str, before: Seen | None, agreed: Callable[[bytes], object]) -> Fetched | None:
    """One document of the SEC; `agreed` raises VendorFault where its shape is another. Raises VendorFault."""
    if contact is None:
        raise VendorFault("not_configured", "the SEC is not asked: nobody is named whom it could write to", fix=_CONTACT_FIX)
    validators = {} if before is None else before.validators
    try:
        answer = wire.get(url, validators, accept="application/json")
    except VendorFault as fault:
        if fault.kind != "refused":
            raise
        raise VendorFault("refused", fault.message, fix=_REFUSED_FIX) from None
    if answer is None:
        return None
    if not answer.unchanged:
        agreed(answer.body)
        return Fetched(answer.body, answer.validators)
    if before is None:
        raise VendorFault("malformed", "edgar says that nothing has changed, and was not asked whether it has")
    return Fetched(None, {**validators, **answer.validators})


def read_json(raw: bytes) -> Any:
    """A document of the SEC, its decimals exact. Raises VendorFault on what is no JSON."""
    try:
        return json.loads(raw.decode("utf-8"), parse_float=Decimal, parse_constant=_no_number)
    except (ValueError, ArithmeticError, RecursionError) as fault:
        raise VendorFault("malformed", f"edgar's document is no JSON: {str(fault)[:120]}", fix="try again later") from None


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


def other_shape(what: str) -> VendorFault:
    return VendorFault("schema", f"edgar's document has another shape than agreed: {what}", fix="look for a newer release that knows the new shape")


def facts_document(raw: bytes, number: str) -> Mapping[str, Any]:
    """The facts by taxonomy and concept. Raises VendorFault where it is no document of this company's facts."""
    document = read_json(raw)
    facts = document.get("facts") if isinstance(document, dict) else None
    if not isinstance(facts, dict):
        raise other_shape("it has no facts")
    if str(document.get("cik")).zfill(10) != number:
        raise other_shape(f"it is of the company {shown(str(document.get('cik')))}, not {number}")
    for taxonomy in TAXONOMIES:
        concepts = facts.get(taxonomy, {})
        used = [concept for name, concept in concepts.items() if name in USED] if isinstance(concepts, dict) else [None]
        if not all(isinstance(concept, dict) and isinstance(concept.get("units"), dict) for concept in used):
            raise other_shape(f"its {taxonomy} facts have no units")
    return facts


def _rows(facts: Mapping[str, Any]) -> Iterator[tuple[str, str, int, Any]]:
    """Every row that some measure can use: its concept, its unit, its place and itself."""
    for taxonomy in TAXONOMIES:
        concepts = facts.get(taxonomy, {})
        for concept in (name for name in concepts if name in USED):
            for unit, rows in concepts[concept]["units"].items():
                if not isinstance(rows, list):
                    raise other_shape(f"{concept} has no list of facts")
                if _UNIT.fullmatch(unit):
                    yield from ((concept, unit, number, row) for number, row in enumerate(rows, start=1))


class _Parsing:
    """The facts read so far, by what makes each the same as another, and what is wrong with the others."""

    def __init__(self, calendar: Calendar) -> None:
        self.facts: dict[Hashable, Fact] = {}
        self.faults: list[RowFault] = []
        self._calendar = calendar
        self._opens: dict[date, datetime] = {}

    def take(self, concept: str, unit: str, where: str, fields: Any) -> None:
        row = Row(where, {key: str(value) for key, value in fields.items() if value is not None} if isinstance(fields, dict) else {})
        try:
            fact = self._fact(concept, unit, row, fields)
        except BadRow as bad:
            self._blame(row, str(bad))
            return
        if fact is not None:
            key = (concept, unit, fact.start, fact.end, fact.filed, fact.accession)
            if self.facts.setdefault(key, fact) != fact:
                self._blame(row, f"one filing states two values for the period to {fact.end}")

    def _fact(self, concept: str, unit: str, row: Row, fields: Any) -> Fact | None:
        """The fact of a row; None where its period cannot be right or the calendar does not reach the session after its filing."""
        missing = [key for key in ("end", "filed", "form", "accn") if key not in row.fields]
        if missing:
            raise BadRow(f"the row has no {' and no '.join(missing)}")
        start = row.day("start") if "start" in row.fields else None
        end, filed = row.day("end"), row.day("filed")
        form, accession = row.text("form", r"[0-9A-Z][0-9A-Z/ -]*"), row.text("accn", ACCESSION)
        value = _value(fields.get("val"))
        if end > filed or (start is not None and start > end) or filed >= self._calendar.last:
            return None
        return Fact(concept, unit, start, end, value, filed, form, accession, self._opens_after(filed))

    def _opens_after(self, filed: date) -> datetime:
        if filed not in self._opens:
            self._opens[filed] = open_after(filed, self._calendar)
        return self._opens[filed]

    def _blame(self, row: Row, message: str) -> None:
        fault = row.fault(message, "filed")
        known_at = None if fault.session is None or fault.session >= self._calendar.last else self._opens_after(fault.session)
        self.faults.append(RowFault(fault.where, fault.message, fault.session, known_at))


def _value(stated: Any) -> Decimal:
    if isinstance(stated, bool) or not isinstance(stated, int | Decimal):
        raise BadRow(f"val {shown(str(stated))} is not a number")
    value = Decimal(stated)
    exponent = value.as_tuple().exponent
    if abs(value) >= LARGEST_VALUE or not isinstance(exponent, int) or exponent < SMALLEST_EXPONENT:
        raise BadRow(f"val {shown(str(stated))} is out of all bounds")
    return value
