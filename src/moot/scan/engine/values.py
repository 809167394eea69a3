"""Abstract values: constant, taints, name, contents."""

from functools import lru_cache
from typing import Literal, NamedTuple

from moot.scan.engine.fold import UNKNOWN, Known
from moot.scan.engine.ir import Scalar, Span

Label = Literal["outside", "random", "error", "unknown"]
"""Why a value is unwanted somewhere: untrusted, guessable, revealing internals, or put into a text although nobody
knows where it comes from."""
Key = Scalar
MAX_TAINTS = 6
MAX_STEPS = 14
MAX_PLACES = 4
"""Maximum depth of nested keys that are told apart."""
ALL = "*"
"""Every kind of sink. A taint ended for all is harmless, but still identifies the value in checks."""
SPREADING = frozenset({"sql"})
"""Marks that a value gets from any of its parts."""
NOTHING: frozenset[str] = frozenset()
BUILT, PAGE, HEADERS, VALUED = "built", "page", "headers", "valued"
LINE, MAIL = "line", "mail"
"""Marks of a text that was put together from a constant and a value: any text, a page, lines of an HTTP header, SQL
with a value in it, one line of a header, the head of a mail."""
HOSTED = "hosted"
"""The mark of an address whose host is a value."""
CONSTRUCTED = frozenset({BUILT, PAGE, HEADERS, VALUED, LINE, MAIL, HOSTED})
SHARED = "shared"
"""The mark of a path that begins with a folder of all users, with a value behind it."""
WHOLE = "whole"
"""The mark of a text that begins with an SQL statement and has one of its clauses: more than a sentence with a verb."""
ROOTED = "+rooted"
"""Among the kinds in `Taint.ended`: the value stands behind the root, where the normalised path has no way up."""
SETTLED = "+settled"
"""The same after it was normalised: harmless behind a folder of ours, and any file of the machine by itself."""
JOINED, NAMED, ORDERED = "+joined", "+named", "+ordered"
"""Among the kinds in `Taint.ended`: the value stands behind a folder in a path, where SQL expects a name, or where it
expects an order, which callers choose more often than tables. No sink is of these kinds."""
PROVED = "proved"
"""The mark of a value that checks have proved harmless: its origin is known, although it has no taint."""
EITHER = SPREADING | CONSTRUCTED | {WHOLE, "proto", PROVED}
"""Marks that a value gets if any of its alternatives has them."""
VERDICT = "verdict"
"""The mark of a result of an unknown function whose name says that it validates: a boolean, or Go's error."""
PROTO = "proto"
"""The mark of a value looked up by an untrusted name: it may be the prototype of all objects."""
SET = "set"
"""The mark of a value that is not None or nil."""
EACH = "each"
"""The key that stands for any item."""


class FlowStep(NamedTuple):
    """One step of a value's path, linked to the previous one."""

    before: "FlowStep | None"
    path: str
    line: int
    what: str
    length: int


class Taint(NamedTuple):
    """A taint. `origin` is what was read; `ended` are the kinds of sink it can no longer harm."""

    origin: str
    label: Label
    strength: float
    """Confidence that an attacker controls it: a web request 1.0, the command line .6, a bare parameter .4."""
    ended: frozenset[str]
    step: FlowStep
    place: tuple[str, Span] = ("", (0, 0))


Taints = tuple[Taint, ...]


class Facts(NamedTuple):
    """What a condition proves: pairs of (origin, kind of sink) that are harmless if it is true, and if it is false."""

    true: frozenset[tuple[str, str]] = frozenset()
    false: frozenset[tuple[str, str]] = frozenset()


NO_FACTS = Facts()


class Val(NamedTuple):
    """`name` is the full name of something outside the given files (`flask.request.args`), `refs` are heap cells
    (several if branches differ), `facts` is what its truth proves, `marks` are notes (`normal`: a resolved path)."""

    taints: Taints = ()
    const: Known = UNKNOWN
    name: str = ""
    refs: tuple[int, ...] = ()
    facts: Facts = NO_FACTS
    marks: frozenset[str] = NOTHING


ANY = Val()
NAMED_VALUES = 8192


@lru_cache(NAMED_VALUES)
def name_value(name: str) -> Val:
    """A value of which only its name is known."""
    return Val((), UNKNOWN, name)


NONE = Val(const=None)


def const(value: Known) -> Val:
    return Val(const=value)


def merge_taints(left: Taints, right: Taints) -> Taints:
    if not right or left is right:
        return left
    if not left:
        return right
    keys = {(taint.origin, taint.ended, taint.label) for taint in left}
    more = tuple(taint for taint in right if (taint.origin, taint.ended, taint.label) not in keys)
    return (left + more)[:MAX_TAINTS] if more else left


def join_values(left: Val, right: Val) -> Val:
    """What holds for both values."""
    if left is right:
        return left
    refs = left.refs if left.refs == right.refs else (*left.refs, *(r for r in right.refs if r not in left.refs))[:4]
    same = left.const is not UNKNOWN and type(left.const) is type(right.const) and left.const == right.const
    return Val(
        merge_taints(left.taints, right.taints),
        left.const if same else UNKNOWN,
        left.name if left.name == right.name else left.name or right.name,
        refs,
        _join_facts(left.facts, right.facts),
        left.marks if left.marks == right.marks else (left.marks & right.marks) | ((left.marks | right.marks) & EITHER),
    )


def _join_facts(left: Facts, right: Facts) -> Facts:
    if left is NO_FACTS or right is NO_FACTS:
        return NO_FACTS
    true, false = left.true & right.true, left.false & right.false
    return Facts(true, false) if true or false else NO_FACTS


def after(taints: Taints, path: str, line: int, what: str) -> Taints:
    """The same taints with one more step; long paths keep their beginning."""
    return tuple([_lengthen(taint, path, line, what) for taint in taints])


def _lengthen(taint: Taint, path: str, line: int, what: str) -> Taint:
    origin, label, strength, ended, step, place = taint
    if step.length >= MAX_STEPS or (step.line == line and step.path == path):
        return taint
    return Taint(origin, label, strength, ended, FlowStep(step, path, line, what, step.length + 1), place)


def part_of(taints: Taints, place: object) -> Taints:
    """The taints of one member: a proof about `body.kind` says nothing about `body.name`."""
    return tuple(
        taint._replace(origin=f"{taint.origin}|{place}")
        if ALL not in taint.ended and taint.origin.count("|") < MAX_PLACES
        else taint
        for taint in taints
    )


def ending(taints: Taints, kinds: frozenset[str]) -> Taints:
    """Marks these kinds of sink as ended; drops the taints if that is every kind."""
    if ALL in kinds or not taints:
        return ()
    return tuple(taint._replace(ended=taint.ended | kinds) for taint in taints)


def join_path(taints: Taints, origins: frozenset[str]) -> Taints:
    """Notes which taints stand behind a folder in a path."""
    if not origins:
        return taints
    return tuple(t._replace(ended=t.ended | {JOINED}) if t.origin in origins else t for t in taints)


def spend_taints(taints: Taints) -> Taints:
    """Harmless, but still known by origin."""
    return tuple(taint._replace(ended=taint.ended | {ALL}) for taint in taints)


def truth(value: Val) -> bool | None:
    return None if value.const is UNKNOWN else bool(value.const)
