"""notify.yaml: what it says, what it refuses, and when it is quiet."""

from datetime import UTC, datetime
from typing import Any

import pytest

from alphaagent.domain.notice import TOPICS
from alphaagent.errors import ConfigFault
from alphaagent.notify.targets import parse_notify

PHONE = {"url_variable": "ALPHAAGENT_NOTIFY_PHONE"}
NIGHT = {"zone": "America/New_York", "begins": "22:00", "ends": "07:00"}


def test_a_target_that_names_no_topics_hears_of_everything_but_plain_decisions() -> None:
    routes = parse_notify({"targets": {"phone": PHONE, "log": PHONE | {"topics": ["decision", "order"]}}}, "notify.yaml").routes
    assert routes == dict.fromkeys(TOPICS, ("phone",)) | {"decision": ("log",), "order": ("phone", "log")}


def test_nobody_is_told_of_anything_by_default() -> None:
    assert parse_notify({}, "notify.yaml").routes == {}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"target": {}}, "unknown key target"),
        ({"targets": {"phone": PHONE | {"topic": []}}}, "unknown key targets.phone.topic"),
        ({"quiet_hours": NIGHT | {"form": 1}}, "unknown key quiet_hours.form"),
        ({"targets": {"phone": {}}}, "targets.phone.url_variable"),
        ({"targets": {"phone": {"url_variable": "PHONE"}}}, "targets.phone.url_variable is no name of a variable"),
        ({"targets": {"phone": {"url_variable": "json://user:password@host"}}}, "targets.phone.url_variable"),
        ({"targets": "json://user:password@host"}, "targets is no name of a variable"),
        ({"targets": {"phone": PHONE | {"topics": []}}}, "targets.phone.topics is"),
        ({"targets": {"phone": PHONE | {"topics": ["orders"]}}}, "targets.phone.topics.0 is 'orders'"),
        ({"targets": {"my phone": PHONE}}, "'my phone' is no name"),
        ({"targets": {f"t{n}": PHONE for n in range(21)}}, "targets is"),
        ({"quiet_hours": NIGHT | {"zone": "Mars/Olympus"}}, "quiet_hours.zone is 'Mars/Olympus'"),
        ({"quiet_hours": NIGHT | {"begins": "24:00"}}, "quiet_hours.begins is '24:00'"),
        ({"quiet_hours": NIGHT | {"ends": "7:00"}}, "quiet_hours.ends is '7:00'"),
    ],
)
def test_what_is_wrong_is_named(document: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigFault) as fault:
        parse_notify(document, "notify.yaml")
    assert fault.value.message.startswith("notify.yaml: ")
    assert message in fault.value.message
    assert "password" not in fault.value.message
    assert fault.value.fix


@pytest.mark.parametrize(
    ("hours", "at", "silent"),
    [
        (NIGHT, "2026-01-06T02:59:59", False),
        (NIGHT, "2026-01-06T03:00:00", True),
        (NIGHT, "2026-01-06T11:59:59", True),
        (NIGHT, "2026-01-06T12:00:00", False),
        (NIGHT, "2026-07-06T02:00:00", True),
        (NIGHT, "2026-07-06T11:00:00", False),
        (NIGHT | {"begins": "12:00", "ends": "13:00"}, "2026-01-06T17:30:00", True),
        (NIGHT | {"begins": "12:00", "ends": "13:00"}, "2026-01-06T18:00:00", False),
        (NIGHT | {"begins": "12:00", "ends": "12:00"}, "2026-01-06T17:00:00", False),
    ],
)
def test_quiet_hours_go_by_the_wall_clock_of_their_zone(hours: dict[str, str], at: str, silent: bool) -> None:
    notify = parse_notify({"quiet_hours": hours}, "notify.yaml")
    topics = notify.topics_at(datetime.fromisoformat(at).replace(tzinfo=UTC))
    assert tuple(topics) == (("control", "breaker", "failure") if silent else TOPICS)
