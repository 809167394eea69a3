"""Sanitises untrusted values where JavaScript uses them."""

import re
from collections.abc import Callable, Iterator, Sequence

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.functions import find_receiver, list_pushed
from moot.scan.javascript.rewrites.module import before, function
from moot.scan.python.rewrites.guard import PATTERN, TEXTUAL, open_steps, refuse_made_pattern, refuse_own_lines
from moot.scan.rewrites.choices import leave_own_host, leave_wrapper
from moot.scan.strings import StringHole, build, constant_text, unwrap
from moot.scan.syntax import Source

PARTS = frozenset({"identifier", "member_expression", "subscript_expression", "call_expression"})
UNFOLLOWED = 4
ONE_LINE = 'const oneLine = ({value}) => String(value).replace(/[\\r\\n]/g, " ");'
CHOSEN = re.compile(r"(?:this\.)?_?(?:options|opts|config|settings)\b")
ESCAPER = 'const escapeRegExp = ({value}) => String(value).replace(/[.*+?^${{}}()|[\\]\\\\]/g, "\\\\$&");'
LOCAL = """const localPath = ({given}) => {{
  try {{
    const there = new URL(String(address), new URL(page, "http://localhost"));
    const place = there.pathname + there.search + there.hash;
    return place.startsWith("/") && !place.startsWith("//") ? place : "/";
  }} catch {{
    return "/";
  }}
}};"""
SORRY = '"Internal server error"'


def _value(source: Source) -> str:
    return "value: unknown" if source.language == "typescript" else "value"


def _holes(source: Source, text: Node) -> list[StringHole]:
    built = build(source, unwrap(text), UNFOLLOWED)
    return [hole for hole in built.holes if unwrap(hole.node).type in PARTS or _is_sum(source, hole.node)]


def _is_sum(source: Source, node: Node) -> bool:
    """`a + b` in front of a text, which may be two numbers."""
    operator = unwrap(node).child_by_field_name("operator")
    return operator is not None and source.text(operator) in ("+", "||", "??")


def _wrap_values(
    source: Source, holes: Sequence[StringHole], wrap: Callable[[str], str], added: Sequence[Edit], did: str
) -> Iterator[Change]:
    """One value if that is enough, else all."""
    for chosen in (*([hole] for hole in holes), list(holes) if len(holes) > 1 else []):
        if chosen:
            shown = ", ".join(dict.fromkeys(source.text(hole.node) for hole in chosen))
            edits = (*added, *(replace_node(hole.node, wrap(source.text(hole.node))) for hole in chosen))
            yield Change(edits, f"{shown} {did}")


def log(source: Source, node: Node) -> Iterator[Change]:
    """Only values inside a string; an object that is logged by itself is already printed in one piece."""
    found = [hole for arg in read_call(source, node).args for hole in _holes(source, arg) if _in_text(source, arg)]
    if not found:
        raise RewriteRefused("what is logged is no text that is put together here")
    refuse_own_lines(source, found)
    added = function(source, "oneLine", ONE_LINE.format(value=_value(source)))
    yield from _wrap_values(source, found, lambda text: f"oneLine({text})", added, "begins no new line in the log")


def _in_text(source: Source, arg: Node) -> bool:
    return len(build(source, unwrap(arg), UNFOLLOWED).pieces) > 1


def header(source: Source, node: Node) -> Iterator[Change]:
    texts = _list_headers(source, node)
    found = open_steps(source, [hole for text in texts for hole in _holes(source, text)])
    if not found:
        raise RewriteRefused("no plain value stands in the header")
    added = function(source, "oneLine", ONE_LINE.format(value=_value(source)))
    refuse_own_lines(source, found)
    yield from _wrap_values(source, found, lambda text: f"oneLine({text})", added, "begins no new header")


def _list_headers(source: Source, node: Node) -> list[Node]:
    """The values of headers, or the text of header lines that is returned, joined or sent."""
    if node.type != "call_expression":
        return [node]
    call = read_call(source, node)
    if call.method in ("write", "end") and len(call.args) == 1:
        return [call.args[0]]
    if call.method == "join" and (lines := list_elements(source, node)):
        return lines
    table = unwrap(call.args[-1]) if call.args else node
    if table.type == "object":
        pairs = [pair.child_by_field_name("value") for pair in table.named_children if pair.type == "pair"]
        return [value for value in pairs if value is not None and _in_text(source, value)]
    if len(call.args) != 2 or constant_text(source, call.args[0]) is None:
        raise RewriteRefused("the header is given in another way")
    value = unwrap(call.args[1])
    return [each for each in value.named_children if each.type != "comment"] if value.type == "array" else [value]


def list_elements(source: Source, node: Node) -> list[Node]:
    """The elements of `[…].join("\\r\\n")`, also where the list has a name."""
    thing = find_receiver(node)
    pushed: list[Node] = []
    if thing is not None and thing.type == "identifier":
        made = origins(source, thing)
        alone = made[0].value if len(made) == 1 and made[0].kind == "set" else None
        pushed = list(list_pushed(source, thing)) if alone is not None else []
        thing = unwrap(alone) if alone is not None else None
    if thing is None or thing.type != "array":
        return []
    return [each for each in (*thing.named_children, *pushed) if each.type not in ("comment", "spread_element")]


