"""Escapes untrusted values in a text that Go trusts as markup."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.rewrites.markup import NAMES, is_text_place
from moot.scan.strings import Text, build
from moot.scan.syntax import Source

VERB = re.compile(r"%[-+# 0]*(?:\d+|\*)?(?:\.(?:\d+|\*))?([a-zA-Z%])")
UNFOLLOWED = 4
TEXTS = frozenset({"interpreted_string_literal", "raw_string_literal", "int_literal"})
REQUEST = re.compile(r"\.(?:FormValue|PostFormValue|PathValue|Query\(\)\.Get)\([^()]*\)$")


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


REWRITES: dict[str, Rewrite] = {"go-template-html": escape_html}
