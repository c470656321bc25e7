"""What a provider of models is: where it answers, which wire form it speaks, where its key is looked for.

A provider is data and nothing else, so that adding one needs no code. Clients are built elsewhere, from these fields.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

from alphaagent.domain.text import inert

Route = Literal["openai", "anthropic", "gemini"]
"""Which client talks to a provider, and in which wire form: chat completions, messages or generateContent."""
CapField = Literal["max_tokens", "max_completion_tokens"]

HOST = re.compile(r"(?:[\w.-]+|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?")
UNREADABLE = "(an unreadable URL)"


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider of models. `registry.PROVIDERS` holds them by name."""

    name: str
    route: Route
    key_variables: tuple[str, ...]
    """Environment variables that may hold the key, the first that is set counts; empty where no key is needed."""
    default_model: str | None
    """None: the user must name one."""
    base_url: str | None
    """The endpoint as the route's client wants it; None: the user must give one."""
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Sent with every request, besides what the client sends."""
    cap_field: CapField = "max_tokens"
    """How chat completions spell the bound on a reply here; the other wire forms have one spelling only."""
    extra: str | None = None
    """The optional dependency of this package that brings the client."""
    is_free: bool = False
    """No token is charged, wherever the endpoint is."""

    @property
    def needs_key(self) -> bool:
        """Whether no request is accepted without a key; where not, one may still be given."""
        return bool(self.key_variables)


def redacted(url: str) -> str:
    """A URL that may be shown and recorded: without credentials, query and fragment."""
    bare = re.split(r"[?#]", url, maxsplit=1)[0]
    scheme, separator, rest = bare.partition("://") if "://" in bare else ("", "", bare)
    authority, slash, path = rest.partition("/")
    host = authority.rpartition("@")[2]
    # A password may hold the very characters that end an authority, and what is left of one must not be shown either.
    if not HOST.fullmatch(host) or "@" in path or not re.fullmatch(r"[a-zA-Z]*", scheme):
        return UNREADABLE
    return inert(f"{scheme}{separator}{host}{slash}{path}")


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine: 127.0.0.0/8, ::1 or localhost. False where it cannot be read."""
    try:
        host = urlsplit(url if "://" in url else f"//{url}").hostname
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False
