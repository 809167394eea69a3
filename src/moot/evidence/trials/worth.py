"""Mutation testing: do the tests notice wrong code?"""

import asyncio
from collections.abc import Awaitable, Callable

from moot.core.measures import MutantRun, MutationScore
from moot.core.types import Code, SuiteRun, Tests
from moot.evidence.trials.analysis import of_suite
from moot.evidence.trials.mutants import MAX_MUTANTS, Mutant, mutants, score
from moot.evidence.trials.values import is_named_as_test

Run = Callable[[Code, Tests], Awaitable[SuiteRun]]
"""A sandbox's `run`, or a room's `execute`."""
NOT_TESTED = "not tested: there is no test that passes on the code as it is"
SECONDS = 300.0


async def mutation_score(
    code: Code, tests: Tests, run: Run, limit: int = MAX_MUTANTS, seconds: float = SECONDS, at_once: int = 1
) -> MutationScore:
    """Put at most `limit` small faults into the code, one at a time, and count those the tests notice.

    Tests that fail on the original code do not count. After `seconds` no further fault is tried, and the rest is not
    counted. In a session `at_once` is 1, so that its steps have an order.
    """
    before = await run(code, tests)
    if not before.passed_names:
        return MutationScore(score=0.0, problem=before.problem or NOT_TESTED, seconds=before.seconds)
    made = mutants(own_code(code), limit)
    if not made:
        return MutationScore(score=None, problem="there is nothing in the code to put a fault into")
    fates: list[MutantRun] = []
    spent = before.seconds
    for start in range(0, len(made), at_once):
        some = made[start : start + at_once]
        if spent >= seconds:
            fates += [_fate(mutant, "not_applicable", f"not tried: {seconds:g} s were over") for mutant in some]
            continue
        runs = await asyncio.gather(*(_on(mutant, code, tests, run) for mutant in some))
        spent += sum(each.seconds for each in runs)
        fates += [judge_mutant(mutant, before, after) for mutant, after in zip(some, runs, strict=True)]
    tried = [mutant.fate == "killed" for mutant in fates if mutant.fate != "not_applicable"]
    why = "" if tried else "none of the faults could be tried"
    return MutationScore(score=score(tried), mutants=tuple(fates), problem=why, seconds=spent)


def own_code(code: Code) -> Code:
    return Code(files=tuple(file for file in code.files if not is_named_as_test(file.path)))


def judge_mutant(mutant: Mutant, before: SuiteRun, after: SuiteRun) -> MutantRun:
    if _not_built(after):
        return _fate(mutant, "not_applicable", "with this fault it cannot be built")
    if lost := sorted(before.passed_names - after.passed_names):
        return _fate(mutant, "killed", after.problem or lost[0])
    return _fate(mutant, "survived")


async def _on(mutant: Mutant, code: Code, tests: Tests, run: Run) -> SuiteRun:
    """Run the tests on the mutant. Tests inside a file of the code, such as doctests, change with it."""
    text = next(file.text for file in mutant.code.files if file.path == mutant.file)
    files = tuple((path, text if path == mutant.file else given) for path, given in tests.files)
    return await run(code.with_texts({mutant.file: text}), tests.model_copy(update={"files": files}))


def _fate(mutant: Mutant, fate: str, why: str = "") -> MutantRun:
    fields = {"file": mutant.file, "line": mutant.line, "what": mutant.what, "fate": fate, "why": why[:300]}
    return MutantRun.model_validate(fields)


def _not_built(run: SuiteRun) -> bool:
    """A compile error says nothing about the tests."""
    failures = of_suite(run).failures
    return bool(failures) and all(failure.error == "build failed" for failure in failures)
