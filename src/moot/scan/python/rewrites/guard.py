"""Sanitises untrusted values where Python uses them: headers, logs, patterns, queries, responses."""

import re
from collections.abc import Callable, Iterator, Sequence

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, calls, read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import function, module, serves_python_2
from moot.scan.python.rewrites.text import before
from moot.scan.python.rewrites.types import is_text
from moot.scan.rewrites.choices import name_function
from moot.scan.strings import PERCENT, StringHole, Text, build, constant_text, unwrap
from moot.scan.syntax import Source, inside

PARTS = frozenset({"identifier", "attribute", "subscript", "call"})
UNFOLLOWED = 4
ONE_LINE = '''
def one_line(value):
    """The text without line breaks: each would begin a new entry."""
    return str(value).replace("\\r", " ").replace("\\n", " ")
'''
ALTERNATIVES = re.compile(r"\bjoin\(|\.replace(?:All)?\(|\bre\.sub\(")
PATTERN = re.compile(r"(?i)pattern|regex|rege?xp|\brx\b|\bre\b|expr|filter|glob|mask|rule|match")
"""Names of values that are patterns: escaping would break them."""
TEXTUAL = re.compile(
    r"(?i)name|user|login|mail|passw|pwd|token|title|slug|secret|phone|address|city|country|text|label|tag|"
    r"(?:^|_)(?:key|code|word|state|status|category|type|role)$"
)
"""Fields that certainly hold text; a number turned to text would no longer match."""
REQUEST = re.compile(r"(?:flask\.)?request\.(?:args|form|headers|cookies|values|GET|POST|params|query_params)\b")
MESSAGE = re.compile(r"msg|message|warning|text")
PASSES_ON = re.compile(r"_{0,2}(?:on)?(?:[wW]arn|[lL]og|[eE]rror|[dD]ebug|[iI]nfo|[mM]essage)")
OWN_LINES = re.compile(
    r"\\n|\"\"\"|indent\s*=|pformat|format_exc|JSON\.stringify\([^)]*,|inspect\(|\.stack\b|traceback"
)
BODY = re.compile(r"\\n(?:\\r)?\\n|\n\r?\n")
"""What ends the lines of a header."""
LEVELS = ("debug", "info", "warning", "error", "critical", "exception")
SORRY = '"Internal server error"'
Wrap = Callable[[StringHole], str]


def header(source: Source, node: Node) -> Iterator[Change]:
    """`send_header` makes text of whatever it is given; other values must be known to be text."""
    if (lines := _find_lines(source, node)) is not None:
        yield from _on_one_line(source, [lines], "the header", ends=BODY)
        return
    call = read_call(source, node) if node.type == "call" else None
    if call is not None and call.method == "start_response":
        yield from _on_one_line(source, _list_pairs(source, call), "the header", formatted=True)
        return
    values = [call.arg(1, "value", "_value"), call.arg(0)] if call else [node.child_by_field_name("right")]
    given = [value for value in values if value is not None and constant_text(source, value) is None]
    if not given or given[0].type == "dictionary":
        raise RewriteRefused("the value of the header is not here")
    formatted = call is not None and call.method == "send_header"
    yield from _on_one_line(source, given if formatted else given[:1], "the header", formatted=formatted)


def _list_pairs(source: Source, call: SourceCall) -> list[Node]:
    """The values in the list of headers that a WSGI application answers with: they must be text."""
    given = unwrap(require_node(call.arg(1, "headers", "response_headers"), "the headers are not here"))
    if given.type == "identifier":
        made = origins(source, given)
        alone = made[0].value if len(made) == 1 and made[0].kind == "set" else None
        given = unwrap(require_node(alone, "the headers are put together elsewhere"))
    if given.type != "list":
        raise RewriteRefused("the headers are put together elsewhere")
    pairs = [pair.named_children for pair in given.named_children if pair.type == "tuple"]
    return [pair[1] for pair in pairs if len(pair) == 2 and constant_text(source, pair[1]) is None]


def _find_lines(source: Source, node: Node) -> Node | None:
    """The text of header lines that are returned or sent: `f"{name}: {value}\\r\\n".encode()`"""
    text: Node | None = node
    if node.type == "call" and read_call(source, node).method in ("send", "sendall", "write"):
        text = read_call(source, node).arg(0)
    if text is not None and text.type == "call" and read_call(source, text).method == "encode":
        callee = require_node(text.child_by_field_name("function"), "the call has no name")
        text = callee.child_by_field_name("object")
    text = unwrap(text) if text is not None else None
    if text is None or text.type not in ("string", "concatenated_string", "binary_operator"):
        return None
    refuse_bytes(source, text)
    return text


def refuse_bytes(source: Source, text: Node) -> None:
    if any(re.match(r"(?i)b|rb", source.text(part)) for part in inside(text, 200) if part.type == "string"):
        raise RewriteRefused("bytes would no longer be bytes")


