"""The example of the page on adding a provider is a provider."""

import re
from pathlib import Path

from alphaagent.llm.dialects import DIALECTS
from alphaagent.llm.provider import Provider

PAGE = (Path(__file__).parents[2] / "docs" / "wiki" / "Add-a-provider.md").read_text(encoding="utf-8")


def test_the_example_runs_and_every_field_is_described() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Provider] = {}
    exec(compile(code, "acme.py", "exec"), names)
    assert names["PROVIDER"].name == "acme"
    assert names["PROVIDER"].route in DIALECTS
    assert names["PROVIDER"].needs_key
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(Provider.__slots__)
