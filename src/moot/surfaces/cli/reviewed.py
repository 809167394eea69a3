"""How a review is shown to a person, and what it leaves in files."""

from collections.abc import Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table

from moot.core.errors import UsageError
from moot.core.types import Result
from moot.protocols.review.script import ArtefactReview, ReviewResult
from moot.runtime.runner import Plan
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.screen import err, out, plain, print_json, spent_lines
from moot.surfaces.reviewing import exit_code, record_decisions, write_revisions
from moot.text.controls import clean
from moot.text.secrets import Vault

STYLES = {"critical": "bold red", "significant": "yellow", "minor": "dim"}
SAYS = {
    "no_objections": "the adversary has nothing left to hold against it",
    "converged": "nothing is left that is worth another round; the defender had the last word",
    "deadlock": "neither side moves; the defender had the last word",
    "unresolved": "the rounds are spent and something grave still stands; the defender had the last word",
    "challenged": "challenges that nobody answered",
    "inconclusive": "the adversary gave nothing that could be used",
    "structural_only": "structural checks alone; nobody challenged it",
    "switched_off": "structural checks alone; the project's configuration wants no debate here",
    "timed_out": "the time ran out; this is what was said so far",
    "budget_exhausted": "the budget ran out; this is what was said so far",
    "cancelled": "stopped by the user; this is what was said so far",
    "rejected": "rejected at a gate; this is what was said so far",
}


def finish(result: Result, plan: Plan, vault: Vault, ending: Ending) -> int:
    """Show the result, write the revised artefacts if asked to, and note the decisions."""
    assert isinstance(result, ReviewResult)
    if ending.json:
        print_json(result)
    else:
        show_result(result, plan)
    if ending.write and result.resumable and any(r.revised for r in result.artefacts):
        err().print(plain("nothing was written: the review is not at its end"))
    written, problems = write_revisions(result, plan, vault) if ending.write else ([], [])
    if written:
        err().print(plain(f"written: {', '.join(written)}"))
    if noted := record_decisions(result, plan, frozenset(written)):
        err().print(plain(f"the last word is noted in {noted}"))
    if problems:
        raise UsageError("; ".join(problems))
    return exit_code(result, plan, frozenset(written))


def show_result(result: ReviewResult, plan: Plan) -> None:
    console = out()
    for review in result.artefacts:
        _review(review, result, console)
        console.print()
    if len(result.artefacts) > 1:
        _summary(result, console)
    _section(console, "Weaker than asked for", result.degraded)
    for line in spent_lines(result):
        console.print(plain(line))
    console.print(plain(f"session {result.session_id}, {result.rounds} rounds, {result.duration:.1f} s"))


def _review(review: ArtefactReview, result: ReviewResult, console: Console) -> None:
    weak = [note for note in result.degraded if ": absent, " in note] if review.outcome == "inconclusive" else []
    rests = f"; {weak[0]}" if weak else ""
    why = f" ({review.why})" if review.why else ""
    console.print(plain(f"{review.path}: {review.outcome}: {SAYS[review.outcome]}{why}{rests}"))
    console.print(plain(f"  type: {review.type}, {review.guessed}"))
    _faults(review, console)
    _challenges(review, console)
    if review.dropped:
        many = "1 challenge" if review.dropped == 1 else f"{review.dropped} challenges"
        why = review.dropped_challenges[0].why
        console.print(plain(f"  {many} dropped: no evidence that can be checked ({why})"))
    for turn in review.rounds:
        for again in turn.repeated:
            console.print(plain(f"  round {turn.round}: a challenge is not counted, {again.why}"))
        if turn.revision_refused:
            console.print(plain(f"  round {turn.round}: the revision was not accepted: {turn.revision_refused}"))
    if review.diff:
        console.print()
        if console.is_terminal:
            console.print(Syntax(clean(review.diff), "diff", background_color="default"))
        else:
            console.print(plain(review.diff.rstrip("\n")))


def _faults(review: ArtefactReview, console: Console) -> None:
    if not review.faults:
        console.print(plain("  structural checks: nothing found"))
        return
    left = {(f.rule, f.what) for f in review.faults_left}
    table = _table("line", "severity", "structural finding", "what to do", "state")
    for f in review.faults:
        state = "open" if (f.rule, f.what) in left else "mended"
        table.add_row(
            str(f.line), f"[{STYLES[f.severity]}]{f.severity}[/]", plain(f.what), plain(f.recommendation), state
        )
    console.print(table)


def _challenges(review: ArtefactReview, console: Console) -> None:
    if not review.challenges:
        return
    table = _table("id", "severity", "category", "challenge", "became of it")
    for v in review.challenges:
        c = v.challenge
        state = v.state if v.confirmed or v.state == "unresolved" else f"{v.state}, says the defender"
        reason = f": {v.answer.reason}" if v.answer else ""
        table.add_row(
            v.id,
            f"[{STYLES[c.severity]}]{c.severity}[/]",
            plain(c.category),
            plain(
                f"{c.concern}\nevidence: {c.evidence}" + (f"\nadvice: {c.recommendation}" if c.recommendation else "")
            ),
            plain(f"{state}{reason}"),
        )
    console.print()
    console.print(table)


def _summary(result: ReviewResult, console: Console) -> None:
    table = _table("artefact", "outcome", "findings", "challenges", "standing", "dropped", "revised")
    for r in result.artefacts:
        figures = [str(n) for n in (len(r.faults_left), len(r.challenges), len(r.standing()), r.dropped)]
        table.add_row(plain(r.path), r.outcome, *figures, "yes" if r.revised else "no")
    console.print(table)
    console.print()


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in ("id", "severity", "line", "state", "outcome"))
    return table


def _section(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.print(f"[bold]{title}[/]")
        for line in lines:
            console.print(plain(f"  - {line}"))
        console.print()
