"""Integer ranges in a Go function, statement by statement.

Each place (`x`, `s.Field`, `len(xs)`, also `y & 0xff`) has a lower and an upper bound. Conditions narrow them, loops
widen them, unreachable code is skipped. Only what follows from types and constants of the file is claimed.
"""

from collections.abc import Iterator
from typing import NamedTuple

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Augment,
    Binary,
    Call,
    Compare,
    Const,
    Cut,
    Expr,
    Hole,
    Logic,
    Many,
    Name,
    Unary,
)
from moot.scan.go.program import Program, callee_word, inside, key, root
from moot.scan.go.shapes import Shapes


class Range(NamedTuple):
    low: int
    high: int

    def fits(self, other: "Range") -> bool:
        return other.low <= self.low and self.high <= other.high

    def join(self, other: "Range") -> "Range":
        return Range(min(self.low, other.low), max(self.high, other.high))

    def intersect(self, other: "Range") -> "Range | None":
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Range(low, high) if low <= high else None


INTEGERS = {
    **{f"int{bits}": Range(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": Range(0, 2**bits - 1) for bits in (8, 16, 32, 64)},
    "int": Range(-(2**63), 2**63 - 1),
    "uint": Range(0, 2**64 - 1),
    "uintptr": Range(0, 2**64 - 1),
}
LONGEST = 2**31 - 1
"""The assumed maximum length of a slice."""
LIMITS = {
    **{f"math.MaxInt{bits}": 2 ** (bits - 1) - 1 for bits in (8, 16, 32, 64)},
    **{f"math.MinInt{bits}": -(2 ** (bits - 1)) for bits in (8, 16, 32, 64)},
    **{f"math.MaxUint{bits}": 2**bits - 1 for bits in (8, 16, 32, 64)},
    "math.MaxInt": 2**63 - 1,
    "math.MinInt": -(2**63),
    "math.MaxUint": 2**64 - 1,
}
TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
State = dict[str, Range]


class Reckoner:
    """Evaluates expressions in a state."""

    def __init__(self, program: Program, shapes: Shapes) -> None:
        self.program = program
        self.shapes = shapes

    def of_type(self, expr: Expr) -> Range | None:
        found = self.shapes.of(expr)
        return INTEGERS.get(found.word) if found is not None else None

    def value(self, expr: Expr, state: State, depth: int = 0) -> Range | None:
        """None if nothing is known."""
        known = state.get(self.place(expr))
        if known is not None:
            return known
        if depth > 20:
            return self.of_type(expr)
        match expr:
            case Const(value=number):
                return Range(number, number) if type(number) is int else None
            case Hole(value=inner):
                return self.value(inner, state, depth + 1)
            case Call():
                return self._call(expr, state, depth)
            case Unary(op="-", value=inner):
                found = self.value(inner, state, depth + 1)
                return self._clip_to_type(expr, Range(-found.high, -found.low)) if found else None
            case Binary():
                return self._binary(expr, state, depth)
            case _:
                return self._constant(expr) or self.of_type(expr)

    def _constant(self, expr: Expr) -> Range | None:
        number = self.program.constants.get(expr.id) if isinstance(expr, Name) else None
        if isinstance(expr, Attr):
            number = LIMITS.get(self.program.origin(expr))
        # A package variable may have been assigned another value.
        changeable = isinstance(expr, Name) and expr.id in self.program.changed
        return Range(number, number) if type(number) is int and not changeable else None

    def place(self, expr: Expr) -> str:
        """`len(x)` and `y & 0xff` are places too: a condition about them holds for the same text later."""
        match expr:
            case Call(func=Name(id="len" | "cap" as word), args=(inner,)):
                place = self.place(inner)
                return f"{word}({place})" if place else ""
            case Binary(op=op, left=left, right=right):
                a, b = self.place(left), self.place(right)
                return f"({a} {op} {b})" if a and b else ""
            case _:
                return key(expr)

    def _clip_to_type(self, expr: Expr, found: Range) -> Range:
        """A value beyond its type's range wraps around and can be anything."""
        whole = self.of_type(expr)
        return found if whole is None or found.fits(whole) else whole

    def _call(self, expr: Call, state: State, depth: int) -> Range | None:
        word = callee_word(expr)
        if word in ("len", "cap") and len(expr.args) == 1:
            known = self.length(expr.args[0], state) if word == "len" else self.capacity(expr.args[0], state)
            return known or Range(0, LONGEST)
        if word in ("min", "max") and expr.args and isinstance(expr.func, Name):
            found = [self.value(arg, state, depth + 1) for arg in expr.args]
            known_ones = [one for one in found if one is not None]
            if len(known_ones) == len(found):
                pick = min if word == "min" else max
                return Range(pick(r.low for r in known_ones), pick(r.high for r in known_ones))
        whole = self.of_type(expr)
        if whole is not None and len(expr.args) == 1 and self.shapes.conversion(expr) is not None:
            inner = self.value(expr.args[0], state, depth + 1)
            return inner if inner is not None and inner.fits(whole) else whole
        return self._library(expr, state, depth) or whole

    def _library(self, expr: Call, state: State, depth: int) -> Range | None:
        origin = self.program.origin(expr.func)
        if not origin.startswith("math/rand"):
            return None
        whole = self.of_type(expr)
        limit = self.value(expr.args[0], state, depth + 1) if len(expr.args) == 1 else None
        if whole is None:
            return None
        return Range(0, min(whole.high, limit.high - 1) if limit is not None and limit.high > 0 else whole.high)

    def _binary(self, expr: Binary, state: State, depth: int) -> Range | None:
        left, right = self.value(expr.left, state, depth + 1), self.value(expr.right, state, depth + 1)
        if left is None or right is None:
            return self.of_type(expr)
        found = compute_range(expr.op, left, right)
        return self._clip_to_type(expr, found) if found is not None else self.of_type(expr)

    def length(self, expr: Expr, state: State) -> Range | None:
        known = state.get(f"len({self.place(expr)})")
        if known is not None:
            return known
        match expr:
            case Hole():
                return self.length(expr.value, state)
            case Const(value=str() as text):
                return Range(len(text.encode()), len(text.encode()))
            case Many(items=items):
                return Range(len(items), len(items))
            case Call(func=Name(id="make"), args=(_, size, *_)):
                return self.value(size, state)
            case Cut():
                return self._cut(expr, state)
        found = self.shapes.of(expr)
        return Range(found.size, found.size) if found is not None and found.size is not None else None

    def _cut(self, expr: Cut, state: State) -> Range | None:
        low = self.value(expr.low, state) if expr.low is not None else Range(0, 0)
        high = self.value(expr.high, state) if expr.high is not None else self.length(expr.base, state)
        if low is None or high is None:
            return None
        return Range(max(0, high.low - low.high), max(0, high.high - low.low))

    def capacity(self, expr: Expr, state: State) -> Range | None:
        known = state.get(f"cap({self.place(expr)})")
        if known is not None:
            return known
        match expr:
            case Call(func=Name(id="make"), args=(_, _, size)):
                return self.value(size, state)
            case Call(func=Name(id="append")):
                return None
            case Cut():
                base = self.capacity(expr.base, state)
                low = self.value(expr.low, state) if expr.low is not None else Range(0, 0)
                end = self.value(expr.step, state) if expr.step is not None else base
                return Range(max(0, end.low - low.high), max(0, end.high - low.low)) if end and low else None
        found = self.shapes.of(expr)
        fixed = found is not None and (found.size is not None or found.word == "string")
        return self.length(expr, state) if fixed or not self.place(expr) else None

    def narrow_state(self, test: Expr, holds: bool, state: State) -> State | None:
        """The state in which the condition holds (or does not); None if there is none."""
        match test:
            case Unary(op="not", value=inner):
                return self.narrow_state(inner, not holds, state)
            case Const(value=bool() as sure):
                return state if sure == holds else None
            case Logic(op=op, values=values) if op in ("and", "or"):
                return self._all(values, holds, state) if (op == "and") == holds else self._any(values, holds, state)
            case Compare(op=op) if op in TURNED:
                wanted = op if holds else OPPOSITE[op]
                first = self._narrow_comparison(test.left, wanted, test.right, state)
                return (
                    self._narrow_comparison(test.right, TURNED[wanted], test.left, first) if first is not None else None
                )
        return state

    def _all(self, values: tuple[Expr, ...], holds: bool, state: State) -> State | None:
        now: State | None = state
        for value in values:
            now = self.narrow_state(value, holds, now) if now is not None else None
        return now

    def _any(self, values: tuple[Expr, ...], holds: bool, state: State) -> State | None:
        """The states in which one operand holds and none before it."""
        found: State | None = None
        rest: State | None = state
        for value in values:
            one = self.narrow_state(value, holds, rest) if rest is not None else None
            found = one if found is None else join_states(found, one) if one is not None else found
            rest = self.narrow_state(value, not holds, rest) if rest is not None else None
        return found

    def _narrow_comparison(self, expr: Expr, op: str, other: Expr, state: State) -> State | None:
        mine, theirs = self.value(expr, state), self.value(other, state)
        if mine is None or theirs is None:
            return state
        allowed = _limit_range(op, mine, theirs)
        if allowed is None:
            return None
        return self._put(expr, allowed, state)

    def _put(self, expr: Expr, allowed: Range, state: State, depth: int = 0) -> State | None:
        """Narrows the place and, inverted, its operands."""
        place = self.place(expr)
        if not place or isinstance(expr, Const):
            return state
        state = {**state, place: allowed}
        if not isinstance(expr, Binary) or depth > 4:
            return state
        for inner, constant, flipped in ((expr.left, expr.right, False), (expr.right, expr.left, True)):
            step = self.value(constant, state)
            before = self.value(inner, state)
            if step is None or step.low != step.high or before is None or isinstance(inner, Const):
                continue
            turned = _invert_step(expr.op, allowed, step.low, flipped)
            now = before.intersect(turned) if turned is not None else None
            if now is not None:
                return self._put(inner, now, state, depth + 1)
        return state


def _invert_step(op: str, found: Range, step: int, flipped: bool) -> Range | None:
    """The range of `x` if `x op step` has this range."""
    match op:
        case "+":
            return Range(found.low - step, found.high - step)
        case "-" if not flipped:
            return Range(found.low + step, found.high + step)
        case "*" if step > 0:
            return Range(-(-found.low // step), found.high // step)
        case "<<" if not flipped and 0 <= step < 64:
            return Range(-(-found.low >> step), found.high >> step)
    return None


def _limit_range(op: str, mine: Range, theirs: Range) -> Range | None:
    huge = 2**70
    match op:
        case "<":
            return mine.intersect(Range(-huge, theirs.high - 1))
        case "<=":
            return mine.intersect(Range(-huge, theirs.high))
        case ">":
            return mine.intersect(Range(theirs.low + 1, huge))
        case ">=":
            return mine.intersect(Range(theirs.low, huge))
        case "==":
            return mine.intersect(theirs)
    if theirs.low == theirs.high:
        if mine == theirs:
            return None
        low = mine.low + (mine.low == theirs.low)
        return Range(low, mine.high - (mine.high == theirs.low))
    return mine


def compute_range(op: str, a: Range, b: Range) -> Range | None:
    match op:
        case "+":
            return Range(a.low + b.low, a.high + b.high)
        case "-":
            return Range(a.low - b.high, a.high - b.low)
        case "*":
            corners = [x * y for x in a for y in b]
            return Range(min(corners), max(corners))
        case "/":
            return _divide_range(a, b)
        case "%" if b.low == b.high != 0 or b.low > 0:
            most = max(abs(b.low), abs(b.high)) - 1
            return Range(max(a.low, -most) if a.low < 0 else 0, min(a.high, most) if a.high > 0 else 0)
        case "&":
            masks = [r.high for r in (a, b) if r.low >= 0]
            return Range(0, min(masks)) if masks else None
        case ">>" if 0 <= b.low <= b.high < 128:
            return Range(min(a.low >> b.low, a.low >> b.high), max(a.high >> b.low, a.high >> b.high))
        case "<<" if 0 <= b.low <= b.high < 128:
            return Range(min(a.low << b.low, a.low << b.high), max(a.high << b.low, a.high << b.high))
        case "|" | "^" if a.low >= 0 and b.low >= 0:
            return Range(0, (1 << max(a.high.bit_length(), b.high.bit_length())) - 1)
    return None


def _divide_range(a: Range, b: Range) -> Range:
    most = max(abs(a.low), abs(a.high))
    if b.low <= 0 <= b.high:
        return Range(-most if a.low < 0 or b.low < 0 else 0, most)
    corners = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x in a for y in b]
    return Range(min(corners), max(corners))


def join_states(left: State, right: State) -> State:
    return {place: found.join(right[place]) for place, found in left.items() if place in right}


def forget(state: State, name: str) -> State:
    """The state after an assignment of an unknown value."""
    return {place: found for place, found in state.items() if not mentions(place, name)}


def mentions(place: str, name: str) -> bool:
    start = place.find(name)
    while start >= 0:
        before, after = place[start - 1 : start], place[start + len(name) : start + len(name) + 1]
        if not (before.isalnum() or before in ("_", ".")) and not (after.isalnum() or after == "_"):
            return True
        start = place.find(name, start + 1)
    return False


def find_assigned(node: object) -> Iterator[tuple[str, Assign | Augment]]:
    """Variables assigned somewhere under a node."""
    for one in inside(node):
        if isinstance(one, Augment):
            yield key(one.target) or root(one.target), one
        elif isinstance(one, Assign):
            for target in one.targets:
                for part in target.items if isinstance(target, Many) else (target,):
                    yield key(part) or root(part), one
