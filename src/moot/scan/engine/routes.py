"""Middleware chains: what one handler proves holds in the next; and handlers of one address."""

import re

from moot.scan.engine.facts import common
from moot.scan.engine.machine import Closure, Machine
from moot.scan.engine.sites import CallSite
from moot.scan.engine.state import Proved
from moot.scan.syntax import words

VERBS = words("get post put patch delete all use route head options")
EXACT = words(
    "get post put patch delete head options Get Post Put Patch Delete Head Options GET POST PUT PATCH DELETE HEAD"
)
"""Routers for which `/` is one address, and not all of them."""
ROUTERS = EXACT | VERBS | words("Handle HandleFunc HandlerFunc Any")
BEGINNING = re.compile(r"(?:[A-Z]+ )?[\w.-]*/\w")
"""A pattern whose addresses all begin with the same folder or name."""
NEXT = "js.next"


def note_row(m: Machine, site: CallSite, last: str) -> None:
    """`app.get("/x", check, handler)`"""
    if last not in ROUTERS or len(site.args) < 2:
        return
    flat = [part for arg in site.args for part in site.items(arg) or [arg]]
    row = [thing for arg in flat if isinstance(thing := m.thing(arg), Closure)]
    pattern = site.args[0].const
    begins = isinstance(pattern, str) and (BEGINNING.match(pattern) is not None or (pattern == "/" and last in EXACT))
    for closure in row:
        m.begins[id(closure.function)] = begins and m.begins.get(id(closure.function), True)
    if last not in VERBS:
        return
    for place, closure in enumerate(row[1:], 1):
        m.rows[id(closure.function)] = tuple(row[:place])


def note_next(m: Machine, proved: Proved) -> None:
    """`next()` is called: everything proved so far holds in the next handler."""
    frame = m.frame
    frame.handed = proved if frame.handed is None else common(frame.handed, proved)
