"""Rewrites shell command lines to argument lists."""

import re

from tree_sitter import Node

from moot.scan.calls import SourceCall, read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.marks import marks
from moot.scan.python.rewrites.module import module
from moot.scan.python.rewrites.text import fstring, without_argument
from moot.scan.rewrites.query import sole_use
from moot.scan.shell import Word, words
from moot.scan.strings import Built, StringHole, build
from moot.scan.syntax import Source

DID = "subprocess.run gets a list of arguments and no shell reads it; a missing program now raises"
OUTPUT = ', stdout={run}.PIPE, stderr={run}.STDOUT, text=True, check=False).stdout.removesuffix("\\n")'
PIPED = ", stdout={run}.PIPE, text=True).stdout"
READS = {
    ".read()": ", stdout={run}.PIPE, text=True, check=False).stdout",
    ".readlines()": ", stdout={run}.PIPE, text=True, check=False).stdout.splitlines(keepends=True)",
}
"""How a finished process returns what was read from the pipe."""


def shell(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if call.name == "asyncio.create_subprocess_shell":
        return _async_shell(source, call)
    arg = require_node(call.arg(0, "args"), "the call has no command")
    flag = require_node(call.keywords.get("shell"), "the call has no shell argument")
    if "executable" in call.keywords or any(child.type == "dictionary_splat" for child in call.args):
        raise RewriteRefused("the shell is named, or options are given elsewhere")
    built = build(source, arg)
    command = f"[{', '.join(_command(source, built, arg))}]"
    edits = (replace_node(_place(built, arg), command), without_argument(source, flag))
    return Change(edits, "the command is a list of arguments and no shell reads it")


def _async_shell(source: Source, call: SourceCall) -> Change:
    arg = require_node(call.arg(0), "the command is given by name")
    built = build(source, arg)
    if built.home is not None:
        raise RewriteRefused("the command is kept in a variable")
    callee = require_node(call.node.child_by_field_name("function"), "the call has no name")
    last = require_node(callee.child_by_field_name("attribute"), "the function is imported by its name")
    edits = (replace_node(last, "create_subprocess_exec"), replace_node(arg, ", ".join(_command(source, built, arg))))
    return Change(edits, "the program gets its arguments one by one and no shell reads them; a missing one now raises")


def _command(source: Source, built: Built, arg: Node) -> list[str]:
    sole_use(source, built, arg)
    return [_argument(source, word) for word in words(source, marks(source, built))]


def _place(built: Built, arg: Node) -> Node:
    return require_node(built.home.value, "the text is not here") if built.home is not None else arg


def _argument(source: Source, word: Word) -> str:
    if len(word) == 1 and isinstance(word[0], StringHole):
        hole = word[0]
        if hole.spec not in ("", "%s"):
            raise RewriteRefused(f"the value is formatted with {hole.spec!r}")
        # Operands of + are text; formatted values may be anything.
        return source.text(hole.node) if hole.start < 0 else f"str({source.text(hole.node)})"
    if all(isinstance(part, str) for part in word):
        text = "".join(part for part in word if isinstance(part, str))
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return fstring(source, word)


def os_system(source: Source, node: Node) -> Change:
    call = read_call(source, node)
    if len(call.args) != 1 or call.keywords:
        raise RewriteRefused(f"there is no plain replacement for {call.name}")
    arg, built = call.args[0], build(source, call.args[0])
    command = f"[{', '.join(_command(source, built, arg))}]"
    local, added = module(source, "subprocess", node)
    target, tail = _run(source, call, local)
    local = f"{local}.Popen" if tail == PIPED.format(run=local) else f"{local}.run"
    if built.home is None:
        return Change((replace_node(target, f"{local}({command}{tail}"), *added), DID)
    new = Edit(target.start_byte, target.end_byte, f"{local}({source.text(arg)}{tail}")
    return Change((replace_node(_place(built, arg), command), new, *added), DID)


def _run(source: Source, call: SourceCall, local: str) -> tuple[Node, str]:
    """The replaced node, and the end of the subprocess.run call that gives the same result."""
    node = call.node
    match call.name:
        case "os.system":
            return node, ", check=False)" + _status(source, node)
        case "os.popen" if node.parent is not None and node.parent.type == "assignment":
            _only_read(source, node.parent)
            return node, PIPED.format(run=local)
        case "os.popen":
            whole = _read_of(node)
            ending = source.slice(node.end_byte, whole.end_byte)
            if ending not in READS:
                raise RewriteRefused("only os.popen(…).read() and .readlines() are rewritten")
            return whole, READS[ending].format(run=local)
        case "subprocess.getoutput":
            return node, OUTPUT.format(run=local)
        case _:
            raise RewriteRefused(f"there is no plain replacement for {call.name}")


def _only_read(source: Source, assignment: Node) -> None:
    """Raises unless the stream is only read: its close() gives the status, which a pipe's does not."""
    name = require_node(assignment.child_by_field_name("left"), "the stream has no name")
    used = re.findall(rf"\b{re.escape(source.text(name))}\b(\.\w+)?", source.text(source.scope(assignment).node))
    if name.type != "identifier" or not set(used) <= {"", ".read", ".readlines", ".readline"} or used.count("") > 1:
        raise RewriteRefused("the stream is used for more than reading")


def _status(source: Source, node: Node) -> str:
    """os.system returns the exit code in the upper byte: the two agree only on whether it is zero."""
    holder = require_node(node.parent, "the status is used elsewhere")
    if holder.type == "expression_statement":
        return ""
    compared = re.fullmatch(r"\s*(?:==|!=)\s*0", source.slice(node.end_byte, holder.end_byte))
    tested = holder.type in ("not_operator", "if_statement", "while_statement")
    if not tested and not (holder.type == "comparison_operator" and compared):
        raise RewriteRefused("the status that os.system gives is another number than the exit code")
    return ".returncode"


def _read_of(node: Node) -> Node:
    """`os.popen(…).read()` as a whole."""
    attribute = node.parent
    whole = attribute.parent if attribute is not None else None
    if attribute is None or whole is None or attribute.type != "attribute" or whole.type != "call":
        raise RewriteRefused("only os.popen(…).read() and .readlines() are rewritten")
    return whole


REWRITES: dict[str, Rewrite] = {"python-shell": shell, "python-os-system": os_system}
