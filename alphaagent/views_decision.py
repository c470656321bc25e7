"""A decision for a reader who was not there: who decided in words, every claim with what it stands on, what was missing, what moved since. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from alphaagent.debate.assertions import number_at
from alphaagent.domain.text import inert
from alphaagent.views_words import CLASSES, FLAGS, GAPS, HOLD_KINDS, NAMES, NUMBERS, SKIPPED, STATUSES, UNANCHORED

Document = dict[str, Any]

NOT_THERE = "not in this decision's evidence"
SIDES = {"bull": "bull", "bear": "short seller", "cio": "CIO"}
PROVENANCES = {
    "heuristic": "a mechanical read, no model took part",
    "crew": "a debate between models",
    "fallback": "a mechanical read in place of a debate that did not come to an end",
    "repaired": "a debate between models, and a program had to repair the answer: it opens nothing",
}


def provenance_words(document: Mapping[str, Any]) -> str:
    """Who decided, in a sentence, with the reason of a fallback."""
    told = PROVENANCES[document["provenance"]]
    plan = f", plan {document['debate']['plan']}" if document["debate"] else ""
    reason = f": {inert(document['fallback_reason'])}" if document["fallback_reason"] else ""
    return f"{told}{plan}{reason}"


def action_words(document: Mapping[str, Any]) -> str:
    """The verdict in a few words: what, for how much."""
    proposal = document["proposal"]
    if proposal is None:
        return "None: the proposal's text was refused"
    return proposal["action"] if proposal["action"] == "HOLD" else f"{proposal['action']} for USD {proposal['amount']:,.2f}"


def hold_words(reading: Mapping[str, Any]) -> str | None:
    """Why nothing was done, in words; None where something was."""
    if reading["abstain_reason"]:
        return f"abstained: {inert(reading['abstain_reason'])}"
    return HOLD_KINDS[reading["hold_kind"]] if reading["hold_kind"] else None


def cited_rows(ids: Iterable[str], items: Sequence[Mapping[str, Any]]) -> list[Document]:
    """Each cited id with what it says, from whom and since when; one that is not in the pack says so."""
    known = {item["id"]: item for item in items}
    return [_cited(one, known.get(one)) for one in dict.fromkeys(ids)]


def _cited(cited: str, item: Mapping[str, Any] | None) -> Document:
    if item is None:
        return {"id": inert(cited), "value": NOT_THERE, "source": "", "known at": "", "status": "unknown id"}
    return {
        "id": item["id"],
        "value": inert(item["summary"]),
        "source": inert(item["source"]),
        "known at": item["known_at"],
        "status": STATUSES[item["status"]],
    }


def evidence_rows(items: Sequence[Mapping[str, Any]]) -> list[Document]:
    """Every item of the pack: what is missing first, then what was found, then what does not apply."""
    rows = [
        {
            "status": STATUSES[item["status"]],
            "kind": inert(item["kind"]),
            "value": inert(item["summary"]),
            "seen by": ", ".join(SIDES[side] for side in item["side"]),
            "tool": item["tool"],
            "source": inert(item["source"]),
            "known at": item["known_at"],
            "id": item["id"],
        }
        for item in items
    ]
    last = (STATUSES["ok"], STATUSES["not_applicable"])
    return sorted(rows, key=lambda row: last.index(row["status"]) + 1 if row["status"] in last else 0)


def holes(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """What should have been there and was not, in words; what does not apply is no hole."""
    return [f"{inert(item['kind'])}: {STATUSES[item['status']]}. {inert(item['summary'])}" for item in items if item["status"] not in ("ok", "not_applicable")]


def status_counts(items: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many items ended how, in words."""
    return {word: count for status, word in STATUSES.items() if (count := sum(item["status"] == status for item in items))}


def number_words(claim: Mapping[str, Any], items: Sequence[Mapping[str, Any]]) -> str | None:
    """The number that a claim states, what the evidence has there, and what a program says to it; None where it states none."""
    said = claim["assertion"]
    if claim["number"] is None or said is None:
        return None
    item = next((one for one in items if one["id"] == said["evidence_id"]), None)
    found = None if item is None else number_at(item["payload"], said["path"])
    margin = f" (give or take {said['tolerance']})" if Decimal(said["tolerance"]) else ""
    there = "nothing" if found is None else f"{found:f}"
    return f"{said['path']} {said['op']} {said['value']}{margin} in {said['evidence_id']}; the evidence has {there}: {NUMBERS[claim['number']]}"


