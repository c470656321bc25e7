"""A broker that fills at the open, a little worse than the open."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Literal

from alphaagent.ports import Fill

MICRO = Decimal("0.000001")
BASIS_POINT = Decimal("0.0001")


@dataclass(frozen=True, slots=True)
class SimulatedBroker:
    """Slippage and fee in basis points of the price and of the notional; every rounding is against the order."""

    slippage_bps: Decimal
    fee_bps: Decimal

    def fill(self, side: Literal["BUY", "SELL"], quantity: Decimal, open_price: Decimal) -> Fill:
        """open x (1 + slippage) for a BUY, open x (1 - slippage) for a SELL; fee on the notional at that price."""
        sign, rounding = (1, ROUND_CEILING) if side == "BUY" else (-1, ROUND_FLOOR)
        price = (open_price * (1 + sign * self.slippage_bps * BASIS_POINT)).quantize(MICRO, rounding)
        fee = (quantity * price * self.fee_bps * BASIS_POINT).quantize(MICRO, ROUND_CEILING)
        return Fill(price=price, fee=fee)
