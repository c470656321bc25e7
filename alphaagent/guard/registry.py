"""The rules in the order in which they run. A new rule is one file in `rules/` and one line here."""

from alphaagent.guard.rule import Rule
from alphaagent.guard.rules.b1_kill_switch import KillSwitch
from alphaagent.guard.rules.b2_books import Books
from alphaagent.guard.rules.b3_clock import Clock
from alphaagent.guard.rules.b4_limits import Limits
from alphaagent.guard.rules.b5_mode import ModeMatch
from alphaagent.guard.rules.c2_duplicate import Duplicate
from alphaagent.guard.rules.d1_instrument import KnownInstrument
from alphaagent.guard.rules.d2_universe import Universe
from alphaagent.guard.rules.d3_restricted import Restricted
from alphaagent.guard.rules.d4_tradable import Tradable
from alphaagent.guard.rules.d5_instrument_type import InstrumentType
from alphaagent.guard.rules.d6_min_price import MinimumPrice
from alphaagent.guard.rules.d7_liquidity import Liquidity
from alphaagent.guard.rules.d8_short import ShortSale
from alphaagent.guard.rules.d9_currency import Currency
from alphaagent.guard.rules.e2_calendar import KnownCalendar
from alphaagent.guard.rules.e3_quote_age import QuoteAge
from alphaagent.guard.rules.e4_quote_sanity import QuoteSanity
from alphaagent.guard.rules.e5_halt import Halt
from alphaagent.guard.rules.e6_collar import Collar
from alphaagent.guard.rules.e7_moved import Moved
from alphaagent.guard.rules.e8_second_source import SecondSource
from alphaagent.guard.rules.e9_corporate_action import CorporateActions
from alphaagent.guard.rules.e10_market_stress import MarketStress
from alphaagent.guard.rules.e11_earnings import EarningsBlackout
from alphaagent.guard.rules.e12_prices_in_doubt import PricesInDoubt
from alphaagent.guard.rules.f1_decision_age import DecisionAge
from alphaagent.guard.rules.f2_evidence_age import EvidenceAge
from alphaagent.guard.rules.f3_coherence import Coherence
from alphaagent.guard.rules.f4_debate_quality import DebateQuality
from alphaagent.guard.rules.f5_provenance import ProvenanceGate
from alphaagent.guard.rules.f6_taint import Taint
from alphaagent.guard.rules.g1_orders_account import AccountOrders
from alphaagent.guard.rules.g2_orders_ticker import TickerOrders
from alphaagent.guard.rules.g3_repeats import Repeats
from alphaagent.guard.rules.g4_cooldown import Cooldown
from alphaagent.guard.rules.g5_turnover import Turnover
from alphaagent.guard.rules.h1_request_notional import RequestNotional
from alphaagent.guard.rules.h2_request_shares import RequestShares
from alphaagent.guard.rules.h3_unit_confusion import UnitConfusion
from alphaagent.guard.rules.h4_order_cap import OrderCap
from alphaagent.guard.rules.h5_volume_cap import VolumeCap
from alphaagent.guard.rules.h6_position_cap import PositionCap
from alphaagent.guard.rules.h7_sector_cap import SectorCap
from alphaagent.guard.rules.h8_gross_cap import GrossCap
from alphaagent.guard.rules.h9_cash import CashCap
from alphaagent.guard.rules.h10_settled_cash import SettledCashCap
from alphaagent.guard.rules.h11_held import HeldCap
from alphaagent.guard.rules.h12_turnover_cap import TurnoverCap
from alphaagent.guard.rules.h13_provenance_cap import ProvenanceCap
from alphaagent.guard.rules.i1_too_small import MinimumSize
from alphaagent.guard.rules.i2_clipped_away import ClippedAway
from alphaagent.guard.rules.i3_postcheck import PostCheck
from alphaagent.guard.rules.i4_guard_bug import GuardBug

RULES: dict[str, type[Rule]] = {
    "B1": KillSwitch,
    "B2": Books,
    "B3": Clock,
    "B4": Limits,
    "B5": ModeMatch,
    "C2": Duplicate,
    "D1": KnownInstrument,
    "D2": Universe,
    "D3": Restricted,
    "D4": Tradable,
    "D5": InstrumentType,
    "D6": MinimumPrice,
    "D7": Liquidity,
    "D8": ShortSale,
    "D9": Currency,
    "E2": KnownCalendar,
    "E3": QuoteAge,
    "E4": QuoteSanity,
    "E5": Halt,
    "E6": Collar,
    "E7": Moved,
    "E8": SecondSource,
    "E9": CorporateActions,
    "E10": MarketStress,
    "E11": EarningsBlackout,
    "E12": PricesInDoubt,
    "F1": DecisionAge,
    "F2": EvidenceAge,
    "F3": Coherence,
    "F4": DebateQuality,
    "F5": ProvenanceGate,
    "F6": Taint,
    "G1": AccountOrders,
    "G2": TickerOrders,
    "G3": Repeats,
    "G4": Cooldown,
    "G5": Turnover,
    "H1": RequestNotional,
    "H2": RequestShares,
    "H3": UnitConfusion,
    "H4": OrderCap,
    "H5": VolumeCap,
    "H6": PositionCap,
    "H7": SectorCap,
    "H8": GrossCap,
    "H9": CashCap,
    "H10": SettledCashCap,
    "H11": HeldCap,
    "H12": TurnoverCap,
    "H13": ProvenanceCap,
    "I1": MinimumSize,
    "I2": ClippedAway,
    "I3": PostCheck,
    "I4": GuardBug,
}
