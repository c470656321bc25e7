"""What the doctor looks at where the data are live: who is reached, how old what they told is, and what is missing to ask them properly.

One well-known share is asked for, as a decision would ask: what still holds is not fetched again, so that looking twice costs nothing.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from alphaagent.bootstrap import Workplace
from alphaagent.domain.base import instant_text
from alphaagent.operations.live_data import Fetch, Row, fetch, status

PROBED = "AAPL"
GOOD = ("fetched", "unchanged", "holds")
Told = tuple[Literal["ok", "note", "fault"], str, str | None, int]
"""State, detail, fix and exit code, as a Finding has them."""


def reached(workplace: Workplace) -> Told:
    """Whether every vendor answers about one share."""
    done = fetch(workplace, [PROBED], force=False, tell=lambda _: None)
    bad = [row for row in done.rows if row.ticker == PROBED and row.state not in (*GOOD, "not asked", "nothing")]
    if done.faults:
        _, fault = done.faults[0]
        return "fault", fault.message, fault.fix, fault.exit_code
    if not bad:
        partial = [row.note for row in done.rows if row.note and row.state in GOOD and row.topic == "news"]
        told = ", ".join(sorted({row.vendor for row in done.rows if row.state in GOOD}))
        return ("note" if partial else "ok"), f"{told} answer about {PROBED}{f'; {partial[0]}' if partial else ''}{_cost(done)}", None, 0
    lost = any(row.topic == "prices" for row in bad)
    fix = "check the network, then `alphaagent data fetch AAPL --force`" if lost else "decisions go on without it and say so; see the wiki's Live-Data page"
    return "fault" if lost else "note", "; ".join(map(_said, bad)), fix, 3 if lost else 0


def contact(workplace: Workplace) -> Told:
    """Whether the SEC may be asked."""
    named = workplace.settings.data.contact
    if named is None:
        fix = "set data.contact in alphaagent.yaml to a name and an e-mail address, as the SEC asks"
        return "note", "nobody is named whom the SEC may write to, so that companies' filings are left out", fix, 0
    return "ok", f"the SEC is told {named}", None, 0


def age(workplace: Workplace) -> Told:
    """How old what the archive holds is."""
    rows = status(workplace, [])
    if not rows:
        return "note", f"nothing has been fetched yet; {workplace.settings.archive} is made by the first fetch", "run `alphaagent data fetch TICKER...`", 0
    states = Counter("failed" if row.state not in ("holds", "expired", "nothing") else row.state for row in rows)
    times = sorted(row.at for row in rows if row.at)
    documents, octets = workplace.room.archive.size()
    span = f"the oldest answer is of {instant_text(times[0])}, the newest of {instant_text(times[-1])}; " if times else ""
    counted = ", ".join(f"{states[state]} {word}" for state, word in _WORDS.items() if states[state])
    failed = _failed(rows)
    detail = f"{counted}; {span}{documents} documents, {octets / 1_000_000:.1f} MB{failed}"
    return ("note", detail, "run `alphaagent data status`", 0) if failed else ("ok", detail, None, 0)


_WORDS = {"holds": "answers hold", "expired": "have to be asked again", "nothing": "are known to have nothing", "failed": "failed when last asked"}


def _failed(rows: Sequence[Row]) -> str:
    failed = [row for row in rows if row.state not in ("holds", "expired", "nothing")]
    return f"; {_said(failed[0])}" + (f" and {len(failed) - 1} more" if len(failed) > 1 else "") if failed else ""


def _said(row: Row) -> str:
    return f"{row.vendor} ({row.topic} of {row.ticker}) {row.state}: {row.note}"


def _cost(done: Fetch) -> str:
    return f", {done.requests} requests" if done.requests else ", nothing had to be asked again"
