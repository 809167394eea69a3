"""Initialisation vectors of JavaScript ciphers whose two sides are in one file: a new one travels with each message."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, calls, read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.functions import find_position, list_results
from moot.scan.javascript.rewrites.module import before, require_module
from moot.scan.strings import constant_text, unwrap
from moot.scan.syntax import Source, inside

ENCODED = re.compile(r"""(?s)\.(?:toString|final|update)\(.*["'`](?:hex|base64|base64url)["'`]\s*\)$""")
SIZES = {"cbc": 16, "ctr": 16, "gcm": 12}
OTHER_SIDE = "the other side counts on the vector that is written here"
VECTOR, MARK = "vector", "mark"


def send_vector(source: Source, node: Node) -> Iterator[Change]:
    """A new vector stands before each text and a colon; a text without a colon is read with the old vector."""
    call = read_call(source, node)
    other = _find_other_side(source, call)
    maker, reader = source.scope(node).node, source.scope(other.node).node
    if any(":" in (constant_text(source, n) or "") for f in (maker, reader) for n in inside(f, 20_000)):
        raise RewriteRefused("the text has parts already")
    names = {source.text(n) for f in (maker, reader) for n in inside(f, 20_000) if n.type == "identifier"}
    if {VECTOR, MARK} & names:
        raise RewriteRefused("the names that are needed mean something else here")
    crypto, added = require_module(source, "crypto", node)
    edits = [*added, *_write_side(source, call, maker, crypto), *_read_side(source, other, reader)]
    yield Change(tuple(edits), "the vector is drawn afresh and sent with the text; old texts can still be read")


def _find_other_side(source: Source, call: SourceCall) -> SourceCall:
    """The only decryption in the file, with the same vector."""
    found = [each for each in calls(source).get("createDecipheriv", ()) if len(each.args) >= 3]
    if len(found) != 1 or len(calls(source).get("createCipheriv", ())) != 1 or len(call.args) < 3:
        raise RewriteRefused(OTHER_SIDE)
    if _read_vector(source, call.args[2]) != _read_vector(source, found[0].args[2]):
        raise RewriteRefused(OTHER_SIDE)
    if source.scope(call.node) is source.scope(found[0].node):
        raise RewriteRefused(OTHER_SIDE)
    return found[0]


def _read_vector(source: Source, given: Node) -> str:
    """What the vector is made of."""
    made = origins(source, given) if given.type == "identifier" else []
    value = made[0].value if len(made) == 1 and made[0].kind == "set" else None
    return source.text(value if value is not None else given)


def _write_side(source: Source, call: SourceCall, maker: Node, crypto: str) -> list[Edit]:
    algorithm = _read_algorithm(source, call.args[0])
    size = next((size for mode, size in SIZES.items() if algorithm.endswith(mode)), None)
    statement = source.statement(call.node)
    results = list_results(source, maker)
    if size is None or not algorithm.startswith("aes") or statement is None or not results:
        raise RewriteRefused("the cipher is not known")
    if not all(_is_encoded(source, result) for result in results):
        raise RewriteRefused("what is encrypted is given on in another way than as text")
    wrapped = [replace_node(r, f'`${{{VECTOR}.toString("hex")}}:${{{source.text(r)}}}`') for r in results]
    drawn = before(source, statement, f"const {VECTOR} = {crypto}.randomBytes({size});")
    return [drawn, replace_node(call.args[2], VECTOR), *wrapped]


def _read_algorithm(source: Source, given: Node) -> str:
    made = origins(source, given) if given.type == "identifier" else []
    value = made[0].value if len(made) == 1 and made[0].kind == "set" else given
    return (constant_text(source, value) or "").lower()


def _is_encoded(source: Source, result: Node) -> bool:
    """Text of hexadecimal digits or base64."""
    result = unwrap(result)
    if result.type == "binary_expression":
        sides = result.child_by_field_name("left"), result.child_by_field_name("right")
        return all(side is not None and _is_encoded(source, side) for side in sides)
    if result.type == "identifier":
        made = [b.value for b in origins(source, result) if b.kind in ("set", "add")]
        return bool(made) and all(value is not None and _is_encoded(source, value) for value in made)
    return ENCODED.search(source.text(result)) is not None


def _read_side(source: Source, call: SourceCall, reader: Node) -> list[Edit]:
    given = _find_given(source, reader)
    text = source.text(given)
    use, statement = source.statement(given), source.statement(call.node)
    if use is None or statement is None or use.parent != statement.parent:
        raise RewriteRefused(OTHER_SIDE)
    first = use if use.start_byte <= statement.start_byte else statement
    marked = f'const {MARK} = {text}.indexOf(":");'
    old = source.text(call.args[2])
    taken = f'const {VECTOR} = {MARK} < 0 ? {old} : Buffer.from({text}.slice(0, {MARK}), "hex");'
    lines = [before(source, first, marked), before(source, statement, taken)]
    if first == statement:
        lines = [before(source, statement, marked, taken)]
    return [*lines, replace_node(call.args[2], VECTOR), replace_node(given, f"{text}.slice({MARK} + 1)")]


def _find_given(source: Source, reader: Node) -> Node:
    """The parameter in `decipher.update(text, "hex")` or in `Buffer.from(text, "hex")`."""
    found = []
    for name in ("update", "from"):
        for each in calls(source).get(name, ()):
            known = source.scope(each.node).node == reader and each.args and each.args[0].type == "identifier"
            encoded = len(each.args) > 1 and constant_text(source, each.args[1]) in ("hex", "base64", "base64url")
            if known and encoded and find_position(source, reader, source.text(each.args[0])) is not None:
                found.append(each.args[0])
    return require_node(found[0] if len(found) == 1 else None, OTHER_SIDE)


CHOICES: dict[str, Choices] = {"javascript-static-iv": send_vector}
