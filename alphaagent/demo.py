"""`make demo`: one decision on the recorded data, settled at the next open, replayed and verified, in a folder of its own."""

import sys
import tempfile
from pathlib import Path

import typer

from alphaagent import pipeline, render
from alphaagent.bootstrap import Workplace
from alphaagent.desk import Ask
from alphaagent.operations.audit import examine
from alphaagent.replay import replay
from alphaagent.settings import load_settings
from alphaagent.views import decision_document, verify_lines

TICKER, DECIDED, SETTLED = "AAPL", "2017-01-03", "2017-01-04"


def main() -> int:
    """Decides, settles, shows, replays and verifies; the environment and the books of the user are not touched."""
    folder = Path(tempfile.mkdtemp(prefix="alphaagent-demo-"))
    workplace = Workplace(load_settings({}, folder))
    decided = pipeline.decide(workplace.desk, Ask(ticker=TICKER, as_of=workplace.moment(DECIDED, [TICKER]), engine="heuristic"))
    pipeline.settle(workplace.desk, workplace.moment(SETTLED, [TICKER]))
    stored = workplace.stored_decision(decided.record.decision_id)
    out = render.console()
    out.print(render.decision_page(decision_document(stored.record, stored), out, workplace.rule_titles()))
    agrees = all(check.agrees for check in replay(stored))
    typer.echo(f"Replay   {'every byte agrees' if agrees else 'DIFFERS'}")
    report = examine(workplace.settings.database_url, [], 1, strict=False, replay=True)
    typer.echo(f"Audit    {'; '.join(verify_lines(report))}")
    typer.echo(f"\nThe books of this demo are in {folder}. Next:\n")
    typer.echo(f"  export ALPHAAGENT_HOME={folder} PATH={Path(sys.executable).parent}:$PATH")
    for command in ("show last", "portfolio show", "ledger show", "decide NVDA --as-of 2021-01-29", "--help"):
        typer.echo(f"  alphaagent {command}")
    return 0 if agrees and report.sound else 1


if __name__ == "__main__":
    sys.exit(main())
