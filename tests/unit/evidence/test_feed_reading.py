"""One feed's document: what it says becomes entries of plain text, and what nobody should read is refused by kind."""

import os
import time
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from alphaagent.errors import VendorFault
from alphaagent.evidence.live.feed_reading import MAX_SUMMARY_CHARACTERS, Entry, read_document
from alphaagent.evidence.sources.feed import MAX_TITLE_CHARACTERS
from tests.vendors.feeds import INERT, UNREADABLE, atom, filing, item, rss

AT = datetime(2020, 6, 15, 14, 30, tzinfo=UTC)
RECORDED = os.environ.get("ALPHAAGENT_REFERENCE_DATA")


def entries(document: bytes) -> tuple[Entry, ...]:
    return read_document(document, "acme").entries


def only(document: bytes) -> Entry:
    (entry,) = entries(document)
    return entry


def test_an_item_becomes_an_entry_with_its_date_as_written_and_as_read() -> None:
    document = rss(item("Acme sells an anvil", "Mon, 15 Jun 2020 10:30:00 -0400", guid="g1", link="https://a.example/x", summary="Ten of them."))
    assert only(document) == Entry(
        feed="acme",
        guid="g1",
        title="Acme sells an anvil",
        summary="Ten of them.",
        link="https://a.example/x",
        publisher="Example headlines",
        dated="Mon, 15 Jun 2020 10:30:00 -0400",
        at=AT,
    )


def test_the_feed_tells_its_own_title_and_home() -> None:
    document = read_document(rss(title="Acme notes", home="https://a.example/"), "acme")
    assert (document.title, document.home, document.entries) == ("Acme notes", "https://a.example/", ())


def test_an_aggregator_s_suffix_goes_and_the_source_becomes_the_publisher() -> None:
    entry = only(rss(item("Acme wins - not really - The Daily - Wire", AT, source="The Daily - Wire")))
    assert (entry.title, entry.publisher) == ("Acme wins - not really", "The Daily - Wire")


def test_markup_of_an_aggregator_is_no_sign_of_an_attempt() -> None:
    summary = (
        '<a href="https://news.example/rss/articles/CBMi' + "aB3" * 40 + '?oc=5" target="_blank">Acme wins</a>&nbsp;&nbsp;<font color="#6f6f6f">Wire</font>'
    )
    entry = only(rss(item("Acme wins - Wire", AT, summary=summary, source="Wire")))
    assert (entry.summary, entry.taint) == ("Acme wins Wire", ())


def test_an_atom_entry_without_a_day_of_publication_has_that_of_its_last_change() -> None:
    written = "<entry><id>e</id><title>Acme wins</title><updated>2020-06-15T14:30:00Z</updated></entry>"
    published = written.replace("<updated>", "<published>2020-06-15T14:00:00Z</published><updated>")
    assert only(atom(written)).at == AT
    assert only(atom(published)).dated == "2020-06-15T14:00:00Z"


def test_a_filing_has_its_form_number_day_and_items() -> None:
    entry = only(atom(filing("0000320193-20-000052", AT, ("2.02", "5.02", "9.01"))))
    assert (entry.form, entry.accession, entry.filed, entry.items) == ("8-K", "0000320193-20-000052", date(2020, 6, 15), ("2.02", "5.02", "9.01"))


def test_a_filing_without_fields_of_its_own_is_read_from_its_summary() -> None:
    bare = filing("0000320193-20-000052", AT, ("2.02",))
    start, end = bare.index("<content"), bare.index("</content>") + len("</content>")
    entry = only(atom(bare[:start] + bare[end:]))
    assert (entry.accession, entry.filed, entry.items) == ("0000320193-20-000052", date(2020, 6, 15), ("2.02",))


def test_an_item_without_guid_goes_by_its_link_and_one_without_either_by_what_it_says() -> None:
    linked = only(rss("<item><title>Acme wins</title><link>https://a.example/x</link></item>"))
    bare, again, other = (only(rss(f"<item><title>{title}</title></item>")).guid for title in ("Acme wins", "Acme wins", "Acme loses"))
    assert linked.guid == "https://a.example/x"
    assert bare == again != other


