"""What decisions came to, counted: rows of tables, the figure's points, and the words for them. Pure.

Every average stands beside its count, and every decision is counted somewhere. Windows of one name overlap, so that counts say less than they seem to.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from alphaagent.operations.outcomes import Outcome

Row = dict[str, Any]
FEW = 30
"""Below so many a figure is shown with the words `too few`."""
POINTS = 250
"""Of one action in the figure, at most."""
STATES = {
    "resolved": "have an outcome",
    "waiting": "wait for the close of their horizon",
    "no_prices": "have no prices on record for their horizon",
    "unclear": "had a merger, a spin-off or the like within it, which no adjustment puts right",
    "no_action": "proposed nothing that could be read",
}
GROUPINGS: dict[str, Callable[["Outcome"], tuple[str, ...]]] = {
    "who decided": lambda one: (one.decided.provenance,),
    "action": lambda one: (one.decided.action or "none",),
    "debate class": lambda one: (one.decided.debate_class or "none",),
    "all three": lambda one: (one.decided.provenance, one.decided.action or "none", one.decided.debate_class or "none"),
}
NAMES = {"who decided": ("who decided",), "action": ("action",), "debate class": ("debate class",), "all three": ("who decided", "action", "debate class")}


def is_right(one: "Outcome") -> bool | None:
    """Whether a purchase gained or a sale avoided a loss; None for what takes no side."""
    if one.gain is None or one.decided.action not in ("BUY", "SELL"):
        return None
    return one.gain > 0 if one.decided.action == "BUY" else one.gain < 0


def grouped(outcomes: Iterable["Outcome"], by: str) -> list[Row]:
    """One row a group of what has an outcome, with the group's names in its first columns."""
    groups: dict[tuple[str, ...], list[Outcome]] = {}
    for one in outcomes:
        if one.state == "resolved":
            groups.setdefault(GROUPINGS[by](one), []).append(one)
    return [dict(zip(NAMES[by], key, strict=True)) | _figures(groups[key]) for key in sorted(groups)]


def _figures(group: Sequence["Outcome"]) -> Row:
    gains = [one.gain for one in group if one.gain is not None]
    sided = [right for one in group if (right := is_right(one)) is not None]
    forecast = [(one.decided.p_up, one.rose) for one in group if one.decided.p_up is not None and one.rose is not None]
    stated, naive = _brier(forecast)
    return {
        "count": len(gains),
        "mean": fmean(gains),
        "median": median(gains),
        "sided": len(sided),
        "right": sum(sided),
        "with_p_up": len(forecast),
        "mean_p_up": fmean(p for p, _ in forecast) if forecast else None,
        "rose": fmean(rose for _, rose in forecast) if forecast else None,
        "brier": stated,
        "brier_base": naive,
    }


def _brier(forecast: Sequence[tuple[float, bool]]) -> tuple[float | None, float | None]:
    """The mean squared error of the stated probabilities, and that of always stating how often it rose among the same decisions (Brier, 1950)."""
    if not forecast:
        return None, None
    base = fmean(rose for _, rose in forecast)
    return fmean((p - rose) ** 2 for p, rose in forecast), base * (1 - base)


def table(outcomes: Iterable["Outcome"], by: str) -> list[Row]:
    """`grouped` in words, one cell a figure, each with its count."""
    return [{name: row[name] for name in NAMES[by]} | _cells(row) for row in grouped(outcomes, by)]


def _cells(row: Row) -> Row:
    few = ", too few" if row["count"] < FEW else ""
    p_few = ", too few" if row["with_p_up"] < FEW else ""
    return {
        "decisions": f"{row['count']:,}{few}",
        "mean return": percent(row["mean"]),
        "median return": percent(row["median"]),
        "right side": rate(row["right"], row["sided"]),
        "p(up) stated": f"{row['mean_p_up']:.2f} ({row['with_p_up']:,}{p_few})" if row["with_p_up"] else "none stated",
        "it rose": "–" if row["rose"] is None else f"{row['rose']:.2f}",
        "Brier score": "–" if row["brier"] is None else f"{row['brier']:.3f}",
        "of the base rate": "–" if row["brier_base"] is None else f"{row['brier_base']:.3f}",
    }


