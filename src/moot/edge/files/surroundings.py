"""Context of a vetted action: what its command would run and delete, and the git repository."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from moot.core.report import count_things
from moot.edge.command_inspection.files import SUFFIXES, Script
from moot.edge.command_inspection.inspector import Look
from moot.edge.git import GitError, git, is_repository
from moot.routing import route
from moot.routing.answer import Sight
from moot.routing.router import command_in
from moot.routing.statements import LOOKS_SQL, sql_sights
from moot.text.render import fence_text

NAMED = re.compile(r"(?<![\w./~-])(?:-f)?((?:[\w./~-]*[\w~-])?[\w-]\.(sql|sh|bash|py|js|mjs|ts|rb|pl|php))(?![\w./-])")
LONGEST = 50_000
MOST_FILES = 5
MOST_NAMES = 10
PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")
FENCES = {"shell": "sh", "package": "json", "other": "text"}


@dataclass(frozen=True)
class Around:
    text: str = ""
    """For both seats to read."""
    sights: tuple[Sight, ...] = ()


NOTHING_AROUND = Around()


def look_around(action: str, context: str, folder: Path, env: Mapping[str, str]) -> Around:
    """What the action would run and delete, the files it names and git's state, as text; and the resulting sights."""
    look = Look(folder, env)
    reads = route(action).is_harmless
    if (command := command_in(action)) is not None:
        look.walk_line(command)
    for path, kind in () if reads else find_named_files(action, folder):
        look.take_in(path, kind)
    texts = [_render_script(script) for script in look.scripts[:MOST_FILES]]
    if look.notes:
        texts.append("What it would do here:\n\n" + "\n".join(f"- {note}" for note in look.list_notes()))
    if state := git_state(folder):
        texts.append(f"Where it would run:\n\n{fence_text(state, 'text')}")
    return Around("\n\n".join(texts), (*look.sights, *(() if reads else statements_in(context))))


def _render_script(script: Script) -> str:
    what = "which it would run" if script.kind in ("make", "package") else "which the action names, or would run"
    return (
        f"The file {script.name}, {what}:\n\n{fence_text(script.text[:LONGEST], FENCES.get(script.kind, script.kind))}"
    )


def find_named_files(action: str, folder: Path) -> Iterator[tuple[Path, str]]:
    """Existing code files that the words of an action name."""
    found = dict.fromkeys((m[1], m[2]) for m in NAMED.finditer(action))
    for name, suffix in list(found)[:MOST_FILES]:
        path = folder / Path(name).expanduser()
        if path.is_file():
            yield path, SUFFIXES.get(f".{suffix}", "other")


def statements_in(text: str) -> list[Sight]:
    """What SQL within a text would do; prose around it is ignored."""
    found, end = list[str](), 0
    for start in (m.start() for m in re.finditer(r"^", text[:LONGEST], re.MULTILINE)):
        if start >= end and LOOKS_SQL.match(text[start:LONGEST]):
            stop = re.search(r";|\n\s*\n|```", text[start:])
            end = start + stop.start() if stop else len(text)
            found.append(text[start:end])
    return sql_sights(";".join(found)) if found else []


def git_state(folder: Path) -> str:
    """Branch, remotes and uncommitted changes; empty outside a repository."""
    if not is_repository(folder):
        return ""
    try:
        branch = _lines(folder, "branch", "--show-current")
        remotes = dict.fromkeys(line.rsplit(" ", 1)[0] for line in _lines(folder, "remote", "-v"))
        dirty = [line[3:] for line in _lines(folder, "status", "--porcelain")]
    except GitError as error:
        return f"git: {error}"
    names = ", ".join(dirty[:MOST_NAMES]) + (f" and {len(dirty) - MOST_NAMES} more" if len(dirty) > MOST_NAMES else "")
    return "\n".join(
        [
            f"git branch: {branch[0] if branch else 'none (detached HEAD)'}",
            *(f"git remote: {PASSWORD.sub('', ' '.join(remote.split()))}" for remote in remotes),
            f"not committed: {count_things(len(dirty), 'file')}: {names}" if dirty else "not committed: nothing",
        ]
    )


def _lines(folder: Path, *arguments: str) -> list[str]:
    return git(folder, *arguments).decode("utf-8", "replace").splitlines()
