"""What a function returns to a browser."""

from moot.scan.engine.ir import Call, Expr
from moot.scan.engine.lookups import members
from moot.scan.engine.machine import Machine
from moot.scan.engine.rulebook import RETURNED
from moot.scan.engine.sink_checks import harmful
from moot.scan.engine.state import State
from moot.scan.engine.values import HEADERS, PAGE, Val

ANSWERS = frozenset(RETURNED.values())


def check_answer(m: Machine, e: Expr, value: Val, state: State) -> None:
    """The return value of a web handler is a page."""
    cells = m.cells(value, state)
    if cells:
        first = cells[0][1].items.get(0)
        if cells[0][1].kind != "list" or first is None:
            return
        value = first
    for sink in m.book.returns:
        if RETURNED.get(sink.kind) == HEADERS:
            continue  # what a handler returns is sent behind the headers
        taint = next((taint for taint in value.taints if harmful(taint, sink, state)), None)
        if taint is not None and _sends_page(m, value):
            m.report(sink.rule, e.at, taint)


def _sends_page(m: Machine, value: Val) -> bool:
    """Whether the framework sends a returned text as a page."""
    imports, function = m.frame.unit.imports, m.frame.function
    if not imports.isdisjoint(("flask", "bottle", "quart", "cherrypy")) or (not imports and PAGE in value.marks):
        return True
    words = [word for d in function.decorators if isinstance(d, Call) for word in d.keywords] if function else []
    return any(
        word.name == "response_class" and m.frame.unit.module.text(word.value.at).endswith("HTMLResponse")
        for word in words
    )


def check_statement(m: Machine, e: Expr, value: Val, state: State) -> None:
    """A statement with a value in its text that is returned, or kept on an object: other code runs it."""
    sink = m.book.statement
    if sink is None:
        return
    for taint in value.taints:
        if harmful(taint._replace(label="outside", strength=1.0), sink, state):
            m.report(sink.rule, e.at, taint, sink.floor)
            return


def find_page(m: Machine, value: Val, state: State) -> Val | None:
    """The page or header that is returned, alone or as the one part of a WSGI answer."""
    if value.marks & ANSWERS:
        return value
    parts = members(m, value, state) or []
    return parts[0] if len(parts) == 1 and parts[0].marks & ANSWERS else None


def check_page(m: Machine, e: Expr, value: Val, state: State) -> None:
    """A function that returns a page or a header with one of its parameters in it, if its callers are unknown, or with
    a part of a request."""
    for sink in m.book.returns:
        for taint in value.taints if RETURNED.get(sink.kind) in value.marks else ():
            asked = taint.strength >= sink.floor
            if (asked or taint.origin.startswith("parameter ")) and harmful(taint._replace(strength=1.0), sink, state):
                m.report(sink.rule, e.at, taint, sink.floor)
                return
