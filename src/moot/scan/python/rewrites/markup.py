"""Escapes values in a page that a function puts together of lists, parts and addresses."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import calls, read_call
from moot.scan.change import Change, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import function, module, module_as
from moot.scan.rewrites.markup import NAMES, is_text_place, leave_frame
from moot.scan.strings import STRINGS, Built, StringHole, Text, build, build_kept, constant_text, unwrap
from moot.scan.syntax import Source, words

Escaper: TypeAlias = tuple[str, tuple[Edit, ...]]
UNFOLLOWED = 4
DEPTH = 6
VALUES = frozenset({"identifier", "attribute", "subscript", "call", "boolean_operator"})
ADDRESS = re.compile(
    r"""(?is)<(?P<tag>[a-z][\w-]*)\b[^<>]*\s(?P<name>href|src|action|formaction)=\\?(?P<quote>["'])(?P<text>[^"'<>]*)$"""
)
SHOWN = frozenset({"img", "video", "audio", "source", "input", "track"})
"""Elements that show what an address leads to, and never run it."""
PREPARED = re.compile(
    r"escape\w*\(|\bclean\(|quote\w*\(|Markup\(|mark_safe\(|render\w*\(|urlencode\(|\.to_html\(|\bint\("
)
READS = words(
    "str strip lstrip rstrip lower upper title capitalize get getlist pop replace removeprefix removesuffix strftime "
    "isoformat split partition rpartition decode input readline read"
)
"""Methods and functions whose result is no more markup than what they are given."""
GIVEN = frozenset({"parameter", "loop", "part"})
WEB_ADDRESS = '''
def web_address(value):
    """The address, or "#" in place of one that a browser would run as code."""
    start = "".join(char for char in str(value) if char > " ").lower()
    return "#" if start.startswith(("javascript:", "data:", "vbscript:")) else str(value)
'''
DID = "shown as text, not as markup"


@dataclass(frozen=True, eq=False)
class MarkupValue:
    """A value in a page, and the page up to it."""

    hole: StringHole
    before: str

    @property
    def is_address(self) -> bool:
        """Whether it begins an address that a browser may run."""
        found = ADDRESS.search(self.before)
        return found is not None and not found["text"].strip() and found["tag"].lower() not in SHOWN


@dataclass
class MarkupReader:
    """Reads a page in the order in which it is put together."""

    source: Source
    before: str = ""
    found: list[MarkupValue] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)

    def read(self, node: Node, depth: int = DEPTH) -> None:
        node = unwrap(node)
        if depth == 0:
            raise RewriteRefused("the page is put together in too many steps")
        if node.type == "conditional_expression":
            for place in (0, 2):
                self.read(node.named_children[place], depth - 1)
            return
        if (items := self.list_items(node)) is not None:
            for item in items:
                self.read(item, depth - 1)
            return
        if node.type in VALUES and build_kept(self.source, node) is None and self._is_alone(node):
            raise RewriteRefused("whether a part of the page is text or markup is nowhere in the code")
        kept = build_kept(self.source, node)
        self._read_built(kept[0] if kept is not None else build(self.source, node, UNFOLLOWED), node, depth)

    def _read_built(self, built: Built, node: Node, depth: int) -> None:
        for piece in built.pieces:
            if isinstance(piece, Text):
                self.before += self.source.slice(piece.start, piece.end)
                continue
            value = unwrap(piece.node)
            parts = self.list_parts(value)
            if parts is not None:
                self._read_parts(value, parts, depth)
            elif self.list_items(value) is not None or (
                value.type == "conditional_expression" and self._is_built(value)
            ):
                self.read(value, depth - 1)
            elif not self._is_constant(value):
                self.found.append(MarkupValue(piece, self.before))
                self.before += "x"

    def _is_alone(self, node: Node) -> bool:
        """A value that is a whole part of the page, and is put together elsewhere."""
        pieces = build(self.source, node, UNFOLLOWED).pieces
        alone = len(pieces) == 1 and isinstance(pieces[0], StringHole)
        return alone and self.list_parts(node) is None and not self._is_constant(node)

    def _read_parts(self, name: Node, parts: Sequence[Node], depth: int) -> None:
        if name.start_byte not in self.seen:
            self.seen.add(name.start_byte)
            for part in parts:
                self.read(part, depth - 1)

    def list_parts(self, name: Node) -> list[Node] | None:
        """What a name of this function holds, if that is put together here; None for any other value."""
        bound = origins(self.source, name) if name.type == "identifier" else []
        values = [b.value for b in bound if b.kind in ("set", "add") and b.value is not None]
        if not values or len(values) != len(bound):
            return None
        here = all(self.source.scope(b.node) is self.source.scope(name) for b in bound)
        return values if here and any(self._is_built(value) for value in values) else None

    def _is_built(self, node: Node) -> bool:
        """Whether it holds markup: a tag, an attribute, or a list of such."""
        node = unwrap(node)
        if node.type == "conditional_expression":
            return any(self._is_built(node.named_children[place]) for place in (0, 2))
        if (items := self.list_items(node)) is not None:
            return any(self._is_built(item) for item in items)
        built = build(self.source, node, UNFOLLOWED)
        return re.search(r"""<[a-zA-Z/!]|[\w-]=\\?["']""", built.literal(self.source)) is not None

    def _is_constant(self, name: Node) -> bool:
        """`mark = " selected" if chosen else ""`"""
        bound = origins(self.source, name) if name.type == "identifier" else []
        values = [unwrap(b.value) for b in bound if b.kind == "set" and b.value is not None]
        parts = [v.named_children[at] for v in values if v.type == "conditional_expression" for at in (0, 2)]
        parts += [value for value in values if value.type != "conditional_expression"]
        return len(values) == len(bound) > 0 and all(constant_text(self.source, part) is not None for part in parts)

    def list_items(self, node: Node) -> list[Node] | None:
        """The parts of `"".join(parts)`: those of the list and those that are appended."""
        call = read_call(self.source, node) if node.type == "call" else None
        callee = node.child_by_field_name("function")
        glue = callee.child_by_field_name("object") if callee is not None and callee.type == "attribute" else None
        if call is None or call.method != "join" or constant_text(self.source, glue) is None or len(call.args) != 1:
            return None
        given = unwrap(call.args[0])
        if given.type in ("generator_expression", "list_comprehension"):
            body = given.child_by_field_name("body")
            return [body] if body is not None else None
        if given.type in ("list", "tuple"):
            return _list_elements(given)
        return self._list_appended(given) if given.type == "identifier" else None

    def _list_appended(self, name: Node) -> list[Node] | None:
        bound = origins(self.source, name)
        if not bound or any(b.value is None or unwrap(b.value).type not in LISTS for b in bound):
            return None
        items = [item for b in bound if b.value is not None for item in _list_elements(unwrap(b.value))]
        word = self.source.text(name)
        for method in ("append", "extend", "insert"):
            for call in calls(self.source).get(method, ()):
                if call.name == f"{word}.{method}" and self.source.scope(call.node) is self.source.scope(name):
                    given = call.args[-1] if call.args else None
                    items += (_list_elements(unwrap(given)) if method == "extend" else [given]) if given else []
        return sorted(items, key=lambda item: item.start_byte)


