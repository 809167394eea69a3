"""Checks of tokens in JavaScript: signatures, expiry, algorithms."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import changes
from moot.scan.calls import SourceCall, calls, read_call
from moot.scan.change import Change, Choices, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.javascript.rewrites.module import function
from moot.scan.javascript.rewrites.settings import options
from moot.scan.rewrites.choices import CLASSES, leave_choices
from moot.scan.strings import constant_text, unwrap
from moot.scan.syntax import Scope, Source, inside

KEY = re.compile(r"(?i)secret|(?:jwt|token|public|sign(?:ing|ature)?|verif\w*|hmac|auth)_?key|^key$")
SHARED = re.compile(r"this\.[\w.]+|process\.env\.\w+|[A-Za-z_$][\w$]*(?:\.[\w$]+)*")
BOUND = ("identifier", "shorthand_property_identifier_pattern")
NO_KEY = "the key to check the signature with is not here"
VERIFIED = """// The payload of a token whose signature is right, else null as for a text that is no token.
const verifyToken = ({given}) => {{
  try {{
    return {library}.verify(token, key);
  }} catch {{
    return null;
  }}
}};"""


def check_token(source: Source, node: Node) -> Change:
    """Rejects expired tokens, and `none` if other algorithms are listed."""
    _leave(source, node)
    if node.type == "pair" and source.text(node).replace(" ", "") == "ignoreExpiration:true":
        value = require_node(node.child_by_field_name("value"), "the switch is not here")
        return Change((replace_node(value, "false"),), "expired tokens are refused")
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


def _leave(source: Source, node: Node) -> None:
    leave_choices(source, node, "what is checked of the token")
    if re.search(r"(?i)refresh|renew|logout|expired|decode", source.scope(node).name):
        raise RewriteRefused("the name says that an expired token is wanted too")


def _verify(source: Source, node: Node, given: list[Node]) -> Change:
    """`decode(token, secret)` names the secret and does not use it."""
    call = read_call(source, node)
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    member = callee.child_by_field_name("property")
    secret = len(given) == 2 and re.search(r"(?i)secret|key", source.text(given[1])) and given[1].type != "object"
    if not call.name.startswith("jsonwebtoken.") or member is None or not secret:
        raise RewriteRefused(NO_KEY)
    return Change((replace_node(member, "verify"),), "the signature of the token is checked; a forged one throws")


def verify_by_known_key(source: Source, node: Node) -> Iterator[Change]:
    """The key that this file signs or verifies with, or the only one that the function can see."""
    if node.type != "call_expression":
        return
    _leave(source, node)
    call = read_call(source, node)
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    library = callee.child_by_field_name("object")
    if call.name != "jsonwebtoken.decode" or library is None or len(call.args) != 1:
        raise RewriteRefused(NO_KEY)
    key = _find_key(source, node)
    given = "token: string, key: string" if source.language == "typescript" else "token, key"
    helper = function(source, "verifyToken", VERIFIED.format(given=given, library=source.text(library)))
    new = f"verifyToken({source.text(call.args[0])}, {key})"
    yield Change((replace_node(node, new), *helper), "the signature of the token is checked")


def _find_key(source: Source, node: Node) -> str:
    used = [each for name in ("sign", "verify") for each in calls(source).get(name, ()) if _is_seen(source, each, node)]
    keys = {source.text(each.args[1]) for each in used}
    if not keys:
        keys = _list_visible(source, node)
    if len(keys) != 1:
        raise RewriteRefused(NO_KEY)
    return keys.pop()


def _is_seen(source: Source, each: SourceCall, node: Node) -> bool:
    """Whether the key of another call is the same value here: of this object, of the module, of the environment."""
    if not each.name.startswith("jsonwebtoken.") or len(each.args) < 2:
        return False
    text = source.text(each.args[1])
    if SHARED.fullmatch(text) is None:
        return False
    if text.startswith("this."):
        return _find_class(each.node) == _find_class(node) is not None
    return text.startswith("process.env.") or _is_of_module(source, text.partition(".")[0], node)


def _find_class(node: Node) -> Node | None:
    outer = node.parent
    while outer is not None and outer.type not in CLASSES:
        outer = outer.parent
    return outer


def _is_of_module(source: Source, word: str, node: Node) -> bool:
    scope: Scope | None = source.scope(node)
    while scope is not None and scope.outer is not None:
        if word in scope.parameters or changes(source, scope, word):
            return False
        scope = scope.outer
    return scope is not None and bool(changes(source, scope, word))


def _list_visible(source: Source, node: Node) -> set[str]:
    """Parameters and constants around the call that are named like a key."""
    scope: Scope | None = source.scope(node)
    found: set[str] = set()
    while scope is not None:
        names = set(scope.parameters)
        for declarator in source.nodes("variable_declarator"):
            name = declarator.child_by_field_name("name")
            if name is not None and source.scope(declarator) is scope and declarator.start_byte < node.start_byte:
                names |= {source.text(each) for each in inside(name, 100) if each.type in BOUND}
        found |= {name for name in names if KEY.search(name)}
        scope = scope.outer
    return found


REWRITES: dict[str, Rewrite] = {"javascript-jwt": check_token}
CHOICES: dict[str, Choices] = {"javascript-jwt": verify_by_known_key}
