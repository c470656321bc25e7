"""The edge to CrewAI, and the only module that imports it; importing this module costs seconds, so that only a debate does.

Every turn gets an agent, a task, a crew and a model client of its own: CrewAI counts an agent's failures for the agent's whole life, and two
turns that share a client share its usage. The answer goes through a task guardrail; the verdict also through `output_pydantic`, whose own
conversion is left out (`_LeftToTheGuardrail`), because it would ask the model again behind the guardrail's back. The guardrail carries no
annotations: CrewAI reads them as objects, and under postponed evaluation they are strings.

Its clients do more than send a turn's requests: they ask the provider to count tokens, shorten a conversation by more model calls where they
believe that it is too long, and guess from a model's name whether it can call tools. All of that is off (`_OnlyAsks`): each would be a request
that nobody planned, and a summary would stand where the evidence stood.
"""

import logging
import os
import ssl
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import crewai
import openai.resources
from crewai import Agent, Crew, Task
from crewai.agents.agent_executor import AgentExecutor, AgentExecutorState
from crewai.events import crewai_event_bus, event_context
from crewai.events.utils.console_formatter import ConsoleFormatter
from crewai.flow.runtime import FlowState
from crewai.llms.providers.openai.completion import OpenAICompletion
from crewai.tools import BaseTool
from crewai.utilities.converter import Converter, ConverterError
from crewai.utilities.task_output_storage_handler import TaskOutputStorageHandler
from pydantic import BaseModel, ConfigDict
from rich.console import Console

from alphaagent.debate.orchestrate import Asked
from alphaagent.debate.record import Repair
from alphaagent.domain.text import inert
from alphaagent.domain.transcript import Fault
from alphaagent.engines.crew.rehearsal import rehearse
from alphaagent.engines.crew.tools import Tool
from alphaagent.llm.wire import Wire, client_of, idle_client

VERSION: str = crewai.__version__
MOST_ROUNDS = 50
"""CrewAI's own bound on a turn, above every bound of ours: ours end a turn with a reason, its own with another request."""
SHOWN = 200
GRACE_SECONDS = 5.0
"""What CrewAI may take to put an answer away that came just before the deadline."""
NEVER = 3600.0
"""The libraries' own timeout in seconds, above every deadline of the wire."""


_BUILDING = threading.Lock()
"""Building a crew loads what its libraries put off, and two threads that load modules which import each other may see half of one. For the same
reason the `resources` of a provider's library are imported by name: left to itself it loads those hundreds of modules at the first call, which
both openings make at once.
"""


class _NoArguments(BaseModel):
    """The tools take none: what may be asked for was settled when the evidence was frozen."""

    model_config = ConfigDict(extra="forbid")


class _Answer(BaseModel):
    """The verdict as CrewAI shows its shape to the model; what is accepted is the strict parser's word alone, and this sentence is not shown."""

    model_config = ConfigDict(extra="forbid", title="TradeProposal", json_schema_extra=lambda schema: schema.pop("description", None))

    action: Literal["BUY", "SELL", "HOLD"]
    amount: float
    sentiment: Literal["BULLISH", "BEARISH", "NEUTRAL"]
    reasoning: str
    p_up: float
    relied_on: list[str]


class _LeftToTheGuardrail(Converter):
    """Converts nothing: an answer that the guardrail has not accepted is no answer, and one that it has needs no second reading."""

    def to_pydantic(self, current_attempt: int = 1) -> Any:  # noqa: ARG002 - CrewAI's signature
        return ConverterError("left to the guardrail")

    def to_json(self, current_attempt: int = 1) -> Any:  # noqa: ARG002 - CrewAI's signature
        return ConverterError("left to the guardrail")


class _State(FlowState, AgentExecutorState):
    """What CrewAI's executor keeps of its run. Left to itself it makes this class anew for every agent, the dearest step of a turn."""


class _KeepsNothing(TaskOutputStorageHandler):
    """Where CrewAI would write what was asked and answered into a database of its own: what is kept of a debate is its transcript."""

    def __init__(self) -> None:
        """Opens nothing."""

    def update(self, task_index: int, log: dict[str, Any]) -> None:
        """Writes nothing."""

    def reset(self) -> None:
        """Deletes nothing."""


