"""Documents become a terminal page. Text is never read as markup: what the web or a model wrote is shown, not obeyed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from alphaagent import render_crew
from alphaagent.domain.text import inert
from alphaagent.views_words import HOLD_KINDS

if TYPE_CHECKING:
    from alphaagent.operations.doctor import Finding

BAR_WIDTH = 16
HASH = re.compile(r"[0-9a-f]{64}")
DECIMAL = re.compile(r"(?<![\w.:-])[0-9]+\.[0-9]+(?![\w.:-])")
VERDICT_STYLE = {"BUY": "bold green", "SELL": "bold red", "HOLD": "bold yellow"}
OUTCOME_STYLE = {"APPROVE": "green", "CLIP": "yellow", "BLOCK": "red", "pass": "green", "clip": "yellow", "block": "red"}
SIDE_BY_SIDE = 110
"""Columns from which the two cases stand beside each other."""


def console(*, stderr: bool = False) -> Console:
    """The terminal: no markup, no emoji, no highlighting of numbers."""
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def decision_page(document: Mapping[str, Any], out: Console, titles: Mapping[str, str], *, name: str = "", full: bool = True) -> RenderableType:
    """One decision from top to bottom: cases, score, verdict, guard, order, where it is written; `full` lists every rule that passed."""
    return Group(
        _heading(document, name),
        _cases(document, out),
        *_score(document),
        _verdict(document),
        _guard(document["guard"], titles, full=full),
        *([_guard(document["settlement"], titles, full=full)] if "settlement" in document else []),
        _order(document),
        _evidence_line(document),
        _written(document),
    )


def _heading(document: Mapping[str, Any], name: str) -> RenderableType:
    text = Text.assemble(("\n" + document["ticker"], "bold"), f"  {inert(name)}  " if name else "  ", (f"as of {document['as_of']}", "dim"))
    text.append(f"  decision {document['decision_id']}" + ("  (stored before; nothing was decided again)" if document["stored"] else ""), "dim")
    return Group(text, *_provenance(document), Text(""))


def _provenance(document: Mapping[str, Any]) -> Iterable[Text]:
    if document["provenance"] == "fallback" or document["debate"]:
        return render_crew.heading(document)
    return (Text("heuristic engine: a mechanical read, no model", "italic"),)


def _cases(document: Mapping[str, Any], out: Console) -> RenderableType:
    if document["debate"]:
        faults = document["crew"]["faults"] if document["crew"] else {"bull": (), "bear": ()}
        bull, bear = (render_crew.case_panel(document[f"{side}_case"], faults[side]) for side in ("bull", "bear"))
    else:
        bull, bear = _case(document["bull_case"], "The bull", "green"), _case(document["bear_case"], "The short seller", "red")
    if out.width < SIDE_BY_SIDE:
        return Group(bull, bear)
    grid = Table.grid(expand=True, padding=(0, 1))
    grid.add_column(ratio=1)
    grid.add_column(ratio=1)
    grid.add_row(bull, bear)
    return grid


def _case(case: Mapping[str, Any], title: str, style: str) -> RenderableType:
    body = Table.grid(padding=(0, 1))
    body.add_column(justify="right", no_wrap=True)
    body.add_column()
    for line in case["lines"]:
        weight = Decimal(line["weight"])
        points = Text(inert(line["text"]))
        points.append("  " + " ".join(line["evidence_ids"][:1]), "dim")
        body.add_row(Text(_weight(weight), style), points)
    parts: list[RenderableType] = [body] if case["lines"] else []
    parts += [Text(f"cannot see: {inert(hole)}", "yellow") for hole in case["holes"]]
    parts.append(Text(inert(case["summary"]), "italic"))
    return Panel(Group(*parts), title=Text(title, style), title_align="left", box=box.ROUNDED, border_style=style, padding=(0, 1))


def _weight(weight: Decimal) -> str:
    """A contribution in three decimals; `·` where a point only informs, `≈0` where it weighs next to nothing."""
    if not weight:
        return "·"
    return f"{weight:+.3f}" if abs(weight) >= Decimal("0.0005") else "≈0"


def _score(document: Mapping[str, Any]) -> list[RenderableType]:
    reading = document["reading"]
    if document["debate"]:
        return [render_crew.rounds(document["debate"])]
    if reading["score"] is None:
        return []
    table = Table(box=None, padding=(0, 1), show_header=False)
    for _ in range(5):
        table.add_column(no_wrap=True)
    widest = max((abs(Decimal(part["contribution"])) for part in reading["contributions"]), default=Decimal(0))
    for part in reading["contributions"]:
        table.add_row(*_contribution(part, widest))
    return [Text.assemble(("\nScore ", "bold"), (f"{Decimal(reading['score']):+.3f}", "bold")), Padding(table, (0, 0, 0, 1))]


def _contribution(part: Mapping[str, Any], widest: Decimal) -> tuple[RenderableType, ...]:
    amount = Decimal(part["contribution"])
    style = "green" if amount > 0 else "red"
    value = f"{Decimal(part['value']):+.2f} x {Decimal(part['weight']):.3f}" if part["value"] else f"   {part['status']}   {Decimal(part['weight']):.3f}"
    return (Text(part["factor"]), bar(amount, widest, style), Text(f"{amount:+.3f}", style if amount else "dim"), Text(value, "dim"), Text(""))


def bar(amount: Decimal, widest: Decimal, style: str) -> Text:
    """A bar to the left of the middle for what pulls down, to the right for what pulls up."""
    length = round(abs(amount) / widest * BAR_WIDTH) if widest else 0
    left = "█" * length if amount < 0 else ""
    right = "█" * length if amount > 0 else ""
    return Text.assemble((left.rjust(BAR_WIDTH), style), ("│", "dim"), (right.ljust(BAR_WIDTH), style))


def _verdict(document: Mapping[str, Any]) -> RenderableType:
    proposal, reading = document["proposal"], document["reading"]
    if proposal is None:
        return Text("\nVerdict  none: the proposal's text was refused", "bold red")
    text = Text.assemble(("\nVerdict  ", "bold"), (proposal["action"], VERDICT_STYLE[proposal["action"]]))
    if proposal["action"] != "HOLD":
        text.append(f" {proposal['amount']:,.2f} USD", "bold")
    text.append(f"  {proposal['sentiment']}")
    if "p_up" in proposal:
        slope = "" if document["debate"] else " (slope chosen, not fitted)"
        base = f", base rate {Decimal(reading['base_rate']):.3f}{slope}" if reading["base_rate"] else ""
        text.append(f"  p(up in 20 sessions) {proposal['p_up']:.3f}{base}", "dim")
    if reading["hold_kind"]:
        text.append(f"  {HOLD_KINDS[reading['hold_kind']]}", "yellow")
    words = [Text(inert(proposal["reasoning"]))]
    if reading["flip"]:
        words.append(Text(f"What would flip it: {inert(reading['flip'])}.", "italic"))
    if document["debate"] and proposal.get("relied_on"):
        words.append(Text(f"Relied on: {' '.join(inert(name) for name in proposal['relied_on'])}", "dim"))
    return Group(text, *(Padding(part, (0, 0, 0, 2)) for part in words))


def _guard(guard: Mapping[str, Any], titles: Mapping[str, str], *, full: bool) -> RenderableType:
    """The ruling. Where it is not told in full, what passed is counted, but for the caps: they say how much room was left."""
    head = Text.assemble(("\nGuard", "bold"), f" at {guard['stage']}  ", (guard["outcome"], OUTCOME_STYLE[guard["outcome"]]), f"  {guard['code']}")
    if guard["outcome"] == "CLIP":
        head.append(f"  {guard['quantity_in']} shares asked, {guard['quantity_out']} allowed")
    if guard["code"] == "NO_ORDER":
        head.append(": there is no order to rule on", "dim")
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for column in ("rule", "", "verdict", "value", "limit"):
        table.add_column(column, overflow="fold")
    told = [rule for rule in _told(guard["rules"]) if rule["verdict"] in ("pass", "clip", "block")]
    passed = [rule for rule in told if rule["verdict"] == "pass" and not full and not rule["id"].startswith("H")]
    for rule in told:
        if rule not in passed:
            verdict = Text(rule["verdict"], OUTCOME_STYLE[rule["verdict"]])
            table.add_row(rule["id"], titles.get(rule["id"], ""), verdict, _figure(rule["value"]), _figure(rule["limit"]))
            if rule["verdict"] != "pass" and rule["reason"]:
                table.add_row("", "", "", Text(inert(rule["reason"]), "italic"), "")
    rest = [Text(f"  {len(passed)} other rules passed; `alphaagent show` lists them", "dim")] if passed else []
    return Group(head, *([Padding(table, (0, 0, 0, 1))] if table.row_count else []), *rest)


def _told(rules: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The parser's rules in one line where all of them pass: they are about form."""
    parser = [rule for rule in rules if rule["id"].startswith("A")]
    if any(rule["verdict"] != "pass" for rule in parser):
        return list(rules)
    return [{"id": "A", "verdict": "pass", "value": "", "limit": "", "reason": None}, *(rule for rule in rules if rule not in parser)]


