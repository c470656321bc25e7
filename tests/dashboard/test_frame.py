"""What stands around every page: the menu, the kill switch, the audit trail, and faults in words."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from dashboard.shell import PAGES


@pytest.mark.parametrize("name", PAGES)
def test_a_home_without_books_says_how_to_begin(page: Any, tmp_path: Path, name: str) -> None:
    app = page(name, tmp_path)
    assert not app.exception
    assert "no books yet" in app.info[0].value
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", PAGES)
def test_a_newer_database_says_so(page: Any, own_home: Path, name: str) -> None:
    _sql(own_home, "UPDATE alembic_version SET version_num = '9999'")
    app = page(name, own_home)
    assert not app.exception
    assert any("9999" in one.value for one in (*app.error, *app.info))


@pytest.mark.parametrize("name", PAGES)
def test_unsound_books_say_so_above_their_figures(page: Any, own_home: Path, name: str) -> None:
    _sql(own_home, "DROP TRIGGER posting_no_update", "UPDATE posting SET amount = amount + 1 WHERE txn_id = 1")
    app = page(name, own_home)
    assert any("not sound" in one.value for one in app.error)


def test_a_halt_stands_above_every_page_with_its_reason_as_text(page: Any, own_home: Path) -> None:
    (own_home / "data" / "HALT").touch()
    app = page("audit", own_home)
    assert any("HALTED" in one.value and "file" in one.value for one in app.error)


def _sql(home: Path, *statements: str) -> None:
    with closing(sqlite3.connect(home / "data" / "alphaagent.db")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_opens_in_a_browser_without_a_complaint_and_asks_nobody_else(site: str, visit: Any, name: str) -> None:
    seen = visit(site)
    seen.go(name)
    assert seen.faults == []
