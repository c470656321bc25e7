"""A feed is untrusted: what it says becomes dated plain text, and what it hides or attempts does not get through."""

import pathlib
import time
from datetime import UTC, datetime

import pytest

from alphaagent.domain.market import Article
from alphaagent.errors import SourceFault
from alphaagent.evidence.sources.feed import MAX_FEED_BYTES, MAX_SUMMARY_CHARACTERS, MAX_TITLE_CHARACTERS, parse_feed
from tests.snapshot_folder import item, rss

BOMB = '<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/hostname">]>'


def articles(*items: str) -> tuple[Article, ...]:
    return parse_feed(rss(*items).encode(), "news/ACME.xml").articles


def only(*items: str) -> Article:
    (article,) = articles(*items)
    return article


def test_an_item_becomes_an_article_known_when_it_was_published() -> None:
    assert only(item(extra="<link>https://example.org/a</link><description>Ten of them.</description>")) == Article(
        guid="g1",
        title="Acme sells an anvil",
        summary="Ten of them.",
        link="https://example.org/a",
        publisher="Acme notes",
        origin="press",
        accession=None,
        published_at=datetime(2020, 1, 2, 14, 30, tzinfo=UTC),
        known_at=datetime(2020, 1, 2, 14, 30, tzinfo=UTC),
    )


def test_an_item_made_from_a_filing_says_so() -> None:
    tags = '<category domain="origin">filing</category><category domain="accession">0000320193-19-000076</category>'
    article = only(item(extra=tags))
    assert (article.origin, article.accession) == ("filing", "0000320193-19-000076")


def test_a_time_zone_is_converted_to_utc() -> None:
    assert only(item(published="Thu, 02 Jan 2020 09:30:00 -0500")).known_at == datetime(2020, 1, 2, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize("published", ["", "yesterday", "Thu, 99 Foo 2020", "0"])
def test_an_item_without_a_readable_date_is_dropped_and_counted(published: str) -> None:
    records = parse_feed(rss(item(guid="a", published=published), item(guid="b")).encode(), "news/ACME.xml")
    assert ([article.guid for article in records.articles], records.undated, records.faults) == (["b"], 1, ())


def test_articles_come_in_order_of_publication() -> None:
    late, early = item(guid="late", published="Fri, 03 Jan 2020 00:00:00 GMT"), item(guid="early", published="Wed, 01 Jan 2020 00:00:00 GMT")
    assert [article.guid for article in articles(late, early)] == ["early", "late"]


def test_of_one_guid_the_first_published_stands_and_the_other_is_a_fault_of_its_own_date() -> None:
    again = item(title="Again", published="Fri, 03 Jan 2020 00:00:00 GMT")
    records = parse_feed(rss(again, item()).encode(), "news/ACME.xml")
    assert [article.title for article in records.articles] == ["Acme sells an anvil"]
    assert [(fault.where, str(fault.session)) for fault in records.faults] == [("news/ACME.xml item 1", "2020-01-03")]


@pytest.mark.parametrize(("bad", "says"), [(item(title=""), "no title"), (item(guid=""), "no guid"), (item(title="&#x200b;"), "no title")])
def test_an_item_without_title_or_identity_is_a_fault(bad: str, says: str) -> None:
    (fault,) = parse_feed(rss(bad).encode(), "news/ACME.xml").faults
    assert says in fault.message


@pytest.mark.parametrize("head", [BOMB, OUTSIDE, "<!DOCTYPE rss>"])
def test_a_document_type_declaration_is_refused_before_anything_is_expanded(head: str) -> None:
    started = time.thread_time()
    with pytest.raises(SourceFault, match="declares a document type or entities"):
        parse_feed(rss(item(title="&c;" if head is BOMB else "t"), head=head).encode(), "news/ACME.xml")
    assert time.thread_time() - started < 0.2


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (rss(item(title="Müller")).encode("latin-1"), "not UTF-8"),
        (rss(item()).encode("utf-16"), "not UTF-8"),
        (rss(item(), head='<?xml version="1.0" encoding="ISO-8859-1"?>').encode(), "declares the encoding 'ISO-8859-1'"),
        (rss(item(), head='<?xml version="1.0" encoding="UTF-7"?>').encode(), "declares the encoding 'UTF-7'"),
        (rss(item())[:-10].encode(), "not well-formed"),
        (b"<html><body>503 Service Unavailable</body></html>", "no RSS or Atom feed"),
        (b"https://example.org/feed.xml", "not well-formed"),
        (b"", "is empty"),
        (b" " * 10 + b"<a/>" + b" " * MAX_FEED_BYTES, f"more than {MAX_FEED_BYTES}"),
    ],
)
def test_a_bad_document_is_refused_with_its_reason(document: bytes, says: str) -> None:
    with pytest.raises(SourceFault, match=r"news/ACME\.xml") as fault:
        parse_feed(document, "news/ACME.xml")
    assert says in fault.value.message


def test_bytes_that_spell_a_file_name_are_not_opened(tmp_path: pathlib.Path) -> None:
    real = tmp_path / "feed.xml"
    real.write_text(rss(item()), encoding="utf-8")
    with pytest.raises(SourceFault, match="not well-formed"):
        parse_feed(str(real).encode(), "news/ACME.xml")


def test_title_and_summary_are_cut_at_their_limits() -> None:
    article = only(item(title="x" * 5000, extra=f"<description>{'y ' * 9000}</description>"))
    assert len(article.title) == MAX_TITLE_CHARACTERS
    assert len(article.summary) <= MAX_SUMMARY_CHARACTERS


@pytest.mark.parametrize("link", ["javascript:alert(1)", "file:///etc/passwd", "https://example.org/\u202egnp", "data:text/html,x"])
def test_a_link_that_is_no_plain_web_address_is_left_out(link: str) -> None:
    assert only(item(extra=f"<link>{link}</link>")).link == ""


def test_markup_in_a_title_is_gone_however_it_is_packed() -> None:
    packed = ["&lt;b&gt;Acme&lt;/b&gt; sells", "<![CDATA[<script>steal()</script>Acme <i onclick=x>sells</i>]]>", "&amp;lt;img src=x&amp;gt;Acme sells"]
    assert {only(item(title=title)).title for title in packed} == {"Acme sells"}
