"""How a Go function says no: an error, an answer to the visitor, or a plain return."""

import re

from tree_sitter import Node

from moot.scan.change import RewriteRefused
from moot.scan.edits import Edit
from moot.scan.rules.errors import result_types
from moot.scan.syntax import Source

NUMBERS = re.compile(r"u?int(?:8|16|32|64)?|float(?:32|64)|byte|rune|uintptr|complex(?:64|128)")
NILS = re.compile(r"\*|\[\]|map\[|chan\b|func\b|interface\b|any$|<-chan")


def refuse(source: Source, node: Node, error: str) -> str:
    """The statement that ends the function around `node` with this error."""
    scope = source.scope(node)
    types = result_types(source, scope.node)
    parameters = scope.node.child_by_field_name("parameters")
    writer = re.search(r"(\w+) (\w+)\.ResponseWriter\b", source.text(parameters)) if parameters is not None else None
    if types[-1:] == ("error",):
        return f"return {', '.join([*map(zero, types[:-1]), error])}"
    if not types and writer is not None:
        return f'{writer[2]}.Error({writer[1]}, "Forbidden", {writer[2]}.StatusForbidden)\n\treturn'
    if types == ("bool",):
        return "return false"
    raise RewriteRefused("the function has no way to report that it refuses")


def zero(kind: str) -> str:
    if NUMBERS.fullmatch(kind):
        return "0"
    if kind in ("string", "bool"):
        return {"string": '""', "bool": "false"}[kind]
    return "nil" if kind == "error" or NILS.match(kind) else f"*new({kind})"


def find_function(source: Source, node: Node) -> Node:
    """The function with a name around a node."""
    around = source.scope(node).node
    while around.type == "func_literal" and around.parent is not None:
        around = source.scope(around.parent).node
    return around


def find_comment(source: Source, node: Node) -> str:
    """What is written above the function around a node."""
    function = find_function(source, node)
    start, before = function.start_byte, function.prev_sibling
    while before is not None and before.type == "comment" and start - before.end_byte < 3:
        start, before = before.start_byte, before.prev_sibling
    return source.slice(start, function.start_byte)


def find_line(node: Node) -> Node:
    """The whole statement of a block that `node` belongs to."""
    current = node
    while (parent := current.parent) is not None:
        if parent.type in ("statement_list", "block"):
            return current
        current = parent
    raise RewriteRefused("it is no statement of a block")


def cut_line(source: Source, line: Node) -> Edit:
    """Takes out a statement with its line."""
    start, end = source.data.rfind(b"\n", 0, line.start_byte) + 1, source.data.find(b"\n", line.end_byte) + 1
    if source.slice(start, end).strip() != source.text(line):
        raise RewriteRefused("the statement shares its line with another one")
    return Edit(start, end)


def write_check(source: Source, line: Node, test: str, answer: str, *, after: bool = False) -> Edit:
    """An `if` around an answer, on its own lines before a statement or after it."""
    start = source.data.rfind(b"\n", 0, line.start_byte) + 1
    indent = source.slice(start, line.start_byte)
    if indent.strip():
        raise RewriteRefused("the statement shares its line with another one")
    body = f"if {test} {{\n\t{answer}\n}}".replace("\n", f"\n{indent}")
    if after:
        return Edit(line.end_byte, line.end_byte, f"\n{indent}{body}")
    return Edit(line.start_byte, line.start_byte, f"{body}\n{indent}")
