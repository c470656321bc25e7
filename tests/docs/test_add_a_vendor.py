"""The example vendor of the wiki passes the contract of every vendor, made by its registry line under its limits."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from alphaagent.evidence.live.limits import VendorLimits, parse_limits
from alphaagent.evidence.live.site import MakeVendors, Site
from alphaagent.evidence.live.vendor import Vendor
from tests.contract import test_vendor_contract as contract
from tests.contract.test_vendor_contract import Case, Chosen, in_mood, raw, records  # noqa: F401 - the fixtures of the contract
from tests.vendors.server import serving

PAGE = (Path(__file__).parents[2] / "docs" / "wiki" / "Add-a-vendor.md").read_text(encoding="utf-8")
NAME = "alphaagent.evidence.live.vendors.acme"
(CASE,) = re.findall(r"^\"acme\": Case\(.*$", PAGE, re.MULTILINE)
VENDOR, MAKING, PLAYING = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run(code: str, **names: Any) -> dict[str, Any]:
    exec(compile(code, "Add-a-vendor.md", "exec"), names)
    return names


@pytest.fixture(scope="module")
def make() -> Iterator[MakeVendors]:
    module = ModuleType(NAME)
    exec(compile(VENDOR, "acme.py", "exec"), vars(module))
    sys.modules[NAME] = module
    yield run(MAKING, Site=Site, Vendor=Vendor)["_acme"]
    del sys.modules[NAME]


@pytest.fixture(scope="module")
def chosen(make: MakeVendors, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chosen]:
    with serving(run(PLAYING)["play_acme"]) as server:
        (case,) = run(f"cases = {{{CASE}}}", Case=Case, VENDORS={"acme": make}, play_acme=server.players[0])["cases"].values()
        yield Chosen("acme", case, "prices", server, tmp_path_factory.mktemp("acme"))


def test_the_block_of_limits_is_one() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    limits = parse_limits(yaml.safe_load(block), "the page", ("acme",))["acme"]
    assert limits != VendorLimits()
    assert limits.seconds == 10


def test_the_registry_line_keeps_what_is_there() -> None:
    (line,) = re.findall(r"^VENDORS: .*$", PAGE, re.MULTILINE)
    made = run(line.replace(": Mapping[str, MakeVendors]", ""), **{f"_{name}": name for name in (*contract.VENDORS, "acme")})["VENDORS"]
    assert set(made) == {*contract.VENDORS, "acme"}
    assert [name for name in made if name != "acme"] == list(contract.VENDORS)


ABOUT_ONE = {name: check for name, check in vars(contract).items() if name.startswith("test_") and {"chosen", "records"} & {*check.__code__.co_varnames}}
globals().update(ABOUT_ONE)
