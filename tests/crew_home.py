"""A home whose models are a scripted provider on this machine, with bounds as short as a test wants them."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from tests.crew_script import crew
from tests.home import Home
from tests.scripted_provider import ScriptedProvider
from tests.scripted_wire import Behaviour, Request

AS_OF = "2020-02-05"
"""A session on which the heuristic engine buys AAPL, too."""
KEY = "sk-secret-canary"
SCRIPTED: Mapping[str, str] = {"ALPHAAGENT_LLM_PROVIDER": "openai-compatible", "ALPHAAGENT_LLM_MODEL": "scripted-model", "ALPHAAGENT_LLM_API_KEY": KEY}


@contextmanager
def models(monkeypatch: pytest.MonkeyPatch, script: Callable[[Request], Behaviour] | None = None, **variables: str) -> Iterator[ScriptedProvider]:
    """The environment leads to a scripted provider as long as this lasts; without a script its models behave well."""
    with ScriptedProvider(script or crew()) as provider:
        for name, value in {**SCRIPTED, "ALPHAAGENT_LLM_BASE_URL": provider.base_url, **variables}.items():
            monkeypatch.setenv(name, value)
        yield provider


def bounds(home: Home, sides: Mapping[str, Mapping[str, Any]] | None = None, **whole: Any) -> None:
    """A debate.yaml of the home's own with these values; `sides` may hold `all` for what holds for each of them."""
    given = sides or {}
    each = {side: {**given.get("all", {}), **given.get(side, {})} for side in ("bull", "bear", "cio")}
    document = {**whole, "sides": {side: values for side, values in each.items() if values}}
    path = home.folder / "config" / "debate.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(json.loads(json.dumps(document))), encoding="utf-8")


def transcript(home: Home) -> dict[str, Any]:
    """The transcript of the last decision, with its calls."""
    found: dict[str, Any] = home.ok("show", "last", "--calls", "--json").document["transcript"]
    return found
