"""Keeps untrusted values of Go on one line: in logs, and in the lines of an HTTP header."""

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from moot.scan.bindings import changes, origins
from moot.scan.calls import SourceCall, read_call
from moot.scan.change import Change, Choices, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.builders import WRITERS, list_written
from moot.scan.go.rewrites.module import names, package
from moot.scan.go.rewrites.sinks import TEXTS, VERB
from moot.scan.go.rewrites.types import is_text
from moot.scan.strings import StringHole, build
from moot.scan.syntax import Source

ONE_LINE = """

// oneLine returns the text without line breaks: each would begin a new entry.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\\r", " "), "\\n", " ")
}
"""
UNFOLLOWED = 4
OWN_LINES = re.compile(r"\\n|`[^`]*\n|debug\.Stack|MarshalIndent|\bDump\w*\(")
FORMATS = re.compile(r"(?:^F|[a-z])printf$|^Printf$|f$")
LITERAL = re.compile(r'"((?:\\.|[^"\\])*)"')
BLANK = re.compile(r"\\n(?:\\r)?\\n")
"""Behind a blank line there are no headers: a message has lines of its own."""
FIXED = re.compile(r"^(?:oneLine\(|strconv\.Quote|len\(|time\.Now\()|\.Format\((?:time\.\w+|\"[^\"]*\")\)$")
"""Numbers, times, and what is on one line already."""


def stay_on_line(source: Source, node: Node) -> Iterator[Change]:
    """Each value alone if that is enough, else all."""
    found = [value for value in _list_values(source, node) if not _is_fixed(source, value)]
    if not found:
        raise RewriteRefused("no plain value stands in the text")
    if source.scope(node).name == "Write" and any(
        source.text(value) in source.scope(node).parameters for value in found
    ):
        raise RewriteRefused("a writer passes on what it is given, with its line breaks")
    if any(_has_own_lines(source, value) for value in found):
        raise RewriteRefused("the value is made with line breaks of its own")
    added = _write_helper(source)
    groups = [[value] for value in found] + ([found] if len(found) > 1 else [])
    for chosen in groups:
        edits, more = list[Edit](), tuple[Edit, ...]()
        for value in chosen:
            text, imported = _as_text(source, value)
            edits.append(replace_node(value, f"oneLine({text})"))
            more = imported or more
        shown = ", ".join(dict.fromkeys(source.text(value) for value in chosen))
        yield Change((*edits, *more, *added), f"{shown} begins no new line")


def _as_text(source: Source, value: Node) -> tuple[str, tuple[Edit, ...]]:
    shown = source.text(value)
    if is_text(source, value) or (value.parent is not None and value.parent.type == "binary_expression"):
        return shown, ()
    fmt, added = package(source, "fmt")
    verb = _find_verb(source, value)
    return f'{fmt}.Sprintf("%s", {shown})' if verb == "%s" else f"{fmt}.Sprint({shown})", added


def _find_verb(source: Source, value: Node) -> str:
    """The verb that formats the value: `%s` writes bytes as text, which `%v` and Sprint do not."""
    call = value.parent.parent if value.parent is not None else None
    if call is None or call.type != "call_expression":
        return ""
    args = list(read_call(source, call).args)
    templates = [at for at, arg in enumerate(args) if arg.type in TEXTS and arg.start_byte < value.start_byte]
    if not templates or not FORMATS.search(read_call(source, call).method):
        return ""
    verbs = [verb[0] for verb in VERB.finditer(source.text(args[templates[0]])) if verb[1] != "%"]
    place = args.index(value) - templates[0] - 1
    return verbs[place] if 0 <= place < len(verbs) else ""


def _has_own_lines(source: Source, value: Node) -> bool:
    """A value that is made with line breaks, or what a buffer of this function collects."""
    made = [b.value for b in origins(source, value) if b.value is not None] if value.type == "identifier" else [value]
    around = source.text(source.scope(value).node)
    collected = re.match(r"(\w+)\.(?:Bytes|String)\(\)$", source.text(value))
    if collected and re.search(rf"\b{collected[1]}\b[^\n]*\b(?:bytes\.|strings\.Builder)", around):
        return True
    return any(OWN_LINES.search(source.text(each)) for each in made)


def _write_helper(source: Source) -> tuple[Edit, ...]:
    if ONE_LINE.strip().encode() in source.data:
        return ()
    if "oneLine" in names(source) | source.project.defined:
        raise RewriteRefused("'oneLine' means something else here")
    strings, added = package(source, "strings")
    if strings != "strings":
        raise RewriteRefused("strings has another name here")
    end = len(source.data.rstrip())
    return (*added, Edit(end, len(source.data), ONE_LINE))


