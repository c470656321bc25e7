"""The two cases: each cites only what its side may see, lists its holes, and says so where it has no case."""

from decimal import Decimal as D

import pytest
from hypothesis import given, settings

from alphaagent.domain.debate import Case
from alphaagent.domain.evidence import EvidencePack, Status
from alphaagent.engines.heuristic.engine import HeuristicEngine
from tests.pack_builder import BEARISH, BULLISH, LOST_FILINGS, LOST_NEWS, health_items, holding, item, lost, news_items, pack
from tests.unit.engines.heuristic.test_engine import packs


def cases(evidence: EvidencePack) -> tuple[Case, Case]:
    found = HeuristicEngine().decide(evidence)
    return found.bull_case, found.bear_case


@given(packs())
@settings(max_examples=40)
def test_each_side_cites_only_evidence_that_it_may_see(evidence: EvidencePack) -> None:
    for case in cases(evidence):
        visible = {item.id for item in evidence.visible_to(case.side)}
        cited = [key for line in case.lines for key in line.evidence_ids]
        assert set(cited) <= visible
        assert case.evidence_ids == tuple(dict.fromkeys(cited))
        assert all(line.evidence_ids for line in case.lines)


@given(packs())
@settings(max_examples=40)
def test_the_bull_never_speaks_of_filings(evidence: EvidencePack) -> None:
    bull, _ = cases(evidence)

    assert {line.factor for line in bull.lines} <= {"momentum", "trend", "drawdown", "reversal", "news"}
    assert not any("quality" in text or "value" in text or "fundamentals" in text for text in (bull.summary, *bull.holes))


@given(packs())
@settings(max_examples=40)
def test_a_side_has_a_case_exactly_where_what_it_sees_adds_up_its_way(evidence: EvidencePack) -> None:
    found = HeuristicEngine().decide(evidence)
    bull_sum = sum(D(part.contribution) for part in found.contributions if part.factor not in ("quality", "value"))
    bear_sum = sum(D(part.contribution) for part in found.contributions)

    assert (found.bull_case.no_case is None, found.bear_case.no_case is None) == (bull_sum > 0, bear_sum < 0)


def test_lines_come_heaviest_first_with_their_signed_weight() -> None:
    bull, bear = cases(pack(BULLISH | {"reversal": {"close": "200.0"}}, health_items([False] * 4), news_items("0.2")))

    weights = [D(line.weight) for line in bull.lines]
    assert weights == sorted(weights, reverse=True)
    assert [(line.factor, line.weight) for line in bear.lines[:2]] == [("quality", "-0.25"), ("reversal", "-0.05")]


def test_the_bear_names_failed_tests_and_hard_flags() -> None:
    _, bear = cases(pack(health=health_items([False, True, True, True], [("negative_equity", "a")])))

    remarks = [(line.text, line.factor) for line in bear.lines if line.weight == "0.0"]
    assert remarks == [("test.operating_income as measured", "quality"), ("hard_flag as measured", "quality")]


def test_each_side_names_at_most_three_headlines_of_its_own_sign() -> None:
    evidence = pack(news=news_items("0.1", ["0.5", "-0.5", "0.0", "0.4", "0.3", "0.2"]))
    scores = {item.id: D(str(item.payload["score"])) for item in evidence.find("get_news_sentiment", "headline")}
    bull, bear = cases(evidence)

    def remarks(case: Case) -> list[D]:
        return [scores[line.evidence_ids[0]] for line in case.lines if line.weight == "0.0" and line.factor == "news"]

    assert (remarks(bull), remarks(bear)) == ([D("0.5"), D("0.4"), D("0.3")], [D("-0.5")])


def test_no_case_is_said_with_the_sum_that_stands_against_it() -> None:
    bull, bear = cases(pack(BEARISH))

    assert bull.no_case == "no bullish case on price and news"
    assert bull.summary.startswith("No bullish case on price and news: what this side can see adds up to -0.4")
    assert (bear.no_case, bear.summary[:5]) == (None, "What ")


def test_a_pack_without_any_pull_gives_neither_side_a_case() -> None:
    bull, bear = cases(pack())

    assert (bull.no_case, bear.no_case) == ("no bullish case on price and news", "no bearish case on fundamentals, price and news")
    assert "Nothing it can see stands against." in bull.summary


def test_the_strongest_point_against_is_conceded() -> None:
    bull, bear = cases(pack(BULLISH | {"reversal": {"close": "200.0"}}))

    assert "The strongest point against: reversal -0.050" in bull.summary
    assert "The strongest point against: momentum +0.22" in bear.summary


