"""The morning digest from real books: what was ordered, filled, refused and paid since the last open, and the anchor of the day."""

import pytest

from tests.home import Home

BEFORE, DAY, NEXT = "2020-07-31", "2020-08-03", "2020-08-04"


def test_the_morning_after_a_decision_shows_what_is_to_be_filled(pending: Home) -> None:
    document = pending.ok("digest", "--json").document
    (one,) = document["portfolios"]
    assert (document["session"], document["since"], document["next_open"]) == (BEFORE, f"{BEFORE}T13:30:00Z", f"{DAY}T13:30:00Z")
    assert [(order["side"], order["ticker"], order["status"], order["fill_session"]) for order in one["to_fill"]] == [("BUY", "NVDA", "pending", DAY)]
    assert (one["decided"], one["holds"], one["changed"], one["cash"], one["equity"]) == ({"BUY": 1}, 0, [], "100000.0", "100000.0")
    assert one["prices"] == {"ticker": "NVDA", "last_session": BEFORE, "behind": False}
    assert document["control"] == {"state": "ACTIVE", "sources": [], "reason": None}


def test_after_the_fill_it_is_a_change_and_holds_and_blocks_are_told(opened: Home) -> None:
    opened.decide("AAPL", DAY)
    opened.ok("reduce", "too much at risk")
    blocked = opened.decide("NFLX", DAY)
    assert blocked["guard"]["outcome"] == "BLOCK"
    document = opened.ok("digest", "--json").document
    (one,) = document["portfolios"]
    assert [(act["ticker"], act["status"]) for act in one["changed"]] == [("NVDA", "filled")]
    assert one["blocked"] == [{"ticker": "NFLX", "status": blocked["guard"]["code"]}]
    assert (document["control"]["state"], document["control"]["reason"]) == ("REDUCING", "too much at risk")
    assert sum(one["decided"].values()) == 2


def test_only_what_happened_since_the_last_open_is_told(opened: Home) -> None:
    document = opened.ok("digest", "--json", "--as-of", f"{NEXT}T22:00:00Z").document
    assert (document["session"], document["portfolios"][0]["changed"]) == (NEXT, [])


def test_a_failure_is_counted_by_name(opened: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_HEURISTIC_FALLBACK", "false")
    assert opened.run("decide", "AAPL", "--as-of", DAY, "--engine", "crew").code == 4
    (one,) = opened.ok("digest", "--json", "--as-of", DAY).document["portfolios"]
    assert one["failed"] == [{"ticker": "AAPL", "status": "PROVIDER"}]


def test_the_anchor_of_the_digest_holds_and_later_shows_a_cut(opened: Home) -> None:
    anchor = opened.ok("digest").out.splitlines()[-1].removeprefix("anchor ")
    (opened.folder / "anchor.txt").write_text(anchor + "\n", encoding="utf-8")
    assert opened.run("audit", "verify", "--strict", "--anchor", "anchor.txt").code == 0
    assert anchor == opened.ok("audit", "anchor").out.strip()


def test_the_screen_is_80_columns_wide_and_24_rows_high(pending: Home) -> None:
    lines = pending.ok("digest").out.splitlines()
    assert len(lines) <= 22
    assert [line for line in lines[:-1] if len(line) > 80] == []
    assert any(line.startswith("  to fill     1: BUY ") for line in lines)


def test_one_portfolio_can_be_chosen_and_a_wrong_name_is_refused(opened: Home) -> None:
    opened.ok("portfolio", "create", "other", "--as-of", DAY)
    assert [one["portfolio"] for one in opened.ok("digest", "--json").document["portfolios"]] == ["default", "other"]
    assert [one["portfolio"] for one in opened.ok("digest", "--json", "--portfolio", "other").document["portfolios"]] == ["other"]
    assert opened.run("digest", "--portfolio", "nobody").code == 2


def test_without_books_there_is_nothing_to_tell(home: Home) -> None:
    ran = home.run("digest")
    assert (ran.code, "there are no books yet" in ran.err) == (2, True)


def test_nothing_is_written_by_looking(opened: Home) -> None:
    before = opened.counts()
    opened.ok("digest")
    assert opened.counts() == before


def test_books_that_were_tampered_with_are_called_unsound(opened: Home) -> None:
    opened.sql("DROP TRIGGER posting_no_update")
    opened.sql("UPDATE posting SET amount = amount + 1000000 WHERE commodity = 'USD' AND txn_id = 1")
    assert "BOOKS UNSOUND" in opened.ok("digest").out


def test_a_holding_whose_prices_are_gone_has_no_nav_and_says_so(opened: Home) -> None:
    (opened.own_snapshot() / "bars" / "NVDA.csv").unlink()
    (one,) = opened.ok("digest", "--json").document["portfolios"]
    assert (one["equity"], one["prices"]) == (None, {"ticker": "NVDA", "last_session": None, "behind": True})


def test_a_split_stands_among_the_changes(home: Home) -> None:
    (home.folder / "held.csv").write_text("ticker,quantity,cost,date\nAAPL,10,1000,2020-01-02\n", encoding="utf-8")
    home.ok("portfolio", "import", "held.csv", "--as-of", "2020-08-28")
    home.settle("2020-08-31")
    (one,) = home.ok("digest", "--json", "--as-of", "2020-08-31").document["portfolios"]
    assert one["changed"] == [{"ticker": "AAPL", "status": "split"}]
