"""Switches settings of JavaScript libraries to safe values, and calls to their safe counterpart."""

import re

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.rewrites.choices import READ, leave_plain_cookie
from moot.scan.strings import constant_text, quotes, unwrap
from moot.scan.syntax import Source, inside

RANDOM = "(crypto.getRandomValues(new Uint32Array(2)).reduce((all, word) => all * 2 ** 26 + (word >>> 6), 0) / 2 ** 52)"
RESPONSE = re.compile(r"(?:res|response|reply)\.")


def options(source: Source, node: Node) -> dict[str, Node]:
    """Values of an object literal by key; spread entries are not followed."""
    found: dict[str, Node] = {}
    for pair in (child for child in node.named_children if child.type != "comment"):
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type != "pair" or key is None or value is None:
            raise RewriteRefused("the options are put together elsewhere")
        found[source.text(key).strip("\"'")] = value
    return found


def with_option(source: Source, node: Node, name: str, value: str) -> Edit:
    known = options(source, node)
    if name in known:
        return replace_node(known[name], value)
    if not node.named_children:
        return replace_node(node, f"{{ {name}: {value} }}")
    last = node.named_children[-1]
    line = source.data.rfind(b"\n", 0, last.start_byte) + 1
    indent = source.slice(line, last.start_byte)
    alone = not indent.strip() and line > node.start_byte
    return Edit(last.end_byte, last.end_byte, f",\n{indent}{name}: {value}" if alone else f", {name}: {value}")


def _flag(name: str) -> Rewrite:
    def rewrite(source: Source, node: Node) -> Change:
        call, did = read_call(source, node), f"the cookie is {name}"
        if call.method == "cookie" and not RESPONSE.match(call.name):
            raise RewriteRefused("what sets the cookie is not known to be a web response")
        if name == "secure":
            leave_plain_cookie(source, node)
        if call.args and READ.search(source.text(call.args[0])):
            raise RewriteRefused("the name says that it is no session and that scripts of the page read it")
        given = [unwrap(arg) for arg in call.args]
        if call.method == "cookie" and len(given) == 2:
            return Change((Edit(given[1].end_byte, given[1].end_byte, f", {{ {name}: true }}"),), did)
        place = given[2] if call.method == "cookie" and len(given) == 3 else _session_cookie(source, given)
        if place is None or place.type != "object":
            raise RewriteRefused("the options of the cookie are not here")
        return Change((with_option(source, place, name, "true"),), did)

    return rewrite


def _session_cookie(source: Source, given: list[Node]) -> Node | None:
    if len(given) != 1 or given[0].type != "object":
        return None
    return options(source, given[0]).get("cookie")


def random(source: Source, node: Node) -> Change:
    """A number from 0 to 1 of 52 unpredictable bits. `crypto` is global from Node 19 on."""
    if source.text(node) != "Math.random()":
        raise RewriteRefused("only Math.random() is rewritten")
    taken = any(n.type == "identifier" and source.text(n) == "crypto" for n in inside(source.root, 200_000))
    name = "globalThis.crypto" if taken else "crypto"
    return Change((replace_node(node, RANDOM.replace("crypto", name, 1)),), "the system's secure random source is used")


def tls_version(source: Source, node: Node) -> Change:
    value = require_node(node.child_by_field_name("value"), "the version is not here")
    key = source.text(require_node(node.child_by_field_name("key"), "the version is not here")).strip("\"'")
    new = {"minVersion": "TLSv1.2", "secureProtocol": "TLSv1_2_method"}.get(key)
    if new is None or constant_text(source, value) is None:
        raise RewriteRefused("the version is not written here")
    opening, closing = quotes(source, value)
    return Change((replace_node(value, f"{opening}{new}{closing}"),), "TLS 1.2 is the lowest version")


def key_size(source: Source, node: Node) -> Change:
    given = [unwrap(arg) for arg in read_call(source, node).args]
    found = [options(source, arg).get("modulusLength") for arg in given if arg.type == "object"]
    size = require_node(next((value for value in found if value is not None), None), "the size is not here")
    if size.type != "number":
        raise RewriteRefused("the size is not written here")
    return Change((replace_node(size, "2048"),), "the key has 2048 bits; making it takes longer")


REWRITES: dict[str, Rewrite] = {
    "javascript-cookie": _flag("secure"),
    "javascript-cookie-script": _flag("httpOnly"),
    "javascript-weak-random": random,
    "javascript-tls-version": tls_version,
    "javascript-key-size": key_size,
}
