"""Switches settings of JavaScript libraries to safe values, and calls to their safe counterpart."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.module import function
from moot.scan.rewrites.choices import READ, leave_choices, leave_plain_cookie
from moot.scan.rewrites.markup import NAMES, is_text_place, leave_frame, require_tags
from moot.scan.strings import Built, StringHole, Text, build, constant_text, quotes, unwrap
from moot.scan.syntax import Source, inside, words

RANDOM = "(crypto.getRandomValues(new Uint32Array(2)).reduce((all, word) => all * 2 ** 26 + (word >>> 6), 0) / 2 ** 52)"
ESCAPER = """const escapeHtml = ({value}) =>
  String(value).replace(/[&<>"']/g, (mark) => `&#${{mark.charCodeAt(0)}};`);
"""
RESPONSE = re.compile(r"(?:res|response|reply)\.")
UNFOLLOWED = 4
MADE = re.compile(r"</?[a-zA-Z]|\.(?:join|map|reduce)\(")
"""A value that is made of tags, or joined of parts that may be."""
TEXTUAL = words(
    "String Number parseInt parseFloat toString toFixed toUpperCase toLowerCase toLocaleString toISOString "
    "toLocaleDateString trim slice substring get getHeader header param decodeURIComponent encodeURIComponent padStart "
    "repeat normalize charAt at pop shift"
)
ANSWERS = frozenset({"send", "write", "end"})
REQUEST = re.compile(r"\b(?:req|request)\.body\b")


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


def token_check(source: Source, node: Node) -> Change:
    """Rejects expired tokens, and `none` if other algorithms are listed."""
    leave_choices(source, node, "what is checked of the token")
    if re.search(r"(?i)refresh|renew|logout|expired|decode", source.scope(node).name):
        raise RewriteRefused("the name says that an expired token is wanted too")
    if node.type == "pair" and source.text(node).replace(" ", "") == "ignoreExpiration:true":
        return Change(
            (replace_node(require_node(node.child_by_field_name("value"), "none"), "false"),),
            "expired tokens are refused",
        )
    given = [unwrap(arg) for arg in read_call(source, node).args]
    if read_call(source, node).method == "decode":
        return _verify(source, node, given)
    lists = [options(source, arg).get("algorithms") for arg in given if arg.type == "object"]
    named = require_node(next((value for value in lists if value is not None), None), "the algorithms are not here")
    kept = [n for n in named.named_children if (constant_text(source, n) or "").lower() not in ("", "none")]
    if named.type != "array" or not kept or len(kept) == len(named.named_children):
        raise RewriteRefused("it cannot be told which algorithms are meant")
    new = f"[{', '.join(source.text(n) for n in kept)}]"
    return Change((replace_node(named, new),), "a token without a signature is refused")


def _verify(source: Source, node: Node, given: list[Node]) -> Change:
    """`decode(token, secret)` names the secret and does not use it."""
    call = read_call(source, node)
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    member = callee.child_by_field_name("property")
    secret = len(given) == 2 and re.search(r"(?i)secret|key", source.text(given[1])) and given[1].type != "object"
    if not call.name.startswith("jsonwebtoken.") or member is None or not secret:
        raise RewriteRefused("the key to check the signature with is not here")
    return Change((replace_node(member, "verify"),), "the signature of the token is checked; a forged one throws")


def page(source: Source, node: Node) -> Iterator[Change]:
    """Escapes text put into a page: one value if that is enough, else all."""
    found = list(_list_values(source, _find_page(source, node), ""))
    refusal: RewriteRefused | None = None
    for chosen in (*([one] for one in found), found if len(found) > 1 else []):
        try:
            edits = [_escape_hole(source, hole, text) for hole, text in chosen]
        except RewriteRefused as why:
            refusal = refusal or why
            continue
        if edits:
            yield Change((*edits, *_escaper(source)), "values are shown as text, not as markup")
    if refusal is not None:
        raise refusal


def _list_values(source: Source, built: Built, before: str) -> Iterator[tuple[StringHole, str]]:
    """The values of a page with the text before each; instead of parts that are joined, the values in them."""
    for piece in built.pieces:
        if isinstance(piece, Text):
            before += source.slice(piece.start, piece.end)
            continue
        parts = _open_join(source, piece)
        if parts is None:
            yield piece, before
        for part in parts or ():
            yield from _list_values(source, part, before)
        before += "x"


def _open_join(source: Source, hole: StringHole) -> list[Built] | None:
    """The texts that `rows.join("")` and `rows.map(…).join("")` put together; None for any other value."""
    node = unwrap(hole.node)
    if node.type != "call_expression" or read_call(source, node).method != "join":
        return None
    made = _find_receiver(node)
    if made is not None and made.type == "identifier":
        bound = origins(source, made)
        value = bound[0].value if len(bound) == 1 and bound[0].kind == "set" else None
        made = unwrap(value) if value is not None else None
    if made is None or made.type != "call_expression" or read_call(source, made).method != "map":
        raise RewriteRefused(f"{source.text(hole.node)!r} may be markup that is meant to be there")
    given = read_call(source, made).args
    texts = _list_results(source, unwrap(given[0])) if given and given[0].type == "arrow_function" else []
    if not texts:
        raise RewriteRefused(f"{source.text(hole.node)!r} may be markup that is meant to be there")
    return [build(source, text, UNFOLLOWED) for text in texts]


def _find_receiver(call: Node) -> Node | None:
    callee = call.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    return unwrap(thing) if thing is not None else None


def _list_results(source: Source, function: Node) -> list[Node]:
    """What an arrow function returns."""
    body = require_node(function.child_by_field_name("body"), "the function has no body")
    if body.type != "statement_block":
        return [unwrap(body)]
    returns = [n for n in inside(body, 20_000) if n.type == "return_statement"]
    own = [n for n in returns if source.scope(n).node == function and n.named_child_count == 1]
    return [unwrap(n.named_children[0]) for n in own] if len(own) == len(returns) else []


def _find_page(source: Source, node: Node) -> Built:
    """What an answer sends, or a text with tags."""
    text = node
    if node.type == "call_expression":
        call = read_call(source, node)
        if call.method not in ANSWERS or len(call.args) != 1:
            raise RewriteRefused(f"there is no plain replacement for {call.name}")
        text = call.args[0]
    built = build(source, text)
    if built.home is not None or len(built.pieces) < 2:
        raise RewriteRefused("the page is built elsewhere")
    if text is node:
        require_tags(built.literal(source))
    return built


def _escape_hole(source: Source, hole: StringHole, before: str) -> Edit:
    text = source.text(hole.node)
    if NAMES.search(REQUEST.sub("", text)) or not _is_plain(source, unwrap(hole.node)):
        raise RewriteRefused(f"{text!r} may be markup that is meant to be there")
    if not is_text_place(before):
        raise RewriteRefused("a value stands in a script, a tag or an address, where escaping is not enough")
    leave_frame(source, hole.node, before)
    return replace_node(hole.node, f"escapeHtml({text})")


def _is_plain(source: Source, node: Node) -> bool:
    """A value, or a call that makes text of one; what other calls and mapped lists give may be markup."""
    if node.type == "call_expression":
        return _gives_text(source, node)
    if node.type == "identifier":
        values = [unwrap(b.value) for b in origins(source, node) if b.kind in ("set", "add") and b.value is not None]
        return all(MADE.search(source.text(value)) is None for value in values)
    return MADE.search(source.text(node)) is None


def _gives_text(source: Source, node: Node) -> bool:
    """A method that texts and numbers have, a look-up, or a function of this file that writes no tags."""
    call = read_call(source, node)
    if call.method in TEXTUAL:
        return MADE.search(source.text(node)) is None
    own = [scope.node for scope in source.functions if scope.name == call.name]
    return bool(own) and not any(MADE.search(source.text(function)) for function in own)


def _escaper(source: Source) -> tuple[Edit, ...]:
    return function(
        source, "escapeHtml", ESCAPER.format(value="value: unknown" if source.language == "typescript" else "value")
    )


REWRITES: dict[str, Rewrite] = {
    "javascript-cookie": _flag("secure"),
    "javascript-cookie-script": _flag("httpOnly"),
    "javascript-weak-random": random,
    "javascript-tls-version": tls_version,
    "javascript-key-size": key_size,
    "javascript-jwt": token_check,
}
CHOICES: dict[str, Choices] = {"javascript-response-xss": page}
