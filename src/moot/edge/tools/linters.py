"""Runs this machine's linters on a text: nothing is executed, and no project configuration is read."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from moot.core.measures import Lint, LintFinding
from moot.core.types import Code, Language, SourceFile

SECONDS = 30.0
RUFF_RULES = "E4,E7,E9,F,B,PLE"
"""Errors only, no style."""
Looked = tuple[str, list[LintFinding]] | str
"""A linter's name and findings, or why there are none."""


class LinterFailed(Exception):
    """It did not finish, or its output is unreadable."""


@dataclass(frozen=True)
class Linters:
    def lint(self, code: Code) -> Lint:
        findings, by, skipped = list[LintFinding](), list[str](), dict[str, str]()
        for language in dict.fromkeys(file.language for file in code.files):
            files = [file for file in code.files if file.language == language]
            try:
                looked = LOOKS[language](files)
            except LinterFailed as failure:
                looked = str(failure)
            if isinstance(looked, str):
                skipped[language] = looked
            else:
                by.append(looked[0])
                findings += looked[1]
        return Lint(findings=tuple(findings), by=tuple(dict.fromkeys(by)), skipped=skipped)


def _ruff(files: Sequence[SourceFile]) -> Looked:
    program = _program("ruff")
    if program is None:
        return "no ruff is installed"
    from moot.edge.sandbox.layout import safe_path  # do not load the sandbox for sessions that measure nothing

    laid = {f"{number}/{safe_path(file.path)}": file for number, file in enumerate(files)}
    with tempfile.TemporaryDirectory(prefix="moot-lint-") as folder:
        for place, file in laid.items():
            path = Path(folder, place)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(file.text, encoding="utf-8", errors="surrogateescape")
        # Ignore comments in the code that disable rules.
        flags = ("--isolated", "--no-cache", "--ignore-noqa", "--exit-zero", "--output-format", "json")
        said = _run_linter([program, "check", *flags, "--select", RUFF_RULES, "--force-exclude", *laid], folder)
        try:
            return "ruff", [_finding(entry, laid, os.path.realpath(folder)) for entry in json.loads(said)]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LinterFailed(f"what ruff said cannot be read ({type(error).__name__})") from None


def _finding(entry: dict[str, object], laid: dict[str, SourceFile], folder: str) -> LintFinding:
    place = os.path.relpath(os.path.realpath(str(entry["filename"])), folder)
    row = entry["location"]
    line = row.get("row", 0) if isinstance(row, dict) else 0
    rule = str(entry.get("code") or "syntax")
    return LintFinding(file=laid[place].path, line=int(line), rule=rule, message=str(entry["message"])[:300])


def _gofmt(files: Sequence[SourceFile]) -> Looked:
    """gofmt: one finding for an unformatted file, one for each error."""
    from moot.edge.sandbox.go.toolchain import find_go

    found = find_go()
    program = str(found.root / "bin" / "gofmt") if found else shutil.which("gofmt")
    if program is None or not os.access(program, os.X_OK):
        return "no gofmt is installed"
    findings = list[LintFinding]()
    for file in files:
        done = _run_program([program, "-l", "-e"], ".", file.text)
        errors = [line for line in done.stderr.splitlines() if line.startswith("<standard input>:")]
        for error in errors:
            _, line, _, message = (*error.split(":", 3), "", "", "")[:4]
            findings.append(LintFinding(file=file.path, line=int(line or 0), rule="syntax", message=message.strip()))
        if done.stdout.strip():
            findings.append(LintFinding(file=file.path, line=1, rule="gofmt", message="not formatted by gofmt"))
        elif done.returncode and not errors:
            raise LinterFailed(f"gofmt ended with status {done.returncode}")
    return "gofmt", findings


def _none(files: Sequence[SourceFile]) -> Looked:
    return "no linter that needs no project of its own is known"


LOOKS: dict[Language, Callable[[Sequence[SourceFile]], Looked]] = {
    "python": _ruff,
    "go": _gofmt,
    "javascript": _none,
    "typescript": _none,
}


def _program(name: str) -> str | None:
    """Beside the interpreter that runs Moot, else on PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if os.access(beside, os.X_OK) else shutil.which(name)


def _run_linter(command: Sequence[str], folder: str) -> str:
    done = _run_program(command, folder)
    if done.returncode:
        raise LinterFailed(f"{Path(command[0]).name} ended with status {done.returncode}: {done.stderr.strip()[-200:]}")
    return done.stdout


def _run_program(command: Sequence[str], folder: str, text: str = "") -> "subprocess.CompletedProcess[str]":
    env = {"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8", "NO_COLOR": "1"}
    name = Path(command[0]).name
    try:
        return subprocess.run(
            command, cwd=folder, env=env, input=text, capture_output=True, encoding="utf-8", errors="replace",
            timeout=SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise LinterFailed(f"{name} took longer than {SECONDS:g} s") from None
    except OSError as error:
        raise LinterFailed(f"{name} cannot be started: {error.strerror}") from None
