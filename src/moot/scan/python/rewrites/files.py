"""Temporary files and the rights of files in Python."""

import re

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.python.rewrites.module import module
from moot.scan.rewrites.modes import OTHERS, SHARED, keep_to_owner
from moot.scan.rewrites.reasons import REASONS
from moot.scan.strings import constant_text
from moot.scan.syntax import Source

PUBLISHED = re.compile(r"(?i)pub(?:\b|_|key)|cert|crt\b|\.pem")
FLAG = re.compile(r"stat\.S_I\w+")
OWNER = re.compile(r"S_I(?:RWXU|[RWX]USR|READ|WRITE|EXEC)$")
NUMBER = re.compile(r"0[oO]([0-7]+)")


def mktemp(source: Source, node: Node) -> Change:
    """A file that is written next is made at once; else its name lies in a fresh private folder."""
    call = read_call(source, node)
    if call.name != "tempfile.mktemp":
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    folder = call.arg(2, "dir")
    if folder is not None and (folder.type == "attribute" or b".rmdir(" in source.data):
        raise RewriteRefused("who made the folder may count on files alone in it")
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


def hide_secret(source: Source, node: Node) -> Change:
    """Others read what the code itself calls a secret: nobody but the owner needs it, unless it is public."""
    call = read_call(source, node)
    place = 2 if call.name == "os.open" else 1 if call.name.startswith("os.") else 0
    given = require_node(call.arg(place, "mode"), "the mode is not here")
    if SHARED.search(source.text(node)) or PUBLISHED.search(source.text(node)):
        raise RewriteRefused(REASONS["file-mode"])
    owner = _owner_mode(source, given)
    return Change((replace_node(given, owner),), f"the mode is {owner.removeprefix('0o')}")


def _owner_mode(source: Source, given: Node) -> str:
    """The owner's part of a mode: of a number, or of `stat.S_IRUSR | stat.S_IRGRP`."""
    text = source.text(given)
    if written := NUMBER.fullmatch(text):
        if not int(written[1], 8) & 0o007:
            raise RewriteRefused("the group was given its rights on purpose")
        return f"0o{int(written[1], 8) & ~OTHERS:o}"
    names = [name.strip() for name in text.strip("()").split("|")]
    if not all(FLAG.fullmatch(name) for name in names):
        raise RewriteRefused("the mode is not written here")
    kept = [name for name in names if OWNER.search(name)]
    if not kept:
        raise RewriteRefused("the mode gives the owner nothing")
    return " | ".join(kept)


REWRITES: dict[str, Rewrite] = {
    "python-mktemp": mktemp,
    "python-file-mode": restrict_mode,
    "python-private-mode": hide_secret,
}
