"""The abstract interpreter: its memory, its budget, its findings."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from moot.scan.engine.carried import find_carried
from moot.scan.engine.ir import Assign, Class, Each, Expr, Function, Many, Module, Name, Span, Stmt, While
from moot.scan.engine.rulebook import FlowBook, NamedRules
from moot.scan.engine.state import Heap, HeapCell, Proved, State
from moot.scan.engine.values import ANY, NONE, Taint, Val
from moot.scan.rule import Rule

if TYPE_CHECKING:
    from moot.scan.engine.summaries import CallSummary

STEPS = 60_000
"""Expressions and statements that may be evaluated per file."""
MAX_STEPS = 200_000
STAGE = 6_000
"""Bytes by which a file must grow to have more steps."""
MAX_LEVELS = 90
"""Nested evaluations across all calls, bounded by the interpreter's stack."""
MAX_CALLS = 8
FEW_CALLS = 2
"""The call depth on the second try of a function that cost too much."""
MAX_INLINED = 60
"""Calls of one function that are followed; after that a summary stands for calls like those before."""
MAX_SHAPES = 240
"""Calls of one function that are followed because none before was like them; what is left out then is reported."""


class Cutoff(Exception):
    """The file's budget is spent."""


class FlowReport(NamedTuple):
    rule: Rule
    module: Module
    at: Span
    taint: Taint | None
    floor: float = 0.0
    """The least confidence in the taint that the rule asks for, whatever is built around it."""


@dataclass(slots=True)
class Unit:
    """A module being run; its variables are the globals of its functions."""

    module: Module
    name: str
    stars: list[str] = field(default_factory=list)
    """Unknown modules imported with `*`."""
    names: dict[str, Val] = field(default_factory=dict)
    exports: dict[str, Val] = field(default_factory=dict)
    """Exports of a JavaScript module; under "" if the module is a single function or class."""
    imports: set[str] = field(default_factory=set)
    done: bool = False
    spent: int = 0
    """Steps that it took to run the module."""
    needed: int = 0
    """The smallest budget with which its run, and that of its functions, is the same; above `MAX_STEPS` if it was too
    small: then every step counts."""
    asked: set[str] = field(default_factory=set)
    """Words that a rule searched the whole text for."""

    @property
    def budget(self) -> int:
        """Steps for running the module, and again for the functions that nothing calls."""
        return find_budget(len(self.module.data))

    @property
    def in_javascript(self) -> bool:
        return self.module.language in ("javascript", "typescript")


