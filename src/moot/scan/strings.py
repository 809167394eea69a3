"""How a string is built: literal texts, holes, and their source positions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, cast

from tree_sitter import Node

from moot.scan.bindings import Binding, origins
from moot.scan.calls import SourceCall, read_call
from moot.scan.syntax import Source, nth

MAX_PIECES = 300
PERCENT = re.compile(r"%(?:\((?P<key>\w+)\))?[#0\- +]*(?:\*|\d+)?(?:\.\d+)?(?P<verb>[a-zA-Z%])")
GO_VERB = re.compile(r"%(?:\[\d+\])?[#0\- +]*(?:\*|\d+)?(?:\.\d+)?(?P<verb>[a-zA-Z%])")
BRACES = re.compile(r"\{\{|\}\}|\{(?P<key>\w*)(?P<spec>[^{}]*)\}")
STRINGS = frozenset({"string", "template_string", "interpreted_string_literal", "raw_string_literal"})
WRAPPERS = frozenset({"parenthesized_expression", "as_expression", "non_null_expression", "satisfies_expression"})


@dataclass(frozen=True, eq=False)
class Text:
    """Literal text inside one string token."""

    string: Node
    start: int
    end: int


@dataclass(frozen=True, eq=False)
class StringHole:
    """A value in a string. `spec` is its format; `start` < 0 means that it stands between tokens."""

    node: Node
    spec: str = ""
    start: int = -1
    end: int = -1


Piece: TypeAlias = Text | StringHole


@dataclass(frozen=True, eq=False)
class Built:
    pieces: tuple[Piece, ...]
    cuts: tuple[tuple[int, int], ...] = ()
    """Source spans that only build the string (`% (a, b)`, `.format(…)`)."""
    exact: bool = True
    """Whether the position of every hole is known, so that the string can be rewritten."""
    home: Binding | None = None
    """The assignment it was followed to, if the expression is only a name."""

    @property
    def holes(self) -> list[StringHole]:
        return [piece for piece in self.pieces if isinstance(piece, StringHole)]

    def literal(self, source: Source) -> str:
        return "\ufffc".join(source.slice(p.start, p.end) for p in self.pieces if isinstance(p, Text))


def build(source: Source, node: Node, depth: int = 0) -> Built:
    """The pieces of any expression; one hole if it is not a string."""
    node = unwrap(node)
    if node.type in STRINGS:
        return Built(tuple(_string(source, node)))
    if node.type == "concatenated_string":
        return Built(tuple(piece for part in node.named_children for piece in build(source, part, depth).pieces))
    if node.type in ("binary_operator", "binary_expression"):
        return _binary(source, node, depth)
    if node.type in ("call", "call_expression"):
        return _read_format(source, read_call(source, node), depth)
    if node.type == "identifier" and depth < 4:
        return _follow_name(source, node, depth)
    return Built((StringHole(node),))


def unwrap(node: Node) -> Node:
    while node.type in WRAPPERS:
        inner = nth(node, 0)
        if inner is None:
            break
        node = inner
    return node


def _string(source: Source, node: Node) -> Iterator[Piece]:
    """Text and holes alternate, so that a hole has text on both sides."""
    start, end = contents(source, node)
    for child in node.named_children:
        if child.type in ("interpolation", "template_substitution"):
            yield Text(node, start, child.start_byte)
            inner = child.child_by_field_name("expression") or nth(child, 0) or child
            shown = source.slice(inner.end_byte, child.end_byte).strip().removesuffix("}")
            yield StringHole(inner, shown, child.start_byte, child.end_byte)
            start = child.end_byte
    yield Text(node, start, max(start, end))


def contents(source: Source, node: Node) -> tuple[int, int]:
    """The span between a string token's quotes."""
    if source.language != "python":
        return node.start_byte + 1, max(node.start_byte + 1, node.end_byte - 1)
    children = node.children
    opening, closing = children[0], children[-1]
    return opening.end_byte, closing.start_byte if closing.type == "string_end" else node.end_byte


def _binary(source: Source, node: Node, depth: int) -> Built:
    operator = node.child_by_field_name("operator")
    match source.text(operator) if operator else "":
        case "+":
            return _read_sum(source, node, depth)
        case "%" if source.language == "python":
            return _percent(source, node, depth)
    return Built((StringHole(node),))