def pattern(source: Source, node: Node) -> Iterator[Change]:
    """Treats a searched word literally."""
    text = require_node(read_call(source, node).arg(0), "the pattern is not here")
    found = _holes(source, text)
    if not found:
        raise RewriteRefused("no plain value stands in the pattern")
    refuse_made_pattern(source, found)
    if any(PATTERN.search(source.text(hole.node)) for hole in found):
        raise RewriteRefused("the names say that a pattern is wanted, not a word")
    alone = len(build(source, unwrap(text), UNFOLLOWED).pieces) < 2
    if alone and not any(TEXTUAL.search(source.text(hole.node)) for hole in found):
        raise RewriteRefused("nothing says whether a word or a pattern is wanted")
    added = function(source, "escapeRegExp", ESCAPER.format(value=_value(source)))
    did = "is taken literally by the pattern"
    yield from _wrap_values(source, found, lambda text: f"escapeRegExp({text})", added, did)


def document_query(source: Source, node: Node) -> Iterator[Change]:
    """Compares a text field with text, whatever object was sent."""
    query = unwrap(require_node(read_call(source, node).arg(0), "the query is not here"))
    if query.type == "identifier":
        made = origins(source, query)
        alone = made[0].value if len(made) == 1 and made[0].kind == "set" else None
        query = unwrap(require_node(alone, "the query is put together elsewhere"))
    if query.type != "object":
        raise RewriteRefused("the query is put together elsewhere")
    found: list[StringHole] = []
    for pair in query.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type == "shorthand_property_identifier":
            key = value = pair
        if key is None or value is None or (key != value and unwrap(value).type not in PARTS):
            continue
        if not TEXTUAL.search(source.text(key).strip("\"'")):
            raise RewriteRefused("it cannot be told whether a field holds text")
        found.append(StringHole(value))
    if not found:
        raise RewriteRefused("no plain value stands in the query")
    for chosen in (*([hole] for hole in found), found if len(found) > 1 else []):
        if chosen:
            shown = ", ".join(source.text(hole.node) for hole in chosen)
            yield Change(tuple(_as_text(source, hole.node) for hole in chosen), f"{shown} is text in the query")


def _as_text(source: Source, value: Node) -> Edit:
    new = f"String({source.text(value)})"
    named = value.type == "shorthand_property_identifier"
    return replace_node(value, f"{source.text(value)}: {new}" if named else new)


def redirect(source: Source, node: Node) -> Iterator[Change]:
    """Resolves the URL as a browser would and keeps only its path on this host."""
    leave_wrapper(source, node)
    call, page = read_call(source, node), _page(source, node)
    if call.method != "redirect" or not call.name.startswith(("res.", "reply.")) or len(call.args) not in (1, 2):
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    target = call.args[-1]
    if constant_text(source, target) is not None or re.search(r"""["'`]back["'`]""", source.text(target)):
        raise RewriteRefused("the address is not here, or it may lead back to where the visitor came from")
    if CHOSEN.match(source.text(target)):
        raise RewriteRefused("an option says where it leads, which the program chooses itself")
    leave_own_host(source, target)
    if target.type == "identifier" and _is_bound_before(source, target):
        raise RewriteRefused("who sets up the handler says where it leads")
    added = function(source, "localPath", _local(source))
    new = f"localPath({source.text(target)}, {page})"
    yield Change((*added, replace_node(target, new)), "visitors are only sent to pages of the same host")


def _is_bound_before(source: Source, name: Node) -> bool:
    """Whether it is a parameter of a function around the handler, which knows no request."""
    scope = source.scope(name)
    while scope.outer is not None:
        if source.text(name) in scope.parameters:
            return not scope.parameters & {"req", "request", "res", "reply", "response"}
        scope = scope.outer
    return False


def _local(source: Source) -> str:
    given = "address: unknown, page: string" if source.language == "typescript" else "address, page"
    return LOCAL.format(given=given)


def _page(source: Source, node: Node) -> str:
    """The requested URL, by the name the handler has for it."""
    for name in ("req", "request"):
        if name in _parameters(source, node):
            return f"{name}.originalUrl"
    raise RewriteRefused("the request is not known here")


def _parameters(source: Source, node: Node) -> set[str]:
    scope, found = source.scope(node), set[str]()
    while scope.outer is not None:
        found |= scope.parameters
        scope = scope.outer
    return found


def error_shown(source: Source, node: Node) -> Iterator[Change]:
    """Sends a plain sentence to the visitor and logs the stack."""
    call = read_call(source, node)
    shown = unwrap(require_node(call.arg(0), "the error is not here"))
    thing = shown.child_by_field_name("object")
    if shown.type != "member_expression" or thing is None or not source.text(shown).endswith(".stack"):
        raise RewriteRefused("the error is sent in another way")
    statement = require_node(source.statement(node), "the error is sent outside of a statement")
    if source.scope(statement) is not source.scope(node) or re.search(r"\?\.", source.text(shown)):
        raise RewriteRefused("the error is sent outside of a statement")
    edits = (before(source, statement, f"console.error({source.text(thing)});"), replace_node(shown, SORRY))
    yield Change(edits, "the stack is logged for the operator and not sent to the visitor")


CHOICES: dict[str, Choices] = {
    "javascript-log": log,
    "javascript-header": header,
    "javascript-regex-injection": pattern,
    "javascript-nosql": document_query,
    "javascript-open-redirect": redirect,
    "javascript-error-disclosure": error_shown,
}
