"""The closes around the decision, and what came of its event."""

import streamlit as st

from alphaagent.debate.prompts import HORIZON
from alphaagent.domain.record import DecisionRecord
from alphaagent.operations.price_path import PricePath, price_path
from dashboard.charts_decision import price_chart, price_text
from dashboard.inert import label
from dashboard.reader import Reader


def prices(reader: Reader, record: DecisionRecord) -> None:
    st.subheader("The price")
    path = price_path(reader.workplace, record)
    st.markdown(f"**{_outcome(path)}**")
    if not path.closes:
        st.info(f"There are no closes to show: {label(path.fault or 'none are recorded', 300)}.", icon=":material/show_chart:")
        return
    told = price_text(path)
    st.altair_chart(price_chart(path), theme="streamlit", alt=told)
    st.caption(f"{told} {_basis(path)}")


def _outcome(path: PricePath) -> str:
    if path.outcome is None:
        return f"It resolves on about {path.horizon}: the event is the adjusted close {HORIZON} sessions after {path.session}."
    way = "higher" if path.outcome > 0 else "not higher"
    return f"It resolved on {path.horizon}: {path.outcome:+.1%} with dividends over {HORIZON} sessions, so the close was {way}."


def _basis(path: PricePath) -> str:
    """Which shares the closes are of."""
    splits = "; ".join(f"{ratio:f} for 1 on {day}" for day, ratio in path.splits)
    told = f" (splits taken out: {splits})" if splits else "; no split in this time"
    return f"Recorded closes per share as it was on {path.session}, without dividends{told}."
