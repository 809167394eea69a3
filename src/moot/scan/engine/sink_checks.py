"""What a call of a library does with untrusted values: the findings of its sinks."""

import re

from moot.scan.engine import facts
from moot.scan.engine.ir import Call
from moot.scan.engine.machine import Machine
from moot.scan.engine.rulebook import ALONE, Sink
from moot.scan.engine.sites import CallSite
from moot.scan.engine.state import State
from moot.scan.engine.values import (
    ALL,
    JOINED,
    NAMED,
    ORDERED,
    VALUED,
    WHOLE,
    Taint,
    Val,
)


def check_sinks(m: Machine, site: CallSite, e: Call, sinks: tuple[Sink, ...]) -> bool:
    """Whether the call is a sink; reports tainted arguments."""
    matched = False
    for sink in sinks:
        if not sink.args:
            if sink.when(site):
                m.report(sink.rule, e.at)
            continue
        matched = True
        taint = next(
            (
                t
                for place in sink.args
                for t in site.taints_at(place, sink.kind)
                if harmful(t, sink, site.state) and not (sink.binds and _is_plain_name(t) and _has_more(site, place))
            ),
            None,
        )
        if taint is None:
            taint = _find_possible(site, sink)
        if taint is None or not sink.when(site):
            continue
        if sink.label == "random":
            m.report_source(sink.rule, taint, e.at)
        else:
            m.report(sink.rule, e.at, taint, sink.floor)
    return matched


def _has_more(site: CallSite, place: int | str) -> bool:
    """Whether arguments follow the statement, behind the context before it."""
    return site.count > (place + 1 if isinstance(place, int) else 1)


def _is_plain_name(taint: Taint) -> bool:
    """A table or column: beside bound values it is mostly one of the program's own."""
    return NAMED in taint.ended and ORDERED not in taint.ended


def check_handed(m: Machine, site: CallSite, e: Call, sink: Sink) -> None:
    """A built statement that is given to code that nobody has seen: most likely it runs it."""
    if any(is_built_statement(value) for value in (*site.args, *site.keywords.values())) and not _shows(m, site.name):
        check_sinks(m, site, e, (sink,))


def is_built_statement(value: Val) -> bool:
    return WHOLE in value.marks and VALUED in value.marks


def _shows(m: Machine, name: str) -> bool:
    """Whether the call writes, keeps or changes a text instead of running it."""
    root, last = name.partition(".")[0], name.rpartition(".")[2]
    known = root in m.book.roots or name in m.book.globals or name in m.book.passes or f".{last}" in m.book.passes
    return known or SHOWS.search(last) is not None or SHOWS.search(name.rpartition(".")[0]) is not None


SHOWS = re.compile(
    r"(?i)log|print|debug|info|warn|err(?:$|or)|echo|write|append|^add|extend|^put|hash|fail|assert|exception|trace"
    r"|messag|notif|flash|explain|format|pars|render|highlight|translat|escap|quot|sanit|cach|stdout|strip|compile"
)
POSSIBLE, CALLERS = 0.3, 0.4


def _find_possible(site: CallSite, sink: Sink) -> Taint | None:
    """A value of unknown origin in a text that is built for this sink."""
    if sink.label != "outside":
        return None
    mark = site.m.book.shown.get(sink.kind)
    for place in sink.args:
        value = site.arg(place)
        if value is None:
            continue
        if (held := _find_possible_part(site, sink, value, mark)) is not None:
            return held
        for taint in site.taints_at(place, sink.kind) if mark == ALONE or sink.alone else value.taints:
            if taint.label == "unknown":
                shown = sink.unknown and _is_shown(taint, value, sink, mark)
                fits = shown or (sink.kind in ("sql", "shell") and sink.floor <= CALLERS)
            else:
                # What an unknown function made of a parameter is less of a concern where nothing is built.
                least = CALLERS if mark == ALONE or sink.kind == "log" else POSSIBLE
                unseen = taint.origin.startswith("parameter ") and least <= taint.strength < sink.floor
                fits = unseen and (mark == ALONE or _is_shown(taint, value, sink, mark) or _is_alone(taint, sink))
            if fits and harmful(taint._replace(label="outside", strength=1.0), sink, site.state):
                return taint
    return None


def _find_possible_part(site: CallSite, sink: Sink, value: Val, mark: str | None) -> Taint | None:
    """A header in a table of headers."""
    cells = site.m.cells(value, site.state) if sink.kind == "header" and value.refs else []
    for part in (held for _, cell in cells for held in cell.items.values() if mark in held.marks):
        for taint in part.taints:
            known = taint.origin.startswith("parameter ") and POSSIBLE <= taint.strength < sink.floor
            if known and harmful(taint._replace(label="outside", strength=1.0), sink, site.state):
                return taint
    return None


def _is_shown(taint: Taint, value: Val, sink: Sink, mark: str | None) -> bool:
    return JOINED in taint.ended if sink.kind == "path" else mark in value.marks


def _is_alone(taint: Taint, sink: Sink) -> bool:
    return bool(sink.alone) and re.search(sink.alone, taint.origin.partition(" of ")[0]) is not None


def harmful(taint: Taint, sink: Sink, state: State) -> bool:
    if taint.label != sink.label or taint.strength < sink.floor or sink.kind in taint.ended:
        return False
    kinds = taint.ended | {kind for origin, kind in state.proved if facts.is_of(taint.origin, origin)}
    return not (sink.kind in kinds or ALL in kinds or (sink.kind == "code" and facts.is_literal(frozenset(kinds))))
