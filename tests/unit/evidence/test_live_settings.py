"""What may stand in the settings of live data, and who is told of the contact."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.evidence.live.gate import Gate
from alphaagent.evidence.live.limits import VendorLimits, parse_limits
from alphaagent.evidence.live.site import SEC_HOSTS, Site, is_the_sec
from alphaagent.operations.recording import record
from alphaagent.settings import DataSettings
from tests.snapshot_folder import recorded_calendars
from tests.unit.evidence.test_live_source import NIGHT

SITE = Site(Gate("feeds", VendorLimits(), lambda _: None), Path("nowhere"), "Jane jane@example.org", None, {}, "feeds.yaml", lambda _: None)


@pytest.mark.parametrize("text", ["Jane jane@example.org", "jane@example.org", "Jane Doe (desk) jane@example.org"])
def test_a_contact_is_a_name_and_an_address(text: str) -> None:
    assert DataSettings(contact=text).contact == text


@pytest.mark.parametrize("text", ["Jane jane@x.org\nX: y", "é@b.org", "jane", "jane@", "@example.org", "jane@example"])
def test_a_contact_that_no_header_can_hold_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        DataSettings(contact=text)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:99999", "http://127.0.0.1:abc", "https://user:pw@host", "https://host?x=1", "https://host#x", "http://host"]
)
def test_an_address_that_cannot_be_asked_is_refused_by_its_key(address: str) -> None:
    with pytest.raises(ConfigFault, match=r"yahoo\.address"):
        parse_limits({"yahoo": {"address": address}}, "vendors.yaml", ("yahoo",))


@pytest.mark.parametrize(("host", "told"), [("www.sec.gov", True), ("data.sec.gov", True), ("news.google.com", False), ("notsec.gov", False)])
def test_only_the_sec_is_told_of_the_contact_and_it_goes_to_nobody_else(host: str, told: bool) -> None:
    wire = SITE.wire_of(host)
    assert is_the_sec(host) is told
    assert ("jane@example.org" in wire._user_agent, wire._hosts) == (told, SEC_HOSTS if told else ())


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_snapshot_cannot_be_recorded_where_a_file_stands(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageFault, match="is no folder"):
        record(tmp_path / place, [], [], recorded_calendars(), NIGHT)
