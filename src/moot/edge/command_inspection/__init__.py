"""Looks up on disk what a command line would run and delete, before it runs. Nothing is ever executed.

The router judges the scripts it would run; targets of deleting commands are resolved and counted. Only the standard
library and `moot.routing` are imported, for hooks that answer in milliseconds. Begin with `look.py`.
"""

from typing import TYPE_CHECKING, NamedTuple

from moot.routing.answer import ORDER, Route, Sight, action
from moot.routing.command import command_route
from moot.routing.patterns import Lazy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from moot.edge.command_inspection.files import Script

LONGEST_LINE = 20_000
LOCAL_PROGRAM = Lazy(
    r"(?:^|[;&|(`\n]|\b(?:sudo|env|exec|time|nohup|nice|command|xargs|timeout\s+\S+|do|then|else)\s)\s*"
    r"(?:\w+=\S*\s+)*[\"']?(?:\.{1,2}|[\w-]+)/"
)
"""A program named by a relative path: `./ls` may be anything, whatever its name says."""


MARKS = Lazy("[\ue000-\ue00f]")
"""Private-use characters that mark unset variables."""


class Looked(NamedTuple):
    route: Route
    """The highest of the line itself and what it would run."""
    notes: tuple[str, ...] = ()
    """For a person: which script and line counts, what could not be read, what is deleted."""
    scripts: "tuple[Script, ...]" = ()
    """Scripts read, for whoever debates the command."""


def names_program(line: str) -> bool:
    """Whether a program is named by a relative path, so that its name says nothing about it."""
    return len(line) > LONGEST_LINE or LOCAL_PROGRAM.search(line) is not None


def look_at_command(line: str, folder: "Path | str", env: "Mapping[str, str]", home: "Path | None" = None) -> Looked:
    """The route of a command line in `folder`, including what the files there add."""
    line = MARKS.sub("\ufffd", line)
    route = command_route(line)
    if route.bypass and not names_program(line):
        return Looked(route)
    from moot.edge.command_inspection.inspector import Look  # skipped for commands that only read

    look = Look(folder, env, home)
    look.walk_line(line)
    return Looked(raise_route(route, look.sights), look.list_notes(), tuple(look.scripts))


def raise_route(route: Route, sights: list[Sight]) -> Route:
    """Raise the route by these sights; it is never lowered."""
    graver = [sight for sight in sights if sight.level != "read"]
    if not graver:
        return route
    found = action(graver)
    if found.stakes == "low" or ORDER[found.stakes] < ORDER[route.stakes]:
        return route._replace(bypass=route.bypass and found.stakes == "low")
    # At the same level, a sight from the disk says more than the words of the line.
    triggers = tuple(dict.fromkeys((*found.triggers, *route.triggers)))
    return Route(route.kind, found.stakes, False, found.reason, triggers[:12], route.security or found.security)
