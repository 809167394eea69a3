"""Escapes the values of a page: in the text that is sent, and in the names and functions it is put together from."""

from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.page_places import ADDRESS, TEXT, choose_escaper
from moot.scan.javascript.rewrites.page_reader import PageReader
from moot.scan.rewrites.markup import require_tags
from moot.scan.syntax import Source, inside, words

ANSWERS = frozenset({"send", "write", "end"})


def escape_page(source: Source, node: Node) -> Iterator[Change]:
    """Escapes all values of a page; if some may be markup, the others alone."""
    text = _find_page(source, node)
    reader = PageReader(source)
    reader.read(text, "")
    if text.parent is None or text.parent.type != "arguments":
        require_tags(reader.literal)
    doubt = RewriteRefused(reader.doubts[0] if reader.doubts else "no plain value stands in the page")
    if not reader.escaped:
        raise doubt
    yield _escape(source, list(reader.escaped.values()))
    if reader.doubts:
        raise doubt


def _escape(source: Source, chosen: list[tuple[Node, str]]) -> Change:
    escaper = choose_escaper(source, addresses=any(place == ADDRESS for _, place in chosen))
    edits: list[Edit] = []
    for node, place in chosen:
        text = source.text(node)
        if place == "list":
            new = f"{text}.map((part) => {escaper.names[TEXT]}(part))"
        else:
            new = f"{escaper.names[place]}({text})"
        edits.append(replace_node(node, new))
    return Change((*edits, *escaper.added), "values are shown as text, not as markup")


def _find_page(source: Source, node: Node) -> Node:
    """What an answer sends, or the whole of an expression that makes a text."""
    if node.type == "call_expression":
        call = read_call(source, node)
        if call.method in ANSWERS and len(call.args) == 1:
            return call.args[0]
    current = node
    while (outer := current.parent) is not None and outer.start_byte == node.start_byte and outer.type in WIDER:
        current = outer
    inner = [n for n in inside(current, 3) if n.type == "object"]
    if inner:
        raise RewriteRefused("the page is built elsewhere")
    return current


WIDER = words("binary_expression ternary_expression call_expression member_expression")
CHOICES: dict[str, Choices] = {"javascript-response-xss": escape_page}
