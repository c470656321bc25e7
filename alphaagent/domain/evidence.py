"""Evidence: what the desk knew, when it became known, who may see it, and whether the tool that fetched it worked."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from alphaagent.domain.base import Frozen, Instant, fingerprint, plain

Side = Literal["bull", "bear", "cio"]
ToolName = Literal["get_price_history", "get_financial_health", "get_news_sentiment", "get_market_price", "get_portfolio"]

SIDES: dict[ToolName, tuple[Side, ...]] = {
    "get_price_history": ("bull", "bear"),
    "get_news_sentiment": ("bull", "bear"),
    "get_financial_health": ("bear",),
    "get_market_price": ("cio",),
    "get_portfolio": ("cio",),
}
"""Which side holds which tool. The bull has no fundamentals on purpose: the two argue from unequal tools."""
BESIDE: frozenset[str] = frozenset({"earnings_date", "ex_dividend", "last_price", "second_source"})
"""Kinds that stand beside what a tool measures: they carry no weight, and without them the tool has still answered."""


class Status(StrEnum):
    """How the fetch behind an item ended. `empty` and a neutral reading are different things everywhere."""

    OK = "ok"
    EMPTY = "empty"
    FAILED = "failed"
    STALE = "stale"
    CONFLICT = "conflict"
    NOT_APPLICABLE = "not_applicable"


class EvidenceItem(Frozen):
    """One citable piece of evidence. `payload` holds strings, integers, booleans, null, lists and objects only."""

    id: str = Field(pattern=r"^ev_[0-9a-f]{12}$")
    tool: ToolName
    kind: str
    """Which measure of the tool, e.g. `momentum`; unique in a pack but for headlines and filings."""
    sides: tuple[Side, ...]
    as_of: Instant
    """Event time: the close, the period's end or the publication that the item speaks of."""
    known_at: Instant
    published_at: Instant | None = None
    source: str
    status: Status
    summary: str
    """One line for a reader, made from the payload alone."""
    payload: dict[str, Any]


def evidence_item(
    *,
    decision_as_of: datetime,
    ticker: str,
    tool: ToolName,
    kind: str,
    event_at: datetime,
    known_at: datetime,
    source: str,
    status: Status,
    summary: str,
    payload: dict[str, Any],
    published_at: datetime | None = None,
) -> EvidenceItem:
    """An item whose id is `ev_` and 12 hex of the SHA-256 of tool, arguments, payload and the decision's as_of."""
    digest = fingerprint([tool, {"ticker": ticker, "kind": kind}, payload, decision_as_of])
    return EvidenceItem(
        id=f"ev_{digest[:12]}",
        tool=tool,
        kind=kind,
        sides=SIDES[tool],
        as_of=event_at,
        known_at=known_at,
        published_at=published_at,
        source=source,
        status=status,
        summary=summary,
        payload=payload,
    )


class EvidencePack(Frozen):
    """All evidence of one decision, frozen. `sha256` covers every other field."""

    schema_version: Literal[1] = 1
    ticker: str
    instrument_id: str
    as_of: Instant
    session: str
    """ISO date of the last session completed at as_of."""
    items: tuple[EvidenceItem, ...]
    sha256: str = ""

    def digest(self) -> str:
        """The SHA-256 that `sha256` must equal."""
        return fingerprint({key: value for key, value in self.fields().items() if key != "sha256"})

    def fields(self) -> dict[str, Any]:
        """The pack as plain JSON values."""
        return dict(plain(self))  # type: ignore[arg-type]

    def sealed(self) -> "EvidencePack":
        """The same pack with its hash filled in."""
        return self.model_copy(update={"sha256": self.digest()})

    def visible_to(self, side: Side) -> tuple[EvidenceItem, ...]:
        """The items that one side may see, in pack order."""
        return tuple(item for item in self.items if side in item.sides)

    def find(self, tool: ToolName, kind: str | None = None) -> tuple[EvidenceItem, ...]:
        """The items of one tool, or of one measure of it."""
        return tuple(item for item in self.items if item.tool == tool and kind in (None, item.kind))
