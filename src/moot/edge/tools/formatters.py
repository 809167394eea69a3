"""Formatters and linters of the machine: text in, text out. They read no configuration and run no code."""

import asyncio
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from moot.core.tools import ToolContext
from moot.core.types import Language
from moot.edge.sandbox.go.toolchain import find_go
from moot.edge.sandbox.process import kill_group, search_path
from moot.edge.tools.tool import Target, Tool, ToolFailed, ToolPorts, require_content, target

SECONDS = 20.0
MAX_OUTPUT = 1_000_000
LINTERS: tuple[Language, ...] = ("python",)


async def format_code(given: Target, context: ToolContext, kit: ToolPorts) -> str:
    file = require_content(target(given, context))
    name = PurePosixPath(file.path).name
    status, printed, said = await run_piped(_formatter(file.language, name), file.text)
    if status != 0:
        raise ToolFailed(f"it cannot be formatted: {said.strip() or printed.strip() or f'status {status}'}")
    return "it is formatted already" if printed == file.text else printed


async def lint_code(given: Target, context: ToolContext, kit: ToolPorts) -> str:
    file = require_content(target(given, context))
    if file.language not in LINTERS:
        raise ToolFailed(f"there is no linter for {file.language} here")
    name = PurePosixPath(file.path).name
    command = (_ruff(), "check", "--isolated", "--no-cache", "--output-format=concise", f"--stdin-filename={name}", "-")
    status, printed, said = await run_piped(command, file.text)
    if status not in (0, 1):
        raise ToolFailed(f"ruff failed: {said.strip() or f'status {status}'}")
    return printed.strip() if status else "nothing to complain of"


def _formatter(language: Language, name: str) -> Sequence[str]:
    match language:
        case "python":
            return (_ruff(), "format", "--isolated", "--no-cache", f"--stdin-filename={name}", "-")
        case "go":
            return (_gofmt(),)
        case _:
            found = shutil.which("prettier")
            if found is None:
                raise ToolFailed("prettier is not installed (npm install -g prettier)")
            return (found, "--no-config", "--no-editorconfig", "--stdin-filepath", name)


def _ruff() -> str:
    beside = Path(sys.executable).parent / "ruff"
    found = str(beside) if beside.is_file() else shutil.which("ruff")
    if found is None:
        raise ToolFailed("ruff is not installed (pip install ruff)")
    return found


def _gofmt() -> str:
    go = find_go()
    beside = go.root / "bin" / "gofmt" if go else None
    if beside is None or not beside.is_file():
        raise ToolFailed("gofmt is not installed")
    return str(beside)


async def run_piped(command: Sequence[str], text: str) -> tuple[int, str, str]:
    """Status, output and errors of a program that reads the text, in an empty folder with an empty environment."""
    with tempfile.TemporaryDirectory(prefix="moot-") as folder:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env={**search_path(), "HOME": folder, "LANG": "C.UTF-8"},
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(SECONDS):
                out, err = await process.communicate(text.encode("utf-8", "replace"))
        except TimeoutError:
            raise ToolFailed(f"{os.path.basename(command[0])} gave no answer within {SECONDS:g} s") from None
        finally:
            with contextlib.suppress(PermissionError):
                kill_group(process.pid)
            await process.wait()
    texts = [data[:MAX_OUTPUT].decode("utf-8", "replace") for data in (out, err)]
    return process.returncode or 0, texts[0], texts[1]


STYLING = (
    Tool("format_code", "Format code as the usual formatter of its language does; gives the formatted code.",
         Target, format_code),
    Tool("lint_code", "List what the linter complains of (Python: ruff).", Target, lint_code),
)  # fmt: skip
