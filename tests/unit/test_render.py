"""The terminal page: every outcome can be shown at any width, and nobody's text is obeyed."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal as D
from io import StringIO
from typing import Any

import pytest
from rich.console import Console, RenderableType
from rich.text import Text

from alphaagent.domain.evidence import EvidencePack, Status
from alphaagent.domain.portfolio import OrderStatus
from alphaagent.domain.record import DecisionRecord
from alphaagent.domain.ruling import Outcome
from alphaagent.operations.doctor import Finding
from alphaagent.render import bar, console, decision_page, findings_table, journal_table, portfolio_page, rows
from alphaagent.render_evidence import evidence_list, evidence_table
from alphaagent.views import decision_document, portfolio_document
from tests.fakes import ACME, BETA, account, closes, order, position
from tests.pack_builder import BEARISH, BULLISH, LOST_FILINGS, LOST_NEWS, health_items, holding, item, lost, news_items, pack
from tests.record_builder import record, stored

GOOD = health_items([True] * 7, percentile="1.0")
BUY = pack(BULLISH, GOOD)
TITLES = {"A": "Strict parser", "B1": "Kill switch", "H4": "Order cap"}


def shown(thing: RenderableType, width: int = 120, **terminal: Any) -> str:
    out = Console(file=StringIO(), width=width, markup=False, emoji=False, highlight=False, **terminal)
    out.print(thing)
    return out.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def page(document: Mapping[str, Any], width: int = 120, name: str = "Acme", **terminal: Any) -> str:
    out = Console(file=StringIO(), width=width)
    return shown(decision_page(document, out, TITLES, name=name), width, **terminal)


def written(made: DecisionRecord, **after: Any) -> str:
    return page(decision_document(made, stored(made, **after)))


OUTCOMES: dict[str, tuple[DecisionRecord, str]] = {
    "buy": (record(BUY), "Verdict  BUY 4,200.00 USD  BULLISH"),
    "sell": (record(pack(BEARISH, **holding("0.05"))), "Verdict  SELL 5,000.00 USD"),
    "balanced": (record(pack()), "HOLD  NEUTRAL  p(up in 20 sessions) 0.550, base rate 0.550 (slope chosen, not fitted)  under the threshold to enter"),
    "no trade region": (record(pack(BULLISH, GOOD, **holding("0.055"))), "inside the no-trade region"),
    "at target": (record(pack(BULLISH, GOOD, **holding("0.056"))), "at target"),
    "barred": (record(pack(BULLISH, LOST_FILINGS, risk_profile="high")), "opening is barred"),
    "abstained": (record(pack(BULLISH, price_status=Status.STALE)), "HOLD  NEUTRAL  abstained"),
    "blocked": (record(BUY, control_state="HALTED", control_sources=("file",)), "at decide  BLOCK  KILL_HALTED"),
    "clipped": (record(pack(BULLISH, GOOD, budget="0.0"), settled_cash=D(4000)), "at decide  CLIP"),
    "fallback": (record(BUY, provenance="fallback", reason="the model timed out"), "fallback: the model timed out; the heuristic engine decided instead"),
    "refused": (record(BUY, text="Buy!"), "Verdict  none: the proposal's text was refused"),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_says_what_it_is(outcome: str) -> None:
    made, words = OUTCOMES[outcome]

    assert " ".join(words.split()) in " ".join(written(made).split())


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("width", [20, 40, 80, 109, 110, 250])
def test_every_outcome_fits_every_width(outcome: str, width: int) -> None:
    made, _ = OUTCOMES[outcome]
    lines = page(decision_document(made, stored(made)), width).splitlines()

    assert max(len(line) for line in lines) <= width


def test_the_two_cases_stand_side_by_side_only_where_there_is_room() -> None:
    document = decision_document(record(BUY), None)

    assert any("The bull" in line and "The short seller" in line for line in page(document, 110).splitlines())
    assert not any("The bull" in line and "The short seller" in line for line in page(document, 109).splitlines())


@pytest.mark.parametrize(
    ("status", "price", "words"),
    [
        (OrderStatus.PENDING, None, "BUY 42.0 ACME  pending, fills at the open of 2020-03-17"),
        (OrderStatus.FILLED, D("100.05"), "BUY 42.0 ACME  filled at 100.05 on 2020-03-17"),
        (OrderStatus.EXPIRED, None, "BUY 42.0 ACME  expired"),
        (OrderStatus.REJECTED, None, "BUY 42.0 ACME  rejected"),
    ],
)
def test_an_order_is_shown_with_what_became_of_it(status: OrderStatus, price: D | None, words: str) -> None:
    assert words in written(record(BUY), status=status, price=price)


def test_a_dry_run_says_that_it_wrote_nothing() -> None:
    text = page(decision_document(record(BUY), None))

    assert "Order    none: a dry run writes nothing" in text
    assert "audit row" not in text


def test_a_stored_decision_says_so_and_names_its_audit_row() -> None:
    text = page(decision_document(record(BUY), stored(record(BUY)), repeated=True), 200)

    assert "stored before; nothing was decided again" in text
    assert "audit row 7, hash abababababababab…" in text


def test_a_ruling_at_settlement_is_shown_below_the_first() -> None:
    text = written(record(BUY), code="GAP", outcome=Outcome.BLOCK)

    assert text.index("at decide  APPROVE") < text.index("at settle  BLOCK  GAP")


def test_the_reasoning_is_indented_on_every_line() -> None:
    verdict = page(decision_document(record(BUY), None), 60).split("Verdict")[1].split("Guard")[0].rstrip()
    reasoning = verdict[verdict.index("  Mechanical read") :].splitlines()

    assert len(reasoning) > 3
    assert all(line.startswith("  ") for line in reasoning)


def test_holes_are_named_on_the_page() -> None:
    text = page(decision_document(record(pack(health=LOST_FILINGS, news=LOST_NEWS)), None), 200)

    assert text.count("cannot see: get_news_sentiment: news lost: the file is broken") == 2
    assert text.count("cannot see: get_financial_health") == 1
    assert "2 not ok: news failed, fundamentals failed" in text


@pytest.mark.parametrize(("status", "said"), [(Status.FAILED, True), (Status.EMPTY, True), (Status.NOT_APPLICABLE, False)])
def test_lost_dates_are_named_and_those_of_a_fund_are_not(status: Status, said: bool) -> None:
    dates = lost("get_news_sentiment", "earnings_date", status)
    text = page(decision_document(record(pack(news=[*news_items(), *dates])), None), 200)

    assert (f"not ok: earnings_date {status}" in text) is said


def test_the_probability_is_shown_without_a_base_rate_where_there_is_none() -> None:
    document = decision_document(record(BUY), None)
    document["reading"]["base_rate"] = None

    assert "base rate" not in page(document).split("Guard")[0].split("Verdict")[1].split("\n")[0]


HOSTILE = "[bold red]x[/] :smile: \x1b[31mred\x1b[0m\u202e [/nonsense]"
INERT = "[bold red]x[/] :smile:  [31mred [0m  [/nonsense]"


def hostile() -> EvidencePack:
    headline = item("get_news_sentiment", "headline", {"score": "0.9", "weight": "1.0"}, summary=HOSTILE)
    summed = item("get_news_sentiment", "news", {"score": "0.9"}, summary=HOSTILE)
    return pack(BULLISH, [item("get_financial_health", "fundamentals", {}, status=Status.FAILED, summary=HOSTILE)], [headline, summed])


def test_hostile_text_is_shown_and_not_obeyed() -> None:
    document = decision_document(record(hostile(), provenance="fallback", reason=HOSTILE), None)
    text = page(document, 400, name=HOSTILE, force_terminal=True, color_system=None, no_color=True)
    plain = shown(Text.from_ansi(text), 400)

    assert plain.count(INERT) >= 5
    assert "\x1b[31mred" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    "thing",
    [
        evidence_table(decision_document(record(hostile()), None)["evidence"]["items"]),
        evidence_list(decision_document(record(hostile()), None)["evidence"]["items"]),
        rows("", ("a",), [(HOSTILE,)]),
        findings_table([Finding("books", "fault", HOSTILE, HOSTILE, 5)]),
    ],
)
def test_hostile_text_is_inert_in_tables(thing: RenderableType) -> None:
    assert INERT in shown(thing, 400)
    assert "\x1b[31m" not in shown(thing, 400)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("0.2", " " * 16 + "│" + "█" * 16),
        ("-0.2", "█" * 16 + "│" + " " * 16),
        ("0.1", " " * 16 + "│" + "█" * 8 + " " * 8),
        ("0", " " * 16 + "│" + " " * 16),
        ("0.001", " " * 16 + "│" + " " * 16),
    ],
)
def test_a_bar_grows_from_the_middle_in_proportion(amount: str, expected: str) -> None:
    assert bar(D(amount), D("0.2"), "green").plain == expected


def test_bars_of_nothing_are_empty() -> None:
    assert bar(D(0), D(0), "red").plain.strip() == "│"


def test_the_console_reads_no_markup() -> None:
    out = console()
    with out.capture() as captured:
        out.print("[bold]x[/] :smile:")

    assert captured.get() == "[bold]x[/] :smile:\n"


def test_a_portfolio_shows_positions_marks_and_pending_orders() -> None:
    book = account(position("10", cost="900"), position("3", BETA), cash="1000", pending=(order(),))
    text = shown(portfolio_page(portfolio_document(closes(date(2020, 1, 9)), book, {ACME.id: D(100), BETA.id: None}, D(2000), "a \x1b[31mhole")))

    assert "NAV 2,000.00 USD  cash 1,000.00" in text
    assert "THE BOOKS ARE UNSOUND: a  [31mhole" in text
    assert [line.split() for line in text.splitlines() if line.strip().startswith(("ACME", "BETA"))] == [
        ["ACME", "10.0", "100.00", "1,000.00", "50.0%", "900.00", "+100.00"],
        ["BETA", "3.0", "no", "mark", "no", "mark", "1,000.00"],
    ]
    assert "Pending orders" in text


def test_an_empty_portfolio_says_so() -> None:
    assert "no positions" in shown(portfolio_page(portfolio_document(closes(date(2020, 1, 9)), account(), {}, D(100_000), None)))


def test_a_transaction_is_named_once_above_its_postings() -> None:
    posting = {"account": "Assets:Cash", "amount": "1.0", "commodity": "USD"}
    text = shown(journal_table([{"txn": 3, "kind": "deposit", "trade_at": "2020", "decision_id": None, "postings": [posting, posting]}]))

    assert (text.count("deposit"), text.count("Assets:Cash")) == (1, 2)
