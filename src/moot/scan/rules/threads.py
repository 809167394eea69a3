"""Shared state that threads or goroutines change without synchronisation."""

import re
from collections.abc import Iterator
from typing import cast

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import calls
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Scope, Source, inside, nth

PYTHON = Rule(
    "python-thread-race", "race_condition", "high", 362,
    "Data race: a function that runs in several threads changes shared state without a lock",
    "Two threads read the same value, both write, and one update is lost.",
    "Hold a threading.Lock around every read and write of the shared state.", 0.6,
)  # fmt: skip
GO = Rule(
    "go-goroutine-race", "race_condition", "high", 362,
    "Data race: goroutines change a captured variable without a lock",
    "Two goroutines write at once: updates are lost, a map write ends the program.",
    "Hold a sync.Mutex, use sync/atomic, or send the results through a channel.", 0.6,
)  # fmt: skip
MAX_ROUTINES = 2000
LOCK = re.compile(r"(?i)lock|mutex|semaphore|condition|\bcv\b|atomic|synchroni")


def python_threads(source: Source) -> Iterator[RuleMatch]:
    functions = {scope.name: scope for scope in source.functions}
    seen: set[int] = set()
    for name in _thread_targets(source):
        scope = functions.get(name)
        if scope is None or scope.node.start_byte in seen or _is_locked(source, scope.node):
            continue
        seen.add(scope.node.start_byte)
        change = next(find_shared_changes(source, scope), None)
        if change is not None:
            yield RuleMatch(PYTHON, change)


def _thread_targets(source: Source) -> Iterator[str]:
    by_method = calls(source)
    for method in ("Thread", "Timer", "submit", "start_new_thread", "run_in_executor", "map"):
        for call in by_method.get(method, ()):
            if method in ("submit", "run_in_executor", "map") and not re.search(r"(?i)pool|executor|loop", call.name):
                continue
            target = call.keywords.get("target") or call.arg(1 if method in ("Timer", "run_in_executor") else 0)
            if target is not None and target.type in ("identifier", "attribute"):
                yield source.text(target).rpartition(".")[2]


def find_shared_changes(source: Source, scope: Scope) -> Iterator[Node]:
    """`counter += 1` of a global, `self.total += 1`, `counts[key] += 1` of a module's name."""
    body = scope.node.child_by_field_name("body")
    declared = {
        source.text(name)
        for node in (inside(body, 4000) if body else ())
        if node.type in ("global_statement", "nonlocal_statement")
        for name in node.named_children
    }
    for node in inside(body, 4000) if body else ():
        left = node.child_by_field_name("left") if node.type in ("augmented_assignment", "assignment") else None
        if left is None:
            continue
        own = source.text(left) in declared
        step = node.type == "augmented_assignment" or (own and _mentions(source, node, source.text(left)))
        if (left.type == "identifier" and own and step) or (
            left.type != "identifier" and step and _is_shared(source, left)
        ):
            yield node


def _mentions(source: Source, node: Node, name: str) -> bool:
    right = node.child_by_field_name("right")
    return right is not None and any(n.type == "identifier" and source.text(n) == name for n in inside(right, 200))


def _is_shared(source: Source, target: Node) -> bool:
    """The target belongs to the module or to `self`, not to this function."""
    first = next((n for n in inside(target, 20) if n.type == "identifier"), None)
    if first is None:
        return False
    if source.text(first) == "self":
        return target.type == "attribute"
    found = origins(source, first)
    return bool(found) and all(source.scope(b.node).outer is None for b in found)


def _is_locked(source: Source, node: Node) -> bool:
    return any(n.type == "identifier" and LOCK.search(source.text(n)) for n in inside(node))


