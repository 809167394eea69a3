"""Keeps the stack of a Go program in its log: the visitor is told the status alone."""

from tree_sitter import Node

from moot.scan.calls import read_call
from moot.scan.change import Change, Rewrite, RewriteRefused, replace_node
from moot.scan.edits import Edit
from moot.scan.go.rewrites.answers import find_line
from moot.scan.go.rewrites.module import package
from moot.scan.rewrites.reasons import REASONS
from moot.scan.syntax import Source


def log_stack(source: Source, node: Node) -> Change:
    call, line = read_call(source, node), find_line(node)
    start = source.data.rfind(b"\n", 0, line.start_byte) + 1
    indent = source.slice(start, line.start_byte)
    if call.name != "net/http.Error" or len(call.args) != 3 or indent.strip() or line.type != "expression_statement":
        raise RewriteRefused(REASONS["error-shown"])
    text, status = call.args[1:]
    log, added = package(source, "log")
    local = source.text(node).partition(".")[0]
    logged = Edit(line.start_byte, line.start_byte, f"{log}.Print({source.text(text)})\n{indent}")
    told = replace_node(text, f"{local}.StatusText({source.text(status)})")
    return Change((logged, told, *added), "the stack is logged, and the visitor is told the status")


REWRITES: dict[str, Rewrite] = {"go-error-shown": log_stack}
