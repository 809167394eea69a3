"""Stops reading where the code says how much it takes: a constant, a parameter, a field or a comment."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.calls import SourceCall, imports, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.answers import find_comment, find_function, find_line, refuse, write_check
from moot.scan.go.rewrites.module import package
from moot.scan.rewrites.reasons import REASONS
from moot.scan.syntax import Source, inside

LIMIT = re.compile(r"(?i)max|limit")
COUNTED = re.compile(
    r"(?i)entr|files|count|items|retr|depth|conn|rows|workers|ratio|age|attempts|width|height|rate|time|wait|num|page|"
    r"packed|compressed|gzip|zip"
)
"""Limits of something else than the size of what is read."""
UNPACKED = re.compile(r"(?i)unpacked|decompressed|uncompressed|inflat|expand|extract|decoded|output")
SIZE = re.compile(r"(?i)(\d[\d_,]*)\s*(bytes?|[KMG]i?B|kilobytes?|megabytes?|gigabytes?)\b")
LIMITING = re.compile(
    r"(?i)\b(?:at most|up to|no more than|not more than|maximum|max|larger than|longer than|bigger than|more than|over|"
    r"beyond|exceed\w*|limit\w*)\b"
)
UNITS = {"k": "10", "m": "20", "g": "30"}
TOO_LARGE = re.compile(r"(?i)^err\w*(?:large|big|limit|exceed|size|long|bomb)")
NUMBERS = frozenset({"int", "int32", "int64", "uint32"})
UNLIMITED = REASONS["decompression-bomb"]


@dataclass(frozen=True)
class Limit:
    text: str
    wide: str
    """The same as an int64, as readers take it."""
    plain: bool = True
    """Whether it can be compared with the length of a slice."""


def find_limit(source: Source, node: Node) -> Limit:
    about = find_comment(source, node) + source.text(find_function(source, node))
    found = {name: kind for name, kind in _list_named(source, node, about) if LIMIT.search(name)}
    named = {name: kind for name, kind in found.items() if UNPACKED.search(name)} or {
        name: kind for name, kind in found.items() if not COUNTED.search(name)
    }
    if len(named) > 1:
        raise RewriteRefused(UNLIMITED)
    for name, kind in named.items():
        if re.search(rf"\b{re.escape(name)}\s*(?:[<>]=?|[!=]=)\s*0\b", about):
            raise RewriteRefused(f"{name} may be 0, and what that means is not known here")
        return Limit(name, name if kind in ("", "int64") else f"int64({name})", kind in ("", "int"))
    if (size := _read_comment(source, about)) is not None:
        return Limit(size, size)
    raise RewriteRefused(UNLIMITED)


def _list_named(source: Source, node: Node, about: str) -> Iterator[tuple[str, str]]:
    """Numbers that the function names, with their types; a constant without one fits everywhere."""
    scope = source.scope(node)
    while scope is not None and scope.outer is not None:
        parameters = scope.node.child_by_field_name("parameters")
        for given in parameters.named_children if parameters is not None else ():
            kind = given.child_by_field_name("type")
            if kind is not None and source.text(kind) in NUMBERS:
                yield from ((source.text(name), source.text(kind)) for name in given.children_by_field_name("name"))
        scope = scope.outer
    for spec in source.nodes("const_spec", "var_spec"):
        kind, value = spec.child_by_field_name("type"), spec.child_by_field_name("value")
        shown = source.text(kind) if kind is not None else "" if spec.type == "const_spec" else "int"
        plain = value is not None and re.fullmatch(r"[\d\s_*<()xXa-fA-F+-]+", source.text(value))
        for name in spec.children_by_field_name("name"):
            word = source.text(name)
            told = re.search(rf"\b{re.escape(word)}\b", about) or _is_unused(source, word)
            if plain and shown in ("", *NUMBERS) and told:
                yield word, shown
    for field in source.nodes("field_declaration"):
        kind = field.child_by_field_name("type")
        for name in field.children_by_field_name("name"):
            used = re.search(rf"\b\w+\.{re.escape(source.text(name))}\b", about)
            if used is not None and kind is not None and source.text(kind) in NUMBERS:
                yield used[0], source.text(kind)


def _is_unused(source: Source, word: str) -> bool:
    """A limit that no code asks for."""
    return sum(n.type == "identifier" and source.text(n) == word for n in inside(source.root, 200_000)) == 1


def _read_comment(source: Source, about: str) -> str | None:
    """`// Documents of at most 10 MiB are accepted.`"""
    words = " ".join(line.strip()[2:].strip() for line in about.splitlines() if line.strip().startswith("//"))
    sizes = {
        f"{found[1].replace('_', '').replace(',', '')} {found[2][0].lower()}"
        for sentence in re.split(r"(?<=[.;])\s", words)
        if LIMITING.search(sentence)
        for found in SIZE.finditer(sentence)
    }
    if len(sizes) != 1:
        return None
    number, unit = sizes.pop().split()
    return f"{number}<<{UNITS[unit]}" if unit in UNITS else number


def limit_unpacking(source: Source, node: Node) -> Change:
    """One byte more than allowed is read: who gets that far is refused."""
    call = read_call(source, node)
    reads = call.name in ("io.ReadAll", "io/ioutil.ReadAll")
    if not reads and call.name != "io.Copy":
        raise RewriteRefused(UNLIMITED)
    limit, given = find_limit(source, node), call.args[0 if reads else 1]
    local, added = package(source, "io")
    new = replace_node(given, f"{local}.LimitReader({source.text(given)}, {limit.wide}+1)")
    error, more = _write_error(source)
    edits = _check_read(source, call, limit, error, reads=reads)
    return Change((*edits, new, *added, *more), f"no more than {limit.text} bytes are unpacked")


def _write_error(source: Source) -> tuple[str, tuple[Edit, ...]]:
    for spec in source.nodes("var_spec"):
        for name in spec.children_by_field_name("name"):
            if TOO_LARGE.search(source.text(name)):
                return source.text(name), ()
    if "fmt" in imports(source).values() and "errors" not in imports(source).values():
        return 'fmt.Errorf("the data is larger than allowed")', ()
    errors, added = package(source, "errors")
    return f'{errors}.New("the data is larger than allowed")', added


def _check_read(source: Source, call: SourceCall, limit: Limit, error: str, *, reads: bool) -> list[Edit]:
    line = find_line(call.node)
    answer = refuse(source, call.node, error)
    if line.type == "return_statement":
        return _check_returned(source, line, call, limit, answer, reads=reads)
    if line.type == "if_statement":
        return _check_condition(source, line, limit, answer, reads=reads)
    left = line.child_by_field_name("left") if line.type in ("short_var_declaration", "assignment_statement") else None
    names = left.named_children if left is not None else []
    if len(names) != 2:
        raise RewriteRefused("what is read is used in the same statement")
    word, edits = source.text(names[0]), list[Edit]()
    if word == "_":
        word = "written"
        edits.append(replace_node(names[0], word))
        if line.type == "assignment_statement":
            start = source.data.rfind(b"\n", 0, line.start_byte) + 1
            indent = source.slice(start, line.start_byte)
            edits.append(Edit(line.start_byte, line.start_byte, f"var {word} int64\n{indent}"))
    following = line.next_named_sibling
    checked = following is not None and re.match(r"if err\w* != nil\b", source.text(following))
    place = following if checked and following is not None else line
    return [*edits, write_check(source, place, _write_test(word, limit, reads=reads), answer, after=True)]


def _write_test(word: str, limit: Limit, *, reads: bool) -> str:
    if reads and limit.plain:
        return f"len({word}) > {limit.text}"
    return f"int64(len({word})) > {limit.wide}" if reads else f"{word} > {limit.wide}"


def _check_returned(
    source: Source, line: Node, call: SourceCall, limit: Limit, answer: str, *, reads: bool
) -> list[Edit]:
    if source.text(line) != f"return {source.text(call.node)}":
        raise RewriteRefused("what is read is used in the same statement")
    start = source.data.rfind(b"\n", 0, line.start_byte) + 1
    indent = source.slice(start, line.start_byte)
    name = "unpacked" if reads else "written"
    test = _write_test(name, limit, reads=reads)
    rest = f"\n{indent}if readErr == nil && {test} {{\n{indent}\t{answer}\n{indent}}}\n{indent}return {name}, readErr"
    head = Edit(line.start_byte, call.node.start_byte, f"{name}, readErr := ")
    return [head, Edit(line.end_byte, line.end_byte, rest)]


def _check_condition(source: Source, line: Node, limit: Limit, answer: str, *, reads: bool) -> list[Edit]:
    """`if _, err := io.Copy(f, r); err != nil {`"""
    first, body = line.child_by_field_name("initializer"), line.child_by_field_name("consequence")
    left = first.child_by_field_name("left") if first is not None and first.type == "short_var_declaration" else None
    alone = line.child_by_field_name("alternative") is None
    if left is None or body is None or len(left.named_children) != 2 or reads or not alone:
        raise RewriteRefused("what is read is used in the same statement")
    start = source.data.rfind(b"\n", 0, line.start_byte) + 1
    indent = source.slice(start, line.start_byte)
    word = source.text(left.named_children[0])
    named = [replace_node(left.named_children[0], "written")] if word == "_" else []
    word = "written" if word == "_" else word
    test = _write_test(word, limit, reads=reads)
    return [*named, Edit(body.end_byte, body.end_byte, f" else if {test} {{\n{indent}\t{answer}\n{indent}}}")]


def limit_body(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    parameters = source.scope(node).node.child_by_field_name("parameters")
    writer = re.search(r"(\w+) (\w+)\.ResponseWriter\b", source.text(parameters)) if parameters is not None else None
    body = require_node(call.args[0] if call.args else None, "the body is not here")
    if writer is None or not re.fullmatch(r"\w+\.Body", source.text(body)):
        raise RewriteRefused(UNLIMITED)
    limit = find_limit(source, node)
    new = f"{writer[2]}.MaxBytesReader({writer[1]}, {source.text(body)}, {limit.wide})"
    return Change((replace_node(body, new),), f"no more than {limit.text} bytes are read")


REWRITES: dict[str, Rewrite] = {"go-decompression-bomb": limit_unpacking, "go-unbounded-body": limit_body}
