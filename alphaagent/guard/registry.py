"""The rules in the order in which they run. A new rule is one file in `rules/` and one line here."""

from alphaagent.guard.rule import Rule
from alphaagent.guard.rules.b1_kill_switch import KillSwitch
from alphaagent.guard.rules.b2_books import Books
from alphaagent.guard.rules.b3_clock import Clock
from alphaagent.guard.rules.b4_limits import Limits
from alphaagent.guard.rules.b5_mode import ModeMatch
from alphaagent.guard.rules.d1_instrument import KnownInstrument
from alphaagent.guard.rules.d2_universe import Universe
from alphaagent.guard.rules.e2_calendar import KnownCalendar
from alphaagent.guard.rules.e3_quote_age import QuoteAge
from alphaagent.guard.rules.e4_quote_sanity import QuoteSanity
from alphaagent.guard.rules.f3_coherence import Coherence
from alphaagent.guard.rules.f5_provenance import ProvenanceGate
from alphaagent.guard.rules.h4_order_cap import OrderCap
from alphaagent.guard.rules.h6_position_cap import PositionCap
from alphaagent.guard.rules.h9_cash import CashCap
from alphaagent.guard.rules.h11_held import HeldCap
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
    "D1": KnownInstrument,
    "D2": Universe,
    "E2": KnownCalendar,
    "E3": QuoteAge,
    "E4": QuoteSanity,
    "F3": Coherence,
    "F5": ProvenanceGate,
    "H4": OrderCap,
    "H6": PositionCap,
    "H9": CashCap,
    "H11": HeldCap,
    "H13": ProvenanceCap,
    "I1": MinimumSize,
    "I2": ClippedAway,
    "I3": PostCheck,
    "I4": GuardBug,
}
