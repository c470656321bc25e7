"""How long a server asks to be left alone, as it says in the header `retry-after`."""

from collections.abc import Mapping
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds; a date counts against the server's own clock. None where nothing is said, or nothing that can be read. Keys are in small letters."""
    text = headers.get("retry-after")
    if text is None:
        return None
    if text.isascii() and text.strip().isdigit():
        return float(text)
    try:
        return max((parsedate_to_datetime(text) - parsedate_to_datetime(headers["date"])).total_seconds(), 0.0)
    except (KeyError, ValueError, TypeError):
        return None
