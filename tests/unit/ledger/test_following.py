"""The decision after another one on the same name in the same portfolio."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from alphaagent.ledger.store import SqlStore
from alphaagent.ports import Claim
from tests import builders as build
from tests.builders import AS_OF, XYZ, SteppingClock, Waits


def test_one_walks_forth_and_back_and_stops_at_both_ends(tmp_path: Path) -> None:
    with SqlStore.open(build.database_url(tmp_path), SteppingClock()) as store:
        with store.write() as books:
            books.register(XYZ)
            books.create_portfolio("default", currency="USD", kind="paper", mandate="default", cash=Decimal(100_000), at=AS_OF - timedelta(seconds=1))
        for name in ("d-1", "d-2", "d-3"):
            claim = store.claim(name, "r", Waits())
            assert isinstance(claim, Claim)
            with store.write() as books:
                books.record_decision(claim, build.record(name), None)
        before = store.previous("d-3")
        assert before is not None
        assert before.record.decision_id == "d-2"
        assert [store.following(name) for name in ("d-1", "d-2", "d-3", "d-0")] == ["d-2", "d-3", None, None]
