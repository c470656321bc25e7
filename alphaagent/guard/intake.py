"""Stage A: the only reader of a proposal's text.

Chosen on purpose: nothing is repaired, trimmed, coerced or guessed. Numbers are judged as the literal that the model wrote and become
Decimal from that literal, because both `json` and Pydantic accept what the grammar here refuses. `domain.strict_json` bounds size and
nesting before a JSON reader sees the text, and every check is linear in it. The checks run in the order of the rules A1 to A10, so the
code of a refusal says that all the rules before it passed.
"""

import re
from decimal import Decimal
from typing import NoReturn

from alphaagent.domain.proposal import Action, Sentiment, TradeProposal
from alphaagent.domain.strict_json import JsonFlaw, JsonRefused, Number, read_object, shown
from alphaagent.domain.text import first_hidden_character
from alphaagent.errors import IntakeRefused

MAX_BYTES = 16 * 1024
MAX_DEPTH = 8
MAX_REASONING_CHARACTERS = 4_000
MAX_RELIED_ON = 64

CODES: dict[str, tuple[str, ...]] = {
    "A1": ("RAW_TOO_LARGE",),
    "A2": ("NOT_SINGLE_JSON",),
    "A3": ("DUP_KEY", "EXTRA_KEY"),
    "A4": ("BAD_ACTION",),
    "A5": ("BAD_AMOUNT",),
    "A6": ("BAD_SENTIMENT",),
    "A7": ("BAD_TEXT",),
    "A8": ("TICKER_MISMATCH",),
    "A9": ("BAD_P_UP",),
    "A10": ("BAD_RELIED_ON",),
}
"""Rule ids of stage A in the order of the checks, each with the codes that it gives."""

_KEYS = ("action", "amount", "sentiment", "reasoning", "p_up", "relied_on")
_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,11})(\.[0-9]{1,6})?")
_P_UP = re.compile(r"0(\.[0-9]{1,12})?|1(\.0{1,12})?")
_RELIED_ON_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_JSON_CODES: dict[JsonFlaw, str] = {"too_large": "RAW_TOO_LARGE", "too_deep": "RAW_TOO_LARGE", "not_single": "NOT_SINGLE_JSON", "repeated_key": "DUP_KEY"}


def parse_proposal(raw: str, *, ticker: str) -> TradeProposal:
    """The proposal that a text holds; `ticker` is the one that was asked for. Raises IntakeRefused with a public code."""
    fields = _fields(raw)
    _check_keys(fields)
    action = _action(fields.get("action"))
    amount = _amount(fields.get("amount"), action)
    sentiment = _sentiment(fields.get("sentiment"))
    reasoning = _reasoning(fields.get("reasoning"))
    _check_ticker(fields, ticker)
    p_up = _p_up(fields.get("p_up"))
    relied_on = _relied_on(fields.get("relied_on"))
    return TradeProposal(action=action, amount=amount, sentiment=sentiment, reasoning=reasoning, p_up=p_up, relied_on=relied_on)


def read_proposal(raw: str, ticker: str) -> TradeProposal | None:
    """The proposal, or None where the parser refuses it; the ruling on the same text then carries the code."""
    try:
        return parse_proposal(raw, ticker=ticker)
    except IntakeRefused:
        return None


def proposal_text(proposal: TradeProposal) -> str:
    """The JSON text of a proposal; `parse_proposal` gives the same proposal back.

    Raises IntakeRefused where the proposal holds what the grammar cannot say.
    """
    text = proposal.as_text()
    parse_proposal(text, ticker="")
    return text


def _refuse(code: str, message: str) -> NoReturn:
    raise IntakeRefused(code, message)


def _fields(raw: str) -> dict[str, object]:
    try:
        return read_object(raw, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except JsonRefused as refused:
        _refuse(_JSON_CODES[refused.flaw], refused.message)


def _check_keys(fields: dict[str, object]) -> None:
    extra = [key for key in fields if key not in _KEYS and key != "ticker"]
    if extra:
        _refuse("EXTRA_KEY", f"Remove the key {shown(extra[0])}; the only keys are {', '.join(_KEYS)}.")


def _missing(value: object, key: str) -> str:
    return f'The key "{key}" is missing or null: ' if value is None else ""


def _action(value: object) -> Action:
    if isinstance(value, str) and value in Action.__members__:
        return Action(value)
    _refuse("BAD_ACTION", f'{_missing(value, "action")}"action" must be exactly "BUY", "SELL" or "HOLD".')


def _amount(value: object, action: Action) -> Decimal:
    if not isinstance(value, Number) or not _AMOUNT.fullmatch(value.literal):
        _refuse("BAD_AMOUNT", f'{_missing(value, "amount")}"amount" must be a plain JSON number such as 2500 or 2500.50, without quotes, sign or exponent.')
    amount = Decimal(value.literal)
    if action is Action.HOLD and amount != 0:
        _refuse("BAD_AMOUNT", 'With "HOLD" the "amount" must be 0.')
    if action is not Action.HOLD and amount == 0:
        _refuse("BAD_AMOUNT", f'With "{action.value}" the "amount" must be more than 0, in the portfolio\'s currency.')
    return amount


def _sentiment(value: object) -> Sentiment:
    if isinstance(value, str) and value in Sentiment.__members__:
        return Sentiment(value)
    _refuse("BAD_SENTIMENT", f'{_missing(value, "sentiment")}"sentiment" must be exactly "BULLISH", "BEARISH" or "NEUTRAL".')


def _reasoning(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        _refuse("BAD_TEXT", f'{_missing(value, "reasoning")}"reasoning" must be a text that is not empty.')
    if len(value) > MAX_REASONING_CHARACTERS:
        _refuse("BAD_TEXT", f'"reasoning" must have at most {MAX_REASONING_CHARACTERS} characters; yours has {len(value)}.')
    at = first_hidden_character(value)
    if at is not None:
        _refuse("BAD_TEXT", f'"reasoning" holds the invisible or control character U+{ord(value[at]):04X} at position {at}; write plain visible text.')
    return value


def _check_ticker(fields: dict[str, object], ticker: str) -> None:
    if "ticker" in fields and fields["ticker"] != ticker:
        _refuse("TICKER_MISMATCH", f'Leave "ticker" out, or repeat exactly the one that was asked for: {shown(ticker)}.')


def _p_up(value: object) -> Decimal | None:
    if value is None:
        return None
    if not isinstance(value, Number) or not _P_UP.fullmatch(value.literal):
        _refuse("BAD_P_UP", '"p_up" must be a plain JSON number from 0 to 1 such as 0.55, with at most 12 decimals, or be left out.')
    return Decimal(value.literal)


def _relied_on(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > MAX_RELIED_ON or not all(isinstance(item, str) and _RELIED_ON_ID.fullmatch(item) for item in value):
        _refuse("BAD_RELIED_ON", f'"relied_on" must be a list of at most {MAX_RELIED_ON} evidence or claim ids as you were given them, or be left out.')
    return tuple(value)