def log(source: Source, node: Node) -> Iterator[Change]:
    call = read_call(source, node)
    if not call.args or any(arg.type in ("list_splat", "dictionary_splat") for arg in call.args):
        raise RewriteRefused("what is logged is given elsewhere")
    told = call.args[1:] if call.method == "log" else call.args
    if not told:
        raise RewriteRefused("what is logged is given elsewhere")
    message, *rest = told
    text = constant_text(source, message)
    if rest and (text is None or any(found["verb"] not in "s%" or "(" in found[0] for found in PERCENT.finditer(text))):
        raise RewriteRefused("the values are formatted by the message")
    if rest and re.search(r"(?:\\n|\n)\s*%", text or ""):
        raise RewriteRefused("the message has lines of its own")
    given = rest if text is not None else [message]
    for value in given:
        refuse_bytes(source, value)
    yield from _on_one_line(source, [*given, *_list_other_entries(source, node, given)], "the log")


def _list_other_entries(source: Source, node: Node, given: Sequence[Node]) -> list[Node]:
    """The same values in other entries of this function: what forges one entry forges them all."""
    names = {
        source.text(hole.node) for text in given for hole in _holes(source, text) if hole.node.type == "identifier"
    }
    callee = node.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    here = [each for level in LEVELS for each in calls(source).get(level, ()) if each.node != node]
    here = [each for each in here if source.scope(each.node) is source.scope(node)]
    receiver = f"{source.text(thing)}." if thing is not None else "?"
    same = [each for each in here if source.text(each.node).startswith(receiver) and len(each.args) > 1]
    return [arg for each in same for arg in each.args[1:] if arg.type == "identifier" and source.text(arg) in names]


def _on_one_line(
    source: Source, texts: Sequence[Node], where: str, *, formatted: bool = False, ends: re.Pattern[str] | None = None
) -> Iterator[Change]:
    """`formatted`: the call itself makes text of whatever it is given. `ends`: text behind which lines may break."""
    found = [hole for text in texts for hole in open_steps(source, _holes(source, text, ends))]
    if not found:
        raise RewriteRefused("no plain value stands in the text")
    if where == "the header" and not formatted and any(not _is_text(source, text) for text in texts):
        raise RewriteRefused("the type of the value is not known: bytes would no longer be bytes")
    if where == "the header":  # what begins a line is no value of a header
        found = [hole for hole in found if not _begins_line(source, hole)] or found
    refuse_own_lines(source, found)
    if serves_python_2(source):
        raise RewriteRefused("the file is written for Python 2 too, where str() takes no letters beyond ASCII")
    added = function(source, "one_line", ONE_LINE, found[0].node)

    def wrap(hole: StringHole) -> str:
        return f"one_line({source.text(hole.node)})"

    yield from _wrap_values(source, found, wrap, added, f"begins no new line in {where}")


def open_steps(source: Source, holes: Sequence[StringHole]) -> list[StringHole]:
    """Instead of a text that this function puts together step by step, the values that it puts in."""
    found: list[StringHole] = []
    for hole in holes:
        name = unwrap(hole.node)
        bound = origins(source, name) if name.type == "identifier" else []
        built = [build(source, b.value, UNFOLLOWED) for b in bound if b.kind in ("set", "add") and b.value is not None]
        here = all(source.scope(b.node) is source.scope(name) for b in bound)
        added = any(b.kind == "add" for b in bound) and len(built) == len(bound) and here
        if added and all(any(isinstance(piece, Text) for piece in text.pieces) for text in built):
            found += [each for text in built for each in text.holes if each.spec in ("", "%s")]
        else:
            found.append(hole)
    return found


def refuse_made_pattern(source: Source, holes: Sequence[StringHole]) -> None:
    """Raises if a value is made into a part of a pattern: several words joined by a mark, `*` replaced by `.*`."""
    for name in (unwrap(hole.node) for hole in holes):
        made = [b.value for b in origins(source, name) if b.value is not None] if name.type == "identifier" else [name]
        if any(ALTERNATIVES.search(source.text(value)) for value in made):
            raise RewriteRefused("the value is made into a pattern here")


def refuse_own_lines(source: Source, holes: Sequence[StringHole]) -> None:
    """Raises if a value is made with line breaks, or begins a line: they are meant to be there."""
    if any(_begins_line(source, hole) for hole in holes):
        raise RewriteRefused("the value begins a line of its own")
    for name in (unwrap(hole.node) for hole in holes):
        if MESSAGE.fullmatch(source.text(name)) and PASSES_ON.match(name_function(source, name)):
            raise RewriteRefused("a whole message is passed on, which may have lines of its own")
        made = [b.value for b in origins(source, name) if b.value is not None] if name.type == "identifier" else [name]
        if any(OWN_LINES.search(source.text(value)) for value in made):
            raise RewriteRefused("the value is made with line breaks of its own")


def _begins_line(source: Source, hole: StringHole) -> bool:
    begin = hole.start if hole.start >= 0 else hole.node.start_byte
    return re.search(r"(?:\\n|\n)(?:['\"`]\s*\+\s*)?$", source.slice(max(0, begin - 40), begin)) is not None


