"""A parsed source file: nodes by kind, lines, and the function and statement at a byte."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from time import thread_time
from typing import Generic, TypeVar

import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript
from tree_sitter import Language as Grammar
from tree_sitter import Node, Parser

from moot.core.types import Language, NotAnalysed
from moot.scan.javascript.older_grammar import fit_grammar
from moot.scan.project import ScanProject

T = TypeVar("T")


def words(line: str) -> frozenset[str]:
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
FIRST_LOOK = 8192
PIECE = 512
PARSING, PARSING_PER_BYTE = 0.3, 1e-6
"""Seconds a file may take to parse, fixed and per byte: ordinary code needs a tenth of that."""
LONG_LINE = 2000
NO_PROJECT = ScanProject()
SUPPRESSION = b"moot:"
"""What a comment has that silences a rule: such a comment is found by the index."""
BROKEN = 65535
"""The kind id of an ERROR node."""
UNINDEXED = words(
    "identifier property_identifier field_identifier string_start string_content string_end string_fragment "
    "interpreted_string_literal_content escape_sequence argument_list arguments block parameters parameter_list "
    "dotted_name integer statement_block interpolation"
)
"""Half of all nodes, and never looked up by kind."""


@dataclass(frozen=True, eq=False)
class Scope:
    """A function, or the module around all of them."""

    name: str
    node: Node
    outer: "Scope | None"
    parameters: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Landmarks(Generic[T]):
    """What applies from a byte on, until the next landmark."""

    places: list[int]
    values: list[T]

    def at(self, byte: int) -> T:
        return self.values[bisect_right(self.places, byte) - 1]

    def add(self, byte: int, value: T) -> None:
        self.places.append(byte)
        self.values.append(value)


@dataclass(frozen=True, eq=False)
class Source:
    path: str
    language: Language
    data: bytes
    root: Node
    found: dict[str, list[Node]]
    scopes: Landmarks[Scope]
    statements: Landmarks[Node | None]
    functions: list[Scope] = field(default_factory=list)
    read: int = 0
    """Bytes parsed: all, or the beginning of a file that takes too long."""
    memo: dict[str, object] = field(default_factory=dict)
    """A cache for other modules: names, bindings."""
    project: ScanProject = NO_PROJECT
    """Facts from the other files; empty for a single file."""
    brief: bool = False
    """Read for the flows from and to other files alone: it has no index, and functions are lowered when they run."""

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def slice(self, start: int, end: int) -> str:
        return self.data[start:end].decode("utf-8", "replace")

    def line(self, node: Node) -> str:
        return line_at(self.data, node.start_byte)

    def column(self, node: Node) -> int:
        return column_at(self.data, node.start_byte)

    def nodes(self, *kinds: str) -> Iterator[Node]:
        for kind in kinds:
            assert kind not in UNINDEXED, kind
            yield from self.found.get(kind, ())

    def scope(self, node: Node) -> Scope:
        return self.scopes.at(node.start_byte)

    def statement(self, node: Node) -> Node | None:
        return self.statements.at(node.start_byte)


def line_at(data: bytes, byte: int) -> str:
    """The line at a byte; of a very long one, the part around it."""
    start = max(data.rfind(b"\n", 0, byte) + 1, byte - LONG_LINE)
    end = data.find(b"\n", byte, byte + LONG_LINE)
    return data[start : end if end >= 0 else byte + LONG_LINE].decode("utf-8", "replace").strip().lstrip("\ufeff")


def column_at(data: bytes, byte: int) -> int:
    """In characters, from 1; in bytes far into a very long line, because that needs no decoding."""
    start = data.rfind(b"\n", 0, byte) + 1
    return byte - start + 1 if byte - start > 10 * LONG_LINE else len(data[start:byte].decode("utf-8", "replace")) + 1


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


def parse(
    path: str, language: Language, text: str, project: ScanProject = NO_PROJECT, *, brief: bool = False
) -> Source:
    data = text.encode("utf-8", "replace")
    if language == "python" and b"\r" in data:
        # A lone carriage return ends a line of Python, and with it a comment; the grammar does not know that.
        data = re.sub(rb"\r(?!\n)", b"\n", data)
    read = len(data)
    root = _root(Parser(grammar(language, path.endswith(".tsx"))), data)
    if root is None:
        read = data.rfind(b"\n", 0, FIRST_LOOK) + 1 or FIRST_LOOK
        root = Parser(grammar(language, path.endswith(".tsx"))).parse(data[:read]).root_node
    elif root.has_error and language in ("javascript", "typescript"):
        root = _parse_fitting(path, language, data) or root
    scopes = Landmarks([-1], [Scope(MODULE, root, None)])
    source = Source(
        path,
        language,
        data,
        root,
        defaultdict(list),
        scopes,
        Landmarks[Node | None]([-1], [None]),
        read=read,
        project=project,
        brief=brief and SUPPRESSION not in data,
    )
    if not source.brief:
        _index(source)
    return source


def _parse_fitting(path: str, language: Language, data: bytes) -> Node | None:
    """The tree of a text that fits the grammar, if nothing else is wrong."""
    fitting = fit_grammar(data)
    root = _root(Parser(grammar(language, path.endswith(".tsx"))), fitting) if fitting != data else None
    return root if root is not None and not root.has_error else None


def _root(parser: Parser, data: bytes) -> Node | None:
    """The tree, or None if parsing takes too long: on garbage its time is quadratic. The parser stops when it is given
    no more text; where differs from run to run, so such a tree is discarded. No piece ends inside a character: the
    parser would ask for the rest and crash if there is none."""
    if len(data) <= FIRST_LOOK:
        return parser.parse(data).root_node
    end = thread_time() + PARSING + len(data) * PARSING_PER_BYTE
    late = False

    def piece(byte: int, _: object) -> bytes:
        nonlocal late
        late = late or thread_time() > end
        return b"" if late else data[byte : _whole(data, byte + PIECE)]

    root = parser.parse(piece).root_node
    return None if late else root


def _whole(data: bytes, end: int) -> int:
    """The end of the character at this byte."""
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return end


def walk(root: Node) -> Iterator[Node]:
    """Every node, outer before inner. Iterative: hostile code nests deeper than the stack."""
    cursor = root.walk()
    down, on, up = cursor.goto_first_child, cursor.goto_next_sibling, cursor.goto_parent
    while True:
        node = cursor.node
        assert node is not None
        yield node
        if down():
            continue
        while not on():
            if not up():
                return


def nth(node: Node, index: int) -> Node | None:
    """A named child, or None; the binding raises instead."""
    return node.named_child(index) if index < node.named_child_count else None


def inside(root: Node, limit: int = 4000) -> Iterator[Node]:
    """A node and the nodes under it. Bounded, so that nested code cannot make it quadratic."""
    return islice(walk(root), limit)


@cache
def _index_kinds(language: Language, tsx: bool) -> dict[int, str]:
    """Node kinds of the index, by the parser's ids. Keywords have ids of their own; only Python's `lambda` counts as a
    function by its keyword."""
    tree = grammar(language, tsx)
    kinds = {number: tree.node_kind_for_id(number) for number in range(tree.node_kind_count)}
    kinds[BROKEN] = "ERROR"
    return {
        number: kind
        for number, kind in kinds.items()
        if kind is not None
        and (kind in FUNCTIONS or (kind not in UNINDEXED and (number == BROKEN or tree.node_kind_is_named(number))))
    }


def _index(source: Source) -> None:
    scopes: list[tuple[Node, Scope]] = [(source.root, source.scopes.values[0])]
    statements: list[tuple[Node, Node | None]] = [(source.root, None)]
    kinds, whole = _index_kinds(source.language, source.path.endswith(".tsx")), not source.root.has_error
    for node in walk(source.root):
        kind = kinds.get(node.kind_id)
        if kind is None and whole:
            continue
        kind = kind or node.type
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
        if not whole and node.is_missing:
            source.found["MISSING"].append(node)
        elif kind not in UNINDEXED and node.is_named:
            source.found[kind].append(node)
    _leave(scopes, source.scopes, len(source.data) + 1)
    _leave(statements, source.statements, len(source.data) + 1)


def _leave(open_nodes: list[tuple[Node, T]], landmarks: Landmarks[T], byte: int) -> None:
    """Closes scopes that ended before this byte; the outermost stays."""
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
    """Why part of the file could not be parsed; such a file is never called clean."""
    cut = ""
    if source.read < len(source.data):
        last = source.data.count(b"\n", 0, source.read)
        cut = f"nothing after line {last} was read"
    if not source.root.has_error:
        why = f"too much that does not parse: {cut}"
        return NotAnalysed(file=source.path, line=1, why=why) if cut else None
    broken = sorted((*source.found.get("ERROR", ()), *source.found.get("MISSING", ())), key=lambda n: n.start_byte)
    if not broken:
        return NotAnalysed(file=source.path, line=1, why="the file does not parse")
    first, more = broken[0], len(broken) - 1
    what = f"{first.type!r} is missing" if first.is_missing else f"cannot parse {_excerpt(source, first)!r}"
    rest = f"; {more} more such place{'s' if more > 1 else ''}" if more else ""
    rest += f"; {cut}" if cut else ""
    return NotAnalysed(file=source.path, line=first.start_point[0] + 1, why=f"syntax error: {what}{rest}")


def _excerpt(source: Source, node: Node) -> str:
    lines = source.slice(node.start_byte, min(node.end_byte, node.start_byte + 160)).split("\n")
    return lines[0].strip()[:40]
