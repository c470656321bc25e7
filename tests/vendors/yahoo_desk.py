"""What the tests of Yahoo's classes share: sessions on a played server, closed afterwards, and instruments."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from alphaagent.domain.market import Instrument
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits
from alphaagent.evidence.live.vendors.yahoo import YahooDirectory, YahooEvents, YahooPrices, YahooSession, YahooStatements
from tests.vendors.server import VendorServer, serving
from tests.vendors.yahoo import YahooPlayer

NOW = datetime(2023, 9, 1, 22, tzinfo=UTC)
"""After the close of a Friday."""
ACME = Instrument(id="XNAS:ACME", symbol="ACME", name="Acme Corporation", mic="XNAS", currency="USD", kind="common")


@dataclass
class YahooDesk:
    """Every class of Yahoo's over one session that asks a server on this machine."""

    server: VendorServer
    player: YahooPlayer
    session: YahooSession
    waited: list[float] = field(default_factory=list)

    @property
    def prices(self) -> YahooPrices:
        return YahooPrices(self.session)

    @property
    def events(self) -> YahooEvents:
        return YahooEvents(self.session)

    @property
    def statements(self) -> YahooStatements:
        return YahooStatements(self.session)

    @property
    def directory(self) -> YahooDirectory:
        return YahooDirectory(self.session)


@contextmanager
def yahoo_desk(folder: Path, now: datetime = NOW, **limits: object) -> Iterator[YahooDesk]:
    player, waited = YahooPlayer(now), []
    with serving(player) as server:
        settings = {"address": server.address, "requests_per_second": 50, "seconds": 1, "megabytes": 2, "attempts": 1, "failures_to_rest": 100}
        session = YahooSession(Gate("yahoo", VendorLimits.model_validate(settings | limits), waited.append), folder)
        try:
            yield YahooDesk(server, player, session, waited)
        finally:
            session.close()
