"""The frame around every page: which pages there are, what must be seen before any figure, and what a fault looks like.

Chosen on purpose: the state of the kill switch and of the audit trail stands above every page, for a figure from unsound books is shown only beside
that word. Streamlit's cache holds one reader a home; a changed file of the configuration makes a new one.
"""

from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import streamlit as st

from alphaagent.bootstrap import Workplace
from alphaagent.clock import WallClock
from alphaagent.errors import AlphaAgentError, UsageFault
from dashboard.halting import panel
from dashboard.inert import label, say
from dashboard.reader import Checked, Reader, Watchman, examine
from dashboard.words import instant

PAGES: dict[str, tuple[str, str]] = {
    "today": ("Today", ":material/today:"),
    "decisions": ("Decisions", ":material/list_alt:"),
    "decision": ("A decision", ":material/balance:"),
    "running": ("Running", ":material/play_circle:"),
    "portfolio": ("Portfolio", ":material/account_balance:"),
    "outcomes": ("Outcomes", ":material/fact_check:"),
    "audit": ("Audit", ":material/verified_user:"),
}
"""Module under screens/, its title and icon, in the order of the menu."""
ICON = Path(__file__).parent / "icon.png"
READ_ANEW = timedelta(minutes=5)
SET_BY = {"database": "by command or by the guard", "file": "by the file data/HALT", "environment": "by ALPHAAGENT_HALT"}
"""Where the kill switch was set, in words."""
SIGNS = {"ACTIVE": ":material/play_arrow:", "REDUCING": ":material/trending_down:", "HALTED": ":material/block:"}


def run() -> None:
    """The whole application: the frame, and the page that the address names."""
    # An icon of our own, for Streamlit fetches the pages' icons from a foreign host where they stand on the tab.
    st.set_page_config(page_title="AlphaAgent", page_icon=str(ICON), layout="wide")
    pages = {name: st.Page(_drawing(name), title=title, icon=icon, url_path=name, default=name == "today") for name, (title, icon) in PAGES.items()}
    st.session_state["pages"] = pages
    st.navigation(list(pages.values())).run()


def page_of(name: str) -> object:
    """What `st.page_link` and `st.switch_page` take for a page of ours."""
    return st.session_state["pages"][name]


def _drawing(name: str) -> Callable[[], None]:
    def draw() -> None:
        show(name)

    draw.__name__ = name
    return draw


def show(name: str) -> None:
    """One page in its frame. A fault that we name is told with its fix, and nothing after it is drawn."""
    try:
        reader = current_reader()
        _head(reader)
        import_module(f"dashboard.screens.{name}").show(reader)
    except AlphaAgentError as fault:
        _tell(fault)


def current_reader() -> Reader:
    """The reader of this process's home, made anew where its configuration has changed, and now and then for its prices."""
    workplace = Workplace.open(only_looks=True)
    settings = workplace.settings
    watchman = _watchman(settings.database_url)
    return _kept((str(settings.home), settings.database_url, _changed(settings.config_source)), Reader(workplace, watchman))


@st.cache_resource(max_entries=4, show_spinner=False)
def _watchman(url: str) -> Watchman:
    return Watchman(lambda rows: examine(url, rows), WallClock().now)


@st.cache_resource(max_entries=4, ttl=READ_ANEW, show_spinner=False)
def _kept(key: tuple[str, str, int], _fresh: Reader) -> Reader:  # noqa: ARG001 - the key is what the cache looks at
    return _fresh


def _changed(folder: Path) -> int:
    return max((path.stat().st_mtime_ns for path in folder.rglob("*.y*ml")), default=0)


def _head(reader: Reader) -> None:
    """What must be known before any figure is believed."""
    checked = reader.checked()
    state, sources, reason = reader.control()
    if checked.state == "unsound":
        st.error("**The books are not sound.** Figures on this page cannot be trusted. Run `alphaagent audit verify`.", icon=":material/error:")
        say(checked.fault or "")
    if state != "ACTIVE":
        by = " and ".join(SET_BY[source] for source in sources)
        told = f"**{state}** ({by}){': ' + label(reason) if reason else ''}. Lift it with `alphaagent resume --reason WHY`."
        (st.error if state == "HALTED" else st.warning)(told, icon=SIGNS[state])
    with st.sidebar:
        st.caption(f"{SIGNS[state]} {state}  \n{_soundness(checked)}")
        panel(reader, state)


def _soundness(checked: Checked) -> str:
    if checked.state == "unsound":
        return ":material/error: audit trail NOT SOUND"
    if checked.state == "checking" or checked.at is None:
        return ":material/hourglass: audit trail is being checked"
    return f":material/verified: audit trail sound, {checked.rows:,} rows, {instant(checked.at)}"


def _tell(fault: AlphaAgentError) -> None:
    """A fault in words. Books that are not there yet are no fault, but a beginning."""
    (st.info if isinstance(fault, UsageFault) else st.error)(label(fault.message, 600))
    if fault.fix:
        st.markdown("**What to do**")
        say(fault.fix.replace("`", "'"))
