"""Carriers by Apprise, which is loaded here and nowhere else, and not before there is something to send.

Chosen on purpose: what goes wrong is told without the address, in our own words; Apprise and the libraries under it are kept from writing their log
while they send, for their lines can hold one.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from pydantic import SecretStr

from alphaagent.notify.message import Message
from alphaagent.notify.sender import Carrier

if TYPE_CHECKING:
    from apprise import Apprise

SECONDS = 30
"""How long one message may take."""
TALKATIVE = ("apprise", "urllib3", "requests")


def carriers(urls: Mapping[str, SecretStr], variables: Mapping[str, str]) -> dict[str, Carrier]:
    """One carrier per target, by its address. Nothing is loaded or opened before the first message."""
    return {target: _carrier(url, variables[target]) for target, url in urls.items()}


def _carrier(url: SecretStr, variable: str) -> Carrier:
    @cache
    def opened() -> "Apprise | None":
        return _opened(url)

    def carry(message: Message) -> str | None:
        with _silence():
            from apprise import NotifyFormat

            apprise = opened()
            if apprise is None:
                return f"what {variable} holds is no address that Apprise knows (it is not shown)"
            taken = apprise.notify(body=message.body, title=message.title, notify_type=message.mood, body_format=NotifyFormat.TEXT, timeout=SECONDS)
        return None if taken else "refused, or could not be reached"

    return carry


def _opened(url: SecretStr) -> "Apprise | None":
    """Apprise with one address; None where it knows no such kind."""
    from apprise import Apprise, AppriseAsset

    asset = AppriseAsset(app_id="AlphaAgent", app_desc="AlphaAgent", app_url="", image_url_mask="", image_url_logo="", async_mode=False)
    made = Apprise(asset=asset)
    return made if made.add(url.get_secret_value()) else None


@contextmanager
def _silence() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in TALKATIVE]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
