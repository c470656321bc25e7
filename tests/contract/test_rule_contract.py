"""What every registered rule keeps to. A new rule is one file and one registry line; this suite then covers it."""

import importlib
import inspect
import pkgutil
import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from alphaagent.domain.ruling import GuardSnapshot, Outcome
from alphaagent.errors import ConfigFault
from alphaagent.guard import rules as package
from alphaagent.guard.evaluate import evaluate
from alphaagent.guard.intake import parse_proposal
from alphaagent.guard.limits import direction, is_looser
from alphaagent.guard.mandate import Mandate
from alphaagent.guard.registry import RULES
from alphaagent.guard.rule import CapRule, RequestRule, Rule, Subject
from tests.unit.guard.guard_scenes import DEFAULT, NOW, deciding, text

BUY = text("BUY", "1000", "BULLISH", p_up="0.6")
ROOT = Path(package.__path__[0])

every_rule = pytest.mark.parametrize("kind", RULES.values(), ids=RULES.keys())
every_limit = pytest.mark.parametrize(
    ("kind", "field"), [pytest.param(kind, field, id=f"{id}.{field}") for id, kind in RULES.items() for field in kind.model_fields]
)


def modules() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules([str(ROOT)]))


def test_one_rule_a_file_and_every_file_registered() -> None:
    found = {}
    for name in modules():
        module = importlib.import_module(f"{package.__name__}.{name}")
        own = [item for item in vars(module).values() if inspect.isclass(item) and issubclass(item, Rule) and item.__module__ == module.__name__]
        assert len(own) == 1, f"{name} must define exactly one rule"
        assert name.startswith(own[0].id.lower() + "_")
        found[own[0].id] = own[0]
    assert found == RULES


def test_the_registry_is_in_order_of_stage_and_number() -> None:
    order = [(id[0], int(id[1:])) for id in RULES]
    assert all(earlier < later for earlier, later in pairwise(order))


def test_no_code_belongs_to_two_rules() -> None:
    codes = [code for kind in RULES.values() for code in kind.codes]
    assert len(codes) == len(set(codes))


@every_rule
def test_identity(kind: type[Rule]) -> None:
    assert RULES[kind.id] is kind
    assert re.fullmatch(r"[B-I][1-9][0-9]?", kind.id)
    assert kind.stage == kind.id[0]
    assert kind.codes
    assert all(re.fullmatch(r"[A-Z][A-Z_]{2,39}", code) for code in kind.codes)
    assert issubclass(kind, CapRule | RequestRule) == (kind.stage == "H")
    assert all(set(need.stages) <= set(kind.stages) for need in kind.needs)


@every_limit
def test_every_limit_says_which_way_it_loosens(kind: type[Rule], field: str) -> None:
    assert direction(kind, field) in ("higher", "lower", "longer", "shorter")
    default = kind.model_fields[field].default
    assert not is_looser(kind, field, default, default)


@every_rule
def test_documentation(kind: type[Rule]) -> None:
    assert 3 <= len(kind.title) <= 40
    assert kind.why.endswith(".") or kind.why.endswith(")")
    assert "\n" not in kind.why
    assert kind.__doc__
    module = inspect.getmodule(kind)
    assert module is not None
    assert (module.__doc__ or "").startswith(f"{kind.id}: ")


@every_rule
def test_the_wiki_lists_it_with_its_codes_and_defaults(kind: type[Rule]) -> None:
    wiki = (Path(__file__).parents[2] / "docs" / "wiki" / "Execution-Guard.md").read_text(encoding="utf-8")
    row = next(line for line in wiki.splitlines() if line.startswith(f"| {kind.id} |"))
    assert kind.title in row
    for code in kind.codes:
        assert f"`{code}`" in row
    for field, info in kind.model_fields.items():
        assert f"`{field}` {shown(info.default)}" in row


def shown(default: Any) -> str:
    return ", ".join(default) if isinstance(default, tuple) else str(default).lower() if isinstance(default, bool) else str(default)


