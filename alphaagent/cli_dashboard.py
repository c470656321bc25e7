"""The dashboard's process. Like cli.py: parse, one call, print.

Chosen on purpose: it listens on loopback only and for itself alone, asks nobody for a mail address, and sends no statistics of its use.
"""

import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from alphaagent.cli_common import say
from alphaagent.errors import UsageFault

HOST = "127.0.0.1"
OPTIONS: dict[str, object] = {
    "server_address": HOST,
    "server_headless": True,
    "server_fileWatcherType": "none",
    "browser_gatherUsageStats": False,
    "client_toolbarMode": "minimal",
    "client_showErrorDetails": "type",
    "logger_hideWelcomeMessage": True,
}
"""What Streamlit is told, whatever a configuration of its own says in somebody's home."""


def dashboard(port: Annotated[int, typer.Option(min=1, max=65535, help="The port on 127.0.0.1.")] = 8501) -> None:
    """Review the cases in a browser, on 127.0.0.1: what was decided and why, what it came to, and whether the books are sound. It only reads."""
    from alphaagent.bootstrap import Workplace
    from alphaagent.settings import dashboard_program

    Workplace.open()
    _refuse_taken(port)
    say(f"the dashboard is at http://{HOST}:{port} until Ctrl-C")
    _serve(dashboard_program(), port)


def _refuse_taken(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as fault:
            raise UsageFault(f"port {port} on {HOST} cannot be used: {fault.strerror}", fix="give another one with --port") from None


def _serve(program: Path, port: int) -> None:
    """Streamlit in this process, so that a signal ends all of it."""
    from streamlit.web import bootstrap

    sys.path.insert(0, str(program.parent.parent))
    options = {**OPTIONS, "server_port": port}
    bootstrap.load_config_options(options)
    bootstrap.run(str(program), False, [], options)
