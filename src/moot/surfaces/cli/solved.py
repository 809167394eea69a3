"""How a solved task, or one that is not, is shown to a person."""

from collections.abc import Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from moot.core.types import Result
from moot.evidence.trials.analysis import Analysis, told_all
from moot.protocols.solve.attempts import Attempt
from moot.protocols.solve.script import SolveInput, SolveResult
from moot.runtime.runner import Plan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import err, out, plain, print_json, section, spent_lines, weakness
from moot.surfaces.solving import exit_code, why_withheld, write_out
from moot.text.controls import clean
from moot.text.secrets import Vault

SAYS = {
    "unsolved": "tests still fail; this is the best attempt",
    "not_tested": "nothing says whether it is right: no tests could be run, and the task gives no examples",
    "inconclusive": "the coder gave nothing that could be used to the end",
    "timed_out": "the time ran out; this is the best so far",
    "budget_exhausted": "the budget ran out; this is the best so far",
    "cancelled": "stopped by the user; this is the best so far",
    "rejected": "rejected at a gate; this is the best so far",
}


def finish(result: Result, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Show the result, and write the best attempt where it was asked for."""
    assert isinstance(result, SolveResult)
    if ending.json:
        print_json(result)
    else:
        show_result(result, plan)
    if written := write_out(result.code, result, plan, vault):
        doubt = "" if exit_code(result) == 0 else f" ({headline(result).partition(':')[0]}: do not rely on it)"
        err().print(plain(f"written: {written}{doubt}"))
    elif plan.notes.get("out"):
        why = (why_withheld(result, plan) if result.resumable or result.code else "") or "there is no code"
        err().print(plain(f"nothing was written: {why}"))
    return exit_code(result)


def _failures(analysis: Analysis, most: int = 10) -> list[str]:
    first = analysis.model_copy(update={"failures": analysis.failures[:most]})
    more = len(analysis.failures) - most
    return [*told_all(first).split("\n"), *([f"… and {more} more failures"] if more > 0 else [])]


def show_result(result: SolveResult, plan: Plan) -> None:
    console = out()
    console.print(plain(headline(result)))
    _attempts(result.attempts, console)
    best = next((attempt for attempt in result.attempts if attempt.number == result.best), None)
    if best is not None and not best.solved and best.analysis.of + len(best.analysis.problem):
        section(console, "What fails", _failures(best.analysis), mark="")
    section(console, "Checks", result.checks.lines if result.checks else ())
    _lessons(result, console)
    if result.code and plan.seats:
        console.print()
        language = SolveInput.model_validate(plan.input).language
        if console.is_terminal:
            console.print(Syntax(clean(result.code), language, background_color="default"))
        else:
            console.print(plain(result.code.rstrip("\n")))
    section(console, "Weaker than asked for", result.degraded)
    console.print()
    for line in spent_lines(result):
        console.print(plain(line))
    if result.branch:
        console.print(plain(f"each version is a commit on the branch {result.branch}"))
    console.print(plain(f"session {result.session_id}, {result.rounds} attempts, {result.duration:.1f} s"))


def headline(result: SolveResult) -> str:
    """The first line: the outcome, and on what it rests."""
    which = "" if not result.best else f" by attempt {result.best}"
    known = f" ({result.known})" if result.known else ""
    said = result.known if result.outcome == "solved" else f"{SAYS[result.outcome]}{known}"
    if result.checks and result.checks.verdict == "failed":
        said += "; checks of the project fail"
    weak = weakness(result.degraded)
    return f"{result.outcome}{which}: {said}{weak}"


def _attempts(attempts: Sequence[Attempt], console: Console) -> None:
    if not attempts:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("attempt", "passed", "quality", "what came of it"):
        table.add_column(column, overflow="fold", no_wrap=column != "what came of it")
    for attempt in attempts:
        table.add_row(
            str(attempt.number) if attempt.number else "given",
            f"{attempt.analysis.passed} of {attempt.analysis.of}",
            f"{attempt.quality.score:.2f}" if attempt.quality else "",
            plain(_became(attempt)),
        )
    console.print()
    console.print(table)


def _became(attempt: Attempt) -> str:
    if attempt.absent is not None:
        return f"no code: {attempt.absent}"
    if attempt.solved:
        return "all passed"
    if attempt.reflection is not None:
        return attempt.reflection.what_to_change
    return attempt.analysis.problem or (
        attempt.analysis.failures[0].test if attempt.analysis.failures else "not tested"
    )


def _lessons(result: SolveResult, console: Console) -> None:
    told = [f"{lesson.id} {lesson.text} ({lesson.verdict})" for lesson in result.lessons_told]
    section(console, "Lessons that were told", told)
    section(console, "Lessons learnt", [f"{lesson.id} {lesson.text}" for lesson in result.lessons_learnt])
