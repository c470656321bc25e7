"""One pass over the outbox, with carriers that do as they are told."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alphaagent.domain.notice import TOPICS, Notice
from alphaagent.ledger.outbox import MOST_TRIES
from alphaagent.ledger.store import SqlStore
from alphaagent.notify import sender
from alphaagent.notify.message import Message
from alphaagent.notify.sender import PAUSES_SECONDS, Drained, drain
from tests.builders import SteppingClock, database_url

KNOWN = ("chat", "mail")
Carried = list[tuple[str, str]]


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def store(tmp_path: Path, clock: SteppingClock) -> Iterator[SqlStore]:
    with SqlStore.open(database_url(tmp_path), clock, routes={"digest": ("chat", "mail")}) as opened:
        for n in range(3):
            opened.outbox.announce(Notice("digest", f"digest:{n}", {"title": f"t{n}"}))
        yield opened


def carriers(carried: Carried, refuses: Callable[[str, str], bool] = lambda target, title: False) -> dict[str, sender.Carrier]:
    def carrier(target: str) -> sender.Carrier:
        def carry(message: Message) -> str | None:
            carried.append((target, message.title))
            return "refused" if refuses(target, message.title) else None

        return carry

    return {target: carrier(target) for target in KNOWN}


def test_everything_is_sent_once_in_order(store: SqlStore) -> None:
    carried: Carried = []
    assert drain(store.outbox, carriers(carried), TOPICS, KNOWN) == Drained(6)
    assert carried == [(target, f"t{n}") for n in range(3) for target in ("chat", "mail")]
    assert drain(store.outbox, carriers(carried), TOPICS, KNOWN) == Drained(0)


def test_a_target_that_does_not_answer_is_asked_once_in_a_pass_and_holds_up_nobody(store: SqlStore) -> None:
    carried: Carried = []
    done = drain(store.outbox, carriers(carried, lambda target, _: target == "chat"), TOPICS, KNOWN)
    assert (done.sent, done.failed) == (3, ("chat: refused",))
    assert [target for target, _ in carried] == ["chat", "mail", "mail", "mail"]


def test_poison_is_given_up_after_eight_tries_and_what_follows_it_arrives(store: SqlStore, clock: SteppingClock) -> None:
    carried: Carried = []
    passes = []
    for pause in PAUSES_SECONDS:
        passes.append(drain(store.outbox, carriers(carried, lambda target, title: (target, title) == ("chat", "t0")), TOPICS, KNOWN))
        clock.advance(pause)
    assert carried.count(("chat", "t0")) == MOST_TRIES == len(PAUSES_SECONDS)
    assert [done.buried for done in passes] == [0] * 7 + [1]
    assert sorted(set(carried) - {("chat", "t0")}) == [("chat", "t1"), ("chat", "t2"), ("mail", "t0"), ("mail", "t1"), ("mail", "t2")]
    assert len(carried) == MOST_TRIES + 5
    assert store.outbox.counts()["chat"] == {"waiting": 0, "sent": 2, "dead": 1}


def test_a_night_without_a_network_loses_nothing(store: SqlStore, clock: SteppingClock) -> None:
    carried: Carried = []
    for _ in range(12 * 12):
        drain(store.outbox, carriers(carried, lambda *_: True), TOPICS, KNOWN)
        clock.advance(300)
    assert store.outbox.counts()["chat"]["dead"] == 0
    clock.advance(max(PAUSES_SECONDS))
    assert drain(store.outbox, carriers(carried), TOPICS, KNOWN).sent == 6


def test_a_sender_that_is_killed_between_sending_and_marking_repeats_and_loses_nothing(store: SqlStore, clock: SteppingClock) -> None:
    carried: Carried = []

    class Killed(BaseException):
        pass

    def killed_after_sending(message: Message) -> str | None:
        carried.append(("chat", message.title))
        raise Killed

    for _ in range(3):
        with pytest.raises(Killed):
            drain(store.outbox, {"chat": killed_after_sending}, TOPICS, KNOWN)
    clock.advance(sender.LEASE_SECONDS)
    drain(store.outbox, {"chat": carriers(carried)["chat"]}, TOPICS, KNOWN)
    assert carried == [("chat", f"t{n}") for n in (0, 1, 2, 0, 1, 2)]


def test_a_pass_has_an_end(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "MOST_IN_ONE_PASS", 4)
    carried: Carried = []
    assert [drain(store.outbox, carriers(carried), TOPICS, KNOWN).sent for _ in range(3)] == [4, 2, 0]


def test_only_the_topics_of_the_hour_are_sent(store: SqlStore) -> None:
    carried: Carried = []
    assert drain(store.outbox, carriers(carried), ("control", "failure"), KNOWN) == Drained(0)
    assert carried == []
