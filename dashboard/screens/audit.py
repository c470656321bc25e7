"""Audit: whether the books are sound, what the guard refused, how models and vendors do, what failed, and what waits to be told."""

import streamlit as st

from alphaagent.errors import UsageFault
from alphaagent.ledger.verify import VerifyReport, anchor_line, read_anchors, verify
from alphaagent.operations import notifications, review
from alphaagent.operations.doctor import Finding
from alphaagent.operations.live_data import Row as Answer
from alphaagent.views import verify_lines
from alphaagent.views_notify import notify_document
from alphaagent.views_review import counted, event_row, provider_rows
from dashboard import tables
from dashboard.charts_outcomes import reasons, reasons_text
from dashboard.inert import label, say
from dashboard.reader import Reader
from dashboard.words import instant

ROWS = 25
MOST_UNSENT = 50
LARGEST_ANCHORS = 1_000_000
KINDS = ("failure", "sweep", "control_changed", "frozen", "unfrozen", "limits_changed", "import", "notification_dead")
MEANING = {
    0: "sound",
    10: "sound, but rows are not anchored",
    20: "the chain is broken: a row was changed, taken away or put in",
    21: "the trail is shorter than an anchor says, or another one",
    22: "the books and the trail differ",
    23: "postings do not balance",
    24: "a ruling comes out differently",
    30: "the books cannot be read",
}
"""By exit code of `alphaagent audit verify`."""


def show(reader: Reader) -> None:
    st.title("Audit")
    trail, guard, health, events, told = st.tabs(["Audit trail", "Guard", "Models and data", "Events", "Notifications"])
    with trail:
        _trail(reader)
    with guard:
        _guard(reader)
    with health:
        _models(reader)
        _data(reader)
    with events:
        _events(reader)
    with told:
        _outbox(reader)


def _trail(reader: Reader) -> None:
    known, rows = reader.checked(), reader.store.head_seq()
    state = {"sound": ":material/verified: sound", "checking": ":material/hourglass: being checked", "unsound": ":material/error: NOT SOUND"}[known.state]
    st.markdown(f"**{state}**: {known.rows:,} of {rows:,} rows checked" + (f", {instant(known.at)}" if known.at else ""))
    if known.fault:
        say(known.fault)
    st.markdown(
        "**Anchor** of the trail as it is now. Keep it where nobody who can change the books can reach; `alphaagent audit anchor` prints the same line."
    )
    st.code(anchor_line(reader.workplace.settings.database_url), language=None, wrap_lines=True)
    with st.form("check", border=True):
        st.markdown("**Check the whole trail now**, against anchors of yours where you give any. Of a long book this takes some minutes.")
        pasted = st.text_area("Anchors, one a line: ledger, row, hash", max_chars=100_000, height=100)
        file = st.file_uploader("Or a file of anchors", type=["txt"], max_upload_size=1)
        begun = st.form_submit_button("Check now", icon=":material/verified_user:")
    if begun:
        _check(reader, f"{pasted}\n{_text(file.getvalue()) if file else ''}")


def _text(content: bytes) -> str:
    """What was uploaded; what is no text is no anchor either."""
    return content[:LARGEST_ANCHORS].decode("utf-8", "replace")


def _check(reader: Reader, text: str) -> None:
    try:
        anchors = read_anchors(text)
    except UsageFault as fault:
        st.error(f"These are no anchors: {label(fault.message)}")
        say(fault.fix or "")
        return
    with st.spinner("Checking every row…", show_time=True):
        report = verify(reader.workplace.settings.database_url, anchors=anchors)
    if not anchors:
        reader.watchman.learn(report)
    _told(report, len(anchors))


def _told(report: VerifyReport, anchors: int) -> None:
    sound = report.exit_code in (0, 10)
    (st.success if sound else st.error)(f"Exit code {report.exit_code}: {MEANING.get(report.exit_code, 'unknown')}")
    say("\n".join(verify_lines(report)))
    if anchors:
        held = f"{report.not_anchored:,} rows came after the last anchor that holds" if sound else "not every anchor holds"
        st.caption(f"{anchors} {'anchor' if anchors == 1 else 'anchors'} given; {held}.")


