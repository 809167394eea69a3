"""Tests run, watched and put to the proof, as every surface offers it."""

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
    """Both None where nobody asked."""


async def run_measured(code: Code, tests: Tests | None, sandbox: Sandbox, *, coverage: bool, mutants: int) -> Watched:
    """The tests, or the examples in the documentation; the run that decides is one that nobody watches."""
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
    """Knows the secrets of the environment and of these files: what is shown of a run is shown without them."""
    vault = Vault(os.environ)
    vault.learn(*(file.text for file in code.files), *(text for _, text in (tests.files if tests else ())))
    return vault


def mask_run(run: SuiteRun, vault: Vault) -> SuiteRun:
    hide = vault.hide
    outcomes = tuple(o.model_copy(update={"name": hide(o.name), "detail": hide(o.detail)}) for o in run.outcomes)
    return run.model_copy(update={"outcomes": outcomes, "problem": hide(run.problem)})


def limit_time(sandbox: Sandbox, seconds: float) -> Sandbox:
    """The same sandbox for code that may never end: ten times as long as the tests took is enough."""
    if not isinstance(sandbox, Adapter):
        return sandbox
    wall = min(sandbox.limits.wall, max(LEAST_WALL, PATIENCE * seconds))
    return replace(sandbox, limits=sandbox.limits.model_copy(update={"wall": wall}))


def own_tests(code: Code, entry: str) -> Tests | None:
    """The tests among the files that were named, else those with doctests."""
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
    """Each example is put to the code, which never sees what should come of it."""

    examples: Sequence[Example]
    sandbox: Sandbox

    async def __call__(self, code: Code, tests: Tests) -> SuiteRun:
        return examples_run(self.examples, await self.sandbox.probe(code, [e.call for e in self.examples]))


async def quality_of(code: Code, tests: Tests | None, sandbox: Sandbox | None) -> Quality:
    """The figures of code, with its tests where there are any and somewhere to run them."""
    run, coverage = None, None
    if tests is not None and sandbox is not None:
        run = await sandbox.run(code, tests)
        coverage = (await sandbox.cover(code, tests)).coverage
    own = without_tests(code)
    return rate_quality(own, StaticTeam().scan(own), Linters().lint(own), run, coverage)


def without_tests(code: Code) -> Code:
    """Tests that lie among the code are judged by what they reach, not by how involved they are."""
    own = own_code(code)
    return own if own.files else code