def rate(part: int, whole: int) -> str:
    """`58% (7 of 12, too few)`."""
    return f"{100 * part / whole:.0f}% ({part:,} of {whole:,}{', too few' if whole < FEW else ''})" if whole else "–"


def percent(fraction: float | None) -> str:
    """`+1.25%`, with a minus that reads as one."""
    return "–" if fraction is None else f"{100 * fraction:+.2f}%".replace("-", "−")


def counts(outcomes: Sequence["Outcome"]) -> list[Row]:
    """How many decisions are in which state; those that wait with the first and the last day on which they resolve."""
    found = Counter(one.state for one in outcomes)
    days = sorted(one.ends for one in outcomes if one.state == "waiting" and one.ends is not None)
    when = f"the first on {days[0]}, the last on {days[-1]}" if days else ""
    return [{"decisions": found[state], "which": words, "when": when if state == "waiting" else ""} for state, words in STATES.items() if found[state]]  # type: ignore[index]


def points(outcomes: Iterable["Outcome"]) -> list[Row]:
    """What the figure shows: of each action at most so many returns, taken evenly in the order of their size, so that the ends are among them."""
    found: list[Row] = []
    for action, ordered in _by_action(outcomes).items():
        step = max(1.0, (len(ordered) - 1) / (POINTS - 1)) if len(ordered) > 1 else 1.0
        places = dict.fromkeys(round(n * step) for n in range(min(POINTS, len(ordered))))
        found += [_point(action, ordered[place]) for place in places]
    return found


def _point(action: str, one: "Outcome") -> Row:
    return {"action": action, "gain": one.gain, "ticker": one.decided.ticker, "of": one.decided.session}


def boxes(outcomes: Iterable["Outcome"]) -> list[Row]:
    """Of each action the quartiles of its returns, and what lies between the twentieth and the last twentieth."""
    return [
        {"action": action, "count": len(ordered)} | {name: _quantile(ordered, at) for name, at in QUANTILES.items()}
        for action, ordered in _by_action(outcomes).items()
    ]


QUANTILES = {"low": 0.05, "q1": 0.25, "median": 0.5, "q3": 0.75, "high": 0.95}


def _by_action(outcomes: Iterable["Outcome"]) -> dict[str, list["Outcome"]]:
    groups: dict[str, list[Outcome]] = {action: [] for action in ("BUY", "HOLD", "SELL")}
    for one in outcomes:
        if one.state == "resolved" and one.decided.action in groups:
            groups[one.decided.action].append(one)
    return {action: sorted(group, key=lambda one: one.gain or 0.0) for action, group in groups.items() if group}


def _quantile(ordered: Sequence["Outcome"], at: float) -> float:
    """Between the two nearest values, in proportion."""
    place = at * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    low, high = ordered[below].gain or 0.0, ordered[above].gain or 0.0
    return low + (high - low) * (place - below)


def listed(outcomes: Iterable["Outcome"]) -> list[Row]:
    """One row a decision."""
    words = {None: "–", True: "yes", False: "no"}
    return [
        {
            "decision_id": one.decided.decision_id,
            "session": one.decided.session,
            "ticker": one.decided.ticker,
            "provenance": one.decided.provenance,
            "action": one.decided.action or "none",
            "class": one.decided.debate_class or "none",
            "p_up": None if one.decided.p_up is None else f"{one.decided.p_up:.2f}",
            "state": one.state.replace("_", " "),
            "ends": one.ends.isoformat() if one.ends else "–",
            "return": percent(one.gain),
            "right": words[is_right(one)],
            "rose": words[one.rose],
        }
        for one in outcomes
    ]
