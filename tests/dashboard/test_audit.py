"""The page of the audit trail: how far it is checked, the check on demand, anchors, the guard, models, data, events, notifications."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from alphaagent.ledger.verify import anchor_line

Page = Any


def anchor(home: Path) -> str:
    return anchor_line(f"sqlite:///{home / 'data' / 'alphaagent.db'}")


def checked(app: Page, anchors: str = "") -> Page:
    app.text_area[0].set_value(anchors)
    app.button[0].click().run()
    assert not app.exception
    return app


def test_the_head_is_there_to_copy_and_the_trail_is_checked(page: Page, recorded: Path) -> None:
    app = page("audit", recorded)
    assert not app.exception
    assert app.code[0].value == anchor(recorded)
    assert "sound" in app.markdown[0].value
    assert "rows checked" in app.markdown[0].value


def test_a_check_says_its_exit_code_and_what_is_not_anchored(page: Page, recorded: Path) -> None:
    app = checked(page("audit", recorded))
    assert app.success[0].value == "Exit code 0: sound"
    assert "rows are not anchored" in app.text[0].value


def test_an_anchor_that_holds_leaves_nothing_open(page: Page, recorded: Path) -> None:
    app = checked(page("audit", recorded), anchor(recorded))
    assert any("1 anchor given; 0 rows came after" in one.value for one in app.caption)


def test_an_anchor_of_another_history_is_told_and_the_books_stay_trusted(page: Page, recorded: Path) -> None:
    uuid, seq, _ = anchor(recorded).split()
    app = checked(page("audit", recorded), f"{uuid} {seq} {'0' * 64}")
    assert app.error[0].value.startswith("Exit code 21")
    assert "has been rewritten" in app.text[0].value
    assert any("audit trail sound" in one.value for one in page("audit", recorded).caption)


@pytest.mark.parametrize("text", ["nonsense", "**bold** [x](https://evil.example)", "1 2 3"])
def test_what_is_no_anchor_is_refused_in_words(page: Page, recorded: Path, text: str) -> None:
    app = checked(page("audit", recorded), text)
    assert "no anchor" in app.error[0].value
    assert "evil.example" not in app.error[0].value


def test_tampered_books_are_told_with_every_finding(page: Page, own_home: Path) -> None:
    with closing(sqlite3.connect(own_home / "data" / "alphaagent.db")) as connection, connection:
        connection.execute("DROP TRIGGER decision_no_update")
        connection.execute("UPDATE decision SET debate_class = 'theater' WHERE debate_class = 'earned'")
    app = checked(page("audit", own_home))
    assert any(one.value.startswith("Exit code 22") for one in app.error)
    assert any("the debate's class of decision row" in one.value for one in app.text)


def frames(app: Page, column: str) -> list[Any]:
    return [one.value for one in app.dataframe if column in one.value]


def test_what_the_guard_made_smaller_is_counted_with_its_meaning(page: Page, recorded: Path) -> None:
    app = page("audit", recorded)
    told = {code: meaning for one in frames(app, "what it means") for code, meaning in zip(one["code"], one["what it means"], strict=True)}
    assert told["CLIP_ORDER"].startswith("H4 Per-order cap")
    assert told["FAT_FINGER_NOTIONAL"].startswith("H1 ")


def test_models_are_told_with_what_failed(page: Page, recorded: Path) -> None:
    (models,) = frames(page("audit", recorded), "model")
    assert list(models["model"]) == ["scripted-model"]
    assert "http" in models["failed"][0]
    assert models["calls looked at"][0] > 0


def test_the_data_on_record_are_looked_at(page: Page, recorded: Path) -> None:
    (data,) = frames(page("audit", recorded), "check")
    assert set(data["check"]) == {"recorded data", "own prices", "data age"}


def test_sweeps_are_listed_and_events_can_be_chosen(page: Page, recorded: Path) -> None:
    app = page("audit", recorded)
    (events,) = frames(app, "what")
    assert set(events["kind"]) == {"sweep"}
    app.multiselect[0].set_value(["limits_changed"]).run()
    (events,) = frames(app, "what")
    assert set(events["kind"]) == {"limits_changed"}


def test_where_nobody_is_told_of_anything_it_says_how_to(page: Page, recorded: Path) -> None:
    assert any("notify.yaml" in one.value for one in page("audit", recorded).info)


def test_notifications_that_wait_are_listed(page: Page, own_home: Path) -> None:
    with closing(sqlite3.connect(own_home / "data" / "alphaagent.db")) as connection, connection:
        connection.execute("INSERT INTO outbox (topic, target, dedupe_key, payload, created_at, attempts) VALUES ('order', '=chat', 'k', '{}', 0, 1)")
    app = page("audit", own_home)
    assert not app.exception
    targets, waiting = frames(app, "target")
    assert list(targets["waiting"]) == [1]
    assert list(waiting["topic"]) == ["order"]


def test_the_page_in_a_browser(site: str, visit: Any) -> None:
    seen = visit(site, dark=True)
    browser_page = seen.go("audit", "Audit")
    browser_page.get_by_role("button", name="Check now").click()
    browser_page.get_by_text("Exit code 0: sound").wait_for(timeout=30_000)
    seen.picture("audit-dark")
    for tab in ("Guard", "Models and data", "Events", "Notifications"):
        browser_page.get_by_role("tab", name=tab).click()
        seen.settled()
        seen.picture(f"audit-{tab.split()[0].lower()}-dark")
    assert seen.faults == []