def claims_of(document: Mapping[str, Any], argument: Mapping[str, Any] | None, side: str) -> list[Document]:
    """A side's claims with all that happened to them; of a decision without an argument, its points."""
    if argument is not None:
        return [claim for claim in argument["claims"] if claim["by"] == side]
    return [_point(line) for line in document[f"{side}_case"]["lines"]]


def _point(line: Mapping[str, Any]) -> Document:
    return {
        "id": line.get("claim_id"),
        "status": line.get("status"),
        "text": line["text"],
        "kind": line["factor"],
        "direction": line.get("direction"),
        "severity": line.get("severity"),
        "weight": line["weight"],
        "evidence_ids": line["evidence_ids"],
        "number": None,
        "assertion": None,
        "as_first_said": None,
        "hits": [],
    }


def measure_lines(argument: Mapping[str, Any]) -> list[str]:
    """What the exchange came to, a line each: the gap, what was settled, the class, the flags, what was left out."""
    measures = argument["measures"]
    settled, contested = measures["settled"], measures["contested"]
    by = {"both": "both sides", "bull": "the bull", "bear": "the short seller"}.get(measures["closed_by"] or "")
    lines = [
        (GAPS[measures["outcome"]] if measures["outcome"] else "one round: nobody answered anybody") + (f", moved by {by}" if by else ""),
        *([f"{contested['part']} of {contested['of']} claims attacked, {settled['part']} of those settled"] if measures["outcome"] else []),
        f"class {measures['class'].replace('_', ' ')}: {CLASSES[measures['class']]}",
    ]
    lines += list(dict.fromkeys(f"flag {flag['name'].replace('_', ' ')}: {FLAGS[flag['name']]}{_of_side(flag['side'])}" for flag in measures["flags"]))
    return [*lines, SKIPPED[argument["skipped"]["reason"]]] if argument["skipped"] else lines


def _of_side(side: str | None) -> str:
    return f" ({NAMES[side].lower()})" if side else ""


def final_words(argument: Mapping[str, Any] | None, document: Mapping[str, Any]) -> list[str]:
    """Both final numbers, the one that the debate came to and the CIO's, and what they are made of."""
    lines = []
    if argument is not None:
        measures = argument["measures"]
        made = "anchored by a panel" if measures["anchored"] else UNANCHORED
        lines.append(f"The debate ended at p(up) {_probability(measures['p_final'])} with a gap of {_probability(measures['gap'])}; {made}.")
    proposal = document["proposal"]
    if proposal is not None and "p_up" in proposal:
        lines.append(f"The {'CIO' if document['debate'] else 'engine'} put p(up) at {_probability(proposal['p_up'])}.")
    base = document["reading"]["base_rate"]
    return [*lines, f"Before anybody spoke it was {_probability(base)}, the share of past windows that ended higher."] if base else lines


def _probability(value: object) -> str:
    return f"{Decimal(str(value)):.3f}"


def part_rows(reading: Mapping[str, Any]) -> list[Document]:
    """The heuristic engine's factors as rows of a figure: signed contribution, and how it came about."""
    return [
        {
            "factor": part["factor"] + ("" if part["status"] == "ok" else f" ({part['status']})"),
            "contribution": Decimal(part["contribution"]),
            "made of": f"{Decimal(part['value']):+.2f} x {Decimal(part['weight']):.3f}" if part["value"] else f"weight {Decimal(part['weight']):.3f}",
            "status": part["status"],
            "detail": inert(part["detail"]),
        }
        for part in reading["contributions"]
    ]


def difference_lines(difference: Mapping[str, Any]) -> list[str]:
    """What changed since the decision before, a line each."""
    action, score, evidence = difference["action"], difference["score"], difference["evidence"]
    moved = action["before"] != action["after"]
    lines = [f"action: {action['before']}, now {action['after']}" if moved else f"the same action, {action['after']}"]
    if score["change"] is not None:
        lines.append(f"score: {Decimal(score['before']):+.3f}, now {Decimal(score['after']):+.3f} ({Decimal(score['change']):+.3f})")
    lines += [f"{part['factor']} {Decimal(part['change']):+.3f}" for part in difference["contributions"] if Decimal(part["change"])]
    lines += [f"{word} evidence: {', '.join(evidence[key])}" for word, key in (("new", "new"), ("no longer there", "gone")) if evidence[key]]
    return [*lines, *(f"{kind}: {count['new']} new, {count['gone']} gone" for kind, count in evidence["items"].items())]
