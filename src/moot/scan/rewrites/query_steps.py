"""Rewrites SQL that a function puts together step by step: each step adds its values to a list beside the text."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from moot.scan.bindings import Binding, changes, origins
from moot.scan.calls import CALLS, SourceCall, calls, read_call
from moot.scan.change import Change, RewriteRefused, require_node
from moot.scan.edits import Edit
from moot.scan.marks import Mark, marks, prefix_edits
from moot.scan.rewrites.query import Dialect, bind_value, check_places, drop_empty_edits, placeholders
from moot.scan.sql import SqlSlot, slots
from moot.scan.strings import Built, StringHole, Text, build, constant_text, unwrap
from moot.scan.syntax import Scope, Source, inside

UNFOLLOWED = 4
SEVERAL = "the text is put together in several steps"
NAMES = ("params", "values", "query_values")
EMPTY = re.compile(r"\[\]string\{\s*\}|make\(\[\]string,\s*0\s*(?:,[^()]*)?\)")
NAMED = frozenset({"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"})


@dataclass(frozen=True)
class StepWriter:
    """How a language keeps a list of values and hands it to the driver."""

    declare: Callable[[str, Sequence[str]], str]
    add: Callable[[str, str], str]
    passed: Callable[[str], str]
    before: Callable[[Source, Node, str], Edit]
    is_number: Callable[[Source, StringHole], bool]
    numbered: Callable[[Sequence[str], str], str]
    """A text whose placeholders are numbered by the length of the list, from the parts between them."""
    names: Callable[[Source, Sequence[StringHole]], "NameGuard"] | None = None
    """What refuses everything but names, for values that stand where SQL wants one; None if those are left."""


@dataclass(frozen=True)
class NameGuard:
    """Lines before a statement, and the imports that they need."""

    lines: Sequence[str] = ()
    added: tuple[Edit, ...] = ()


@dataclass(frozen=True)
class QueryStep:
    """A statement that adds to the text."""

    statement: Node
    value: Node
    built: Built
    found: list[Mark]
    places: list[SqlSlot]
    names: Sequence[StringHole] = ()
    """The values that stay in the text."""
    joined: Sequence[StringHole] = ()


def parameterise_steps(source: Source, call: SourceCall, arg: Node, dialect: Dialect, writer: StepWriter) -> Change:
    bound = _list_values(source, arg, writer)
    scope = source.scope(arg)
    steps = [step for node, value in bound for step in _list_steps(source, scope, node, value, dialect, writer)]
    filled = [step for step in steps if step.places or step.names]
    starts = [step.statement.start_byte for step in filled]
    in_order = starts == sorted(starts) or dialect.placeholder(1) != dialect.placeholder(2)
    # A list keeps the order in which the steps run.
    if not any(step.places for step in filled) or (source.language == "go" and not in_order):
        raise RewriteRefused(SEVERAL)
    name = _choose_name(source, scope)
    first = min((step.statement for step in steps), key=lambda node: node.start_byte)
    if first.parent is None or not first.parent.start_byte <= call.node.start_byte < first.parent.end_byte:
        raise RewriteRefused(SEVERAL)
    opening = steps[0].statement if steps[0].places and steps[0].statement == first else None
    edits: list[Edit] = []
    shown: list[str] = []
    added: tuple[Edit, ...] = ()
    for step in filled:
        values = [dialect.value(bind_value(source, slot, dialect)) for slot in step.places]
        shown += values
        edits += _write_step(source, step, dialect, writer, name, starts=step.statement == opening)
        named = [hole for hole in step.names if hole not in step.joined]
        if named and writer.names is not None:
            guard = writer.names(source, named)
            edits += [writer.before(source, step.statement, line) for line in guard.lines]
            added = guard.added
        if step.statement == opening:
            edits.append(writer.before(source, first, writer.declare(name, values)))
        else:
            edits += [writer.before(source, step.statement, writer.add(name, value)) for value in values]
    if opening is None:
        edits.insert(0, writer.before(source, first, writer.declare(name, ())))
    edits.append(Edit(arg.end_byte, arg.end_byte, writer.passed(name)))
    return Change(
        drop_empty_edits([*_join_insertions(edits), *added]), f"bound {', '.join(shown)} as parameters of the query"
    )


def _join_insertions(edits: Sequence[Edit]) -> list[Edit]:
    """Insertions at one place become one, in their order."""
    found: dict[tuple[int, int], Edit] = {}
    for edit in edits:
        key = (edit.start, edit.end)
        together = edit.start == edit.end and key in found
        found[key] = Edit(edit.start, edit.end, found[key].new + edit.new) if together else edit
    return list(found.values())


def _list_values(source: Source, arg: Node, writer: StepWriter) -> list[tuple[Node, Node]]:
    """The statements that make the text, with what they add."""
    if arg.type != "identifier" and writer.names is not None:
        return [(arg, arg)]
    return [(bound.node, require_node(bound.value, SEVERAL)) for bound in _list_bindings(source, arg)]


def _list_bindings(source: Source, arg: Node) -> list[Binding]:
    """One assignment and what is added to it, in the function of the call; nothing else may read the text."""
    if arg.type != "identifier":
        return [Binding("set", "", arg, arg)]
    found, scope = origins(source, arg), source.scope(arg)
    first = found[0].kind if found else "unknown"
    if first != "set" or any(b.kind != "add" for b in found[1:]) or any(b.value is None for b in found):
        raise RewriteRefused(SEVERAL)
    if any(source.scope(b.node) is not scope for b in found) or found != changes(source, scope, source.text(arg)):
        raise RewriteRefused(SEVERAL)
    if _count_uses(source, scope, source.text(arg)) != len(found) + 1:
        raise RewriteRefused(f"{source.text(arg)!r} is used in more places than this one")
    return found


def _count_uses(source: Source, scope: Scope, word: str) -> int:
    return sum(n.type in NAMED and source.text(n) == word for n in inside(scope.node, 50_000))


def _list_steps(
    source: Source, scope: Scope, node: Node, value: Node, dialect: Dialect, writer: StepWriter
) -> Iterator[QueryStep]:
    built = build(source, value, UNFOLLOWED)
    lists = {hole: found for hole in built.holes if (found := _list_joined(source, hole))}
    for each in (each for found in lists.values() for each in found):
        yield from _list_parts(source, scope, each, dialect, writer)
    others = [hole for hole in built.holes if hole not in lists]
    if lists and writer.names is None and all(writer.is_number(source, hole) for hole in others):
        return
    if lists and others and (writer.names is None or built.cuts):
        raise RewriteRefused(SEVERAL)
    if others or not lists:
        yield _read_step(source, node, value, dialect, writer, list(lists))


def _read_step(
    source: Source, node: Node, value: Node, dialect: Dialect, writer: StepWriter, joined: Sequence[StringHole] = ()
) -> QueryStep:
    """`joined` are lists of parts in the text, which bring their own values before those of the text."""
    built = build(source, value, UNFOLLOWED)
    statement = require_node(source.statement(node), SEVERAL)
    if not any(isinstance(piece, Text) for piece in built.pieces):
        raise RewriteRefused(SEVERAL)
    lists = {hole.node.start_byte for hole in joined}
    joined = [hole for hole in built.holes if hole.node.start_byte in lists]
    found = [mark if mark.hole not in joined else Mark("x", mark.start, mark.end) for mark in marks(source, built)]
    last = max((hole.node.start_byte for hole in joined), default=0)
    if all(writer.is_number(source, hole) for hole in built.holes):
        if dialect.double_percent and any(mark.text == "%" for mark in found):
            raise RewriteRefused("a percent sign in the text would be taken for a placeholder")
        return QueryStep(statement, value, built, found, [])
    names: list[StringHole] | None = [] if writer.names is not None else None
    places = slots(found, names)
    if any(found[slot.first].start < last for slot in places):
        raise RewriteRefused(SEVERAL)
    names = [*names, *joined] if joined and names is not None else names
    if names and any(mark.plain is not None for mark in found):
        raise RewriteRefused("a brace in the text would be taken for a value")
    kept = {index for slot in places for index in range(slot.first, slot.last + 1)}
    if dialect.double_percent and any(mark.text == "%" for at, mark in enumerate(found) if at not in kept):
        raise RewriteRefused("a percent sign in the text would be taken for a placeholder")
    check_places(source, found, places, dialect)
    return QueryStep(statement, value, built, found, places, tuple(names or ()), tuple(joined))


def _list_joined(source: Source, hole: StringHole) -> list[StringHole] | None:
    """The lists that are joined here, also in `where` of `const where = parts.length ? "WHERE " + parts.join(" AND ") :
    ""`; None for any other value."""
    if _find_joined(source, hole) is not None:
        return [hole]
    name = unwrap(hole.node)
    made = origins(source, name) if name.type == "identifier" else []
    value = made[0].value if len(made) == 1 and made[0].kind == "set" else None
    if value is None or _count_uses(source, source.scope(made[0].node), made[0].name) != 2:
        return None
    whole = unwrap(value)
    branches = whole.named_children[1:] if whole.type == "ternary_expression" else [whole]
    found: list[StringHole] = []
    for branch in branches:
        for inner in build(source, branch, UNFOLLOWED).holes:
            if _find_joined(source, inner) is None:
                return None
            found.append(inner)
    return found or None


def _find_joined(source: Source, hole: StringHole) -> Node | None:
    """`parts` of `" AND ".join(parts)` and `parts.join(" AND ")`."""
    node = unwrap(hole.node)
    if node.type == "identifier" and source.language == "python":
        made, scope = origins(source, node), source.scope(node)
        kept = made[0].value if len(made) == 1 and made[0].kind == "set" and made[0].value is not None else None
        if (
            kept is None
            or source.scope(made[0].node) is not scope
            or _count_uses(source, scope, source.text(node)) != 2
        ):
            return None
        node = unwrap(kept)
    if node.type not in ("call", "call_expression"):
        return None
    call = read_call(source, node)
    if call.name == "strings.Join" and source.language == "go":
        return call.args[0] if call.args[0].type == "identifier" else None
    if call.method != "join":
        return None
    callee = node.child_by_field_name("function")
    given = call.arg(0) if source.language == "python" else callee and callee.child_by_field_name("object")
    return given if given is not None and given.type == "identifier" else None


def _list_parts(
    source: Source, scope: Scope, hole: StringHole, dialect: Dialect, writer: StepWriter
) -> Iterator[QueryStep]:
    """What is appended to a list that this function begins empty, and only joins."""
    name = require_node(_find_joined(source, hole), SEVERAL)
    if source.language == "go":
        yield from _list_appended(source, scope, name, dialect, writer)
        return
    word, made = source.text(name), origins(source, name)
    alone = len(made) == 1 and made[0].kind == "set" and made[0].value is not None
    first = unwrap(made[0].value) if alone and made[0].value is not None else None
    if first is None or source.scope(made[0].node) is not scope or first.type not in ("list", "array"):
        raise RewriteRefused("the parts of the text are listed elsewhere")
    added = [
        each
        for method in ("append", "push")
        for each in calls(source).get(method, ())
        if each.name == f"{word}.{method}" and source.scope(each.node) is scope and len(each.args) == 1
    ]
    # `if (where.length)`, `if where:`
    asks = rf"\bif\s*\(?\s*{word}\b(?!\.(?:append|push|join))|\b{word}\.length\b"
    asked = len(re.findall(asks, source.text(scope.node)))
    if not added or _count_uses(source, scope, word) != len(added) + 2 + asked:
        raise RewriteRefused("the parts of the text are used in more places than this one")
    opening = require_node(source.statement(made[0].node), SEVERAL)
    yield QueryStep(opening, name, Built(()), [], [])
    for part in (child for child in first.named_children if child.type != "comment"):
        if constant_text(source, part) is None:
            yield _read_step(source, part, part, dialect, writer)
    for each in sorted(added, key=lambda call: call.node.start_byte):
        yield _read_step(source, each.node, each.args[0], dialect, writer)


def _list_appended(
    source: Source, scope: Scope, name: Node, dialect: Dialect, writer: StepWriter
) -> Iterator[QueryStep]:
    """`conditions = append(conditions, "name = '"+name+"'")`, for a list that begins empty."""
    word, made = source.text(name), changes(source, scope, source.text(name))
    begun = made[:1] if made and made[0].value is not None and EMPTY.fullmatch(source.text(made[0].value)) else []
    declared = next(
        (n for n in source.nodes("var_spec") if source.text(n) == f"{word} []string" and source.scope(n) is scope), None
    )
    first = begun[0].node if begun else declared
    added = [read_call(source, b.value) for b in made[len(begun) :] if b.value is not None and b.value.type in CALLS]
    plain = all(each.name == "append" and len(each.args) == 2 and source.text(each.args[0]) == word for each in added)
    asked = len(re.findall(rf"\blen\(\s*{word}\s*\)", source.text(scope.node)))
    counted = _count_uses(source, scope, word) == 2 * len(added) + 2 + asked
    if first is None or not added or len(added) + len(begun) != len(made) or not plain or not counted:
        raise RewriteRefused("the parts of the text are listed elsewhere")
    yield QueryStep(require_node(source.statement(first), SEVERAL), name, Built(()), [], [])
    for each in added:
        yield _read_step(source, each.node, each.args[1], dialect, writer)


def _choose_name(source: Source, scope: Scope) -> str:
    for name in NAMES:
        if not _count_uses(source, scope, name) and name not in scope.parameters:
            return name
    raise RewriteRefused("the names that are needed mean something else here")


def _write_step(
    source: Source, step: QueryStep, dialect: Dialect, writer: StepWriter, name: str, *, starts: bool
) -> list[Edit]:
    numbered = dialect.placeholder(1) != dialect.placeholder(2)
    if numbered and not starts:
        parts, at = [""], 0
        by_first = {slot.first: slot for slot in step.places}
        while at < len(step.found):
            slot = by_first.get(at)
            if slot is None:
                parts[-1] += step.found[at].text
                at += 1
            else:
                parts.append("")
                at = slot.last + 1
        return [Edit(step.value.start_byte, step.value.end_byte, writer.numbered(parts, name))]
    return [
        *placeholders(source, step.built, step.found, step.places, dialect),
        *prefix_edits(source, step.built, step.names),
        *(Edit(start, end) for start, end in step.built.cuts),
    ]
