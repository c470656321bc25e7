"""From the settings to a crew that can be asked: which provider, which model for whom, under which bounds, at which price.

A provider that is named and cannot be used is an error that says what is missing; it never becomes another provider, and never nobody.
"""

import importlib.util
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version

from alphaagent.debate.answers import answer_schema
from alphaagent.debate.config import DebateFile, Persona, SideBounds, Task, parse_debate, parse_personas, parse_tasks
from alphaagent.debate.orchestrate import ReadProposal
from alphaagent.debate.plan import CAPABILITIES, Phase, PhaseBounds
from alphaagent.debate.record import Bounds, PhaseSetup, Setup, SideSetup
from alphaagent.domain.argument import Debater
from alphaagent.domain.base import decimal_text, fingerprint
from alphaagent.domain.evidence import Side
from alphaagent.domain.record import PlanName
from alphaagent.domain.transcript import TokenUsage
from alphaagent.engines.crew.engine import Crew
from alphaagent.engines.crew.tools import names_of
from alphaagent.errors import ConfigFault, UsageFault
from alphaagent.llm.prices import Price, PriceList
from alphaagent.llm.provider import Provider, redacted
from alphaagent.settings import ModelSettings, Settings

SIDES: tuple[Side, ...] = ("bull", "bear", "cio")
PACKAGES = {"anthropic": ("anthropic",), "gemini": ("google", "google.genai")}
"""What the extras of this package bring, by their name."""
CALL_SECONDS = Decimal(60)
OWN_KEY = "ALPHAAGENT_LLM_API_KEY"


@dataclass(frozen=True, slots=True)
class Staff:
    """A crew and how it is set up, before anybody has been asked anything."""

    crew: Crew
    file: DebateFile
    personas: Mapping[Side, Persona]
    tasks: Mapping[str, Task]
    models: ModelSettings
    prices: PriceList

    @property
    def provider(self) -> Provider:
        return self.crew.provider

    def phases(self, plan: PlanName) -> tuple[Phase, ...]:
        """The phases of a plan. Raises UsageFault where there is no such plan."""
        if plan not in self.file.plans:
            raise UsageFault(f"there is no plan {plan}", fix=f"use one of: {', '.join(sorted(self.file.plans))}; or write it under plans in debate.yaml")
        return self.file.plans[plan]

    def model_of(self, side: Side, phase: PhaseBounds = PhaseBounds()) -> str:  # noqa: B008 - frozen
        """The model that speaks for a side. Raises ConfigFault where none is named and the provider has no usual one."""
        named = phase.model or self._side_bounds(side).model or self.models.model or self.provider.default_model
        if named is None:
            raise ConfigFault(f"no model is named for the provider {self.provider.name}", fix="set ALPHAAGENT_LLM_MODEL")
        return named

    def setup(self, plan: PlanName, markers: Mapping[str, str]) -> Setup:
        """Everything that shapes a debate besides the evidence."""
        file = self.file
        return Setup(
            plan=plan,
            phases=tuple(self._phase(phase) for phase in self.phases(plan)),
            first_speaker=file.first_speaker,
            consensus_stop=file.consensus_stop,
            provider=self.provider.name,
            base_url=redacted(self.base_url),
            sides=tuple(self._side(side) for side in SIDES),
            tasks={name: {"description": task.description, "expected_output": task.expected_output} for name, task in self.tasks.items()},
            decision_seconds=decimal_text(file.decision_seconds),
            call_attempts=file.call_attempts,
            prompt_characters=file.prompt_characters,
            evidence=file.evidence,
            thresholds=file.thresholds,
            prices={model: price.as_record() for model in self.models_of(plan) if (price := self.price(model))},
            markers=dict(markers),
            prompt_fingerprint=self.prompt_fingerprint(),
            crewai_version=version("crewai"),
        )

    @property
    def base_url(self) -> str:
        return self.crew.base_url or ""

    def prompt_fingerprint(self) -> str:
        """Hash of every text that a model is told besides the evidence and the debate."""
        shapes = [*(answer_schema(kind) for kind in CAPABILITIES), answer_schema("proposal")]
        return fingerprint([dict(self.personas), dict(self.tasks), shapes])

    def fingerprint(self) -> str:
        """Hash of what makes two requests to this crew different."""
        return fingerprint([self.provider.name, redacted(self.base_url), [self._side(side) for side in SIDES], self.file, self.prompt_fingerprint()])

    def models_of(self, plan: PlanName) -> tuple[str, ...]:
        """Every model that speaks in a plan."""
        debaters: tuple[Debater, Debater] = ("bull", "bear")
        spoken = [self.model_of(side, phase.bounds(side)) for phase in self.phases(plan) for side in debaters]
        return tuple(dict.fromkeys([*spoken, self.model_of("cio")]))

    def refuse_unpriced(self, plan: PlanName) -> None:
        """Raises ConfigFault where a model has no price, for no ceiling can be kept without one."""
        for model in self.models_of(plan):
            if self.price(model) is None:
                name = f"{self.provider.name}/{model}"
                message = f"{self.prices.source} has no price for {name}, and ALPHAAGENT_DAILY_SPEND_USD cannot be kept without one"
                raise ConfigFault(message, fix=f"add a line for {name} there, or set ALPHAAGENT_DAILY_SPEND_USD to off")

    def turns(self, plan: PlanName) -> tuple[Bounds, ...]:
        """The bounds of every turn that a plan can have, the verdict's last."""
        debaters: tuple[Debater, Debater] = ("bull", "bear")
        return (*(self._phase(phase).bounds(side) for phase in self.phases(plan) for side in debaters), self._side("cio").bounds)

    def most_cost(self, plan: PlanName) -> Decimal | None:
        """The most that a decision can cost, in USD: every turn with all its calls at their longest answers. None where a price is not known."""
        total = Decimal(0)
        for bounds in self.turns(plan):
            price = self.price(bounds.model)
            if price is None:
                return None
            written = min(bounds.calls * bounds.completion_tokens, bounds.tokens)
            total += price.cost(TokenUsage(prompt=bounds.tokens - written, completion=written))
        return total

    def price(self, model: str) -> Price | None:
        """What a model charges; None where that is not known."""
        return self.prices.price_of(self.provider, model, self.base_url)

    def _side_bounds(self, side: Side) -> SideBounds:
        bounds: SideBounds = getattr(self.file.sides, side)
        return bounds

    def _side(self, side: Side) -> SideSetup:
        persona = self.personas[side]
        return SideSetup(
            side=side, role=persona.role, goal=persona.goal, backstory=persona.backstory, tools=names_of(side), bounds=self._bounds(side, PhaseBounds())
        )

    def _phase(self, phase: Phase) -> PhaseSetup:
        return PhaseSetup(
            kind=phase.kind,
            turn_order=phase.turn_order,
            length=phase.length,
            always=phase.always,
            bull=self._bounds("bull", phase.bull),
            bear=self._bounds("bear", phase.bear),
        )

    def _bounds(self, side: Side, phase: PhaseBounds) -> Bounds:
        """The side's bounds with what the phase changes in them."""
        own = self._side_bounds(side)
        changed = own.model_copy(update={name: value for name, value in phase.model_dump().items() if value is not None})
        temperature = changed.temperature if changed.temperature is not None else self.models.temperature
        return Bounds(
            model=self.model_of(side, phase),
            temperature=None if temperature is None else decimal_text(temperature),
            completion_tokens=changed.completion_tokens,
            call_seconds=decimal_text(changed.call_seconds or self.models.call_seconds or CALL_SECONDS),
            tool_calls=changed.tool_calls,
            repairs=changed.repairs,
            calls=changed.calls,
            tokens=changed.tokens,
        )