def _is_text(source: Source, text: Node) -> bool:
    """Built as text here, or text of a request."""
    inner = unwrap(text)
    if len(build(source, inner, UNFOLLOWED).pieces) > 1 or is_text(source, inner):
        return True
    values = [b.value for b in origins(source, inner) if b.value is not None] if inner.type == "identifier" else [inner]
    return bool(values) and all(REQUEST.match(source.text(value)) for value in values)


def _holes(source: Source, text: Node, ends: re.Pattern[str] | None = None) -> list[StringHole]:
    """The values in a string literal, or the value itself."""
    built = build(source, unwrap(text), UNFOLLOWED)
    before, holes = "", list[StringHole]()
    for piece in built.pieces:
        if isinstance(piece, Text):
            before += source.slice(piece.start, piece.end)
        elif ends is None or not ends.search(before):
            holes.append(piece)
    return [hole for hole in holes if hole.spec in ("", "%s") and unwrap(hole.node).type in PARTS]


def _wrap_values(
    source: Source, holes: Sequence[StringHole], wrap: Wrap, added: tuple[Edit, ...], did: str
) -> Iterator[Change]:
    """One value if that is enough, else all."""
    names = [source.text(hole.node) for hole in holes]
    groups = [[hole for hole in holes if source.text(hole.node) == name] for name in dict.fromkeys(names)]
    for chosen in (*groups, list(holes) if len(groups) > 1 else []):
        if chosen:
            shown = ", ".join(dict.fromkeys(source.text(hole.node) for hole in chosen))
            edits = (*added, *(replace_node(hole.node, wrap(hole)) for hole in chosen))
            yield Change(edits, f"{shown} {did}")


def pattern(source: Source, node: Node) -> Iterator[Change]:
    """Treats a searched word literally."""
    text = require_node(read_call(source, node).arg(0, "pattern"), "the pattern is not here")
    found = _holes(source, text)
    if not found:
        raise RewriteRefused("no plain value stands in the pattern")
    refuse_made_pattern(source, found)
    if any(PATTERN.search(source.text(hole.node)) for hole in found):
        raise RewriteRefused("the names say that a pattern is wanted, not a word")
    alone = len(build(source, unwrap(text), UNFOLLOWED).pieces) < 2
    if alone and not any(TEXTUAL.search(source.text(hole.node)) for hole in found):
        raise RewriteRefused("nothing says whether a word or a pattern is wanted")
    local, added = module(source, "re", node)

    def wrap(hole: StringHole) -> str:
        value = source.text(hole.node)
        return f"{local}.escape({value})" if hole.start < 0 else f"{local}.escape(str({value}))"

    yield from _wrap_values(source, found, wrap, added, "is taken literally by the pattern")


def document_query(source: Source, node: Node) -> Iterator[Change]:
    """Compares a text field with text, and any other with the value itself, whatever object was sent."""
    query = require_node(read_call(source, node).arg(0, "filter"), "the query is not here")
    if unwrap(query).type != "dictionary":
        raise RewriteRefused("the query is put together elsewhere")
    found: list[StringHole] = []
    kept: set[int] = set()
    for pair in (child for child in unwrap(query).named_children if child.type == "pair"):
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if value is None or value.type not in PARTS:
            continue
        field = constant_text(source, key)
        if field is None or field.startswith("$"):
            raise RewriteRefused("it cannot be told which field is compared")
        if not TEXTUAL.search(field):
            kept.add(value.start_byte)
        found.append(StringHole(value))
    if not found:
        raise RewriteRefused("no plain value stands in the query")

    def wrap(hole: StringHole) -> str:
        value = source.text(hole.node)
        return f'{{"$eq": {value}}}' if hole.node.start_byte in kept else f"str({value})"

    yield from _wrap_values(source, found, wrap, (), "is compared for equality only")


def error_shown(source: Source, node: Node) -> Iterator[Change]:
    """Sends a plain sentence to the visitor and logs the traceback."""
    statement = require_node(source.statement(node), "the error is used elsewhere")
    if statement.type != "return_statement":
        raise RewriteRefused("the error is sent in another way")
    shown = [n for n in inside(statement, 400) if n.type == "call"]
    shown = [n for n in shown if read_call(source, n).name == "traceback.format_exc" and "()" in source.text(n)]
    if not shown and "format_exc" not in source.text(source.scope(node).node):
        raise RewriteRefused("what a visitor may be told of the error is nowhere in the code")
    if len(shown) != 1:
        raise RewriteRefused("the error is kept in a variable")
    local, added = module(source, "traceback", statement)
    edits = (replace_node(shown[0], SORRY), before(source, statement, f"{local}.print_exc()"), *added)
    yield Change(edits, "the traceback is printed for the operator and not sent to the visitor")


CHOICES: dict[str, Choices] = {
    "python-header": header,
    "python-log": log,
    "python-regex-injection": pattern,
    "python-nosql": document_query,
    "python-error-shown": error_shown,
}
