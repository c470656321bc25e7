"""AlphaAgent: a trading-decision crew with an execution guard."""

__version__ = "0.1.0"
