"""Measures a debate of the crew, plan `quick`, at a scripted model latency, and prints it beside a peer that makes the same calls without CrewAI.

python tests/benchmarks/crew.py [--latency 0.5] [--runs 5]

The models answer from a process of their own, as models do, so that nothing of their work is counted as ours. What a debate takes beyond the
latencies that have to follow one another is its own.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests import crew_script  # noqa: E402
from tests.scripted_provider import CallTools, Request, ScriptedProvider, Step, Text  # noqa: E402
from tests.synthetic import sessions, workplace, write_home  # noqa: E402

AS_OF = "2020-02-05"
DECIDE = ["-m", "alphaagent", "decide", "AAPL", "--as-of", AS_OF, "--json"]
MANY, AT_ONCE = 20, 10
HOLD = json.dumps({"action": "HOLD", "amount": 0, "sentiment": "NEUTRAL", "reasoning": "Nothing decides it.", "p_up": 0.5, "relied_on": []})


def answers(latency: float) -> Callable[[Request], Step]:
    """Three models that cite what they were shown, and first call all their tools where they were shown nothing."""

    def play(request: Request) -> Step:
        side, phase, ids = crew_script.side_of(request), crew_script.phase_of(request), re.findall(r"ev_[0-9a-f]{12}", json.dumps(request.body))
        if phase in crew_script.ARGUED:
            return Text(str(crew_script.ARGUED[phase](request)), usage=crew_script.USAGE, latency=latency)
        if side == "cio":
            return Text(HOLD, usage=crew_script.USAGE, latency=latency)
        if not ids:
            called = [(tool["function"]["name"], "{}") for tool in request.body["tools"]]
            return CallTools(called[:2], usage=crew_script.USAGE, latency=latency)
        return Text(crew_script.opening(side, [crew_script.claim("It is as the evidence says.", ids[:1])]), usage=crew_script.USAGE, latency=latency)

    return play


@contextmanager
def models(latency: float) -> Iterator[str]:
    """The address of models in a process of their own."""
    command = [sys.executable, __file__, "--serve", "--latency", str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def serve(latency: float) -> None:
    """Answers until standard input ends."""
    with ScriptedProvider(answers(latency)) as provider:
        print(provider.base_url, flush=True)
        sys.stdin.read()


def environment(url: str, home: Path) -> dict[str, str]:
    return {
        "ALPHAAGENT_HOME": str(home),
        "ALPHAAGENT_LLM_PROVIDER": "openai-compatible",
        "ALPHAAGENT_LLM_BASE_URL": url,
        "ALPHAAGENT_LLM_MODEL": "scripted-model",
    }


def configured(home: Path, **changes: str) -> Path:
    """A home with the plan `quick` and these values in its debate.yaml."""
    text = (ROOT / "config" / "debate.yaml").read_text(encoding="utf-8")
    for key, value in {"plan": "quick", **changes}.items():
        text = re.sub(rf"(?m)^{key}: .*$", f"{key}: {value}", text)
    (home / "config").mkdir(parents=True, exist_ok=True)
    (home / "config" / "debate.yaml").write_text(text, encoding="utf-8")
    return home


def cold(url: str, runs: int, *more: str) -> tuple[float, float]:
    """Median seconds of a whole process with a home of its own, and its peak in megabytes."""
    seconds, peaks = [], []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as home:
            begun = time.perf_counter()
            variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment(url, configured(Path(home)))}
            process = subprocess.Popen([sys.executable, *DECIDE, *more], env=variables, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            if status:
                raise SystemExit("a decision in a cold process failed")
            seconds.append(time.perf_counter() - begun)
            peaks.append(usage.ru_maxrss / 1024)
    return statistics.median(seconds), max(peaks)


Taken = tuple[float, float]
"""Seconds on the clock, and seconds of this process's processor."""


def since(begun: Taken) -> Taken:
    return time.perf_counter() - begun[0], time.process_time() - begun[1]


def now() -> Taken:
    return time.perf_counter(), time.process_time()