def _figure(text: str | None) -> str:
    """A rule's value for a narrow column: hashes cut, decimals rounded; the whole of it is in the JSON."""
    shown = inert(text or "")
    if HASH.fullmatch(shown):
        return shown[:12] + "…"
    return DECIMAL.sub(lambda found: f"{Decimal(found[0]):,.4f}".rstrip("0").rstrip("."), shown)


def _order(document: Mapping[str, Any]) -> Text:
    if "order" not in document:
        return Text("\nOrder    none: a dry run writes nothing", "dim")
    order = document["order"]
    if order is None:
        return Text("\nOrder    none", "dim")
    text = Text.assemble(("\nOrder    ", "bold"), f"{order['side']} {order['quantity']} {order['ticker']}  ", (order["status"], "bold"))
    if order["status"] == "filled":
        text.append(f" at {order['price']} on {order['fill_session']}")
    elif order["status"] == "pending":
        text.append(f", fills at the open of {order['fill_session']}: `alphaagent settle --as-of {order['fill_session']}`")
    return text


def _evidence_line(document: Mapping[str, Any]) -> Text:
    items = document["evidence"]["items"]
    context = ("index", "earnings_date")
    bad = [item for item in items if item["status"] != "ok" and not (item["kind"] in context and item["status"] == "not_applicable")]
    text = Text.assemble(("Evidence ", "bold"), f"{len(items)} items, pack {document['evidence']['pack_sha256'][:12]}")
    if bad:
        text.append(f"; {len(bad)} not ok: " + ", ".join(f"{item['kind']} {item['status']}" for item in bad[:6]), "yellow")
    return text


