"""What every test gets: no network beyond loopback, and no setting left over from the shell that started it."""

import ipaddress
import os
import socket

import pytest
import typer.main
from hypothesis import HealthCheck, settings

from alphaagent.ledger import database
from tests import economy

# A busy machine is slow, not wrong.
settings.register_profile("alphaagent", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("alphaagent")


setattr(typer.main, "get_command", economy.COMMANDS)  # noqa: B010 - it is another's module
setattr(database, "migration", economy.migration)  # noqa: B010 - for all tests alike


class NetworkRefused(RuntimeError):
    """A test tried to leave the machine."""


def _is_loopback(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a Unix socket path
    host = str(address[0])
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def refuse_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every connect or lookup beyond loopback raises NetworkRefused."""
    connect, connect_ex, lookup = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: object) -> None:
        if not _is_loopback(address):
            raise NetworkRefused(f"a test tried to reach {address!r}")
        connect(self, address)  # type: ignore[arg-type]

    def guarded_connect_ex(self: socket.socket, address: object) -> int:
        if not _is_loopback(address):
            raise NetworkRefused(f"a test tried to reach {address!r}")
        return connect_ex(self, address)  # type: ignore[arg-type]

    def guarded_lookup(host: object, *args: object, **kwargs: object) -> object:
        if host is not None and not _is_loopback((host,)):
            raise NetworkRefused(f"a test tried to look up {host!r}")
        return lookup(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_lookup)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No ALPHAAGENT_* variable, fallback switch or provider key of the shell reaches a test."""
    for name in list(os.environ):
        if name.startswith("ALPHAAGENT_") and name != "ALPHAAGENT_REFERENCE_DATA":
            monkeypatch.delenv(name)
        if name == "ALLOW_HEURISTIC_FALLBACK" or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
