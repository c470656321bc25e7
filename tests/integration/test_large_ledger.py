"""A book of some thousand decisions: it is sound, its pages cost little, and its outcomes are all there. The bounds are generous."""

from collections import Counter
from collections.abc import Callable
from time import perf_counter

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.ledger.listing import DecisionFilter
from alphaagent.ledger.verify import verify
from alphaagent.operations import review
from alphaagent.operations.outcomes import gather
from tests.benchmarks.dashboard import FILTERS
from tests.large_ledger import make

DECISIONS, TICKERS = 5000, 25
SECONDS = 2.0
"""Of anything that a page asks; on an idle machine it takes a hundredth."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return make(tmp_path_factory.mktemp("large"), DECISIONS, tickers=TICKERS)


def quick(action: Callable[[], object]) -> None:
    begun = perf_counter()
    action()
    assert perf_counter() - begun < SECONDS


def test_the_book_is_what_the_program_would_have_written(place: Workplace) -> None:
    assert verify(place.settings.database_url).findings == ()
    newest = place.stored_decision("last")
    assert newest.record.decision_id == f"dec_{DECISIONS - 1:016x}"


@pytest.mark.parametrize("name", FILTERS)
def test_a_page_and_its_count_take_little(place: Workplace, name: str) -> None:
    store = place.required_store()
    quick(lambda: store.decision_rows(FILTERS[name], 50))
    quick(lambda: store.decision_count(FILTERS[name]))


def test_the_last_page_is_as_near_as_the_first(place: Workplace) -> None:
    store = place.required_store()
    quick(lambda: store.decision_rows(DecisionFilter(), 50, DECISIONS - 50))
    assert store.decision_rows(DecisionFilter(), 50, DECISIONS - 50)[-1]["decision_id"] == "dec_0000000000000000"


def test_pages_of_a_filter_have_every_decision_once(place: Workplace) -> None:
    store, wanted = place.required_store(), DecisionFilter(debate_class="earned")
    found = [row["decision_id"] for offset in range(0, DECISIONS, 200) for row in store.decision_rows(wanted, 200, offset)]
    assert (len(found), len({*found})) == (store.decision_count(wanted),) * 2


def test_no_index_is_missing_for_the_guards_reasons_and_the_events(place: Workplace) -> None:
    days = review.span(place)
    assert days is not None
    quick(lambda: review.rulings(place, *days))
    assert sum(count for *_, count in review.rulings(place, *days)) == DECISIONS
    events, total = review.events(place, ("failure",), 5, 0)
    assert (len(events), total) == (5, DECISIONS // 500)
    assert [seq for seq, _ in events] == sorted((seq for seq, _ in events), reverse=True)


def test_every_decision_has_an_outcome_or_a_reason(place: Workplace) -> None:
    found = gather(place)
    states = Counter(one.state for one in found)
    assert (len(found), states["resolved"] + states["no_action"]) == (DECISIONS, DECISIONS)
    assert [one.decided.seq for one in found] == sorted((one.decided.seq for one in found), reverse=True)
