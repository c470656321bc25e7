"""A second, slow reader of proposal texts, written character by character from the grammar and sharing nothing with the real one."""

import unicodedata
from decimal import Decimal
from typing import Any


class Refused(Exception):
    pass


class Number(str):
    __slots__ = ()


HEX = "0123456789abcdefABCDEF"
DIGITS = "0123456789"
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def verdict(raw: str, ticker: str) -> Any:
    """`("refused", code)`, or the six fields in order."""
    try:
        return fields(raw, ticker)
    except Refused as refused:
        return ("refused", str(refused))


def require(condition: bool, code: str) -> None:
    if not condition:
        raise Refused(code)


def fields(raw: str, ticker: str) -> tuple[Any, ...]:
    require(sum(4 if ord(c) > 0xFFFF else 3 if ord(c) > 0x7FF else 2 if ord(c) > 0x7F else 1 for c in raw) <= 16384, "RAW_TOO_LARGE")
    require(depth(raw) <= 8, "RAW_TOO_LARGE")
    reader = Reader(unfenced(raw))
    found = reader.document()
    require(isinstance(found, dict), "NOT_SINGLE_JSON")
    require(not reader.repeated, "DUP_KEY")
    require(set(found) <= {"action", "amount", "sentiment", "reasoning", "p_up", "relied_on", "ticker"}, "EXTRA_KEY")
    action = found.get("action")
    require(type(action) is str and action in ("BUY", "SELL", "HOLD"), "BAD_ACTION")
    amount = found.get("amount")
    require(plain_number(amount, whole=12, places=6), "BAD_AMOUNT")
    require((Decimal(amount) == 0) == (action == "HOLD"), "BAD_AMOUNT")
    sentiment = found.get("sentiment")
    require(type(sentiment) is str and sentiment in ("BULLISH", "BEARISH", "NEUTRAL"), "BAD_SENTIMENT")
    reasoning = found.get("reasoning")
    require(type(reasoning) is str and reasoning.strip() != "" and len(reasoning) <= 4000, "BAD_TEXT")
    require(all(c == "\n" or unicodedata.category(c)[0] != "C" for c in reasoning), "BAD_TEXT")
    if "ticker" in found:
        require(type(found["ticker"]) is str and found["ticker"] == ticker, "TICKER_MISMATCH")
    p_up = found.get("p_up")
    require(p_up is None or (plain_number(p_up, whole=1, places=12) and Decimal(p_up) <= 1), "BAD_P_UP")
    relied_on = found.get("relied_on")
    require(relied_on is None or (isinstance(relied_on, list) and len(relied_on) <= 64 and all(map(is_id, relied_on))), "BAD_RELIED_ON")
    return (action, Decimal(amount), sentiment, reasoning, None if p_up is None else Decimal(p_up), None if relied_on is None else tuple(relied_on))


def is_id(value: object) -> bool:
    return type(value) is str and 1 <= len(value) <= 64 and all(c.isascii() and (c.isalnum() or c in "_.:-") for c in value)


def plain_number(value: object, whole: int, places: int) -> bool:
    if type(value) is not Number:
        return False
    head, dot, tail = value.partition(".")
    if not (1 <= len(head) <= whole and all(c in DIGITS for c in head) and (head == "0" or head[0] != "0")):
        return False
    return not dot or (1 <= len(tail) <= places and all(c in DIGITS for c in tail))


def depth(raw: str) -> int:
    deepest = level = 0
    quoted = escaped = False
    for char in raw:
        if escaped:
            escaped = False
        elif quoted and char == "\\":
            escaped = True
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in "[{":
            level += 1
            deepest = max(deepest, level)
        elif not quoted and char in "]}":
            level -= 1
    return deepest


def unfenced(raw: str) -> str:
    core = raw.strip(" \t\r\n")
    if not core.startswith("```json"):
        return raw
    first, newline, rest = core[len("```json") :].partition("\n")
    body, newline2, last = rest.rpartition("\n")
    if newline and newline2 and first.removesuffix("\r").strip(" \t") == "" and last.lstrip(" \t") == "```":
        return body
    return raw


class Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.repeated = False

    def document(self) -> Any:
        self.space()
        value = self.value()
        self.space()
        require(self.at == len(self.source), "NOT_SINGLE_JSON")
        return value

    def peek(self) -> str:
        return self.source[self.at] if self.at < len(self.source) else ""

    def take(self, expected: str) -> None:
        require(self.source.startswith(expected, self.at), "NOT_SINGLE_JSON")
        self.at += len(expected)

    def space(self) -> None:
        while self.peek() and self.peek() in " \t\r\n":
            self.at += 1

    def value(self) -> Any:
        char = self.peek()
        if char == "{":
            return self.object()
        if char == "[":
            return self.array()
        if char == '"':
            return self.string()
        for word, meaning in (("true", True), ("false", False), ("null", None), ("NaN", Number("NaN")), ("Infinity", Number("Infinity"))):
            if self.source.startswith(word, self.at):
                self.at += len(word)
                return meaning
        if self.source.startswith("-Infinity", self.at):
            self.at += 9
            return Number("-Infinity")
        return self.number()

    def object(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.take("{")
        self.space()
        if self.peek() == "}":
            self.take("}")
            return found
        while True:
            self.space()
            require(self.peek() == '"', "NOT_SINGLE_JSON")
            key = self.string()
            self.space()
            self.take(":")
            self.space()
            self.repeated = self.repeated or key in found
            found[key] = self.value()
            self.space()
            if self.peek() != ",":
                self.take("}")
                return found
            self.take(",")

    def array(self) -> list[Any]:
        found: list[Any] = []
        self.take("[")
        self.space()
        if self.peek() == "]":
            self.take("]")
            return found
        while True:
            self.space()
            found.append(self.value())
            self.space()
            if self.peek() != ",":
                self.take("]")
                return found
            self.take(",")

    def digits(self) -> str:
        start = self.at
        while self.peek() and self.peek() in DIGITS:
            self.at += 1
        return self.source[start : self.at]

    def number(self) -> Number:
        start = self.at
        if self.peek() == "-":
            self.at += 1
        if self.peek() == "0":
            self.at += 1
        else:
            require(self.digits() != "", "NOT_SINGLE_JSON")
        before = self.at
        if self.peek() == ".":
            self.at += 1
            if not self.digits():
                self.at = before
        before = self.at
        if self.peek() and self.peek() in "eE":
            self.at += 1
            if self.peek() and self.peek() in "+-":
                self.at += 1
            if not self.digits():
                self.at = before
        return Number(self.source[start : self.at])

    def string(self) -> str:
        self.take('"')
        parts: list[str] = []
        while True:
            char = self.peek()
            require(char != "" and char >= " ", "NOT_SINGLE_JSON")
            self.at += 1
            if char == '"':
                return "".join(parts)
            parts.append(self.escape() if char == "\\" else char)

    def escape(self) -> str:
        char = self.peek()
        self.at += 1
        if char == "u":
            unit = self.hex4()
            if 0xD800 <= unit <= 0xDBFF and self.source.startswith("\\u", self.at):
                back = self.at
                self.at += 2
                low = self.hex4()
                if 0xDC00 <= low <= 0xDFFF:
                    return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
                self.at = back
            return chr(unit)
        require(char in ESCAPES and char != "", "NOT_SINGLE_JSON")
        return ESCAPES[char]

    def hex4(self) -> int:
        digits = self.source[self.at : self.at + 4]
        require(len(digits) == 4 and all(c in HEX for c in digits), "NOT_SINGLE_JSON")
        self.at += 4
        return int(digits, 16)