class _EvidenceTool(BaseTool):
    """A tool as CrewAI wants it, around one of ours."""

    args_schema: type[BaseModel] = _NoArguments
    run_it: Callable[[], str]

    def _run(self, **arguments: Any) -> str:
        return "This tool takes no arguments; call it with {}." if arguments else self.run_it()


@dataclass(frozen=True, slots=True)
class Place:
    """A turn's agent before it speaks: who it is, what it may call, and its wire."""

    role: str
    goal: str
    backstory: str
    route: Literal["openai", "anthropic", "gemini"]
    model: str
    temperature: float | None
    api_key: str
    base_url: str | None
    repairs: int
    tools: tuple[Tool, ...]
    wire: Wire


class CrewRoom:
    """Where the agents of one debate speak. `place_of` seats a turn; `left` gives the seconds to the deadline, None where none is kept."""

    def __init__(self, place_of: Callable[[Asked], Place], left: Callable[[], float | None]) -> None:
        self._place_of, self._left = place_of, left

    def together(self, asked: Sequence[Asked]) -> tuple[str | Fault, ...]:
        """One thread a turn. At the deadline the wire ends every exchange, so that a turn ends by itself and its record is whole; one that does
        not is given up a little later, unheard.
        """
        outcomes: list[str | Fault | None] = [None] * len(asked)

        def take(place: int, turn: Asked) -> None:
            outcomes[place] = _spoken(turn, self._place_of(turn))

        threads = [threading.Thread(target=take, args=pair, daemon=True) for pair in enumerate(asked)]
        for thread in threads:
            thread.start()
        for thread in threads:
            left = self._left()
            thread.join(None if left is None else max(left, 0.0) + GRACE_SECONDS)
        return tuple(_unheard(thread) if outcome is None else outcome for thread, outcome in zip(threads, outcomes, strict=True))


def _unheard(thread: threading.Thread) -> Fault:
    """Why a turn has no outcome: it goes on beyond all bounds, or it never began to speak."""
    if thread.is_alive():
        return Fault(kind="deadline", message="the deadline of the decision passed before the model had answered")
    return Fault(kind="internal", message="a turn broke off before anybody was asked")


def _spoken(turn: Asked, place: Place) -> str | Fault:
    """One turn. CrewAI raises whatever its libraries raise, and a bare Exception of its own: this is the place that turns it into a Fault."""
    last: list[Repair] = []

    def guardrail(output):  # type: ignore[no-untyped-def]
        wrong = turn.check(output.raw, place.wire.used_up)
        if wrong is None:
            return True, output.raw
        last.append(wrong)
        return False, wrong.message

    try:
        with _BUILDING:
            crew = _crew(turn, place, guardrail)
        answer: Any = crew.kickoff()
    except Exception as error:  # noqa: BLE001 - the edge to CrewAI
        return place.wire.fault or turn.broken() or _fault(error, last, place.repairs)
    return place.wire.fault or str(answer.raw)


def _fault(error: Exception, sent_back: Sequence[Repair], repairs: int) -> Fault:
    if len(sent_back) > repairs:
        return Fault(kind="unusable", message=f"the answer could not be used after {repairs} repairs: {inert(sent_back[-1].message)[:SHOWN]}")
    return Fault(kind="internal", message=f"CrewAI failed with {type(error).__name__}: {inert(str(error))[:SHOWN]}")


def _crew(turn: Asked, place: Place, guardrail: Any) -> Crew:
    agent = Agent(
        role=place.role,
        goal=place.goal,
        backstory=place.backstory,
        llm=CLIENTS[place.route](place),
        tools=[_EvidenceTool(name=tool.name, description=tool.description, run_it=tool.run) for tool in place.tools],
        allow_delegation=False,
        cache=False,
        max_iter=MOST_ROUNDS,
        max_retry_limit=0,
        verbose=False,
    )
    shape: dict[str, Any] = {"output_pydantic": _Answer, "converter_cls": _LeftToTheGuardrail} if turn.is_proposal else {}
    task = Task(
        description=turn.description,
        expected_output=turn.expected_output,
        agent=agent,
        guardrail=guardrail,
        guardrail_max_retries=place.repairs,
        **shape,
    )
    crew = Crew(agents=[agent], tasks=[task], verbose=False, cache=False, memory=False, tracing=False)
    crew._task_output_handler = _KeepsNothing()
    return crew