def _list_values(source: Source, node: Node) -> list[Node]:
    """The values in what is written, where they become text."""
    if node.type != "call_expression":
        return _list_parts(source, node)
    call = read_call(source, node)
    args = list(call.args)
    if call.method in ("String", "Bytes") and not args:
        return _list_written(source, call)
    if any(arg.type == "variadic_argument" for arg in args):
        raise RewriteRefused("the values are given elsewhere")
    if call.name.startswith(("fmt.F", "io.WriteString")):
        args = args[1:]
    if call.method in WRITERS:
        return [part for arg in args for part in _list_parts(source, _open_bytes(source, arg))]
    if call.name.startswith("fmt.S") or FORMATS.search(call.method):
        return _list_formatted(source, call, args)
    values = [part for arg in args for part in _list_parts(source, arg)]
    spaced = call.method.endswith("ln") or all(is_text(source, value) for value in values if value in args)
    if not spaced:
        raise RewriteRefused("as text, the value would be written without the space before it")
    return values


def _list_written(source: Source, call: SourceCall) -> list[Node]:
    """The values in what the function has written to a builder, up to a blank line."""
    found: list[Node] = []
    written = ""
    for other in list_written(source, call):
        if BLANK.search(written):
            break
        found += _list_values(source, other.node)
        written += "".join(LITERAL.findall(source.text(other.node)))
    return found


def _open_bytes(source: Source, value: Node) -> Node:
    """The text of `[]byte(text)`."""
    inner = value.child_by_field_name("operand") if value.type == "type_conversion_expression" else None
    if inner is None and value.type not in {*TEXTS, "binary_expression", "call_expression", "identifier"}:
        raise RewriteRefused("the text is put together elsewhere")
    return inner or value


def _list_formatted(source: Source, call: SourceCall, args: Sequence[Node]) -> list[Node]:
    """The values of `%s` and `%v`."""
    template, *values = args or [call.node]
    text = source.text(template)
    verbs = [verb for verb in VERB.finditer(text) if verb[1] != "%"]
    if template.type not in TEXTS or len(verbs) != len(values) or "*" in text or "%[" in text:
        raise RewriteRefused("it cannot be told which value goes where")
    end = found.start() if (found := BLANK.search(text)) is not None else len(text)
    return [value for verb, value in zip(verbs, values, strict=True) if verb[0] in ("%s", "%v") and verb.start() < end]


def _list_parts(source: Source, text: Node) -> list[Node]:
    if text.type == "type_conversion_expression":
        return _list_parts(source, _open_bytes(source, text))
    if text.type == "identifier" and (values := _list_bound(source, text)):
        return [part for value in values for part in _list_parts(source, value)]
    if text.type == "call_expression" and (written := _list_collected(source, text)):
        return written
    if text.type == "call_expression" and read_call(source, text).name == "fmt.Sprintf":
        given = read_call(source, text)
        return _list_formatted(source, given, given.args)
    built = build(source, text, UNFOLLOWED)
    if len(built.pieces) < 2:
        return [text]
    found: list[Node] = []
    for piece in built.pieces:
        if isinstance(piece, StringHole):
            found.append(piece.node)
        elif BLANK.search(source.slice(piece.start, piece.end)):
            break
    return found


def _list_bound(source: Source, name: Node) -> list[Node]:
    """What this function puts together under the name; nothing if a part of it comes from elsewhere."""
    bound, scope = origins(source, name), source.scope(name)
    mine = all(b.kind in ("set", "add") and source.scope(b.node) is scope for b in bound)
    values = [b.value for b in bound if b.value is not None]
    known = len(values) == len(bound) == len(changes(source, scope, source.text(name)))
    if not mine or not known or not all(_is_line_made(source, value) for value in values):
        return []
    return values


def _is_line_made(source: Source, value: Node) -> bool:
    if value.type == "call_expression":
        return read_call(source, value).name == "fmt.Sprintf"
    return value.type in TEXTS or (
        value.type == "binary_expression" and len(build(source, value, UNFOLLOWED).pieces) > 1
    )


def _list_collected(source: Source, node: Node) -> list[Node]:
    """The values in what a builder of this function has collected."""
    call = read_call(source, node)
    return _list_written(source, call) if call.method in ("String", "Bytes") and not call.args else []


def _is_fixed(source: Source, value: Node) -> bool:
    bound = origins(source, value) if value.type == "identifier" else []
    if bound and all(b.kind == "set" and b.value is not None and b.value.type in TEXTS for b in bound):
        return True
    return value.type in TEXTS or FIXED.search(source.text(value)) is not None


CHOICES: dict[str, Choices] = {"go-log": stay_on_line, "go-header": stay_on_line}
