"""Thresholds that are numbers of the right kind and size, and no others."""

from typing import Any

import pytest
from pydantic import ValidationError

from alphaagent.debate.thresholds import Thresholds


@pytest.mark.parametrize(
    "wrong",
    [{"max_claims": True}, {"max_claims": 1001}, {"max_claims": 0}, {"theta": "0.0000000000001"}, {"min_reason_characters": 2001}, {"max_carries": "2"}],
)
def test_a_threshold_out_of_kind_or_bounds_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Thresholds(**wrong)


def test_the_bounds_themselves_are_taken() -> None:
    assert Thresholds.model_validate({"max_claims": 1000, "theta": "0.000000000001", "min_reason_characters": 2000}).max_claims == 1000
