"""Losing a source never speaks for the name: no higher score, no BUY that was none, no sale of what would have been kept."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from alphaagent.bootstrap import Workplace
from alphaagent.desk import Desk
from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status
from alphaagent.evidence.gather import gather, recorded
from alphaagent.evidence.gathered import Gathered, Supplied
from alphaagent.evidence.portfolio_tool import PortfolioView, portfolio_items
from alphaagent.ports import Supply
from tests.home import Home, read_rows, write_rows
from tests.snapshot_folder import RECORDED, recorded_calendar

CALENDAR = recorded_calendar()
SESSIONS = [session for session in CALENDAR.sessions if date(2014, 2, 3) <= session <= date(2023, 9, 21)][:: 2429 // 32]
PROFILES = ("low", "medium", "high")
EQUITY = Decimal(100_000)
WEIGHTS = [Decimal(text) for text in ("0", "0.01", "0.04", "0.09")]


@dataclass(frozen=True)
class Evidence:
    """One pack's evidence before the portfolio joins it, so that one gathering serves every profile and holding."""

    pack: EvidencePack
    gathered: Gathered

    def decided(self, desk: Desk, profile: str, weight: Decimal) -> EngineResult:
        return desk.engines["heuristic"].decide(self._with(profile, weight))

    def proposal(self, desk: Desk, profile: str, weight: Decimal) -> tuple[EngineResult, str]:
        result = self.decided(desk, profile, weight)
        return result, action(result)

    def _with(self, profile: str, weight: Decimal) -> EvidencePack:
        price = self.gathered.prices.records.bars[-1].close
        quantity = (weight * EQUITY / price).quantize(Decimal("0.0001"))
        view = PortfolioView("default", "USD", EQUITY * (1 - weight), EQUITY, quantity, price, Decimal(0), Decimal(5000), profile, ())
        items = (*self.pack.items, *portfolio_items(self.gathered, view))
        return self.pack.model_copy(update={"items": items, "sha256": ""}).sealed()


def action(result: EngineResult) -> str:
    from alphaagent.guard.intake import read_proposal

    proposal = read_proposal(result.proposal_text, "AAPL")
    assert proposal is not None
    return proposal.action.value


def evidence(desk: Desk, ticker: str, session: date) -> Evidence:
    (instrument,) = desk.market.resolve(ticker, session)
    as_of = desk.calendar_of(instrument).closes(session) + timedelta(seconds=1)
    kept: list[Gathered] = []

    def extra(gathered: Gathered) -> Sequence[EvidenceItem]:
        kept.append(gathered)
        return ()

    pack = gather(
        {name: recorded(one) for name, one in desk.sources.items()}, desk.tools, desk.calendar_of(instrument), instrument, ticker, as_of, session, extra
    )
    return Evidence(pack, kept[0])


def without(desk: Desk, whole: Evidence, supply: Supply) -> Evidence:
    """The same evidence with one supply lost, by the tools and the order that gathered it."""
    lost = Supplied("snapshot", Status.FAILED, note="the vendor did not answer")
    gathered = replace(whole.gathered, fundamentals=lost) if supply == "fundamentals" else replace(whole.gathered, news=lost)
    items = tuple(item for tool in desk.tools.values() for item in tool(gathered))
    return Evidence(whole.pack.model_copy(update={"items": items, "sha256": ""}).sealed(), gathered)


@pytest.fixture
def desk(home: Home) -> Desk:
    return Workplace.open().desk


@pytest.mark.parametrize("ticker", ["AAPL", "NVDA"])
def test_losing_a_source_never_speaks_for_the_name(desk: Desk, ticker: str) -> None:
    seen: set[tuple[str, str]] = set()
    assert len(SESSIONS) >= 30
    for session in SESSIONS:
        whole = evidence(desk, ticker, session)
        befores = {(profile, weight): whole.proposal(desk, profile, weight) for profile in PROFILES for weight in WEIGHTS}
        for supply in ("fundamentals", "news"):
            lost = without(desk, whole, supply)  # type: ignore[arg-type]
            for profile in PROFILES:
                for weight in WEIGHTS:
                    where = f"{ticker} {session} {supply} lost, {profile} risk, {weight} held"
                    (before, was), (after, now) = befores[profile, weight], lost.proposal(desk, profile, weight)
                    assert Decimal(str(after.score)) <= Decimal(str(before.score)), where
                    assert now != "BUY" or was == "BUY", where
                    assert now != "SELL" or was == "SELL", where
                    assert any(supply.removesuffix("s") in hole or "lost" in hole or "failed" in hole for hole in after.bear_case.holes), where
                    assert any(line.factor == "hole" for line in after.bear_case.lines), where
                    seen.add((was, now))
    assert {("BUY", "BUY"), ("BUY", "HOLD"), ("HOLD", "HOLD"), ("SELL", "HOLD"), ("SELL", "SELL")} <= seen