class _OnlyAsks:
    """What CrewAI's clients believe of a model, replaced by what is true of every turn here: it fits, it is within its purse, it has tools.

    A model without tools says so in its reply, and CrewAI then asks it in words.
    """

    def get_input_tokens_count(self, *_: Any, **__: Any) -> int:
        return 0

    def is_context_window_overflowing_threshold(self, *_: Any, **__: Any) -> bool:
        return False

    def is_tool_result_overflowing_threshold(self, *_: Any, **__: Any) -> tuple[bool, int]:
        return False, 0

    def supports_function_calling(self) -> bool:
        return True

    def _build_sync_client(self) -> Any:
        return None

    def _build_async_client(self) -> Any:
        return None

    def _initialize_client(self, use_vertexai: bool = False) -> Any:  # noqa: ARG002 - CrewAI's signature
        return None


class _AsksOpenAI(_OnlyAsks, OpenAICompletion):
    """Chat completions."""


def _openai(place: Place) -> Any:
    llm = _AsksOpenAI(model=place.model, provider="openai", temperature=place.temperature, api_key=place.api_key, base_url=place.base_url, max_retries=0)
    # It is true of any name with these two letters in it, and turns the system prompt into a user's.
    llm.is_o1_model = False
    client = openai.OpenAI(api_key=place.api_key, base_url=place.base_url, timeout=NEVER, max_retries=0, http_client=client_of(place.wire))
    # It takes headers from the environment, even another key, and they are nobody's business at this address.
    client._custom_headers = {}
    llm._client = client
    return llm


@cache
def _anthropic_class() -> Any:
    from crewai.llms.providers.anthropic.completion import AnthropicCompletion

    class AsksAnthropic(_OnlyAsks, AnthropicCompletion):
        """Messages."""

    return AsksAnthropic


def _anthropic(place: Place) -> Any:
    import anthropic.resources

    llm = _anthropic_class()(model=place.model, temperature=place.temperature, api_key=place.api_key, base_url=place.base_url, max_retries=0)
    client = anthropic.Anthropic(api_key=place.api_key, base_url=place.base_url, timeout=NEVER, max_retries=0, http_client=client_of(place.wire))
    # Likewise a second credential.
    client.auth_token = None
    llm._client = client
    return llm


@cache
def _gemini_class() -> Any:
    from crewai.llms.providers.gemini.completion import GeminiCompletion

    class AsksGemini(_OnlyAsks, GeminiCompletion):
        """generateContent."""

    return AsksGemini


@cache
def _no_sockets() -> dict[str, Any]:
    """Google's client reads all certificates three times for sockets that it never opens here; this context trusts nobody."""
    nobody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return {"client_args": {"verify": nobody}, "async_client_args": {"verify": nobody, "ssl": nobody}, "httpx_async_client": idle_client(nobody)}


def _gemini(place: Place) -> Any:
    from google import genai
    from google.genai import types

    llm = _gemini_class()(model=place.model, temperature=place.temperature, api_key=place.api_key)
    llm.supports_tools = True
    options = types.HttpOptions(base_url=place.base_url, httpx_client=client_of(place.wire), **_no_sockets())
    llm._client = genai.Client(api_key=place.api_key, vertexai=False, http_options=options)
    return llm


CLIENTS: dict[str, Callable[[Place], Any]] = {"openai": _openai, "anthropic": _anthropic, "gemini": _gemini}
"""CrewAI's native clients by wire form. Nothing is repeated in them: the wire repeats and counts."""


def _silence() -> None:
    """CrewAI talks on stdout, where our data goes, and logs what its callers are told anyway."""
    mute = ConsoleFormatter()
    mute.console = Console(quiet=True)
    crewai_event_bus._console = mute
    event_context._console = mute
    logging.getLogger("crewai").setLevel(logging.CRITICAL)
    package = os.sep + "crewai" + os.sep
    logging.getLogger().addFilter(lambda record: package not in record.pathname)


_silence()
setattr(AgentExecutor, "_initial_state_t", _State)  # noqa: B010 - it has no declaration that an assignment could be checked against
REHEARSED = rehearse(Place, _spoken)
