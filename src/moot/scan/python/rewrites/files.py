"""Temporary files and the rights of files in Python."""

import re

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import module
from moot.scan.rewrites.modes import keep_to_owner
from moot.scan.strings import constant_text
from moot.scan.syntax import Source

NUMBER = re.compile(r"0[oO]([0-7]+)")


def mktemp(source: Source, node: Node) -> Change:
    """A file that is written next is made at once; else its name lies in a fresh private folder."""
    call = read_call(source, node)
    if call.name != "tempfile.mktemp":
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    local, added = module(source, "tempfile", node)
    system, more = module(source, "os", node)
    if (made := _make_at_once(source, node, local, system)) is not None:
        return Change((*made, *added, *more), "the file is made at once, for this user only")
    rest = [f"{key}={source.text(v)}" for key, i in (("prefix", 1), ("dir", 2)) if (v := call.arg(i, key)) is not None]
    suffix = call.arg(0, "suffix")
    text = constant_text(source, suffix)
    name = (
        '"file"'
        if suffix is None
        else f'"file{text}"'
        if text is not None and '"' not in text
        else f'"file" + {source.text(suffix)}'
    )
    new = f"{system}.path.join({local}.mkdtemp({', '.join(rest)}), {name})"
    return Change(
        (replace_node(node, new), *added, *more), "the name lies in a new folder that only this user can write to"
    )


def _make_at_once(source: Source, node: Node, local: str, system: str) -> tuple[Edit, ...] | None:
    """`descriptor, path = tempfile.mkstemp()` if the next statement opens the path for writing."""
    holder, statement = node.parent, source.statement(node)
    left = holder.child_by_field_name("left") if holder is not None and holder.type == "assignment" else None
    callee = node.child_by_field_name("function")
    if left is None or left.type != "identifier" or statement is None or callee is None:
        return None
    path, following = re.escape(source.text(left)), statement.next_named_sibling
    opened = rf"(?:with\s+)?(?:\w+\s*=\s*)?open\(\s*{path}\s*,\s*(?:mode\s*=\s*)?[\"'][wax]b?\+?[\"']"
    if following is None or not re.match(opened, source.text(following)) or "x" in source.text(following)[:60]:
        return None
    taken = source.text(source.scope(node).node)
    if re.search(r"\bdescriptor\b", taken):
        return None
    start = source.data.rfind(b"\n", 0, statement.start_byte) + 1
    indent = source.slice(start, statement.start_byte)
    if indent.strip():
        return None
    return (
        Edit(left.start_byte, left.start_byte, "descriptor, "),
        replace_node(callee, f"{local}.mkstemp"),
        Edit(statement.end_byte, statement.end_byte, f"\n{indent}{system}.close(descriptor)"),
    )


def restrict_mode(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    given = require_node(call.arg(1 if call.name != "os.open" else 2, "mode"), "the mode is not here")
    written = NUMBER.fullmatch(source.text(given))
    if written is None:
        raise RewriteRefused("the mode is not written here")
    new = keep_to_owner(source, node, int(written[1], 8))
    return Change((replace_node(given, f"0o{new:o}"),), f"the mode is {new:o}")


REWRITES: dict[str, Rewrite] = {"python-mktemp": mktemp, "python-file-mode": restrict_mode}
