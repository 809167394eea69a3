"""Rewrites of Python at the sink: makes an untrusted value safe where it is used."""

from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import modules, read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites import escape as pyescape
from moot.scan.python.rewrites import guard as pyguard
from moot.scan.python.rewrites import path as pypath
from moot.scan.python.rewrites import redirect as pyredirect
from moot.scan.python.rewrites import render as pyrender
from moot.scan.python.rewrites import xml as pyxml
from moot.scan.python.rewrites import xpath as pyxpath
from moot.scan.python.rewrites.text import with_argument
from moot.scan.python.rewrites.types import makers
from moot.scan.rewrites.choices import READ, leave_plain_cookie
from moot.scan.syntax import Source, words

WEB = words("flask quart werkzeug django fastapi starlette aiohttp bottle tornado")
"""Frameworks whose responses take `secure` and `httponly`."""
RESPONSES = frozenset({"response", "resp", "res"})
COOKIES = frozenset({"set_cookie"})


def _flag(source: Source, node: Node, name: str, place: int) -> Edit | None:
    """Turns a cookie flag on; no edit if it is on."""
    call = read_call(source, node)
    if any(arg.type in ("dictionary_splat", "list_splat") for arg in call.args):
        raise RewriteRefused("the options of the cookie are given elsewhere")
    given = call.keywords.get(name) or (call.args[place] if len(call.args) > place else None)
    if given is None:
        return with_argument(source, node, f"{name}=True")
    if given.type not in ("false", "none", "true"):
        raise RewriteRefused(f"{name} is decided elsewhere")
    return None if given.type == "true" else replace_node(given, "True")


def web_response(source: Source, node: Node) -> None:
    """Client cookie jars have a method of the same name without flags."""
    call = read_call(source, node)
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    receiver = require_node(
        callee.child_by_field_name("object"), "what sets the cookie is not known to be a web response"
    )
    found = {name.split(".")[0] for name in makers(source, receiver)}
    by_name = source.text(receiver).lower() in RESPONSES and bool(modules(source) & WEB) and found == {"?"}
    if not (found <= WEB or by_name) or len(call.args) + len(call.keywords) < 2 or source.project.defined & COOKIES:
        raise RewriteRefused("what sets the cookie is not known to be a web response")


def _is_read(source: Source, node: Node) -> bool:
    """A cookie read by scripts: `csrftoken`, language, theme."""
    name = read_call(source, node).arg(0, "key", "name")
    return name is not None and bool(READ.search(source.text(name)))


def cookie_secure(source: Source, node: Node) -> Iterator[Change]:
    """HTTPS only; also HTTP only if its absence would be the next finding."""
    if node.type == "assignment":
        yield _setting(node, "the cookie travels over HTTPS only")
        return
    web_response(source, node)
    leave_plain_cookie(source, node)
    if _is_read(source, node):
        raise RewriteRefused("the name says that it is no session and that scripts of the page read it")
    secure = _flag(source, node, "secure", 6)
    if secure is None:
        raise RewriteRefused("the cookie is secure already")
    yield Change((secure,), "the cookie travels over HTTPS only")
    hidden = _flag(source, node, "httponly", 7)
    if hidden is not None:
        edits = (
            (secure, hidden)
            if hidden.start != secure.start
            else (Edit(secure.start, secure.end, secure.new + hidden.new),)
        )
        yield Change(edits, "the cookie travels over HTTPS only and scripts of the page cannot read it")


def cookie_hidden(source: Source, node: Node) -> Iterator[Change]:
    if node.type == "assignment":
        yield _setting(node, "scripts of the page cannot read the cookie")
        return
    web_response(source, node)
    if _is_read(source, node):
        raise RewriteRefused("the name says that scripts of the page read the cookie")
    hidden = _flag(source, node, "httponly", 7)
    if hidden is not None:
        yield Change((hidden,), "scripts of the page cannot read the cookie")


def _setting(node: Node, did: str) -> Change:
    """`app.config["SESSION_COOKIE_SECURE"] = False`"""
    return Change((replace_node(require_node(node.child_by_field_name("right"), "nothing is assigned"), "True"),), did)


CHOICES: dict[str, Choices] = {
    "python-cookie": cookie_secure,
    "python-cookie-script": cookie_hidden,
    "python-response-xss": pyescape.page,
    "python-markup": pyescape.escape_marked,
    "python-ldap": pyescape.directory,
    "python-path": pypath.contain_path,
    "python-open-redirect": pyredirect.same_host,
    "python-xxe": pyxml.close_parser,
    "python-xpath": pyxpath.variables,
    **pyguard.CHOICES,
    **pyrender.CHOICES,
}
