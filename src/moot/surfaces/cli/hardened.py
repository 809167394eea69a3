"""How a hardened piece of code is shown to a person."""

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from moot.protocols.harden import HardenResult
from moot.protocols.reports import where
from moot.runner import Plan
from moot.surfaces.cli.screen import clean, cost, out, plain
from moot.surfaces.hardening import found

STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "dim"}
SAYS = {
    "hardened": "the last attack found nothing new and nothing old still stands",
    "risk_accepted": "the risk that is left is below the threshold",
    "unresolved": "findings are left after the last round",
    "inconclusive": "the last attack cannot show that nothing is left",
    "timed_out": "the time ran out; this is the best so far",
    "budget_exhausted": "the budget ran out; this is the best so far",
    "cancelled": "stopped by the user; this is the best so far",
}


def show_result(result: HardenResult, plan: Plan) -> None:
    console = out()
    console.print(plain(headline(result, plan)))
    _findings(result, console)
    if result.diff:
        console.print()
        if console.is_terminal:
            console.print(Syntax(clean(result.diff), "diff", background_color="default"))
        else:
            console.print(plain(result.diff.rstrip("\n")))
    _section(console, "What remains", result.remaining_risks)
    _section(console, "Not analysed", [f"{s.file}:{s.line}: {s.why}" for s in result.not_analysed])
    _section(console, "Weaker than asked for", result.degraded)
    _tests(result, console)
    console.print()
    for line in cost(result.usage) or ["no model was called"]:
        console.print(plain(line))
    console.print(plain(f"session {result.session_id}, {result.rounds} rounds, {result.duration:.1f} s"))


def headline(result: HardenResult, plan: Plan) -> str:
    """The first line: the outcome, and on what it rests."""
    full = f"{result.calls} calls, {result.calls_full_run} questions in a full run"
    teams = full if plan.seats else "deterministic teams"
    fallbacks = [note for note in result.degraded if "stand in" in note or "absent" in note]
    weak = f"; rests on a fallback: {fallbacks[0]}" if fallbacks else ""
    if result.degraded and not fallbacks:
        weak = f"; weaker than asked for: {result.degraded[0]}"
    return f"{result.outcome}: {SAYS[result.outcome]} ({teams}){weak}"


def _findings(result: HardenResult, console: Console) -> None:
    entries = found(result)
    hints = result.attack_reports[-1].hints if result.attack_reports else ()
    if not entries and not hints:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("id", "severity", "where", "finding", "state"):
        table.add_column(column, overflow="fold", no_wrap=column in ("id", "severity", "state"))
    for entry in entries:
        f = entry.finding
        table.add_row(
            f.id, f"[{STYLES[f.severity]}]{f.severity}[/]", plain(where(f)), plain(f.description), entry.state
        )
    for hint in hints:
        table.add_row("hint", hint.severity, plain(where(hint)), plain(hint.description), "hint")
    console.print()
    console.print(table)


def _section(console: Console, title: str, lines: "tuple[str, ...] | list[str]") -> None:
    if lines:
        console.print()
        console.print(f"[bold]{title}[/]")
        for line in lines:
            console.print(plain(f"  - {line}"))


def _tests(result: HardenResult, console: Console) -> None:
    if result.tests is None:
        return
    passed = len(result.tests.passed_names)
    console.print()
    console.print(
        plain(f"Tests before any change: {passed} of {len(result.tests.outcomes)} passed {result.tests.problem}")
    )
