"""From a request to an opinion: evidence is frozen and an engine speaks. Nothing here touches the books, so that several may run at once."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from alphaagent.debate.events import Events, Watch
from alphaagent.debate.record import Transcript
from alphaagent.desk import Ask, Desk, resolve
from alphaagent.domain.base import fingerprint, sha256_hex
from alphaagent.domain.debate import EngineResult
from alphaagent.domain.evidence import EvidenceItem, EvidencePack, Status
from alphaagent.domain.market import Instrument
from alphaagent.domain.proposal import TradeProposal
from alphaagent.domain.record import EngineName, Request, is_scheduled
from alphaagent.domain.ruling import GuardSnapshot, Provenance
from alphaagent.domain.spend import SpendAsk, SpendRef
from alphaagent.errors import NoEvidence, ProviderFault, SpendRefused
from alphaagent.evidence.coming import earnings_items
from alphaagent.evidence.gather import gather
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.portfolio_tool import PortfolioView, portfolio_items
from alphaagent.evidence.price_tool import market_items
from alphaagent.evidence.standing import standing
from alphaagent.execution.marks import mark, split_ratio
from alphaagent.execution.snapshots import NO_DEBATE, Argued, Beside, BookState, Seen, Subject, decide_snapshot
from alphaagent.execution.trading import trading
from alphaagent.guard.evaluate import budget
from alphaagent.guard.intake import read_proposal
from alphaagent.guard.mandate import Mandate
from alphaagent.llm.till import Place, Till
from alphaagent.ports import Calendar, Spending

if TYPE_CHECKING:
    from alphaagent.engines.crew.engine import Debated
    from alphaagent.staffing import Staff

RANK = {"SELL": 0, "BUY": 1}
FAILED_FIX = "run `alphaagent doctor`, try again later, or use --engine heuristic"


@dataclass(frozen=True, slots=True)
class Matter:
    """What is to be decided: a request about one instrument, after one session."""

    request: Request
    instrument: Instrument
    session: date
    reduce_only: bool = False

    @property
    def slot_key(self) -> str:
        """The slot in which this is decided, once."""
        request = self.request
        parts = ("slot.v1", request.portfolio, self.instrument.id, request.session, request.slot)
        return sha256_hex("\x1f".join(parts).encode())

    @property
    def request_hash(self) -> str:
        """What tells two requests for one slot apart."""
        return fingerprint([self.request.engine, self.request.plan, self.request.configuration])


@dataclass(frozen=True, slots=True)
class Opinion:
    """The sealed evidence and an engine's word on it."""

    pack: EvidencePack
    result: EngineResult
    provenance: Provenance
    fallback_reason: str | None
    events: Events = field(default_factory=Events)
    """The stream of the debate, still open: what became of the proposal goes there too."""
    transcript: Transcript | None = None
    """Of the debate that was held, also where it failed and the heuristic engine spoke instead."""


def matter_of(desk: Desk, ask: Ask) -> Matter:
    """A request, resolved to one instrument and session. Raises NoEvidence or UsageFault."""
    instrument, session = resolve(desk, ask.ticker, ask.as_of)
    staff = desk.staff() if ask.engine != "heuristic" else None
    plan = (ask.plan or staff.file.plan) if staff else None
    if staff is not None and plan is not None:
        staff.phases(plan)
        if desk.daily_spend is not None or desk.limits_on_spend(ask.portfolio):
            staff.refuse_unpriced(plan)
    request = Request(
        ticker=ask.ticker,
        as_of=ask.as_of,
        session=session.isoformat(),
        engine=ask.engine,
        plan=plan,
        portfolio=ask.portfolio,
        slot=ask.slot,
        configuration=fingerprint([desk.configuration, staff.fingerprint()]) if staff else desk.configuration,
    )
    return Matter(request, instrument, session, ask.reduce_only)


def sealed_evidence(desk: Desk, matter: Matter, book: BookState, mandate: Mandate, acted: tuple[str, ...]) -> EvidencePack:
    """Everything that can be known at as_of, frozen. `acted` are the hard flags that a sale has answered already."""
    request = matter.request

    def portfolio_evidence(gathered: Gathered) -> tuple[EvidenceItem, ...]:
        beside = (*earnings_items(gathered), *market_items(gathered))
        probe = snapshot_of(desk, matter, book, mandate, None, "heuristic", None, beside)
        return portfolio_items(gathered, _view(book, matter.instrument, probe, mandate, acted))

    suppliers, calendar = desk.suppliers_of(matter.instrument), desk.calendar_of(matter.instrument)
    return gather(suppliers, desk.tools, calendar, matter.instrument, request.ticker, request.as_of, matter.session, portfolio_evidence, desk.second)


