"""Mutants: small faults in working code; tests that do not notice them are weak.

Our own instead of mutmut: one set of token swaps for all languages, run in the sandbox.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from moot.core.types import Code, SourceFile
from moot.scan.edits import Edit, apply_edits
from moot.scan.syntax import Source, parse, words

SWAPPED = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
    "+": "-", "-": "+", "*": "+", "/": "*", "//": "/", "%": "*", "**": "*", "+=": "-=", "-=": "+=", "*=": "+=",
    "and": "or", "or": "and", "&&": "||", "||": "&&", "break": "continue", "continue": "break",
    "True": "False", "False": "True", "true": "false", "false": "true", "not": "",
}  # fmt: skip
NUMBERS = frozenset({"integer", "number", "int_literal"})
NOWHERE = words("type type_annotation import_statement import_from_statement import_declaration comment")
NOTHING = {"python": "None", "javascript": "null", "typescript": "null"}
MAX_MUTANTS = 60


@dataclass(frozen=True)
class Mutant:
    code: Code
    file: str
    line: int
    what: str


def mutants(code: Code, limit: int = MAX_MUTANTS) -> tuple[Mutant, ...]:
    """Every mutant that still parses; beyond `limit`, evenly spread over the text."""
    made = [mutant for file in code.files for mutant in _of_file(code, file)]
    if len(made) <= limit:
        return tuple(made)
    return tuple(made[place * len(made) // limit] for place in range(limit))


def score(killed: Sequence[bool]) -> float | None:
    """The share of mutants noticed; None if there were none."""
    return sum(killed) / len(killed) if killed else None


def _of_file(code: Code, file: SourceFile) -> Iterator[Mutant]:
    source = parse(file.path, file.language, file.text)
    if source.root.has_error:
        return
    seen = {file.text}
    for node, new in _faults(source):
        text = apply_edits(source.data, [Edit(node.start_byte, node.end_byte, new)]).decode("utf-8", "replace")
        if text not in seen and not parse(file.path, file.language, text).root.has_error:
            seen.add(text)
            what = f"{source.text(node)!r} became {new!r}" if new else f"{source.text(node)!r} was taken out"
            yield Mutant(code.with_texts({file.path: text}), file.path, node.start_point[0] + 1, what)


def _faults(source: Source) -> Iterator[tuple[Node, str]]:
    nodes = [source.root]
    while nodes:
        node = nodes.pop()
        if node.type in NOWHERE:
            continue
        if node.child_count == 0:
            yield from _of_token(source, node)
        elif node.type == "return_statement" and source.language in NOTHING and node.named_child_count == 1:
            yield node.named_children[0], NOTHING[source.language]
        nodes.extend(reversed(node.children))


def _of_token(source: Source, node: Node) -> Iterator[tuple[Node, str]]:
    text = source.text(node)
    if node.type in NUMBERS:
        if text.isdigit():
            yield node, str(int(text) + 1)
    elif text in SWAPPED and node.parent is not None and node.type not in ("string_content", "identifier"):
        yield node, SWAPPED[text]
