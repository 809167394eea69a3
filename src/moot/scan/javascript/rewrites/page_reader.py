"""Reads a page: the values that stand in it, and what is markup of the program's own."""

import re
from dataclasses import dataclass, field
from typing import cast

from tree_sitter import Node

from moot.scan.bindings import Binding
from moot.scan.calls import read_call
from moot.scan.javascript.rewrites.functions import (
    find_function,
    find_functions,
    find_position,
    find_receiver,
    list_bindings,
    list_callers,
    list_pushed,
    list_results,
)
from moot.scan.javascript.rewrites.page_places import (
    find_place,
    keeps_entities,
    may_be_markup,
)
from moot.scan.rewrites.markup import leave_frame
from moot.scan.strings import StringHole, Text, build, constant_text, unwrap
from moot.scan.syntax import FUNCTIONS, Source, words

MARKUP = re.compile(r"</?[a-zA-Z!]|&(?:\w+|#\d+);")
SAFE = re.compile(r"(?i)(?:^|[._])(?:\w*escape\w*|\w*sanit\w*|encodeURI(?:Component)?|\w*encode_?html\w*|esc|purify)$")
NUMBERS = words("length Number parseInt parseFloat toFixed indexOf round floor ceil now getTime size count")
TEXTUAL = words(
    "String toString toUpperCase toLowerCase toLocaleString toISOString toLocaleDateString toLocaleTimeString trim "
    "slice substring substr get getHeader header param decodeURIComponent padStart padEnd repeat normalize charAt at "
    "pop shift toDateString replace replaceAll trimEnd trimStart"
)
SAME = words("filter slice reverse sort concat flat")
ANSWERS = frozenset({"send", "write", "end"})
ALTERNATIVES = frozenset({"||", "??", "&&"})
DEPTH = 12