def _read_sum(source: Source, node: Node, depth: int) -> Built:
    """`a + b + c`, leftmost first. Iterative, because chains can be very long."""
    parts: list[Node] = []
    current = node
    while _is_plus(source, current) and len(parts) < MAX_PIECES:
        left, right = current.child_by_field_name("left"), current.child_by_field_name("right")
        if left is None or right is None:
            break
        parts.append(right)
        current = unwrap(left)
    operands = _add_numbers_first(source, [current, *reversed(parts)])
    inner = [_operand(source, part, depth) for part in operands] if depth < 6 else []
    if not any(isinstance(piece, Text) for built in inner for piece in built.pieces):
        return Built((StringHole(node),))
    exact = all(built.exact and built.home is None and not built.cuts for built in inner)
    pieces = tuple(piece for built in inner for piece in built.pieces)
    return (
        Built(pieces, exact=exact) if len(pieces) <= MAX_PIECES else Built((*pieces[:2], StringHole(node)), exact=False)
    )


def _add_numbers_first(source: Source, operands: list[Node]) -> list[Node]:
    """In JavaScript `a + b + "x"` may add two numbers before the text begins: the two are one value."""
    texts = [at for at, operand in enumerate(operands) if unwrap(operand).type in STRINGS]
    if source.language not in ("javascript", "typescript") or not texts or texts[0] < 2:
        return operands
    last = operands[texts[0] - 1]
    whole = last.parent
    return [whole, *operands[texts[0] :]] if whole is not None and _is_plus(source, whole) else operands


def _operand(source: Source, part: Node, depth: int) -> Built:
    """A value keeps its parentheses: they move with it."""
    built = build(source, part, depth + 1)
    alone = len(built.pieces) == 1 and isinstance(built.pieces[0], StringHole)
    return Built((StringHole(part),)) if alone else built


def _is_plus(source: Source, node: Node) -> bool:
    operator = node.child_by_field_name("operator")
    return (
        node.type in ("binary_operator", "binary_expression") and operator is not None and source.text(operator) == "+"
    )


def _percent(source: Source, node: Node, depth: int) -> Built:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return Built((StringHole(node),))
    template = build(source, left, _follow_template(source, left, depth + 1))
    if not template.pieces or template.holes:
        return Built((*template.pieces, StringHole(right, "%")), exact=False)
    values = [c for c in right.named_children if c.type != "comment"] if right.type == "tuple" else [right]
    filled = _fill_template(source, template, PERCENT, values, right.type != "dictionary")
    if right.type not in ("tuple", "dictionary") and not filled.exact:  # several values under one name
        return Built((*template.pieces, StringHole(right, "%")), exact=False)
    return _with_cut(filled, (left.end_byte, node.end_byte), template)


def _follow_template(source: Source, node: Node, depth: int) -> int:
    """The name of a constant template is followed at any depth: it stands for nothing else."""
    found = origins(source, node) if node.type == "identifier" else []
    value = found[0].value if len(found) == 1 and found[0].kind == "set" else None
    return 3 if value is not None and unwrap(value).type in STRINGS and depth > 3 else depth


def _read_format(source: Source, call: SourceCall, depth: int) -> Built:
    """`"…".format(a)` and `fmt.Sprintf("…", a)`; any other call is a hole."""
    callee = call.node.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    if source.language == "python" and call.method == "format" and thing is not None:
        template = build(source, thing, _follow_template(source, thing, depth + 1))
        if not template.holes and template.pieces:
            filled = _fill_braces(source, template, call)
            return _with_cut(filled, (thing.end_byte, call.node.end_byte), template)
    if call.name in ("fmt.Sprintf", "fmt.Sprint") and call.args:
        template = build(source, call.args[0], depth + 1)
        if call.name == "fmt.Sprintf" and not template.holes:
            filled = _fill_template(source, template, GO_VERB, list(call.args[1:]), True)
            first = call.args[0]
            built = _with_cut(filled, (call.node.start_byte, first.start_byte), template)
            return _with_cut(built, (first.end_byte, call.node.end_byte), built)
        return Built((*template.pieces, *(StringHole(arg) for arg in call.args[1:])), exact=False)
    return Built((StringHole(call.node),))


def build_kept(source: Source, node: Node) -> tuple[Built, Node] | None:
    """The text of `NAME.format(…)` or `NAME % …`, where NAME is a constant that nothing changes, and that constant."""
    node = unwrap(node)
    callee = node.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else node.child_by_field_name("left")
    found = origins(source, thing) if thing is not None and thing.type == "identifier" else []
    value = unwrap(found[0].value) if len(found) == 1 and found[0].kind == "set" and found[0].value else None
    if value is None or value.type not in (*STRINGS, "concatenated_string"):
        return None
    template = build(source, value)
    if template.holes:
        return None
    if node.type == "call" and read_call(source, node).method == "format":
        filled = _fill_braces(source, template, read_call(source, node))
    elif node.type == "binary_operator" and source.text(node.child_by_field_name("operator") or node) == "%":
        right = node.child_by_field_name("right") or node
        values = [c for c in right.named_children if c.type != "comment"] if right.type == "tuple" else [right]
        filled = _fill_template(source, template, PERCENT, values, right.type != "dictionary")
    else:
        return None
    return (Built(filled.pieces, ((value.end_byte, value.end_byte),), filled.exact), value) if filled.exact else None


