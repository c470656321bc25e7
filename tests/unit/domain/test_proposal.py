"""A proposal's text: JSON numbers written from their decimals, read back the same by the strict parser."""

import json
from decimal import Decimal as D

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.domain.proposal import Action, Sentiment, TradeProposal
from alphaagent.guard.intake import parse_proposal

VISIBLE = st.characters(exclude_categories=["C"])
PROPOSALS = st.builds(
    TradeProposal,
    action=st.sampled_from([Action.BUY, Action.SELL]),
    amount=st.decimals("0.01", 10**11, places=2),
    sentiment=st.sampled_from(Sentiment),
    reasoning=st.text(VISIBLE, min_size=1, max_size=200).filter(str.strip),
    p_up=st.none() | st.decimals(0, 1, places=6),
    relied_on=st.none() | st.lists(st.from_regex(r"ev_[0-9a-f]{12}", fullmatch=True), max_size=12).map(tuple),
)


@given(PROPOSALS)
def test_the_strict_parser_reads_the_text_back_to_the_same_proposal(proposal: TradeProposal) -> None:
    assert parse_proposal(proposal.as_text(), ticker="ACME") == proposal


def proposal(**changes: object) -> TradeProposal:
    plain = {"action": Action.BUY, "amount": D("2500.50"), "sentiment": Sentiment.BULLISH, "reasoning": "good"}
    return TradeProposal.model_validate(plain | changes)


def test_the_text_is_compact_and_leaves_out_what_is_not_there() -> None:
    assert proposal().as_text() == '{"action":"BUY","amount":2500.5,"sentiment":"BULLISH","reasoning":"good"}'


def test_the_text_holds_probability_and_evidence_where_they_are_given() -> None:
    text = proposal(p_up=D("0.55"), relied_on=("ev_1", "ev_2")).as_text()

    assert text.endswith('"p_up":0.55,"relied_on":["ev_1","ev_2"]}')


@pytest.mark.parametrize(("amount", "written"), [("2500.00", "2500"), ("0", "0"), ("1E+3", "1000"), ("0.000001", "0.000001")])
def test_an_amount_is_a_plain_number(amount: str, written: str) -> None:
    assert f'"amount":{written},' in proposal(amount=D(amount)).as_text()


def test_quotes_and_letters_beyond_ascii_survive() -> None:
    assert json.loads(proposal(reasoning='say "ja" – größer').as_text())["reasoning"] == 'say "ja" – größer'


def test_as_json_document_amounts_are_json_numbers() -> None:
    document = proposal(amount=D("2500.00"), p_up=D("0.55")).model_dump(mode="json")

    assert (document["amount"], type(document["amount"]), document["p_up"]) == (2500, int, 0.55)