def staff(settings: Settings, providers: Mapping[str, Provider], read: ReadProposal, contain: Callable[[], AbstractContextManager[None]]) -> Staff | None:
    """The crew that the settings name; None where no provider is named and no key is found, or where the provider is `none`. Raises ConfigFault."""
    provider = chosen_provider(settings.models, providers)
    if provider is None:
        return None
    file = parse_debate(settings.debate.document, str(settings.debate.path))
    made = Staff(
        crew=crew_of(provider, settings.models, read, contain),
        file=file,
        personas=parse_personas(settings.agents.document, str(settings.agents.path)),
        tasks=parse_tasks(settings.tasks.document, str(settings.tasks.path)),
        models=settings.models,
        prices=PriceList.parse(settings.prices.document, str(settings.prices.path)),
    )
    made.models_of(file.plan)
    return made


def chosen_provider(models: ModelSettings, providers: Mapping[str, Provider]) -> Provider | None:
    """The provider that is named, else the first whose key is there. Raises ConfigFault where a named one cannot be used."""
    if models.provider == "none":
        return None
    if models.provider is not None:
        return providers[models.provider]
    found = next((one for one in providers.values() if one.needs_key and models.key(one.key_variables)), None)
    if found is None and (models.base_url or OWN_KEY in models.keys):
        raise ConfigFault("ALPHAAGENT_LLM_BASE_URL or ALPHAAGENT_LLM_API_KEY is set, and no provider is named", fix="set ALPHAAGENT_LLM_PROVIDER")
    return found


def crew_of(provider: Provider, models: ModelSettings, read: ReadProposal, contain: Callable[[], AbstractContextManager[None]]) -> Crew:
    """A crew at a provider. Raises ConfigFault where its address, its key or its client is missing."""
    base_url = models.base_url or provider.base_url
    if base_url is None:
        raise ConfigFault(f"the provider {provider.name} needs an address", fix="set ALPHAAGENT_LLM_BASE_URL")
    key = models.key((OWN_KEY, *provider.key_variables))
    if key is None and provider.needs_key:
        raise ConfigFault(
            f"ALPHAAGENT_LLM_PROVIDER is {provider.name}, and its key is missing; it does not become another provider, nor the heuristic engine",
            fix=f"set {provider.key_variables[0]} or {OWN_KEY}, or use --engine heuristic",
        )
    _refuse_missing_client(provider)
    return Crew(provider=provider, base_url=base_url, key=lambda: key or "no-key", read=read, contain=contain)


def recorded_crew(setup: Setup, providers: Mapping[str, Provider], read: ReadProposal, contain: Callable[[], AbstractContextManager[None]]) -> Crew:
    """The crew of a transcript, to run it again. Raises ConfigFault where its provider is unknown here or its client is not installed."""
    provider = providers.get(setup.provider)
    if provider is None:
        raise ConfigFault(f"the provider {setup.provider} of this decision is unknown here", fix="replay it with the program that made it")
    _refuse_missing_client(provider)
    return Crew(provider=provider, base_url=setup.base_url, key=lambda: "from-the-record", read=read, contain=contain)


def _refuse_missing_client(provider: Provider) -> None:
    if provider.extra and not _has(PACKAGES[provider.extra]):
        raise ConfigFault(f"the provider {provider.name} needs a package that is not installed", fix=f"pip install 'alphaagent[{provider.extra}]'")


def _has(packages: tuple[str, ...]) -> bool:
    """Whether all of these are installed; nothing is imported but the parents of a dotted name."""
    return all(importlib.util.find_spec(name) is not None for name in packages)
