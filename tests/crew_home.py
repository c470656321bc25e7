"""A home whose models are a scripted provider on this machine, with bounds as short as a test wants them."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from alphaagent.engines.crew.engine import _room
from alphaagent.settings import contained_crewai
from tests.crew_script import USAGE, bear_opening, bull_opening, crew, side_of, verdict
from tests.home import Home
from tests.scripted_provider import ScriptedProvider
from tests.scripted_wire import Behaviour, NoChoices, Request, Text

AS_OF = "2020-02-05"
"""A session on which the heuristic engine buys AAPL, too."""
KEY = "sk-secret-canary"
SCRIPTED: Mapping[str, str] = {"ALPHAAGENT_LLM_PROVIDER": "openai-compatible", "ALPHAAGENT_LLM_MODEL": "scripted-model", "ALPHAAGENT_LLM_API_KEY": KEY}
NO_CHOICES_USAGE = (100, 20)
WELL_BEHAVED: Mapping[str, Callable[[Request], str]] = {"bull": bull_opening, "bear": bear_opening, "cio": verdict}

Step = Behaviour | str | Callable[[Request], Behaviour | str]
Script = Callable[[Request], Behaviour]


def load_crewai() -> None:
    """CrewAI in this process, so that no test of times pays for its import."""
    _room(contained_crewai)


@contextmanager
def models(monkeypatch: pytest.MonkeyPatch, script: Script | None = None, **variables: str) -> Iterator[ScriptedProvider]:
    """The environment leads to a scripted provider as long as this lasts; without a script its models behave well.

    The plan is `quick` unless the home says otherwise: what is tried here is how the crew is reached, not how it argues.
    """
    quick(Path(os.environ["ALPHAAGENT_HOME"]))
    with ScriptedProvider(script or crew()) as provider:
        for name, value in {**SCRIPTED, "ALPHAAGENT_LLM_BASE_URL": provider.base_url, **variables}.items():
            monkeypatch.setenv(name, value)
        yield provider


def quick(home: Path) -> None:
    """Makes `quick` the plan of a home that has no debate.yaml of its own."""
    path = home / "config" / "debate.yaml"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text("plan: quick\n", encoding="utf-8")


def bounds(home: Home, sides: Mapping[str, Mapping[str, Any]] | None = None, **whole: Any) -> None:
    """A debate.yaml of the home's own with these values; `all` among the sides holds for each of them."""
    given = sides or {}
    each = {side: {**given.get("all", {}), **given.get(side, {})} for side in WELL_BEHAVED}
    document = {"plan": "quick", **whole, "sides": {side: values for side, values in each.items() if values}}
    path = home.folder / "config" / "debate.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump(json.loads(json.dumps(document))), encoding="utf-8")


def transcript(home: Home) -> dict[str, Any]:
    """The transcript of the last decision, with its calls."""
    found: dict[str, Any] = home.ok("show", "last", "--calls", "--json").document["transcript"]
    return found


class Misbehaving:
    """A script in which one side goes through `steps`, and each step is played once; the other sides behave well, once each."""

    def __init__(self, side: str, steps: Sequence[Step]) -> None:
        self._left: dict[str, list[Step]] = {name: list(steps) if name == side else [answer] for name, answer in WELL_BEHAVED.items()}
        self._lock = threading.Lock()
        self.asked: list[str] = []
        self.prompt_tokens = 0
        self.completion_tokens = 0

    def __call__(self, request: Request) -> Behaviour:
        side = side_of(request)
        with self._lock:
            self.asked.append(side)
            if not self._left[side]:
                raise LookupError(f"the {side} asked once more than the test foresees")
            step = self._left[side].pop(0)
        said = step(request) if callable(step) else step
        played = Text(said, usage=USAGE) if isinstance(said, str) else said
        with self._lock:
            self._count(played)
        return played

    def _count(self, played: Behaviour) -> None:
        """What a reply says that it cost; one that comes late is not heard."""
        prompt, completion = getattr(played, "usage", NO_CHOICES_USAGE if isinstance(played, NoChoices) else (0, 0))
        if not getattr(played, "latency", 0):
            self.prompt_tokens += prompt
            self.completion_tokens += completion


def well(side: str) -> Callable[[Request], str]:
    """A good answer of a side."""
    return WELL_BEHAVED[side]
