"""Diagnostics, definitions and references from a language server."""

import re
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlparse

from pydantic import Field, JsonValue

from moot.core.tools import ToolContext
from moot.core.types import Code, SourceFile
from moot.edge.sandbox.layout import safe_path
from moot.edge.tools.lsp.client import LspClient, open_server
from moot.edge.tools.tool import Target, Tool, ToolFailed, ToolPorts, require_content, target, with_file

SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}
MOST = 50


class Symbol(Target):
    name: str = Field(min_length=1, max_length=200, description="the name to look up, as it stands in the file")
    line: int | None = Field(default=None, ge=1, description="the line it stands on; by default the first one")


@dataclass(frozen=True)
class Open:
    server: LspClient
    file: SourceFile
    code: Code
    root: Path

    @property
    def uri(self) -> str:
        return (self.root / safe_path(self.file.path)).as_uri()


async def diagnostics(given: Target, context: ToolContext, kit: ToolPorts) -> str:
    async with open_project(given, context, kit) as at:
        found = await at.server.diagnostics(at.uri)
    return (
        "\n".join(_diagnostic(at.file.path, entry) for entry in found[:MOST]) or "the language server has no complaint"
    )


async def definition(given: Symbol, context: ToolContext, kit: ToolPorts) -> str:
    async with open_project(given, context, kit) as at:
        found = await at.server.request("textDocument/definition", _place(given, at))
    return "\n".join(_render_places(found, at)) or f"no definition of {given.name!r} is known"


async def references(given: Symbol, context: ToolContext, kit: ToolPorts) -> str:
    async with open_project(given, context, kit) as at:
        asked: JsonValue = {**_place(given, at), "context": {"includeDeclaration": True}}
        found = await at.server.request("textDocument/references", asked)
    return "\n".join(_render_places(found, at)) or f"no reference to {given.name!r} is known"


@asynccontextmanager
async def open_project(given: Target, context: ToolContext, kit: ToolPorts) -> AsyncIterator[Open]:
    """The session's files in a separate folder, one of them open in its language's server."""
    file = require_content(target(given, context))
    command = kit.language_servers.get(file.language)
    if not command:
        raise ToolFailed(f"no language server for {file.language} is configured ([lsp.{file.language}] command = […])")
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as folder:
        code = with_file(file, context.code)
        root = write_files(code, folder)
        async with open_server(command, root) as server:
            at = Open(server, file, code, root)
            document: JsonValue = {"uri": at.uri, "languageId": file.language, "version": 1, "text": file.text}
            await server.notify("textDocument/didOpen", {"textDocument": document})
            yield at


def write_files(code: Code, folder: str) -> Path:
    root = Path(folder).resolve()
    for file in code.files:
        path = root / safe_path(file.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8", errors="replace")
    return root


def _place(given: Symbol, at: Open) -> dict[str, JsonValue]:
    """The position of the name: lines from 0, columns in UTF-16 units, as the protocol counts."""
    word = re.compile(rf"(?<!\w){re.escape(given.name)}(?!\w)")
    for number, line in enumerate(at.file.text.split("\n"), start=1):
        if given.line in (None, number) and (found := word.search(line)):
            column = len(line[: found.start()].encode("utf-16-le")) // 2
            return {"textDocument": {"uri": at.uri}, "position": {"line": number - 1, "character": column}}
    where = f"on line {given.line} of" if given.line else "in"
    raise ToolFailed(f"{given.name!r} does not stand {where} {at.file.path}")


def _diagnostic(path: str, entry: JsonValue) -> str:
    fields = entry if isinstance(entry, dict) else {}
    severity = fields.get("severity")
    kind = SEVERITIES.get(severity, "note") if isinstance(severity, int) else "note"
    return f"{path}:{_line(fields.get('range'))}: {kind}: {' '.join(str(fields.get('message')).split())}"


def _line(span: JsonValue) -> int:
    start = span.get("start") if isinstance(span, dict) else None
    line = start.get("line") if isinstance(start, dict) else None
    return line + 1 if isinstance(line, int) else 1


def _render_places(found: JsonValue, at: Open) -> Iterator[str]:
    """Locations with their lines. Of a file outside the session only the name is shown."""
    entries = found if isinstance(found, list) else [found]
    for entry in [entry for entry in entries if isinstance(entry, dict)][:MOST]:
        uri = str(entry.get("uri") or entry.get("targetUri") or "")
        line = _line(entry.get("range") or entry.get("targetSelectionRange"))
        path = Path(unquote(urlparse(uri).path))
        own = next((f for f in at.code.files if at.root / safe_path(f.path) == path), None)
        lines = own.text.split("\n") if own else []
        text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
        yield f"{own.path}:{line}: {text}" if own else f"outside the session: {path.name}:{line}"


def no_server(kit: ToolPorts) -> str:
    return "" if kit.language_servers else "no language server is configured ([lsp.LANGUAGE] command = […])"


LANGUAGE = (
    Tool("diagnostics", "What the language server complains of in a file.", Target, diagnostics, no_server),
    Tool("definition", "Where a name is defined, by the language server.", Symbol, definition, no_server),
    Tool("references", "Where a name is used, by the language server.", Symbol, references, no_server),
)  # fmt: skip
