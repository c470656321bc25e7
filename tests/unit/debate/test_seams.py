"""A step accounts for its keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alphaagent.debate.seams import Seam, seam
from alphaagent.errors import SeamLoss

KEYS = ("1/bull", "1/bear", "2/bull")


def test_a_step_that_kept_everything() -> None:
    assert seam("turns", KEYS, reversed(KEYS)).kept == ("2/bull", "1/bear", "1/bull")


def test_a_step_that_says_what_it_left_out() -> None:
    done = seam("turns", KEYS, KEYS[:2], {"2/bull": "stopped early"})
    assert [(one.key, one.reason) for one in done.excluded] == [("2/bull", "stopped early")]
    assert Seam.model_validate_json(done.model_dump_json()) == done


@pytest.mark.parametrize(
    ("given_keys", "kept", "excluded", "message"),
    [
        (KEYS, KEYS[:2], {}, "lost 2/bull"),
        (KEYS, (), {}, "lost 1/bear, 1/bull, 2/bull"),
        (KEYS, (*KEYS, "3/bull"), {}, "not given 3/bull"),
        (KEYS, KEYS, {"3/bull": "why"}, "not given 3/bull"),
        (KEYS, KEYS, {"2/bull": "why"}, "kept and left out 2/bull"),
        (KEYS, KEYS[:2], {"2/bull": " "}, "left out without a reason 2/bull"),
        ((*KEYS, "1/bull"), KEYS, {}, "twice in 1/bull"),
        (KEYS, (*KEYS, "1/bull"), {}, "twice out 1/bull"),
        (KEYS[:2], ("1/bull", "2/bull"), {}, "lost 1/bear; not given 2/bull"),
    ],
)
def test_C20_every_loss_is_named(given_keys: tuple[str, ...], kept: tuple[str, ...], excluded: dict[str, str], message: str) -> None:
    with pytest.raises(SeamLoss, match=f"^turns: {message}$") as loss:
        seam("turns", given_keys, kept, excluded)
    assert loss.value.code == "SEAM_LOSS"


@given(st.sets(st.text(min_size=1), max_size=6), st.data())
def test_whichever_key_is_dropped_is_named(keys: set[str], data: st.DataObject) -> None:
    assert set(seam("any", keys, keys).kept) == keys
    if keys:
        dropped = data.draw(st.sampled_from(sorted(keys)))
        with pytest.raises(SeamLoss) as loss:
            seam("any", keys, keys - {dropped})
        assert loss.value.message == f"any: lost {dropped}"
