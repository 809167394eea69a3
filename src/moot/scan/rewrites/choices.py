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


UNCHECKED = re.compile(r"(?i)insecure|unverif|untrusted|(?:no|skip|without)_?(?:verif|check)|unsafe|dangerous")
NOT_VERIFIED = re.compile(r"(?i)\b(?:doesn't|does not|don't|do not|without|not|no)\b[^.]{0,30}\bverif")


def leave_announced(source: Source, node: Node, what: str) -> None:
    """Raises if the function says by its name, or in front of its first step, that this is what it is for."""
    scope = source.scope(node)
    body = scope.node.child_by_field_name("body") if scope.name else None
    first = body.named_children[0] if body is not None and body.named_children else None
    about = source.text(first) if first is not None else ""
    said = about.startswith(('"', "'")) and NOT_VERIFIED.search(about)
    if UNCHECKED.search(scope.name) or said:
        raise RewriteRefused(f"the function says that it is for leaving out {what}")


def leave_wrapper(source: Source, node: Node) -> None:
    """Raises if the function is a redirect itself: where it leads is for its callers to say."""
    if re.match(r"(?i)_*redirect(?:_?to)?$", source.scope(node).name):
        raise RewriteRefused("the function is a redirect itself, and its callers say where it leads")


STARTING = re.compile(
    r"(?i)(?:^|[._])(?:cwd|pwd|current_?(?:dir\w*|folder)|work(?:ing)?_?(?:dir\w*|folder)|project[._]?(?:path|root|dir))$"
)
"""Names of a folder in which relative names start."""
CONFIGURED = re.compile(r"Config(?:uration)?$")
CLASSES = words("class_definition class_declaration")
ASKED = frozenset({"req", "res", "request", "response", "ctx"})


def leave_start(source: Source, node: Node, folder: str) -> None:
    """Raises if the folder is where a person works, or a class reads its configuration: what is named from there may
    lead out of it. Not in a handler, where somebody else names it."""
    if source.scope(node).parameters & ASKED:
        return
    if STARTING.search(folder) or any(CONFIGURED.search(name) for name in _list_classes(source, node)):
        raise RewriteRefused(f"{folder} is where relative names start, and they may lead out of it")


def _list_classes(source: Source, node: Node) -> list[str]:
    """The names of the classes around it."""
    names: list[str] = []
    outer = node.parent
    while outer is not None:
        name = outer.child_by_field_name("name") if outer.type in CLASSES else None
        names += [source.text(name)] if name is not None else []
        outer = outer.parent
    return names


def leave_choices(source: Source, node: Node, what: str) -> None:
    """Raises if the place is conditional: the code does not say who decides."""
    if any(not re.match(r"\(?__name__\b", test) for test in conditions(source, node)):
        raise RewriteRefused(f"{what} is decided by a condition here, so somebody asks for it")
