"""What runs now, and what ran in the last day: a debate can be followed turn by turn while it is held, from the file of its events."""

from collections.abc import Sequence
from datetime import timedelta

import streamlit as st

from alphaagent.errors import AlphaAgentError
from alphaagent.runs import RunFile, RunFiles
from alphaagent.views_running import Run, TurnSaid, run_of
from alphaagent.views_words import NAMES
from dashboard.charts_running import rounds_chart, rounds_text
from dashboard.inert import label, say
from dashboard.parts.links import go
from dashboard.parts.tables import table
from dashboard.reader import Reader
from dashboard.words import instant

TITLE = "Running"
A_DAY = timedelta(days=1)
MOST_RUNS = 60
LOOK_AGAIN = timedelta(seconds=3)
LIST_AGAIN = timedelta(seconds=10)
SHOWN_HAPPENINGS = 60
STATES = {
    "running": ":material/play_circle: running",
    "silent": ":material/hourglass_disabled: silent",
    "done": ":material/check_circle: done",
    "failed": ":material/error: failed",
}
GOING_ON = ("running", "silent")
PHASE_SIGNS = {"done": ":material/check:", "going on": ":material/pending:", "to come": ":material/radio_button_unchecked:"}
BEGIN = "No debate has run in the last day. `alphaagent decide AAPL` with a model configured starts one; its events are followed here without any option."


def show(reader: Reader) -> None:
    st.title(TITLE)
    st.caption("Debates of the last day that end in a decision. A mechanical read is over in a moment and has no events; nor has a dry run.")
    files = RunFiles.of(reader.workplace.settings.home)
    if st.query_params.get("run"):
        _follow(reader, files, st.query_params["run"])
    st.subheader("Runs of the last day")
    st.fragment(_list, run_every=LIST_AGAIN)(reader, files)


def _list(reader: Reader, files: RunFiles) -> None:
    runs = _runs(files.since(reader.now - A_DAY, MOST_RUNS), reader)
    if not runs:
        st.info(BEGIN, icon=":material/play_circle:")
        return
    counts = {state: sum(run.state == state for run in runs) for state in STATES}
    st.caption(", ".join(f"{count} {state}" for state, count in counts.items() if count))
    table([_row(run) for run in runs], key="runs")
    _choose(runs)


def _choose(runs: Sequence[Run]) -> None:
    """Which run is followed; the whole page is drawn again for another one."""
    by_id, followed = {run.run_id: run for run in runs}, st.query_params.get("run", "")
    place = list(by_id).index(followed) if followed in by_id else None
    chosen = st.selectbox(
        "Follow a run", list(by_id), index=place, format_func=lambda one: _name(by_id.get(one)), key=f"follow_{followed}", placeholder="choose one", width=520
    )
    if chosen is not None and chosen != followed:
        st.query_params["run"] = chosen
        st.rerun()


def _runs(files: Sequence[RunFile], reader: Reader) -> list[Run]:
    return [run_of(file, reader.now) for file in files]


def _name(run: Run | None) -> str:
    return "gone" if run is None else f"{run.ticker or 'unknown'} as of {run.as_of}, {run.state} ({run.run_id})"


def _row(run: Run) -> dict[str, str]:
    state = f"silent for {run.silent_minutes} minutes" if run.state == "silent" else run.state
    return {
        "ticker": run.ticker,
        "state": state,
        "as of": run.as_of,
        "plan": run.plan,
        "calls": str(run.calls),
        "tokens": f"{run.prompt_tokens + run.completion_tokens:,}",
        "USD": _cost(run),
        "guard": run.guard,
        "what went wrong": run.failure,
        "run": run.run_id,
    }


def _cost(run: Run) -> str:
    return "unknown" if run.cost_usd is None else f"{run.cost_usd:.4f}"


def _follow(reader: Reader, files: RunFiles, run_id: str) -> None:
    """One run, looked at again and again as long as it goes on."""
    first = files.read(run_id)
    if first is None:
        st.warning(f"There is no run {label(run_id, 60)} here: its file is gone, or never was. The newest runs are listed below.", icon=":material/search_off:")
        return
    goes_on = run_of(first, reader.now).state in GOING_ON
    st.fragment(_draw, run_every=LOOK_AGAIN if goes_on else None)(reader, files, run_id, goes_on=goes_on)


def _draw(reader: Reader, files: RunFiles, run_id: str, *, goes_on: bool) -> None:
    file = files.read(run_id)
    if file is None:
        st.warning("The file of this run is gone.", icon=":material/search_off:")
        return
    run = run_of(file, reader.now)
    if goes_on and run.state not in GOING_ON:
        st.rerun()  # it is over: the page is drawn once more, and then stands still
    with st.container(border=True):
        _head(reader, run, file)
    for turn in run.turns:
        with st.container(border=True):
            _turn(turn)
    if run.rounds:
        told = rounds_text(run.rounds)
        st.altair_chart(rounds_chart(run.rounds), theme="streamlit", alt=told)
        st.caption(told)
    if run.happened:
        with st.expander(f"Everything that happened ({len(run.happened)})", icon=":material/list:"):
            say("\n".join(run.happened[-SHOWN_HAPPENINGS:]))


def _head(reader: Reader, run: Run, file: RunFile) -> None:
    st.subheader(f"{label(run.ticker or 'unknown', 40)}: {run.state}")
    quiet = f" for {run.silent_minutes} minutes; its process may have ended" if run.state == "silent" else ""
    st.markdown(f"{STATES[run.state]}{quiet} · as of {label(run.as_of)} · plan {label(run.plan)} · last word {instant(file.changed_at)}")
    if run.models:
        st.caption(f"Models: {label(', '.join(run.models), 300)}")
    st.markdown(" → ".join(f"{PHASE_SIGNS[state]} {label(phase)}" for phase, state in run.phases) or "It has told nothing yet.")
    st.markdown(f"**{run.calls}** calls so far, {run.prompt_tokens:,} tokens read and {run.completion_tokens:,} written, USD {label(_cost(run))}")
    if run.guard:
        st.markdown(f":material/gavel: **Guard:** {label(run.guard)}")
    if run.failure:
        st.error("The debate ended without a verdict; where that is allowed, the heuristic engine decides instead.", icon=":material/error:")
        say(run.failure)
    if file.skipped or file.is_cut:
        more = "; it is longer than what is read here" if file.is_cut else ""
        st.caption(f"{file.skipped} lines of the file are no events and were left out{more}.")
    if _is_decided(reader, run.run_id):
        go("Open the decision", "decision", id=run.run_id)
    elif run.state == "done":
        st.caption("The decision is not in these books.")


def _is_decided(reader: Reader, run_id: str) -> bool:
    """Whether the books have the decision; books that cannot be read are told of above the page."""
    try:
        return reader.store.decision(run_id) is not None
    except AlphaAgentError:
        return False


def _turn(turn: TurnSaid) -> None:
    st.markdown(f"**{label(NAMES.get(turn.side, turn.side))}**, {label(turn.phase)}, round {label(turn.round)}: p(up) {label(turn.p_up)}")
    say("\n".join(f"{kind}: {words}" for kind, words in turn.said))
