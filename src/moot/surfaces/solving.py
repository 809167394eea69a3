"""`solve` as every surface offers it: a task in, a session, the best attempt, and the file it may be written to."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.types import SUFFIXES, Language, Result, Tests
from moot.edge.files.outputs import check_output, write_output
from moot.edge.files.sources import chosen_language, read_code, read_tests
from moot.protocols.solve.attempts import task_examples
from moot.protocols.solve.script import SolveInput, SolveResult
from moot.runtime.runner import Plan, outcome_of
from moot.surfaces.branching import branch_notes
from moot.surfaces.hardening import hidden_tests, learn_all
from moot.surfaces.setup import Settings
from moot.surfaces.toolset import check_tools, repository_of
from moot.text.secrets import Vault

EXIT_CODES = {"solved": 0, "unsolved": 1}
CUT_SHORT = 2
INTERRUPTED = 130
WITHHELD = {
    "unresolved": "it fails tests, or grave findings are left in it",
    "unsolved": "tests still fail",
    "rejected": "a person rejected it",
}
"""Outcomes with which nothing is written unless somebody says that it shall be."""
NO_MODEL = (
    "solve needs a model to write code: set `model` in moot.toml or MOOT_MODEL, or give --model PROVIDER:MODEL; "
    "to test code that is there already: --file FILE --no-llm"
)
IMPORTS: Mapping[str, str] = {
    "python": r"^\s*(?:from\s+([A-Za-z_][\w.]*)\s+import|import\s+([A-Za-z_][\w.]*))",
    "javascript": r"(?:from\s+|require\(|import\()\s*['\"]\.{1,2}/([^'\"]+)['\"]",
}
RUNNERS = frozenset({"pytest", "unittest", "hypothesis", "doctest", "numpy", "conftest"})


@dataclass(frozen=True)
class Asked:
    """A task as a user gives it."""

    task: str
    tests: str | None = None
    file: str | None = None
    language: str | None = None
    out: str | None = None
    repo: str | None = None
    branch: bool = False
    write_anyway: bool = False
    force: bool = False
    """Whether `out` may be overwritten."""


def exit_code(result: SolveResult) -> int:
    """Solved is not enough where a check of the project fails."""
    if result.outcome == "solved" and result.checks and result.checks.verdict == "failed":
        return EXIT_CODES["unsolved"]
    return INTERRUPTED if result.outcome == "cancelled" else EXIT_CODES.get(result.outcome, CUT_SHORT)


def solve_plan(settings: Settings, asked: Asked, vault: Vault, notes: Mapping[str, JsonValue]) -> Plan:
    """The session to run. Secrets in the task, the code and the tests are masked before anything else sees them."""
    check_output(asked.out, force=asked.force, flag="--out")
    if not asked.task.strip():
        raise UsageError("there is no task; say what is to be solved")
    tests = read_tests(asked.tests) if asked.tests else None
    start = read_code([asked.file], asked.language, None, bytes) if asked.file else None
    file = start.code.files[0] if start else None
    learn_all(vault, start.code if start else None, tests)
    vault.learn(asked.task)
    tests = hidden_tests(tests, vault) if tests else None
    language = file.language if file else chosen_language(asked.language) or (tests.language if tests else "python")
    task = vault.hide(asked.task.strip())
    given = SolveInput(
        task=task,
        language=language,
        path=PurePosixPath(file.path).name if file else solution_path(tests, language),
        tests=tests,
        start=vault.hide(file.text) if file else None,
        repository=repository_of(asked.file) if asked.file else "",
    )
    rules = settings.rules("solve")
    tools = check_tools(rules["tools"], settings)
    origins: JsonValue = {shown: list(origin) for shown, origin in start.origins.items()} if start else {}
    ci = settings.ci()
    runs_code = bool(tests or tools or task_examples(task, language)) or ci.sandboxed("post_optimization")
    own: dict[str, JsonValue] = {"origins": origins, "runs_code": runs_code, "ci": ci.model_dump(mode="json")}
    own |= branch_notes(asked.repo, {given.path: asked.file}, branch=asked.branch)
    seats = settings.seats("solve")
    if asked.out:
        own |= {"out": os.path.abspath(asked.out), "write_anyway": asked.write_anyway, "force": asked.force}
    return Plan(
        protocol="solve",
        topic=" ".join(task.split())[:200],
        input=given.model_dump(mode="json"),
        rules=rules,
        limits=settings.limits(),
        gates=settings.gates("solve"),
        seats=seats,
        notes={**notes, **own, **settings.endpoint_notes(seats)},
    )


def check_seated(plan: Plan, *, no_llm: bool) -> None:
    """Without a model there must be code to test, and the user must have asked for no more than that."""
    if "coder" not in plan.seats and not (no_llm and plan.input.get("start") is not None):
        raise UsageError(NO_MODEL)


def solution_path(tests: Tests | None, language: Language) -> str:
    """The file that the tests look for; `solution` where they do not say."""
    suffix = next(suffix for suffix, known in SUFFIXES.items() if known == language)
    return imported_by(tests, suffix) or f"solution{suffix}" if tests else f"solution{suffix}"


def imported_by(tests: Tests, suffix: str) -> str:
    """The first module a test imports that is neither a test, nor Python's, nor a test runner's."""
    pattern = IMPORTS.get("python" if suffix == ".py" else "javascript" if suffix in (".js", ".ts") else "")
    own = {PurePosixPath(path).stem for path, _ in tests.files}
    for _, text in tests.files if pattern else ():
        for found in re.finditer(pattern or "", text, re.MULTILINE):
            name = next(group for group in found.groups() if group)
            if suffix != ".py":
                return name if PurePosixPath(name).suffix in SUFFIXES else f"{name}{suffix}"
            head = name.partition(".")[0]
            if head not in own | RUNNERS | sys.stdlib_module_names:
                return f"{name.replace('.', '/')}.py"
    return ""


def why_withheld(result: Result, plan: Plan) -> str:
    """Why a text is not written to the file that was asked for; empty where it may be."""
    if result.resumable:
        return "the session is not at its end"
    outcome = outcome_of(result)
    if outcome in WITHHELD and not plan.notes.get("write_anyway"):
        return f"{outcome}: {WITHHELD[outcome]}; --write-anyway writes it all the same"
    return ""


def write_out(text: str, result: Result, plan: Plan, vault: Vault) -> str:
    """The text into the file that was asked for; gives its path, or nothing where there is none, it is withheld, or
    more may come."""
    out = plan.notes.get("out")
    if not isinstance(out, str) or not text or why_withheld(result, plan):
        return ""
    write_output(out, vault.reveal(text).encode("utf-8"), force=bool(plan.notes.get("force")))
    return out