def form_opinion(desk: Desk, matter: Matter, pack: EvidencePack, spending: Spending | None, watch: Watch, place: Place | None = None) -> Opinion:
    """The engine that was asked for, or the recorded substitute where that is allowed. `spending` books what a model costs; `place` is where the
    debate stands in the queue for money.

    Where the money for a debate is not there, the substitute may only reduce: a budget that is spent must not make a book that no debate made.
    """
    staff, tell = desk.staff() if matter.request.engine != "heuristic" else None, watch(decision_id(matter, pack))
    if staff is None or matter.request.plan is None:
        return _without_a_model(desk, pack, matter.request.engine)
    try:
        debated = _paid_debate(desk, staff, matter, pack, spending, tell, place or desk.till)
        fault, transcript = debated.fault, debated.transcript
        if debated.result is not None:
            return Opinion(pack, debated.result, "crew", None, tell, transcript)
    except SpendRefused as refused:
        return _unpaid(desk, pack, refused, tell)
    reason = f"{fault.kind}: {fault.message}" if fault else "the debate came to no verdict"
    tell("run_failed", code=fault.kind if fault else "internal", message=reason)
    if not desk.allow_fallback:
        raise ProviderFault(reason, fix=FAILED_FIX, transcript=transcript)
    return Opinion(pack, desk.engines["heuristic"].decide(pack), "fallback", reason, tell, transcript)


def _unpaid(desk: Desk, pack: EvidencePack, refused: SpendRefused, tell: Events) -> Opinion:
    """The substitute for a debate that nobody can pay for: it may sell and trim, and what it would buy is not bought."""
    reason = f"spend: {refused.message}"
    tell("run_failed", code="spend", message=reason)
    if not desk.allow_fallback:
        raise SpendRefused(reason, fix=refused.fix)
    result = desk.engines["heuristic"].decide(pack, reducing_only=True)
    said = "the heuristic engine speaks, for reducing risk only" + ("; its purchase is not made" if result.hold_kind == "held_back" else "")
    return Opinion(pack, result, "fallback", f"{reason}; {said}", tell)


def _paid_debate(desk: Desk, staff: "Staff", matter: Matter, pack: EvidencePack, spending: Spending | None, tell: Events, till: Till | Place) -> "Debated":
    """A debate under the day's ceiling: the most that it can cost is reserved before, and what it did cost is booked after, whatever came of it."""
    plan = matter.request.plan or staff.file.plan
    setup, most = staff.setup(plan, desk.markers()), staff.most_cost(plan)
    if spending is None:  # a dry run without books: there is nowhere to book it, and the ceiling still is one
        if desk.daily_spend is not None and most is not None and most > desk.daily_spend:
            raise SpendRefused(f"this debate may take {most:f} USD, more than the ceiling of {desk.daily_spend:f} USD a day")
        desk.tell_asking(setup, most)
        return staff.crew.debate(pack, setup, desk.clock.now(), tell)

    def reserve() -> SpendRef:
        desk.begin()
        day = desk.clock.now().date()  # whoever has waited over midnight is paid for by the new day
        ask = SpendAsk(day, matter.request.portfolio, matter.request.ticker, setup.provider, ", ".join(staff.models_of(plan)), most)
        return spending.reserve_spend(ask, desk.daily_spend, desk.limits_on_spend(ask.portfolio))

    with till.reserved(reserve) as held:
        desk.tell_asking(setup, most)
        debated = staff.crew.debate(pack, setup, desk.clock.now(), tell)
        cost = None if most is None else Decimal(debated.transcript.usage.cost_usd)
        spending.book_spend(held.token, debated.transcript.usage, cost, decision_id(matter, pack) if debated.result else None)
    return debated


def decision_id(matter: Matter, pack: EvidencePack) -> str:
    """The id of the decision on a matter and its evidence."""
    return f"dec_{fingerprint([matter.slot_key, matter.request_hash, pack.sha256])[:16]}"


def _without_a_model(desk: Desk, pack: EvidencePack, asked: EngineName) -> Opinion:
    """The heuristic engine where it was chosen, or where nobody named a model and that is allowed."""
    result = desk.engines["heuristic"].decide(pack)
    if asked == "heuristic" or (asked == "auto" and (desk.provider == "none" or desk.allow_fallback)):
        return Opinion(pack, result, "heuristic", None)
    reason = "no model provider is configured"
    if not desk.allow_fallback:
        raise ProviderFault(f"{reason} and ALLOW_HEURISTIC_FALLBACK is false", fix="name a provider, or use --engine heuristic")
    return Opinion(pack, result, "fallback", reason)


def allocation_order(ticker: str, opinion: Opinion) -> tuple[int, bool, Decimal, str]:
    """Who is served first when several want the same cash: what reduces, then score per unit of risk (score over annualised volatility,
    names without a score last), then the ticker."""
    proposal = read_proposal(opinion.result.proposal_text, ticker)
    per_risk = _score_per_risk(opinion)
    return RANK.get(proposal.action.value, 2) if proposal else 2, per_risk is None, -(per_risk or Decimal(0)), ticker


