"""Talking to a model: providers and their wire forms, prices, budgets, and the wire that records every byte or answers from a record."""
