"""Escapes untrusted values that Go puts into a page: in formats, in sums of texts, and in what a builder collects."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.bindings import changes, origins
from moot.scan.calls import SourceCall, imports, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.builders import PRINTERS, WRITERS, list_written
from moot.scan.go.rewrites.module import package
from moot.scan.go.rewrites.sinks import REQUEST, TEXTS, UNFOLLOWED, VERB
from moot.scan.go.rewrites.types import is_text
from moot.scan.rewrites.markup import KNOWN, NAMES, is_text_place, require_tags
from moot.scan.rewrites.query_steps import EMPTY
from moot.scan.strings import Text, build
from moot.scan.syntax import Source, inside

ELSEWHERE = "the page is put together elsewhere"
MARKUP = "a value is markup itself, or stands in a script, a tag or an address"
ESCAPED = re.compile(r"^(?:html|template)\.(?:HTML)?Escape\w*\(|^url\.(?:Query|Path)Escape\(|^strconv\.|^len\(")
PLAIN = frozenset({"Get", "FormValue", "PostFormValue", "PathValue", "Error", "Format", "UserAgent", "Referer"})
"""Methods that return a text which is no markup."""
DEEPEST = 4


@dataclass(frozen=True)
class PageValue:
    node: Node
    verb: str = ""
    """How it is formatted; empty if it is a part of a sum, and so a text."""


PagePart = str | PageValue


def escape_page(source: Source, node: Node) -> Change:
    """Text without markup stays the same."""
    parts = list(_list_parts(source, node, 0))
    values = [part for part in parts if isinstance(part, PageValue)]
    if not values or len(parts) < 2:
        raise RewriteRefused(ELSEWHERE)
    literal = "".join(part for part in parts if isinstance(part, str))
    _leave_whole(source, literal, values)
    if not _is_written(source, node):
        require_tags(literal)
    escape, added = _find_escape(source)
    edits, more, before = dict[tuple[int, int], Edit](), tuple[Edit, ...](), ""
    for part in parts:
        if isinstance(part, str):
            before += part
            continue
        edit, needed = _escape_value(source, part, before, escape)
        if edit is not None:
            edits[edit.start, edit.end] = edit
            more = needed or more
        before += "x"
    if not edits:
        raise RewriteRefused(MARKUP)
    return Change((*edits.values(), *added, *more), "values are escaped before they are part of the page")


def _leave_whole(source: Source, literal: str, values: Sequence[PageValue]) -> None:
    """Raises if one value is all of the text, and not what a visitor sent: it may be a page or JSON already."""
    if len(values) != 1 or re.sub(r"\\[nrt]|[\s\"`]", "", literal):
        return
    value = values[0].node
    bound = origins(source, value) if value.type == "identifier" else []
    made = [each.value for each in bound if each.value is not None] or [value]
    if not any(REQUEST.search(source.text(each)) for each in made):
        raise RewriteRefused("all of the text is one value, and only its writer knows whether that is markup")


def _find_escape(source: Source) -> tuple[str, tuple[Edit, ...]]:
    try:
        html, added = package(source, "html")
    except RewriteRefused:  # a variable is called html
        template, added = package(source, "html/template")
        return f"{template}.HTMLEscapeString", added
    return f"{html}.EscapeString", added


def _is_written(source: Source, node: Node) -> bool:
    """Written to the visitor, which the rule has looked at: no tag has to tell that it is a page."""
    call = read_call(source, node) if node.type == "call_expression" else None
    return call is not None and (call.method in {*WRITERS, *PRINTERS})


def _escape_value(source: Source, part: PageValue, before: str, escape: str) -> tuple[Edit | None, tuple[Edit, ...]]:
    shown = source.text(part.node)
    if part.node.type in TEXTS or ESCAPED.search(shown) or (part.verb and part.verb[-1] not in "sv"):
        return None, ()
    if NAMES.search(shown) or not is_text_place(before) or _is_made_here(source, part.node):
        return None, ()  # the next scan tells whether this one is harmless
    if not part.verb or is_text(source, part.node):
        return replace_node(part.node, f"{escape}({shown})"), ()
    fmt, added = package(source, "fmt")
    return replace_node(part.node, f'{escape}({fmt}.Sprintf("{part.verb}", {shown}))'), added


def _is_made_here(source: Source, node: Node) -> bool:
    """Made by a function of the program, or collected, so that it may be markup."""
    if node.type == "identifier":
        values = [bound.value for bound in origins(source, node) if bound.value is not None]
        calls = [value for value in values if value.type == "call_expression"]
        return any(NAMES.search(source.text(value)) or _is_drawn_up(source, value) for value in calls)
    if node.type != "call_expression" or REQUEST.search(source.text(node)):
        return False
    call = read_call(source, node)
    package_name = call.name.rpartition(".")[0]
    standard = package_name in imports(source).values() and "." not in package_name
    return _is_drawn_up(source, node) or not (standard or call.method in PLAIN)


def _is_drawn_up(source: Source, node: Node) -> bool:
    """A call of a function of this file that writes tags, or of one that joins or reads what was collected."""
    call = read_call(source, node)
    if call.name == "strings.Join":
        return call.args[0].type == "identifier" and _has_tags(source.text(source.scope(node).node))
    if call.method in ("String", "Bytes"):
        return True
    kinds = ("function_declaration", "method_declaration")
    named = [n for n in source.nodes(*kinds) if source.text(n.child_by_field_name("name") or n) == call.method]
    return any(_has_tags(source.text(function)) for function in named)


def _has_tags(text: str) -> bool:
    return KNOWN.search(text) is not None


def _list_parts(source: Source, node: Node, depth: int) -> Iterator[PagePart]:
    """Texts and values, in the order in which the page gets them."""
    if depth > DEEPEST:
        raise RewriteRefused(ELSEWHERE)
    if node.type == "call_expression":
        yield from _list_call(source, read_call(source, node), depth)
    elif node.type == "type_conversion_expression":
        if not source.text(node).startswith("[]byte("):
            raise RewriteRefused(ELSEWHERE)
        yield from _list_parts(source, require_node(node.child_by_field_name("operand"), ELSEWHERE), depth + 1)
    elif node.type == "identifier":
        yield from _list_named(source, node, depth)
    else:
        yield from _list_sum(source, node, depth)


def _list_call(source: Source, call: SourceCall, depth: int) -> Iterator[PagePart]:
    given = call.args[1:] if call.name.startswith(("fmt.F", "io.WriteString")) else call.args
    if call.name in ("fmt.Fprintf", "fmt.Sprintf") and given:
        yield from _list_formatted(source, given[0], given[1:])
    elif call.method in ("String", "Bytes") and not call.args and (written := list_written(source, call)):
        for each in written:
            yield from _list_parts(source, each.node, depth + 1)
    elif len(given) == 1 and (call.method in WRITERS or call.name in ("fmt.Fprint", "fmt.Fprintln", "fmt.Sprint")):
        yield from _list_parts(source, given[0], depth + 1)
    else:
        yield PageValue(call.node)


def _list_formatted(source: Source, template: Node, values: Sequence[Node]) -> Iterator[PagePart]:
    if template.type not in TEXTS:
        raise RewriteRefused("the format is not here")
    text = source.text(template)[1:-1]
    verbs = [verb for verb in VERB.finditer(text) if verb[1] != "%"]
    if len(verbs) != len(values) or "*" in text or "%[" in text:
        raise RewriteRefused("it cannot be told which value goes where")
    at = 0
    for verb, value in zip(verbs, values, strict=True):
        yield text[at : verb.start()]
        markup = list(_list_markup(source, value, 1)) if verb[0] in ("%s", "%v") else []
        yield from markup or [PageValue(value, verb[0])]
        at = verb.end()
    yield text[at:]


def _list_sum(source: Source, node: Node, depth: int) -> Iterator[PagePart]:
    for piece in build(source, node, UNFOLLOWED).pieces:
        if isinstance(piece, Text):
            yield source.slice(piece.start, piece.end)
        elif piece.start >= 0:
            yield PageValue(piece.node, piece.spec or "%v")
        else:
            yield from list(_list_markup(source, piece.node, depth)) or [PageValue(piece.node)]


def _list_markup(source: Source, node: Node, depth: int) -> Iterator[PagePart]:
    """The parts of a name or a builder in which this function has put markup together; nothing for other values."""
    call = read_call(source, node) if node.type == "call_expression" else None
    collected = call is not None and call.method == "String" and not call.args and list_written(source, call)
    if call is not None and call.name == "strings.Join" and (joined := _list_joined(source, call, depth)):
        yield from joined
        return
    if node.type != "identifier" and not collected:
        return
    try:
        parts = list(_list_parts(source, node, depth + 1))
    except RewriteRefused:
        return
    if len(parts) > 1 and any(isinstance(part, str) and "<" in part for part in parts):
        yield from parts


def _list_joined(source: Source, call: SourceCall, depth: int) -> list[PagePart]:
    """The parts of the texts that this function appends to a list which it joins; nothing for other lists."""
    name = call.args[0]
    made = changes(source, source.scope(call.node), source.text(name)) if name.type == "identifier" else []
    found: list[PagePart] = []
    for each in made:
        value = require_node(each.value, ELSEWHERE)
        added = read_call(source, value) if value.type == "call_expression" else None
        if added is not None and added.name == "append" and source.text(added.args[0]) == each.name:
            found += [part for arg in added.args[1:] for part in _list_parts(source, arg, depth + 1)]
        elif not EMPTY.fullmatch(source.text(value)):
            return []
    return found if any(isinstance(part, str) and "<" in part for part in found) else []


def _list_named(source: Source, node: Node, depth: int) -> Iterator[PagePart]:
    """What this function sets the name to and adds to it, if it reads all of that."""
    bound, scope = origins(source, node), source.scope(node)
    mine = all(b.kind in ("set", "add") and b.value is not None and source.scope(b.node) is scope for b in bound)
    if not bound or not mine or len(bound) != len(changes(source, scope, source.text(node))):
        yield PageValue(node)
        return
    for each in bound:
        value = require_node(each.value, ELSEWHERE)
        if any(n.type == "identifier" and source.text(n) == each.name for n in inside(value, 500)):
            raise RewriteRefused(ELSEWHERE)
        yield from _list_parts(source, value, depth + 1)


REWRITES: dict[str, Rewrite] = {"go-response-xss": escape_page}
