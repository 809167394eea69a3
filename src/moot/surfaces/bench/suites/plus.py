"""Hidden tests that compare an answer with a reference solution on many inputs.

The reference stands in the tests, which run in a process of their own: an answer never sees it.
"""

import ast
import json
import warnings
from collections.abc import Sequence
from typing import Any

CLOSE = 1e-6
TEMPLATE = """
import copy as _copy

inf, nan = float("inf"), float("nan")
_SPACE = {{"__name__": "reference"}}
exec({reference!r}, _SPACE)
_INPUTS = {inputs}
_CLOSE = {close!r}


def _same(found, expected):
    if isinstance(expected, float) or isinstance(found, float):
        if not isinstance(found, (int, float)) or not isinstance(expected, (int, float)):
            return False
        if found == expected or (found != found and expected != expected):
            return True
        return abs(found - expected) <= _CLOSE * max(1.0, abs(expected))
    if isinstance(expected, (list, tuple)) and isinstance(found, (list, tuple)):
        if type(found) is not type(expected) or len(found) != len(expected):
            return False
        return all(_same(a, b) for a, b in zip(found, expected))
    return found == expected


def test_plus():
    compared = 0
    for given in _INPUTS:
        try:
            expected = _SPACE[{name!r}](*_copy.deepcopy(given))
        except Exception:
            continue  # no valid input
        found = {name}(*_copy.deepcopy(given))
        compared += 1
        why = f"{name}(*{{given!r}}) gave {{found!r}}, not {{expected!r}}"
        assert _same({unordered}(found), {unordered}(expected)), why[:500]
    assert compared, "no input could be compared"
"""


def render_plus(
    name: str, reference: str, inputs: Sequence[Sequence[Any]], close: float = CLOSE, unordered: str = ""
) -> str:
    """A test to put below an import of the function. `unordered`: `set` or `sorted`, applied to both results."""
    given = repr([list(each) for each in inputs])
    return TEMPLATE.format(reference=reference, inputs=given, close=close, name=name, unordered=unordered)


def shape_inputs(inputs: Sequence[Sequence[Any]], calls: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Inputs as JSON keeps them have lists for tuples and sets: the arguments of known calls say which are which."""
    shapes = [each for each in calls if each]
    made = []
    for given in inputs:
        shape = next((each for each in shapes if len(each) == len(given)), None)
        made.append(list(given) if shape is None else [_shape(v, s) for v, s in zip(given, shape, strict=True)])
    return made


def _shape(value: Any, like: Any) -> Any:
    if not isinstance(value, list):
        return value
    first = next(iter(like), None) if isinstance(like, list | tuple | set | frozenset) else None
    items = [_shape(each, first) for each in value]
    try:
        return type(like)(items) if isinstance(like, tuple | set | frozenset) else items
    except TypeError:
        return items


def parse_source(source: str) -> ast.Module:
    """Sources of a data set may have escapes that Python warns of: nobody here can mend them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def find_arguments(source: str, names: Sequence[str]) -> list[list[Any]]:
    """The literal arguments of the calls of these functions, in their order."""
    try:
        tree = parse_source(source)
    except (SyntaxError, ValueError):
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            try:
                found.append([ast.literal_eval(argument) for argument in node.args])
            except (ValueError, TypeError):
                continue
    return found


def count_inputs(inputs: Sequence[Any]) -> list[Any]:
    """The first ones, without those that would take longer to send than to solve."""
    return [each for each in inputs if len(json.dumps(each)) <= 20_000][:100]
