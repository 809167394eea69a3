"""Interval analysis of Go functions: conversions that overflow and indices out of range."""

from collections.abc import Iterator
from itertools import pairwise

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Augment,
    Binary,
    Block,
    Call,
    Case,
    Compare,
    Const,
    Cut,
    Define,
    Do,
    Each,
    Expr,
    Function,
    If,
    Item,
    Jump,
    Later,
    Logic,
    Many,
    Name,
    Opaque,
    Return,
    Span,
    Stmt,
    Switch,
    While,
)
from moot.scan.go.program import Program, callee_word, is_handed, key, root, within
from moot.scan.go.ranges import INTEGERS, LONGEST, Range, Reckoner, State, find_assigned, forget, join_states
from moot.scan.go.shapes import INT, Shapes

STEPS = 20_000
MAX_CALLS = 3
FINITE = LONGEST // 2
"""An upper bound above this means that nothing is known."""
ENDS = frozenset({"panic", "os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln"})
Flaw = tuple[str, Span]
"""`parsed`, `convert`, `size`, `index` or `slice`, and the place."""


def flaws(program: Program) -> Iterator[Flaw]:
    found: dict[Flaw, None] = {}
    run = _NumberRun(program, found)
    for function in program.bodies:
        run.whole(function)
    yield from found


SIZED = ("make", "strings.Repeat", "bytes.Repeat")