def find_budget(size: int) -> int:
    """For a file of so many bytes. It grows in stages, so that small edits leave it as it is."""
    return min(MAX_STEPS, STEPS + size // STAGE * (STAGE // 3))


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A function with its enclosing variables. `owner` is the class of a method."""

    function: Function
    unit: Unit
    env: tuple[dict[str, Val], ...] = ()
    owner: "Kind | None" = None
    proved: Proved = frozenset()
    """What was proved where it was defined: a callback behind a check runs only if the check passed."""


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A class of the given files."""

    node: Class
    unit: Unit
    members: dict[str, Val]
    bases: tuple[Val, ...] = ()


@dataclass(slots=True, eq=False)
class Bound:
    closure: Closure
    receiver: Val


Thing = Closure | Kind | Bound


@dataclass(slots=True)
class Frame:
    """A function being run."""

    unit: Unit
    function: Function | None = None
    env: tuple[dict[str, Val], ...] = ()
    owner: Kind | None = None
    returns: list[tuple[Val, State]] = field(default_factory=list)
    breaks: list[list[State]] = field(default_factory=list)
    continues: list[list[State]] = field(default_factory=list)
    outer: set[str] = field(default_factory=set)
    made: list[Closure] = field(default_factory=list)
    dead: bool = False
    """Set when the current statement calls something that never returns."""
    route: str | None = None
    """The route of a web handler; None for other functions."""
    address: str | None = None
    """The route of the handler being run, also in functions it calls."""
    begins: bool = False
    """Whether the address of the handler being run begins with a text of the program's own."""
    handed: Proved | None = None
    """What was proved at each call of the next handler."""
    at: Span = (0, 0)
    """The loop statement being run."""
    target: str = ""
    """The name to which the current value is assigned."""


def _list_bound(stmt: Assign) -> list[str]:
    targets = [part for target in stmt.targets for part in (target.items if isinstance(target, Many) else (target,))]
    return [target.id for target in targets if isinstance(target, Name)]


class MadeObject(NamedTuple):
    """An object as a constructor leaves it, for methods that start in the same state."""

    value: Val
    cells: dict[int, HeapCell]
    """What the constructor changed."""
    proved: Proved


class Machine:
    def __init__(self, book: FlowBook, units: dict[str, Unit]) -> None:
        self.book = book
        self.units = units
        self.packages: dict[str, dict[str, Val]] = {}
        """Go packages of the given files, by import path."""
        self.begins: dict[int, bool] = {}
        """By the id of a handler's function: whether its addresses all begin with a text of the program's own."""
        self.rows: dict[int, tuple[Closure, ...]] = {}
        """The middleware that runs before a function, by its id."""
        self.reports: dict[tuple[str, str, int], FlowReport] = {}
        self.things: dict[int, Thing] = {}
        self.heap: dict[int, HeapCell] = {}
        self.frames: list[Frame] = []
        self.called: set[int] = set()
        self.entered: set[int] = set()
        """Functions whose body was run, by their id."""
        self.recursive: set[int] = set()
        """Functions that called themselves with known values."""
        self.unknown: dict[str, int] = {}
        """Functions with parameters that nothing calls, by file."""
        self.inlined: dict[int, int] = {}
        self.cut: list[Unit] = []
        """Modules that took more steps than their budget."""
        self.summaries: dict[object, CallSummary] = {}
        self.unfollowed: dict[int, tuple[Module, Span]] = {}
        """Functions with calls that were not followed, by their id."""
        self.memo: dict[object, Val] = {}
        self.bodies: dict[int, str] = {}
        """The texts of functions that rules asked for, by their id."""
        self.named: dict[str, NamedRules] = {}
        """The rules about what is stored, by the name it is stored under."""
        self.named_sources: dict[str, float | None] = {}
        """The confidence in sources, by names that were asked for; None for any other value."""
        self.waiting: list[tuple[Closure, Heap]] = []
        self.beginnings: dict[tuple[int, int, int], tuple[dict[int, HeapCell], dict[int, HeapCell]]] = {}
        """Initial states of functions, by the changes at their definition (kept alive so that ids stay unique), reduced
        to what the modules do not have."""
        self.start: tuple[int, ...] = ()
        """Which of them the entry function being run started with."""
        self.objects: dict[tuple[object, ...], MadeObject] = {}
        self.steps = 0
        self.limit = STEPS
        self.level = 0
        self._last = 0
        self.depth = MAX_CALLS
        """Maximum call depth."""
        self.anew = 0
        """The frame from which a running function may be entered again."""
        self.shared_writes = 0
        """Assignments to variables of modules and of enclosing functions."""
        self._carried: dict[int, frozenset[str]] = {}
        self._declared: dict[int, tuple[str, ...]] = {}
        self._fields: dict[int, tuple[str, ...]] = {}
        self.evals: dict[type, Callable[[Machine, Expr, State], Val]] = {}
        self.absolute: Callable[[str, Unit], str] = lambda dotted, unit: dotted
        """The full name of what an import names."""
        self.execs: dict[type, Callable[[Machine, Stmt, State], bool]] = {}

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    def enter(self, function: Function, frame: Frame) -> None:
        """The only way to the body of a function: what was not entered cannot have had an effect."""
        self.entered.add(id(function))
        self.frames.append(frame)

    def fresh(self) -> int:
        self._last += 1
        return self._last

    def keep(self, thing: Thing) -> Val:
        ref = self.fresh()
        self.things[ref] = thing
        return Val(refs=(ref,))

    def allocate(self, state: State, cell: HeapCell) -> Val:
        ref = self.fresh()
        state.heap[ref] = cell
        return Val(refs=(ref,), name=cell.cls)

    def thing(self, value: Val) -> Thing | None:
        for ref in value.refs:
            found = self.things.get(ref)
            if found is not None:
                return found
        return None

    def cells(self, value: Val, state: State) -> list[tuple[int, HeapCell]]:
        found = []
        own, base = state.heap.own, state.heap.base
        for ref in value.refs:
            cell = own.get(ref) or base.get(ref)
            if cell is not None:
                found.append((ref, cell))
        return found

    def eval(self, expr: Expr | None, state: State) -> Val:
        if expr is None:
            return NONE
        self.steps += 1
        if self.steps > self.limit:
            raise Cutoff
        if self.level >= MAX_LEVELS:
            return ANY
        self.level += 1
        try:
            return self.evals[type(expr)](self, expr, state)
        finally:
            self.level -= 1

    def branch(self, state: State) -> State:
        """Copies the state. Large copies count as several steps; names do not, because an added function is one."""
        self.steps += len(state.heap) >> 3
        return state.copy()

    def run(self, body: Iterable[Stmt], state: State) -> bool:
        """Whether the end of the block can be reached; `state` is then the state there."""
        if self.level >= MAX_LEVELS:
            return True
        self.level += 1
        try:
            for stmt in body:
                self.steps += 1
                if self.steps > self.limit:
                    raise Cutoff
                alive = self.execs[type(stmt)](self, stmt, state)
                frame = self.frames[-1]
                if frame.dead:
                    frame.dead = False
                    return False
                if not alive:
                    return False
            return True
        finally:
            self.level -= 1

    def block(self, body: Sequence[Stmt], state: State) -> bool:
        """Runs a block scope: its declarations shadow outer names until it ends."""
        declared = self.list_declared(body)
        if not declared:
            return self.run(body, state)
        hidden = {name: state.names[name] for name in declared if name in state.names}
        alive = self.run(body, state)
        if hidden:
            state.names.update(hidden)
        return alive

    def list_declared(self, body: Sequence[Stmt]) -> tuple[str, ...]:
        known = self._declared.get(id(body))
        if known is None:
            known = self._declared[id(body)] = tuple(
                name for stmt in body if isinstance(stmt, Assign) and stmt.local for name in _list_bound(stmt)
            )
        return known

    def list_carried(self, loop: While | Each) -> frozenset[str]:
        known = self._carried.get(id(loop))
        if known is None:
            known = self._carried[id(loop)] = find_carried(loop)
        return known

    def fields(self, node: Class) -> tuple[str, ...]:
        """Attribute names of a class, in order."""
        known = self._fields.get(id(node))
        if known is None:
            known = self._fields[id(node)] = tuple(
                target.id
                for stmt in node.body
                if isinstance(stmt, Assign)
                for target in stmt.targets
                if isinstance(target, Name)
            )
        return known

    def wait(self, closure: Closure, state: State) -> None:
        """Queues a function to be analysed on its own, in case nothing calls it."""
        self.waiting.append((closure, state.heap))

    def load(self, unit: Unit | None) -> None:
        """Runs a module of the given files, once."""
        if unit is None or unit.done or len(self.frames) > MAX_CALLS * 2:
            return
        unit.done = True
        # Each module has a budget of its own, whoever imports it.
        steps, limit = self.steps, self.limit
        self.steps, self.limit = 0, unit.budget
        try:
            self._run_module(unit)
        except Cutoff:
            self.cut.append(unit)
        finally:
            unit.spent = unit.needed = self.steps
            self.steps, self.limit = steps, limit

    def _run_module(self, unit: Unit) -> None:
        state = State(unit.names, Heap(own=self.heap))
        self.frames.append(Frame(unit))
        try:
            self.run(unit.module.body, state)
        finally:
            self.frames.pop()
        unit.names.update(state.names)
        self.heap.update(state.heap.own)

    def report(self, rule: Rule, at: Span, taint: Taint | None = None, floor: float = 0.0) -> None:
        self._report(rule, self.frame.unit.module, at, taint, floor)

    def report_source(self, rule: Rule, taint: Taint, at: Span) -> None:
        """Reports at the place where the value was made, or used if that is unknown."""
        path, place = taint.place
        home = next((unit.module for unit in self.units.values() if unit.module.path == path), None)
        if home is None:
            self.report(rule, at, taint)
        else:
            self._report(rule, home, place, taint)

    def _report(self, rule: Rule, module: Module, at: Span, taint: Taint | None, floor: float = 0.0) -> None:
        key = (rule.id, module.path, at[0])
        known = self.reports.get(key)
        if known is None or (taint is not None and known.taint is not None and taint.strength > known.taint.strength):
            self.reports[key] = FlowReport(rule, module, at, taint, floor)
