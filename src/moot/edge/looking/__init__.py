"""What a command line would run and delete, looked up on the disk before it runs. Nothing is ever executed.

Scripts that it would run are read and judged by the router; targets of deleting commands are resolved and counted. Only
the standard library and `moot.routing` are loaded, for hooks that answer in milliseconds. Begin with `look.py`.
"""

from typing import TYPE_CHECKING, NamedTuple

from moot.routing.answer import ORDER, Route, Sight, action
from moot.routing.command import command_route
from moot.routing.patterns import Lazy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from moot.edge.looking.files import Script

LONGEST_LINE = 20_000
LOCAL_PROGRAM = Lazy(
    r"(?:^|[;&|(`\n]|\b(?:sudo|env|exec|time|nohup|nice|command|xargs|timeout\s+\S+|do|then|else)\s)\s*"
    r"(?:\w+=\S*\s+)*[\"']?(?:\.{1,2}|[\w-]+)/"
)
"""A program named by a path from here: `./ls` may be anything, whatever its name says."""


MARKS = Lazy("[\ue000-\ue00f]")
"""Signs that mean nothing in a command; here they mark what is not set."""


class Looked(NamedTuple):
    route: Route
    """The gravest of the line itself and of what it would run."""
    notes: tuple[str, ...] = ()
    """For a person: which script was read and which line of it counts, what could not be read, what is deleted."""
    scripts: "tuple[Script, ...]" = ()
    """What was read, for whoever debates the command."""


def names_program(line: str) -> bool:
    """Whether a program in it is named by a path from here: then its name says nothing about what it does."""
    return len(line) > LONGEST_LINE or LOCAL_PROGRAM.search(line) is not None


def look_at_command(line: str, folder: "Path | str", env: "Mapping[str, str]", home: "Path | None" = None) -> Looked:
    """The route of a command line that would run in `folder`, with what the files there add to it."""
    line = MARKS.sub("\ufffd", line)
    route = command_route(line)
    if route.bypass and not names_program(line):
        return Looked(route)
    from moot.edge.looking.look import Look  # not for commands that only read

    look = Look(folder, env, home)
    look.walk_line(line)
    return Looked(raise_route(route, look.sights), look.list_notes(), tuple(look.scripts))


def raise_route(route: Route, sights: list[Sight]) -> Route:
    """The route with what was seen beside its words; it is never lowered."""
    graver = [sight for sight in sights if sight.level != "read"]
    if not graver:
        return route
    found = action(graver)
    if found.stakes == "low" or ORDER[found.stakes] < ORDER[route.stakes]:
        return route._replace(bypass=route.bypass and found.stakes == "low")
    # What was seen on the disk says more than the words of the line, where both are as grave.
    triggers = tuple(dict.fromkeys((*found.triggers, *route.triggers)))
    return Route(route.kind, found.stakes, False, found.reason, triggers[:12], route.security or found.security)
