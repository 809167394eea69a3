"""Python source that rewrites insert: literals and arguments."""

from collections.abc import Sequence

from tree_sitter import Node

from moot.scan.change import RewriteRefused, replace_node, require_node
from moot.scan.edits import Edit
from moot.scan.sql import Part
from moot.scan.strings import StringHole
from moot.scan.syntax import Source


def literal(text: str) -> str:
    """A string literal, in double quotes if that needs no escape."""
    return f'"{text}"' if text.isprintable() and '"' not in text and "\\" not in text else repr(text)


def fstring(source: Source, parts: Sequence[Part]) -> str:
    holes = [source.text(part.node) for part in parts if isinstance(part, StringHole)]
    texts = "".join(part for part in parts if isinstance(part, str))
    quote = "'" if any('"' in hole for hole in holes) or '"' in texts else '"'
    if any(quote in text or "\\" in text or "\n" in text for text in (*holes, texts)) or any("{" in h for h in holes):
        raise RewriteRefused("the value cannot be written as one f-string")
    inner = (
        part.replace("{", "{{").replace("}", "}}") if isinstance(part, str) else f"{{{source.text(part.node)}}}"
        for part in parts
    )
    return f"f{quote}{''.join(inner)}{quote}"


def with_argument(source: Source, call: Node, text: str) -> Edit:
    """Appends an argument, on its own line if the others have one."""
    arguments = require_node(call.child_by_field_name("arguments"), "the call has no arguments")
    given = [child for child in arguments.named_children if child.type != "comment"]
    if not given:
        return Edit(arguments.start_byte + 1, arguments.start_byte + 1, text)
    last = given[-1]
    before = last.prev_sibling
    gap = source.slice(before.end_byte, last.start_byte) if before is not None and before.type == "," else " "
    return Edit(last.end_byte, last.end_byte, f",{gap or ' '}{text}")


def without_argument(source: Source, value: Node) -> Edit:
    """Removes a keyword argument with one adjacent comma."""
    keyword = require_node(value.parent, "the argument cannot be found")
    before, after = keyword.prev_sibling, keyword.next_sibling
    if before is not None and before.type == ",":
        start = before.prev_sibling.end_byte if before.prev_sibling is not None else before.start_byte
        return Edit(start, keyword.end_byte)
    if after is not None and after.type == "," and after.next_sibling is not None:
        end = after.next_sibling.start_byte if after.next_sibling.type != ")" else after.end_byte
        return Edit(keyword.start_byte, end)
    return replace_node(keyword, "")


def before(source: Source, statement: Node, *lines: str) -> Edit:
    """Inserts lines before a statement, with its indentation; a tab indents an inner block."""
    start = source.data.rfind(b"\n", 0, statement.start_byte) + 1
    indent = source.slice(start, statement.start_byte)
    if indent.strip():
        raise RewriteRefused("the statement does not start its line")
    newline = "\r\n" if b"\r\n" in source.data else "\n"
    step = "\t" if "\t" in indent else "    "
    at = statement.start_byte
    written = (line.replace("\t", step, 1) if line.startswith("\t") else line for line in lines)
    return Edit(at, at, "".join(f"{line}{newline}{indent}" for line in written))
