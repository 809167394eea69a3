"""Rewrites of JavaScript and TypeScript code that preserve its behaviour."""

import re

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.rewrites.choices import leave_choices, leave_configured
from moot.scan.rewrites.digests import require_shown_only
from moot.scan.rewrites.markup import NAMES
from moot.scan.rules import matches
from moot.scan.strings import build, quotes, unwrap
from moot.scan.syntax import Source, inside

ADDRESS = re.compile(
    r"\blocation\.(?:hash|search|href|pathname)\b|\bdocument\.(?:URL|referrer|cookie)\b|\bwindow\.name\b"
)
WORDS = re.compile(r"(?i)(?:name|login|user|mail|phone|city|country|query|search|keyword)$")
"""Names of values that hold no markup, which a text or a caption may."""
LOCAL = re.compile(r"\blocalhost\b|127\.0\.0\.1|\[::1\]")


def html(source: Source, node: Node) -> Change:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    member = left.child_by_field_name("property") if left is not None else None
    if node.type != "assignment_expression" or member is None or right is None or source.text(member) != "innerHTML":
        raise RewriteRefused("only an assignment to innerHTML is rewritten")
    if "<" in build(source, right).literal(source) or "&" in build(source, right).literal(source):
        raise RewriteRefused("the text holds markup of its own")
    if NAMES.search(source.text(right)) or any(n.type == "call_expression" for n in inside(right, 200)):
        raise RewriteRefused("the value may be markup that is meant to be there")
    if not WORDS.search(source.text(right)) and not ADDRESS.search(source.text(right)):
        raise RewriteRefused("nothing says whether the value is text or markup")
    return Change((replace_node(member, "textContent"),), "the value is shown as text")


def tls(source: Source, node: Node) -> Change:
    leave_choices(source, node, "whether certificates are checked")
    leave_configured(source, node)
    around = source.statement(node)
    if around is not None and LOCAL.search(source.text(around)):
        raise RewriteRefused("a server on the same machine has seldom a certificate that can be checked")
    value = require_node(
        node.child_by_field_name("value") or node.child_by_field_name("right"), "the value is not here"
    )
    new = (
        "true"
        if source.text(value) in ("false", "0")
        else source.text(value).replace("0", "1").replace("false", "true")
    )
    return Change((replace_node(value, new),), "certificates are checked")


def weak_hash(source: Source, node: Node) -> Change:
    if any(m.rule.id == "javascript-password-hash" and m.node.start_byte == node.start_byte for m in matches(source)):
        raise RewriteRefused("a password needs a slow hash, not another fast one")
    require_shown_only(source, node)
    return use_sha256(source, node)


def use_sha256(source: Source, node: Node) -> Change:
    name = require_node(read_call(source, node).arg(0), "the algorithm is not here")
    opening, closing = quotes(source, name)
    return Change(
        (replace_node(name, f"{opening}sha256{closing}"),),
        "SHA-256 takes the place of the broken hash; digests are longer",
    )


def buffer(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name in ("Buffer.allocUnsafe", "Buffer.allocUnsafeSlow"):
        callee = require_node(node.child_by_field_name("function"), "the call has no name")
        return Change(
            (replace_node(require_node(callee.child_by_field_name("property"), "no name"), "alloc"),),
            "the buffer is cleared",
        )
    if unwrap(call.args[0]).type != "number":
        raise RewriteRefused("it cannot be told whether a size or data is given")
    arguments = require_node(node.child_by_field_name("arguments"), "the call has no arguments")
    return Change((Edit(node.start_byte, arguments.start_byte, "Buffer.alloc"),), "the buffer is cleared")


REWRITES: dict[str, Rewrite] = {
    "javascript-html": html,
    "javascript-tls-verify": tls,
    "javascript-weak-hash": weak_hash,
    "javascript-unsafe-buffer": buffer,
}
