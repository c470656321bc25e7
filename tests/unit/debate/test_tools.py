"""The tools of the three sides over a frozen pack."""

import json

import pytest

from alphaagent.domain.evidence import SIDES, EvidenceItem, Side, Status
from alphaagent.engines.crew.tools import DESCRIPTIONS, found, names_of, tools_of
from alphaagent.llm.steps import Steps
from tests.pack_builder import LOST_NEWS, health_items, item, lost, news_items, pack

SPEAKERS: tuple[Side, ...] = ("bull", "bear", "cio")
QUOTED = item("get_market_price", "quote", {"price": "100.0"})
LOST_DATES = lost("get_news_sentiment", "earnings_date")
DATE = item("get_news_sentiment", "earnings_date", {"day": "2020-04-30", "sessions": 30})
PACK = pack(health=[*health_items([True, False]), QUOTED])


def steps(log: list[str], side: Side) -> Steps:
    return Steps(20, names_of(side), tuple(DESCRIPTIONS), lambda number, name, arguments, status: log.append(f"{name}: {status}"))


@pytest.mark.parametrize("side", SPEAKERS)
def test_every_tool_of_every_side_answers_from_the_pack(side: Side) -> None:
    log: list[str] = []
    for tool in tools_of(side, PACK, steps(log, side)):
        shown = [json.loads(line)["id"] for line in tool.run().splitlines()]
        assert shown == [one.id for one in PACK.items if one.tool == tool.name]
        assert shown
        assert side in SIDES[tool.name]  # type: ignore[index]
    assert log == [f"{name}: success" for name in names_of(side)]


def test_the_sides_argue_from_unequal_tools() -> None:
    assert {side: set(names_of(side)) for side in SPEAKERS} == {
        "bull": {"get_price_history", "get_news_sentiment"},
        "bear": {"get_price_history", "get_news_sentiment", "get_financial_health"},
        "cio": {"get_market_price"},
    }


def test_a_tool_gives_nothing_that_was_known_too_late() -> None:
    late = PACK.model_copy(update={"items": tuple(one.model_copy(update={"known_at": PACK.as_of}) for one in PACK.items)})
    log: list[str] = []
    assert [tool.run() for tool in tools_of("cio", late, steps(log, "cio"))] == ["The source answered and has nothing."]


@pytest.mark.parametrize(
    ("items", "status", "words"),
    [
        ((), "empty", "has nothing"),
        (tuple(LOST_NEWS), "error", "no sign that there is nothing"),
        (tuple(lost("get_news_sentiment", "news", Status.EMPTY)), "empty", "has nothing"),
        (tuple(news_items()), "success", '"score": "0.0"'),
        ((*news_items(), *LOST_DATES), "success", "earnings_date lost: the file is broken"),
        ((*lost("get_news_sentiment", "news", Status.EMPTY), *LOST_DATES), "empty", "has nothing"),
        ((*LOST_NEWS, DATE), "error", "no sign that there is nothing"),
    ],
)
def test_lost_silent_and_neutral_read_differently(items: tuple[EvidenceItem, ...], status: str, words: str) -> None:
    told, text = found(items)
    assert (told, words in text) == (status, True)
