"""The halt from the page: the one thing that somebody who looks may do, where the operator has allowed it.

Chosen on purpose: the page writes nothing. It runs `alphaagent halt` as anybody would, and shows what that said; whether that is allowed is asked again
where it is run, so that no form and no session can get round it. There is no way back from the page: going on needs a person at a command line.
"""

import subprocess
import sys
from dataclasses import dataclass

import streamlit as st

from alphaagent.bootstrap import Workplace
from alphaagent.domain.ruling import ControlState
from alphaagent.domain.text import inert
from dashboard.inert import say
from dashboard.reader import Reader

WORD = "HALT"
PATIENCE_SECONDS = 60
LONGEST_REASON = 300
TOLD = "halt_told"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it: the command's exit code and words; a code of None where it did not run, or did not end."""

    code: int | None
    words: str


def command(reason: str) -> list[str]:
    """The command, word by word. What follows `--` is no option, whatever it begins with."""
    return [sys.executable, "-m", "alphaagent", "halt", "--", reason]


def readable(reason: str) -> str:
    """A reason as the audit trail should have it: one line, nothing in it that hides or controls."""
    return " ".join(inert(reason[: 4 * LONGEST_REASON]).split())[:LONGEST_REASON]


def halt(word: str, reason: str) -> Answer:
    """Halts trading, where the configuration allows it from here, and the word and a reason were typed."""
    if not Workplace.open(only_looks=True).settings.dashboard.allow_halt:
        return Answer(None, "the configuration does not allow a halt from this page (dashboard.allow_halt)")
    if word.strip() != WORD:
        return Answer(None, f"nothing was done: type {WORD} in the first field")
    told = readable(reason)
    if not told:
        return Answer(None, "nothing was done: say why in the second field")
    try:
        done = subprocess.run(command(told), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Answer(None, f"the command has not ended within {PATIENCE_SECONDS} seconds; run `alphaagent halt` yourself and look at its answer")
    except OSError as fault:
        return Answer(None, f"the command could not be run: {fault.strerror}")
    return Answer(done.returncode, f"{done.stdout}{done.stderr}".strip())


def panel(reader: Reader, state: ControlState) -> None:
    """The halt in the sidebar of every page: a form where it is allowed, else the command."""
    answer = st.session_state.pop(TOLD, None)
    with st.expander("Stop trading", icon=":material/front_hand:", expanded=answer is not None):
        if answer is not None:
            _tell(answer)
        if state == "HALTED":
            st.markdown("Trading is halted. To go on, run")
            st.code("alphaagent resume --reason WHY", language=None, wrap_lines=True)
        elif reader.workplace.settings.dashboard.allow_halt:
            _form()
        else:
            st.markdown("This page only reads. To halt everything, run")
            st.code('alphaagent halt "WHY"', language=None, wrap_lines=True)
            st.caption("`dashboard.allow_halt: true` in alphaagent.yaml puts a form here.")


def _form() -> None:
    with st.form("halt", border=False, enter_to_submit=False):
        word = st.text_input(f"Type {WORD}", max_chars=10, autocomplete="off")
        reason = st.text_input("Why", max_chars=LONGEST_REASON, placeholder="goes to the audit trail")
        sent = st.form_submit_button("Halt everything", icon=":material/block:")
    st.caption("Runs `alphaagent halt`: nothing is evaluated, no model is called, and no order is filled until somebody resumes at a command line.")
    if sent:
        st.session_state[TOLD] = halt(word, reason)
        st.rerun()


def _tell(answer: Answer) -> None:
    if answer.code == 0:
        st.success("Halted (exit code 0).", icon=":material/check:")
    elif answer.code is None:
        st.warning("Not halted from here.", icon=":material/info:")
    else:
        st.error(f"The command ended with exit code {answer.code}.", icon=":material/error:")
    say(answer.words)
