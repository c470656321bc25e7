"""Plays Stooq's daily table, and the words with which it refuses at status 200."""

from collections.abc import Mapping

from tests.vendors.server import Asked, Page, Player

PATH = "/q/d/l/"
LIMIT = b"Exceeded the daily hits limit"
KEY_PAGE = b"Get your apikey:\r\n1. Open the page\r\n2. Enter the captcha code\r\n"


def table(*rows: str) -> bytes:
    """A table in Stooq's own shape, with the line ends of its servers."""
    return "".join(f"{line}\r\n" for line in ("Date,Open,High,Low,Close,Volume", *rows)).encode()


def play_stooq(tables: Mapping[str, bytes]) -> Player:
    """A Player over tables by Stooq's symbols; any other has no data."""

    def player(asked: Asked) -> Page | None:
        if asked.path != PATH:
            return None
        return Page(tables.get(asked.query["s"], b"No data"), 200, "text/csv")

    return player
