"""Slips: small misreadings that can be corrected without a model, such as counting from 0 instead of 1, or returning a
list instead of a tuple."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from moot.core.types import Answer
from moot.evidence.trials.examples import find_called_name
from moot.evidence.trials.values import Example

MOST = 24
KINDS = ("list", "tuple", "set", "str", "int", "float", "bool")


@dataclass(frozen=True)
class Slip:
    text: str
    what: str


def slips(code: str, examples: Sequence[Example], answers: Mapping[str, Answer]) -> list[Slip]:
    """At most `MOST` changed solutions and their changes; none for code without such a function."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return []
    name = find_called_name(examples[0].call) if examples else ""
    function = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name), None)
    if function is None:
        return []
    place = tree.body.index(function)
    found = [*_shift_parameter(function, examples[0].call), *_convert_result(function, examples, answers)]
    return [Slip(_with(tree, place, changed), what) for changed, what in found][:MOST]


def _shift_parameter(function: ast.FunctionDef, call: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    given = ast.parse(call, mode="eval").body
    values = given.args if isinstance(given, ast.Call) else []
    for parameter, value in zip(function.args.args, values, strict=False):
        if isinstance(value, ast.Constant) and type(value.value) is int:
            for sign in ("-", "+"):
                line = ast.parse(f"{parameter.arg} = {parameter.arg} {sign} 1").body
                yield _replace_body(function, [*line, *function.body]), f"with {parameter.arg} {sign} 1"


def _convert_result(
    function: ast.FunctionDef, examples: Sequence[Example], answers: Mapping[str, Answer]
) -> Iterator[tuple[ast.FunctionDef, str]]:
    """A result of another type or in another order."""
    example = next((e for e in examples if e.call in answers and answers[e.call].kind == "value"), None)
    if example is None:
        return
    wanted, got = _literal(example.expected), _literal(answers[example.call].text)
    kind = type(wanted).__name__
    if type(wanted) is not type(got) and kind in KINDS:
        yield _replace_return(function, f"{kind}({{}})"), f"with a {kind} for a {type(got).__name__}"
    elif isinstance(wanted, list) and isinstance(got, list):
        yield _replace_return(function, "sorted({})"), "with the result sorted"
        yield _replace_return(function, "list(reversed({}))"), "with the result reversed"
    elif isinstance(wanted, bool):
        yield _replace_return(function, "not ({})"), "with the answer turned round"


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _replace_body(function: ast.FunctionDef, body: Sequence[ast.stmt]) -> ast.FunctionDef:
    made = copy(function)
    made.body = list(body)
    return made


class _Returns(ast.NodeTransformer):
    def __init__(self, form: str) -> None:
        self._form = form

    def visit_Return(self, node: ast.Return) -> ast.Return:
        if node.value is None:
            return node
        text = self._form.format(ast.unparse(node.value))
        return ast.Return(value=ast.parse(text, mode="eval").body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # a nested function returns its results to this one


def _replace_return(function: ast.FunctionDef, form: str) -> ast.FunctionDef:
    return _replace_body(
        function, [_Returns(form).visit(ast.parse(ast.unparse(line)).body[0]) for line in function.body]
    )


def _with(tree: ast.Module, place: int, function: ast.FunctionDef) -> str:
    body = [*tree.body[:place], function, *tree.body[place + 1 :]]
    return ast.unparse(ast.fix_missing_locations(ast.Module(body=body, type_ignores=[]))) + "\n"
