"""Lock errors in Go: locked twice, not released on a return, locked in two orders, copied; and fields used with and
without their lock.

A lock is identified by its type and field (`Server.mu`), and by the variable through which it was reached.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Augment,
    Block,
    Call,
    Class,
    Define,
    Do,
    Each,
    Expr,
    Function,
    Hole,
    If,
    Jump,
    Lambda,
    Later,
    Many,
    Name,
    Return,
    Span,
    Stmt,
    Switch,
    Unary,
    While,
)
from moot.scan.go.program import Program, callee_word, key, root, shape, within
from moot.scan.go.rules import structure as flaw
from moot.scan.go.shapes import Shapes
from moot.scan.rule import Rule

Found = tuple[Rule, Span]
LOCKS = {"Lock": "w", "RLock": "r"}
UNLOCKS = ("Unlock", "RUnlock")
KINDS = ("sync.Mutex", "sync.RWMutex", "sync.Locker")
RESETS = ("reset", "recycle")
LEAST_ANEW = 3
MAX_STATES = 6
MAX_STEPS = 4000


class Held(NamedTuple):
    lock: str
    """`Server.mu`"""
    through: str
    """`s.mu`"""
    how: str


@dataclass
class LockSummary:
    """The lock operations of a function, independent of its caller."""

    owner: str
    function: Function
    takes: set[Held] = field(default_factory=set)
    calls: list[tuple[str, str, frozenset[Held], Span]] = field(default_factory=list)
    """Callee, receiver variable, locks held, place."""
    orders: set[tuple[str, str, Span]] = field(default_factory=set)
    deferred: set[str] = field(default_factory=set)
    """What runs when it returns."""
    uses: list[tuple[str, bool, bool, Span]] = field(default_factory=list)
    """Field of the receiver, whether it is written, whether a lock is held, place."""
    found: list[Found] = field(default_factory=list)


State = tuple[frozenset[Held], frozenset[str]]
"""Locks held, and locks released by `defer`."""


def lock_flaws(program: Program) -> Iterator[Found]:
    summaries = _summaries(program)
    _spread(summaries)
    for summary in summaries.values():
        yield from summary.found
        yield from _find_taken_again(summary, summaries)
    yield from _orders(summaries)
    yield from _find_unguarded(program, summaries)
    yield from _find_copied(program)


def _summaries(program: Program) -> dict[str, LockSummary]:
    found: dict[str, LockSummary] = {}
    for stmt in program.module.body:
        if isinstance(stmt, Define):
            found[stmt.function.name] = _Walk(program, "", stmt.function).summary
        elif isinstance(stmt, Class):
            for inner in stmt.body:
                if isinstance(inner, Define):
                    walked = _Walk(program, stmt.name, inner.function)
                    found[f"{stmt.name}.{inner.function.name}"] = walked.summary
    return found


class _Walk:
    """Walks all paths of a function, a few at a time."""

    def __init__(self, program: Program, owner: str, function: Function) -> None:
        self.program = program
        self.shapes = Shapes(program, function)
        self.summary = LockSummary(owner, function)
        self.receiver = function.params[0].name if owner and function.params else ""
        self.steps = 0
        self.unlocked = {key(n.func.base) for n in program.run_by(function)
                         if isinstance(n, Call) and isinstance(n.func, Attr) and n.func.name in UNLOCKS}  # fmt: skip
        for state in self.block(function.body, [(frozenset(), frozenset())]):
            self.leave(state, (function.at[1] - 1, function.at[1]))

    def block(self, body: Block, states: list[State]) -> list[State]:
        for stmt in body:
            self.steps += 1
            if not states or self.steps > MAX_STEPS:
                return states
            states = list(dict.fromkeys(self.one(stmt, states)))[:MAX_STATES]
        return states

    def one(self, stmt: Stmt, states: list[State]) -> list[State]:
        match stmt:
            case If(test=test, then=then, other=other):
                before = self.walk_expression(test, states)
                return [*self.block(then, before), *self.block(other, before)]
            case Switch(cases=cases):
                default = any(not case.patterns for case in cases)
                ends = [end for case in cases for end in self.block(case.body, states)]
                return [*ends, *([] if default else states)]
            case While(body=body, step=step) | Each(body=body, other=step):
                return [*states, *self.block((*body, *step), states)]
            case Return():
                for state in self.walk_expression(stmt.value, states):
                    self.leave(state, stmt.at, stmt.value)
                return []
            case Jump():
                return []
            case Later(how="defer", value=value):
                return [self.apply_defer(value, state) for state in states]
            case Do(value=value):
                return self.walk_expression(value, states)
            case Assign() | Augment():
                return self.walk_assignment(stmt, states)
        return states

    def walk_assignment(self, stmt: Assign | Augment, states: list[State]) -> list[State]:
        target = stmt.targets[0] if isinstance(stmt, Assign) else stmt.target
        states = self.walk_expression(stmt.value, states)
        for held, _ in states:
            self.note_use(target, True, held)
        if isinstance(target, Name) and isinstance(stmt, Assign):
            self.shapes.learn(target.id, shape(self.program, stmt.annotation) or self.shapes.of(stmt.value))
        return states

    def walk_expression(self, value: Expr | None, states: list[State]) -> list[State]:
        """The calls in an expression, in order of evaluation."""
        nodes = [node for node in within(value) if isinstance(node, Call | Attr)]
        for node in nodes:
            if isinstance(node, Attr):
                for held, _ in states:
                    self.note_use(node, False, held)
            elif isinstance(node.func, Attr) and (node.func.name in LOCKS or node.func.name in UNLOCKS):
                states = [self.apply_lock(node, node.func, state) for state in states]
            else:
                for held, _ in states:
                    self.note_call(node, held)
        if isinstance(value, Call) and callee_word(value) in ("panic", "Exit", "Fatal", "Fatalf"):
            return []
        return states

    def note_use(self, place: Expr, written: bool, held: frozenset[Held]) -> None:
        while isinstance(place, Attr) and not isinstance(place.base, Name):
            base = place.base
            if not isinstance(base, Attr):
                return
            place = base
        if isinstance(place, Attr) and self.receiver and root(place) == self.receiver:
            self.summary.uses.append((place.name, written, bool(held), place.at))

    def apply_lock(self, node: Call, func: Attr, state: State) -> State:
        held, later = state
        through = key(func.base)
        lock = self.name_of(func.base)
        if not through or not lock:
            return state
        if func.name in UNLOCKS:
            return frozenset(h for h in held if h.through != through), later
        now = Held(lock, through, LOCKS[func.name])
        same = [h for h in held if h.through == through]
        if any(h.how == "w" or now.how == "w" for h in same):
            self.summary.found.append((flaw.LOCK_TWICE, node.at))
        self.summary.takes.add(now)
        self.summary.orders.update((h.lock, lock, node.at) for h in held if h.lock != lock)
        return held | {now}, later

    def name_of(self, base: Expr) -> str:
        """`Server.mu` for `s.mu`, `Server` for an embedded lock, the name of a global."""
        if isinstance(base, Attr):
            owner = self.shapes.of(base.base)
            return f"{owner.word if owner is not None else key(base.base)}.{base.name}"
        found = self.shapes.of(base)
        return found.word if found is not None and found.word not in KINDS else key(base)

    def apply_defer(self, value: Expr, state: State) -> State:
        held, later = state
        calls = [n for n in within(value) if isinstance(n, Call)]
        if isinstance(value, Call) and isinstance(value.func, Lambda):
            calls = [n for n in within(value.func.function.body) if isinstance(n, Call)]
        freed = {key(n.func.base) for n in calls if isinstance(n.func, Attr) and n.func.name in UNLOCKS}
        self.summary.deferred.update(filter(None, (self.find_callee(n) for n in calls)))
        # A deferred function value may release anything.
        unsure = any(isinstance(n.func, Name) for n in calls)
        return held, later | freed | ({"*"} if unsure else set())

    def note_call(self, node: Call, held: frozenset[Held]) -> None:
        if callee := self.find_callee(node):
            through = key(node.func.base) if isinstance(node.func, Attr) else ""
            self.summary.calls.append((callee, through, held, node.at))

    def find_callee(self, node: Call) -> str:
        func = node.func
        if isinstance(func, Name) and func.id in self.program.functions:
            return func.id
        owner = self.shapes.of(func.base) if isinstance(func, Attr) else None
        known = owner is not None and owner.word in self.program.types
        return f"{owner.word}.{func.name}" if known and owner is not None and isinstance(func, Attr) else ""

    def leave(self, state: State, at: Span, returned: Expr | None = None) -> None:
        held, later = state
        for one in held:
            kept = one.through not in later and "*" not in later and one.through in self.unlocked
            if kept and not self.is_handed_over(one, returned):
                self.summary.found.append((flaw.LOCK_KEPT, at))

    def is_handed_over(self, held: Held, returned: Expr | None) -> bool:
        """Whether what is returned was given the owner of the lock here: it releases the lock later, as a transaction
        does."""
        given = returned.items[0] if isinstance(returned, Many) and returned.items else returned
        name, owner = root(given), root_word(held.through)
        for node in self.program.run_by(self.summary.function) if name not in ("", owner, "nil") else ():
            if isinstance(node, Assign) and key(node.targets[0]) == name and _makes_with(node.value, owner):
                return True
            if isinstance(node, Call) and root(node.func) == name and _is_given(node, owner):
                return True
        return False


def _makes_with(value: Expr, owner: str) -> bool:
    """`&Tx{db: db}`, `newTx(db)`"""
    made = value.value if isinstance(value, Hole) else value
    makes = isinstance(made, Call) and (made.new or callee_word(made).lower().startswith("new"))
    return makes and isinstance(made, Call) and _is_given(made, owner)


def _is_given(call: Call, owner: str) -> bool:
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return any(isinstance(value, Name) and value.id == owner for value in given)


def _spread(summaries: dict[str, LockSummary]) -> None:
    """Adds the locks of callees to their callers; a lock of the same receiver under the caller's name for it."""
    for _ in range(6):
        changed = False
        for summary in summaries.values():
            before = len(summary.takes)
            for callee, through, held, at in summary.calls:
                other = summaries.get(callee)
                for taken in tuple(other.takes) if other is not None else ():
                    inner = _rename_lock(other, taken, through) if other is not None else ""
                    summary.takes.add(Held(taken.lock, inner, taken.how))
                    summary.orders.update((h.lock, taken.lock, at) for h in held if h.lock != taken.lock)
            changed = changed or len(summary.takes) != before
        if not changed:
            return