def _guard(reader: Reader) -> None:
    days = review.span(reader.workplace)
    if days is None:
        st.info("The guard has ruled on nothing yet. Run `alphaagent decide TICKER`.")
        return
    left, right = st.columns(2)
    since = left.date_input("Rulings from (day, UTC)", days[0], key="rulings_from", min_value=days[0], max_value=days[1])
    until = right.date_input("to (day, UTC)", days[1], key="rulings_to", min_value=days[0], max_value=days[1])
    found = review.rulings(reader.workplace, since, until)
    whole = sum(count for *_, count in found)
    meanings = review.meanings()
    for outcome, title, none in (
        ("BLOCK", "Refused", "The guard refused nothing in these days."),
        ("CLIP", "Made smaller", "The guard made nothing smaller in these days."),
    ):
        rows = counted(found, meanings, outcome)
        st.subheader(title)
        if not rows:
            st.info(none)
            continue
        blocked = sum(row["count"] for row in rows)
        st.markdown(f"**{blocked:,}** of {whole:,} rulings ({100 * blocked / whole:.1f}%), by the first reason of each")
        st.altair_chart(reasons(rows, outcome), theme="streamlit", alt=reasons_text(rows, outcome))
        tables.show([_reason(row) for row in rows], alt=reasons_text(rows, outcome))


def _reason(row: dict[str, object]) -> dict[str, object]:
    return {
        "code": row["code"],
        "rulings": f"{row['count']:,} ({row['share']:.1%})",
        "at decision": row["at_decision"],
        "at settlement": row["at_settlement"],
        "what it means": row["meaning"],
    }


def _models(reader: Reader) -> None:
    st.subheader("Models")
    days = st.selectbox("Paid for in the last", (1, 7, 30, 365), index=2, format_func=lambda n: f"{n} days" if n > 1 else "day", key="paid_days")
    until = reader.now.date()
    rows = provider_rows(review.models(reader.workplace, until - review.days(days), until))
    if rows:
        tables.show(rows, alt=f"{len(rows)} models")
        st.caption(f"How long calls took and how they failed is read from the newest {review.TRANSCRIPTS} transcripts, whatever their day.")
    else:
        st.info("No model was paid for, and no debate is on record. The rule engine needs none.")
    failed = review.failures(reader.workplace)
    if failed:
        st.markdown("**Nothing was decided**, since the books began: " + ", ".join(f"{label(code)} {count:,}" for code, count in sorted(failed.items())))


def _data(reader: Reader) -> None:
    st.subheader("Data")
    findings, answers = _on_record(str(reader.workplace.settings.home), reader)
    tables.show(
        [{"check": one.check, "state": one.state, "found": one.detail, "what to do": one.fix} for one in findings], alt="What the doctor finds of the data"
    )
    if answers:
        tables.show([one.document for one in answers], alt=f"{len(answers)} answers in the archive")
        st.caption("What vendors told last, as it is kept; nobody was asked for this page.")


@st.cache_resource(max_entries=4, ttl=300, show_spinner="Looking at the data on record…")
def _on_record(home: str, _reader: Reader) -> tuple[tuple[Finding, ...], tuple[Answer, ...]]:  # noqa: ARG001 - the home is the key
    return review.data(_reader.workplace)


def _events(reader: Reader) -> None:
    kinds = st.multiselect(
        "Events", KINDS, default=("failure", "sweep", "control_changed"), key="event_kinds", format_func=lambda kind: kind.replace("_", " ")
    ) or list(KINDS)
    page = max(1, int(st.session_state.get("events_page", 1)))
    found, total = review.events(reader.workplace, kinds, ROWS, (page - 1) * ROWS)
    if not total:
        st.info("Nothing of this has happened. A sweep (`alphaagent sweep`) and every failure leave a row.")
        return
    pages = -(-total // ROWS)
    if page > pages:
        page, (found, _) = pages, review.events(reader.workplace, kinds, ROWS, (pages - 1) * ROWS)
        st.session_state["events_page"] = pages
    rows = [event_row(seq, event) for seq, event in found]
    tables.show([row | {"at": instant(row["at"])} for row in rows], alt=f"{len(rows)} of {total} events, newest first")
    if pages > 1:
        st.pagination(pages, key="events_page")


def _outbox(reader: Reader) -> None:
    document = notify_document(*notifications.overview(reader.workplace, MOST_UNSENT))
    if not document["targets"] and not document["unsent"]:
        st.info("Nobody is told of anything. Add a target to notify.yaml; its comments show how.")
        return
    tables.show(document["targets"], alt=f"{len(document['targets'])} targets")
    if document["unsent"]:
        st.markdown("**Not delivered yet**, newest first")
        tables.show(document["unsent"], alt=f"{len(document['unsent'])} notices that have not arrived")
    else:
        st.caption("Everything that was announced has arrived.")
