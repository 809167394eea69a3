"""Read-only tools: syntax, flaws, files, lessons, history."""

import ast
import asyncio
import fnmatch
from pathlib import Path

from pydantic import Field

from moot.core.errors import UsageError
from moot.core.report import count_things
from moot.core.tools import ToolContext
from moot.core.types import Code, SourceFile
from moot.edge.files.passages import PassageSearch
from moot.edge.git import GitError, git, top_of
from moot.edge.git.worktree import Worktree, safe_parts
from moot.edge.tools.tool import (
    Arguments,
    Target,
    Tool,
    ToolFailed,
    ToolPorts,
    find_file,
    require_content,
    target,
    with_file,
)
from moot.scan.syntax import parse, trouble

MOST_LINES = 400
MOST_HITS = 50
LONGEST_LINE = 300
NEAREST_TOKENS = 600
"""Of the passages that are shown where the words themselves stand nowhere."""
NOT_TRACKED = "the session has no git repository"


class ReadFile(Arguments):
    path: str = Field(min_length=1, max_length=500, description="the file")
    first_line: int = Field(default=1, ge=1, description="the first line to show")
    last_line: int | None = Field(default=None, ge=1, description=f"the last line; at most {MOST_LINES} are shown")


class SearchFiles(Arguments):
    text: str = Field(min_length=1, max_length=200, description="the words to look for, as they stand, in any case")
    files: str = Field(default="*", max_length=200, description="only in files with names like this, e.g. *.py")


class Lessons(Arguments):
    task: str = Field(min_length=1, max_length=4000, description="the task, in words")
    most: int = Field(default=5, ge=1, le=20, description="how many lessons at most")


class History(Arguments):
    path: str = Field(min_length=1, max_length=500, description="the file, from the repository's root")
    most: int = Field(default=10, ge=1, le=50, description="how many commits at most")


class Blame(Arguments):
    path: str = Field(min_length=1, max_length=500, description="the file, from the repository's root")
    first_line: int = Field(default=1, ge=1, description="the first line")
    last_line: int | None = Field(default=None, ge=1, description="the last line")


async def check_syntax(given: Target, context: ToolContext, kit: ToolPorts) -> str:
    return await asyncio.to_thread(_syntax, require_content(target(given, context)))


