"""The lexicon is a file that people edit: a slip in it is named with file, key and nearest valid key."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from alphaagent.errors import ConfigFault
from alphaagent.evidence.lexicon import Lexicon
from tests.unit.evidence.headlines import press, shipped_document, shipped_lexicon, sign_of

Edit = Callable[[dict[str, Any]], object]


def parsed(edit: Edit) -> Lexicon:
    document = copy.deepcopy(shipped_document())
    edit(document)
    return Lexicon.parse(document, "lexicon.yaml")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda d: d.update(negator=["no"]), ["lexicon.yaml", "negator", "`negators`"]),
        (lambda d: d.pop("plain"), ["lexicon.yaml", "plain", "missing"]),
        (lambda d: d["directions"]["less"].update(sing=1), ["directions.less.sing", "`sign`"]),
        (lambda d: d["directions"]["less"].update(sign=2), ["directions.less.sign", "-1 to 1"]),
        (lambda d: d["directions"]["less"].update(sign=True), ["directions.less.sign"]),
        (lambda d: d["directions"]["less"].update(strength=0.5), ["directions.less.strength"]),
        (lambda d: d["objects"]["profit"].update(topic="result"), ["objects.profit.topic", "`results`"]),
        (lambda d: d["objects"]["profit"].update(alone="yes"), ["objects.profit.alone", "true or false"]),
        (lambda d: d["objects"]["profit"]["words"].append("loss"), ["`loss`", "objects.profit.words"]),
        (lambda d: d["objects"]["profit"]["words"].append("Profit"), ["objects.profit.words", "'Profit'"]),
        (lambda d: d["negators"].append(False), ["negators", "quotes"]),
        (lambda d: d["markers"].update(rumor=["x"]), ["markers.rumor", "`rumour`"]),
        (lambda d: d["topics"].pop("guidance"), ["guidance"]),
        (lambda d: d["full_move_percent"].update(price=0), ["full_move_percent.price"]),
        (lambda d: d.update(markers=[]), ["markers", "table"]),
    ],
)
def test_a_slip_names_the_file_the_key_and_the_nearest_valid_key(edit: Edit, words: list[str]) -> None:
    with pytest.raises(ConfigFault) as caught:
        parsed(edit)
    told = f"{caught.value.message} {caught.value.fix}"
    assert all(word in told for word in words), told


def test_a_desk_person_may_add_a_word() -> None:
    assert sign_of(press("Norvik profit zigzags").score) == "0"
    lexicon = parsed(lambda d: d["directions"]["less"]["words"].append("zigzag"))
    assert lexicon.forms.lemma("zigzags") == "zigzag"
    assert lexicon.fingerprint() != shipped_lexicon().fingerprint()


def test_the_fingerprint_belongs_to_the_document() -> None:
    assert shipped_lexicon().fingerprint() == parsed(lambda d: None).fingerprint()


@pytest.mark.parametrize(
    ("word", "listed"),
    [("cuts", "cut"), ("cutting", "cut"), ("fell", "fall"), ("losses", "loss"), ("sales", "sales"), ("rallied", "rally"), ("xyzzy", "xyzzy")],
)
def test_words_are_found_by_their_forms(word: str, listed: str) -> None:
    assert listed == shipped_lexicon().forms.lemma(word)
