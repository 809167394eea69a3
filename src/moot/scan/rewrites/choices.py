"""Code that somebody chose on purpose: under a condition, in an error handler, in a library of its own."""

import re

from tree_sitter import Node

from moot.scan.change import RewriteRefused
from moot.scan.syntax import FUNCTIONS, Source, words

CONDITIONS = words(
    "if_statement elif_clause conditional_expression ternary_expression match_statement switch_statement "
    "expression_switch_statement"
)
HANDLERS = words("except_clause catch_clause")


def is_chosen_by(source: Source, node: Node, pattern: str) -> bool:
    """Whether an enclosing condition matches these words."""
    return any(re.search(pattern, condition) for condition in conditions(source, node))


def conditions(source: Source, node: Node) -> list[str]:
    """Enclosing conditions within the function, nearest first; an error handler counts as one."""
    found: list[str] = []
    current = node
    while (parent := current.parent) is not None and parent.type not in FUNCTIONS:
        if parent.type in CONDITIONS:
            test = parent.child_by_field_name("condition") or parent.child_by_field_name("subject")
            test = test or (parent.named_children[1] if parent.type == "conditional_expression" else None)
            found.append(source.text(test) if test is not None else source.text(parent))
        elif parent.type in HANDLERS:
            found.append("except")
        current = parent
    return found


WITHIN = words(
    "boolean_operator binary_expression conditional_expression ternary_expression lambda arrow_function "
    "function_expression list_comprehension set_comprehension dictionary_comprehension generator_expression"
)
FIRST_RUNS = words("boolean_operator binary_expression")
SHORT = re.compile(r"and|or|&&|\|\||\?\?")


def require_run(source: Source, node: Node, statement: Node) -> None:
    """Raises unless whoever runs the statement runs this part of it: what is written before the statement always
    runs. `boundary is not None and exists(join(root, boundary))` asks first."""
    current = node
    while (parent := current.parent) is not None and current != statement:
        if parent.type in WITHIN and not (parent.type in FIRST_RUNS and _always_runs(source, parent, current)):
            raise RewriteRefused("whether this part of the statement runs is decided in the statement itself")
        current = parent


def _always_runs(source: Source, parent: Node, part: Node) -> bool:
    operator = parent.child_by_field_name("operator")
    short = operator is not None and SHORT.fullmatch(source.text(operator)) is not None
    return not short or part == parent.named_children[0]


def leave_choices(source: Source, node: Node, what: str) -> None:
    """Raises if the place is conditional: the code does not say who decides."""
    if any(not re.match(r"\(?__name__\b", test) for test in conditions(source, node)):
        raise RewriteRefused(f"{what} is decided by a condition here, so somebody asks for it")
