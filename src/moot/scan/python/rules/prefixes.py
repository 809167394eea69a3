"""Python code that looks whether a path begins with its folder, and forgets the separator behind the folder."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import SourceCall, calls
from moot.scan.python.rules.flaws import PREFIX
from moot.scan.rule import RuleMatch
from moot.scan.syntax import Source

RESOLVED = re.compile(
    r"(?:str\(\s*)?(?:(?:os\.path\.|op\.)?(?:abspath|realpath|normpath)\(|"
    r"[\w.()/\"' ]*\.(?:resolve|absolute)\(\)\s*\)?$)"
)
"""A path without a separator at its end."""
WRITTEN = re.compile(r"""["']/[\w./-]*\w["']""")
CHECKED = re.compile(r"commonpath|is_relative_to|\brelative_to\(|os\.(?:path\.)?sep\b|commonprefix")


def find_loose_prefixes(source: Source) -> Iterator[RuleMatch]:
    """`os.path.abspath(path).startswith(os.path.abspath(folder))`"""
    for call in calls(source).get("startswith", ()):
        receiver = find_receiver(call)
        if receiver is None or len(call.args) != 1 or CHECKED.search(source.text(source.scope(call.node).node)):
            continue
        wanted = call.args[0]
        ends = WRITTEN.fullmatch(source.text(wanted)) or _is_resolved(source, wanted)
        if ends and _is_resolved(source, receiver):
            yield RuleMatch(PREFIX, call.node)


def find_receiver(call: SourceCall) -> Node | None:
    callee = call.node.child_by_field_name("function")
    return callee.child_by_field_name("object") if callee is not None else None


def _is_resolved(source: Source, node: Node) -> bool:
    """Itself, or everything that it may have been assigned."""
    text = source.text(node)
    inner = re.fullmatch(r"str\(\s*([\w.]+)\s*\)", text)
    if node.type == "call" and inner is None:
        return RESOLVED.match(text) is not None
    name = inner[1] if inner is not None else text
    if not re.fullmatch(r"[\w.]+", name):
        return False
    if "." in name:
        made = re.findall(rf"(?m)^\s*{re.escape(name)}(?:\s*:[^=\n]+)?\s*=\s*(.+)$", source.text(source.root))
    else:
        word = node if inner is None else _find_inner(node)
        made = [source.text(b.value) for b in origins(source, word) if b.value is not None] if word else []
    return bool(made) and all(RESOLVED.match(value) for value in made[-1:])


def _find_inner(node: Node) -> Node | None:
    arguments = node.child_by_field_name("arguments")
    return arguments.named_children[0] if arguments is not None and arguments.named_child_count else None
