"""Runs tests and measures coverage, mutation score and quality."""

import ast
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from moot.core.errors import UsageError
from moot.core.measures import Coverage, MutationScore, Quality
from moot.core.ports import Sandbox
from moot.core.types import Code, SuiteRun, Tests
from moot.edge.sandbox.adapter import Adapter
from moot.edge.tools.linters import Linters
from moot.evidence.trials.examples import examples_in
from moot.evidence.trials.outcomes import examples_run
from moot.evidence.trials.rating import rate_quality
from moot.evidence.trials.values import Example, is_named_as_test
from moot.evidence.trials.worth import SECONDS, mutation_score, own_code
from moot.scan import StaticTeam
from moot.text.secrets import Vault

PATIENCE = 10
LEAST_WALL = 5.0
DOCTEST = re.compile(r"^\s*>>> ", re.MULTILINE)
NOTHING = "nothing to run: name the tests with --tests, or add examples to the docstrings"


@dataclass(frozen=True)
class Watched:
    run: SuiteRun
    coverage: Coverage | None = None
    mutation: MutationScore | None = None
    """Both None unless requested."""


async def run_measured(code: Code, tests: Tests | None, sandbox: Sandbox, *, coverage: bool, mutants: int) -> Watched:
    """Runs the tests, or documented examples. The run that decides is not instrumented."""
    given = tests or Tests(files=())
    trial = sandbox.run if tests else _examples_on(find_documented_examples(code), sandbox)
    run = await trial(code, given)
    reached = None
    if coverage:
        unwatched = Coverage(problem="coverage needs tests; examples are run one by one without measuring")
        reached = (await sandbox.cover(code, given)).coverage if tests else unwatched
    if not mutants:
        return Watched(run, reached)
    brief = limit_time(sandbox, run.seconds)
    trial = brief.run if tests else _examples_on(find_documented_examples(code), brief)
    return Watched(run, reached, await mutation_score(code, given, trial, mutants, SECONDS, os.cpu_count() or 1))


def vault_of(code: Code, tests: Tests | None) -> Vault:
    """A vault with the secrets of the environment and these files, for masking output."""
    vault = Vault(os.environ)
    vault.learn(*(file.text for file in code.files), *(text for _, text in (tests.files if tests else ())))
    return vault


def mask_run(run: SuiteRun, vault: Vault) -> SuiteRun:
    hide = vault.hide
    outcomes = tuple(o.model_copy(update={"name": hide(o.name), "detail": hide(o.detail)}) for o in run.outcomes)
    return run.model_copy(update={"outcomes": outcomes, "problem": hide(run.problem)})


def limit_time(sandbox: Sandbox, seconds: float) -> Sandbox:
    """The sandbox with a timeout of ten times the tests' run time, for code that may not end."""
    if not isinstance(sandbox, Adapter):
        return sandbox
    wall = min(sandbox.limits.wall, max(LEAST_WALL, PATIENCE * seconds))
    return replace(sandbox, limits=sandbox.limits.model_copy(update={"wall": wall}))


def own_tests(code: Code, entry: str) -> Tests | None:
    """The test files among those given, else those with doctests."""
    named = [f for f in code.files if is_named_as_test(f.path)]
    chosen = named or [f for f in code.files if f.language == "python" and DOCTEST.search(f.text)]
    if not chosen:
        return None
    files = tuple((f.path, f.text) for f in chosen)
    return Tests(files=files, language=chosen[0].language, entry=entry)


def find_documented_examples(code: Code) -> list[Example]:
    """Examples in prose, like `f(2) -> 4`, in the docstrings of Python files."""
    return [e for file in code.files if file.language == "python" for e in _in_docstrings(file.text)]


def _in_docstrings(text: str) -> list[Example]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return [e for f in functions for e in examples_in(ast.get_docstring(f) or "", f.name)]


def _examples_on(examples: Sequence[Example], sandbox: Sandbox) -> "_Trial":
    if not examples:
        raise UsageError(NOTHING)
    return _Trial(examples, sandbox)


@dataclass(frozen=True)
class _Trial:
    """Runs each example; the code never sees the expected value."""

    examples: Sequence[Example]
    sandbox: Sandbox

    async def __call__(self, code: Code, tests: Tests) -> SuiteRun:
        return examples_run(self.examples, await self.sandbox.probe(code, [e.call for e in self.examples]))


async def quality_of(code: Code, tests: Tests | None, sandbox: Sandbox | None) -> Quality:
    run, coverage = None, None
    if tests is not None and sandbox is not None:
        run = await sandbox.run(code, tests)
        coverage = (await sandbox.cover(code, tests)).coverage
    own = without_tests(code)
    return rate_quality(own, StaticTeam().scan(own), Linters().lint(own), run, coverage)


def without_tests(code: Code) -> Code:
    """Leaves out tests: they are rated by coverage, not by complexity."""
    own = own_code(code)
    return own if own.files else code
