"""What of a URL may be shown, and which URLs stay on this machine."""

import pytest

from alphaagent.llm.provider import UNREADABLE, is_loopback, redacted


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://api.example.com/v1", "https://api.example.com/v1"),
        ("https://key:s3cret@api.example.com:8443/v1/", "https://api.example.com:8443/v1/"),
        ("https://s3cret@api.example.com/v1", "https://api.example.com/v1"),
        ("https://api.example.com/v1?key=s3cret", "https://api.example.com/v1"),
        ("https://api.example.com/v1?to=a@b#s3cret", "https://api.example.com/v1"),
        ("https://api.example.com#s3cret", "https://api.example.com"),
        ("https://u:s3cret@evil@api.example.com/v1", "https://api.example.com/v1"),
        ("u:s3cret@host/v1", "host/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("HTTPS://my_host/v1", "HTTPS://my_host/v1"),
        ("https://host/a\nb", "https://host/a b"),
        ("https://u:s3/cret@host/v1", UNREADABLE),
        ("https://u:s3?cret@host/v1", UNREADABLE),
        ("https://u:12/s3cret@host/v1", UNREADABLE),
        ("https://u:s3cret@", UNREADABLE),
        ("s3cret@://host", UNREADABLE),
        ("", UNREADABLE),
        ("https://", UNREADABLE),
        ("https://host name/v1", UNREADABLE),
    ],
)
def test_a_shown_url_has_no_credentials_query_or_fragment(url: str, shown: str) -> None:
    assert redacted(url) == shown
    assert "cret" not in redacted(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/v1",
        "http://127.9.9.9",
        "http://[::1]:11434/v1",
        "http://localhost/v1",
        "http://LOCALHOST:1",
        "localhost:11434",
        "https://k:s@127.0.0.1/",
    ],
)
def test_this_machine(url: str) -> None:
    assert is_loopback(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://localhost@example.com",
        "http://example.com/localhost",
        "http://example.com?127.0.0.1",
        "http://0.0.0.0:8000",
        "http://192.168.0.1",
        "http://[::2]",
        "http://[::1",
        "http://128.0.0.1",
        "",
    ],
)
def test_elsewhere_or_unreadable(url: str) -> None:
    assert not is_loopback(url)
