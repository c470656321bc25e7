"""D9: prices are in the portfolio's own currency."""

from alphaagent.guard.rule import Block, Finding, Need, Pass, Rule, Subject, known

_MINOR_UNITS = {"GBp": "pence", "GBX": "pence", "ZAc": "cents", "ZAC": "cents", "ILA": "agorot"}


class Currency(Rule):
    """A minor unit (pence, cents, agorot) or another currency; nothing is converted here."""

    id = "D9"
    stage = "D"
    title = "Currency"
    why = "Pence read as pounds is an order a hundred times too large, and a missing rate counts as one (LEAN ConversionRateZero)."
    codes = ("CURRENCY_UNSOUND",)
    needs = (Need("quote_currency"), Need("portfolio_currency"))

    def check(self, subject: Subject) -> Finding:
        quoted = known(subject.snapshot.quote_currency, "quote_currency")
        own = known(subject.snapshot.portfolio_currency, "portfolio_currency")
        if quoted == own and quoted not in _MINOR_UNITS:
            return Pass(quoted, own)
        unit = _MINOR_UNITS.get(quoted)
        reason = f"the price is in {quoted}, which is {unit} and not a currency" if unit else f"the price is in {quoted} and the portfolio in {own}"
        return Block("CURRENCY_UNSOUND", f"{reason}; nothing is converted here", quoted, own)
