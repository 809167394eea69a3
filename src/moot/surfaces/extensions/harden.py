"""Harden beyond its descriptor: texts in a request, patched files written back, and what became of each finding."""

from typing import TYPE_CHECKING, Any

from pydantic import Field

from moot.core.types import Language, Value
from moot.edge.files.sources import write_code
from moot.protocols.harden.script import HardenInput, HardenResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.bodies import BY_NAME, ENTRY, Files, Line, Long, code_of, tests_of
from moot.surfaces.extensions import Extension
from moot.surfaces.plans import Request, origins_of
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.surfaces.cli.output_options import Ending


class HardenBody(Value):
    files: Files = Field(min_length=1)
    language: Language | None = Field(default=None, description=BY_NAME)
    tests: Files = Field(default={})
    entry: Line = Field(default="", description=ENTRY)
    task: Long = Field(default="", description="what the code is to do, in words")


class HardenExtension(Extension):
    body = HardenBody

    def read_body(self, body: Any, request: Request) -> dict[str, Any]:
        tests = tests_of(body.tests, body.entry)
        return {"code": code_of(body.files, body.language), "tests": tests, "task": body.task}

    def finish(self, result: HardenResult, plan: SessionPlan, vault: Vault, ending: "Ending") -> int:
        from moot.surfaces.cli.hardened import finish

        return finish(result, plan, vault, ending)


EXTENSION = HardenExtension()


def write_result(result: HardenResult, plan: SessionPlan, vault: Vault) -> list[str]:
    """Patched files back to disk, with their secrets; gives the paths that were written."""
    given = HardenInput.model_validate(plan.input).code
    changed = {f.path: result.final_files[f.path] for f in given.files if result.final_files.get(f.path) != f.text}
    origins = origins_of(plan)
    return write_code({path: vault.reveal(text) for path, text in changed.items() if path in origins}, origins)
