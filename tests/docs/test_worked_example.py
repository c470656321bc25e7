"""The numbers of the worked example are the engine's, on the recorded data."""

import re
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent import pipeline
from alphaagent.bootstrap import Workplace
from alphaagent.desk import Ask
from alphaagent.domain.record import DecisionRecord
from alphaagent.engines.heuristic import sizing
from alphaagent.engines.heuristic.profiles import PROFILES
from alphaagent.settings import load_settings

PAGE = (Path(__file__).parents[2] / "docs" / "wiki" / "Heuristic-Engine.md").read_text(encoding="utf-8")
EXAMPLE = PAGE.split("## Worked example")[1]
VALUES = dict(re.findall(r"^\| (\w+) \| ([0-9.]+) \|$", EXAMPLE, re.MULTILINE))
FACTORS = re.findall(r"^\| (\w+) \| (-?[0-9.]+|absent) \| ([0-9.]+) \| (-?[0-9.]+) \|$", EXAMPLE, re.MULTILINE)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> DecisionRecord:
    workplace = Workplace(load_settings({}, tmp_path_factory.mktemp("home")))
    at = workplace.moment("2017-01-03")
    return pipeline.dry_run(workplace.desk, Ask(ticker="AAPL", as_of=at, engine="heuristic")).record


def test_the_factors_are_the_engines(record: DecisionRecord) -> None:
    made = [(part.factor, part.value or part.status, part.weight, part.contribution) for part in record.result.contributions]
    assert made == FACTORS


def test_the_inputs_and_results_are_the_engines(record: DecisionRecord) -> None:
    payloads = {item.kind: item.payload for item in record.pack.items if item.tool == "get_price_history"}
    assert record.proposal is not None
    assert {
        "p_21": payloads["momentum"]["p_21"],
        "p_252": payloads["momentum"]["p_252"],
        "sigma": payloads["volatility"]["sigma"],
        "momentum": record.result.contributions[0].value,
        "p0": payloads["base_rate"]["p0"],
        "score": record.result.score,
        "p_up": str(record.proposal.p_up),
        "target": record.result.target_weight,
        "edge": VALUES["edge"],
        "amount": str(record.proposal.amount),
    } == VALUES


def test_the_arithmetic_of_the_size_holds(record: DecisionRecord) -> None:
    profile, score, sigma = PROFILES["medium"], Decimal(VALUES["score"]), Decimal(VALUES["sigma"])
    target = sizing.target_weight(score, sigma, profile)
    assert round(target, 6) == Decimal(VALUES["target"])
    assert round(target - sizing.band(target), 6) == Decimal(VALUES["edge"])


def test_the_profiles_table_is_the_programs() -> None:
    def percent(fraction: Decimal) -> str:
        return f"{fraction * 100:.0f}%"

    for name, profile in PROFILES.items():
        cells = [profile.price_trend, profile.reversal, profile.quality, profile.value, profile.news, profile.enter, profile.exit]
        row = " | ".join([name, *(f"{cell:.2f}" for cell in cells), percent(profile.cap), percent(profile.sigma_target)])
        assert f"| {row} |" in PAGE


def test_the_example_of_a_lost_source_is_what_happens(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[2] / "data" / "snapshot", tmp_path / "data" / "snapshot")
    whole, torn = (_decided_in_january_2021(tmp_path, lose=lose) for lose in (False, True))
    told = re.search(r"score is (\S+) and the verdict a BUY.*the score lies between (\S+) and (\S+), and the verdict is HOLD", " ".join(PAGE.split()))
    assert told
    assert whole.proposal is not None
    assert torn.proposal is not None
    assert (whole.proposal.action, torn.proposal.action) == ("BUY", "HOLD")
    assert f"score {told[1]};" in whole.proposal.reasoning
    assert f"the score lies in {told[2]} to {told[3]};" in torn.proposal.reasoning


def _decided_in_january_2021(home: Path, *, lose: bool) -> DecisionRecord:
    if lose:
        (home / "data" / "snapshot" / "fundamentals" / "AAPL.csv").unlink()
    workplace = Workplace(load_settings({}, home))
    return pipeline.dry_run(workplace.desk, Ask(ticker="AAPL", as_of=workplace.moment("2021-01-29"), engine="heuristic")).record
