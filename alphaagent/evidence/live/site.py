"""What a vendor is made with: its own place in the configuration, the gate before it, and a way to the web."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.evidence.live.vendor import Vendor

if TYPE_CHECKING:
    from alphaagent.evidence.live.wire import Wire

PROGRAM = "AlphaAgent"


@dataclass(frozen=True, slots=True)
class Site:
    """One vendor's."""

    gate: Gate
    folder: Path
    """Where it may keep what its library insists on keeping."""
    contact: str | None
    """Whom it may write to; None where nobody is named."""
    key: str | None
    """What it asks for as a key, where it asks for one and the user has one."""
    feeds: Mapping[str, Any]
    """feeds.yaml."""
    feeds_path: str
    sleep: Callable[[float], None]

    @property
    def limits(self) -> VendorLimits:
        return self.gate.limits

    def address(self, own: str) -> str:
        """The configured address, or the vendor's own."""
        return self.limits.address or own

    def wire(self, hosts: tuple[str, ...] = ()) -> "Wire":
        """A way to the vendor's hosts, which says who is asking."""
        from alphaagent.evidence.live.wire import Wire  # loads an HTTP library, which recorded data do not need

        return Wire(self.gate, self._named(), hosts)

    def wire_of(self, host: str) -> "Wire":
        """A way to one host of several, with limits and rests of its own."""
        from alphaagent.evidence.live.wire import Wire

        return Wire(Gate(host, self.limits, self.sleep), self._named())

    def _named(self) -> str:
        return f"{PROGRAM} ({self.contact})" if self.contact else PROGRAM


MakeVendors = Callable[[Site], tuple[Vendor, ...]]
"""All topics of one vendor, the preferred first."""
