"""A home folder as a user has one, and the command line run in it; what was written is counted straight in the database."""

import csv
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from alphaagent.cli import run
from tests.snapshot_folder import RECORDED

CHECKOUT = Path(__file__).resolve().parent.parent
WRITTEN = ("audit_log", "decision", "orders", "txn", "posting", "guard_result", "run_slot", "portfolio")
Row = dict[str, str]


@dataclass(frozen=True)
class Ran:
    """One command: exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The only JSON document on stdout."""
        (one,) = self.documents
        return one

    @property
    def documents(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


class Home:
    """A folder that ALPHAAGENT_HOME names. Configuration and snapshot are the shipped ones until a test puts its own there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def run(self, *arguments: str) -> Ran:
        """The command line in this process."""
        self._capsys.readouterr()
        code = run(list(arguments))
        streams = self._capsys.readouterr()
        return Ran(code, streams.out, streams.err)

    def ok(self, *arguments: str) -> Ran:
        """A command that has to succeed."""
        ran = self.run(*arguments)
        assert ran.code == 0, ran.err
        return ran

    def decide(self, ticker: str, as_of: str, *more: str) -> dict[str, Any]:
        return self.ok("decide", ticker, "--as-of", as_of, "--json", *more).document

    def settle(self, as_of: str) -> list[dict[str, Any]]:
        return self.ok("settle", "--as-of", as_of, "--json").documents

    def portfolio(self, as_of: str | None = None, name: str = "default") -> dict[str, Any]:
        return self.ok("portfolio", "show", name, "--json", *(("--as-of", as_of) if as_of else ())).document

    def own_snapshot(self) -> Path:
        """A copy of the recorded snapshot that this home reads instead."""
        folder = self.folder / "data" / "snapshot"
        shutil.copytree(RECORDED, folder)
        return folder

    def own_config(self, name: str, change: Callable[[str], str]) -> Path:
        """A changed copy of one shipped configuration file; the others stay the shipped ones."""
        path = self.folder / "config" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(change((CHECKOUT / "config" / name).read_text(encoding="utf-8")), encoding="utf-8")
        return path

    @property
    def database(self) -> Path:
        return self.folder / "data" / "alphaagent.db"

    def sql(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """A statement on the database, past every guard of the ledger."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def counts(self) -> dict[str, int]:
        """How many rows stand in each table that a command may write to; nothing where there are no books."""
        return {table: self.sql(f"SELECT count(*) FROM {table}")[0][0] for table in WRITTEN} if self.database.exists() else {}

    def files(self) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*"))


def start(folder: Path, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
    """The command line in a process of its own with this home, an environment of its own and nothing else of ours."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("ALPHAAGENT_")}
    env |= {"ALPHAAGENT_HOME": str(folder), "PYTHONPATH": str(CHECKOUT), **environment}
    command = [sys.executable, "-m", "alphaagent", *arguments]
    return subprocess.Popen(command, env=env, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: "subprocess.Popen[str]") -> Ran:
    out, err = process.communicate(timeout=600)
    return Ran(process.returncode, out, err)


def read_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write_rows(path: Path, rows: Iterable[Row]) -> None:
    """Rows under the header that the file has now."""
    header = path.read_text(encoding="utf-8").splitlines()[0]
    lines = [header, *(",".join(row[column] for column in header.split(",")) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