def _syntax(file: SourceFile) -> str:
    if file.language == "python":
        try:
            ast.parse(file.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            where = f"{file.path}:{error.lineno}: " if isinstance(error, SyntaxError) else ""
            return f"{where}syntax error: {error}"
    gap = trouble(parse(file.path, file.language, file.text))
    return f"{gap.file}:{gap.line}: {gap.why}" if gap else "the syntax is right"


async def scan_code(given: Target, context: ToolContext, kit: ToolPorts) -> str:
    file = require_content(target(given, context))
    scan = await asyncio.to_thread(kit.scanner.scan, with_file(file, context.code))
    lines = [f"{f.severity} {f.file}:{f.line} [{f.rule}] {f.description}" for f in scan.findings]
    lines += [f"not analysed: {gap.file}:{gap.line}: {gap.why}" for gap in scan.not_analysed]
    return "\n".join(lines) or "nothing found"


async def read_file(given: ReadFile, context: ToolContext, kit: ToolPorts) -> str:
    text = await asyncio.to_thread(_text, given.path, context)
    lines = text.split("\n")
    last = min(given.last_line or len(lines), given.first_line + MOST_LINES - 1, len(lines))
    if given.first_line > len(lines) or last < given.first_line:
        raise ToolFailed(
            f"{given.path} has {count_things(len(lines), 'line')}; there is no line {given.first_line} to {last}"
        )
    shown = [f"{n}: {lines[n - 1]}" for n in range(given.first_line, last + 1)]
    return "\n".join([f"{given.path}, lines {given.first_line} to {last} of {len(lines)}:", *shown])


async def search_files(given: SearchFiles, context: ToolContext, kit: ToolPorts) -> str:
    hits = [hit for path, text in _own(context) for hit in _hits(path, text, given)]
    if context.repository:
        hits += await asyncio.to_thread(_in_repository, given, context)
    more = f"\nand {len(hits) - MOST_HITS} more" if len(hits) > MOST_HITS else ""
    if hits:
        return "\n".join(hits[:MOST_HITS]) + more
    return f"{given.text!r} stands nowhere in {given.files}{await asyncio.to_thread(_nearest, given, context)}"


def _nearest(given: SearchFiles, context: ToolContext) -> str:
    """Where words that mean the same stand in the session's own files."""
    files = tuple(_source(path, text) for path, text in _own(context) if _is_named(path, given))
    found = PassageSearch().search(Code(files=files), given.text, NEAREST_TOKENS).found
    quoted = [f"{p.path}:{p.first}-{p.last}\n{p.text}" for p in found]
    return "\n\n".join(["; these passages have words like it:", *quoted]) if quoted else ""


async def lessons(given: Lessons, context: ToolContext, kit: ToolPorts) -> str:
    if kit.memory is None:
        raise ToolFailed("no lessons are kept here")
    found = await kit.memory.recall(given.task, kit.clock.now(), given.most)
    return "\n".join(f"- {lesson.text}" for lesson in found) or "no lesson fits"


async def git_history(given: History, context: ToolContext, kit: ToolPorts) -> str:
    changes = await asyncio.to_thread(lambda: _history(context).history(given.path, given.most))
    lines = [f"{c.commit[:10]} {c.when:%Y-%m-%d} {c.author}: {c.subject}" for c in changes]
    return "\n".join(lines) or f"no commit touched {given.path}"


async def git_blame(given: Blame, context: ToolContext, kit: ToolPorts) -> str:
    last = given.last_line or given.first_line + MOST_LINES - 1
    span = await asyncio.to_thread(lambda: _history(context).blame(given.path, given.first_line))
    lines = [f"{b.line}: {b.commit[:10]} {b.author}: {b.text}" for b in span if b.line <= last]
    return "\n".join(lines[:MOST_LINES]) or f"{given.path} has no such lines"


def _own(context: ToolContext) -> list[tuple[str, str]]:
    """Files of the session and its tests; the session's own version of a file wins."""
    files = dict(context.tests.files) if context.tests else {}
    return list((files | {file.path: file.text for file in context.code.files}).items())


def _text(path: str, context: ToolContext) -> str:
    own = dict(_own(context))
    known = find_file(path, Code(files=tuple(_source(p, t) for p, t in own.items())))
    if known is not None:
        return known.text
    if context.repository:
        safe_parts(path)
        try:
            data = git(_top(context), "show", f"HEAD:{path}")
        except GitError:
            raise ToolFailed(f"there is no file {path!r} in the session or the repository's last commit") from None
        if b"\0" in data:
            raise ToolFailed(f"{path} is not text")
        return data.decode("utf-8", "replace")
    raise ToolFailed(f"there is no file {path!r}; there are: {', '.join(own) or 'none'}")


def _source(path: str, text: str) -> SourceFile:
    return SourceFile(path=path, language="python", text=text)


def _is_named(path: str, given: SearchFiles) -> bool:
    return fnmatch.fnmatch(path, given.files) or fnmatch.fnmatch(path.rpartition("/")[2], given.files)


def _hits(path: str, text: str, given: SearchFiles) -> list[str]:
    if not _is_named(path, given):
        return []
    wanted = given.text.casefold()
    lines = enumerate(text.split("\n"), start=1)
    return [f"{path}:{n}: {line.strip()[:LONGEST_LINE]}" for n, line in lines if wanted in line.casefold()]


def _in_repository(given: SearchFiles, context: ToolContext) -> list[str]:
    """Committed files only: ignored or untracked ones, such as keys, are not read."""
    own = {path for path, _ in _own(context)}
    words = ("grep", "-I", "-n", "-i", "-F", "-z", "-e", given.text, "HEAD")
    try:
        output = git(_top(context), *words).decode("utf-8", "replace")
    except GitError:  # nothing found, or no commit yet
        return []
    hits = []
    for line in output.split("\n"):
        place, _, rest = line.removeprefix("HEAD:").partition("\0")
        number, _, text = rest.partition("\0")
        if place and place not in own:
            hits += [f"{place}:{number}: {hit.partition(': ')[2]}" for hit in _hits(place, text, given)]
    return hits


def _top(context: ToolContext) -> Path:
    if not context.repository:
        raise ToolFailed(NOT_TRACKED)
    try:
        return top_of(Path(context.repository))
    except UsageError as error:
        raise ToolFailed(str(error)) from None


def _history(context: ToolContext) -> Worktree:
    top = _top(context)
    return Worktree(top, top, "HEAD", "HEAD")


LOOKING = (
    Tool("check_syntax", "Say whether code parses, and where it does not.", Target, check_syntax),
    Tool("scan_code", "Look for security flaws in the code.", Target, scan_code),
    Tool("read_file", "Show lines of a file of the session or its repository.", ReadFile, read_file),
    Tool("search_files", "Find words in the files of the session and its repository.", SearchFiles, search_files),
    Tool("lessons", "Lessons of earlier sessions that fit a task.", Lessons, lessons,
         lambda kit: "" if kit.memory else "no lessons are kept here"),
    Tool("git_history", "The commits that touched a file, the newest first.", History, git_history),
    Tool("git_blame", "Who wrote which line of a file, by commit.", Blame, git_blame),
)  # fmt: skip
