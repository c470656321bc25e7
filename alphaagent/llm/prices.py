"""What tokens cost, from `config/prices.yaml`: exact names, exact decimals, and no price where none is written.

A price that is guessed from a similar name would make a ceiling worthless, so an unknown model has none, and the ceiling decides what to do.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Context, Decimal, Inexact
from types import MappingProxyType
from typing import Any

from alphaagent.domain.base import decimal_text
from alphaagent.domain.text import inert
from alphaagent.domain.transcript import TokenUsage
from alphaagent.errors import ConfigFault
from alphaagent.llm.provider import Provider, is_loopback

PER_MILLION = Decimal("0.000001")
HIGHEST = Decimal(1_000_000)
MOST_DECIMALS = 12
EXACT = Context(prec=100, traps=[Inexact])
KEY = re.compile(r"[a-z0-9-]+/[^\s/][^\s]*")
FIX = "correct the file, or see the shipped config/prices.yaml"


@dataclass(frozen=True, slots=True)
class Price:
    """What a model charges, in USD per million tokens."""

    prompt: Decimal
    completion: Decimal

    def cost(self, usage: TokenUsage) -> Decimal:
        """What a reply cost, in USD, without rounding."""
        prompt = EXACT.multiply(self.prompt, Decimal(usage.prompt))
        completion = EXACT.multiply(self.completion, Decimal(usage.completion))
        return EXACT.multiply(EXACT.add(prompt, completion), PER_MILLION)

    def as_record(self) -> dict[str, str]:
        """The price as a transcript keeps it."""
        return {"prompt": decimal_text(self.prompt), "completion": decimal_text(self.completion)}


FREE = Price(Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices that are known, by `provider/model`."""

    as_of: date
    models: Mapping[str, Price]
    source: str

    @classmethod
    def parse(cls, document: dict[str, Any], source: str) -> "PriceList":
        """The list in a YAML document. Raises ConfigFault that names the file and the key."""
        _only(document, ("as_of", "models"), "", source)
        models = document["models"]
        if not isinstance(models, dict):
            raise _fault(source, "models", models, "it must hold a price per provider/model")
        prices = {name: _price(name, value, source) for name, value in models.items()}
        return cls(as_of=_day(document["as_of"], source), models=MappingProxyType(prices), source=source)

    def price_of(self, provider: Provider, model: str, base_url: str) -> Price | None:
        """What a model charges; None where that is not known. Free providers and this machine charge nothing."""
        if provider.is_free or is_loopback(base_url):
            return FREE
        return self.models.get(f"{provider.name}/{model}")


def _price(name: str, value: object, source: str) -> Price:
    key = f"models.{name}"
    if not KEY.fullmatch(name):
        raise _fault(source, key, name, "it must be written provider/model")
    if not isinstance(value, dict):
        raise _fault(source, key, value, "it must hold prompt and completion")
    _only(value, ("prompt", "completion"), f"{key}.", source)
    return Price(*(_amount(f"{key}.{part}", value[part], source) for part in ("prompt", "completion")))


def _amount(key: str, value: object, source: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _fault(source, key, value, "it must be a number")
    amount = Decimal(value)
    if not amount.is_finite() or not 0 <= amount <= HIGHEST:
        raise _fault(source, key, value, f"it must be at least 0 and at most {HIGHEST}")
    if amount.quantize(Decimal(1).scaleb(-MOST_DECIMALS)) != amount:
        raise _fault(source, key, value, f"it must have at most {MOST_DECIMALS} decimals")
    return amount


def _day(value: object, source: str) -> date:
    try:
        return date.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise _fault(source, "as_of", value, "it must be a day like 2026-01-31") from None


def _only(document: dict[str, Any], keys: tuple[str, ...], prefix: str, source: str) -> None:
    for key in document:
        if key not in keys:
            raise ConfigFault(f"{source}: unknown key {prefix}{inert(str(key))}; valid: {', '.join(keys)}", fix=FIX)
    for key in keys:
        if key not in document:
            raise ConfigFault(f"{source}: {prefix}{key} is missing", fix=FIX)


def _fault(source: str, key: str, value: object, rule: str) -> ConfigFault:
    return ConfigFault(f"{source}: {inert(key)} is {inert(str(value))[:60]!r}; {rule}", fix=FIX)
