"""The only reader of what a debater answers, and the shape that is shown to it beforehand.

Chosen on purpose: an answer is read whole or refused; nothing is repaired, trimmed or coerced. A refusal names every fault it found, up
to a bound, because a model gets one chance to mend. A probability that is missing or not a plain number has a code of its own: a debate
never goes on with a guessed one.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal, TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from alphaagent.domain.argument import ANSWERS, Answer, AnswerKind, Conclusion, Fallacy, Opening, Rebuttal, Retort, Said
from alphaagent.domain.strict_json import JsonFlaw, JsonRefused, Number, read_object, shown
from alphaagent.errors import AnswerRefused

MAX_BYTES = 64 * 1024
MAX_DEPTH = 8
MAX_FAULTS_NAMED = 8

CODES = ("NOT_SINGLE_JSON", "DUP_KEY", "EXTRA_KEY", "MISSING_KEY", "BAD_FIELD", "BAD_PROBABILITY", "TOO_LARGE")

_JSON_CODES: dict[JsonFlaw, str] = {"too_large": "TOO_LARGE", "too_deep": "TOO_LARGE", "not_single": "NOT_SINGLE_JSON", "repeated_key": "DUP_KEY"}
_PLAIN_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,12})?")
_PROBABILITY = '"p_up" must be a plain JSON number from 0 to 1 such as 0.55, with at most 12 decimals.'

_A = TypeVar("_A", bound=Said)


def read_opening(raw: str) -> Opening:
    """The opening that a text holds. Raises AnswerRefused."""
    return _read(Opening, raw)


def read_rebuttal(raw: str) -> Rebuttal:
    """The rebuttal that a text holds. Raises AnswerRefused."""
    return _read(Rebuttal, raw)


def read_retort(raw: str) -> Retort:
    """The retort that a text holds. Raises AnswerRefused."""
    return _read(Retort, raw)


def read_conclusion(raw: str) -> Conclusion:
    """The conclusion that a text holds. Raises AnswerRefused."""
    return _read(Conclusion, raw)


def read_answer(kind: AnswerKind, raw: str) -> Answer:
    """The answer of a kind that is known only at run time. Raises AnswerRefused."""
    return _read(ANSWERS[kind], raw)


def _read(model: type[_A], raw: str) -> _A:
    try:
        fields = read_object(raw, max_bytes=MAX_BYTES, max_depth=MAX_DEPTH)
    except JsonRefused as refused:
        raise AnswerRefused(_JSON_CODES[refused.flaw], refused.message) from None
    try:
        return model.model_validate(_values(fields))
    except ValidationError as invalid:
        raise _refusal(invalid) from None


def _values(value: object) -> object:
    """JSON values as the models want them. A number outside the plain grammar stays a `Number`, which no model takes."""
    match value:
        case Number(literal=literal) if _PLAIN_NUMBER.fullmatch(literal):
            return Decimal(literal)
        case dict():
            return {key: _values(item) for key, item in value.items()}
        case list():
            return tuple(_values(item) for item in value)
        case _:
            return value


def _refusal(invalid: ValidationError) -> AnswerRefused:
    faults = [(_code(error), _message(error)) for error in invalid.errors(include_url=False)]
    faults.sort(key=lambda fault: fault[0] != "BAD_PROBABILITY")
    unnamed = len(faults) - MAX_FAULTS_NAMED
    rest = [f"And {unnamed} more."] if unnamed > 0 else []
    return AnswerRefused(faults[0][0], " ".join([message for _, message in faults[:MAX_FAULTS_NAMED]] + rest))


def _code(error: ErrorDetails) -> str:
    if error["loc"] == ("p_up",):
        return "BAD_PROBABILITY"
    return {"missing": "MISSING_KEY", "extra_forbidden": "EXTRA_KEY"}.get(error["type"], "BAD_FIELD")


def _message(error: ErrorDetails) -> str:
    where = _where(error["loc"])
    if where == "p_up":
        missing = 'The key "p_up" is missing: ' if error["type"] == "missing" else ""
        return f"{missing}{_PROBABILITY}"
    match error["type"]:
        case "missing":
            return f'Add the key "{where}".'
        case "extra_forbidden":
            return f"Remove the key {shown(where)}."
        case _:
            return f'"{where}" {_wish(error)}.' if where else f"{_wish(error)}."


def _where(loc: tuple[int | str, ...]) -> str:
    """The place as a reader of JSON writes it: claims[0].text."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc).removeprefix(".")


