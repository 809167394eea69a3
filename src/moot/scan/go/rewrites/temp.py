"""Moves temporary files of Go with guessable names into a folder of this user's own."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import calls, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.answers import find_line, refuse
from moot.scan.go.rewrites.module import names
from moot.scan.rewrites.reasons import REASONS
from moot.scan.rules.errors import result_types
from moot.scan.syntax import Source

MADE_UP = re.compile(r"\btime\.Now\(\)|\brand\.")
"""The time or a number; by the number of a process, another one may look for it."""
FIXED = re.compile(r'(?:filepath\.Join\(os\.TempDir\(\), )?"(?:/tmp/)?([\w.-]+)"\)?')
TAKEN = frozenset({"private", "privateErr"})


def use_own_folder(source: Source, node: Node) -> Change:
    """A name made of the time is asked for by nobody."""
    call, scope = read_call(source, node), source.scope(node)
    if call.name not in ("os.Create", "os.WriteFile", "io/ioutil.WriteFile") or not call.args:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    made = _follow(source, call.args[0])
    if call.name == "os.Create" and re.search(r"\breturn \w+\.Name\(\)", source.text(scope.node)):
        return _draw_name(source, node, made)
    joined = read_call(source, made) if made.type == "call_expression" else None
    if joined is None or joined.name != "path/filepath.Join" or source.text(joined.args[0]) != "os.TempDir()":
        raise RewriteRefused("the path is put together elsewhere")
    parts = [_follow(source, arg) for arg in joined.args[1:]]
    told = call.args[0].type == "identifier" and re.search(
        rf"\breturn {re.escape(source.text(call.args[0]))}\b", source.text(scope.node)
    )
    if not told and not any(MADE_UP.search(source.text(part)) for part in parts):
        raise RewriteRefused(REASONS["temp-file"])
    if result_types(source, scope.node)[-1:] != ("error",) or names(source) & TAKEN:
        raise RewriteRefused("the function has no way to pass an error on")
    uses = [each.node for each in calls(source).get("TempDir", ()) if source.scope(each.node) is scope]
    first = find_line(min(uses, key=lambda use: use.start_byte))
    start = source.data.rfind(b"\n", 0, first.start_byte) + 1
    indent = source.slice(start, first.start_byte)
    if indent.strip() or find_line(made).parent != first.parent:
        raise RewriteRefused("the statement shares its line with another one")
    lines = [
        'private, privateErr := os.MkdirTemp("", "private-")',
        "if privateErr != nil {",
        f"\t{refuse(source, node, 'privateErr')}",
        "}",
    ]
    edits = [Edit(first.start_byte, first.start_byte, "".join(f"{line}\n{indent}" for line in lines))]
    edits += [replace_node(use, "private") for use in uses]
    if call.name == "os.Create":
        new = f"os.OpenFile({source.text(call.args[0])}, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)"
        edits.append(replace_node(node, new))
    return Change(tuple(edits), "the file lies in a new folder that only this user can open")


def _draw_name(source: Source, node: Node, made: Node) -> Change:
    """The caller is told the name, so any name does."""
    fixed = FIXED.fullmatch(source.text(made))
    if fixed is None or made != read_call(source, node).args[0]:
        raise RewriteRefused("the path is put together elsewhere")
    stem, _, ending = fixed[1].partition(".")
    new = f'os.CreateTemp("", "{stem}-*{"." + ending if ending else ""}")'
    return Change((replace_node(node, new),), "the file has a name that nobody can guess")


def _follow(source: Source, node: Node) -> Node:
    """The value of a name that is set once in this function."""
    if node.type != "identifier":
        return node
    bound = origins(source, node)
    here = len(bound) == 1 and bound[0].kind == "set" and source.scope(bound[0].node) is source.scope(node)
    value = bound[0].value if here else None
    return value if value is not None else node


REWRITES: dict[str, Rewrite] = {"go-temp-file": use_own_folder}