def test_lost_news_is_a_hole_of_both_sides_and_lost_filings_only_of_the_bear() -> None:
    bull, bear = cases(pack(health=LOST_FILINGS, news=LOST_NEWS))
    news, filings = "get_news_sentiment: news lost: the file is broken", "get_financial_health: fundamentals lost: the file is broken"

    assert (set(bull.holes), set(bear.holes)) == ({news}, {news, filings})


def test_a_lost_factor_is_a_line_of_the_bear_at_its_worst() -> None:
    _, bear = cases(pack(health=LOST_FILINGS))

    assert (bear.lines[0].factor, bear.lines[0].weight) == ("hole", "-0.25")
    assert bear.lines[0].text == "quality is lost and counts at its worst: fundamentals lost: the file is broken"


def test_what_does_not_apply_is_no_hole() -> None:
    _, bear = cases(pack(health=lost("get_financial_health", "fundamentals", Status.NOT_APPLICABLE)))

    assert bear.holes == ()


DATE = item("get_news_sentiment", "earnings_date", {"day": "2020-04-30", "sessions": 30})
EX_DATE = item("get_price_history", "ex_dividend", {"day": "2020-04-30", "sessions": 30})


@pytest.mark.parametrize("status", [Status.FAILED, Status.EMPTY, Status.STALE])
def test_lost_dates_are_a_hole_of_both_sides_and_change_no_figure(status: Status) -> None:
    plain = HeuristicEngine().decide(pack(BULLISH))
    found = HeuristicEngine().decide(pack(BULLISH, news=[*news_items(), *lost("get_news_sentiment", "earnings_date", status)]))

    assert found.bull_case.holes == found.bear_case.holes == ("get_news_sentiment: earnings_date lost: the file is broken",)
    without = {"holes": ()}
    assert found.bull_case.model_copy(update=without) == plain.bull_case
    assert found.bear_case.model_copy(update=without) == plain.bear_case
    assert (found.score, found.contributions, found.proposal_text) == (plain.score, plain.contributions, plain.proposal_text)


def test_dates_ahead_change_nothing_in_a_mechanical_read() -> None:
    assert HeuristicEngine().decide(pack(BULLISH, news=[*news_items(), DATE, EX_DATE])) == HeuristicEngine().decide(pack(BULLISH))


def test_a_date_ahead_is_no_news() -> None:
    bull, _ = cases(pack(BEARISH, news=[*LOST_NEWS, DATE]))

    assert bull.no_case == "no bullish case on price; news could not be seen"


def test_both_cases_are_labelled_as_a_mechanical_read() -> None:
    assert {case.label for case in cases(pack())} == {"a mechanical read by the heuristic engine, no model"}


def reasoning(evidence: EvidencePack) -> str:
    from alphaagent.guard.intake import parse_proposal

    return parse_proposal(HeuristicEngine().decide(evidence).proposal_text, ticker="ACME").reasoning


GOOD = health_items([True] * 7, percentile="1.0")


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (pack(), "so nothing is bought"),
        (pack(BULLISH, GOOD, **holding("0.055")), "inside the no-trade region"),
        (pack(BULLISH, GOOD, **holding("0.056")), "at its target"),
        (pack(BULLISH, health_items([True] * 7, [("restatement", "a")], "1.0")), "a hard flag is raised"),
        (pack(BULLISH, GOOD), "takes it to the near edge of the no-trade region, 4.2%"),
        (pack(BULLISH, GOOD, budget="1000.0"), "buying 1000.00 is the whole budget, on the way to the near edge of the no-trade region, 4.2%"),
        (pack(BEARISH, **holding("0.05")), "Selling all that is held, by rule."),
        (pack(BULLISH, GOOD, **holding("0.10")), "Selling 3000.00 of 10000.00 trims it to 7.0%, by rule: this is a matter of size and not of the view."),
        (pack(BULLISH, LOST_FILINGS), "A source is lost: the score lies in"),
        (pack(health=LOST_FILINGS), "quality -0.250 (lost)"),
        (pack(price_status=Status.STALE), "abstained, the book stays as it is"),
    ],
)
def test_the_reasoning_says_what_was_done_and_why(evidence: EvidencePack, words: str) -> None:
    assert words in reasoning(evidence)


def test_the_reasoning_starts_from_the_score_and_its_thresholds() -> None:
    assert reasoning(pack(news=news_items("1.0"))).startswith(
        "Mechanical read (medium risk): score +0.150; enter at +0.25, exit at +0.05. For: news +0.150. Against: nothing."
    )
