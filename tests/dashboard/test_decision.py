"""The page of one decision: what a reader sees of a debate, of a mechanical read, of a fallback, of hostile words; and whether it can be believed."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.settings import load_settings
from alphaagent.views_decision import NOT_THERE
from tests.dashboard_home import AWAY, DEBATED, HOSTILE, HOSTILE_DAY, SWEEPS


def decided(home: Path, ticker: str, day: str, portfolio: str = "default") -> str:
    """The id of a decision of the home."""
    rows = Workplace(load_settings({}, home)).listed_decisions(100, ticker=ticker, portfolio=portfolio)
    return str(next(row["decision_id"] for row in rows if row["as_of"].startswith(day)))


def told(app: Any) -> str:
    """Everything that is said on a page, in one text, as a reader sees it: without what keeps Markdown from being read."""
    kinds = ("title", "subheader", "markdown", "text", "caption", "info", "warning", "success", "error", "code")
    return "\n".join(str(one.value) for kind in kinds for one in getattr(app, kind)).replace("\\", "")


def cells(app: Any) -> str:
    return "\n".join(frame.value.to_csv() for frame in app.dataframe)


@pytest.fixture
def debate(page: Any, recorded: Path) -> Any:
    """A debate in which somebody conceded, a point stayed open, and the guard cut the order."""
    return page("decision", recorded, id=decided(recorded, "AAPL", HOSTILE_DAY))


def test_a_debate_is_told_from_its_verdict_to_its_calls(debate: Any) -> None:
    assert not debate.exception
    said = told(debate)
    assert "AAPL: BUY for USD 6,000.00" in said
    assert "Both sides were the same model" in said
    assert "The guard cut it from" in said
    assert "filled at" in said
    assert "conceded: its own side gave it up" in said
    assert "Whether the trend outlasts this volatility cannot be read from what is here." in said
    assert "get_price_history.volatility.sigma < 0.3 by 2020-04-01, which would say up" in said
    assert "p_21 > 100" in said
    assert "the evidence bears it out" in said
    assert "the evidence says another number" in said


def test_a_clip_is_a_card_with_its_limit_its_overage_and_what_would_change_it(debate: Any) -> None:
    said = told(debate)
    assert "**H4 Per-order cap: cut**" in said
    assert "the order would be" in said
    assert "over the limit" in said
    assert "What would change it:** A smaller request, or a wider limit of rule H4 in mandate.yaml." in said


def test_asked_for_allowed_and_filled_stand_beside_each_other(debate: Any) -> None:
    steps = debate.dataframe[[next(iter(frame.value.columns)) for frame in debate.dataframe].index("step")].value
    assert list(steps["step"]) == ["asked for", "allowed by the guard", "filled on 2020-02-07"]


@pytest.mark.parametrize(("ticker", "day"), [("AAPL", HOSTILE_DAY), ("AAPL", DEBATED), ("NVDA", HOSTILE_DAY), ("GOOG", AWAY), ("GOOG", SWEEPS[1])])
def test_every_cited_id_resolves(page: Any, recorded: Path, ticker: str, day: str) -> None:
    app = page("decision", recorded, id=decided(recorded, ticker, day))
    assert any("Evidence that it cites" in one.label for one in app.expander)
    assert NOT_THERE not in told(app) + cells(app)


def test_an_id_that_is_not_in_the_evidence_is_shown_as_such(page: Any, own_home: Path) -> None:
    from alphaagent.domain.base import sha256_hex

    wanted = decided(own_home, "GOOG", SWEEPS[1])
    with closing(sqlite3.connect(own_home / "data" / "alphaagent.db")) as connection, connection:
        query = "SELECT b.content FROM blob b JOIN decision d ON d.record_sha256 = b.sha256 WHERE d.id = ?"
        (content,) = connection.execute(query, (wanted,)).fetchone()
        record = json.loads(content)
        record["result"]["bull_case"]["lines"][0]["evidence_ids"] = ["ev_ffffffffffff"]
        changed = json.dumps(record).encode()
        for table in ("blob", "decision"):
            _drop_triggers(connection, table)
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("INSERT INTO blob (sha256, content) VALUES (?, ?)", (sha256_hex(changed), changed))
        connection.execute("UPDATE decision SET record_sha256 = ? WHERE id = ?", (sha256_hex(changed), wanted))
    app = page("decision", own_home, id=wanted)
    assert NOT_THERE in told(app)


def _drop_triggers(connection: sqlite3.Connection, table: str) -> None:
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)).fetchall():
        connection.execute(f"DROP TRIGGER {name}")


def test_a_mechanical_read_shows_its_arithmetic_and_says_that_no_model_took_part(page: Any, recorded: Path) -> None:
    app = page("decision", recorded, id=decided(recorded, "AMZN", SWEEPS[1], "beta"))
    said = told(app)
    assert not app.exception
    assert "a mechanical read, no model took part" in said
    assert "What would flip it" in said
    assert "No model took part in this decision." in said
    assert "The gap" not in [one.value for one in app.subheader]
    assert "quality (absent)" in cells(app)


def test_a_hold_says_why_nothing_was_done(page: Any, recorded: Path) -> None:
    said = told(page("decision", recorded, id=decided(recorded, "NFLX", SWEEPS[2], "beta")))
    assert "**Why nothing was bought or sold:** under the threshold to enter" in said
    assert "a HOLD places no order" in said


def test_a_fallback_says_its_reason_and_shows_what_was_sent(page: Any, recorded: Path) -> None:
    app = page("decision", recorded, id=decided(recorded, "GOOG", AWAY))
    said = told(app)
    assert "in place of a debate that did not come to an end" in said
    assert "503" in said
    assert "The debate ended by http" in said
    assert "Prompts and replies" in said
    assert "HTTP 503" in cells(app)


def test_a_block_says_which_rule_stopped_it_and_a_side_without_a_case_is_told_as_such(page: Any, recorded: Path) -> None:
    app = page("decision", recorded, id=decided(recorded, "MSFT", AWAY))
    said = told(app)
    assert "The guard stopped it: FAT_FINGER_NOTIONAL" in said
    assert "No order was placed" in said
    assert "**H1 Request, money: stopped**" in said
    assert any("had no case, and said so" in one.value for one in app.info)
    assert "Nothing in these figures speaks against the share." in said


def test_one_round_still_has_its_gap_and_both_final_numbers(page: Any, recorded: Path) -> None:
    said = told(page("decision", recorded, id=decided(recorded, "NVDA", HOSTILE_DAY)))
    assert "round 1: bull 0.66, short seller 0.45, gap 0.21; the debate ended at" in said
    assert "The CIO put p(up) at" in said


def test_the_price_says_what_came_of_the_event_or_when_it_will(page: Any, recorded: Path) -> None:
    assert "It resolved on 2020-03-05: " in told(page("decision", recorded, id=decided(recorded, "AAPL", DEBATED)))


def test_the_newest_decision_is_shown_where_none_is_named(page: Any, recorded: Path) -> None:
    app = page("decision", recorded)
    assert not app.exception
    assert f"as of {SWEEPS[-1]}" in told(app)


@pytest.mark.parametrize("wanted", ["dec_0000000000000000", "'; DROP TABLE decision; --", "<img src=x onerror=1>", "../../etc/passwd", "x" * 5000, "\u202edec"])
def test_an_id_that_there_is_not_is_told_in_words_and_another_can_be_typed(page: Any, recorded: Path, wanted: str) -> None:
    app = page("decision", recorded, id=wanted)
    assert not app.exception
    assert "there is no decision" in app.info[0].value
    assert len(app.text_input) == 1
    app.text_input[0].set_value(decided(recorded, "AAPL", DEBATED)).run()
    assert "AAPL: BUY for USD 2,000.00" in told(app)


def test_one_walks_from_a_decision_to_those_beside_it_on_the_same_name(page: Any, recorded: Path) -> None:
    first, second = decided(recorded, "AAPL", SWEEPS[0]), decided(recorded, "AAPL", DEBATED)
    app = page("decision", recorded, id=first)
    assert app.button(key="before").disabled
    app.button(key="after").click().run()
    assert app.query_params["id"] == second
    assert "Since dec" in told(app)
    app.button(key="before").click().run()
    assert app.query_params["id"] == first


def test_verify_says_that_the_chain_holds_and_that_the_decision_replays(page: Any, recorded: Path) -> None:
    wanted = decided(recorded, "AMZN", SWEEPS[1], "beta")
    app = page("decision", recorded, id=wanted)
    before = (recorded / "data" / "alphaagent.db").read_bytes()
    app.button(key=f"verify_{wanted}").click().run()
    assert [one.value.split(":")[0] for one in app.success] == ["The chain holds", "The decision replays"]
    assert (recorded / "data" / "alphaagent.db").read_bytes() == before


def test_verify_replays_a_debate_without_a_network(page: Any, recorded: Path) -> None:
    wanted = decided(recorded, "NVDA", HOSTILE_DAY)
    app = page("decision", recorded, id=wanted)
    app.button(key=f"verify_{wanted}").click().run(timeout=120)
    assert [one.value.split(":")[0] for one in app.success] == ["The chain holds", "The decision replays"]


def test_verify_on_books_that_were_tampered_with_says_what_does_not_hold(page: Any, own_home: Path) -> None:
    wanted = decided(own_home, "AMZN", SWEEPS[1], "beta")
    with closing(sqlite3.connect(own_home / "data" / "alphaagent.db")) as connection, connection:
        _drop_triggers(connection, "guard_result")
        connection.execute("UPDATE guard_result SET ruling_json = replace(ruling_json, '\"APPROVED\"', '\"APPROVAL\"') WHERE decision_id = ?", (wanted,))
    app = page("decision", own_home, id=wanted)
    app.button(key=f"verify_{wanted}").click().run()
    assert not app.success
    errors = "\n".join(one.value for one in app.error)
    assert "The chain does NOT hold" in errors
    assert "The decision does NOT replay" in errors
    said = "\n".join(one.value for one in app.text)
    assert "differ from the log" in said
    assert "ruling at decide" in said


def test_nothing_hostile_stands_where_markdown_is_read(page: Any, recorded: Path) -> None:
    app = page("decision", recorded, id=decided(recorded, "NVDA", HOSTILE_DAY))
    assert any(HOSTILE in one.value for one in app.text)
    read = "\n".join(
        str(one.value) for kind in ("title", "subheader", "markdown", "caption", "info", "warning", "error", "success") for one in getattr(app, kind)
    )
    labels = "\n".join(one.label for one in (*app.expander, *app.selectbox, *app.button))
    for piece in ("<script", "<img", "https://evil.example", "[click]", ":red[", "**bold**"):
        assert piece not in read + labels


@pytest.fixture
def open_decision(site: str, visit: Any, recorded: Path) -> Iterator[Any]:
    def go(ticker: str, day: str, portfolio: str = "default", **how: bool) -> Any:
        seen = visit(site, **how)
        seen.go(f"decision?id={decided(recorded, ticker, day, portfolio)}", "A decision")
        seen.page.get_by_role("heading", name="Prompts and replies").wait_for(timeout=60_000)
        seen.settled()
        return seen

    return go


def test_hostile_words_are_seen_and_do_nothing(open_decision: Any) -> None:
    seen = open_decision("NVDA", HOSTILE_DAY, dark=True)
    assert seen.page.title() == "AlphaAgent"
    assert seen.page.get_by_text("<script>document.title='owned'</script>").first.is_visible()
    found = seen.page.evaluate("[...document.querySelectorAll('img, script, a')].map(one => one.outerHTML).filter(html => /evil|owned|onerror/.test(html))")
    assert found == []
    assert seen.faults == []
    seen.picture("decision-hostile")


@pytest.mark.parametrize("how", [{}, {"narrow": True}], ids=["light", "narrow"])
def test_a_debate_is_seen_with_its_figures_and_their_words(open_decision: Any, how: dict[str, bool]) -> None:
    seen = open_decision("AAPL", HOSTILE_DAY, **how)
    figure = seen.page.get_by_label("Probability that the price is higher in 20 sessions").first
    figure.scroll_into_view_if_needed()
    assert figure.locator("canvas, svg").first.is_visible()
    assert seen.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert seen.faults == []
    seen.picture(f"decision-{next(iter(how), 'light')}")
