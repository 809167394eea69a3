"""Report of a solve session."""

from collections.abc import Iterator, Sequence

from moot.core.report import (
    Block,
    Grid,
    Headline,
    Listing,
    Report,
    Tone,
    count_things,
    language_of,
    list_figures,
    list_items,
    make_row,
    order_caveats,
)
from moot.evidence.trials.analysis import Analysis, format_failures
from moot.protocols.solve.attempts import Attempt
from moot.protocols.solve.script import SolveResult

MOST_FAILURES = 10
MEANINGS = {
    "unsolved": "tests still fail; this is the best attempt",
    "not_tested": "nothing says whether it is right: no tests could be run, and the task gives no examples",
    "inconclusive": "the coder gave no usable code to the end",
    "timed_out": "the time ran out; this is the best so far",
    "budget_exhausted": "the budget ran out; this is the best so far",
    "cancelled": "stopped by the user; this is the best so far",
    "rejected": "rejected at a gate; this is the best so far",
}
TONES: dict[str, Tone] = {"solved": "good", "unsolved": "bad"}


def report_solve(result: SolveResult) -> Report:
    blocks: list[Block] = [
        Headline(
            verdict=result.outcome,
            text=f"{name_solution(result)}: {_meaning(result)}",
            caveats=order_caveats(result.degraded),
            tone=TONES.get(result.outcome, "warning"),
        ),
        *_attempts(result.attempts),
    ]
    best = next((attempt for attempt in result.attempts if attempt.number == result.best), None)
    if best is not None and not best.solved and best.analysis.of + len(best.analysis.problem):
        blocks.append(Listing(title="What fails", text=_failures(best.analysis)))
    blocks += list_items("Checks", result.checks.lines if result.checks else ())
    recalled = [f"{lesson.id} {lesson.text} ({lesson.verdict})" for lesson in result.lessons_told]
    blocks += list_items("Lessons that were told", recalled)
    blocks += list_items("Lessons learnt", [f"{lesson.id} {lesson.text}" for lesson in result.lessons_learnt])
    asked = result.calls or result.calls_failed  # else it is the given code
    if result.code and asked:
        blocks.append(Listing(language=language_of(result.path), text=result.code))
    return Report(blocks=(*blocks, list_figures(result, count_things(result.rounds, "attempt"))))


def name_solution(result: SolveResult) -> str:
    """`solved by attempt 2`."""
    return f"{result.outcome} by attempt {result.best}" if result.best else result.outcome


def _meaning(result: SolveResult) -> str:
    known = f" ({result.known})" if result.known else ""
    said = result.known if result.outcome == "solved" else f"{MEANINGS[result.outcome]}{known}"
    failing = result.checks is not None and result.checks.verdict == "failed"
    return f"{said}; checks of the project fail" if failing else said


def _failures(analysis: Analysis) -> str:
    more = len(analysis.failures) - MOST_FAILURES
    first = format_failures(analysis.model_copy(update={"failures": analysis.failures[:MOST_FAILURES]}))
    return f"{first}\n… and {count_things(more, 'more failure')}" if more > 0 else first


def _attempts(attempts: Sequence[Attempt]) -> Iterator[Block]:
    rows = [
        make_row(
            str(attempt.number) if attempt.number else "given",
            f"{attempt.analysis.passed} of {attempt.analysis.of}",
            f"{attempt.quality.score:.2f}" if attempt.quality else "",
            _describe_outcome(attempt),
        )
        for attempt in attempts
    ]
    if rows:
        yield Grid(columns=("attempt", "passed", "quality", "what came of it"), rows=tuple(rows))


def _describe_outcome(attempt: Attempt) -> str:
    if attempt.absent is not None:
        return f"no code: {attempt.absent}"
    if attempt.solved:
        return "all passed"
    if attempt.reflection is not None:
        return attempt.reflection.what_to_change
    failures = attempt.analysis.failures
    return attempt.analysis.problem or (failures[0].test if failures else "not tested")
