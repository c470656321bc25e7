"""What the headline tests share: the shipped lexicon, the tables, and how an accuracy is counted."""

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

from alphaagent.evidence.headline import CompanyNames
from alphaagent.evidence.lexicon import Lexicon
from alphaagent.evidence.sentiment import HeadlineScore, score_headline

HERE = Path(__file__).parent
LEXICON_FILE = HERE.parents[2] / "config" / "lexicon.yaml"
NORVIK = CompanyNames(("Norvik",), ("NVK",))


@cache
def shipped_document() -> dict[str, object]:
    return dict(yaml.safe_load(LEXICON_FILE.read_text(encoding="utf-8")))


@cache
def shipped_lexicon() -> Lexicon:
    return Lexicon.parse(shipped_document(), "config/lexicon.yaml")


def press(title: str, company: CompanyNames = NORVIK) -> HeadlineScore:
    return score_headline(title, company, shipped_lexicon(), origin="press")


def filing(title: str) -> HeadlineScore:
    return score_headline(title, NORVIK, shipped_lexicon(), origin="filing")


def sign_of(score: Decimal) -> str:
    return "+" if score > 0 else "-" if score < 0 else "0"


class Row(NamedTuple):
    sign: str
    part: str
    company: str
    title: str


def truth_table() -> list[Row]:
    return [Row(sign, "truth", "Norvik", title) for sign, title in _lines("headline_truth_table.tsv")]


def held_apart(parts: str) -> list[Row]:
    return [Row(*fields) for fields in _lines("headlines_held_apart.tsv") if fields[1] in parts]


def _lines(name: str) -> Iterable[list[str]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def confusion(rows: Iterable[Row]) -> Counter[tuple[str, str]]:
    """(expected, found) sign -> how many."""
    return Counter((row.sign, sign_of(press(row.title, CompanyNames((row.company,))).score)) for row in rows)


def accuracy(counts: Counter[tuple[str, str]]) -> float:
    return sum(count for (expected, found), count in counts.items() if expected == found) / sum(counts.values())