def warm(url: str, runs: int, plan: Any, **changes: str) -> tuple[list[Taken], list[Taken], Any]:
    """What whole decisions and the debates in them take, after one to warm up; and the last transcript."""
    from alphaagent import pipeline
    from alphaagent.bootstrap import Workplace
    from alphaagent.desk import Ask
    from alphaagent.engines.crew import engine
    from alphaagent.settings import load_settings

    held, usual = [], engine.Crew.debate

    def timed(*arguments: Any) -> Any:
        begun = now()
        debated = usual(*arguments)
        held.append((since(begun), debated))
        return debated

    engine.Crew.debate = timed  # type: ignore[method-assign]
    whole = []
    with tempfile.TemporaryDirectory() as folder:
        home = configured(Path(folder), **changes)
        place = Workplace(load_settings(environment(url, home), cwd=home))
        for _ in range(runs + 1):
            begun = now()
            decided = pipeline.dry_run(place.desk, Ask("AAPL", place.moment(AS_OF), "crew", plan=plan))
            whole.append(since(begun))
            assert decided.record.provenance == "crew", decided.record.fallback_reason
    engine.Crew.debate = usual  # type: ignore[method-assign]
    return whole[1:], [taken for taken, _ in held[1:]], held[-1][1].transcript


def many(url: str) -> float:
    """Seconds of one run over many synthetic tickers, with books."""
    from alphaagent import pipeline
    from alphaagent.desk import Ask
    from alphaagent.pipeline import Decided

    with tempfile.TemporaryDirectory() as folder:
        home = configured(write_home(Path(folder), MANY), concurrency=str(AT_ONCE))
        place = workplace(home, **environment(url, home))
        asks = [Ask(ticker, place.moment(sessions()[400]), "crew", plan="quick") for ticker in place.desk.market.tickers()]
        begun = time.perf_counter()
        results = pipeline.decide_many(place.desk, asks)
        seconds = time.perf_counter() - begun
    wrong = [result for result in results if not isinstance(result, Decided) or result.record.provenance != "crew"]
    assert not wrong, wrong[0]
    return seconds


def peer(url: str, transcript: Any, runs: int) -> list[Taken]:
    """What it takes to make the same requests with the provider's own client in threads: what remains when CrewAI and we are taken away."""
    from openai import OpenAI

    client = OpenAI(base_url=url, api_key="none", max_retries=0)

    def spoken(bodies: list[dict[str, Any]]) -> None:
        for body in bodies:
            client.chat.completions.create(**body)

    taken = []
    for _ in range(runs + 1):
        begun = now()
        for sides in by_round(transcript):
            threads = [threading.Thread(target=spoken, args=(bodies,)) for bodies in sides.values()]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        taken.append(since(begun))
    return taken[1:]


def by_round(transcript: Any) -> list[dict[str, list[dict[str, Any]]]]:
    """The requests of each round by side: those of one side follow one another, the sides speak at once."""
    rounds: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for call in transcript.calls:
        rounds.setdefault(call.round, {}).setdefault(call.side, []).append(json.loads(call.request))
    return [rounds[number] for number in sorted(rounds)]


def critical_path(transcript: Any) -> int:
    """How many calls have to follow one another."""
    return sum(max(len(bodies) for bodies in sides.values()) for sides in by_round(transcript))


def report(latency: float, runs: int) -> None:
    """Prints one line per figure. Cold processes go first: what this one has grown to would count as theirs."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {latency:g} s a call, medians of {runs}\n")
    with models(latency) as url:
        for name, more in (("crew, plan quick", ("--engine", "crew", "--plan", "quick")), ("heuristic engine", ("--engine", "heuristic"))):
            seconds, peak = cold(url, min(runs, 3), *more)
            print(f"a cold process, {name:24s}   {seconds:6.2f} s, peak {peak:.0f} MB")
        for plan, evidence in (("quick", "upfront"), ("quick", "on_request"), ("standard", "upfront")):
            whole, debates, transcript = warm(url, runs, plan, evidence=evidence)
            path = critical_path(transcript)
            plain = peer(url, transcript, runs)
            print(f"plan {plan}, evidence {evidence}: {len(transcript.calls)} calls, {path} latencies one after the other = {path * latency:.2f} s")
            for name, taken in (("a warm decision", whole), ("the debate in it", debates), ("peer: the same calls, bare client", plain)):
                wall, work = (statistics.median(column) for column in zip(*taken, strict=True))
                print(f"  {name:40s} {wall:6.2f} s, own {wall - path * latency:5.2f} s, processor {work:.2f} s")
        seconds = many(url)
        print(f"{MANY} tickers in one run, {AT_ONCE} at once     {seconds:6.2f} s, {seconds / MANY:.2f} s a decision")
    print(f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.5)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.latency)
    else:
        report(options.latency, options.runs)


if __name__ == "__main__":
    main()