def _written(document: Mapping[str, Any]) -> Text:
    audit = document.get("audit")
    if audit is None:
        return Text("")
    text = Text.assemble(("Written  ", "bold"), f"audit row {audit['seq']}, hash {audit['hash'][:16]}…\n")
    text.append(f"         alphaagent show {document['decision_id']}\n         alphaagent replay {document['decision_id']}\n", "dim")
    return text


def rows(title: str, columns: tuple[str, ...], cells: Sequence[tuple[str, ...]], *, numeric: tuple[str, ...] = ()) -> Table:
    """A plain table; the columns in `numeric` are set to the right."""
    table = Table(title=title or None, title_justify="left", box=box.SIMPLE, header_style="dim")
    for column in columns:
        table.add_column(column, justify="right" if column in numeric else "left")
    for row in cells:
        table.add_row(*(Text(inert(cell)) for cell in row))
    return table


def portfolio_page(document: Mapping[str, Any]) -> RenderableType:
    """A portfolio: NAV and cash, positions, pending orders."""
    currency = document["currency"]
    head = Text.assemble((f"\n{document['portfolio']}", "bold"), f"  NAV {_money(document['equity'])} {currency}", f"  cash {_money(document['cash'])}")
    head.append(f"  (settled {_money(document['settled_cash'])}, reserved {_money(document['reserved_cash'])})  mandate {document['mandate']}", "dim")
    head.append(f"\nat {document['at']}, book time {document['book_time']}", "dim")
    if document["books_fault"]:
        head.append(f"\nTHE BOOKS ARE UNSOUND: {inert(document['books_fault'])}", "bold red")
    columns = ("ticker", "quantity", "mark", "value", "weight", "cost", "unrealised")
    cells = [_position(position) for position in document["positions"]]
    pending = [(order["side"], order["quantity"], order["ticker"], order["fill_session"], order["decision_id"]) for order in document["pending"]]
    parts: list[RenderableType] = [head]
    parts += [rows("Positions", columns, cells, numeric=columns[1:])] if cells else [Text("\nno positions\n", "dim")]
    parts += [rows("Pending orders", ("side", "quantity", "ticker", "fills at the open of", "decision"), pending)] if pending else []
    parts += [Text(f"FROZEN {inert(name['ticker'])} since {name['since']}: {inert(name['reason'])}", "bold red") for name in document["frozen"]]
    if "lots" in document:
        parts.append(lots_table(document["lots"]))
    return Group(*parts)


def lots_table(documents: Sequence[Mapping[str, Any]]) -> Table:
    """What is held, lot by lot."""
    columns = ("ticker", "acquired", "quantity", "cost", "days", "term", "unrealised")
    cells = [(one["ticker"], one["acquired"], one["quantity"], _money(one["cost"]), str(one["holding_days"]), one["term"], _signed(one)) for one in documents]
    return rows("Lots", columns, cells, numeric=("quantity", "cost", "days", "unrealised"))


