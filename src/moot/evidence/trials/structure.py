"""Structure of code: complexity of each function and maintainability of each file, computed on the syntax tree.

Our own instead of radon: one definition for all languages.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from moot.core.types import Code, SourceFile
from moot.scan.syntax import FUNCTIONS, Source, parse, words

DECISIONS = words(
    "if_statement elif_clause conditional_expression for_statement while_statement except_clause for_in_clause "
    "if_clause boolean_operator assert_statement for_in_statement do_statement switch_case catch_clause "
    "ternary_expression expression_case type_case communication_case"
)
"""Each adds a path through the function. A default `case` does not."""
SUMS = words(
    "binary_operator unary_operator not_operator boolean_operator comparison_operator augmented_assignment "
    "binary_expression unary_expression update_expression augmented_assignment_expression inc_statement dec_statement"
)
SHORT_CIRCUITS = words("&& || ??")
APART = FUNCTIONS - {"lambda"}
BRACKETS = words("( ) [ ] { } , ; :")


@dataclass(frozen=True)
class FunctionShape:
    file: str
    name: str
    line: int
    complexity: int


@dataclass(frozen=True)
class FileShape:
    """`maintainability` is the index of Oman and Hagemeister, from 0 to 100: of the mean function, so that length alone
    costs nothing, and without the bonus for comments."""

    file: str
    lines: int
    """Lines that are neither blank nor only comment."""
    complexity: int
    maintainability: float
    functions: tuple[FunctionShape, ...] = ()


def shapes(code: Code) -> tuple[list[FileShape], list[str]]:
    """The figures of each file, and the files that cannot be parsed."""
    found, broken = list[FileShape](), list[str]()
    for file in code.files:
        source = parse(file.path, file.language, file.text)
        if source.root.has_error or source.read < len(source.data):
            broken.append(file.path)
        else:
            found.append(_shape(file, source))
    return found, broken


def _shape(file: SourceFile, source: Source) -> FileShape:
    whole = _Function("<module>", 1)
    functions = [whole]
    operators, operands = list[str](), list[str]()
    rows, remarks = set[int](), set[int]()
    stack = [(source.root, whole)]
    while stack:
        node, inside = stack.pop()
        if node.type in APART:
            inside = _Function(_name(source, node), node.start_point[0] + 1)
            functions.append(inside)
        inside.complexity += _decides(source, node)
        if node.type in SUMS:
            operators += [child.type for child in node.children if not child.is_named and child.type not in BRACKETS]
            operands += [source.text(child) for child in node.named_children]
        if node.child_count == 0:
            (remarks if node.type == "comment" else rows).update(range(node.start_point[0], node.end_point[0] + 1))
        stack.extend((child, inside) for child in reversed(node.children))
    made = [FunctionShape(file.path, f.name, f.line, f.complexity) for f in functions[1:] or functions]
    volume = _volume(operators, operands)
    lines, total = _lines_of_code(file.text, remarks - rows), sum(f.complexity for f in functions)
    return FileShape(file.path, lines, total, _index(volume, total, lines, len(made)), tuple(made))


@dataclass
class _Function:
    name: str
    line: int
    complexity: int = 1


def _decides(source: Source, node: Node) -> int:
    if node.type in DECISIONS:
        return 1
    if node.type == "case_clause":
        return int(source.text(node).partition(":")[0].split() != ["case", "_"])
    if node.type == "binary_expression":
        return sum(child.type in SHORT_CIRCUITS for child in node.children)
    return 0


def _name(source: Source, node: Node) -> str:
    named = node.child_by_field_name("name")
    if named is None and node.parent is not None:
        named = node.parent.child_by_field_name("name")
    return source.text(named) if named is not None else "<function>"


def _lines_of_code(text: str, remarks: set[int]) -> int:
    return sum(bool(line.strip()) and number not in remarks for number, line in enumerate(text.split("\n")))


def _volume(operators: list[str], operands: list[str]) -> float:
    kinds = len(set(operators)) + len(set(operands))
    return (len(operators) + len(operands)) * math.log2(kinds) if kinds else 0.0


def _index(volume: float, complexity: int, lines: int, functions: int) -> float:
    read, wide, long = (max(figure / functions, 1) for figure in (volume, complexity, lines))
    raw = 171 - 5.2 * math.log(read) - 0.23 * wide - 16.2 * math.log(long)
    return min(max(raw * 100 / 171, 0.0), 100.0)


def functions_of(found: Sequence[FileShape]) -> Iterator[FunctionShape]:
    for shape in found:
        yield from shape.functions
