"""Python's calls and values."""

import ast
import re
from typing import ClassVar

from moot.core.types import Language
from moot.evidence.trials.notations.notation import GOES_ON, CallParts, FunctionHead, Notation, Parameter, find_closing

LITERALS = (
    r"[rbu]?'(?:[^'\\]|\\.)*'|[rbu]?\"(?:[^\"\\]|\\.)*\"",
    r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?",
    r"True|False|None",
)
SUM = re.compile(r"-?\d+(?:\.\d+)?(?:\s*[-+*/]\s*-?\d+(?:\.\d+)?)+\s*={1,2}\s*(?=[-\d])")
"""`1 + 9 = 10`: a computation and its value."""
UNREADABLE = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)


class PythonNotation(Notation):
    language: ClassVar[Language] = "python"
    sample: ClassVar[str] = "f(2) == 4"

    def read_call(self, text: str) -> CallParts | None:
        if literal_call(text) is None:
            return None
        tree = ast.parse(text.strip(), mode="eval").body
        assert isinstance(tree, ast.Call)
        keywords = ", ".join(f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in tree.keywords)
        values = tuple(ast.literal_eval(argument) for argument in tree.args)
        return CallParts(ast.unparse(tree.func), values, keywords=keywords)

    def write_call(self, parts: CallParts) -> str:
        return f"{parts.name}({', '.join([*map(repr, parts.values), *filter(None, [parts.keywords])])})"

    def unify_call(self, text: str) -> str | None:
        return literal_call(text)

    def read_value(self, text: str) -> object:
        try:
            return ast.literal_eval(text.strip())
        except UNREADABLE as problem:
            raise ValueError(str(problem)) from problem

    def write_value(self, value: object, kind: str = "") -> str:
        return repr(value)

    def list_functions(self, code: str) -> list[FunctionHead]:
        try:
            tree = ast.parse(code)
        except UNREADABLE:
            return []
        return [_head(node) for node in tree.body if isinstance(node, ast.FunctionDef)]

    def find_leading(self, text: str) -> str | None:
        """Prose, a full stop or a comment may follow, the rest of a sum may not."""
        text = text.strip().strip("`*").strip()
        if added := SUM.match(text):
            text = text[added.end() :]
        if text[:1] in ("[", "(", "{"):
            end = find_closing(text, 0) or 0
            return literal(text[:end]) if not GOES_ON.match(text, end) else None
        for pattern in LITERALS:
            if (found := re.match(pattern, text)) and not GOES_ON.match(text, found.end()):
                return literal(found[0])
        return {"true": "True", "false": "False"}.get(text.rstrip(".").lower())


def literal_call(text: str) -> str | None:
    """The call in canonical form; None unless all its arguments are literals."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name | ast.Attribute):
            return None
        for argument in (*tree.args, *(keyword.value for keyword in tree.keywords)):
            ast.literal_eval(argument)
        return ast.unparse(tree) if all(keyword.arg for keyword in tree.keywords) else None
    except UNREADABLE:
        return None


def literal(text: str) -> str | None:
    """A literal in canonical form, or None."""
    try:
        return repr(ast.literal_eval(text.strip()))
    except UNREADABLE:
        return None


def _head(node: ast.FunctionDef) -> FunctionHead:
    if node.args.kwonlyargs or node.args.vararg:
        return FunctionHead(node.name, None)
    spots = node.args.posonlyargs + node.args.args
    needed = spots[: len(spots) - len(node.args.defaults)] or spots
    return FunctionHead(
        node.name, tuple(Parameter(s.arg, ast.unparse(s.annotation) if s.annotation else "") for s in needed)
    )
