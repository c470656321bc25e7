"""One ticker against the real vendors, where there is a network: `make live-smoke [TICKER=AAPL] [CONTACT="Name mail@host"]`.

Never part of the tests. It says what each vendor answered, decides once without writing anything, and ends with exit 1 where there were no prices.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main(ticker: str, contact: str) -> int:
    """Fetch, status, doctor, decide."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config")
        config.mkdir()
        shipped = (ROOT / "config" / "alphaagent.yaml").read_text(encoding="utf-8")
        (config / "alphaagent.yaml").write_text(shipped.replace("contact: null", f"contact: {json.dumps(contact)}") if contact else shipped, encoding="utf-8")
        env = {**os.environ, "ALPHAAGENT_HOME": folder, "ALPHAAGENT_DATA": "live"}
        codes = [_shown(env, *command) for command in (("data", "fetch", ticker), ("doctor",), ("decide", ticker, "--engine", "heuristic", "--dry-run"))]
    return 1 if codes[0] or codes[2] else 0


def _shown(env: dict[str, str], *arguments: str) -> int:
    print(f"\n$ alphaagent {' '.join(arguments)}", flush=True)
    return subprocess.run([sys.executable, "-m", "alphaagent", *arguments], env=env, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*[*sys.argv[1:], "AAPL", ""][:2]))
