"""Base classes of tools."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from moot.core.errors import MootError
from moot.core.ports import Clock, Memory, Scanner
from moot.core.tools import ToolContext
from moot.core.types import SUFFIXES, Code, Language, SourceFile
from moot.edge.sandbox.adapter import Adapter

MAX_TEXT = 400_000


class ToolFailed(MootError):
    """The tool failed; the text tells the caller why."""


@dataclass(frozen=True)
class ToolPorts:
    scanner: Scanner
    clock: Clock
    sandbox: Adapter | None = None
    memory: Memory | None = None
    language_servers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Language -> command of its server."""

    def box(self) -> Adapter:
        if self.sandbox is None:
            raise ToolFailed("code is run only in a sandbox, and there is none here")
        return self.sandbox


@dataclass(frozen=True)
class Tool:
    name: str
    about: str
    arguments: type[BaseModel]
    work: Callable[[Any, ToolContext, ToolPorts], Awaitable[str]]
    missing: Callable[[ToolPorts], str] = lambda kit: ""
    """Why it is not available here, or nothing."""
    runs_code: bool = False


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Target(Arguments):
    """A file of the session, or code of one's own."""

    code: str = Field(default="", max_length=MAX_TEXT, description="code to use instead of what the file holds now")
    path: str = Field(default="", max_length=500, description="the file; by default the session's first one")
    language: Language | None = Field(default=None, description="the language of the code, where the path does not say")


def target(given: Target, context: ToolContext) -> SourceFile:
    """The file that is meant, with the text that is meant."""
    known = find_file(given.path, context.code) if given.path else next(iter(context.code.files), None)
    if known is not None:
        language = given.language or known.language
        return known.model_copy(update={"text": given.code or known.text, "language": language})
    if given.code:
        language = given.language or SUFFIXES.get(PurePosixPath(given.path).suffix) or "python"
        suffix = next(suffix for suffix, name in SUFFIXES.items() if name == language)
        return SourceFile(path=given.path or f"given{suffix}", language=language, text=given.code)
    if given.path:
        raise ToolFailed(f"there is no file {given.path!r}; there are: {names(context.code) or 'none'}")
    raise ToolFailed("there is no file here; give some code")


def find_file(path: str, code: Code) -> SourceFile | None:
    """By its path, or by its name if unambiguous."""
    named = [file for file in code.files if PurePosixPath(file.path).name == PurePosixPath(path).name]
    return code.file(path) or (named[0] if len(named) == 1 else None)


def with_file(file: SourceFile, code: Code) -> Code:
    if code.file(file.path) is None:
        return Code(files=(*code.files, file))
    return code.with_texts({file.path: file.text})


def names(code: Code) -> str:
    return ", ".join(file.path for file in code.files)


def require_content(file: SourceFile) -> SourceFile:
    """A check of nothing would look like success."""
    if not file.text.strip():
        raise ToolFailed(f"{file.path} is empty; give some code")
    return file