class _NumberRun:
    def __init__(self, program: Program, found: dict[Flaw, None]) -> None:
        self.program = program
        self.found = found
        self.steps = 0
        self.level = 0
        self.outside: set[str] = set()
        """Numbers parsed from text: untrusted."""
        self.shapes = Shapes(program)
        self.at = Reckoner(program, self.shapes)

    def whole(self, function: Function, state: State | None = None) -> None:
        """A function literal keeps the types of its enclosing function."""
        if self.level >= MAX_CALLS or self.steps > STEPS:
            return
        before = (self.shapes, self.at)
        self.shapes = Shapes(self.program, function)
        self.shapes.names = {**before[0].names, **self.shapes.names}
        self.at = Reckoner(self.program, self.shapes)
        self.level += 1
        self.block(function.body, dict(state or {}))
        self.level -= 1
        self.shapes, self.at = before

    def block(self, body: Block, state: State) -> State | None:
        """The state at the end of the block; None if it is unreachable."""
        now: State | None = state
        for stmt in body:
            self.steps += 1
            if now is None or self.steps > STEPS:
                return now
            now = self.one(stmt, now)
        return now

    def one(self, stmt: Stmt, state: State) -> State | None:
        match stmt:
            case Assign() | Augment():
                return self.change(stmt, state)
            case Do(value=value):
                return self.do(value, state)
            case Return(value=returned):
                self.look(returned, state)
                return None
            case Jump():
                return None
            case If() | Switch():
                return self.branch(stmt, state) if isinstance(stmt, If) else self.switch(stmt, state)
            case While() | Each():
                return self.loop(stmt, state) if isinstance(stmt, While) else self.each(stmt, state)
            case Later() | Define():
                self.look(stmt, state)
        return state

    def change(self, stmt: Assign | Augment, state: State) -> State:
        if isinstance(stmt, Assign):
            return self.assign(stmt, state)
        self.look(stmt.value, state)
        self.look(stmt.target, state)
        return self.bind(stmt.target, Binary(stmt.at, stmt.op, stmt.target, stmt.value), state)

    def do(self, value: Expr, state: State) -> State | None:
        self.look(value, state)
        if isinstance(value, Call) and (self.program.origin(value.func) or callee_word(value)) in ENDS:
            return None
        return self.forget_touched(value, state)

    def forget_touched(self, value: Expr, state: State) -> State:
        """Forgets places whose pointer was passed on: they may have been written."""
        for node in within(value):
            if getattr(node, "spec", "") == "&":
                state = forget(state, root(node.value))  # type: ignore[attr-defined]
        return state

    def assign(self, stmt: Assign, state: State) -> State:
        self.look(stmt.value, state)
        state = self.forget_touched(stmt.value, state)
        target = stmt.targets[0]
        if not isinstance(target, Many):
            self.look(target, state)
            return self.bind(target, stmt.value, state, stmt.annotation)
        values = stmt.value.items if isinstance(stmt.value, Many) else ()
        types = self.shapes.results(stmt.value) if isinstance(stmt.value, Call) else ()
        held = [(part, values[i] if len(values) == len(target.items) else None) for i, part in enumerate(target.items)]
        now = state
        for index, (part, value) in enumerate(held):
            if value is not None:
                now = self.bind(part, value, now)
                continue
            now = forget(now, root(part))
            if isinstance(part, Name):
                self.shapes.learn(part.id, types[index] if index < len(types) else None)
        first = target.items[0] if target.items else None
        if isinstance(stmt.value, Call) and self.program.origin(stmt.value.func).startswith("strconv."):
            self.outside.add(root(first))
            if _takes_size(stmt.value):
                self.outside.discard(root(first))
        parsed = self.read_parsed_range(stmt.value, state)
        return {**now, key(first): parsed} if parsed is not None and first is not None and key(first) else now

    def read_parsed_range(self, value: Expr, state: State) -> Range | None:
        """`strconv.ParseInt(s, 10, 16)` returns what fits in 16 bits."""
        origin = self.program.origin(value.func) if isinstance(value, Call) else ""
        if (
            not isinstance(value, Call)
            or origin not in ("strconv.ParseInt", "strconv.ParseUint")
            or len(value.args) < 3
        ):
            return None
        bits = self.at.value(value.args[2], state)
        word = "int" if origin.endswith("ParseInt") else "uint"
        return INTEGERS.get(f"{word}{bits.low or 64}") if bits is not None and bits.low == bits.high else None

    def bind(self, target: Expr, value: Expr, state: State, note: Expr | None = None) -> State:
        place, name = key(target), root(target)
        number = self.at.value(value, state)
        length, capacity = self.at.length(value, state), self.at.capacity(value, state)
        if isinstance(target, Name):
            from_note = Shapes(self.program).of(Call(target.at, note, new=True)) if note is not None else None
            fresh = from_note or self.shapes.of(value) or (INT if number is not None else None)
            self.shapes.learn(target.id, fresh)
        now = forget(state, name) if isinstance(target, Name) else {p: r for p, r in state.items() if p != place}
        whole = self.at.of_type(target)
        if place and number is not None and (whole is None or number.fits(whole)):
            now[place] = number
        if place and length is not None:
            now[f"len({place})"] = length
        if place and capacity is not None:
            now[f"cap({place})"] = capacity
        return now

    def branch(self, stmt: If, state: State) -> State | None:
        """A chain of `else if` is one loop, not a recursion."""
        ends: list[State] = []
        now: State | None = state
        current: If | None = stmt
        while current is not None and now is not None:
            self.look(current.test, now)
            now = self.forget_touched(current.test, now)
            then = self.at.narrow_state(current.test, True, now)
            end = self.block(current.then, then) if then is not None else None
            ends.extend([end] if end is not None else [])
            now = self.at.narrow_state(current.test, False, now)
            other = current.other
            current = other[0] if len(other) == 1 and isinstance(other[0], If) else None
            if current is None and now is not None:
                now = self.block(other, now)
        return _together([*ends, *([now] if now is not None else [])])

    def switch(self, stmt: Switch, state: State) -> State | None:
        if stmt.subject is not None:
            self.look(stmt.subject, state)
        ends: list[State] = []
        rest: State | None = state
        for case in stmt.cases:
            inner = self.enter_case(stmt, case, rest) if rest is not None else None
            end = self.block(case.body, inner) if inner is not None else None
            ends.extend([end] if end is not None else [])
            if not case.patterns:
                rest = None
        return _together([*ends, *([rest] if rest is not None else [])])

    def enter_case(self, stmt: Switch, case: Case, state: State) -> State | None:
        if not case.patterns:
            return state
        tests: tuple[Expr, ...] = case.patterns
        if stmt.subject is not None:
            tests = tuple(Compare(p.at, "==", stmt.subject, _pattern(p)) for p in case.patterns)
        return self.at.narrow_state(Logic(case.at, "or", tests) if len(tests) > 1 else tests[0], True, state)

    def loop(self, stmt: While, state: State) -> State | None:
        inner = self.widen_state(stmt, state)
        if stmt.test is not None:
            self.look(stmt.test, inner)
        entered = self.at.narrow_state(stmt.test, True, inner) if stmt.test is not None else inner
        if entered is not None:
            end = self.block(stmt.body, entered)
            self.block(stmt.step, end if end is not None else dict(entered))
        broken = any(isinstance(node, Jump) and node.how == "break" for node in within(stmt.body))
        if stmt.test is None:
            return inner if broken else None
        return inner if broken else self.at.narrow_state(stmt.test, False, inner)

    def widen_state(self, stmt: While | Each, state: State) -> State:
        """Widening before a loop: a counter that only grows keeps its lower bound, all other changed places become
        unknown."""
        changes: dict[str, list[Assign | Augment]] = {}
        for name, change in find_assigned((stmt.body, getattr(stmt, "step", ()))):
            changes.setdefault(name, []).append(change)
        now = state
        for name, found in changes.items():
            start, whole = state.get(name), self.at.of_type(Name((0, 0), name))
            now = forget(now, name)
            ways = {_direction(change, self.at, state) for change in found}
            if start is not None and whole is not None and len(ways) == 1 and ways <= {"up", "down"}:
                now = {**now, name: Range(start.low, whole.high) if "up" in ways else Range(whole.low, start.high)}
        return now

    def each(self, stmt: Each, state: State) -> State | None:
        self.look(stmt.iterable, state)
        inner = self.widen_state(stmt, state)
        length = self.at.length(stmt.iterable, state)
        count = self.at.value(stmt.iterable, state)
        most = length.high if length is not None else count.high if count is not None else LONGEST
        holder = self.shapes.of(stmt.iterable)
        start = [s for s in stmt.body[:2] if isinstance(s, Assign) and s.at[1] <= stmt.body[0].at[1]]
        for made in start if most > 0 else []:
            name = key(made.targets[0])
            inner = forget(inner, name)
            if isinstance(made.value, Opaque) and made.value.word == "key":
                indexed = holder is None or holder.word not in ("map", "chan")
                self.shapes.learn(name, INT if indexed else holder.holds if holder and holder.word == "chan" else None)
                inner = {**inner, name: Range(0, most - 1)} if indexed else inner
            elif isinstance(made.value, Item):
                text = holder is not None and holder.word == "string"
                self.shapes.learn(name, Shapes(self.program).of(Call(made.at, Name(made.at, "rune"), (made.value,)))
                                  if text else self.shapes.of(made.value))  # fmt: skip
        prologue = len(start) if start and isinstance(start[0].value, Opaque | Item) else 0
        if most > 0:
            self.block(stmt.body[prologue:], inner)
        return self.widen_state(stmt, state)

    # Checks in every expression.

    def look(self, expr: Expr | Stmt | None, state: State) -> None:
        """Checks conversions and indices; in `a && b`, `b` only where `a` holds."""
        waiting: list[tuple[object, State]] = [(expr, state)]
        while waiting:
            node, now = waiting.pop()
            self.steps += 1
            if not isinstance(node, tuple) or self.steps > STEPS or is_handed(node):
                continue
            if isinstance(node, Logic):
                current: State | None = now
                for part in node.values:
                    if current is not None:
                        waiting.append((part, current))
                        current = self.at.narrow_state(part, node.op == "and", current)
                continue
            if isinstance(node, Function):
                self.whole(node)
                continue
            self.check(node, now)
            waiting.extend((part, now) for part in node)

    def check(self, node: object, state: State) -> None:
        if isinstance(node, Call):
            self.check_conversion(node, state)
            self.check_size(node, state)
            self.into(node, state)
        elif isinstance(node, Item):
            index, length = self.at.value(node.key, state), self.at.length(node.base, state)
            known = index is not None and length is not None and self.is_reckoned(node.key, state)
            if known and index is not None and length is not None and index.high >= length.high:
                self.found[("index", node.at)] = None
        elif isinstance(node, Cut):
            self.check_slice(node, state)

    def is_reckoned(self, index: Expr, state: State) -> bool:
        """Whether the code itself bounds the number from above: what any byte can be says nothing."""
        for node in within(index):
            if isinstance(node, Item | Attr) or (isinstance(node, Call) and callee_word(node) not in ("len", "cap")):
                return False
            found, whole = (
                (self.at.value(node, state), self.at.of_type(node)) if isinstance(node, Name) else (None, None)
            )
            if found is not None and (found.high >= FINITE or (whole is not None and found.high >= whole.high)):
                return False
        return True

    def check_slice(self, node: Cut, state: State) -> None:
        limit = self.at.capacity(node.base, state)
        bounds = [self.at.value(bound, state) for bound in (node.low, node.high, node.step) if bound is not None]
        known = [bound for bound in bounds if bound is not None]
        if not all(self.is_reckoned(bound, state) for bound in (node.low, node.high, node.step) if bound is not None):
            return
        past = limit is not None and any(FINITE > bound.high > limit.high for bound in known)
        crossed = any(a.low > b.high for a, b in pairwise(known))
        if past or crossed:
            self.found[("slice", node.at)] = None

    def check_size(self, node: Call, state: State) -> None:
        """`make([]byte, n)` and `strings.Repeat(text, n)` with a parsed number that nothing bounds."""
        for size in node.args[1:] if key(node.func) in SIZED else ():
            found = self.at.value(size, state) or self.at.of_type(size)
            if root(size) in self.outside and (found is None or found.high >= FINITE):
                self.found[("size", node.at)] = None

    def check_conversion(self, node: Call, state: State) -> None:
        target = self.shapes.conversion(node)
        whole = INTEGERS.get(target.word) if target is not None else None
        if target is None or whole is None or target.word == "uintptr":
            return
        inner = node.args[0]
        found = self.at.value(inner, state)
        known = self.at.of_type(inner)
        # `byte(x >> 8)` truncates on purpose.
        meant = isinstance(inner, Binary) and inner.op in (">>", "&", "%")
        if found is None or known is None or isinstance(inner, Const) or meant or found.fits(whole):
            return
        if not self.is_spelled_out(inner, whole):
            self.found[("parsed" if root(inner) in self.outside else "convert", node.at)] = None

    def is_spelled_out(self, inner: Expr, whole: Range) -> bool:
        """`byte(x)` beside `byte(x >> 8)`: an integer written byte by byte."""
        place = key(inner)
        text = self.program.module.data
        shifts = (f"({place} >> ".encode(), f"({place}>>".encode())
        return bool(place) and whole.high <= 0xFFFF and any(shift in text for shift in shifts)

    def into(self, node: Call, state: State) -> None:
        """Runs a function of the file on what is known of its slice arguments."""
        own = self.program.functions.get(node.func.id) if isinstance(node.func, Name) else None
        if own is None or len(own.params) != len(node.args):
            return
        given: State = {}
        for param, arg in zip(own.params, node.args, strict=True):
            length, capacity = self.at.length(arg, state), self.at.capacity(arg, state)
            given.update({f"len({param.name})": length} if length is not None else {})
            given.update({f"cap({param.name})": capacity} if capacity is not None else {})
        if given:
            self.whole(own, given)


def _takes_size(parsed: Call) -> bool:
    """`strconv.ParseInt(s, 10, bits)`: whoever gives the size knows the type."""
    return len(parsed.args) == 3 and not isinstance(parsed.args[2], Const)


def _pattern(pattern: Expr) -> Expr:
    return pattern.parts[0] if isinstance(pattern, Opaque) and pattern.parts else pattern


def _direction(change: Assign | Augment, at: Reckoner, state: State) -> str:
    if not isinstance(change, Augment) or change.op not in ("+", "-") or not isinstance(change.target, Name):
        return "any"
    step = at.value(change.value, state)
    if step is None or step.low < 0:
        return "any"
    return "up" if change.op == "+" else "down"


def _together(ends: list[State]) -> State | None:
    if not ends:
        return None
    result = ends[0]
    for end in ends[1:]:
        result = join_states(result, end)
    return result
