"""Many articles, fewer stories: copies of one story count once.

An article is a copy of a story where it appeared within five days before the story's newest copy, carries the same numbers, does not point
the opposite way, and shares at least four fifths of that copy's title words (Jaccard similarity of the word sets; titles of fewer than four
words must be equal). Numbers and sign keep "falls 5%" and "falls 15%", "raises guidance" and "cuts guidance" apart. A story has the date
and the words of its oldest copy, because a reprint is no news.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from alphaagent.domain.market import Article
from alphaagent.evidence.headline import clean_title
from alphaagent.evidence.sentiment import HeadlineScore

SAME_STORY_SIMILARITY = Decimal("0.8")
SAME_STORY_WINDOW = timedelta(days=5)
MAX_STORIES = 40
_SHORTEST_COMPARED = 4
_PUBLISHER_SUFFIX = re.compile(r"\s+[|–—-]\s+[A-Z][\w.&']*(?:\s[A-Z][\w.&']*){0,2}$")
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*%?")


@dataclass(frozen=True, slots=True)
class Reading:
    """An article with its title cleaned, its score, and what it is compared by."""

    article: Article
    title: str
    score: HeadlineScore
    words: frozenset[str]
    numbers: frozenset[str]
    taint: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Story:
    """One story: its newest copy, which the others are compared with, its oldest, and how many copies there were besides one."""

    newest: Reading
    reading: Reading
    duplicates: int = 0
    taint: tuple[str, ...] = ()
    """Of all its copies."""


def title_of(article: Article) -> str:
    """The cleaned title without the publisher's suffix; the summary's beginning where a feed gives no title."""
    text = clean_title(article.title) or clean_title(article.summary)
    return _PUBLISHER_SUFFIX.sub("", text)


def reading_of(article: Article, title: str, score: HeadlineScore, taint: tuple[str, ...] = ()) -> Reading:
    """An article made ready for comparison."""
    words = frozenset(_WORD.findall(title.lower()))
    return Reading(article, title, score, words, frozenset(word for word in words if word[0].isdigit()), taint)


def fold(newest_first: Iterable[Reading]) -> tuple[Story, ...]:
    """The newest stories, at most `MAX_STORIES`, each with its copies folded in; in the order of their newest copy."""
    stories: list[Story] = []
    for reading in newest_first:
        place = next((place for place, story in enumerate(stories) if _is_copy(reading, story.newest)), None)
        if place is not None:
            story = stories[place]
            stories[place] = Story(story.newest, reading, story.duplicates + 1, tuple(sorted({*story.taint, *reading.taint})))
        elif len(stories) < MAX_STORIES:
            stories.append(Story(reading, reading, taint=reading.taint))
    return tuple(stories)


def _is_copy(older: Reading, newer: Reading) -> bool:
    if older.numbers != newer.numbers or older.score.score * newer.score.score < 0:
        return False
    if newer.article.published_at - older.article.published_at > SAME_STORY_WINDOW:
        return False
    if older.words == newer.words:
        return True
    shared, every = len(older.words & newer.words), len(older.words | newer.words)
    return min(len(older.words), len(newer.words)) >= _SHORTEST_COMPARED and shared >= SAME_STORY_SIMILARITY * every
