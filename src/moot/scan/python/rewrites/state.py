"""Rewrites of Python: shared state of threads, secret comparison, lost errors."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.calls import imports
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import function, import_at_top, module, statement_below
from moot.scan.rules.threads import find_shared_changes
from moot.scan.syntax import Source, inside

SAME_SECRET = '''
def same_secret(left, right):
    """Whether two values are equal, in a time that does not tell where they differ."""
    if isinstance(left, str) and isinstance(right, str):
        left, right = left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass")
    if isinstance(left, bytes) and isinstance(right, bytes):
        return {hmac}.compare_digest(left, right)
    return left == right
'''
UNFIT = frozenset({"__del__", "emit", "handleError"})
"""Functions that run during interpreter shutdown, or that are part of logging."""
CALLING = frozenset({"call", "await", "yield", "lambda", "list_comprehension", "generator_expression"})


def compare_in_constant_time(source: Source, node: Node) -> Change:
    if node.type != "comparison_operator" or len(node.children) != 3:
        raise RewriteRefused("only a comparison of two values is rewritten")
    left, operator, right = node.children
    local, added = import_at_top(source, "hmac")
    helper = function(source, "same_secret", SAME_SECRET.format(hmac=local), node)
    new = f"same_secret({source.text(left)}, {source.text(right)})"
    if source.text(operator) == "!=":
        new = f"(not {new})" if _binds_tighter(node) else f"not {new}"
    return Change(
        (*added, *helper, replace_node(node, new)), "the comparison takes the same time wherever the two differ"
    )


def _binds_tighter(node: Node) -> bool:
    return node.parent is not None and node.parent.type in ("comparison_operator", "binary_operator", "await")


def add_lock(source: Source, node: Node) -> Change:
    """Puts a lock around each change made by threads; the statement inside calls nothing, so it cannot deadlock."""
    scope = source.scope(node)
    changes = list(find_shared_changes(source, scope))
    if not changes or any(inner.type in CALLING for change in changes for inner in inside(change, 400)):
        raise RewriteRefused("the change calls other code, which may need the lock itself")
    if any(source.text(_target(change)).startswith("self.") for change in changes):
        raise RewriteRefused("the object has no lock of its own")
    name = f"{_word(source, changes[0])}_lock"
    local, added = import_at_top(source, "threading")
    made = statement_below(source, name, f"{name} = {local}.Lock()", node)
    edits = [edit for change in changes for edit in _hold_lock(source, change, name)]
    others = [n for n in _other_writes(source, changes) if n.start_byte not in {c.start_byte for c in changes}]
    if others:
        raise RewriteRefused("it is changed in other functions too, which would have to hold the lock")
    return Change((*added, *made, *edits), f"{name} is held while it is changed")


def _target(change: Node) -> Node:
    return require_node(change.child_by_field_name("left"), "the target is not here")


def _word(source: Source, change: Node) -> str:
    return str(re.findall(r"\w+", source.text(_target(change)))[0])


def _other_writes(source: Source, changes: list[Node]) -> Iterator[Node]:
    """Changes of the same names in other functions; module code runs before the threads."""
    names = {_word(source, change) for change in changes}
    for node in source.nodes("augmented_assignment", "assignment"):
        if source.scope(node).outer is None or _word(source, node) not in names:
            continue
        right = node.child_by_field_name("right")
        again = right is not None and re.search(rf"\b{_word(source, node)}\b", source.text(right))
        if node.type == "augmented_assignment" or again:
            yield node


def _hold_lock(source: Source, change: Node, name: str) -> Iterator[Edit]:
    statement = require_node(source.statement(change), "the change stands outside of a statement")
    line = source.data.rfind(b"\n", 0, statement.start_byte) + 1
    indent = source.slice(line, statement.start_byte)
    text = source.text(statement)
    if indent.strip() or "\n" in text or statement.type != "expression_statement":
        raise RewriteRefused("the change is part of a larger statement")
    step = "\t" if "\t" in indent else "    "
    yield replace_node(statement, f"with {name}:\n{indent}{step}{text}")


def log_error(source: Source, node: Node) -> Change:
    """The error is still ignored, but logged."""
    body = next((child for child in node.named_children if child.type == "block"), None)
    empty = [n for n in (body.named_children if body is not None else ()) if n.type != "comment"]
    if len(empty) != 1:
        raise RewriteRefused("the handler does more than nothing")
    line = source.data.find(b"\n", empty[0].end_byte)
    rest = source.slice(node.start_byte, line if line >= 0 else len(source.data))
    if "#" in rest:
        raise RewriteRefused("a comment says why the error is passed over")
    if source.scope(node).name in UNFIT:
        raise RewriteRefused(f"{source.scope(node).name} may run when the modules it would need are gone")
    if "logging" not in imports(source).values():
        raise RewriteRefused("nothing here says how errors are told")
    local, added = module(source, "logging", node)
    call = f'{local}.getLogger(__name__).debug("an error was passed over", exc_info=True)'
    only = empty[0]
    if only.type == "continue_statement":
        line = source.data.rfind(b"\n", 0, only.start_byte) + 1
        indent = source.slice(line, only.start_byte)
        call = f"{call}; continue" if indent.strip() else f"{call}\n{indent}continue"
    return Change(
        (*added, replace_node(only, call)),
        "the error is logged, for those who ask for debug messages, before it is passed over",
    )


REWRITES: dict[str, Rewrite] = {
    "python-timing": compare_in_constant_time,
    "python-thread-race": add_lock,
}
