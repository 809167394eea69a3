"""Initialisation vectors that may be drawn afresh: those that are sent along, so that whoever reads the message has
them."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.change import RewriteRefused
from moot.scan.syntax import Source, inside

DECRYPTS = re.compile(r"(?i)decrypt|decipher|unseal")
DRAWN = "the vector is drawn afresh each time"


def find_sent_vector(source: Source, node: Node, constant: re.Pattern[str], sent: str) -> Node:
    """The constant behind the vector of a call. `sent` is a pattern of how VECTOR, its name, travels with a message."""
    for name in (n for n in inside(node, 200) if n.type == "identifier"):
        found = origins(source, name)
        value = found[0].value if len(found) == 1 and found[0].kind == "set" else None
        if value is None or not constant.fullmatch(source.text(value)):
            continue
        scope = source.scope(name)
        body = source.text(scope.node)
        if source.scope(found[0].node) is not scope or DECRYPTS.search(body):
            raise RewriteRefused("the other side counts on the vector that is written here")
        if not re.search(sent.replace("VECTOR", re.escape(source.text(name))), body):
            raise RewriteRefused("the vector does not travel with the message, so the other side could not read it")
        return value
    raise RewriteRefused("the vector is made elsewhere")
