"""From a decision to somebody's telephone: the outbox, Apprise over the loopback, and nothing that a message can carry out of the program."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from alphaagent.errors import AlphaAgentError
from alphaagent.operations import notifications
from tests.home import CHECKOUT, Home, finish, start
from tests.receiver import Receiver, receiving

TARGET = "targets:\n  phone:\n    url_variable: ALPHAAGENT_NOTIFY_PHONE\n"
EVERYTHING = TARGET + "    topics: [decision, order, block, control, failure]\n"
DAY = "2020-07-31"


@pytest.fixture
def receiver(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    configure(home, TARGET)
    with receiving() as one:
        monkeypatch.setenv("ALPHAAGENT_NOTIFY_PHONE", one.url)
        yield one


def configure(home: Home, text: str) -> None:
    (home.folder / "config").mkdir(exist_ok=True)
    (home.folder / "config" / "notify.yaml").write_text(text, encoding="utf-8")


def again_at_once(home: Home) -> None:
    """No pause after a failed try, and no lease of a dead sender."""
    home.sql("UPDATE outbox SET claimed_until = NULL WHERE sent_at IS NULL AND dead_at IS NULL")


def test_an_order_its_fill_and_the_kill_switch_arrive_with_their_keys(home: Home, receiver: Receiver) -> None:
    order = home.decide("NVDA", DAY)["order"]
    home.settle("2020-08-03")
    home.ok("halt", "strange prices")
    assert home.ok("notify", "send", "--json").document == {"sent": 3, "failed": [], "given_up": 0}
    assert receiver.keys()[:2] == [f"order:{order['id']}:placed", f"order:{order['id']}:filled"]
    assert [document["title"].split(" ")[0] for document in receiver.got] == ["BUY", "BUY", "HALTED"]
    assert [document["type"] for document in receiver.got] == ["info", "success", "warning"]
    assert 'heuristic: "' in receiver.got[0]["message"]
    anchors = [line.removeprefix("anchor ") for document in receiver.got for line in document["message"].split("\n") if line.startswith("anchor ")]
    (home.folder / "anchors.txt").write_text("\n".join(anchors), encoding="utf-8")
    assert home.run("audit", "verify", "--strict", "--anchor", "anchors.txt").code == 0
    assert home.ok("notify", "send").out == "0 sent\n"


def test_a_sweep_sends_what_it_made_and_prints_the_same(home: Home, receiver: Receiver) -> None:
    ran = home.ok("sweep", "--as-of", DAY, "--json")
    assert receiver.keys()[-1].startswith("sweep:")
    assert "summary" in ran.documents[-1]
    assert home.ok("notify", "send").out == "0 sent\n"


@pytest.mark.parametrize("trouble", ["refused", "busy"])
def test_a_target_that_fails_is_said_and_changes_nothing_of_a_sweep(home: Home, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, trouble: str) -> None:
    def busy(_workplace: object) -> None:
        raise AlphaAgentError("the ledger is busy")

    receiver.status = 403
    if trouble == "busy":
        monkeypatch.setattr(notifications, "send", busy)
    ran = home.run("sweep", "--as-of", DAY, "--json")
    assert (ran.code, [row["state"] for row in ran.documents[:-1]]) == (0, ["decided"] * 6)
    assert ("not sent: phone: " if trouble == "refused" else "not sent: the ledger is busy") in ran.err
    assert ran.out.count("not sent") == 0


def test_what_waits_for_a_target_that_was_removed_does_not_wait_for_ever(home: Home, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    home.decide("NVDA", DAY)
    configure(home, "targets: {}\n")
    monkeypatch.delenv("ALPHAAGENT_NOTIFY_PHONE")
    assert home.ok("notify", "send").out == "0 sent\n"
    home.sql("DROP TRIGGER outbox_no_update")
    home.sql("UPDATE outbox SET created_at = created_at - ?", 2 * 86_400_000_000)
    assert home.ok("notify", "send").out == "0 sent, 1 given up\n"
    (target,) = home.ok("notify", "list", "--json").document["targets"]
    assert (target["waiting"], target["given_up"]) == (0, 1)


def test_without_a_target_the_books_hold_no_word_and_a_later_one_hears_no_past(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.decide("NVDA", DAY)
    assert home.sql("SELECT count(*) FROM outbox") == [(0,)]
    with receiving() as late:
        monkeypatch.setenv("ALPHAAGENT_NOTIFY_PHONE", late.url)
        configure(home, TARGET)
        assert home.ok("notify", "send").out == "0 sent\n"
        home.ok("halt", "x")
        home.ok("notify", "send")
        assert [document["title"] for document in late.got] == ["HALTED by operator, before ACTIVE"]


def test_whoever_decides_does_not_load_what_sends(home: Home, receiver: Receiver) -> None:
    code = f"import sys; from alphaagent import cli; code = cli.run(['decide', 'NVDA', '--as-of', '{DAY}', '--json']); print(code, 'apprise' in sys.modules)"
    environment = {"ALPHAAGENT_HOME": str(home.folder), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == "0 False"
    assert home.ok("notify", "send").out == "1 sent\n"


def test_a_dry_run_tells_nobody(home: Home, receiver: Receiver) -> None:
    home.decide("NVDA", DAY, "--dry-run")
    assert home.ok("notify", "send").out == "0 sent\n"
    assert not home.database.exists()


def test_a_decision_and_a_failure_are_told_to_whoever_asks_for_them(home: Home, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(home, EVERYTHING)
    home.decide("AAPL", DAY)
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", "false")
    assert home.run("decide", "NVDA", "--as-of", DAY, "--engine", "crew").code == 4
    home.ok("notify", "send")
    assert [document["title"] for document in receiver.got][-1] == "NVDA: nothing was decided, PROVIDER, portfolio default"
    assert receiver.keys()[0].startswith("block:dec_")


@pytest.mark.parametrize("trouble", ["refused", "closed", "unknown kind", "not set"])
def test_a_target_that_cannot_be_reached_never_fails_a_decision_and_shows_no_address(
    home: Home, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.status = 403 if trouble == "refused" else 200
    if trouble == "closed":
        monkeypatch.setenv("ALPHAAGENT_NOTIFY_PHONE", "json://desk:hunter2@127.0.0.1:9/inbox?rto=1&cto=1")
    if trouble == "unknown kind":
        monkeypatch.setenv("ALPHAAGENT_NOTIFY_PHONE", "nosuch://desk:hunter2@example")
    if trouble == "not set":
        monkeypatch.delenv("ALPHAAGENT_NOTIFY_PHONE")
    assert home.decide("NVDA", DAY)["order"]["status"] == "pending"
    with caplog.at_level("DEBUG"):
        ran = home.run("notify", "send")
        listed = home.ok("notify", "list", "--json")
        tried = home.run("notify", "test")
    assert (ran.code, ran.out) == (0 if trouble == "not set" else 4, "0 sent\n")
    assert ("ALPHAAGENT_NOTIFY_PHONE is not set here" if trouble == "not set" else "not sent: phone: ") in ran.err
    assert tried.code == (2 if trouble == "not set" else 4)
    (target,) = listed.document["targets"]
    assert (target["waiting"], target["state"]) == (1, "not set here" if trouble == "not set" else "set")
    for text in (ran.err, tried.err, listed.out, caplog.text):
        assert "hunter2" not in text
        assert "/inbox" not in text
    assert receiver.got == []


def test_what_was_not_taken_arrives_later(home: Home, receiver: Receiver) -> None:
    home.decide("NVDA", DAY)
    receiver.status = 500
    assert home.run("notify", "send").code == 4
    assert home.ok("notify", "list").out.count("refused, or could not be reached") == 1
    receiver.status = 200
    assert home.ok("notify", "send").out == "0 sent\n", "it rests for a minute"
    again_at_once(home)
    assert home.ok("notify", "send").out == "1 sent\n"
    assert len(receiver.got) == 1


def test_poison_becomes_a_dead_letter_and_the_books_stay_sound(home: Home, receiver: Receiver) -> None:
    home.decide("NVDA", DAY)
    home.ok("halt", "x")
    receiver.refuses = "ref order:"
    for _ in range(8):
        home.run("notify", "send")
        again_at_once(home)
    ran = home.ok("notify", "list", "--json")
    assert [(one["waiting"], one["sent"], one["given_up"]) for one in ran.document["targets"]] == [(0, 1, 1)]
    assert [(one["state"], one["tries"]) for one in ran.document["unsent"]] == [("given up", 8)]
    assert home.sql("SELECT count(*) FROM audit_log WHERE kind = 'notification_dead'") == [(1,)]
    home.ok("audit", "verify", "--replay")


def test_quiet_hours_hold_back_what_can_wait(home: Home, receiver: Receiver) -> None:
    configure(home, TARGET + "quiet_hours: {zone: UTC, begins: '00:00', ends: '23:59', except_for: [control]}\n")
    home.decide("NVDA", DAY)
    home.ok("halt", "x")
    assert home.ok("notify", "send").out == "1 sent\n"
    assert [document["title"] for document in receiver.got] == ["HALTED by operator, before ACTIVE"]


def test_a_test_goes_past_the_outbox(home: Home, receiver: Receiver) -> None:
    assert home.ok("notify", "test", "phone").out == "phone: taken\n"
    assert [document["title"] for document in receiver.got] == ["AlphaAgent: a test"]
    assert home.run("notify", "test", "pager").code == 2
    assert not home.database.exists()


def test_without_targets_there_is_nothing_to_test_and_the_list_says_so(home: Home) -> None:
    assert home.run("notify", "test").code == 2
    assert "nobody is told" in home.ok("notify", "list").err


def test_a_target_that_is_gone_from_the_file_is_still_listed(home: Home, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    home.decide("NVDA", DAY)
    monkeypatch.delenv("ALPHAAGENT_NOTIFY_PHONE")
    configure(home, "targets: {}\n")
    (target,) = home.ok("notify", "list", "--json", "--limit", "1").document["targets"]
    assert (target["target"], target["state"], target["waiting"]) == ("phone", "not in notify.yaml", 1)


@pytest.mark.parametrize("name", ["ALPHAAGENT_NOTIFY_PAGER", "ALPHAAGENT_NOTIFY_"])
def test_an_address_that_no_target_names_is_refused_without_showing_it(home: Home, receiver: Receiver, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "json://desk:hunter2@example")
    ran = home.run("doctor")
    assert (ran.code, "hunter2" in ran.out + ran.err) == (2, False)
    assert name in home.run("notify", "list").err


def test_a_misspelt_file_stops_a_decision_before_it_begins(home: Home) -> None:
    configure(home, "target: {}\n")
    ran = home.run("decide", "NVDA", "--as-of", DAY)
    assert ran.code == 2
    assert "unknown key target" in ran.err
    assert not home.database.exists()


def test_hostile_words_arrive_as_words(home: Home, receiver: Receiver) -> None:
    home.ok("halt", 'stop @everyone <!here> [x](http://evil.com) "ref order:ord_1:filled" **now** \u202eevil')
    home.ok("notify", "send")
    (document,) = receiver.got
    assert document["message"].split("\n")[0] == "why: \"stop (at)everyone (!here) (x)(http:(//)evil(.)com) 'ref order:ord_1:filled' now evil\""
    assert receiver.keys()[0].startswith("control:")


@pytest.mark.slow
def test_a_sender_that_is_killed_after_it_sent_repeats_and_loses_nothing(home: Home, receiver: Receiver) -> None:
    home.ok("halt", "one")
    home.ok("resume", "--reason", "two")
    receiver.seconds = 1.0
    sender = start(home.folder, "notify", "send", ALPHAAGENT_NOTIFY_PHONE=receiver.url)
    deadline = time.monotonic() + 60
    while not receiver.arrived and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(sender.pid, signal.SIGKILL)
    assert finish(sender).code == -signal.SIGKILL
    time.sleep(1.5)
    receiver.seconds = 0.0
    again_at_once(home)
    assert home.ok("notify", "send").out == "2 sent\n"
    first, *others = receiver.keys()
    assert (len(others), others.count(first), len(set(others))) == (2, 1, 2)


@pytest.mark.slow
def test_two_senders_at_once_send_each_notice_once(home: Home, receiver: Receiver) -> None:
    for n in range(6):
        home.ok(*(("halt", str(n)) if n % 2 == 0 else ("resume", "--reason", str(n))))
    senders: list[subprocess.Popen[str]] = [start(home.folder, "notify", "send", "--json", ALPHAAGENT_NOTIFY_PHONE=receiver.url) for _ in range(2)]
    done = [json.loads(finish(one).out) for one in senders]
    assert sum(one["sent"] for one in done) == 6
    assert len(set(receiver.keys())) == len(receiver.got) == 6
