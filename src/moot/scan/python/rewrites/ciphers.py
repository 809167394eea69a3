"""Initialisation vectors in Python."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node
from moot.scan.python.rewrites.module import module
from moot.scan.syntax import Source, inside

CONSTANT = re.compile(r"b([\"']).*\1(?: \* \d+)?|bytes\(\d+\)|bytearray\(\d+\)", re.DOTALL)
DECRYPTS = re.compile(r"(?i)decrypt|decipher|unseal")


def draw_iv(source: Source, node: Node) -> Change:
    """A vector that is sent in front of the message can be drawn afresh: whoever reads the message takes it from
    there."""
    for name in (n for n in inside(node, 200) if n.type == "identifier"):
        found = origins(source, name)
        value = found[0].value if len(found) == 1 and found[0].kind == "set" else None
        if value is None or not CONSTANT.fullmatch(source.text(value)):
            continue
        scope = source.scope(name)
        word, body = source.text(name), source.text(scope.node)
        if source.scope(found[0].node) is not scope or DECRYPTS.search(body):
            raise RewriteRefused("the other side counts on the vector that is written here")
        if not re.search(rf"\b{word} \+|\+ {word}\b|\breturn [^\n]*\b{word}\b|\.join\([\[(]\s*{word}\b", body):
            raise RewriteRefused("the vector does not travel with the message, so the other side could not read it")
        system, added = module(source, "os", node)
        return Change((replace_node(value, f"{system}.urandom(16)"), *added), "the vector is drawn afresh each time")
    raise RewriteRefused("the vector is made elsewhere")


REWRITES: dict[str, Rewrite] = {"python-static-iv": draw_iv}
