"""The desk's nouns: frozen, Decimal, aware UTC, no I/O. Everything else may import this; this imports only errors."""
