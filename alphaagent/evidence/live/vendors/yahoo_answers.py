"""What an answer of Yahoo's means, judged before the library reads it. Pure.

The library makes an empty table of nearly everything that goes wrong, and calls it "possibly delisted". So each answer is told apart here, by its
status and by the vendor's own error document: only a document that says `Not Found` is an absence.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from alphaagent.domain.waiting import retry_after
from alphaagent.errors import VendorFault
from alphaagent.evidence.live.vendors.yahoo_markets import VENDOR
from alphaagent.evidence.live.wire import refusal

ENVELOPES = {
    "/v8/finance/chart/": "chart",
    "/v10/finance/quoteSummary/": "quoteSummary",
    "/v7/finance/quote": "quoteResponse",
    "/ws/fundamentals-timeseries/": "timeseries",
}
"""The addresses that documents come from, and the one key that each of their documents has. All others are there to get a cookie."""
CRUMB = "/v1/test/getcrumb"
TOO_MANY = (429, 999)
NOT_ALLOWED = (401, 403)
NOT_THERE = 404
_CRUMB = re.compile(r"[!-;=?-z|~]{1,64}", re.ASCII)
_MAY_SAY = 120


class NotThere(Exception):
    """Yahoo's own document says that it knows nothing under this name."""


@dataclass
class Visit:
    """The requests that one document takes, and what came of them."""

    documents: list[tuple[str, Any]] = field(default_factory=list)
    """Each answer that was a document, with its envelope's key: what Yahoo wrote, as far as JSON keeps it."""
    ended: VendorFault | NotThere | None = None
    """Why nothing more is asked in this visit."""
    requests: int = 0
    refused: bool = False
    throttled: VendorFault | None = None
    asked: dict[str, int] = field(default_factory=dict)
    """How often each address that is no document's was asked."""


def envelope_of(path: str) -> str | None:
    """The key of a document's envelope; None for an address that no document comes from."""
    return next((key for start, key in ENVELOPES.items() if path.startswith(start)), None)


def is_crumb(status: int, body: bytes) -> bool:
    """Whether an answer is a crumb: the library would take a page of HTML, or the words `Too Many Requests`, for one and send it along."""
    return status == 200 and _CRUMB.fullmatch(body.decode("latin-1")) is not None


def throttling(status: int, headers: Mapping[str, str], body: bytes) -> VendorFault | None:
    """The fault where an answer says that we ask too often, whatever its status."""
    if status in TOO_MANY or (len(body) < 1_000 and b"Too Many Requests" in body):
        return refusal(VENDOR, 429, retry_after(headers))
    return None


def document_of(envelope: str, status: int, headers: Mapping[str, str], body: bytes) -> Any:
    """The document in an answer. Raises NotThere, or VendorFault of the kind that the answer is."""
    if throttled := throttling(status, headers, body):
        raise throttled
    if status >= 500 or b"Will be right back" in body:
        raise refusal(VENDOR, max(status, 500), retry_after(headers))
    if status in NOT_ALLOWED:
        raise refusal(VENDOR, status)
    document = _json(body, status)
    if error := _error_of(document, envelope):
        raise _stated(error, status)
    if status != 200:
        raise refusal(VENDOR, status)
    content = document.get(envelope) if isinstance(document, dict) else None
    if not isinstance(content, dict) or not isinstance(content.get("result"), list):
        raise VendorFault("schema", f"{VENDOR}'s answer has no list of results under {envelope!r}", fix="see the wiki's Live-Data page")
    return document


def _json(body: bytes, status: int) -> Any:
    if not body.strip():
        raise VendorFault("malformed", f"{VENDOR}'s answer is empty (HTTP {status})")
    try:
        return json.loads(body.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError as fault:
        raise VendorFault("malformed", f"{VENDOR}'s answer is not UTF-8: byte {fault.start} cannot be read (HTTP {status})") from None
    except (ValueError, RecursionError):
        kind = "a page for people" if body.lstrip()[:1] == b"<" else "no whole JSON document"
        raise VendorFault("malformed", f"{VENDOR}'s answer is {kind} (HTTP {status})") from None


def _no_number(text: str) -> None:
    """The parser takes NaN and Infinity, which are no JSON and which the library's may refuse."""
    raise ValueError(f"{text} is no number")


def _error_of(document: Any, envelope: str) -> Mapping[str, Any] | None:
    """The vendor's own error, which stands in the document's envelope or in one called `finance`."""
    if not isinstance(document, dict):
        return None
    found = [document[key].get("error") for key in (envelope, "finance") if isinstance(document.get(key), dict)]
    return next((error for error in found if isinstance(error, dict)), None)


def _stated(error: Mapping[str, Any], status: int) -> VendorFault | NotThere:
    """What an error document says. Anything that is not plainly an absence is a failure."""
    code, description = str(error.get("code", "")), str(error.get("description", ""))
    said = ascii(f"{code}: {description}"[:_MAY_SAY])
    if code == "Not Found" and status in (200, NOT_THERE):
        return NotThere(said)
    if "Too Many" in code:
        return refusal(VENDOR, 429)
    if code == "Unauthorized" or "Crumb" in description:
        return VendorFault("refused", f"{VENDOR} refuses: {said}", fix="see the wiki's Live-Data page")
    if "Internal" in code or "Unavailable" in code:
        return VendorFault("unavailable", f"{VENDOR} is out of order: {said}", fix="try again later")
    return VendorFault("refused", f"{VENDOR} does not answer the question (HTTP {status}): {said}", fix="see the wiki's Live-Data page")
