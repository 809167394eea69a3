"""Escapes untrusted values in pages and LDAP filters."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, calls, modules, read_call
from moot.scan.change import Change, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.markup import escape_page, import_escape, may_be_markup
from moot.scan.python.rewrites.module import member
from moot.scan.rewrites.markup import NAMES, is_text_place, leave_frame, require_tags
from moot.scan.strings import StringHole, Text, build, unwrap
from moot.scan.syntax import Source, inside, words

Escaper: TypeAlias = tuple[str, tuple[Edit, ...]]
PARTS = frozenset({"identifier", "attribute", "subscript", "call"})
JOINED = frozenset({"argument_list", "generator_expression", "list_comprehension"})
WEB = words("flask quart werkzeug django fastapi starlette aiohttp bottle tornado pyramid webob sanic falcon")
FORMATS = re.compile(
    r"^_*(?:format|render|to|as|make|build|wrap|link|highlight|markdown|icon)_|(?:^|_)tag$|link$|anchor$"
)
"""Names of functions that may give markup."""
MARKS = frozenset({"Markup", "mark_safe", "SafeText", "format_html"})
TAKES_ANY = frozenset({"escape", "conditional_escape"})
UNFOLLOWED = 4
"""The depth at which `build` stops following names."""


def page(source: Source, node: Node) -> Iterator[Change]:
    """Escapes one value if that is enough, else all in the text."""
    if not modules(source) & WEB:
        built = build(source, unwrap(node), UNFOLLOWED)
        require_tags(source.text(source.scope(node).node) + built.literal(source))
    text = _answer(source, node)
    refusal: RewriteRefused | None = None
    try:
        yield from _escape_holes(source, text, lambda at: import_escape(source, at), "shown as text, not as markup")
    except RewriteRefused as why:
        refusal = why
    try:
        yield from escape_page(source, text)
    except RewriteRefused as why:
        raise refusal or why from None


def escape_marked(source: Source, node: Node) -> Iterator[Change]:
    """Escapes values in a text that is then marked as safe HTML."""
    call = read_call(source, node)
    text = require_node(call.arg(0), "the text is not here")
    if node.parent is not None and node.parent.type == "attribute":
        raise RewriteRefused("the markup is not shown but worked with")
    if unwrap(text).type != "identifier" and len(build(source, text, UNFOLLOWED).pieces) < 2:
        raise RewriteRefused("all of the text is one value, and only its writer knows whether that is markup")
    yield from _escape_holes(source, text, lambda at: _conditional(source, call, at), "shown as text, not as markup")


def _conditional(source: Source, call: SourceCall, at: Node) -> Escaper:
    """An escape that skips text already marked as safe."""
    if call.name.startswith("django."):
        return member(source, "django.utils.html", "conditional_escape", at)
    return member(source, "markupsafe", "escape", at)


def directory(source: Source, node: Node) -> Iterator[Change]:
    """The filter of an LDAP search."""
    call = read_call(source, node)
    given = (call.arg(1, "search_filter", "filterstr"), call.arg(2))
    for text in (arg for arg in given if arg is not None):
        yield from _escape_holes(source, text, lambda at: _ldap(source, at), "taken literally by the search")


def _ldap(source: Source, at: Node) -> Escaper:
    found = modules(source)
    if ("ldap3" in found) == ("ldap" in found):
        raise RewriteRefused("the LDAP library cannot be told from the imports")
    origin = "ldap3.utils.conv" if "ldap3" in found else "ldap.filter"
    return member(source, origin, "escape_filter_chars", at)


def _answer(source: Source, node: Node) -> Node:
    """The text of a response: the returned value, or the argument of the response object."""
    if node.type != "call" or len(build(source, node, UNFOLLOWED).pieces) > 1:
        return node
    call = read_call(source, node)
    if call.method in ("join", "format"):
        return node
    found = call.arg(0, "response", "content", "text", "body")
    if found is None:
        raise RewriteRefused("the text is not here")
    return found


def _escape_holes(source: Source, text: Node, escaper: Callable[[Node], Escaper], did: str) -> Iterator[Change]:
    found = [hole for hole in _holes(source, text) if _is_plain(source, hole)]
    if not found:
        raise RewriteRefused("no plain value stands in the text")
    if not all(_is_text_place(source, text, hole) for hole in found):
        raise RewriteRefused("a value stands in a script, a tag or an address, where escaping is not enough")
    for chosen in (*([hole] for hole in found), found if len(found) > 1 else []):
        if chosen:
            yield _wrap_values(source, chosen, escaper, did)


def _wrap_values(source: Source, holes: Sequence[StringHole], escaper: Callable[[Node], Escaper], did: str) -> Change:
    name, added = escaper(min((hole.node for hole in holes), key=lambda node: node.start_byte))
    edits = [
        replace_node(hole.node, _escape_call(name, source.text(hole.node), added=hole.start < 0)) for hole in holes
    ]
    shown = ", ".join(dict.fromkeys(source.text(hole.node) for hole in holes))
    return Change((*edits, *added), f"{shown} is {did}")


def _escape_call(name: str, text: str, *, added: bool) -> str:
    """Operands of + are text; formatted values may be anything. Text marked as safe would escape what is added to it,
    so it is converted to plain text."""
    if name in TAKES_ANY:
        return f"str({name}({text}))"
    return f"{name}({text})" if added else f"{name}(str({text}))"


def _holes(source: Source, text: Node) -> list[StringHole]:
    """The values in a text; for `"".join(parts)`, those in its parts."""
    return [inner for hole in _find_holes(source, text) for inner in _open_join(source, hole)]


def _open_join(source: Source, hole: StringHole) -> list[StringHole]:
    node = unwrap(hole.node)
    if node.type != "call" or read_call(source, node).method != "join":
        return [hole]
    given = require_node(read_call(source, node).arg(0), "what is joined is not here")
    texts: list[Node] = []
    if given.type == "identifier":
        texts = [
            made.args[0] for made in calls(source).get("append", ()) if made.name == f"{source.text(given)}.append"
        ]
        texts = [made for made in texts if source.scope(made) is source.scope(node)]
        others = [
            b for b in origins(source, given) if b.value is None or not re.fullmatch(r"\[\s*\]", source.text(b.value))
        ]
        texts = [] if others else texts
    elif given.type in ("generator_expression", "list_comprehension"):
        texts = [require_node(given.child_by_field_name("body"), "what is joined is not here")]
    built = [build(source, text, UNFOLLOWED) for text in texts]
    if not built or any(len(each.pieces) < 2 for each in built):
        raise RewriteRefused("what is joined is made elsewhere")
    return [inner for each in built for inner in each.holes]


def _find_holes(source: Source, text: Node) -> list[StringHole]:
    text = unwrap(text)
    if text.type != "identifier":
        return build(source, text, UNFOLLOWED).holes
    values = [b.value for b in origins(source, text) if b.kind in ("set", "add") and b.value is not None]
    if not values:
        raise RewriteRefused("the text is built elsewhere")
    _only_answer(source, text)
    built = [build(source, value, UNFOLLOWED) for value in values]
    return [hole for each in built for hole in each.holes if len(each.pieces) > 1]


def _is_text_place(source: Source, text: Node, hole: StringHole) -> bool:
    """Whether escaping is enough: not in a script, tag, URL or event handler."""
    text = unwrap(text)
    bound = origins(source, text) if text.type == "identifier" else []
    values = [b.value for b in bound if b.value is not None] or [text]
    before = ""
    part = hole.node
    while part.parent is not None and part.parent.type in ("binary_operator", "interpolation", "string"):
        part = part.parent
    values = (
        values
        if any(v.start_byte <= hole.node.start_byte < v.end_byte and not _is_joined(v, part) for v in values)
        else [part]
    )
    for piece in (piece for value in values for piece in build(source, value, UNFOLLOWED).pieces):
        if isinstance(piece, StringHole) and piece.node.start_byte == hole.node.start_byte:
            break
        before += source.slice(piece.start, piece.end) if isinstance(piece, Text) else "x"
    leave_frame(source, hole.node, before)
    return is_text_place(before)


def _is_joined(value: Node, part: Node) -> bool:
    """Whether the part lies in a call of the value, as what is joined there does."""
    return part.start_byte > value.start_byte and part.parent is not None and part.parent.type in JOINED


def _only_answer(source: Source, name: Node) -> None:
    """Raises if others read the text: escaping would change it for them too."""
    word = source.text(name)
    for use in inside(source.scope(name).node, 50_000):
        if use.type != "identifier" or source.text(use) != word or use.start_byte == name.start_byte:
            continue
        holder = use.parent
        if holder is None or holder.type in ("return_statement", "attribute", "keyword_argument", "interpolation"):
            continue
        written = holder.type in ("assignment", "augmented_assignment") and holder.child_by_field_name("left") == use
        if not written and holder.type != "argument_list":
            raise RewriteRefused(f"{word!r} is used for more than this")


def _is_plain(source: Source, hole: StringHole) -> bool:
    node = unwrap(hole.node)
    plain = hole.spec in ("", "%s") and node.type in PARTS and not NAMES.search(source.text(node))
    given = node.type == "call" and may_be_markup(source, node)
    return plain and not given and not (node.type == "identifier" and _is_markup(source, node))


def _is_markup(source: Source, name: Node) -> bool:
    """Marked as safe HTML, or made of tags in one place at least: escaping would also affect its own markup."""
    values = [unwrap(b.value) for b in origins(source, name) if b.value is not None]
    made = (read_call(source, value).method for value in values if value.type == "call")
    return any(re.search(r"</?[a-zA-Z!]", source.text(value)) for value in values) or any(
        method in MARKS or FORMATS.search(method) for method in made
    )