@every_rule
def test_needs_are_fields_of_the_snapshot(kind: type[Rule]) -> None:
    assert {need.field for need in kind.needs} <= GuardSnapshot.model_fields.keys()
    assert len({need.field for need in kind.needs}) == len(kind.needs)
    assert all(need.stages and need.modes for need in kind.needs)


@every_rule
def test_a_needed_field_that_is_missing_blocks(kind: type[Rule]) -> None:
    for need in kind.needs:
        if "decide" in need.stages:
            ruling = evaluate(BUY, deciding().model_copy(update={need.field: None}), DEFAULT, NOW)
            assert (ruling.outcome, ruling.quantity_out) == (Outcome.BLOCK, 0), need.field


@every_rule
def test_raising_blocks(kind: type[Rule], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "check", lambda self, subject: 1 / 0)
    ruling = evaluate(BUY, deciding(), DEFAULT, NOW)
    assert (ruling.outcome, ruling.code, ruling.quantity_out) == (Outcome.BLOCK, f"RULE_ERROR:{kind.id}", 0)


@every_rule
def test_it_passes_a_healthy_order_and_is_frozen(kind: type[Rule]) -> None:
    ruling = evaluate(BUY, deciding(), DEFAULT, NOW)
    assert next(trace.verdict for trace in ruling.rules if trace.id == kind.id) in ("pass", "not_applicable", "not_configured")
    with pytest.raises(ValidationError, match="frozen"):
        kind().another_limit = 1  # type: ignore[attr-defined]


@every_rule
def test_it_sees_only_the_domain(kind: type[Rule]) -> None:
    source = inspect.getsource(inspect.getmodule(kind))  # type: ignore[arg-type]
    imported = re.findall(r"^\s*(?:from|import) ([\w.]+)", source, flags=re.MULTILINE)
    allowed = (
        "alphaagent.domain.",
        "alphaagent.guard.rule",
        "alphaagent.guard.symbols",
        "alphaagent.errors",
        "pydantic",
        "decimal",
        "datetime",
        "typing",
        "re",
    )
    assert all(name.startswith(allowed) for name in imported)
    assert not re.search(r"\bfloat\b|\.now\(|\bopen\(|except ", source)


NOT_FINITE = [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("-Infinity")]


@every_limit
@pytest.mark.parametrize("value", [*NOT_FINITE, Decimal(10) ** 12, Decimal(-1), 0.5, True, None, [], ()])
def test_a_limit_has_hard_bounds(kind: type[Rule], field: str, value: Any) -> None:
    with pytest.raises(ValidationError):
        kind(**{field: value})


@every_limit
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 10**12, -1, True, None, [], "", "unlimited"])
def test_a_mandate_cannot_hold_a_limit_that_is_none(kind: type[Rule], field: str, value: Any) -> None:
    with pytest.raises(ConfigFault, match=rf"^mandate\.yaml: mine\.rules\.{kind.id}\.{field}"):
        Mandate.parse("mine", {"rules": {kind.id: {field: value}}}, "mandate.yaml")


@every_limit
def test_a_default_keeps_its_own_bounds(kind: type[Rule], field: str) -> None:
    assert kind(**{field: kind.model_fields[field].default}) == kind()


@every_rule
def test_a_cap_is_linear_and_never_negative(kind: type[Rule]) -> None:
    if not issubclass(kind, CapRule):
        return
    action = "BUY" if kind.opening_only else "SELL"
    proposal = parse_proposal(text(action), ticker="ACME")
    for changes in ({}, {"held": Decimal(900)}, {"settled_cash": Decimal(-5)}, {"pending_sell": Decimal(900)}):
        subject = Subject(proposal, deciding(**changes), NOW, "", None, Decimal("0.0001"), DEFAULT.rules)
        rule = next(rule for rule in DEFAULT.rules if isinstance(rule, kind))
        assert isinstance(rule, CapRule)
        step = rule.use(subject, Decimal(1)) - rule.use(subject, Decimal(0))
        assert step > 0
        assert rule.use(subject, Decimal(1000)) == rule.use(subject, Decimal(0)) + 1000 * step
        assert rule.cap(subject) >= 0
        assert rule.cap(subject) == 0 or abs(rule.use(subject, rule.cap(subject)) - rule.limit(subject)) < Decimal("1e-15")
