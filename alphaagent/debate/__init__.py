"""The debate: who is asked what, what counts as an answer, and what follows from it. No model client is known here."""
