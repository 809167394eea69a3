"""What the engine knows about a value: its constant, what it carries from outside, what it is called, what it holds."""

from typing import Literal, NamedTuple

from moot.scan.engine.fold import UNKNOWN, Known
from moot.scan.engine.ir import Scalar, Span

Label = Literal["outside", "random", "error"]
"""What makes a value unwelcome somewhere: it came from outside, it can be guessed, it tells about our insides."""
Key = Scalar
MAX_TAINTS = 6
MAX_STEPS = 14
MAX_PLACES = 4
"""Places inside places that are told apart."""
ALL = "*"
"""Every kind of sink. A taint that all are ended for does no harm, but tells what a check of it is a check of."""
SPREADING = frozenset({"sql"})
"""Marks that hold for a value as soon as one of its parts has them."""
NOTHING: frozenset[str] = frozenset()
EITHER = SPREADING | {"proto"}
"""Marks that hold for a value as soon as one of the values it may be has them."""
VERDICT = "verdict"
"""The mark of what a function of unknown code says whose name tells that it judges: a truth value, or Go's error."""
PROTO = "proto"
"""The mark of what was looked up under a name from outside: it may be the prototype of all objects."""
SET = "set"
"""The mark of what is known to be something: not None, not nil."""
EACH = "each"
"""The place of any member."""


class FlowStep(NamedTuple):
    """One station of a value's way, linked to the one before."""

    before: "FlowStep | None"
    path: str
    line: int
    what: str
    length: int


class Taint(NamedTuple):
    """One thing a value carries. `origin` is what was read; `ended` are the kinds of sink it can no longer harm."""

    origin: str
    label: Label
    strength: float
    """How sure it is that a stranger controls it: a web request 1.0, the command line .6, a bare parameter .4."""
    ended: frozenset[str]
    step: FlowStep
    place: tuple[str, Span] = ("", (0, 0))
    """The file and span it was read at."""


Taints = tuple[Taint, ...]


class Facts(NamedTuple):
    """What a condition proves: pairs of (origin, kind of sink) that are harmless when it holds, and when not."""

    true: frozenset[tuple[str, str]] = frozenset()
    false: frozenset[tuple[str, str]] = frozenset()


NO_FACTS = Facts()


class Val(NamedTuple):
    """`name` is the dotted name of what is not in the given files (`flask.request.args`), `refs` are heap cells (more
    than one when branches differ), `facts` what its truth proves, `marks` small notes (`normal`: a resolved path)."""

    taints: Taints = ()
    const: Known = UNKNOWN
    name: str = ""
    refs: tuple[int, ...] = ()
    facts: Facts = NO_FACTS
    marks: frozenset[str] = NOTHING


ANY = Val()
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
    """What holds whichever of the two it is."""
    if left is right:
        return left
    refs = left.refs if left.refs == right.refs else (*left.refs, *(r for r in right.refs if r not in left.refs))[:4]
    same = left.const is not UNKNOWN and type(left.const) is type(right.const) and left.const == right.const
    return Val(
        merge_taints(left.taints, right.taints),
        left.const if same else UNKNOWN,
        left.name if left.name == right.name else left.name or right.name,
        refs,
        Facts(left.facts.true & right.facts.true, left.facts.false & right.facts.false)
        if left.facts and right.facts
        else NO_FACTS,
        (left.marks & right.marks) | ((left.marks | right.marks) & EITHER),
    )


def after(taints: Taints, path: str, line: int, what: str) -> Taints:
    """The same taints, one station further; long ways keep their beginning."""
    return tuple(
        taint._replace(step=FlowStep(taint.step, path, line, what, taint.step.length + 1))
        if taint.step.length < MAX_STEPS and (taint.step.line != line or taint.step.path != path)
        else taint
        for taint in taints
    )


def part_of(taints: Taints, place: object) -> Taints:
    """The same taints, of one place inside: what is proved of `body.kind` says nothing of `body.name`."""
    return tuple(
        taint._replace(origin=f"{taint.origin}|{place}")
        if ALL not in taint.ended and taint.origin.count("|") < MAX_PLACES
        else taint
        for taint in taints
    )


def ending(taints: Taints, kinds: frozenset[str]) -> Taints:
    """What is left of taints once a sanitiser has dealt with these kinds of sink."""
    if ALL in kinds or not taints:
        return ()
    return tuple(taint._replace(ended=taint.ended | kinds) for taint in taints)


def spend_taints(taints: Taints) -> Taints:
    """No longer harmful, still known by where they came from."""
    return tuple(taint._replace(ended=taint.ended | {ALL}) for taint in taints)


def truth(value: Val) -> bool | None:
    """None when it can be either."""
    return None if value.const is UNKNOWN else bool(value.const)
