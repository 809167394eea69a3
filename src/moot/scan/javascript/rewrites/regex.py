"""Rewrites slow patterns in JavaScript."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.rewrites.regex import make_linear
from moot.scan.strings import unwrap
from moot.scan.syntax import Source, inside

GROUPS = re.compile(rb"\.(?:match|matchAll|exec|replace|replaceAll|split)\(|RegExp\.\$")


def simplify_pattern(source: Source, node: Node) -> Change:
    literal = _find_literal(source, node)
    pattern = require_node(literal.child_by_field_name("pattern"), "the pattern is not here")
    flags = literal.child_by_field_name("flags")
    if flags is not None and set(source.text(flags)) - set("gyu"):
        raise RewriteRefused("a flag changes what the pattern means")
    old = source.text(pattern)
    new = make_linear(old, javascript=True, groups=bool(GROUPS.search(source.data)))
    return Change((replace_node(pattern, new),), f"the pattern has one way to match: {new}")


def _find_literal(source: Source, node: Node) -> Node:
    for inner in inside(node, 60):
        if inner.type == "regex":
            return inner
        if inner.type == "identifier" and len(found := origins(source, inner)) == 1:
            value = found[0].value
            if value is not None and unwrap(value).type == "regex":
                return unwrap(value)
    raise RewriteRefused("the pattern is put together elsewhere")


REWRITES: dict[str, Rewrite] = {"javascript-slow-regex": simplify_pattern}
