"""A home as some weeks of use leave it, made by real runs: sweeps of two portfolios, debates, one with hostile words, a fallback, blocks, fills."""

import contextlib
import io
from pathlib import Path

import pytest

from alphaagent.cli import run
from tests.crew_home import models
from tests.crew_script import USAGE, bear_opening, bull_opening, crew, side_of, verdict
from tests.dashboard_script import asserting, giving_ground, silent
from tests.scripted_provider import Request, Status, Text
from tests.scripted_wire import Behaviour

HOSTILE = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> [click](https://evil.example/x) **bold** "
    "=HYPERLINK(0) :red[red] $x^2$ `code` https://evil.example/y"
)
"""What may be said and must not act. Hidden characters never come so far: an answer that has any is sent back."""
PORTFOLIOS = {
    "default": "cash: 100000\nwatchlist: [AAPL, MSFT, NVDA, GOOG]\n",
    "beta": "cash: 9000\nmandate: aggressive\nwatchlist: [AAPL, AMZN, NFLX]\n",
}
SWEEPS = ("2020-02-03", "2020-03-16", "2020-04-20")
DEBATED, HOSTILE_DAY, AWAY = "2020-02-05", "2020-02-06", "2020-02-07"


def hostile(request: Request) -> Behaviour:
    """The bull's and the CIO's words carry everything that a page could take for something else."""
    said = {"bull": bull_opening, "bear": bear_opening, "cio": verdict}[side_of(request)](request)
    word = HOSTILE.replace('"', '\\"')
    return Text(said.replace('"summary": "', f'"summary": "{word} ').replace('"reasoning": "', f'"reasoning": "{word} '), usage=USAGE)


def build(folder: Path) -> None:
    """Fills a home folder. The environment of this process leads nowhere else afterwards."""
    (folder / "config" / "portfolios").mkdir(parents=True)
    for name, text in PORTFOLIOS.items():
        (folder / "config" / "portfolios" / f"{name}.yaml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        patch.setenv("ALPHAAGENT_HOME", str(folder))
        _ok("sweep", "--as-of", SWEEPS[0], "--engine", "heuristic")
        with models(patch, crew()):
            _ok("decide", "AAPL", "MSFT", "--as-of", DEBATED, "--plan", "standard")
        with models(patch, hostile):
            _ok("decide", "NVDA", "--as-of", HOSTILE_DAY, "--plan", "quick")
        with models(patch, crew(bull=asserting, retort=giving_ground, cio=lambda request: verdict(request, amount=6000))):
            _ok("decide", "AAPL", "--as-of", HOSTILE_DAY, "--plan", "standard")
        with models(patch, crew(bear=silent, cio=lambda request: verdict(request, amount=60_000))):
            _ok("decide", "MSFT", "--as-of", AWAY, "--plan", "quick")
        with models(patch, lambda _: Status(503)):
            _ok("decide", "GOOG", "--as-of", AWAY)
        for name in ("ALPHAAGENT_LLM_PROVIDER", "ALPHAAGENT_LLM_MODEL", "ALPHAAGENT_LLM_API_KEY", "ALPHAAGENT_LLM_BASE_URL"):
            patch.delenv(name, raising=False)
        for session in SWEEPS[1:]:
            _ok("sweep", "--as-of", session)
        with models(patch, crew(cio=lambda request: verdict(request, amount=60_000))):  # more than the guard takes for a wish
            _ok("decide", "MSFT", "--portfolio", "beta", "--as-of", SWEEPS[-1], "--plan", "quick")


def _ok(*arguments: str) -> None:
    code = run(list(arguments))
    assert code == 0, (code, arguments)


if __name__ == "__main__":
    import sys

    build(Path(sys.argv[1]))
