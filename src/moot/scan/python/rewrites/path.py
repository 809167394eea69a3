"""Checks that an untrusted path lies in the folder that the code names."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import module
from moot.scan.python.rewrites.text import before, fstring, literal
from moot.scan.python.rewrites.types import makers
from moot.scan.rewrites.choices import leave_start, require_run
from moot.scan.sql import Part
from moot.scan.strings import Text, build, constant_text, unwrap
from moot.scan.syntax import Source, inside, words

OUT = 'raise PermissionError(13, "the path leads out of its folder")'
KEYWORDS = ("file", "path", "filename_or_fp", "path_or_file", "filename", "directory")
METHODS = words(
    "read_text write_text read_bytes write_bytes unlink rmdir touch iterdir rglob is_file exists open mkdir"
)
RESOLVING = ("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.path.expanduser")
MAKERS = ("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath")
OBJECTS = frozenset({*MAKERS, "pathlib.Path.cwd", "pathlib.Path.home"})
OBJECT_STEPS = words("joinpath resolve absolute expanduser")
AROUND_SEPARATOR = re.compile(r"([\w.]+) *\+ *os\.(?:path\.)?sep *\+.+")
TWO_PATHS = words("os.rename os.replace os.link os.symlink shutil.copy shutil.copy2 shutil.copyfile shutil.move")
SEPARATORS = ("os.sep", "os.path.sep")
UNFOLLOWED = 4
PLAIN = words("expression_statement assignment if_statement with_statement return_statement")


@dataclass(frozen=True)
class PathPlace:
    """A path expression and its folder."""

    path: str
    folder: str
    is_object: bool = False
    """A `pathlib.Path`, not a string."""


def contain_path(source: Source, node: Node) -> Iterator[Change]:
    call = read_call(source, node) if node.type == "call" else None
    if call is not None and call.name in TWO_PATHS and len(call.args) > 1:
        yield _contain_both(source, node, call.args[:2])
        return
    yield from _contain_one(source, node, _path(source, node))


def _contain_both(source: Source, node: Node, paths: Sequence[Node]) -> Change:
    """Of the two paths, those that are put together of a folder and a name."""
    found: list[Change] = []
    refusal: RewriteRefused | None = None
    for path in paths:
        try:
            found += list(_contain_one(source, node, path))[:1]
        except RewriteRefused as why:
            refusal = refusal or why
    if not found:
        raise refusal or RewriteRefused("the path is not here")
    joined: dict[tuple[int, int], Edit] = {}
    for edit in dict.fromkeys(edit for change in found for edit in change.edits):
        known = joined.get((edit.start, edit.end))
        joined[edit.start, edit.end] = Edit(edit.start, edit.end, (known.new if known else "") + edit.new)
    return Change(tuple(joined.values()), "; ".join(dict.fromkeys(change.did for change in found)))


def _contain_one(source: Source, node: Node, path: Node) -> Iterator[Change]:
    if (made := _find_returned(source, path)) is not None:
        yield from _contain_returned(source, made)
        return
    place = _place(source, path)
    leave_start(source, node, place.folder)
    statement = _first_use(source, path, _statement(source, node, path))
    require_run(source, node, _statement(source, node, path))
    system, added = ("", ()) if place.is_object else module(source, "os", statement)
    _refuse_tries(source, node)
    answer = _refusal(source, path, statement)
    for test in _tests(place, system):
        yield Change(
            (*added, before(source, statement, f"if {test}:", f"\t{answer}")), f"the file must lie in {place.folder}"
        )


def _find_returned(source: Source, path: Node) -> Node | None:
    """The path that a function of this file makes and returns, if that function is called here."""
    value = unwrap(path)
    if value.type == "identifier":
        found = origins(source, value)
        if len(found) != 1 or found[0].kind != "set" or found[0].value is None:
            return None
        value = unwrap(found[0].value)
    callee = value.child_by_field_name("function") if value.type == "call" else None
    name = source.text(callee).removeprefix("self.") if callee is not None else ""
    made = [scope for scope in source.functions if scope.name == name]
    if len(made) != 1 or source.scope(path) is made[0]:
        return None
    returned = [n for n in inside(made[0].node, 50_000) if n.type == "return_statement"]
    alone = returned[0] if len(returned) == 1 and source.scope(returned[0]) is made[0] else None
    return alone.named_children[0] if alone is not None and alone.named_child_count == 1 else None


def _contain_returned(source: Source, path: Node) -> Iterator[Change]:
    """The function that makes the path refuses one that leads out."""
    place = _place(source, path)
    leave_start(source, path, place.folder)
    statement = require_node(source.statement(path), "the path is used outside of a statement")
    system, added = ("", ()) if place.is_object else module(source, "os", statement)
    for test in _tests(place, system):
        yield Change(
            (*added, before(source, statement, f"if {test}:", f"\t{OUT}")), f"the file must lie in {place.folder}"
        )


def end_prefix(source: Source, node: Node) -> Change:
    """`path.startswith(folder)` compares both with a separator at their end."""
    call = read_call(source, node)
    callee = require_node(node.child_by_field_name("function"), "the call has no name")
    path = require_node(callee.child_by_field_name("object"), "the path is not here")
    folder = require_node(call.arg(0), "the folder is not here")
    local, added = module(source, "os", node)
    new = f'{local}.path.join({source.text(path)}, "").startswith({local}.path.join({source.text(folder)}, ""))'
    return Change((replace_node(node, new), *added), "a folder beside it that begins with the same name is refused")


def _refuse_tries(source: Source, node: Node) -> None:
    """Raises if a loop asks which of several names is there: one that is refused must not end the search."""
    outer = node.parent
    while outer is not None and outer.type not in ("function_definition", "for_statement"):
        outer = outer.parent
    asks = node.type == "call" and read_call(source, node).method in ("exists", "isfile", "isdir", "is_file", "lexists")
    if asks and outer is not None and outer.type == "for_statement":
        raise RewriteRefused("several names are tried, and one that is refused must not end the search")


def _first_use(source: Source, path: Node, statement: Node) -> Node:
    """The first statement that uses the path, if the one at hand always comes after it."""
    if path.type != "identifier":
        return statement
    word, made = source.text(path), origins(source, path)[-1].node
    for use in inside(source.scope(path).node, 50_000):
        if use.type != "identifier" or source.text(use) != word or use.start_byte < made.end_byte:
            continue
        first = source.statement(use)
        if first is None or first.parent is None or first.start_byte >= statement.start_byte:
            break
        if first.parent.start_byte <= statement.start_byte < first.parent.end_byte and first.type in PLAIN:
            return first
        break
    return statement


def _refusal(source: Source, path: Node, statement: Node) -> str:
    """What the function answers for a file that is not there, or an error."""
    word = re.escape(source.text(path))
    block = statement.parent
    for other in block.named_children if block is not None else ():
        if other.type != "if_statement" or other.child_by_field_name("alternative") is not None:
            continue
        test, body = other.child_by_field_name("condition"), other.child_by_field_name("consequence")
        if test is None or body is None or body.named_child_count != 1:
            continue
        asked = re.fullmatch(rf"not (?:os\.path\.(?:exists|isfile|isdir)\({word}\)|{word}\.\w+\(\))", source.text(test))
        answer = body.named_children[0]
        if asked and answer.type in ("return_statement", "raise_statement") and "\n" not in source.text(answer):
            return source.text(answer)
    return OUT


def _tests(place: PathPlace, system: str) -> Iterator[str]:
    if place.is_object:
        yield f"not {_bracket(place.path)}.resolve().is_relative_to({_bracket(place.folder)}.resolve())"
        return
    path, folder = f"{system}.path.abspath({place.path})", f"{system}.path.abspath({place.folder})"
    yield f"{system}.path.commonpath([{folder}, {path}]) != {folder}"


def _bracket(text: str) -> str:
    return text if re.fullmatch(r"[\w.]+(?:\([^()]*\))?", text) else f"({text})"


def _path(source: Source, node: Node) -> Node:
    if node.type != "call":
        raise RewriteRefused("the path is used in another way")
    call = read_call(source, node)
    given = call.arg(0, *KEYWORDS)
    callee = node.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    if thing is not None and source.text(thing).endswith(".parent") and call.method == "mkdir":
        thing = thing.child_by_field_name("object")
    if thing is not None and call.method in ("glob", "rglob", "iterdir") and thing.type != "identifier":
        return unwrap(thing)
    if thing is not None and call.method in METHODS and thing.type == "identifier" and origins(source, thing):
        return thing
    if thing is not None and call.method in METHODS and unwrap(thing).type in ("binary_operator", "call"):
        return thing
    return require_node(given, "the path is not here")


def _place(source: Source, path: Node) -> PathPlace:
    text, value = source.text(path), unwrap(path)
    if value.type == "identifier":
        value = unwrap(_value(source, value))
    elif sum(inner.type == "call" for inner in inside(value, 200)) > _count_joins(source, value):
        raise RewriteRefused("the path is worked out by a call")
    value = _strip_resolving(source, value)
    if (made := _read_joined_object(source, value)) is not None:
        return PathPlace(text, made, is_object=True)
    operator = value.child_by_field_name("operator")
    if value.type == "binary_operator" and operator is not None and source.text(operator) == "/":
        folder = _leading_part(source, value)
        refuse_search(source, folder)
        return PathPlace(text, source.text(folder), is_object=True)
    if (parts := AROUND_SEPARATOR.fullmatch(source.text(value))) is not None:
        return PathPlace(text, parts[1])
    if _is_join(source, value):
        return PathPlace(text, find_leading_folder(source, value, read_call(source, value).args))
    return PathPlace(text, _folder(source, value))


def _count_joins(source: Source, value: Node) -> int:
    """The calls of a path that only join or resolve it."""
    found = (read_call(source, n) for n in inside(value, 200) if n.type == "call")
    return sum(call.name in (*RESOLVING, *MAKERS, "os.path.join") or call.method in OBJECT_STEPS for call in found)


def _strip_resolving(source: Source, value: Node) -> Node:
    """`x` of `os.path.realpath(x)`, `x.resolve()`."""
    for _ in range(3):
        call = read_call(source, value) if value.type == "call" else None
        callee = value.child_by_field_name("function")
        thing = callee.child_by_field_name("object") if callee is not None else None
        if call is not None and call.name in RESOLVING and len(call.args) == 1:
            value = unwrap(call.args[0])
        elif call is not None and call.method in ("resolve", "absolute", "expanduser") and thing is not None:
            value = unwrap(thing)
        else:
            break
    return value


def _read_joined_object(source: Source, value: Node) -> str | None:
    """The folder of `folder.joinpath(name)` or `Path(folder, name)`."""
    call = read_call(source, value) if value.type == "call" else None
    callee = value.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    if call is None or any(arg.type == "list_splat" for arg in call.args):
        return None
    if call.method == "joinpath" and thing is not None and call.args:
        if not makers(source, thing) <= OBJECTS:
            raise RewriteRefused("whether the folder is a pathlib.Path is not known here")
        refuse_search(source, thing)
        refuse_constants(source, call.args)
        return source.text(thing)
    if call.name in MAKERS and len(call.args) > 1:
        refuse_search(source, call.args[0])
        refuse_constants(source, call.args[1:])
        return f"{source.slice(value.start_byte, call.args[0].end_byte)})"
    return None


OUTWARD = re.compile(r"[fFrR]*['\"`]\.\./")


def find_leading_folder(source: Source, joined: Node, parts: Sequence[Node]) -> str:
    """The folder of a join: its first part and the constant parts that follow."""
    first, last = require_node(parts[0] if parts else None, "the folder is not here"), 0
    refuse_search(source, first)
    refuse_constants(source, parts[1:])
    if any(OUTWARD.match(source.text(part)) for part in parts[1:] if constant_text(source, part) is None):
        raise RewriteRefused("the name leads out of the folder on purpose")
    while last + 2 < len(parts) and constant_text(source, parts[last + 1]) is not None:
        last += 1
    return f"{source.slice(joined.start_byte, parts[last].end_byte)})" if last else source.text(first)


def _leading_part(source: Source, value: Node) -> Node:
    """`base / "a"` of `base / "a" / name / part`: the parts before the first that is no constant."""
    parts: list[Node] = []
    current = unwrap(value)
    while current.type == "binary_operator":
        parts.append(current)
        current = unwrap(require_node(current.child_by_field_name("left"), "the folder is not here"))
    folder = current
    refuse_constants(source, [part.child_by_field_name("right") for part in parts])
    for part in reversed(parts[1:]):
        if constant_text(source, part.child_by_field_name("right")) is None:
            break
        folder = part
    return folder


def _is_join(source: Source, value: Node) -> bool:
    return value.type == "call" and read_call(source, value).name == "os.path.join"


def _value(source: Source, name: Node) -> Node:
    found = origins(source, name)
    if not found or found[-1].kind != "set" or source.scope(found[-1].node) is not source.scope(name):
        raise RewriteRefused("the path is put together elsewhere")
    require_same_way(source, found[-1].node, name)
    return require_node(found[-1].value, "the path is put together elsewhere")


def require_same_way(source: Source, made: Node, use: Node) -> None:
    """Raises unless whoever reaches the use has passed the assignment: one in a branch says nothing of the others."""
    line = require_node(source.statement(made), "the path is put together elsewhere")
    block = line.parent
    if block is None or not block.start_byte <= use.start_byte < block.end_byte:
        raise RewriteRefused("the path is put together in a branch")


def refuse_constants(source: Source, parts: Sequence[Node | None]) -> None:
    """Raises if every name below the folder is constant: none of them leads out of it, wherever the folder is."""
    if parts and all(constant_text(source, part) is not None for part in parts):
        raise RewriteRefused("the names below the folder are constant, and whoever names the folder may")


def refuse_search(source: Source, folder: Node) -> None:
    """Raises if the folder is one of several that are searched: a whole path given there is meant to be used."""
    name = unwrap(folder)
    if name.type == "identifier" and any(bound.kind == "loop" for bound in origins(source, name)):
        raise RewriteRefused("several folders are searched, where a whole path may be given as well")


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
        parts = [part for part in passed if part != ""]
        if source.text(piece.node) in SEPARATORS and parts and built.pieces[-1] is not piece:
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


REWRITES: dict[str, Rewrite] = {"python-path-prefix": end_prefix}