@pytest.mark.parametrize("ticker", ["AAPL", "NVDA"])
def test_losing_both_sources_never_speaks_for_the_name(desk: Desk, ticker: str) -> None:
    for session in SESSIONS[::3]:
        whole = evidence(desk, ticker, session)
        lost = without(desk, without(desk, whole, "news"), "fundamentals")
        for profile in PROFILES:
            for weight in WEIGHTS:
                (before, was), (after, now) = whole.proposal(desk, profile, weight), lost.proposal(desk, profile, weight)
                assert Decimal(str(after.score)) <= Decimal(str(before.score))
                assert (now in ("BUY", "SELL")) <= (was == now), f"{session} {profile} {weight}: {was} became {now}"


def test_losing_the_statements_does_not_let_a_name_with_a_hard_flag_be_bought(home: Home) -> None:
    """Negative equity stops opening; an outage of the source that says so must not allow it."""
    home.ok("portfolio", "create", "bold", "--mandate", "aggressive", "--as-of", "2020-07-31")
    path = home.own_snapshot() / "fundamentals" / "AAPL.csv"
    rows = read_rows(path)
    write_rows(path, [row | {"value": f"-{row['value'].lstrip('-')}"} if row["concept"].startswith("StockholdersEquity") else row for row in rows])
    flagged = home.decide("AAPL", "2020-08-03", "--dry-run", "--portfolio", "bold")
    assert "hard_flag" in {item["kind"] for item in flagged["evidence"]["items"]}
    assert flagged["proposal"]["action"] == "HOLD"
    path.unlink()
    assert home.decide("AAPL", "2020-08-03", "--dry-run", "--portfolio", "bold")["proposal"]["action"] == "HOLD"


def remove(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def undecodable(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00" * 100)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def unreadable_row(path: Path) -> None:
    rows = read_rows(path)
    write_rows(path, [rows[0] | {"value": "NaN"}, *rows[1:]])


def unreadable_news(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace("</channel>", ""), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "damage"),
    [
        *(("fundamentals/AAPL.csv", damage) for damage in (remove, empty, undecodable, a_folder, unreadable_row)),
        *(("news/AAPL.xml", damage) for damage in (remove, empty, undecodable, a_folder, unreadable_news)),
    ],
)
def test_a_lost_file_is_a_hole_that_the_bear_shows(home: Home, file: str, damage: object) -> None:
    whole = home.decide("AAPL", "2020-08-03", "--dry-run")
    damage(home.own_snapshot() / file)  # type: ignore[operator]
    lost = home.decide("AAPL", "2020-08-03")
    supply = file.split("/")[0]
    (item,) = [item for item in lost["evidence"]["items"] if item["kind"] == supply]
    assert item["status"] == "failed"
    assert item["summary"] in " ".join(lost["bear_case"]["holes"])
    assert Decimal(lost["reading"]["score"]) < Decimal(whole["reading"]["score"])
    assert any(line["factor"] == "hole" and Decimal(line["weight"]) < 0 for line in lost["bear_case"]["lines"])
    statuses = {part["factor"]: part["status"] for part in lost["reading"]["contributions"]}
    assert {factor for factor, status in statuses.items() if status == "lost"} == ({"quality", "value"} if supply == "fundamentals" else {"news"})
    assert "source is lost" in lost["proposal"]["reasoning"]


def test_the_page_shows_the_hole(home: Home) -> None:
    (home.own_snapshot() / "fundamentals" / "AAPL.csv").unlink()
    assert "cannot see: get_financial_health" in home.ok("decide", "AAPL", "--as-of", "2020-08-03", "--dry-run").out


def test_a_name_without_news_is_not_a_name_whose_news_are_lost(home: Home) -> None:
    folder = home.own_snapshot()
    path = folder / "news" / "AAPL.xml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index("<item>")] + "</channel></rss>", encoding="utf-8")
    document = home.decide("AAPL", "2020-08-03", "--dry-run")
    (news,) = [part for part in document["reading"]["contributions"] if part["factor"] == "news"]
    assert (news["status"], Decimal(news["contribution"])) == ("absent", 0)


@pytest.mark.parametrize("damage", [remove, empty, undecodable, a_folder])
def test_without_prices_there_is_nothing_to_decide_on(home: Home, damage: object) -> None:
    damage(home.own_snapshot() / "bars" / "AAPL.csv")  # type: ignore[operator]
    ran = home.run("decide", "AAPL", "--as-of", "2020-08-03", "--dry-run")
    assert (ran.code, ran.out) == (3, "")
    assert "bars/AAPL.csv" in ran.err
    assert "fix:" in ran.err


def test_the_recorded_snapshot_itself_is_whole(home: Home) -> None:
    """Or every test above would compare two holes."""
    assert RECORDED.is_dir()
    assert home.run("data", "status").code == 0
