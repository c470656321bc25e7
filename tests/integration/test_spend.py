"""`alphaagent spend`: what model calls cost on a day, against the ceiling in force."""

from datetime import date
from decimal import Decimal

import pytest

from alphaagent.clock import WallClock
from alphaagent.domain.record import Usage
from alphaagent.domain.spend import SpendAsk
from alphaagent.ledger.store import SqlStore
from tests.home import Home

DAY = date(2024, 1, 3)


def spent(home: Home, day: date = DAY) -> None:
    """Two debates of one model, one of another without a price, and one that is still open."""
    with SqlStore.open(f"sqlite:///{home.database}", WallClock()) as store:
        for model, most, cost in (("small", "1", "0.25"), ("small", "1", "0.125"), ("local", None, None)):
            ref = store.reserve_spend(SpendAsk(day, "default", "NVDA", "openai", model, Decimal(most) if most else None), None)
            store.book_spend(ref.token, Usage(calls=2, prompt_tokens=100, completion_tokens=10), Decimal(cost) if cost else None, None)
        store.reserve_spend(SpendAsk(day, "growth", "NVDA", "openai", "small", Decimal("0.5")), None)


def test_a_day_is_told_in_columns_and_one_line(opened: Home) -> None:
    spent(opened)
    head, *lines = opened.ok("spend", "--day", "2024-01-03").out.splitlines()
    assert head.split() == ["portfolio", "provider", "model", "calls", "prompt_tokens", "completion_tokens", "spent_usd", "reserved_usd", "unpriced"]
    assert [line.split() for line in lines[:-1]] == [
        ["default", "openai", "local", "2", "100", "10", "0.0", "0.0", "1"],
        ["default", "openai", "small", "4", "200", "20", "0.375", "0.0", "0"],
        ["growth", "openai", "small", "0", "0", "0", "0.0", "0.5", "0"],
    ]
    reserved = "0.5 USD reserved (1 under way, or lost when a run was ended)"
    assert lines[-1] == f"2024-01-03 (UTC): 0.375 USD spent, {reserved}; 1 debates without a known price; the ceiling is 5.0 USD"


def test_json_is_one_document(opened: Home) -> None:
    spent(opened)
    document = opened.ok("spend", "--day", "2024-01-03", "--json").document
    total = {"calls": 6, "prompt_tokens": 300, "completion_tokens": 30, "spent_usd": "0.375", "reserved_usd": "0.5", "unpriced": 1, "open": 1}
    assert {name: document[name] for name in total} == total
    assert (document["day"], document["ceiling_usd"]) == ("2024-01-03", "5.0")
    assert [(line["portfolio"], line["model"], line["spent_usd"]) for line in document["lines"]] == [
        ("default", "local", "0.0"),
        ("default", "small", "0.375"),
        ("growth", "small", "0.0"),
    ]


@pytest.mark.parametrize(("text", "told"), [("off", None), ("0", "0.0"), ("12.50", "12.5")])
def test_the_ceiling_is_that_of_the_environment(opened: Home, monkeypatch: pytest.MonkeyPatch, text: str, told: str | None) -> None:
    monkeypatch.setenv("ALPHAAGENT_DAILY_SPEND_USD", text)
    assert opened.ok("spend", "--json").document["ceiling_usd"] == told
    assert ("there is no ceiling" in opened.ok("spend").out) == (told is None)


def test_without_a_day_it_is_today_in_utc(opened: Home) -> None:
    today = WallClock().now().date()
    spent(opened, today)
    assert opened.ok("spend", "--json").document["day"] in {today.isoformat(), WallClock().now().date().isoformat()}


def test_a_day_on_which_nothing_was_spent_is_one_line(opened: Home) -> None:
    before = opened.counts()
    assert opened.ok("spend", "--day", "2024-01-04").out == "2024-01-04 (UTC): 0.0 USD spent, 0.0 USD reserved; the ceiling is 5.0 USD\n"
    assert opened.counts() == before


@pytest.mark.parametrize("day", ["yesterday", "2024-13-01", ""])
def test_what_is_no_day_is_refused(opened: Home, day: str) -> None:
    ran = opened.run("spend", "--day", day)
    assert (ran.code, ran.out) == (2, "")
    assert f"--day {day!r} is no date" in ran.err


def test_without_books_there_is_nothing_to_tell(home: Home) -> None:
    ran = home.run("spend")
    assert (ran.code, ran.out, home.files()) == (2, "", [])
    assert "no books yet" in ran.err
