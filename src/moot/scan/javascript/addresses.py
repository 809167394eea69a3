"""URLs built from parts: once the host is fixed, the rest cannot change it.

`"https://api.example.com/users/" + id` goes to that host whatever `id` is. The parts after such a beginning become
`js.path_part`, which ends what untrusted data could do to a request or a redirect, and nothing else.
"""

import re

from moot.scan.engine.ir import Attr, Call, Concat, Const, Expr, Hole, Name
from moot.scan.javascript.words import Known

PART = "js.path_part"
UNKNOWN = "\ufffc"
SETTLED = re.compile(
    r"[a-z][a-z0-9+.-]*://[^/?#\\]+[/?#]|//[^/?#\\]+[/?#]|(?!\w+:)[^\s/?#\\]+[/?#]|/[^/\\]", re.IGNORECASE
)
ROOTED = frozenset({"url", "originalUrl", "path", "pathname"})
"""Parts of a request that start with a slash."""
OWN_BASES = frozenset({"url", "nextUrl", "origin", "href"})
MAX_BEGINNING = 300


def drop_own_base(func: Expr, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """`new URL(path, request.url)`: the base is this site, whatever was asked of it."""
    if not isinstance(func, Name) or func.id != "URL" or len(args) != 2 or not isinstance(args[1], Attr):
        return args
    return args[:1] if args[1].name in OWN_BASES else args


def mark_address(built: Concat, known: Known) -> Concat:
    beginning = ""
    parts: list[Expr] = []
    for part in built.parts:
        if isinstance(part, Const):
            beginning += str(part.value)
            parts.append(part)
            continue
        value = part.value if isinstance(part, Hole) else part
        rooted = "/" if isinstance(value, Attr) and value.name in ROOTED else ""
        if len(beginning) < MAX_BEGINNING and SETTLED.match(beginning + rooted):
            told = Call(value.at, known(value.at, PART), (value,))
            parts.append(part._replace(value=told) if isinstance(part, Hole) else told)
        else:
            parts.append(part)
        beginning += UNKNOWN
    return built._replace(parts=tuple(parts))
