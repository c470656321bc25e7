"""The ledger: one SQLite file of double entry, and the audit trail that vouches for it. The only package that imports SQLModel and SQLAlchemy."""
