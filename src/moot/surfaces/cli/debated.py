"""How a debate and its winner are shown to a person."""

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from moot.core.types import Result
from moot.protocols.debate.types import DebateInput, DebateResult, Vote
from moot.runtime.runner import Plan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import err, out, plain, print_json, section, spent_lines, weakness
from moot.surfaces.debating import exit_code
from moot.surfaces.solving import why_withheld, write_out
from moot.text.controls import clean
from moot.text.secrets import Vault

SAYS = {
    "agreed": "",
    "chosen": "without the agreement that was asked for",
    "contested": "the best candidates behave differently, and nothing that was run says which is right",
    "inconclusive": "nothing came of it that could be relied on",
    "timed_out": "the time ran out; this is the best so far",
    "budget_exhausted": "the budget ran out; this is the best so far",
    "cancelled": "stopped by the user; this is the best so far",
    "rejected": "rejected at a gate; this is the best so far",
}


ENDS = frozenset({"alike_and_green", "tests", "consensus", "unchanged", "max_rounds"})
"""Stops by which a debate comes to its own end."""


def finish(result: Result, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write the winner where it was asked for."""
    assert isinstance(result, DebateResult)
    if ending.json:
        print_json(result)
    else:
        show_result(result, plan)
    if written := write_out(result.code or result.text, result, plan, vault):
        doubt = "" if exit_code(result) == 0 else f" ({result.outcome}: do not rely on it)"
        err().print(plain(f"written: {written}{doubt}"))
    elif plan.notes.get("out"):
        why = (
            why_withheld(result, plan) if result.resumable or result.code or result.text else ""
        ) or "there is no winner"
        err().print(plain(f"nothing was written: {why}"))
    return exit_code(result)


def show_result(result: DebateResult, plan: Plan) -> None:
    console = out()
    console.print(plain(headline(result)))
    if result.why:
        console.print(plain(f"  {result.why}"))
    _phases(result, console)
    _candidates(result, console)
    tests = [f"{c.id} {c.call} == {c.expected} ({c.status}: {c.why})" for c in result.claims]
    section(console, "Tests from the words of the task", tests)
    if result.votes:
        _vote(result.votes[-1], console)
    section(console, "Dissent", result.dissent)
    section(console, "Assumptions", result.assumptions)
    section(console, "Remaining risks", result.remaining_risks)
    _winner(result, plan, console)
    section(console, "Weaker than asked for", result.degraded)
    console.print()
    for line in (*account(result), *spent_lines(result)):
        console.print(plain(line))
    console.print(plain(f"session {result.session_id}, {result.rounds} rounds, {result.duration:.1f} s"))


def headline(result: DebateResult) -> str:
    """The first line: the outcome, and on what it rests."""
    who = f" {result.winner}" if result.winner else ""
    untested = "not tested" if result.path else "not run"
    short = unresolved(result) or SAYS.get(result.outcome, "")
    said = "; ".join(filter(None, (short, result.known if result.tested else untested)))
    weak = weakness(result.degraded)
    return f"{result.outcome}{who}: {said}{weak}"


def unresolved(result: DebateResult) -> str:
    if result.outcome != "unresolved":
        return ""
    failing = result.passed < result.of or not result.remaining_risks
    return "it fails tests" if failing else "critical or high findings are left in it"


def account(result: DebateResult) -> list[str]:
    """What was saved, helped and harmed."""
    saved = max(result.calls_full_run - result.calls, 0)
    at_its_end = not result.resumable and not result.calls_failed and result.stop_reason in ENDS
    rest = f"{saved} saved" if at_its_end else "nothing was saved: it did not come to its end"
    lines = [f"{result.calls} calls; {result.calls_full_run} in a full run, {rest}"]
    flips = result.flips
    if flips.by != "nothing":
        change = "helped" if flips.helped else "harmed" if flips.harmed else "changed nothing"
        came = {True: "passes", False: "fails", None: "was not run on"}
        by = "the hidden tests" if flips.by == "hidden" else "the tests everybody saw"
        lines.append(
            f"the vote of the first answers {came[flips.baseline]} {by}, the result {came[flips.result]} them: "
            f"the debate {change}"
        )
    return lines


def _phases(result: DebateResult, console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("round", "phase", "calls", "what it did"):
        table.add_column(column, overflow="fold", no_wrap=column != "what it did")
    for report in result.phases:
        said = report.said if report.status == "held" else f"{report.status}: {report.said}"
        short = f"; cut short: {report.cut}" if report.cut else ""
        table.add_row(str(report.round), report.phase, str(report.calls), plain(said + short))
    console.print()
    console.print(table)


def _candidates(result: DebateResult, console: Console) -> None:
    lines = []
    for candidate in result.candidates:
        checked = candidate.checked
        ran = f"{checked.passed} of {checked.of} tests" if checked.of else "not tested"
        agreed = f", {checked.agreed} of {checked.agreed_of} agreed" if checked.agreed_of else ""
        from_ = f" from {candidate.parent}" if candidate.parent else ""
        dropped = f"; set aside: {candidate.dropped}" if candidate.dropped else ""
        lines.append(f"{candidate.id} by {candidate.seat} ({candidate.phase}{from_}): {ran}{agreed}{dropped}")
    section(console, "Candidates", lines)


def _vote(vote: Vote, console: Console) -> None:
    if not vote.ballots:
        return
    lines = []
    for ballot in vote.ballots:
        order = " > ".join("=".join(group) for group in ballot.ranking)
        sure = "" if ballot.confidence is None else f" ({ballot.confidence:.2f})"
        lines.append(f"{ballot.voter}: {order}{sure} {clean(vote.reasons.get(ballot.voter, ''))}".rstrip())
    section(console, f"Ballots, round {vote.round}, counted by {vote.election.method}", lines)
    names = vote.candidates
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("beats", *names):
        table.add_column(column)
    for name in names:
        row = vote.election.pairwise.get(name, {})
        table.add_row(name, *(str(row.get(other, "")) if other != name else "-" for other in names))
    console.print()
    console.print(table)


def _winner(result: DebateResult, plan: Plan, console: Console) -> None:
    if not (result.code or result.text):
        return
    console.print()
    if result.code and console.is_terminal:
        language = DebateInput.model_validate(plan.input).language
        console.print(Syntax(clean(result.code), language, background_color="default"))
    else:
        console.print(plain((result.code or result.text).rstrip("\n")))
