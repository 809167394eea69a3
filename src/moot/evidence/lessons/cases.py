"""Says in general words what a call is about: `largest([])` is "an empty list"."""

import ast
from itertools import islice

SIZES = {0: "an empty", 1: "a one-element"}
KINDS = {
    ast.List: "list",
    ast.Tuple: "tuple",
    ast.Set: "set",
    ast.Dict: "dictionary",
}
MOST_DESCRIBED = 3
"""Arguments of a call. What is beyond them is counted."""


def describe_case(call: str) -> str:
    """The arguments of a call, without their values; empty if it is not a call in Python."""
    try:
        parsed = ast.parse(call.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if not isinstance(parsed, ast.Call):
        return ""
    given = [*parsed.args, *(keyword.value for keyword in parsed.keywords)]
    words = [describe_value(value) for value in islice(given, MOST_DESCRIBED)]
    more = len(given) - len(words)
    return ", ".join([*words, *([f"{more} more"] if more > 0 else [])]) or "no argument"


def describe_expected(text: str) -> str:
    try:
        return describe_value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "another value"


def describe_value(value: ast.expr) -> str:
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return f"{SIZES.get(len(value.elts), 'a')} {KINDS[type(value)]}"
    if isinstance(value, ast.Dict):
        return f"{SIZES.get(len(value.keys), 'a')} dictionary"
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return "a negative number"
    if isinstance(value, ast.Constant):
        return _describe_constant(value.value)
    return "an error" if isinstance(value, ast.Name) and value.id.endswith(("Error", "Exception")) else "an expression"


def _describe_constant(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str | bytes):
        return "text" if value.strip() else "blank text" if value else "empty text"
    if isinstance(value, int | float | complex):
        return "zero" if value == 0 else "a number"
    return "a value"
