"""One request, one decision: a slot is decided once, however many ask, and a failed run gives it back."""

from alphaagent.bootstrap import Workplace
from alphaagent.ports import Claim
from tests.home import Home, finish, start

PROCESSES = 4
AS_OF = "2020-08-03"


def test_processes_at_once_make_one_decision_and_one_order(home: Home) -> None:
    running = [start(home.folder, "decide", "AAPL", "--as-of", AS_OF, "--json") for _ in range(PROCESSES)]
    ran = [finish(process) for process in running]
    assert [one.code for one in ran] == [0] * PROCESSES, [one.err for one in ran]
    documents = [one.document for one in ran]
    assert sorted(document["stored"] for document in documents) == [False] + [True] * (PROCESSES - 1)
    assert [document | {"stored": None} for document in documents] == [documents[0] | {"stored": None}] * PROCESSES
    counts = home.counts()
    assert (counts["decision"], counts["orders"], counts["guard_result"], counts["run_slot"], counts["portfolio"]) == (1, 1, 1, 1, 1)
    assert home.run("audit", "verify").code == 0


def test_the_same_request_again_returns_the_stored_decision(home: Home) -> None:
    first = home.decide("AAPL", AS_OF)
    before = home.counts()
    assert home.decide("AAPL", AS_OF) == first | {"stored": True}
    assert home.counts() == before


def test_a_stored_decision_comes_back_with_what_became_of_its_order(home: Home) -> None:
    first = home.decide("AAPL", AS_OF)
    home.settle("2020-08-04")
    again = home.decide("AAPL", AS_OF)
    assert (first["order"]["status"], again["order"]["status"]) == ("pending", "filled")
    assert again["decision_id"] == first["decision_id"]


def test_another_instant_of_the_same_session_is_the_same_slot(home: Home) -> None:
    first = home.decide("AAPL", AS_OF)
    assert home.decide("AAPL", "2020-08-04T12:00:00Z") == first | {"stored": True}


def test_another_engine_for_a_taken_slot_is_refused_and_names_the_decision(home: Home) -> None:
    first = home.decide("AAPL", AS_OF)
    before = home.counts()
    ran = home.run("decide", "AAPL", "--as-of", AS_OF, "--engine", "heuristic", "--json")
    assert ran.code == 2
    assert first["decision_id"] in ran.document["error"]["message"]
    assert first["decision_id"] in ran.err
    assert "--slot" in ran.err
    assert home.counts() == before


def test_another_configuration_for_a_taken_slot_is_refused(home: Home) -> None:
    first = home.decide("AAPL", AS_OF)
    home.own_config("alphaagent.yaml", lambda text: text.replace("slippage_bps: 5", "slippage_bps: 6"))
    ran = home.run("decide", "AAPL", "--as-of", AS_OF)
    assert ran.code == 2
    assert first["decision_id"] in ran.err


def test_another_slot_makes_another_decision(home: Home) -> None:
    first, second = home.decide("AAPL", AS_OF), home.decide("AAPL", AS_OF, "--slot", "noon")
    assert second["stored"] is False
    assert second["decision_id"] != first["decision_id"]
    assert home.counts()["decision"] == 2


def test_another_slot_counts_the_pending_order_of_the_first(home: Home) -> None:
    """Two slots must not buy the same target twice."""
    first, second = home.decide("AAPL", AS_OF), home.decide("AAPL", AS_OF, "--slot", "noon")
    assert first["proposal"]["action"] == "BUY"
    assert second["order"] is None


def test_another_portfolio_has_its_own_slot(home: Home) -> None:
    home.ok("portfolio", "create", "other", "--as-of", "2020-07-31")
    first, second = home.decide("AAPL", AS_OF), home.decide("AAPL", AS_OF, "--portfolio", "other")
    assert second["stored"] is False
    assert second["decision_id"] != first["decision_id"]


def test_a_failed_run_gives_its_slot_back(home: Home) -> None:
    bars = home.own_snapshot() / "bars" / "AAPL.csv"
    sound = bars.read_bytes()
    bars.write_bytes(b"date,open\n")
    assert home.run("decide", "AAPL", "--as-of", AS_OF).code == 3
    assert home.counts()["run_slot"] == 0
    bars.write_bytes(sound)
    assert home.decide("AAPL", AS_OF)["stored"] is False


def test_the_slot_of_a_run_that_died_is_taken_over(home: Home) -> None:
    dead = start(home.folder, "--version")
    finish(dead)
    home.decide("AAPL", AS_OF)
    columns = "key, request_hash, state, token, host, pid, process_start, claimed_at"
    home.sql(f"INSERT INTO run_slot ({columns}) SELECT 'held', request_hash, 'claimed', 't', host, ?, process_start, claimed_at FROM run_slot", dead.pid)
    with Workplace.open().store() as store:
        assert isinstance(store.claim("held", "another request", impatient), Claim)


def impatient(seconds: float) -> None:
    raise AssertionError("the slot of a dead process was waited for")


def test_a_run_that_waits_too_long_for_another_gives_up(home: Home) -> None:
    home.own_config("alphaagent.yaml", lambda text: text.replace("wait_seconds: 60", "wait_seconds: 0"))
    home.decide("AAPL", AS_OF)
    home.sql("UPDATE run_slot SET state = 'claimed', decision_id = NULL")
    ran = home.run("decide", "AAPL", "--as-of", AS_OF)
    assert ran.code == 2
    assert "another run" in ran.err
    assert home.counts()["decision"] == 1
