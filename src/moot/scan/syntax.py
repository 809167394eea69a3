"""Source text as a tree: its nodes by kind, its lines, and which function and statement a byte stands in."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice, pairwise
from typing import Generic, TypeVar

import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from moot.types import Language, NotAnalysed

T = TypeVar("T")


def words(line: str) -> frozenset[str]:
    """A set, written as a line of words."""
    return frozenset(line.split())


MODULE = "<module>"
FUNCTIONS = words(
    "function_definition lambda function_declaration function_expression generator_function_declaration "
    "generator_function arrow_function method_definition method_declaration func_literal"
)
STATEMENTS = words(
    "expression_statement return_statement assert_statement delete_statement raise_statement throw_statement "
    "lexical_declaration variable_declaration short_var_declaration var_declaration const_declaration "
    "assignment_statement go_statement defer_statement if_statement while_statement for_statement with_statement "
    "try_statement field_definition public_field_definition"
)
FIRST_LOOK = 16_384
MAX_MESS = 1000
UNINDEXED = frozenset({"identifier", "property_identifier", "field_identifier"})


@dataclass(frozen=True, eq=False)
class Scope:
    """A function, or the module around all of them."""

    name: str
    node: Node
    outer: "Scope | None"
    parameters: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Landmarks(Generic[T]):
    """What holds from a byte on, until the next landmark."""

    places: list[int]
    values: list[T]

    def at(self, byte: int) -> T:
        return self.values[bisect_right(self.places, byte) - 1]

    def add(self, byte: int, value: T) -> None:
        self.places.append(byte)
        self.values.append(value)


@dataclass(frozen=True, eq=False)
class Source:
    """One parsed file."""

    path: str
    language: Language
    data: bytes
    root: Node
    found: dict[str, list[Node]]
    scopes: Landmarks[Scope]
    statements: Landmarks[Node | None]
    functions: list[Scope] = field(default_factory=list)
    memo: dict[str, object] = field(default_factory=dict)
    """What later modules work out once per file: names, bindings."""

    def text(self, node: Node) -> str:
        return self.slice(node.start_byte, node.end_byte)

    def slice(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def line(self, node: Node) -> str:
        start = self.data.rfind(b"\n", 0, node.start_byte) + 1
        end = self.data.find(b"\n", node.start_byte)
        return self.slice(start, end if end >= 0 else len(self.data)).strip().lstrip("\ufeff")

    def column(self, node: Node) -> int:
        start = self.data.rfind(b"\n", 0, node.start_byte) + 1
        return len(self.slice(start, node.start_byte)) + 1

    def nodes(self, *kinds: str) -> Iterator[Node]:
        for kind in kinds:
            yield from self.found.get(kind, ())

    def scope(self, node: Node) -> Scope:
        return self.scopes.at(node.start_byte)

    def statement(self, node: Node) -> Node | None:
        return self.statements.at(node.start_byte)


@cache
def grammar(language: Language, tsx: bool) -> Grammar:
    match language:
        case "python":
            return Grammar(tree_sitter_python.language())
        case "javascript":
            return Grammar(tree_sitter_javascript.language())
        case "typescript":
            typed = tree_sitter_typescript
            return Grammar(typed.language_tsx() if tsx else typed.language_typescript())
        case "go":
            return Grammar(tree_sitter_go.language())


def parse(path: str, language: Language, text: str) -> Source:
    data = text.encode("utf-8", "replace")
    root = _root(Parser(grammar(language, path.endswith(".tsx"))), data)
    module = Scope(MODULE, root, None)
    source = Source(
        path, language, data, root, defaultdict(list), Landmarks([-1], [module]), Landmarks[Node | None]([-1], [None])
    )
    _index(source)
    return source


def _root(parser: Parser, data: bytes) -> Node:
    """The tree of the whole text, or of its beginning when that is no code at all: on garbage the parser's time grows
    with the square of its length, and it cannot be stopped."""
    end = FIRST_LOOK
    while end < len(data):
        cut = data.rfind(b"\n", 0, end) + 1 or end
        root = parser.parse(data[:cut]).root_node
        if root.has_error and _mess(root) > MAX_MESS:
            return root
        end *= 2
    return parser.parse(data).root_node


def _mess(root: Node) -> int:
    """How many pieces do not fit. A text that is merely cut off has one or two."""
    broken = [node for node in walk(root) if node.is_error or node.is_missing]
    kinds = [child.type for node in broken for child in node.children]
    loose = sum(kind in ("'", '"', "`") for kind in kinds)
    joined = sum(one == other and "string" in one for one, other in pairwise(kinds))
    return len(broken) + loose + joined


def walk(root: Node) -> Iterator[Node]:
    """Every node, outer before inner. No recursion: hostile code nests deeper than a stack."""
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def nth(node: Node, index: int) -> Node | None:
    """A named child; the binding raises where there is none."""
    return node.named_child(index) if index < node.named_child_count else None


def inside(root: Node, limit: int = 4000) -> Iterator[Node]:
    """The nodes under a node, itself first. Bounded, so that nested code cannot make it quadratic."""
    return islice(walk(root), limit)


def _index(source: Source) -> None:
    scopes: list[tuple[Node, Scope]] = [(source.root, source.scopes.values[0])]
    statements: list[tuple[Node, Node | None]] = [(source.root, None)]
    for node in walk(source.root):
        kind = node.type
        if kind in FUNCTIONS:
            _leave(scopes, source.scopes, node.start_byte)
            scope = _scope(source, node, scopes[-1][1])
            source.functions.append(scope)
            scopes.append((node, scope))
            source.scopes.add(node.start_byte, scope)
        elif kind in STATEMENTS:
            _leave(statements, source.statements, node.start_byte)
            statements.append((node, node))
            source.statements.add(node.start_byte, node)
        if node.is_missing:
            source.found["MISSING"].append(node)
        elif kind not in UNINDEXED and node.is_named:
            source.found[kind].append(node)
    _leave(scopes, source.scopes, len(source.data) + 1)
    _leave(statements, source.statements, len(source.data) + 1)


def _leave(open_nodes: list[tuple[Node, T]], landmarks: Landmarks[T], byte: int) -> None:
    """Close what ended before this byte; the outermost stays."""
    while len(open_nodes) > 1 and open_nodes[-1][0].end_byte <= byte:
        ended, _ = open_nodes.pop()
        landmarks.add(ended.end_byte, open_nodes[-1][1])


def _scope(source: Source, node: Node, outer: Scope) -> Scope:
    name = node.child_by_field_name("name")
    names: set[str] = set()
    lists = [node.child_by_field_name(f) for f in ("parameters", "parameter", "receiver")]
    for parameters in (one for one in lists if one is not None):
        names.update(_parameter_names(source, parameters))
    return Scope(source.text(name) if name else "", node, outer, frozenset(names))


def _parameter_names(source: Source, parameters: Node) -> Iterator[str]:
    kinds = ("identifier", "shorthand_property_identifier_pattern")
    yield from (source.text(node) for node in inside(parameters, 400) if node.type in kinds)


def trouble(source: Source) -> NotAnalysed | None:
    """What kept part of the file from being understood; such a file is never called clean."""
    if not source.root.has_error:
        return None
    broken = sorted((*source.found.get("ERROR", ()), *source.found.get("MISSING", ())), key=lambda n: n.start_byte)
    if not broken:
        return NotAnalysed(file=source.path, line=1, why="the file does not parse")
    first, more = broken[0], len(broken) - 1
    what = f"{first.type!r} is missing" if first.is_missing else f"cannot parse {_excerpt(source, first)!r}"
    rest = f"; {more} more such place{'s' if more > 1 else ''}" if more else ""
    if source.root.end_byte < len(source.data.rstrip()):
        rest += f"; nothing after line {source.root.end_point[0] + 1} was read"
    return NotAnalysed(file=source.path, line=first.start_point[0] + 1, why=f"syntax error: {what}{rest}")


def _excerpt(source: Source, node: Node) -> str:
    lines = source.slice(node.start_byte, min(node.end_byte, node.start_byte + 160)).split("\n")
    return lines[0].strip()[:40]
