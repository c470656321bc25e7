"""Headlines are read by rule: the truth table holds, held-apart headlines keep their floor, and no text breaks the reader."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alphaagent.evidence.headline import CompanyNames
from tests.unit.evidence.headlines import Row, accuracy, confusion, filing, held_apart, press, sign_of, truth_table

ALL_TITLES = [row.title for row in truth_table()]


@pytest.mark.parametrize("row", truth_table(), ids=lambda row: row.title)
def test_every_row_of_the_truth_table_comes_out_right(row: Row) -> None:
    assert row.sign == sign_of(press(row.title).score)


@pytest.mark.parametrize(("parts", "floor"), [("ab", 1.0), ("c", 0.98), ("de", 1.0), ("f", 0.85)])
def test_held_apart_headlines_keep_their_floor(parts: str, floor: float) -> None:
    assert accuracy(confusion(held_apart(parts))) >= floor


def test_a_wrong_reading_is_rarely_the_opposite_one() -> None:
    counts = confusion(held_apart("f"))
    assert (counts["+", "-"] + counts["-", "+"]) / sum(counts.values()) <= 0.04


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("Norvik posts record profit", "Norvik profit rises"),
        ("Norvik profit rises", "Norvik profit falls"),
        ("Norvik loss widens", "Norvik posts record loss"),
        ("Norvik shares fall 3%", "Norvik shares fall 18%"),
        ("Norvik slashes dividend", "Norvik in bankruptcy"),
    ],
)
def test_strength_follows_the_news(better: str, worse: str) -> None:
    assert press(better).score > press(worse).score


def test_a_record_loss_is_strongly_bad() -> None:
    assert press("Norvik posts record loss").score <= Decimal("-0.8")
    assert press("Norvik posts record profit").score >= Decimal("0.8")


def test_a_price_move_is_a_capped_line_in_its_percent() -> None:
    assert Decimal("0.600000") == press("Norvik shares rise 10%").score
    assert Decimal("1.000000") == press("Norvik shares rise 20%").score == press("Norvik shares rise 900%").score


@pytest.mark.parametrize("thing", ["fraud", "an accounting probe", "bankruptcy", "a profit warning", "losses", "a data breach"])
@pytest.mark.parametrize("verb", ["denies", "refutes", "rejects talk of"])
def test_a_denial_is_neither_good_nor_bad(verb: str, thing: str) -> None:
    score = press(f"Norvik {verb} {thing}")
    assert (Decimal(0), "denial") == (score.score, score.kind)


def test_a_failure_does_not_turn_the_losses_beside_it() -> None:
    assert press("Norvik launch failed, losses mount").score < 0


def test_number_one_is_no_negation() -> None:
    assert press("No. 1 carmaker Norvik gains share").score >= 0
    assert press("No. 1 carmaker Norvik gains market share").score > 0


@pytest.mark.parametrize("thing", ["slowdown in demand", "decline in orders", "drop in sales", "loss", "default", "fraud"])
def test_a_negator_turns_bad_news(thing: str) -> None:
    assert press(f"Norvik sees {thing}").score <= 0 < press(f"Norvik sees no {thing}").score


@pytest.mark.parametrize("news", ["raises guidance", "posts record loss", "to be acquired at 40% premium", "misses estimates", "shares plunge 20%"])
@pytest.mark.parametrize(
    "template", ["Norvik Street bakery {}", "Lake Norvik {}", "Norvik rival Ostra {}", "Ostra, a rival of Norvik, {}", "Ostra {}", "Norvik's biggest rival {}"]
)
def test_news_about_somebody_else_is_not_counted(template: str, news: str) -> None:
    score = press(template.format(news))
    assert (Decimal(0), False) == (score.score, score.about_company)


def test_a_name_in_lower_case_is_a_common_noun_where_the_headline_uses_capitals() -> None:
    apple = CompanyNames(("Apple",), ("AAPL",))
    assert not press("Farmers say apple output falls", apple).about_company
    assert press("Apple output falls", apple).score < 0
    assert press("apple output falls", apple).score < 0


def test_a_short_symbol_counts_only_where_it_is_marked() -> None:
    ford = CompanyNames(("Ford Motor",), ("F",))
    assert not press("Vitamin F demand falls", ford).about_company
    assert press("$F shares fall 5%", ford).score < 0
    assert press("Carmaker (NYSE:F) posts record loss", ford).score < 0


def test_the_subject_of_a_deal_or_suit_decides() -> None:
    assert press("Norvik to buy Ostra").score == 0
    assert press("Ostra to buy Norvik").score > 0
    assert press("Norvik sues Ostra over fraud").score == 0
    assert press("Ostra sues Norvik over fraud").score < 0


def test_a_question_a_rumour_and_a_date_void_everything_but_a_price_move() -> None:
    kinds = [press(title).kind for title in ("Is Norvik bankrupt?", "Norvik said to weigh dividend cut", "Norvik to report record loss on Tuesday")]
    assert kinds == ["question", "rumour", "schedule"]
    assert press("Norvik shares jump 9% on report it is exploring a sale").score > 0


def test_the_month_of_may_is_no_rumour() -> None:
    assert press("Norvik cuts guidance on May 4").score < 0 == press("Norvik may cut guidance").score


def test_the_reasons_say_why() -> None:
    assert press("Norvik beats estimates but cuts full-year outlook").reasons == ("cuts + outlook (guidance -1)", "guidance outranks results")
    assert press("Oil rises").reasons == ("the company is not named",)


class TestFilings:
    TITLE = "Norvik 10-Q for the quarter to June 2019: revenue up 41.0% on the year; earnings per share down 6.8%"

    def test_only_the_earnings_clause_is_scored(self) -> None:
        assert Decimal("-0.136000") == filing(self.TITLE).score
        assert "revenue counts under fundamentals" in filing(self.TITLE).reasons

    def test_revenue_alone_is_no_news(self) -> None:
        assert Decimal(0) == filing("Norvik 10-K for the year to June 2019: revenue up 41.0% on the year").score

    @pytest.mark.parametrize(
        ("clause", "score"),
        [
            ("earnings per share after a loss the year before", "1"),
            ("loss per share after earnings the year before", "-1"),
            ("loss per share narrowed", "0.5"),
            ("loss per share widened", "-0.5"),
            ("loss per share unchanged", "0"),
            ("earnings per share unchanged", "0"),
        ],
    )
    def test_around_a_loss_there_is_no_percentage(self, clause: str, score: str) -> None:
        assert filing(f"Norvik 10-Q for the quarter to June 2019: revenue unchanged on the year; {clause}").score == Decimal(score)

    def test_the_percent_is_capped(self) -> None:
        assert Decimal(1) == filing("Norvik 10-Q for the quarter to June 2019: earnings per share up 900.0%").score


@settings(max_examples=300)
@given(st.text(max_size=300), st.sampled_from(["press", "filing"]))
def test_any_text_has_a_score_within_bounds(text: str, origin: str) -> None:
    for title in (text, f"Norvik {text}"):
        score = press(title) if origin == "press" else filing(title)
        assert -1 <= score.score <= 1
        assert score.score == score.score.quantize(Decimal("0.000001"))
        assert all("\n" not in reason for reason in score.reasons)


WORDS = st.sampled_from(
    [
        "Norvik",
        "Ostra",
        "beats",
        "misses",
        "cuts",
        "raises",
        "no",
        "not",
        "profit",
        "loss",
        "guidance",
        "dividend",
        "sued",
        "wins",
        "as",
        "but",
        ",",
        ";",
        "despite",
        "%",
        "12%",
        "in",
        "of",
        "to",
        "from",
        "shares",
        "denies",
    ]
)


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=14))
def test_any_order_of_known_words_has_one_score_within_bounds(words: list[str]) -> None:
    title = " ".join(words)
    assert -1 <= press(title).score <= 1
    assert press(title) == press(title)


@pytest.mark.parametrize("title", ALL_TITLES)
def test_case_and_closing_punctuation_never_turn_a_sign(title: str) -> None:
    score = press(title).score
    for variant in (title.upper(), title.lower(), title.title(), f"{title}.", f"{title}!", f"  {title} "):
        assert press(variant).score * score >= 0


def test_a_title_of_ten_megabytes_is_read_by_its_beginning() -> None:
    assert press("Norvik cuts guidance " + "word " * 2_000_000).score < 0