def go_routines(source: Source) -> Iterator[RuleMatch]:
    for node in list(source.nodes("go_statement"))[:MAX_ROUTINES]:
        literal = _literal(node)
        if literal is None or any(_keeps_order(source, n) for n in inside(literal)):
            continue
        outer = source.scope(node)
        unordered = _in_loop(node, outer.node) or not _waits_after(source, node, outer)
        for change in _find_captured_changes(source, literal):
            if unordered or _is_changed_elsewhere(source, change, node, outer):
                yield RuleMatch(GO, change)
                break


def _literal(node: Node) -> Node | None:
    return next((n for n in inside(node, 12) if n.type == "func_literal"), None)


def _keeps_order(source: Source, node: Node) -> bool:
    """A lock, an atomic operation or a channel."""
    match node.type:
        case "send_statement" | "select_statement" | "receive_statement":
            return True
        case "unary_expression":
            return source.data[node.start_byte : node.start_byte + 2] == b"<-"
        case "identifier" | "field_identifier" | "package_identifier":
            return source.text(node) in ("Lock", "RLock", "Do", "atomic", "Wait", "Store", "LoadOrStore")
    return False


def _in_loop(node: Node, stop: Node) -> bool:
    parent = node.parent
    while parent is not None and parent.start_byte >= stop.start_byte and parent.id != stop.id:
        if parent.type == "for_statement":
            return True
        parent = parent.parent
    return False


def _waits_after(source: Source, node: Node, outer: Scope) -> bool:
    key = f"waits {outer.node.start_byte}"
    if key not in source.memo:
        source.memo[key] = [n.start_byte for n in inside(outer.node, 100_000) if _keeps_order(source, n)]
    return any(byte >= node.end_byte for byte in cast(list[int], source.memo[key]))


def _find_captured_changes(source: Source, literal: Node) -> Iterator[Node]:
    for node in inside(literal):
        target = _target(node)
        name = next((n for n in inside(target, 20) if n.type == "identifier"), None) if target is not None else None
        if target is None or name is None or not _is_captured(source, name, literal):
            continue
        if target.type == "index_expression" and not _is_map(source, name):
            continue  # one slice element per goroutine is the usual safe way
        yield node


def _target(node: Node) -> Node | None:
    """The target of an assignment or `x++`."""
    if node.type not in ("assignment_statement", "inc_statement", "dec_statement"):
        return None
    left = node.child_by_field_name("left") or nth(node, 0)
    return nth(left, 0) if left is not None and left.type == "expression_list" else left


def _is_captured(source: Source, name: Node, literal: Node) -> bool:
    word = source.text(name)
    if word in source.scope(name).parameters:
        return False
    declared = _declarations(source).get(word, [])
    return bool(declared) and not any(literal.start_byte <= d.start_byte < literal.end_byte for d in declared)


def _declarations(source: Source) -> dict[str, list[Node]]:
    if "declarations" not in source.memo:
        table: dict[str, list[Node]] = {}
        for node in source.nodes("short_var_declaration", "var_spec"):
            left = node.child_by_field_name("left")
            for name in left.named_children if left is not None else node.children_by_field_name("name"):
                table.setdefault(source.text(name), []).append(node)
        source.memo["declarations"] = table
    return cast(dict[str, list[Node]], source.memo["declarations"])


def _is_map(source: Source, name: Node) -> bool:
    nodes = _declarations(source).get(source.text(name), [])[:20]
    return any(inner.type == "map_type" for node in nodes for inner in inside(node, 60))


def _is_changed_elsewhere(source: Source, change: Node, routine: Node, outer: Scope) -> bool:
    """Whether another goroutine of the function changes it too."""
    target = _target(change)
    text = source.text(target) if target is not None else ""
    for other in list(source.nodes("go_statement"))[:50]:
        literal = _literal(other)
        here = outer.node.start_byte <= other.start_byte < outer.node.end_byte and other.id != routine.id
        if literal is None or not here:
            continue
        targets = (_target(node) for node in _find_captured_changes(source, literal))
        if any(t is not None and source.text(t) == text for t in targets):
            return True
    return False
