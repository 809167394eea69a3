"""A Go file as the checks without dataflow see it: names, types, nesting."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from moot.scan.engine.ir import (
    Assign,
    Attr,
    Augment,
    Call,
    Class,
    Clause,
    Const,
    Define,
    Entered,
    Expr,
    Function,
    Hole,
    Import,
    Item,
    Lambda,
    Many,
    Module,
    Name,
    Opaque,
    Param,
    Scalar,
    Unary,
)

ALIASES = {"byte": "uint8", "rune": "int32", "any": "interface"}
LITERAL = "<func>"
LISTS = ("slice_type", "array_type", "implicit_length_array_type")


class Shape(NamedTuple):
    """A type: a basic type or struct by name; `list`, `map` or `chan` with its element type; pointers are
    dereferenced."""

    word: str
    holds: "Shape | None" = None
    size: int | None = None
    """The length of an array."""


TEXT = Shape("string")


@dataclass(frozen=True, eq=False)
class Program:
    module: Module
    imports: dict[str, str] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    types: dict[str, Class] = field(default_factory=dict)
    constants: dict[str, Scalar] = field(default_factory=dict)
    variables: dict[str, Assign] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    """Package variables that some function assigns."""
    bodies: list[Function] = field(default_factory=list)
    """Every function, including methods and function literals."""
    nodes: list[object] = field(default_factory=list)
    """All nodes in source order, collected once."""
    handed: set[str] = field(default_factory=set)
    """Computed on first use: names of fields that are called or passed to calls."""
    memo: dict[str, object] = field(default_factory=dict)
    """A cache for other modules."""
    _fields: dict[str, tuple[tuple[str, Expr | None, Opaque], ...]] = field(default_factory=dict)
    _run: dict[int, tuple[object, list[object]]] = field(default_factory=dict)
    _methods: dict[str, dict[str, Function]] = field(default_factory=dict)
    """Computed on first use: every use of a type asks, and a type can have thousands of methods."""

    def origin(self, expr: Expr | None) -> str:
        """The full name (`net/http.Get`) of an imported name; "" for anything else."""
        names: list[str] = []
        while isinstance(expr, Attr):
            names.append(expr.name)
            expr = expr.base
        if not isinstance(expr, Name) or expr.id not in self.imports:
            return ""
        return ".".join((self.imports[expr.id], *reversed(names)))

    def fields(self, name: str) -> Sequence[tuple[str, Expr | None, Opaque]]:
        if name not in self._fields:
            self._fields[name] = tuple(_fields(self.types[name])) if name in self.types else ()
        return self._fields[name]

    def run_by(self, function: Function) -> list[object]:
        body = function.body
        if id(body) not in self._run:
            self._run[id(body)] = body, list(within(body))  # keeps the body alive, so that its id stays unique
        return self._run[id(body)][1]

    def methods(self, name: str) -> dict[str, Function]:
        if name not in self._methods:
            self._methods[name] = _methods(self.types[name]) if name in self.types else {}
        return self._methods[name]


def _methods(node: Class) -> dict[str, Function]:
    """The first definition of each name."""
    return {stmt.function.name: stmt.function for stmt in reversed(node.body) if isinstance(stmt, Define)}


def _fields(node: Class) -> Iterator[tuple[str, Expr | None, Opaque]]:
    for stmt in node.body:
        if not isinstance(stmt, Assign) or not isinstance(stmt.targets[0], Name):
            continue
        # A text is known by the name of its field.
        made = stmt.value.base if isinstance(stmt.value, Attr) else stmt.value
        if isinstance(made, Opaque):
            yield stmt.targets[0].id, stmt.annotation, made


def read(module: Module) -> Program:
    program = Program(module)
    for stmt in module.body:
        match stmt:
            case Import(local=local) if local not in ("", "*"):
                program.imports[local] = stmt.origin
            case Define():
                program.functions[stmt.function.name] = stmt.function
            case Assign(targets=(Name(id=name),)):
                program.variables[name] = stmt
                if isinstance(stmt.value, Const):
                    program.constants[name] = stmt.value.value
            case _:
                pass
    program.nodes.extend(inside(module.body))
    for node in program.nodes:
        if isinstance(node, Function):
            program.bodies.append(node)
        elif isinstance(node, Class):
            program.types[node.name] = node
        elif isinstance(node, Augment) or (isinstance(node, Assign) and not node.local):
            targets = (node.target,) if isinstance(node, Augment) else node.targets
            program.changed.update(key(part) for target in targets for part in parts(target))
    return program


def parts(target: Expr) -> tuple[Expr, ...]:
    return target.items if isinstance(target, Many) else (target,)


UNPLACED = frozenset({tuple, Clause, Entered})
"""All other nodes start with their span."""
CLOSED = frozenset({Lambda, Function, Class, Define})


def inside(node: object) -> Iterator[object]:
    """A node and all nodes under it, in source order. Iterative: code nests deeper than the stack."""
    waiting = [node] if isinstance(node, tuple) else []
    while waiting:
        current = waiting.pop()
        if type(current) is not tuple:
            if is_handed(current):
                continue
            yield current
        waiting.extend(_list_children(current))


def _list_children(node: tuple[object, ...]) -> list[tuple[object, ...]]:
    """Fields that can hold nodes, last first: neither spans nor strings."""
    rest = node[::-1] if type(node) in UNPLACED else node[:0:-1]
    return [part for part in rest if isinstance(part, tuple)]


def is_handed(node: object) -> bool:
    """A function literal placed before its statement, where it occurs again. Visiting nested ones twice would double
    the work with every level."""
    return isinstance(node, Define) and node.function.name == LITERAL


def within(node: object) -> Iterator[object]:
    """Like `inside`, but without nested functions."""
    waiting = [node] if isinstance(node, tuple) else []
    while waiting:
        current = waiting.pop()
        if type(current) is not tuple:
            yield current
        if type(current) not in CLOSED:
            waiting.extend(_list_children(current))


def key(expr: Expr | None) -> str:
    """A key for a place: equal for the same variable, field or element; "" for anything else."""
    match expr:
        case Name():
            return expr.id
        case Attr():
            base = key(expr.base)
            return f"{base}.{expr.name}" if base else ""
        case Hole(spec="*" | "&"):
            return key(expr.value)
        case Item():
            base, place = key(expr.base), key(expr.key)
            return f"{base}[{place}]" if base and place else ""
        case Const():
            return repr(expr.value)
        case _:
            return ""


def root(expr: Expr | None) -> str:
    """The variable a place belongs to."""
    while isinstance(expr, Attr | Item | Hole):
        expr = expr.value if isinstance(expr, Hole) else expr.base
    return expr.id if isinstance(expr, Name) else ""


def results(function: Function) -> tuple[Expr, ...]:
    found = next((d for d in function.decorators if isinstance(d, Opaque) and d.word == "results"), None)
    return found.parts if found is not None else ()


def shape(program: Program, note: Expr | None, depth: int = 0) -> Shape | None:
    """Resolves a type expression, through pointers and named types of the file."""
    while isinstance(note, Unary | Hole):
        note = note.value
    if depth > 8:
        return None
    match note:
        case Name(id=word):
            return _find_shape(program, ALIASES.get(word, word), depth)
        case Attr():
            return Shape(program.origin(note) or note.name)
        case Opaque(word=word, parts=held) if word in LISTS and held:
            length = held[0] if len(held) == 2 else None
            size = length.value if isinstance(length, Const) else program.constants.get(key(length))
            return Shape("list", shape(program, held[-1], depth + 1), size if isinstance(size, int) else None)
        case Opaque(word="map_type", parts=(_, value)):
            return Shape("map", shape(program, value, depth + 1))
        case Opaque(word="channel_type", parts=held) if held:
            return Shape("chan", shape(program, held[-1], depth + 1))
        case Opaque(word=word):
            return Shape(word)
    return None


def _find_shape(program: Program, word: str, depth: int) -> Shape | None:
    own = program.types.get(word)
    struct = own is not None and bool(program.fields(word))
    if own is not None and not struct and len(own.bases) == 1:
        return shape(program, own.bases[0], depth + 1)
    return Shape(word)


def parameter(program: Program, param: Param) -> Shape | None:
    found = shape(program, param.annotation)
    return Shape("list", found) if param.kind == "star" else found


def callee_word(expr: Expr) -> str:
    """The last name of the callee."""
    func = expr.func if isinstance(expr, Call) else None
    return func.id if isinstance(func, Name) else func.name if isinstance(func, Attr) else ""
