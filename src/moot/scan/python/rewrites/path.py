"""Checks that an untrusted path lies in the folder that the code names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, RewriteRefused, require_node
from moot.scan.python.rewrites.module import module
from moot.scan.python.rewrites.text import before, fstring, literal
from moot.scan.sql import Part
from moot.scan.strings import Text, build, constant_text, unwrap
from moot.scan.syntax import Source, inside, words

OUT = 'raise PermissionError(13, "the path leads out of its folder")'
KEYWORDS = ("file", "path", "filename_or_fp", "path_or_file", "filename", "directory")
METHODS = words(
    "read_text write_text read_bytes write_bytes unlink rmdir touch iterdir rglob is_file exists open mkdir"
)
UNFOLLOWED = 4


@dataclass(frozen=True)
class PathPlace:
    """A path expression and its folder."""

    path: str
    folder: str
    is_object: bool = False
    """A `pathlib.Path`, not a string."""


def contain_path(source: Source, node: Node) -> Iterator[Change]:
    path = _path(source, node)
    place = _place(source, path)
    statement = _statement(source, node, path)
    system, added = ("", ()) if place.is_object else module(source, "os", statement)
    for test in _tests(place, system):
        yield Change(
            (*added, before(source, statement, f"if {test}:", f"\t{OUT}")), f"the file must lie in {place.folder}"
        )


def _tests(place: PathPlace, system: str) -> Iterator[str]:
    if place.is_object:
        yield f"not {place.path}.resolve().is_relative_to({place.folder}.resolve())"
        return
    path, folder = f"{system}.path.abspath({place.path})", f"{system}.path.abspath({place.folder})"
    yield f"{system}.path.commonpath([{folder}, {path}]) != {folder}"


def _path(source: Source, node: Node) -> Node:
    if node.type != "call":
        raise RewriteRefused("the path is used in another way")
    call = read_call(source, node)
    given = call.arg(0, *KEYWORDS)
    callee = node.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    if thing is not None and call.method in METHODS and thing.type == "identifier" and origins(source, thing):
        return thing
    return require_node(given, "the path is not here")


def _place(source: Source, path: Node) -> PathPlace:
    text, value = source.text(path), unwrap(path)
    if value.type == "identifier":
        value = unwrap(_value(source, value))
    elif sum(inner.type == "call" for inner in inside(value, 200)) > _is_join(source, value):
        raise RewriteRefused("the path is worked out by a call")
    operator = value.child_by_field_name("operator")
    if value.type == "binary_operator" and operator is not None and source.text(operator) == "/":
        left = require_node(value.child_by_field_name("left"), "the folder is not here")
        return PathPlace(text, source.text(left), is_object=True)
    if _is_join(source, value):
        return PathPlace(text, find_leading_folder(source, value, read_call(source, value).args))
    return PathPlace(text, _folder(source, value))


def find_leading_folder(source: Source, joined: Node, parts: Sequence[Node]) -> str:
    """The folder of a join: its first part and the constant parts that follow."""
    first, last = require_node(parts[0] if parts else None, "the folder is not here"), 0
    while last + 2 < len(parts) and constant_text(source, parts[last + 1]) is not None:
        last += 1
    return f"{source.slice(joined.start_byte, parts[last].end_byte)})" if last else source.text(first)


def _is_join(source: Source, value: Node) -> bool:
    return value.type == "call" and read_call(source, value).name == "os.path.join"


def _value(source: Source, name: Node) -> Node:
    found = origins(source, name)
    if not found or found[-1].kind != "set" or source.scope(found[-1].node) is not source.scope(name):
        raise RewriteRefused("the path is put together elsewhere")
    return require_node(found[-1].value, "the path is put together elsewhere")


def _folder(source: Source, value: Node) -> str:
    """The text before the last slash in front of the first value."""
    built = build(source, value, UNFOLLOWED)
    passed: list[Part] = []
    for piece in built.pieces if built.exact else ():
        if isinstance(piece, Text):
            passed.append(source.slice(piece.start, piece.end))
            continue
        last = passed[-1] if passed else ""
        if isinstance(last, str) and "/" in last and "\\" not in last:
            kept = [*passed[:-1], last.rpartition("/")[0]]
            parts = [part for part in kept if part != ""]
            if parts:
                return _write_parts(source, parts)
        passed.append(piece)
    raise RewriteRefused("no folder is known in which the file must lie")


def _write_parts(source: Source, parts: list[Part]) -> str:
    first = parts[0]
    if len(parts) == 1:
        return literal(first) if isinstance(first, str) else source.text(first.node)
    return fstring(source, parts)


def _statement(source: Source, node: Node, path: Node) -> Node:
    statement = require_node(source.statement(node), "the path is used outside of a statement")
    if source.scope(statement) is not source.scope(node) or statement.type in ("while_statement", "for_statement"):
        raise RewriteRefused("the path changes from one use to the next")
    inner = unwrap(path)
    if inner.type == "identifier" and origins(source, inner)[-1].node.end_byte > statement.start_byte:
        raise RewriteRefused("the path is put together in the statement that uses it")
    return statement
