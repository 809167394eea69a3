"""SQL texts with a list of values in them, and those made from a template that has a name."""

import re

from tree_sitter import Node

from moot.scan.bindings import changes, origins
from moot.scan.calls import SourceCall, read_call
from moot.scan.change import Change, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.marks import Mark, marks, prefix_edits
from moot.scan.python.rewrites.types import read_annotation
from moot.scan.rewrites.query import Dialect, bind_value, check_places, drop_empty_edits, placeholders, sole_use
from moot.scan.sql import slots
from moot.scan.strings import StringHole, build, build_kept, constant_text, unwrap
from moot.scan.syntax import Source, inside

QUOTED = re.compile(
    r"""f["']'\{(\w+)\}'["']|f["']\\'\{(\w+)\}\\'["']|["']'%s'["'] ?% ?\(?(\w+),?\)?|["']'\{\}'["']\.format\((\w+)\)"""
)
ADDED = re.compile(r"""["']'["'] ?\+ ?(\w+) ?\+ ?["']'["']""")
"""A text: it is added to others."""
PLAIN = re.compile(r"str\((\w+)\)")
IN_LIST = re.compile(r"(?is)\bin\s*\(\s*$")
KINDS = re.compile(r"(?:typing\.)?(?:list|tuple|set|frozenset|List|Tuple|Set|Sequence|Collection)\b")
SEVERAL = "the text is put together in several steps"


def bind_list(source: Source, call: SourceCall, dialect: Dialect) -> Change:
    """`IN ({", ".join(quoted)})`: as many placeholders as there are values."""
    arg = call.args[0]
    built = build(source, arg)
    sole_use(source, built, arg)
    found = marks(source, built)
    at = next((index for index in range(len(found)) if _is_list_place(found, index)), len(found))
    hole = found[at].hole if at < len(found) else None
    if hole is None or built.cuts or any(mark.plain is not None for mark in found):
        raise RewriteRefused(SEVERAL)
    joined = _find_join(source, hole)
    listed, every = _read_join(source, joined)
    flat = [Mark("x", mark.start, mark.end) if index == at else mark for index, mark in enumerate(found)]
    names: list[StringHole] = []
    places = slots(flat, names)
    check_places(source, flat, places, dialect)
    if names or (dialect.double_percent and any(mark.text == "%" for mark in flat)):
        raise RewriteRefused(SEVERAL)
    values = [bind_value(source, slot, dialect) for slot in places]
    values.insert(sum(slot.first < at for slot in places), every)
    edits = [
        *placeholders(source, built, flat, places, dialect),
        *prefix_edits(source, built, [hole]),
        replace_node(joined, f'", ".join("{dialect.placeholder(1)}" for _ in {source.text(listed)})'),
        Edit(arg.end_byte, arg.end_byte, dialect.arguments(values)),
    ]
    return Change(drop_empty_edits(edits), f"bound {', '.join(values)} as parameters of the query")


def _is_list_place(found: list[Mark], index: int) -> bool:
    before = "".join(mark.text or "\ufffc" for mark in found[:index])
    after = "".join(mark.text or "\ufffc" for mark in found[index + 1 :]).lstrip()
    return found[index].hole is not None and IN_LIST.search(before) is not None and after.startswith(")")


def _find_join(source: Source, hole: StringHole) -> Node:
    """The `", ".join(…)` in the text itself, or in the one name that is used for it."""
    node = unwrap(hole.node)
    if node.type == "identifier":
        made, word = origins(source, node), source.text(node)
        uses = sum(n.type == "identifier" and source.text(n) == word for n in inside(source.scope(node).node, 50_000))
        value = made[0].value if len(made) == 1 and made[0].kind == "set" and uses == 2 else None
        node = unwrap(require_node(value, SEVERAL))
    call = read_call(source, node) if node.type == "call" else None
    callee = node.child_by_field_name("function")
    glue = callee.child_by_field_name("object") if callee is not None and callee.type == "attribute" else None
    if (
        call is None
        or call.method != "join"
        or (constant_text(source, glue) or "").strip() != ","
        or len(call.args) != 1
    ):
        raise RewriteRefused(SEVERAL)
    return node


