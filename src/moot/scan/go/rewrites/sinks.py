"""Escapes untrusted values that Go writes into a page."""

import re
from collections.abc import Sequence

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.module import package
from moot.scan.go.rewrites.types import is_declared_string
from moot.scan.rewrites.markup import NAMES, is_text_place, require_tags
from moot.scan.strings import Text, build
from moot.scan.syntax import Source

VERB = re.compile(r"%[-+# 0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?([a-zA-Z%])")
UNFOLLOWED = 4
REQUEST = re.compile(r"\.(?:FormValue|PostFormValue|PathValue|Query\(\)\.Get)\([^()]*\)$")
TEXTS = frozenset({"interpreted_string_literal", "raw_string_literal", "int_literal"})


def escape_page(source: Source, node: Node) -> Change:
    """Escapes text formatted into a page; text without markup stays the same."""
    call = read_call(source, node) if node.type == "call_expression" else None
    if call is not None and call.name == "fmt.Fprintf":
        return _escape_format(source, call.args[1], call.args[2:])
    if call is not None and call.name == "fmt.Sprintf":
        require_tags(source.text(call.args[0]))
        return _escape_format(source, call.args[0], call.args[1:])
    if call is not None and call.method == "Write" and len(call.args) == 1:
        return _escape_sum(source, _find_bytes(source, call.args[0]))
    if call is not None and call.name in ("fmt.Fprint", "fmt.Fprintln", "io.WriteString") and len(call.args) == 2:
        return _escape_page_text(source, call.args[1])
    if call is not None and call.method == "WriteString" and len(call.args) == 1:
        return _escape_page_text(source, call.args[0])
    if node.type == "binary_expression":
        require_tags(source.text(node))
        return _escape_sum(source, node)
    raise RewriteRefused("the page is put together elsewhere")


def _escape_page_text(source: Source, text: Node) -> Change:
    call = read_call(source, text) if text.type == "call_expression" else None
    if call is not None and call.name == "fmt.Sprintf":
        return _escape_format(source, call.args[0], call.args[1:])
    return _escape_sum(source, text)


def _find_bytes(source: Source, value: Node) -> Node:
    """The text of `[]byte(text)`."""
    if value.type != "type_conversion_expression" or not source.text(value).startswith("[]byte("):
        raise RewriteRefused("the page is put together elsewhere")
    return require_node(value.child_by_field_name("operand"), "the text is not here")


def _escape_format(source: Source, template: Node, values: Sequence[Node]) -> Change:
    if template.type not in TEXTS or not values:
        raise RewriteRefused("the format is not here")
    text = source.text(template)
    verbs = [verb for verb in VERB.finditer(text) if verb[1] != "%"]
    if len(verbs) != len(values) or "*" in text or "%[" in text:
        raise RewriteRefused("it cannot be told which value goes where")
    _leave_whole(source, VERB.sub("", text), values)
    html, added = package(source, "html")
    edits: list[Edit] = []
    for verb, value in zip(verbs, values, strict=True):
        shown = source.text(value)
        if verb[1] not in "sv" or value.type in TEXTS or shown.startswith(f"{html}.EscapeString("):
            continue
        markup = value.type == "identifier" and not _is_plain(source, value)
        if NAMES.search(shown) or markup or not is_text_place(VERB.sub("x", text[: verb.start()])):
            raise RewriteRefused("a value is markup itself, or stands in a script, a tag or an address")
        plain = shown if is_declared_string(source, value) else f"fmt.Sprint({shown})"
        edits.append(replace_node(value, f"{html}.EscapeString({plain})"))
    return Change((*edits, *added), "values are escaped before they are part of the page")


def _escape_sum(source: Source, text: Node) -> Change:
    """`"<b>" + name + "</b>"`: what is added to text is text."""
    built, before, edits = build(source, text, UNFOLLOWED), "", list[Edit]()
    if len(built.pieces) < 2 or built.home is not None:
        raise RewriteRefused("the page is put together elsewhere")
    _leave_whole(source, built.literal(source), [hole.node for hole in built.holes])
    html, added = package(source, "html")
    for piece in built.pieces:
        if isinstance(piece, Text):
            before += source.slice(piece.start, piece.end)
            continue
        shown = source.text(piece.node)
        if piece.start >= 0 or NAMES.search(shown) or not _is_plain(source, piece.node) or not is_text_place(before):
            raise RewriteRefused("a value is markup itself, or stands in a script, a tag or an address")
        edits.append(replace_node(piece.node, f"{html}.EscapeString({shown})"))
        before += "x"
    return Change((*edits, *added), "values are escaped before they are part of the page")


def _leave_whole(source: Source, literal: str, values: Sequence[Node]) -> None:
    """Raises if one value is all of the text, and not what a visitor sent: it may be a page or JSON already."""
    if len(values) != 1 or re.sub(r"\\[nrt]|[\s\"`]", "", literal):
        return
    bound = origins(source, values[0]) if values[0].type == "identifier" else []
    made = [each.value for each in bound if each.value is not None] or [values[0]]
    if not any(REQUEST.search(source.text(value)) for value in made):
        raise RewriteRefused("all of the text is one value, and only its writer knows whether that is markup")


def escape_html(source: Source, node: Node) -> Change:
    """Escapes values between pieces of markup; a value that is the whole text is markup, as its type says."""
    call = read_call(source, node)
    if call.name != "html/template.HTML" or len(call.args) != 1:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    local = source.text(require_node(node.child_by_field_name("function"), "none")).rpartition(".")[0]
    built, before, edits = build(source, call.args[0], UNFOLLOWED), "", list[Edit]()
    if len(built.pieces) < 2 or built.home is not None:
        raise RewriteRefused("all of the text is one value, and only its writer knows whether that is markup")
    for piece in built.pieces:
        if isinstance(piece, Text):
            before += source.slice(piece.start, piece.end)
            continue
        shown = source.text(piece.node)
        if piece.start >= 0 or NAMES.search(shown) or not _is_plain(source, piece.node):
            raise RewriteRefused("the value may be markup that is meant to be there")
        if not is_text_place(before):
            raise RewriteRefused("a value stands in a script, a tag or an address, where escaping is not enough")
        edits.append(replace_node(piece.node, f"{local}.HTMLEscapeString({shown})"))
        before += "x"
    return Change(tuple(edits), "values are escaped before the text is trusted")


def _is_plain(source: Source, node: Node) -> bool:
    """A variable or request data; any other call may return markup."""
    bound = origins(source, node) if node.type == "identifier" else []
    if any(NAMES.search(source.text(each.value)) for each in bound if each.value is not None):
        return False
    return node.type != "call_expression" or bool(REQUEST.search(source.text(node)))


REWRITES: dict[str, Rewrite] = {
    "go-response-xss": escape_page,
    "go-template-html": escape_html,
}
