"""Solve beyond its descriptor: existing code, and the file name that the tests import."""

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from moot.core.errors import UsageError
from moot.core.protocol import Option
from moot.core.report import GIVE_A_MODEL
from moot.core.types import SUFFIXES, Code, Language, Tests, Value
from moot.edge.files.sources import parse_language
from moot.protocols.solve.attempts import task_examples
from moot.protocols.solve.exit_code import exit_code
from moot.protocols.solve.report import name_solution
from moot.protocols.solve.script import SolveResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import Delivery, Extension
from moot.surfaces.history.result_files import OutOptions, deliver_text, split_output
from moot.surfaces.session.plans import Request, make_plan, origin_of, repository_at
from moot.surfaces.session.request_bodies import ENTRY, Files, Line, Long, check_path, check_text, tests_of
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.surfaces.cli.output_options import Ending

NO_MODEL = f"solve needs a model to write code: {GIVE_A_MODEL}; to test existing code without one: --file FILE --no-llm"
IMPORTS: Mapping[str, str] = {
    "python": r"^\s*(?:from\s+([A-Za-z_][\w.]*)\s+import|import\s+([A-Za-z_][\w.]*))",
    "javascript": r"(?:from\s+|require\(|import\()\s*['\"]\.{1,2}/([^'\"]+)['\"]",
}
RUNNERS = frozenset({"pytest", "unittest", "hypothesis", "doctest", "numpy", "conftest"})


class SolveBody(Value):
    task: Long = Field(min_length=1)
    language: Language | None = Field(default=None, description="default: that of the tests, or Python")
    tests: Files = Field(default={})
    entry: Line = Field(default="", description=ENTRY)
    start: Long = Field(default="", description="existing code: it is run first, then repaired")
    path: Line = Field(default="", description="the name of its file; default: the one that the tests import")


class SolveOptions(OutOptions):
    file: Annotated[Code | None, Option(help="Existing code: run first, then repaired.")] = None


class SolveExtension(Extension):
    body = SolveBody
    options = SolveOptions

    def read_body(self, body: SolveBody, request: Request) -> dict[str, Any]:
        tests = tests_of(body.tests, body.entry)
        language = body.language or (tests.language if tests else "python")
        path = check_path(body.path) if body.path else solution_path(tests, language)
        given = {"task": body.task, "language": language, "tests": tests, "path": path}
        return {**given, "start": check_text(path, body.start)} if body.start else given

    def plan(self, request: Request) -> SessionPlan:
        """`file`: existing code; `out`: the file for the best attempt, with `write_anyway` and `force`."""
        given, own = split_output(request.given)
        task, tests, start = str(given["task"]).strip(), given.get("tests"), given.pop("file", None)
        if not task:
            raise UsageError("no task given; say what is to be solved")
        file = start.files[0] if start else None
        chosen = file.language if file else parse_language(given.get("language"))
        language: Language = chosen or (tests.language if tests else "python")
        path = given.get("path") or (PurePosixPath(file.path).name if file else solution_path(tests, language))
        found: dict[str, Any] = {"task": task, "language": language, "path": path}
        if file:
            found |= {"start": file.text, "repository": repository_at(request.origins.get(file.path))}
        places = {path: origin_of(request, file.path) if file else None}
        plan = make_plan(replace(request, given={**given, **found}, places=places))
        hooks = request.settings.ci()
        tested = plan.notes.get("runs_code") or (
            language == "python" and task_examples(str(plan.input["task"]), language)
        )
        own |= {
            "runs_code": bool(tested or hooks.needs_sandbox("post_optimization")),
            "ci": hooks.model_dump(mode="json"),
        }
        plan = plan.model_copy(update={"notes": {"origins": {}, **plan.notes, **own}})
        if "coder" not in plan.seats and (request.use_models or plan.input.get("start") is None):
            raise request.explain_no_model(NO_MODEL)
        return plan

    def deliver(self, result: SolveResult, plan: SessionPlan, vault: Vault, ending: "Ending") -> Delivery:
        return deliver_text(result.code, name_solution(result), exit_code(result), result, plan, vault)


EXTENSION = SolveExtension()


def solution_path(tests: Tests | None, language: Language) -> str:
    """The file that the tests import; else `solution`."""
    suffix = next(suffix for suffix, known in SUFFIXES.items() if known == language)
    return find_imported(tests, suffix) or f"solution{suffix}" if tests else f"solution{suffix}"


def find_imported(tests: Tests, suffix: str) -> str:
    """The first imported module that is not a test, the standard library or a test runner."""
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
