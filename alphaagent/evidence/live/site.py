"""What a vendor is made with: its own place in the configuration, the gate before it, and a way to the web."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.evidence.live.vendor import Vendor

if TYPE_CHECKING:
    from alphaagent.evidence.live.wire import Wire

PROGRAM = "AlphaAgent"
SEC = "sec.gov"
SEC_HOSTS = ("data.sec.gov", "www.sec.gov")
"""Whoever is told of the contact is never followed to anybody else."""


class Closing(Protocol):
    """What holds connections."""

    def close(self) -> None: ...


Made = TypeVar("Made", bound=Closing)


@dataclass(frozen=True, slots=True)
class Site:
    """One vendor's."""

    gate: Gate
    folder: Path
    """Where it may keep what its library insists on keeping."""
    contact: str | None
    """Whom the SEC may write to; nobody else is told."""
    key: str | None
    """What it asks for as a key, where it asks for one and the user has one."""
    feeds: Mapping[str, Any]
    """feeds.yaml."""
    feeds_path: str
    sleep: Callable[[float], None]
    open_things: list[Closing] = field(default_factory=list, compare=False)
    """What was made here and holds connections."""

    @property
    def limits(self) -> VendorLimits:
        return self.gate.limits

    def address(self, own: str) -> str:
        """The configured address, or the vendor's own."""
        return self.limits.address or own

    def wire(self, hosts: tuple[str, ...] = ()) -> "Wire":
        """A way to the vendor's hosts, which says who is asking."""
        from alphaagent.evidence.live.wire import Wire  # loads an HTTP library, which recorded data do not need

        return self.kept(Wire(self.gate, self._named(all(map(is_the_sec, hosts)) and bool(hosts)), hosts))

    def wire_of(self, host: str) -> "Wire":
        """A way to one host of several, with limits and rests of its own."""
        from alphaagent.evidence.live.wire import Wire

        gate = self.kept(Gate(host, self.limits, self.sleep))
        return self.kept(Wire(gate, self._named(is_the_sec(host)), SEC_HOSTS if is_the_sec(host) else ()))

    def kept(self, made: Made) -> Made:
        """The same, to be closed with everything else of this vendor."""
        self.open_things.append(made)
        return made

    def close(self) -> None:
        """Ends every connection to the vendor; another request makes new ones."""
        for made in (*self.open_things, self.gate):
            made.close()

    def _named(self, to_the_sec: bool) -> str:
        return f"{PROGRAM} ({self.contact})" if self.contact and to_the_sec else PROGRAM


def is_the_sec(host: str) -> bool:
    """Whether a host is one of the SEC's, which asks who is asking."""
    return host == SEC or host.endswith(f".{SEC}")


MakeVendors = Callable[[Site], tuple[Vendor, ...]]
"""All topics of one vendor, the preferred first."""
