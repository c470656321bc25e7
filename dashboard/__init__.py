"""The dashboard: a page for people who would rather look than read. It opens the books read-only and decides nothing."""