@pytest.mark.parametrize(("dated", "at"), [("yesterday", None), ("2020-06-15", None), ("Mon, 15 Jun 2020 14:30:00", None), ("2020-06-15T14:30:00Z", AT)])
def test_a_date_that_says_no_instant_stands_as_it_is_written(dated: str, at: datetime | None) -> None:
    entry = only(rss(item("Acme wins", dated)))
    assert (entry.dated, entry.at) == (dated, at)


def test_of_one_guid_the_first_published_stands() -> None:
    found = entries(rss(item("undated", None, guid="g"), item("late", AT.replace(hour=20), guid="g"), item("early", AT, guid="g")))
    assert [entry.title for entry in found] == ["early"]


@pytest.mark.parametrize(
    ("declared", "codec"), [("ISO-8859-1", "latin-1"), ("iso-8859-1", "latin-1"), ("windows-1252", "cp1252"), ("UTF-8", "utf-8"), ("utf-8", "utf-8-sig")]
)
def test_what_is_declared_is_what_is_decoded(declared: str, codec: str) -> None:
    title = "Müller kauft Acmé" + (" – “ja”" if codec == "cp1252" else "")
    text = rss(item(title, AT), head=f"<?xml version='1.0' encoding='{declared}' ?>").decode()
    assert only(text.encode(codec)).title == title


def test_blank_lines_before_the_declaration_do_no_harm() -> None:
    assert only(b"\r\n\n" + rss(item("Acme wins", AT))).title == "Acme wins"


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_document_that_cannot_be_trusted_is_refused_by_kind_and_at_once(name: str) -> None:
    document, kind = UNREADABLE[name]
    began = time.thread_time()
    with pytest.raises(VendorFault, match="acme") as caught:
        read_document(document, "acme")
    assert (caught.value.kind, time.thread_time() - began < 1) == (kind, True)


@pytest.mark.parametrize("name", INERT)
def test_a_hostile_title_is_one_short_line_of_what_it_shows(name: str) -> None:
    entry = only(rss(item(INERT[name], AT, guid="g", summary=INERT[name])))
    for text in (entry.title, entry.summary):
        assert text.startswith("Acme")
        assert "sells" in text
        assert text.isprintable()
        assert not set("<>") & set(text)
    assert len(entry.title) <= MAX_TITLE_CHARACTERS
    assert len(entry.summary) <= MAX_SUMMARY_CHARACTERS


@pytest.mark.parametrize("name", ["script", "bidi", "zero width", "tags"])
def test_what_was_hidden_leaves_a_mark(name: str) -> None:
    assert only(rss(item(INERT[name], AT, guid="g"))).taint


@pytest.mark.parametrize("link", ["javascript:alert(1)", "file:///etc/passwd", "https://[", "http://", "data:text/html,x", "https://a.example/\u202egnp"])
def test_a_link_that_is_no_plain_web_address_is_left_out(link: str) -> None:
    assert only(rss(item("Acme wins", AT, guid="g", link=link))).link == ""


@pytest.mark.parametrize("name", ["links", "tags", "source", "title_detail", "authors", "enclosures", "published_parsed", "guidislink", "id", "updated"])
@pytest.mark.parametrize("inner", ["x", "", "<b>x</b>"])
def test_an_element_named_like_the_reader_s_own_fields_breaks_nothing(name: str, inner: str) -> None:
    odd = f"<{name}>{inner}</{name}>"
    document = rss(f"<item>{odd}<title>Acme wins</title><link>https://a.example/x</link><guid>g</guid>{odd}</item>")
    assert only(document).title == "Acme wins"


@pytest.mark.skipif(RECORDED is None, reason="ALPHAAGENT_REFERENCE_DATA is not set: no recorded feed")
def test_a_recorded_list_of_filings_is_read_whole() -> None:
    (path,) = sorted(Path(RECORDED or "").glob("sec/feeds/*.atom"))
    found = entries(path.read_bytes())
    assert len(found) == len({entry.accession for entry in found}) > 40
    assert all(entry.form and entry.at and entry.filed and not entry.taint for entry in found)