def _wish(error: ErrorDetails) -> str:
    context: Mapping[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "value_error":
            return str(context["error"])
        case "literal_error":
            return f"must be exactly {context['expected']}"
        case "string_too_long":
            return f"must have at most {context['max_length']} characters; yours has {len(error['input'])}"
        case "too_long":
            return f"must have at most {context['max_length']} items; yours has {context['actual_length']}"
        case kind:
            return _TYPES.get(kind.partition("_")[0], "is not of the shape that was asked for")


_TYPES = {
    "string": "must be a text of visible characters",
    "decimal": "must be a plain JSON number such as 2.5, without quotes or exponent",
    "is": "must be a plain JSON number such as 2.5, without quotes or exponent",
    "greater": "must be a number that is not negative",
    "tuple": "must be a list",
    "date": 'must be a date such as "2024-03-28"',
    "model": "must be a JSON object",
}

_ID = '"ev_..."'
_FALLACIES = "|".join(f'"{label}"' for label in get_args(Fallacy))
_OF_ASSERTION = f'null | {{"evidence_id": {_ID}, "path": "field.of.the.payload", "op": "<"|"<="|"=="|">="|">", "value": number, "tolerance": number}}'
_OF_RESOLUTION = '"observable": "an observable as listed", "operator": "<"|"<="|">="|">", "threshold": number, "by_date": "YYYY-MM-DD", "says": "up"|"down"'
_OF_ADJUDICATION = f'{{"objection_id": "o_...", "verdict": "ACCEPT"|"SUSTAIN", "reason": text, "evidence_ids": [{_ID}]}}'

_SHAPES: dict[str, str] = {
    "opening": f"""{{
  "stance": "BULLISH"|"BEARISH"|"NEUTRAL",
  "p_up": number from 0 to 1,
  "no_case": null | text saying why you have no case (then "claims" is []),
  "claims": [{{"text": text of at most 600 characters, "kind": "fact"|"inference"|"forecast"|"value", "direction": "up"|"down",
    "severity": "high"|"med"|"low", "evidence_ids": [{_ID}],
    "assertion": {_OF_ASSERTION}}}],
  "strongest_counter": text of at most 1500 characters: the best argument against you, and your answer
}}""",
    "rebuttal": f"""{{
  "steelman": {{"claim_ids": ["c_..."], "text": text of at most 1500 characters: your opponent's case at its best}},
  "p_up": number from 0 to 1,
  "objections": [{{"target_claim_id": "c_...", "argument": text of at most 1200 characters, "severity": "high"|"med"|"low",
    "evidence_ids": [{_ID}], "fallacy": null | {_FALLACIES}}}],
  "adjudications": [{_OF_ADJUDICATION}]
}}""",
    "retort": f"""{{
  "p_up": number from 0 to 1,
  "moves": [{{"objection_id": "o_...", "type": "CONCEDED"|"REBUTTED"|"CARRIED", "reason": text of at most 1200 characters,
    "evidence_ids": [{_ID}], "scope": null | "full"|"partial", "narrowed_text": null | the claim as you still hold it,
    "would_resolve_if": null | {{{_OF_RESOLUTION}}}}}],
  "adjudications": [{_OF_ADJUDICATION}]
}}""",
    "conclusion": f"""{{
  "p_up": number from 0 to 1,
  "summary": text of at most 3000 characters,
  "adjudications": [{_OF_ADJUDICATION}],
  "would_resolve_if": [{{"objection_id": "o_...", {_OF_RESOLUTION}}}]
}}""",
    "proposal": """{
  "action": "BUY"|"SELL"|"HOLD",
  "amount": number, in the portfolio's currency and not in shares; 0 with "HOLD",
  "sentiment": "BULLISH"|"BEARISH"|"NEUTRAL",
  "reasoning": text of at most 4000 characters,
  "p_up": number from 0 to 1 (may be left out),
  "relied_on": [ids of claims and evidence] (may be left out)
}""",
}


def answer_schema(kind: AnswerKind | Literal["proposal"]) -> str:
    """The JSON shape of an answer in words, for a prompt."""
    return _SHAPES[kind]