def _rename_lock(other: LockSummary, taken: Held, through: str) -> str:
    receiver = other.function.params[0].name if other.owner and other.function.params else ""
    if not receiver or not taken.through or root_word(taken.through) != receiver or not through:
        return taken.through if not other.owner and "." not in taken.through else ""
    return through + taken.through[len(receiver) :]


def root_word(place: str) -> str:
    return place.split(".")[0].split("[")[0]


def _find_taken_again(summary: LockSummary, summaries: dict[str, LockSummary]) -> Iterator[Found]:
    for callee, through, held, at in summary.calls:
        other = summaries.get(callee)
        for taken in other.takes if other is not None else ():
            inner = _rename_lock(other, taken, through) if other is not None else ""
            if inner and any(h.through == inner and "w" in (h.how, taken.how) for h in held):
                yield flaw.LOCK_TWICE, at


def _orders(summaries: dict[str, LockSummary]) -> Iterator[Found]:
    seen: dict[tuple[str, str], Span] = {}
    for summary in summaries.values():
        for first, second, at in sorted(summary.orders, key=lambda order: order[2]):
            seen.setdefault((first, second), at)
    for (first, second), at in seen.items():
        if (second, first) in seen:
            yield flaw.LOCK_ORDER, at


def _find_unguarded(program: Program, summaries: dict[str, LockSummary]) -> Iterator[Found]:
    """A field written under the struct's lock in one method and used without it in another."""
    guarded_callees = _find_guarded(summaries)
    for owner in program.types:
        if not _has_lock(program, owner):
            continue
        methods = {name: s for name, s in summaries.items() if s.owner == owner}
        guarded = {use[0] for s in methods.values() for use in s.uses if use[1] and use[2]}
        for name, summary in methods.items():
            word = summary.function.name.lower()
            if name in guarded_callees or "locked" in word or word.startswith(("new", "init")):
                continue
            if word.startswith(RESETS) and _sets_anew(summary, guarded):
                continue
            for place, written, held, at in summary.uses:
                if place in guarded and not held and _is_plain(program, owner, place):
                    yield (flaw.UNGUARDED_WRITE if written else flaw.UNGUARDED), at
                    break


