"""A string as decoded characters and values, followed through one name."""

from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.bindings import changes, origins
from moot.scan.calls import read_call
from moot.scan.change import RewriteRefused
from moot.scan.marks import Mark, marks
from moot.scan.strings import StringHole, build, constant_text, unwrap
from moot.scan.syntax import Source, inside

SIMPLE = frozenset({"identifier", "attribute", "subscript", "string", "integer", ".", "[", "]"})
UNFOLLOWED = 4


@dataclass(frozen=True, eq=False)
class Template:
    """The text, and where to write its new form: in the variable if only this use reads it, else at the use."""

    marks: list[Mark]
    home: Node

    @property
    def parts(self) -> list[str | StringHole]:
        return [mark.hole if mark.hole is not None else mark.text for mark in self.marks]


def template(source: Source, node: Node) -> Template:
    value = unwrap(node)
    if value.type == "identifier":
        value = unwrap(_find_kept(source, value))
    found = _read_join(source, value) or marks(source, build(source, value, UNFOLLOWED))
    holes = [mark.hole for mark in found if mark.hole is not None]
    if value.start_byte < node.start_byte:
        _require_unchanged(source, value, node, holes)
    if any("\ufffd" in mark.text for mark in found):
        raise RewriteRefused("the text holds an escape that is not understood")
    return Template(found, value if _is_sole(source, node) else node)


def _is_sole(source: Source, node: Node) -> bool:
    inner, scope = unwrap(node), source.scope(node)
    if inner.type != "identifier" or scope.outer is None:
        return False
    uses = (n for n in inside(scope.node, 50_000) if n.type == "identifier" and source.text(n) == source.text(inner))
    return sum(1 for _ in uses) == 2


def _find_kept(source: Source, name: Node) -> Node:
    found = origins(source, name)
    if len(found) != 1 or found[0].kind != "set" or found[0].value is None:
        raise RewriteRefused("the text is put together in several steps")
    if source.scope(found[0].node) is not source.scope(name):
        raise RewriteRefused("the text is built in another function")
    return found[0].value


def _require_unchanged(source: Source, value: Node, use: Node, holes: list[StringHole]) -> None:
    """Raises if a value may have changed: it is read again at the use."""
    for inner in (n for hole in holes for n in inside(hole.node, 200)):
        if inner.is_named and inner.type not in SIMPLE and not inner.type.startswith("string"):
            raise RewriteRefused("a value in the text is worked out there")
        if inner.type == "identifier":
            name = source.text(inner)
            between = changes(source, source.scope(use), name)
            if any(value.end_byte <= b.node.start_byte < use.start_byte for b in between):
                raise RewriteRefused(f"{name!r} changes between the text and its use")


def _read_join(source: Source, node: Node) -> list[Mark]:
    """`"".join(["a", b])` with a literal list."""
    callee = node.child_by_field_name("function")
    thing = callee.child_by_field_name("object") if callee is not None else None
    if node.type != "call" or thing is None or constant_text(source, thing) != "":
        return []
    call = read_call(source, node)
    if call.method != "join" or len(call.args) != 1 or call.args[0].type not in ("list", "tuple"):
        return []
    found: list[Mark] = []
    for part in (child for child in call.args[0].named_children if child.type != "comment"):
        if part.type in ("list_splat", "list_comprehension"):
            raise RewriteRefused("the text is put together in several steps")
        if constant_text(source, part) is not None:
            found.extend(marks(source, build(source, part, UNFOLLOWED)))
        else:
            found.append(Mark("", part.start_byte, part.end_byte, hole=StringHole(part)))
    return found
