"""How a hardened piece of code is shown to a person, and written where it was asked for."""

import json
from collections import Counter

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from moot.core.findings import by_gravity, where
from moot.core.types import Result, SuiteRun
from moot.edge.files.outputs import write_output
from moot.protocols.harden.race_baseline import why_not_run
from moot.protocols.harden.script import HardenResult
from moot.runtime.runner import Plan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import err, out, plain, print_json, section, spent_lines
from moot.surfaces.hardening import exit_code, found, write_result
from moot.text.controls import clean
from moot.text.sarif import sarif
from moot.text.secrets import Vault

MOST_SHOWN = 3
STYLES = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "dim"}
SAYS = {
    "hardened": "the last attack found nothing new and nothing old still stands",
    "risk_accepted": "the risk that is left is below the threshold",
    "unresolved": "findings are left after the last round",
    "inconclusive": "it cannot be shown that nothing is left or broken",
    "timed_out": "the time ran out; this is the best so far",
    "budget_exhausted": "the budget ran out; this is the best so far",
    "cancelled": "stopped by the user; this is the best so far",
    "rejected": "rejected at a gate; this is the best so far",
}


def finish(result: Result, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write what was asked to be written."""
    assert isinstance(result, HardenResult)
    if ending.json:
        print_json(result)
    else:
        show_result(result, plan)
    if ending.sarif:
        _write_sarif(result, ending)
    if ending.write and result.diff:
        written = write_result(result, plan, vault)
        err().print(
            plain(f"written: {', '.join(written)}" if written else "nothing to write to: the code came from no file")
        )
    elif vault.count and result.diff and not ending.write:
        err().print(plain(f"{vault.count} secrets are masked in what is shown; --write keeps them as they are"))
    return exit_code(result)


def _write_sarif(result: HardenResult, ending: Ending) -> None:
    """Before `--write` the files hold every finding; after it, only what is left."""
    entries = [f for f in found(result) if f.state == "open" or not ending.write]
    seen = [f.latest if ending.write else f.finding for f in entries]
    report = sarif(seen, frozenset(f.finding.id for f in entries if f.state == "patched"))
    write_output(ending.sarif or "", f"{json.dumps(report, indent=2)}\n".encode(), force=ending.force)


def show_result(result: HardenResult, plan: Plan) -> None:
    console = out()
    console.print(plain(headline(result, plan)))
    console.print(plain(summary(result)))
    _findings(result, console)
    worst(result, console)
    if result.diff:
        console.print()
        if console.is_terminal:
            console.print(Syntax(clean(result.diff), "diff", background_color="default"))
        else:
            console.print(plain(result.diff.rstrip("\n")))
    section(console, "What remains", result.remaining_risks)
    section(console, "Not analysed", [f"{s.file}:{s.line}: {s.why}" for s in result.not_analysed])
    section(console, "Weaker than asked for", result.degraded)
    console.print()
    for line in spent_lines(result):
        console.print(plain(line))
    console.print(plain(f"session {result.session_id}, {result.rounds} rounds, {result.duration:.1f} s"))


def headline(result: HardenResult, plan: Plan) -> str:
    """The first line: the outcome, and on what it rests."""
    why = why_not_run(result.tests) if result.tests else ""
    untested = f"not tested: the given tests cannot run ({why}); " if why else ""
    full = f"{result.calls} calls, {result.calls_full_run} questions in a full run"
    teams = full if plan.seats else "deterministic teams"
    fallbacks = [note for note in result.degraded if "stand in" in note or "absent" in note]
    weak = f"; rests on a fallback: {fallbacks[0]}" if fallbacks else ""
    others = [note for note in result.degraded if not note.startswith("not tested")]
    if others and not fallbacks:
        weak = f"; weaker than asked for: {others[0]}"
    return f"{untested}{result.outcome}: {SAYS[result.outcome]} ({teams}){weak}"


def summary(result: HardenResult) -> str:
    """The second line: how many findings are patched and left, and what the tests said before and after."""
    states = Counter(entry.state for entry in found(result))
    gone = f"{states['gone']} gone with other changes, " if states["gone"] else ""
    return f"{states['patched']} patched, {gone}{states['open']} left; {_tested(result)}"


def _tested(result: HardenResult) -> str:
    before, after = result.tests, result.tests_after
    if before is None:
        return "not tested: no tests were given"
    if why_not_run(before):
        return "not tested: the given tests cannot run"
    counted = f"tests {_passed(before)} before"
    if not any(defense.accepted for defense in result.defense_reports):
        return f"{counted}; nothing was patched"
    if after is None:
        return f"{counted}; the patches are not tested: no test passed before them"
    return f"{counted}, {_passed(after)} after"


def _passed(run: SuiteRun) -> str:
    return f"{len(run.passed_names)} of {len(run.outcomes)}"


def worst(result: HardenResult, console: Console) -> None:
    """How the gravest findings are exploited, and the way of the value; what is left comes first."""
    told = [entry for entry in found(result) if entry.finding.path or entry.finding.exploit]
    order = {f.id: place for place, f in enumerate(by_gravity(entry.finding for entry in told))}
    gravest = sorted(told, key=lambda entry: (entry.state != "open", order[entry.finding.id]))[:MOST_SHOWN]
    if not gravest:
        return
    console.print()
    console.print("The worst findings", style="bold")
    for entry in gravest:
        f = entry.finding
        console.print(plain(f"  {f.id} ({f.severity}, {entry.state}) {where(f)}: {f.description}"))
        for step in f.path:
            console.print(plain(f"    {step.file}:{step.line}: {step.what}"))
        if f.exploit:
            console.print(plain(f"    exploit: {f.exploit}"))


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