def _signed(lot: Mapping[str, Any]) -> str:
    return f"{Decimal(lot['unrealised']):+,.2f}" if lot["unrealised"] is not None else "no mark"


def import_lines(document: Mapping[str, Any]) -> list[str]:
    """What an import books: every row with its instrument and value, cash, NAV."""
    columns = ("line", "ticker", "instrument", "quantity", "cost", "acquired", "mark", "value", "name")
    verb = f"booked, audit row {document['audit']['seq']}" if document["audit"] else "nothing written: a dry run"
    made = "a new portfolio" if document["creates"] else "the existing portfolio"
    foot = f"{len(document['rows'])} lots and {_money(document['cash'])} cash into {made}, {document['portfolio']}, at {document['at']}"
    return [*lined_up(columns, document["rows"]), foot, f"NAV {_money(document['equity'])} USD; {verb}"]


def lined_up(columns: Sequence[str], documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """Documents of one shape as lines in columns, whatever the terminal's width: ids stay whole, and other programs can cut them."""
    lines = [tuple(columns), *(tuple("-" if one[column] is None else inert(str(one[column])) for column in columns) for one in documents)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def difference(document: Mapping[str, Any]) -> RenderableType:
    """What changed since the decision before."""
    score, action, evidence = document["score"], document["action"], document["evidence"]
    head = Text.assemble(("\nSince ", "bold"), f"{document['decision_id']} of {document['as_of']}: ", f"{action['before']} -> {action['after']}")
    if score["change"] is not None:
        head.append(f", score {Decimal(score['before']):+.3f} -> {Decimal(score['after']):+.3f} ({Decimal(score['change']):+.3f})")
    moved = [part for part in document["contributions"] if Decimal(part["change"])]
    head.append("".join(f"\n  {part['factor']:12s} {Decimal(part['change']):+.3f}" for part in moved), "dim")
    for word, kinds in (("new", evidence["new"]), ("gone", evidence["gone"])):
        head.append(f"\n  {word} evidence: {', '.join(kinds)}" if kinds else "", "dim")
    for kind, count in evidence["items"].items():
        head.append(f"\n  {kind}: {count['new']} new, {count['gone']} gone", "dim")
    return head


def _position(position: Mapping[str, Any]) -> tuple[str, ...]:
    weight = f"{Decimal(position['weight']):.1%}" if position["weight"] else ""
    money = (_money(position[key]) if position[key] is not None else "no mark" for key in ("mark", "value"))
    mark, value = money
    unrealised = f"{Decimal(position['unrealised']):+,.2f}" if position["unrealised"] is not None else ""
    return position["ticker"], position["quantity"], mark, value, weight, _money(position["cost"]), unrealised


def _money(text: str) -> str:
    return f"{Decimal(text):,.2f}"


def journal_table(documents: Sequence[Mapping[str, Any]]) -> Table:
    """Transactions with their postings, newest last."""
    cells = []
    for document in documents:
        for place, posting in enumerate(document["postings"]):
            first = place == 0
            head = (str(document["txn"]), document["kind"], document["trade_at"]) if first else ("", "", "")
            cells.append((*head, posting["account"], posting["amount"], posting["commodity"], document["decision_id"] or "" if first else ""))
    return rows("", ("txn", "kind", "at", "account", "amount", "commodity", "decision"), cells, numeric=("amount",))


def files_table(documents: Sequence[Mapping[str, Any]]) -> Table:
    """The recorded files against their manifest; where each came from is in the JSON and in the manifest."""
    cells = [_file(file) for file in documents]
    return rows("", ("file", "state", "rows", "range", "licence"), cells, numeric=("rows",))


def _file(file: Mapping[str, Any]) -> tuple[str, ...]:
    span = " to ".join(filter(None, (file["first"], file["last"])))
    return file["path"], file["state"], str(file["rows"] or ""), span, file["licence"] or ""


def findings_table(findings: "Sequence[Finding]") -> Table:
    """What the doctor found and what to do about it."""
    table = Table(box=box.SIMPLE, header_style="dim")
    for column in ("", "check", "finding", "what to do"):
        table.add_column(column)
    style = {"ok": "green", "note": "yellow", "fault": "red"}
    for finding in findings:
        table.add_row(Text(finding.state, style[finding.state]), finding.check, Text(inert(finding.detail)), Text(inert(finding.fix or "")))
    return table
