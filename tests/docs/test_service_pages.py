"""The pages about running it every day are held against the program: keys, topics, fields, exit codes, lines of the log, commands."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from alphaagent import errors
from alphaagent.domain.base import Frozen
from alphaagent.domain.notice import TOPICS
from alphaagent.ledger.findings import BALANCE, BROKEN, MISMATCH, NOT_ANCHORED, REPLAY, SHORT, UNREADABLE
from alphaagent.ledger.outbox import MOST_TRIES
from alphaagent.ledger.schema import OutboxRow
from alphaagent.notify.sender import PAUSES_SECONDS
from alphaagent.notify.targets import NotifyFile, QuietHours, TargetSettings, parse_notify
from alphaagent.operations.health import health_document
from alphaagent.operations.timetable import Timetable, parse_timetable
from alphaagent.settings import read_yaml
from tests.unit.operations.test_health import NOW, STATUS, SWEEP

ROOT = Path(__file__).parents[2]
WIKI = ROOT / "docs" / "wiki"
SERVICE, RUNBOOK, CLI, DATA = ((WIKI / name).read_text(encoding="utf-8") for name in ("Scheduled-Runs-Service.md", "Runbook.md", "CLI.md", "Data-Model.md"))
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "alphaagent").rglob("*.py"))


def keys() -> list[str]:
    """The keys of the timetable, its parts taken apart."""
    parts = {name: type(field.default) for name, field in Timetable.model_fields.items()}
    return [f"{name}.{key}" if issubclass(part, Frozen) else name for name, part in parts.items() for key in getattr(part, "model_fields", (name,))]


def test_every_key_of_the_schedule_stands_on_the_page_with_its_default() -> None:
    shipped = parse_timetable(read_yaml(ROOT / "config" / "schedule.yaml"), "schedule.yaml")
    assert shipped == Timetable()
    for key in keys():
        value: Any = shipped
        for part in key.split("."):
            value = getattr(value, part)
        row = re.search(rf"^\| `{re.escape(key)}` \| `?([^|`]+)`? \|", SERVICE, re.MULTILINE)
        assert row, key
        assert row[1].strip() == ("XNYS: all" if key == "exchanges" else str(value))


def test_every_key_of_the_notifications_stands_on_the_page() -> None:
    assert parse_notify(read_yaml(ROOT / "config" / "notify.yaml"), "notify.yaml").file == NotifyFile()
    rows = "\n".join(line for line in SERVICE.splitlines() if line.startswith("| `"))
    for name in (*NotifyFile.model_fields, *TargetSettings.model_fields, *QuietHours.model_fields):
        assert f"`{name}`" in rows, name


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_explained_on_the_page_and_in_the_file(topic: str) -> None:
    assert re.search(rf"^\| `{topic}` \| \w", SERVICE, re.MULTILINE)
    assert re.search(rf"^#   {topic} ", (ROOT / "config" / "notify.yaml").read_text(encoding="utf-8"), re.MULTILINE)


def test_the_example_of_the_notifications_is_one() -> None:
    import yaml

    (text,) = re.findall(r"```yaml\n(.*?)```", SERVICE, re.DOTALL)
    assert set(parse_notify(yaml.safe_load(text), "example").file.targets) == {"phone", "log"}


def test_the_tries_and_pauses_are_the_programs() -> None:
    told = re.search(r"again after ([0-9, ]+) and (\d+) minutes", SERVICE)
    assert told
    assert [60 * int(n) for n in (*told[1].split(", "), told[2])] == [*PAUSES_SECONDS[:-1]]
    assert len(PAUSES_SECONDS) == MOST_TRIES == 8


def test_every_field_of_the_health_page_is_described() -> None:
    document = health_document(replace(STATUS, running=SWEEP), NOW)
    names = {*document, *document["running"], *(name for entry in document["last"].values() for name in entry)}
    rows = "\n".join(line for line in SERVICE.splitlines() if line.startswith("| `"))
    assert [name for name in sorted(names) if f"`{name}`" not in rows] == []


def test_every_column_of_the_outbox_is_described() -> None:
    assert [name for name in OutboxRow.model_fields if name != "id" and f"`{name}`" not in DATA] == []


def test_the_runbook_knows_the_way_back_from_every_exit_code() -> None:
    raised = {kind.exit_code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.AlphaAgentError)}
    for code in (0, *raised, NOT_ANCHORED, BROKEN, SHORT, MISMATCH, BALANCE, REPLAY, UNREADABLE, 130):
        assert re.search(rf"^\| {code} \| \w", RUNBOOK, re.MULTILINE), code


LINES = [
    "the schedule is up; next: ",
    "more that were missed",
    "it is tried again in ",
    " is given up: ",
    "halted: nothing is settled or swept until it is resumed",
    "ended without a word",
    "a schedule runs in this home already",
    "refused, or could not be reached",
    "the grace is over: ",
    "; the schedule goes on",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_log_that_the_runbook_explains_is_the_programs(line: str) -> None:
    assert line.strip() in RUNBOOK
    assert line in SOURCES


@pytest.mark.parametrize("page", [SERVICE, RUNBOOK], ids=["service", "runbook"])
def test_every_command_that_a_page_names_exists(page: str) -> None:
    commands = {" ".join(words.split()) for words in re.findall(r"alphaagent ([a-z]+(?: [a-z]+)?)", page)}
    known = set(re.findall(r"^## alphaagent ([a-z ]+)$", CLI, re.MULTILINE)) | {"sweep"}
    groups = {name.split()[0] for name in known if " " in name}
    unknown = [one for one in commands if one.split()[0] not in known or (one.split()[0] in groups and " " in one and one not in known)]
    assert [one for one in unknown if f"`alphaagent {one}" in page or f"bin/alphaagent {one}" in page] == []


def test_the_unit_gives_the_grace_its_time_and_does_not_repeat_a_wrong_configuration() -> None:
    timeout = re.search(r"TimeoutStopSec=(\d+)", RUNBOOK)
    assert timeout
    assert int(timeout[1]) > Timetable().grace_seconds
    assert f"RestartPreventExitStatus={errors.ConfigFault.exit_code}\n" in RUNBOOK
