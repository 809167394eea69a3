"""Inside the sandbox: rejects values that agree with everything.

Test files are compiled so that every value they compare or get from a call passes through `given`. An object whose
class defines its own `==`, `<` or `-` is asked about random values: if it equals all of a dozen different numbers, or
is
less and greater than each, or next to each of them, it is rejected.
"""

from __future__ import annotations

import _ast as ast
import builtins
import os
from types import FunctionType, WrapperDescriptorType

from moot.edge.sandbox.python.inside.in_tree import Rewriter, copy_location

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GIVEN = "@moot_given"
PLAIN = frozenset({int, str, float, bool, bytes, complex, type(None), type, FunctionType, range})
LOOKED_AT = 200
DEEPEST = 4
OWN_WAYS = ("__eq__", "__lt__", "__gt__", "__le__", "__ge__", "__sub__", "__rsub__", "__truediv__", "__rtruediv__")
SHOWN = (ast.Name, ast.Attribute, ast.Subscript)


class Guard(Rewriter):
    """Passes the call results and compared values of test code through `given`."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _root(node.func).startswith(("@pytest", "@py_builtins", "@moot")):
            return node
        self.inner(node)
        node.args = [_through(arg) if isinstance(arg, SHOWN) else arg for arg in node.args]
        return _through(node)

    def visit_Await(self, node: ast.Await) -> ast.AST:
        self.inner(node)
        return _through(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.inner(node)
        node.left = _through(node.left) if isinstance(node.left, SHOWN) else node.left
        node.comparators = [_through(each) if isinstance(each, SHOWN) else each for each in node.comparators]
        return node


def insert_guards(tree: ast.Module) -> None:
    Guard().visit(tree)


def install_nothing() -> None:
    """If no object of the code reaches the tests there is nothing to check."""
    setattr(builtins, GIVEN, lambda value: value)


def install(given_files: frozenset[str], *, any_is_known: bool) -> None:
    """Make `given` available to test code under a name that no code can write. `any_is_known`: tests use `mock.ANY`."""

    def is_trusted(way: object) -> bool:
        file = getattr(getattr(way, "__code__", None), "co_filename", "")
        if file.endswith("unittest/mock.py"):
            return any_is_known
        return os.path.abspath(file) in given_files or "/site-packages/" in file

    def check_given(value: object) -> object:
        if type(value) not in PLAIN and _lies(value, is_trusted, 0):
            raise AssertionError(f"a value of {type(value).__name__!r} agrees with everything it is compared to")
        return value

    setattr(builtins, GIVEN, check_given)


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _through(node: ast.expr) -> ast.expr:
    # Each node gets its location here: filling gaps in the whole tree would spoil what pytest left open on purpose.
    call: ast.expr = copy_location(ast.Call(func=ast.Name(id=GIVEN, ctx=ast.Load()), args=[node], keywords=[]), node)
    return call


def _lies(value: object, trusted: Callable[[object], bool], depth: int) -> bool:
    kind = type(value)
    if kind in PLAIN or depth > DEEPEST:
        return False
    if kind in (list, tuple, set, frozenset, dict):
        inner: list[object] = [*value.keys(), *value.values()] if isinstance(value, dict) else list(value)  # type: ignore[call-overload]
        return any(_lies(each, trusted, depth + 1) for each in inner[:LOOKED_AT])
    own = {name for name in OWN_WAYS if (way := _way(kind, name)) is not None and not trusted(way)}
    return bool(own) and _contradicts_itself(value, own)


def _way(kind: type, name: str) -> object:
    """This class's method `name`, unless it is a builtin's."""
    for base in type.__getattribute__(kind, "__mro__"):
        if name in vars(base):
            way = vars(base)[name]
            # A different builtin method under this name does not count as builtin: `__eq__ = int.__ne__`.
            return None if isinstance(way, WrapperDescriptorType) and way.__name__ == name else way
    return None


def _contradicts_itself(value: object, own: set[str]) -> bool:
    families = _families()
    if "__eq__" in own and any(_always(lambda p: value == p, family) for family in families):
        return True
    for numbers in families[:3]:
        if own & {"__lt__", "__le__"} and own & {"__gt__", "__ge__"}:
            less, more = (lambda p: value < p or value <= p), (lambda p: value > p or value >= p)
            if _always(less, numbers) and _always(more, numbers):
                return True
        near = {"__sub__": lambda p: abs(value - p) < 0.01, "__rsub__": lambda p: abs(p - value) < 0.01}
        one = {"__truediv__": lambda p: value / p == 1, "__rtruediv__": lambda p: p / value == 1}
        if any(_always(claim, numbers) for name, claim in {**near, **one}.items() if name in own):
            return True
    return False


def _always(claim: Callable[[object], object], values: Iterable[object]) -> bool:
    try:
        return all(bool(claim(each)) for each in values)
    except Exception:
        return False


def _families() -> list[list[object]]:
    """Different values of one kind, chosen unpredictably."""
    lot = [int.from_bytes(os.urandom(4), "big") for _ in range(12)]
    small: list[object] = [2, 3, *{number % 1000 + 4 for number in lot}]
    large: list[object] = [(-1) ** number * number for number in lot]
    parts: list[object] = [number / 7 + 0.1 for number in lot]
    words: list[object] = ["", "a", *(f"{number:x}" for number in lot)]
    lists: list[object] = [[], [1], *([number] for number in lot)]
    pairs: list[object] = [(), (1,), *((number, "x") for number in lot)]
    maps: list[object] = [{}, *({number: 1} for number in lot)]
    sets: list[object] = [set(), *({number} for number in lot)]
    return [small, large, parts, words, lists, pairs, maps, sets, [None, object()], [True, False]]
