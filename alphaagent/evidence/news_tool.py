"""get_news_sentiment: what was written about the company, story by story and in sum.

Chosen on purpose: sorted newest first and only then cut; copies fold before they are weighed; a story that does not speak of the company is
shown and not counted, while a neutral one counts, because quiet news is evidence that little is happening. "No news" has status `empty` and
no score; neutral news has status `ok` and a score of 0. A failed fetch is neither.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any

from alphaagent.domain.base import measured
from alphaagent.domain.evidence import EvidenceItem, Status, ToolName, evidence_item
from alphaagent.evidence.coming import earnings_items
from alphaagent.evidence.gathered import Gathered
from alphaagent.evidence.headline import CompanyNames, clean_title
from alphaagent.evidence.lexicon import Lexicon
from alphaagent.evidence.sentiment import score_headline
from alphaagent.evidence.sources.taint import imitations
from alphaagent.evidence.stories import Reading, Story, fold, reading_of, title_of

NEWS_WINDOW = timedelta(days=90)
MAX_ARTICLES = 500
"""Newest articles looked at; older ones are left aside."""
HALF_LIFE_SESSIONS = 5
SHRINKAGE = Decimal(4)
"""Weight of an imagined neutral record that pulls a thin one to 0."""
_TOOL: ToolName = "get_news_sentiment"
_USABLE = (Status.OK, Status.STALE, Status.CONFLICT)
_MAX_SHORT_TEXT = 80


@dataclass(frozen=True, slots=True)
class _Weighed:
    """A story with its age in sessions and its weight: 2^(-age/5), or 0 where it does not speak of the company."""

    story: Story
    age_sessions: int
    weight: Decimal


def news_items(g: Gathered, lexicon: Lexicon) -> tuple[EvidenceItem, ...]:
    """One `headline` item per story, newest first, one `news` item for all of them, and `earnings_date` where dates ahead are supplied.

    The score is N = sum(w s) / (sum(w) + 4) over the stories about the company, w = 2^(-age / 5 sessions), in [-1, 1] (after Tetlock 2007);
    confidence is sum(w) / (sum(w) + 4), in [0, 1).
    """
    return (*_written(g, lexicon), *earnings_items(g))


def _written(g: Gathered, lexicon: Lexicon) -> tuple[EvidenceItem, ...]:
    if g.news.status not in _USABLE:
        return (_without_news(g, g.news.status, g.news.note or f"news is {g.news.status.value}", _off_topic(g)),)
    weighed = [_weighed(g, story) for story in fold(_readings(g, lexicon))]
    return (*(_headline_item(g, one) for one in weighed), _news_item(g, weighed, lexicon))


def _readings(g: Gathered, lexicon: Lexicon) -> Iterable[Reading]:
    company = CompanyNames.of(g.instrument)
    recent = (article for article in g.news.records.articles if g.as_of - NEWS_WINDOW <= article.published_at < g.as_of)
    newest_first = sorted(recent, key=lambda article: (article.published_at, article.guid), reverse=True)
    for article in islice(newest_first, MAX_ARTICLES):
        if title := title_of(article):
            score = score_headline(title, company, lexicon, origin=article.origin)
            yield reading_of(article, title, score, (*article.taint, *imitations(f"{article.title} {article.summary}", g.instrument)))


def _weighed(g: Gathered, story: Story) -> _Weighed:
    published = max(story.reading.article.published_at.date(), g.calendar.first)
    age = max(0, g.calendar.sessions_between(published, g.session)) if published <= g.session else 0
    return _Weighed(story, age, _weight(age) if story.reading.score.about_company else Decimal(0))


def _weight(age_sessions: int) -> Decimal:
    return round(Decimal(2) ** (Decimal(-age_sessions) / HALF_LIFE_SESSIONS), 6)


def _headline_item(g: Gathered, one: _Weighed) -> EvidenceItem:
    reading = one.story.reading
    article, score = reading.article, measured(reading.score.score)
    payload: dict[str, Any] = {
        "title": reading.title,
        "publisher": clean_title(article.publisher)[:_MAX_SHORT_TEXT],
        "origin": article.origin,
        "score": score,
        "weight": measured(one.weight),
        "age_sessions": one.age_sessions,
        "duplicates": one.story.duplicates,
        "reasons": list(reading.score.reasons),
        "guid": clean_title(article.guid),
        "taint": list(one.story.taint),
    }
    return evidence_item(
        decision_as_of=g.as_of,
        ticker=g.ticker,
        tool=_TOOL,
        kind="headline",
        event_at=article.published_at,
        known_at=article.known_at,
        published_at=article.published_at,
        source=g.news.source,
        status=Status.OK,
        summary=_headline_summary(payload),
        payload=payload,
    )


def _headline_summary(payload: dict[str, Any]) -> str:
    reading = f"score {payload['score']}" if payload["weight"] != "0.0" else "not counted"
    return f'"{payload["title"]}" {reading}: {"; ".join(payload["reasons"])}; {payload["age_sessions"]} sessions old'


def _news_item(g: Gathered, weighed: list[_Weighed], lexicon: Lexicon) -> EvidenceItem:
    counted = [one for one in weighed if one.weight]
    payload = _tally(g, weighed, counted) | {"lexicon": lexicon.fingerprint()}
    if not counted:
        return _without_news(g, Status.EMPTY, "no story about the company in the last 90 days", payload | {"score": None})
    sum_weight = sum((one.weight for one in counted), Decimal(0))
    sum_scored = sum((one.weight * one.story.reading.score.score for one in counted), Decimal(0))
    payload |= {
        "sum_weight": measured(sum_weight),
        "sum_weighted_score": measured(sum_scored),
        "score": measured(sum_scored / (sum_weight + SHRINKAGE)),
        "confidence": measured(sum_weight / (sum_weight + SHRINKAGE)),
    }
    newest = max(one.story.reading.article.known_at for one in counted)
    return _summed(g, g.news.status, _news_summary(payload), payload, known_at=max(newest, g.calendar.closes(g.session)))


def _tally(g: Gathered, weighed: list[_Weighed], counted: list[_Weighed]) -> dict[str, Any]:
    scores = [one.story.reading.score.score for one in counted]
    return {
        "stories": len(weighed),
        "scored": len(counted),
        "positive": sum(score > 0 for score in scores),
        "negative": sum(score < 0 for score in scores),
        "neutral": sum(score == 0 for score in scores),
        "duplicates": sum(one.story.duplicates for one in weighed),
        "undated": g.news.records.undated,
    } | _off_topic(g)


def _off_topic(g: Gathered) -> dict[str, int]:
    """How many items were dropped because they do not speak of the company; nothing where there were none."""
    dropped = g.news.records.off_topic
    return {"off_topic": dropped} if dropped else {}


def _news_summary(payload: dict[str, Any]) -> str:
    """Counts first: a score near zero means something else over one story than over thirty."""
    stories = "1 story" if payload["scored"] == 1 else f"{payload['scored']} stories"
    parts = [f"{payload['positive']} good, {payload['negative']} bad, {payload['neutral']} neutral"]
    parts += [f"{payload['duplicates']} copies folded"] if payload["duplicates"] else []
    parts += [f"{payload['undated']} undated dropped"] if payload["undated"] else []
    parts += [f"{payload['off_topic']} about others dropped"] if "off_topic" in payload else []
    return f"News: {stories} about it ({'; '.join(parts)}), score {Decimal(payload['score']):+.2f}, confidence {Decimal(payload['confidence']):.0%}"


def _without_news(g: Gathered, status: Status, reason: str, payload: dict[str, Any]) -> EvidenceItem:
    reason = clean_title(reason) + (f" ({payload['off_topic']} about others dropped)" if "off_topic" in payload else "")
    return _summed(g, status, f"no news score ({status.value}): {reason}", {"reason": reason} | payload, known_at=g.calendar.closes(g.session))


def _summed(g: Gathered, status: Status, summary: str, payload: dict[str, Any], *, known_at: datetime) -> EvidenceItem:
    return evidence_item(
        decision_as_of=g.as_of,
        ticker=g.ticker,
        tool=_TOOL,
        kind="news",
        event_at=g.calendar.closes(g.session),
        known_at=known_at,
        source=g.news.source,
        status=status,
        summary=summary,
        payload=payload,
    )