def _read_join(source: Source, joined: Node) -> tuple[Node, str]:
    """The list, and its values as arguments."""
    given = unwrap(read_call(source, joined).args[0])
    mapped = read_call(source, given) if given.type == "call" else None
    if mapped is not None and mapped.name == "map" and len(mapped.args) == 2 and source.text(mapped.args[0]) == "str":
        _require_list(source, mapped.args[1])
        return mapped.args[1], f"*{source.text(mapped.args[1])}"
    clauses = [child for child in given.named_children if child.type == "for_in_clause"]
    body = given.child_by_field_name("body")
    if given.type not in ("generator_expression", "list_comprehension") or body is None or given.named_child_count != 2:
        raise RewriteRefused(SEVERAL)
    target = clauses[0].child_by_field_name("left") if clauses else None
    listed = require_node(clauses[0].child_by_field_name("right") if clauses else None, SEVERAL)
    _require_list(source, listed)
    text, name = source.text(body), source.text(require_node(target, SEVERAL))
    quoted = QUOTED.fullmatch(text)
    alone = quoted or ADDED.fullmatch(text) or PLAIN.fullmatch(text)
    if alone is None or name not in alone.groups():
        raise RewriteRefused("the values of the list are made ready for the text")
    known = re.search(r"\[str\b", _read_type(source, listed)) is not None
    if quoted is not None and not known:
        return listed, f"*(str({name}) for {name} in {source.text(listed)})"
    return listed, f"*{source.text(listed)}"


def _require_list(source: Source, listed: Node) -> None:
    """Raises unless the values can be gone through twice."""
    word = re.escape(source.text(listed))
    body = source.text(source.scope(listed).node)
    if listed.type not in ("identifier", "attribute") or not (
        KINDS.match(_read_type(source, listed)) or re.search(rf"\b(?:len\({word}\)|not {word}\b|if {word}:)", body)
    ):
        raise RewriteRefused("whether the values can be read twice is not known")


def _read_type(source: Source, listed: Node) -> str:
    return read_annotation(source, listed) if listed.type == "identifier" else ""


def bind_kept(source: Source, call: SourceCall, dialect: Dialect) -> Change:
    """`QUERY.format(name=name)`: the template gets placeholders, if nothing else uses it."""
    arg = call.args[0]
    value = unwrap(arg)
    if value.type == "identifier":
        made = origins(source, value)
        here = len(made) == 1 and made[0].kind == "set" and source.scope(made[0].node) is source.scope(value)
        value = unwrap(require_node(made[0].value if here else None, SEVERAL))
    kept = build_kept(source, value)
    if kept is None:
        raise RewriteRefused(SEVERAL)
    built, constant = kept
    holder = require_node(constant.parent, SEVERAL)
    name = source.text(require_node(holder.child_by_field_name("left"), SEVERAL))
    if sum(n.type == "identifier" and source.text(n) == name for n in inside(source.root, 200_000)) != 2:
        raise RewriteRefused(f"{name!r} is used in more places than this one")
    _require_same(source, built.holes, value, arg)
    found = marks(source, built)
    places = slots(found)
    check_places(source, found, places, dialect)
    values = [bind_value(source, slot, dialect) for slot in places]
    edits = [
        *placeholders(source, built, found, places, dialect),
        replace_node(value, name),
        Edit(arg.end_byte, arg.end_byte, dialect.arguments(values)),
    ]
    return Change(drop_empty_edits(edits), f"bound {', '.join(values)} as parameters of the query")


def _require_same(source: Source, holes: list[StringHole], value: Node, arg: Node) -> None:
    for name in (n for hole in holes for n in inside(hole.node, 200) if n.type == "identifier"):
        between = changes(source, source.scope(arg), source.text(name))
        if any(value.end_byte <= b.node.start_byte < arg.start_byte for b in between):
            raise RewriteRefused(f"{source.text(name)!r} changes between the text and its use")
