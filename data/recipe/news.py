"""An RSS 2.0 document made from filings: what a newspaper's headline would carry, in our own words, and labelled as ours.

The title puts the revenue and the earnings into clauses of their own, divided by a semicolon, so that each can be read by itself.
"""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Decimal
from email.utils import format_datetime
from xml.sax.saxutils import escape

from recipe.companies import Company
from recipe.filings import Pair, Report

DISCLAIMER = "Made by AlphaAgent from the figures of the company's filing; this is no press article."
_BILLION, _MILLION = Decimal(10**9), Decimal(10**6)


def rss(company: Company, reports: Sequence[Report], open_after: Callable[[date], datetime]) -> str:
    """The feed of one company; each item is published at the open of the session after its filing date."""
    listing = f"https://www.sec.gov/cgi-bin/browse-edgar?action=getcompany&CIK={company.cik}&type=10"
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<rss version="2.0">',
            "<channel>",
            f"<title>AlphaAgent notes on filings: {escape(company.name)}</title>",
            f"<link>{escape(listing)}</link>",
            f"<description>Quarterly and annual reports of {escape(company.name)} to the SEC, in one line each. {DISCLAIMER}</description>",
            "<language>en</language>",
            *(_item(company, report, open_after(report.filed)) for report in reports),
            "</channel>",
            "</rss>",
            "",
        ]
    )


def _item(company: Company, report: Report, published: datetime) -> str:
    folder = f"https://www.sec.gov/Archives/edgar/data/{int(company.cik)}/{report.accession.replace('-', '')}/{report.accession}-index.htm"
    return "\n".join(
        [
            "<item>",
            f"<title>{escape(title(company, report))}</title>",
            f"<link>{folder}</link>",
            f"<description>{escape(summary(report))}</description>",
            f"<pubDate>{format_datetime(published)}</pubDate>",
            f'<guid isPermaLink="false">{report.accession}</guid>',
            '<category domain="origin">filing</category>',
            f'<category domain="accession">{report.accession}</category>',
            "</item>",
        ]
    )


def title(company: Company, report: Report) -> str:
    """The headline: who, which report, and two clauses."""
    span = "quarter" if report.form.startswith("10-Q") else "year"
    ended = f"{report.period[1]:%B %Y}"
    return f"{company.spoken} {report.form} for the {span} to {ended}: {revenue_clause(report.revenue)}; {per_share_clause(report.per_share)}"


def revenue_clause(pair: Pair) -> str:
    return f"revenue {_change(pair)} on the year"


def per_share_clause(pair: Pair) -> str:
    """Earnings per share against the year before; a percentage only where both are earnings."""
    if pair.now > 0 and pair.before > 0:
        return f"earnings per share {_change(pair)}"
    if pair.now > 0:
        return "earnings per share after a loss the year before"
    if pair.before > 0:
        return "loss per share after earnings the year before"
    return "loss per share " + ("narrowed" if pair.now > pair.before else "widened" if pair.now < pair.before else "unchanged")


def summary(report: Report) -> str:
    """The figures behind the headline, and whose words these are."""
    revenue, earnings = report.revenue, report.per_share
    how = "computed as pretax income less tax over diluted shares" if report.derived else "as filed"
    return (
        f"{DISCLAIMER} Revenue {_money(revenue.now)} against {_money(revenue.before)} the year before. "
        f"Diluted earnings per share {earnings.now:.2f} against {earnings.before:.2f} dollars, {how}. Filed {report.filed}."
    )


def _change(pair: Pair) -> str:
    percent = ((pair.now / pair.before - 1) * 100).quantize(Decimal("0.1"), ROUND_HALF_UP)
    return "unchanged" if percent == 0 else f"{'up' if percent > 0 else 'down'} {abs(percent)}%"


def _money(dollars: Decimal) -> str:
    amount, unit = (dollars / _BILLION, "billion") if abs(dollars) >= _BILLION else (dollars / _MILLION, "million")
    return f"{amount.quantize(Decimal('0.01'), ROUND_HALF_UP)} {unit} dollars"