LISTS = frozenset({"list", "tuple", "list_comprehension"})


def _list_elements(given: Node) -> list[Node]:
    if given.type in ("generator_expression", "list_comprehension"):
        body = given.child_by_field_name("body")
        return [body] if body is not None else []
    return [child for child in given.named_children if child.type not in ("comment", "list_splat")]


def escape_page(source: Source, text: Node) -> Iterator[Change]:
    """One value if that is enough, else all."""
    reader = MarkupReader(source)
    text = unwrap(text)
    for part in reader.list_parts(text) or [text]:
        reader.read(part)
    found = [value for value in reader.found if _is_plain(source, value.hole)]
    if not found:
        raise RewriteRefused("no plain value stands in the text")
    for value in found:
        leave_frame(source, value.hole.node, value.before)
    if not all(_takes_escape(value) for value in found):
        raise RewriteRefused("a value stands in a script, a tag or an address, where escaping is not enough")
    names = list(dict.fromkeys(source.text(value.hole.node) for value in found))
    groups = [[value for value in found if source.text(value.hole.node) == name] for name in names]
    for chosen in (*(groups if len(groups) < 4 else ()), *([found] if len(groups) > 1 else ())):
        yield _escape(source, chosen)


def _takes_escape(value: MarkupValue) -> bool:
    address = ADDRESS.search(value.before)
    return is_text_place(value.before) or (address is not None and address["tag"].lower() != "script")


def _escape(source: Source, chosen: Sequence[MarkupValue]) -> Change:
    first = min((value.hole.node for value in chosen), key=lambda node: node.start_byte)
    name, added = import_escape(source, first)
    edits: dict[int, Edit] = {}
    helper: tuple[Edit, ...] = ()
    for value in chosen:
        text = source.text(value.hole.node)
        if value.is_address:
            helper = function(source, "web_address", WEB_ADDRESS, first)
            inner = f"web_address({text})"
        else:
            inner = text if value.hole.start < 0 else f"str({text})"
        edits[value.hole.node.start_byte] = replace_node(value.hole.node, f"{name}({inner})")
    shown = ", ".join(dict.fromkeys(source.text(value.hole.node) for value in chosen))
    return Change((*edits.values(), *added, *helper), f"{shown} is {DID}")


def import_escape(source: Source, at: Node) -> Escaper:
    """`html.escape`; the module gets another name where a variable is called `html`."""
    try:
        local, added = module(source, "html", at)
    except RewriteRefused:
        local, added = module_as(source, "html", "html_text", at)
    return f"{local}.escape", added


def may_be_markup(source: Source, node: Node, depth: int = DEPTH) -> bool:
    """What another function made may be markup, or escaped already, unless it only reads a text or changes its form."""
    node = unwrap(node)
    if depth == 0:
        return True
    if node.type == "call":
        call = read_call(source, node)
        if call.method == "join":
            return not (len(call.args) == 1 and _is_given(source, call.args[0]))
        return call.method not in READS
    if node.type == "boolean_operator":
        return any(may_be_markup(source, part, depth - 1) for part in node.named_children)
    if node.type != "identifier":
        return False
    made = [b.value for b in origins(source, node) if b.kind in ("set", "add") and b.value is not None]
    return any(may_be_markup(source, value, depth - 1) for value in made)


def _is_given(source: Source, listed: Node) -> bool:
    """A list that the function was given, not one that it made."""
    made = origins(source, listed) if listed.type == "identifier" else []
    return listed.type in ("attribute", "subscript") or (bool(made) and all(b.kind in GIVEN for b in made))


def _is_plain(source: Source, hole: StringHole) -> bool:
    node = unwrap(hole.node)
    if hole.spec not in ("", "%s") or node.type not in VALUES or NAMES.search(source.text(node)):
        return False
    if may_be_markup(source, node):
        return False
    if node.type != "identifier":
        return not PREPARED.search(source.text(node))
    made = [unwrap(b.value) for b in origins(source, node) if b.kind in ("set", "add") and b.value is not None]
    if any(value.type in (*LISTS, "dictionary", "set") for value in made):
        return False
    texts = [source.text(value) for value in made if value.type not in STRINGS]
    return not texts or not all(PREPARED.search(text) for text in texts)