@dataclass(eq=False)
class PageReader:
    """What stands in a page: values that are escaped, and values that may be markup."""

    source: Source
    escaped: dict[tuple[int, int], tuple[Node, str]] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)
    literal: str = ""
    seen: set[tuple[int, int]] = field(default_factory=set)

    def read(self, node: Node, before: str) -> str:
        """Reads an expression behind the text `before`; gives the page up to its end."""
        node = _bare(node)
        if node.type in ("string", "template_string"):
            return self._read_pieces(node, before)
        if node.type == "binary_expression":
            return self._read_operands(node, before)
        if node.type == "ternary_expression":
            return self._read_either([n for n in node.named_children[1:] if n.type != "comment"], node, before)
        if node.type == "identifier":
            return self._read_name(node, before)
        if node.type == "call_expression":
            return self._read_call(node, before)
        if self.makes_markup(node):
            return self._doubt(node, before)
        return self.take(node, before)

    def _doubt(self, node: Node, before: str) -> str:
        self.doubts.append(f"{self.source.text(node)!r} may be markup that is meant to be there")
        return before + "x"

    def _read_pieces(self, node: Node, before: str) -> str:
        for piece in build(self.source, node).pieces:
            if isinstance(piece, Text):
                text = self.source.slice(piece.start, piece.end)
                self.literal += text
                before += text
            else:
                before = self.read(piece.node, before)
        return before

    def _read_operands(self, node: Node, before: str) -> str:
        operator = node.child_by_field_name("operator")
        sign = self.source.text(operator) if operator is not None else ""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if sign == "+" and left is not None and right is not None:
            if not self._is_text(left) and not self._is_text(right):
                return self.take(node, before)  # two numbers would be added
            return self.read(right, self.read(left, before))
        if sign in ALTERNATIVES and left is not None and right is not None:
            return self._read_either([right] if sign == "&&" else [left, right], node, before)
        return before + "0"

    def _is_text(self, node: Node) -> bool:
        """Whether `+` joins texts here, whatever the other side is."""
        node = _bare(node)
        if node.type in ("string", "template_string"):
            return True
        if node.type == "binary_expression":
            sides = node.child_by_field_name("left"), node.child_by_field_name("right")
            return any(side is not None and self._is_text(side) for side in sides)
        return self.makes_markup(node)

    def _read_either(self, branches: list[Node], whole: Node, before: str) -> str:
        if all(constant_text(self.source, branch) is not None for branch in branches):
            return before + "x"
        if not any(self.makes_markup(branch) for branch in branches):
            return self.take(whole, before)
        ends = [self.read(branch, before) for branch in branches]
        return ends[-1]

    def _read_name(self, node: Node, before: str) -> str:
        bound = list_bindings(self.source, node)
        if bound and bound[0].kind == "parameter":
            return self._read_parameter(node, bound[0], before)
        values = [b.value for b in bound if b.kind in ("set", "add") and b.value is not None]
        if not bound:
            return self._doubt(node, before)
        if len(values) == len(bound) and all(self.is_harmless(value) for value in values):
            return before + "x"
        if not self.makes_markup(node):
            return self.take(node, before)
        for value in values:
            if self._is_new(value):
                before = self.read(value, before)
        return before

    def _is_new(self, node: Node) -> bool:
        key = (node.start_byte, node.end_byte)
        new = key not in self.seen
        self.seen.add(key)
        return new

    def _read_parameter(self, node: Node, bound: Binding, before: str) -> str:
        """A parameter that somebody in this file gives markup is markup: the values are escaped where they are
        given."""
        given = self._list_given(node, bound.node)
        if not any(self.makes_markup(value) or self._is_escaped(value) for value in given):
            leave_frame(self.source, node, before)
            return self.take(node, before)
        for value in given:
            if self._is_new(value):
                self.read(value, before)
        return before + "x"

    def _list_given(self, name: Node, function: Node) -> list[Node]:
        place = find_position(self.source, function, self.source.text(name))
        if place is None:
            return []
        outer = function.parent.parent if function.parent is not None else None
        if outer is not None and outer.type == "call_expression" and place == 0:
            receiver, method = find_receiver(outer), read_call(self.source, outer).method
            if method == "reduce":
                return self._list_reduced(outer)
            listed = self.list_elements(receiver) if receiver is not None and method in ("map", "forEach") else None
            return listed or []
        return [call.args[place] for call in list_callers(self.source, function) if len(call.args) > place]

    def _list_reduced(self, call: Node) -> list[Node]:
        args = read_call(self.source, call).args
        made = [result for each in find_function(self.source, args[0]) for result in list_results(self.source, each)]
        return [*made, *args[1:2]]

    def _read_call(self, node: Node, before: str) -> str:
        call = read_call(self.source, node)
        if self.is_harmless(node):
            return before + "x"
        if call.method == "join" and len(call.args) == 1 and (receiver := find_receiver(node)) is not None:
            return self._read_join(node, receiver, call.args[0], before)
        if call.method == "reduce" and call.args:
            for result in self._list_reduced(node):
                if self._is_new(result):
                    self.read(result, before)
            return before + "x"
        if call.method in ("get", "at") and self.makes_markup(node):
            return self._doubt(node, before)
        if call.method in ("replace", "replaceAll") and len(call.args) == 2 and self.makes_markup(call.args[1]):
            return self._read_replacement(node, call.args[0], before)
        if functions := find_functions(self.source, call):
            return self._read_results(node, functions, before)
        if call.method not in TEXTUAL:
            return self._doubt(node, before)
        return self.take(node, before)

    def _read_results(self, node: Node, functions: list[Node], before: str) -> str:
        if not self.makes_markup(node):
            return self.take(node, before)
        for function in functions:
            if self._is_new(function):
                for result in list_results(self.source, function):
                    self.read(result, before)
        return before + "x"

    def _read_join(self, node: Node, receiver: Node, separator: Node, before: str) -> str:
        elements = self.list_elements(receiver)
        between = constant_text(self.source, separator)
        if elements is not None and any(self.makes_markup(element) for element in elements):
            for element in elements:
                if self._is_new(element):
                    before = self.read(element, before) + (between or "")
            return before
        if between is None or (elements is None and not between.strip() and " " not in between):
            self.doubts.append(f"{self.source.text(node)!r} may be markup that is meant to be there")
        elif MARKUP.search(between):
            self.literal += between
            self.take(receiver, before, each=True)
        else:
            return self.take(node, before)
        return before + "x"

    def _read_replacement(self, node: Node, pattern: Node, before: str) -> str:
        """`text.replace(/\\n/g, "<br>")`: the text is escaped before the tags are put in."""
        receiver = find_receiver(node)
        if receiver is None or not keeps_entities(self.source, pattern):
            return self._doubt(node, before)
        inner = _bare(receiver)
        if inner.type == "call_expression" and self.makes_markup(inner):
            return self.read(inner, before)
        return self.take(inner, before, meant=True)

    def list_elements(self, node: Node, depth: int = DEPTH) -> list[Node] | None:
        """The elements of a list that is made here; None if it comes from elsewhere."""
        node = _bare(node)
        if node.type == "array":
            return [_bare(n) for n in node.named_children if n.type not in ("comment", "spread_element")]
        if node.type == "call_expression":
            call, receiver = read_call(self.source, node), find_receiver(node)
            if call.method in ("map", "flatMap") and call.args:
                made = [list_results(self.source, each) for each in find_function(self.source, call.args[0])]
                return [result for results in made for result in results] or None
            if call.method in SAME and receiver is not None:
                return self.list_elements(receiver, depth - 1) if depth else None
        if node.type == "identifier" and depth:
            bound = list_bindings(self.source, node)
            if len(bound) != 1 or bound[0].kind != "set" or bound[0].value is None:
                return None
            made_of = self.list_elements(bound[0].value, depth - 1)
            return [*made_of, *list_pushed(self.source, node)] if made_of is not None else None
        return None

    def makes_markup(self, node: Node, depth: int = DEPTH, known: frozenset[int] = frozenset()) -> bool:
        """Whether the value has tags that are written in this file."""
        node = _bare(node)
        if depth == 0 or (node.start_byte in known and node.type != "identifier"):
            return False
        more = known | {node.start_byte}
        if node.type in ("string", "template_string"):
            pieces = build(self.source, node).pieces
            texts = [self.source.slice(p.start, p.end) for p in pieces if isinstance(p, Text)]
            holes = [p.node for p in pieces if isinstance(p, StringHole)]
            return any(MARKUP.search(text) for text in texts) or self._any(holes, depth, known)
        if node.type in ("binary_expression", "ternary_expression"):
            parts = node.named_children[1 if node.type == "ternary_expression" else 0 :]
            return self._any(parts, depth, known)
        if node.type == "identifier":
            return self._name_makes_markup(node, depth, known)
        if node.type in ("member_expression", "subscript_expression"):
            return self._table_has_markup(node)
        if node.type in ("arrow_function", "function_expression"):
            return self._any(list_results(self.source, node), depth, more)
        if node.type != "call_expression" or SAFE.search(read_call(self.source, node).name):
            return False
        return self._call_makes_markup(node, depth, more)

    def _table_has_markup(self, node: Node) -> bool:
        """`ICONS[kind]`, `this.icon`: what is kept under this name somewhere in the file."""
        key, base = node.child_by_field_name("property"), node.child_by_field_name("object")
        if key is not None and self.source.text(key) in list_marked(self.source):
            return True
        bound = list_bindings(self.source, base) if base is not None and base.type == "identifier" else []
        values = [b.value for b in bound if b.kind == "set" and b.value is not None and b.value.type in TABLES]
        return any(MARKUP.search(self.source.text(value)) for value in values)

    def _any(self, nodes: list[Node], depth: int, known: frozenset[int]) -> bool:
        return any(self.makes_markup(node, depth - 1, known) for node in nodes)

    def _name_makes_markup(self, node: Node, depth: int, known: frozenset[int]) -> bool:
        bound = list_bindings(self.source, node)
        if bound and bound[0].kind == "parameter":
            key = bound[0].node.start_byte * 1000 + len(self.source.text(node))
            if -key in known:
                return False
            return self._any(self._list_given(node, bound[0].node), depth, known | {-key})
        values = [b.value for b in bound if b.value is not None]
        key = values[0].start_byte if values else 0
        if -key in known:
            return False
        if bound and bound[0].kind == "loop":
            return self._any(self.list_elements(values[0]) or [], depth, known | {-key})
        if any(b.kind == "part" for b in bound):
            return False
        return self._any(values, depth, known | {-key})

    def _call_makes_markup(self, node: Node, depth: int, known: frozenset[int]) -> bool:
        call, receiver = read_call(self.source, node), find_receiver(node)
        if call.method == "join" and receiver is not None:
            return self._any([*(self.list_elements(receiver) or []), *call.args], depth, known)
        if call.method == "reduce" and call.args:
            return self._any(self._list_reduced(node), depth, known)
        if call.method in ("replace", "replaceAll") and receiver is not None:
            return self._any([receiver, *call.args[1:]], depth, known)
        if call.method in ("trim", "concat", "trimEnd", "trimStart") and receiver is not None:
            return self._any([receiver, *call.args], depth, known)
        if call.method in ("get", "at") and receiver is not None and receiver.type == "identifier":
            made = [b.value for b in list_bindings(self.source, receiver) if b.value is not None]
            if any(v.type in TABLES and MARKUP.search(self.source.text(v)) for v in made):
                return True
        results = [r for each in find_functions(self.source, call) for r in list_results(self.source, each)]
        return self._any(results, depth, known)

    def _is_escaped(self, node: Node) -> bool:
        node = _bare(node)
        return node.type == "call_expression" and SAFE.search(read_call(self.source, node).name) is not None

    def is_harmless(self, node: Node) -> bool:
        """A number, a constant without tags, or what is escaped already."""
        node = _bare(node)
        if node.type in ("number", "true", "false", "null", "undefined") or self._is_escaped(node):
            return True
        if node.type == "call_expression":
            return read_call(self.source, node).method in NUMBERS
        if node.type == "member_expression":
            return self.source.text(node).endswith(".length")
        if node.type == "ternary_expression":
            return all(self.is_harmless(branch) for branch in node.named_children[1:])
        text = constant_text(self.source, node)
        return text is not None and not MARKUP.search(text)

    def take(self, node: Node, before: str, *, each: bool = False, meant: bool = False) -> str:
        """A value from outside."""
        text = self.source.text(node)
        if self.is_harmless(node):
            return before + "x"
        place = find_place(before)
        if not meant and (may_be_markup(text, before) or (node.type == "object")):
            self.doubts.append(f"{text!r} may be markup that is meant to be there")
        elif place is None:
            self.doubts.append("a value stands in a script, a tag or an address, where escaping is not enough")
        else:
            name = "list" if each else place
            self.escaped[node.start_byte, node.end_byte] = (node, name)
        return before + "x"


TABLES = words("object array new_expression")


def list_marked(source: Source) -> frozenset[str]:
    """The fields that are given markup somewhere in the file."""
    if "marked fields" not in source.memo:
        found: set[str] = set()
        for node in source.nodes("pair", "assignment_expression", "field_definition", "public_field_definition"):
            key = node.child_by_field_name("key") or node.child_by_field_name("property")
            left, value = node.child_by_field_name("left"), node.child_by_field_name("value")
            if left is not None and left.type == "member_expression":
                key, value = left.child_by_field_name("property"), node.child_by_field_name("right")
            written = value is not None and value.type not in FUNCTIONS and MARKUP.search(source.text(value))
            if key is not None and written:
                found.add(source.text(key).strip("\"'"))
        source.memo["marked fields"] = frozenset(found)
    return cast(frozenset[str], source.memo["marked fields"])


def _bare(node: Node) -> Node:
    node = unwrap(node)
    while node.type == "await_expression" and node.named_child_count:
        node = unwrap(node.named_children[0])
    return node