def _find_guarded(summaries: dict[str, LockSummary]) -> set[str]:
    """Functions that run with a lock held, and what these call."""
    waiting = [callee for s in summaries.values() for callee, _, held, _ in s.calls if held]
    found: set[str] = set()
    while waiting:
        callee = waiting.pop()
        if callee not in found and callee in summaries:
            waiting.extend((*(called[0] for called in summaries[callee].calls), *summaries[callee].deferred))
        found.add(callee)
    return found


def _sets_anew(summary: LockSummary, guarded: set[str]) -> bool:
    """Sets mostly fields that no lock guards: it makes the object new for its next owner, as a pool does."""
    written = {place for place, changed, held, _ in summary.uses if changed and not held}
    return len(written - guarded) >= max(LEAST_ANEW, len(written & guarded))


def _has_lock(program: Program, owner: str, itself: bool = False) -> bool:
    """`itself`: not only a pointer to one."""
    notes = [*(note for _, note, _ in program.fields(owner)), *program.types[owner].bases]
    found = [shape(program, note) for note in notes if not (itself and isinstance(note, Unary | Hole))]
    return any(one is not None and one.word in KINDS for one in found)


def _is_plain(program: Program, owner: str, name: str) -> bool:
    """Not a channel or lock, which are safe to share."""
    note = next((note for word, note, _ in program.fields(owner) if word == name), None)
    found = shape(program, note)
    return found is not None and found.word != "chan" and not found.word.startswith(("sync", "context."))


def _find_copied(program: Program) -> Iterator[Found]:
    for function in program.bodies:
        for param in function.params:
            owner = param.annotation.id if isinstance(param.annotation, Name) else ""
            if owner in program.types and _has_lock(program, owner, itself=True):
                yield flaw.LOCK_COPIED, param.at
