"""What one observation says that an earlier one did not: restated figures, corrected closes, actions and articles that came. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from alphaagent.domain.market import Fact, Records


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference. `before` or `after` None: it was not there, or is not there any more."""

    what: str
    """`restated`, `filed`, `close`, `bar`, `action` or `article`."""
    where: str
    before: str | None
    after: str | None


def differences(old: Records, new: Records) -> tuple[Difference, ...]:
    """In the order of kinds: figures first, then prices, then articles."""
    return (*_facts(old.facts, new.facts), *_bars(old, new), *_actions(old, new), *_articles(old, new))


def _facts(old: Iterable[Fact], new: Iterable[Fact]) -> Iterator[Difference]:
    """A filing's new figure is `restated` where an earlier filing had another for the same period, `filed` where the period is new."""
    known = {(fact.concept, fact.unit, fact.start, fact.end, fact.accession): fact for fact in old}
    periods: dict[tuple[object, ...], Fact] = {(fact.concept, fact.unit, fact.start, fact.end): fact for fact in old}
    for fact in new:
        period = (fact.concept, fact.unit, fact.start, fact.end)
        same = known.get((*period, fact.accession))
        span = f"{fact.concept} ({fact.unit}) {f'{fact.start} to ' if fact.start else ''}{fact.end}, {fact.form} filed {fact.filed}"
        if same is not None and same.value != fact.value:
            yield Difference("restated", f"{span}, in the same filing", _text(same.value), _text(fact.value))
        elif same is None and period in periods and periods[period].value != fact.value:
            yield Difference("restated", span, _text(periods[period].value), _text(fact.value))
        elif same is None and period not in periods:
            yield Difference("filed", span, None, _text(fact.value))


def _bars(old: Records, new: Records) -> Iterator[Difference]:
    before, after = {bar.session: bar for bar in old.bars}, {bar.session: bar for bar in new.bars}
    oldest = min(after, default=None)
    for session in sorted(before.keys() | after.keys()):
        was, now = before.get(session), after.get(session)
        if was is None or now is None:
            if now is None and oldest is not None and session < oldest:
                continue  # a rolling window leaves its oldest sessions behind
            yield Difference("bar", session.isoformat(), _text(was.close) if was else None, _text(now.close) if now else None)
        elif was.close != now.close:
            yield Difference("close", session.isoformat(), _text(was.close), _text(now.close))


def _actions(old: Records, new: Records) -> Iterator[Difference]:
    before, after = ({(action.kind, action.ex_date): action.value for action in records.actions} for records in (old, new))
    for kind, day in sorted(before.keys() | after.keys(), key=lambda key: (key[1], key[0])):
        was, now = before.get((kind, day)), after.get((kind, day))
        if was != now and not (now is None and new.bars and day < new.bars[0].session):
            yield Difference("action", f"{kind} of {day}", None if was is None else _text(was), None if now is None else _text(now))


def _articles(old: Records, new: Records) -> Iterator[Difference]:
    known = {article.guid: article.title for article in old.articles}
    for article in new.articles:
        if known.get(article.guid) != article.title:
            yield Difference("article", article.published_at.isoformat(timespec="minutes"), known.get(article.guid), article.title)


def _text(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
