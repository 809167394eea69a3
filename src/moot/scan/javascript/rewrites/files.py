"""Rights of files, and vectors of ciphers in JavaScript."""

import re

from tree_sitter import Node

from moot.scan.bindings import origins
from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.javascript.rewrites.module import require_module
from moot.scan.javascript.rewrites.settings import options
from moot.scan.rewrites.modes import keep_to_owner
from moot.scan.rewrites.reasons import REASONS
from moot.scan.rewrites.vectors import DRAWN, find_sent_vector
from moot.scan.strings import unwrap
from moot.scan.syntax import Source

NUMBER = re.compile(r"0o([0-7]+)|[\"']([0-7]{3,4})[\"']")
CONSTANT = re.compile(
    r"Buffer\.alloc\(\s*\d+\s*(?:,\s*[\w\"'`]+\s*)?\)|Buffer\.from\(\s*([\"'`])[^\"'`$]*\1\s*(?:,\s*[\"']\w+[\"']\s*)?\)|"
    r"new Uint8Array\(\s*\d+\s*\)"
)


def restrict_mode(source: Source, node: Node) -> Change:
    if node.type == "pair":
        given = require_node(node.child_by_field_name("value"), "the mode is not here")
    else:
        given = _find_mode(source, [unwrap(arg) for arg in read_call(source, node).args])
    written = NUMBER.fullmatch(source.text(given))
    if written is None:
        raise RewriteRefused("the mode is not written here")
    new = keep_to_owner(source, node, int(written[1] or written[2], 8))
    return Change((replace_node(given, f"0o{new:o}"),), f"the mode is {new:o}")


def _find_mode(source: Source, given: list[Node]) -> Node:
    for arg in given:
        if arg.type == "object" and (mode := options(source, arg).get("mode")) is not None:
            return mode
    found = [arg for arg in given[1:] if NUMBER.fullmatch(source.text(arg))]
    return require_node(found[0] if len(found) == 1 else None, "the mode is not here")


def draw_iv(source: Source, node: Node) -> Change:
    value = find_sent_vector(source, node, CONSTANT, r"\[\s*VECTOR\s*,|\bVECTOR\.toString\(|\breturn [^;]*\bVECTOR\b")
    crypto, added = require_module(source, "crypto", node)
    return Change((replace_node(value, f"{crypto}.randomBytes(16)"), *added), DRAWN)


def use_own_folder(source: Source, node: Node) -> Change:
    """A name made of the time or a number is asked for by nobody: its file can lie in a folder of this user's own."""
    call = read_call(source, node)
    path = unwrap(require_node(call.arg(0), "the path is not here"))
    if path.type == "identifier":
        bound = origins(source, path)
        alone = bound[0] if len(bound) == 1 and bound[0].kind == "set" else None
        if alone is None or alone.value is None or source.scope(alone.node) is not source.scope(node):
            raise RewriteRefused("the path is put together elsewhere")
        path = unwrap(alone.value)
    if path.type != "call_expression" or read_call(source, path).name != "path.join":
        raise RewriteRefused("the path is put together elsewhere")
    folder, *rest = read_call(source, path).args
    if source.text(folder) not in ("os.tmpdir()", "tmpdir()") or not any(MADE_UP.search(source.text(n)) for n in rest):
        raise RewriteRefused(REASONS["temp-file"])
    local, added = require_module(source, "fs", node)
    paths = source.text(require_node(path.child_by_field_name("function"), "the call has no name")).rpartition(".")[0]
    if not paths or (added and call.method.endswith("Sync")):
        raise RewriteRefused("the functions of fs are imported by their names")
    new = f'{local}.mkdtempSync({paths}.join({source.text(folder)}, "private-"))'
    edits = [replace_node(folder, new), *added]
    if call.method in ("writeFile", "writeFileSync") and len(call.args) == 2:
        edits.append(Edit(call.args[1].end_byte, call.args[1].end_byte, ", { mode: 0o600 }"))
    return Change(tuple(edits), "the file lies in a new folder that only this user can open")


MADE_UP = re.compile(r"\bDate\.now\(\)|\bgetTime\(\)|\bnew Date\b|\bMath\.random\(\)|\bperformance\.now\(")
"""The time or a number; by the number of a process, another one may look for it."""
REWRITES: dict[str, Rewrite] = {
    "javascript-file-mode": restrict_mode,
    "javascript-static-iv": draw_iv,
    "javascript-temp-file": use_own_folder,
}
