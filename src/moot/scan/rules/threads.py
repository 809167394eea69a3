"""Shared state that Python threads change without synchronisation."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import calls
from moot.scan.rule import Rule, RuleMatch
from moot.scan.syntax import Scope, Source, inside

RACE = Rule(
    "python-thread-race", "race_condition", "high", 362,
    "Data race: a function that runs in several threads changes shared state without a lock",
    "Two threads read the same value, both write, and one update is lost.",
    "Hold a threading.Lock around every read and write of the shared state.", 0.6,
)  # fmt: skip
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
            yield RuleMatch(RACE, change)


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
