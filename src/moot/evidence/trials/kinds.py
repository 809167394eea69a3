"""Whether a test expects a result or a refusal: refusing everything passes the latter and solves nothing."""

import ast
import re
from collections.abc import Iterable

from moot.core.types import Tests
from moot.evidence.trials.values import Example

NAMED = re.compile(
    r"(?<![a-z])(?:in_?valid|reject\w*|refus\w*|raises?|throws?|malformed|bad|errors?|exceptions?)(?![a-z])",
    re.IGNORECASE,
)
PARAMETER = re.compile(r"\[(?:.*-)?(?:None|False|null|false|nil|\w*(?:Error|Exception))\d*\]$")
"""The last value in a parametrized test's id."""
RAISES = frozenset({"raises", "assertRaises", "assertRaisesRegex", "assertIsNone", "assertFalse"})
NOTHING = frozenset({"None", "False", "null", "undefined", "false", "nil", "error"})


def asks_refusal(example: Example) -> bool:
    """An error, or a value that stands for nothing."""
    asked = example.raises or example.category == "error_handling" or example.expected.endswith(", error)")
    return bool(asked) or example.expected in NOTHING


def is_refusal(name: str, known: Iterable[str] = ()) -> bool:
    """Whether the test with this name expects a refusal; `known`: those whose code does."""
    last = name.rpartition("::")[2]
    bare = last.partition("[")[0].split(" ")[0]
    return bare in known or bool(NAMED.search(bare) or PARAMETER.search(last))


def refusals_in(tests: Tests | None) -> frozenset[str]:
    """Test functions whose assertions all expect a refusal; in languages other than Python only names tell."""
    found = set[str]()
    for _, text in tests.files if tests and tests.language == "python" else ():
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        found |= {node.name for node in functions if node.name.startswith("test") and _refuses(node)}
    return frozenset(found)


def worth(passed: int, of: int, refused: int, refusals: int) -> float:
    """Passed tests weighted by kind: refusing is easy, so refusals count in full only if at least half of the results
    are right, and in proportion below that.

    `refused` of the passed and `refusals` of all expect a refusal; if nothing else is tested, they count in full.
    """
    results = of - refusals
    share = min(1.0, 2 * (passed - refused) / results) if results else 1.0
    return round(passed - refused + refused * share, 6)


def _refuses(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    said = [_asks_refusal(node) for node in ast.walk(function)]
    stated = [one for one in said if one is not None]
    return bool(stated) and all(stated)


def _asks_refusal(node: ast.AST) -> bool | None:
    """None if the node is not an assertion."""
    match node:
        case ast.Assert(test=ast.UnaryOp(op=ast.Not())):
            return True
        case ast.Assert(test=ast.Compare(ops=[ast.Is() | ast.Eq()], comparators=[ast.Constant(value=value)])):
            return value is None or value is False
        case ast.Assert():
            return False
        case ast.Call(func=ast.Attribute(attr=name)) if name == "raises" or name.startswith("assert"):
            return name in RAISES
    return None
