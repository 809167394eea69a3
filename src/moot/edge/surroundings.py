"""What lies around an action that is vetted: the files its command reads, and the git repository it runs in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from moot.edge.git import GitError, git, is_repository
from moot.render import fenced
from moot.routing.answer import Sight
from moot.routing.command import command_sights
from moot.routing.statements import LOOKS_SQL, code_sights, sql_sights

NAMED = re.compile(r"(?<![\w./~-])(?:-f)?((?:[\w./~-]*[\w~-])?[\w-]\.(sql|sh|bash|py|js|mjs|ts|rb|pl|php))(?![\w./-])")
LONGEST = 50_000
MOST_FILES = 5
MOST_NAMES = 10
PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")


@dataclass(frozen=True)
class Around:
    text: str = ""
    """For both seats to read."""
    sights: tuple[Sight, ...] = ()
    """What raises the stakes."""


NOTHING_AROUND = Around()


def look_around(action: str, context: str, folder: Path) -> Around:
    """Files that the action names and git's state, as text; what the files and the context would do, as sights."""
    texts, sights = list[str](), list[Sight]()
    for name, kind, said in named_files(action, folder):
        texts.append(f"The file {name}, which the action names:\n\n{fenced(said, kind)}")
        sights += sights_in(said, kind)
    if told := git_state(folder):
        texts.append(f"Where it would run:\n\n{fenced(told, 'text')}")
    return Around("\n\n".join(texts), (*sights, *statements_in(context)))


def named_files(action: str, folder: Path) -> Iterator[tuple[str, str, str]]:
    """Name, kind and text of the code files that the words of an action name and that are there."""
    found = dict.fromkeys((m[1], m[2]) for m in NAMED.finditer(action))
    for name, kind in list(found)[:MOST_FILES]:
        path = folder / Path(name).expanduser()
        try:
            if path.is_file():
                yield name, kind, path.read_bytes()[: LONGEST + 1].decode("utf-8", "replace")
        except OSError as error:
            yield name, kind, f"It cannot be read: {error.strerror}"


def sights_in(text: str, kind: str) -> list[Sight]:
    if kind == "sql":
        return sql_sights(text)
    return command_sights(text) if kind in ("sh", "bash") else code_sights(text)


def statements_in(text: str) -> list[Sight]:
    """What SQL within a text would do; prose around it is left alone."""
    found, end = list[str](), 0
    for start in (m.start() for m in re.finditer(r"^", text[:LONGEST], re.MULTILINE)):
        if start >= end and LOOKS_SQL.match(text[start:LONGEST]):
            stop = re.search(r";|\n\s*\n|```", text[start:])
            end = start + stop.start() if stop else len(text)
            found.append(text[start:end])
    return sql_sights(";".join(found)) if found else []


def git_state(folder: Path) -> str:
    """Branch, remotes and what is not committed; empty outside a repository."""
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
            f"not committed: {len(dirty)} files: {names}" if dirty else "not committed: nothing",
        ]
    )


def _lines(folder: Path, *arguments: str) -> list[str]:
    return git(folder, *arguments).decode("utf-8", "replace").splitlines()
