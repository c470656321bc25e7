"""Stage A: the only reader of a proposal's text.

Chosen on purpose: nothing is repaired, trimmed, coerced or guessed. Numbers are judged as the literal that the model wrote and become
Decimal from that literal, because both `json` and Pydantic accept what the grammar here refuses. Size and nesting are bounded before
the JSON reader sees the text, and every check is linear in it. The checks run in the order of the rules A1 to A10, so the code of a
refusal says that all the rules before it passed.
"""

import json
import re
import unicodedata
from decimal import Decimal
from typing import NoReturn, TypeGuard

from alphaagent.domain.proposal import Action, Sentiment, TradeProposal
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
_FENCE = re.compile(r"[ \t\r\n]*```json[ \t]*\r?\n(?P<body>.*)\n[ \t]*```[ \t\r\n]*", re.DOTALL)
# Possessive and with an optional closing quote, so that unclosed strings cannot make it backtrack.
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?', re.DOTALL)
_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,11})(\.[0-9]{1,6})?")
_P_UP = re.compile(r"0(\.[0-9]{1,12})?|1(\.0{1,12})?")
_RELIED_ON_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


class _Literal(str):
    """A JSON number token exactly as written; a subclass so that it cannot be taken for a JSON string."""

    __slots__ = ()


def parse_proposal(raw: str, *, ticker: str) -> TradeProposal:
    """The proposal that a text holds; `ticker` is the one that was asked for. Raises IntakeRefused with a public code."""
    _check_size(raw)
    fields = _single_object(raw)
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


def _check_size(raw: str) -> None:
    if len(raw) > MAX_BYTES or len(raw.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        _refuse("RAW_TOO_LARGE", f"Answer with one JSON object of at most {MAX_BYTES} bytes.")
    if _too_deep(raw):
        _refuse("RAW_TOO_LARGE", "Answer with one flat JSON object; yours is nested too deeply.")


def _too_deep(raw: str) -> bool:
    bare = _STRING.sub("", raw)
    if bare.count("[") + bare.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for char in bare:
        if char in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif char in "]}":
            depth -= 1
    return False


def _single_object(raw: str) -> dict[str, object]:
    fenced = _FENCE.fullmatch(raw)
    repeated: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in items:
            if key in found:
                repeated.append(key)
            found[key] = value
        return found

    try:
        value = json.loads(fenced["body"] if fenced else raw, object_pairs_hook=pairs, parse_float=_Literal, parse_int=_Literal, parse_constant=_Literal)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        _refuse("NOT_SINGLE_JSON", "Answer with exactly one JSON object and nothing before or after it.")
    if repeated:
        _refuse("DUP_KEY", f"Write every key once; {_shown(repeated[0])} appears more than once.")
    return value


def _check_keys(fields: dict[str, object]) -> None:
    extra = [key for key in fields if key not in _KEYS and key != "ticker"]
    if extra:
        _refuse("EXTRA_KEY", f"Remove the key {_shown(extra[0])}; the only keys are {', '.join(_KEYS)}.")


def _shown(text: str) -> str:
    return ascii(text[:40])


def _is_text(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not isinstance(value, _Literal)


def _missing(value: object, key: str) -> str:
    return f'The key "{key}" is missing or null: ' if value is None else ""


def _action(value: object) -> Action:
    if _is_text(value) and value in Action.__members__:
        return Action(value)
    _refuse("BAD_ACTION", f'{_missing(value, "action")}"action" must be exactly "BUY", "SELL" or "HOLD".')


def _amount(value: object, action: Action) -> Decimal:
    if not isinstance(value, _Literal) or not _AMOUNT.fullmatch(value):
        _refuse("BAD_AMOUNT", f'{_missing(value, "amount")}"amount" must be a plain JSON number such as 2500 or 2500.50, without quotes, sign or exponent.')
    amount = Decimal(value)
    if action is Action.HOLD and amount != 0:
        _refuse("BAD_AMOUNT", 'With "HOLD" the "amount" must be 0.')
    if action is not Action.HOLD and amount == 0:
        _refuse("BAD_AMOUNT", f'With "{action.value}" the "amount" must be more than 0, in the portfolio\'s currency.')
    return amount


def _sentiment(value: object) -> Sentiment:
    if _is_text(value) and value in Sentiment.__members__:
        return Sentiment(value)
    _refuse("BAD_SENTIMENT", f'{_missing(value, "sentiment")}"sentiment" must be exactly "BULLISH", "BEARISH" or "NEUTRAL".')


def _reasoning(value: object) -> str:
    if not _is_text(value) or not value.strip():
        _refuse("BAD_TEXT", f'{_missing(value, "reasoning")}"reasoning" must be a text that is not empty.')
    if len(value) > MAX_REASONING_CHARACTERS:
        _refuse("BAD_TEXT", f'"reasoning" must have at most {MAX_REASONING_CHARACTERS} characters; yours has {len(value)}.')
    at = _first_refused_character(value)
    if at is not None:
        _refuse("BAD_TEXT", f'"reasoning" holds the invisible or control character U+{ord(value[at]):04X} at position {at}; write plain visible text.')
    return value


def _first_refused_character(text: str) -> int | None:
    if text.replace("\n", " ").isprintable():
        return None
    return next((n for n, char in enumerate(text) if char != "\n" and unicodedata.category(char) in _REFUSED_CATEGORIES), None)


def _check_ticker(fields: dict[str, object], ticker: str) -> None:
    if "ticker" in fields and not (_is_text(fields["ticker"]) and fields["ticker"] == ticker):
        _refuse("TICKER_MISMATCH", f'Leave "ticker" out, or repeat exactly the one that was asked for: {_shown(ticker)}.')


def _p_up(value: object) -> Decimal | None:
    if value is None:
        return None
    if not isinstance(value, _Literal) or not _P_UP.fullmatch(value):
        _refuse("BAD_P_UP", '"p_up" must be a plain JSON number from 0 to 1 such as 0.55, with at most 12 decimals, or be left out.')
    return Decimal(value)


def _relied_on(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) > MAX_RELIED_ON or not all(_is_text(item) and _RELIED_ON_ID.fullmatch(item) for item in value):
        _refuse("BAD_RELIED_ON", f'"relied_on" must be a list of at most {MAX_RELIED_ON} evidence or claim ids as you were given them, or be left out.')
    return tuple(value)
