"""Harden beyond its descriptor: texts in a request, writing patches, SARIF."""

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from moot.core.protocol import Option
from moot.core.report import count_things
from moot.core.types import Language, Value
from moot.edge.files.outputs import check_output, write_output
from moot.edge.files.sources import write_code
from moot.protocols.harden.exit_code import exit_code
from moot.protocols.harden.report import track_findings
from moot.protocols.harden.script import HardenInput, HardenResult
from moot.runtime.runner import SessionPlan
from moot.surfaces.extensions import Delivery, Extension
from moot.surfaces.history.result_files import FORCE
from moot.surfaces.session.plans import Request, make_plan, origins_of, repository_at
from moot.surfaces.session.request_bodies import BY_NAME, ENTRY, Files, Line, Long, code_of, tests_of
from moot.text.sarif import sarif
from moot.text.secrets import Vault

if TYPE_CHECKING:
    from moot.surfaces.cli.output_options import Ending
    from moot.surfaces.cli.session_flags import SessionFlags

WRITE = "Write the patched code back; default: show a diff."


class HardenBody(Value):
    files: Files = Field(min_length=1)
    language: Language | None = Field(default=None, description=BY_NAME)
    tests: Files = Field(default={})
    entry: Line = Field(default="", description=ENTRY)
    task: Long = Field(default="", description="what the code is to do, in words")


class HardenOptions(Value):
    write: Annotated[bool, Option(short="-w", after=True, help=WRITE)] = False
    sarif: Annotated[str | None, Option(after=True, help="Write the findings as SARIF 2.1.0.")] = None
    force: Annotated[bool, Option(after=True, help=FORCE)] = False


class HardenExtension(Extension):
    body = HardenBody
    options = HardenOptions

    def read_command(self, said: dict[str, Any], flags: "SessionFlags") -> dict[str, object]:
        check_output(said.get("sarif"), force=bool(said.get("force")), flag="--sarif")
        return {}

    def plan(self, request: Request) -> SessionPlan:
        files = request.given["code"].files
        repository = repository_at(request.origins.get(files[0].path)) if files else ""
        return make_plan(replace(request, given={**request.given, "repository": repository}))

    def read_body(self, body: Any, request: Request) -> dict[str, Any]:
        tests = tests_of(body.tests, body.entry)
        return {"code": code_of(body.files, body.language), "tests": tests, "task": body.task}

    def deliver(self, result: HardenResult, plan: SessionPlan, vault: Vault, ending: "Ending") -> Delivery:
        notes: tuple[str, ...] = ()
        if ending.sarif:
            write_sarif(result, ending)
        if ending.write and result.diff:
            written = write_result(result, plan, vault)
            kept = (
                f"written: {', '.join(written)}" if written else "nothing to write: the code did not come from a file"
            )
            notes = (kept,)
        elif vault.count and result.diff:
            masked = count_things(vault.count, "secret")
            notes = (f"{masked} masked in what is shown; --write keeps the real text",)
        return Delivery(exit_code(result), notes)


EXTENSION = HardenExtension()


def write_sarif(result: HardenResult, ending: "Ending") -> None:
    """Without `--write` the file lists every finding, with it only the remaining ones."""
    entries = [f for f in track_findings(result) if f.state == "open" or not ending.write]
    seen = [f.latest if ending.write else f.finding for f in entries]
    report = sarif(seen, frozenset(f.finding.id for f in entries if f.state == "patched"), result.outcome)
    write_output(ending.sarif or "", f"{json.dumps(report, indent=2)}\n".encode(), force=ending.force)


def write_result(result: HardenResult, plan: SessionPlan, vault: Vault) -> list[str]:
    """Writes patched files with their secrets restored; returns their paths."""
    given = HardenInput.model_validate(plan.input).code
    changed = {f.path: result.final_files[f.path] for f in given.files if result.final_files.get(f.path) != f.text}
    origins = origins_of(plan)
    return write_code({path: vault.reveal(text) for path, text in changed.items() if path in origins}, origins)