def _with_cut(built: Built, cut: tuple[int, int], template: Built) -> Built:
    exact = built.exact and template.exact and template.home is None
    return Built(built.pieces, (*template.cuts, cut), exact)


def _fill_template(source: Source, template: Built, verb: re.Pattern[str], values: list[Node], exact: bool) -> Built:
    """Replaces each `%s` of a template by the next value."""
    pieces: list[Piece] = []
    rest = list(values)
    for text in (p for p in template.pieces if isinstance(p, Text)):
        start = text.start
        raw = source.data[text.start : text.end].decode("latin-1")  # one character a byte, so offsets hold
        for found in verb.finditer(raw):
            if found["verb"] == "%":
                continue
            exact = exact and bool(rest) and "*" not in found[0] and "(" not in found[0] and "[" not in found[0]
            pieces.append(Text(text.string, start, text.start + found.start()))
            if rest:
                pieces.append(StringHole(rest.pop(0), found[0], text.start + found.start(), text.start + found.end()))
            start = text.start + found.end()
        pieces.append(Text(text.string, start, text.end))
    splat = any(v.type in ("list_splat", "dictionary_splat", "variadic_argument") for v in values)
    return Built((*pieces, *(StringHole(value) for value in rest)), exact=exact and not rest and not splat)


def _fill_braces(source: Source, template: Built, call: SourceCall) -> Built:
    pieces: list[Piece] = []
    used, exact = 0, not any(a.type in ("list_splat", "dictionary_splat") for a in call.args)
    for text in (p for p in template.pieces if isinstance(p, Text)):
        start = text.start
        raw = source.data[text.start : text.end].decode("latin-1")
        for found in BRACES.finditer(raw):
            if found[0] in ("{{", "}}"):
                continue
            key = found["key"]
            value = call.keywords.get(key) if key and not key.isdigit() else call.arg(int(key) if key else used)
            used += not key
            exact = exact and value is not None
            pieces.append(Text(text.string, start, text.start + found.start()))
            if value is not None:
                pieces.append(StringHole(value, found["spec"], text.start + found.start(), text.start + found.end()))
            start = text.start + found.end()
        pieces.append(Text(text.string, start, text.end))
    if not exact:
        pieces.extend(StringHole(value) for value in (*call.args, *call.keywords.values()))
    return Built(tuple(pieces), exact=exact)


def _follow_name(source: Source, name: Node, depth: int) -> Built:
    """Follows a local name to its assignment and everything appended to it."""
    found = [b for b in origins(source, name) if b.kind in ("set", "add", "parameter")][-20:]
    values = [b for b in found if b.value is not None]
    if not values:
        return Built((StringHole(name),))
    # Cached per set of assignments: names built from many others would cost their product otherwise.
    key = f"built {values[0].node.start_byte} {values[-1].node.start_byte} {len(found)} {values[0].name}"
    if key not in source.memo:
        source.memo[key] = [build(source, b.value, depth + 1) for b in values if b.value is not None]
    inner = cast(list[Built], source.memo[key])
    pieces = tuple(piece for built in inner for piece in built.pieces)
    if len(pieces) > MAX_PIECES or not any(isinstance(piece, Text) for piece in pieces):
        return Built((StringHole(name),))
    if len(found) == 1 and inner[0].exact and inner[0].home is None:
        return Built(pieces, inner[0].cuts, True, found[0])
    return Built(pieces, exact=False)


def quotes(source: Source, string: Node) -> tuple[str, str]:
    """The opening (with any prefix) and closing quotes of a string token."""
    start, end = contents(source, string)
    return source.slice(string.start_byte, start), source.slice(end, string.end_byte)


def constant_text(source: Source, node: Node | None) -> str | None:
    """The source text between the quotes of a plain string literal."""
    if node is None or unwrap(node).type not in (*STRINGS, "concatenated_string"):
        return None
    built = build(source, node)
    return None if built.holes else "".join(source.slice(p.start, p.end) for p in built.pieces if isinstance(p, Text))