def _score_per_risk(opinion: Opinion) -> Decimal | None:
    """Quantised, so that no machine's last bit decides who is served."""
    found = [item for item in opinion.pack.items if (item.tool, item.kind, item.status) == ("get_price_history", "volatility", Status.OK)]
    sigma = Decimal(found[0].payload["sigma"]) if found else Decimal(0)
    if opinion.result.score is None or sigma <= 0:
        return None
    return round(Decimal(opinion.result.score) / sigma, 6)


def seen_by(calendar: Calendar, pack: EvidencePack, proposal: TradeProposal | None) -> Seen:
    """What the engine stood on, and the budget that it was shown."""
    stands = standing(pack, (proposal.relied_on if proposal else None) or (), calendar)
    (portfolio,) = pack.find("get_portfolio", "portfolio")
    return Seen(stands.count, stands.age_sessions, stands.tainted, Decimal(portfolio.payload["budget"]))


def argued_in(result: EngineResult | None) -> Argued:
    """What the exchange behind a result came to; where the plan has none, or no engine has spoken yet, there was no debate."""
    debate = result.debate if result else None
    if debate is None or debate.plan == "quick":
        return NO_DEBATE
    return Argued(debate.debate_class, Decimal(debate.rounds[-1].gap) if debate.rounds else None)


def beside_in(items: Iterable[EvidenceItem], ratio: Decimal) -> Beside:
    """What the items `earnings_date`, `second_source` and `quote` say, where there are such; `ratio`: new shares per share of the last close."""
    found = {item.kind: item for item in items}
    earnings, second, quote = found.get("earnings_date"), found.get("second_source"), found.get("quote")
    close = second.payload.get("second_close") if second else None
    return Beside(
        second_price=None if close is None else Decimal(close) / ratio,
        second_missing=_reason(second) if second and close is None else None,
        earnings_in_sessions=earnings.payload.get("sessions") if earnings else None,
        earnings_unknown=_reason(earnings) if earnings and earnings.status is not Status.OK else None,
        prices_doubt=quote.payload.get("doubt") if quote else None,
    )


def _reason(item: EvidenceItem) -> str:
    """Why an item is not `ok`, in words."""
    return str(item.payload.get("reason") or item.summary)


def snapshot_of(
    desk: Desk,
    matter: Matter,
    book: BookState,
    mandate: Mandate,
    result: EngineResult | None,
    provenance: Provenance,
    seen: Seen | None,
    items: Iterable[EvidenceItem],
) -> GuardSnapshot:
    """What the guard is shown at stage decide; `seen` is None before the engine has spoken. Raises NoEvidence where there is no price yet."""
    request, instrument = matter.request, matter.instrument
    quote = desk.market.quote(instrument, request.as_of)
    if quote is None:
        raise NoEvidence(f"{request.ticker} has no price before {request.as_of.isoformat()}", fix="choose a later --as-of")
    subject = Subject(
        ticker=request.ticker,
        candidates=tuple(found.id for found in desk.market.resolve(request.ticker, matter.session)),
        instrument=instrument,
        provenance=provenance,
        execution_mode="live",
        base_rate=Decimal(result.base_rate) if result and result.base_rate else None,
        rule_driven=result.rule_driven if result else False,
    )
    calendar = desk.calendar_of(instrument)
    fill_session = calendar.first_opening_after(request.as_of)
    price = mark(desk.market, instrument, request.as_of) or quote.price
    return decide_snapshot(
        subject,
        book,
        calendar,
        trading(desk.market, instrument, request.as_of),
        at=request.as_of,
        session=matter.session,
        bar_session=quote.session,
        fill_session=fill_session,
        price=price,
        scheduled=is_scheduled(request.slot),
        reduce_only=matter.reduce_only,
        seen=seen,
        argued=argued_in(result),
        beside=beside_in(items, split_ratio(desk.market, instrument, after=quote.known_at, upto=request.as_of)),
        index_change=desk.index_change(mandate, instrument, matter.session),
    )


def _view(book: BookState, instrument: Instrument, probe: GuardSnapshot, mandate: Mandate, acted: tuple[str, ...]) -> PortfolioView:
    return PortfolioView(
        name=book.account.portfolio.name,
        currency=book.account.portfolio.currency,
        cash=book.account.cash,
        equity=book.equity,
        quantity=book.account.held(instrument.id),
        price=probe.price or Decimal(0),
        pending=(probe.pending_buy or Decimal(0)) - (probe.pending_sell or Decimal(0)),
        budget=budget(probe, mandate),
        risk_profile=mandate.risk_profile,
        acted_flags=acted,
    )
