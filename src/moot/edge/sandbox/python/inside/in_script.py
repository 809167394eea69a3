"""Inside the sandbox: test files without test functions: bare assertions, and `check(candidate)`."""

from __future__ import annotations

import _ast as ast
import builtins
import os
import sys
from types import FunctionType, ModuleType

from moot.edge.sandbox.python.inside.in_tree import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

ENDS = (ast.Return, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class ScriptSetting:
    """What a test file may assume: the code's modules, and the function that is meant."""

    def __init__(self, modules: list[str], entry: str, unittest: Any, doctest: Any) -> None:
        self.modules, self.entry, self.unittest, self.doctest = modules, entry, unittest, doctest

    def names(self, used: frozenset[str] | None = None) -> dict[str, object]:
        """The public names of the code, for a file that uses them without an import."""
        found: dict[str, object] = {}
        for module in self._load_modules():
            found |= {name: value for name, value in vars(module).items() if not name.startswith("_")}
        return found if used is None else {name: value for name, value in found.items() if name in used}

    def candidate(self) -> object:
        names = self.names()
        if self.entry:
            if self.entry not in names:
                raise LookupError(f"the code has no {self.entry!r}")
            return names[self.entry]
        own = {module.__name__ for module in self._load_modules()}
        functions = {n: f for n, f in names.items() if isinstance(f, FunctionType) and f.__module__ in own}
        used = {name for own_name, f in functions.items() for name in f.__code__.co_names if name != own_name}
        meant = [name for name in functions if name not in used]
        if len(meant) != 1:
            raise LookupError(f"which function is meant? The code has {', '.join(sorted(functions)) or 'none'}")
        return functions[meant[0]]

    def _load_modules(self) -> list[ModuleType]:
        return [__import__(name) for name in self.modules]


def script_cases(path: str, tree: ast.Module, setting: ScriptSetting) -> list[tuple[str, Callable[[], None]]]:
    """One test for each asserting top-level statement; a failure does not end the file."""
    names: dict[str, Any] = {"__name__": "__main__", "__file__": os.path.abspath(path), "__builtins__": builtins}
    script = _Script(path, names)
    check = _check_function(tree)
    asserting = {node.name for node in tree.body if isinstance(node, DEFINITIONS) and _asserts(node)}
    if not check and not any(_is_test(node, asserting) for node in tree.body):
        return []
    if used := _find_unbound(tree):
        names |= {name: value for name, value in setting.names(used).items() if name not in names}
    cases = script.cut(tree.body, asserting, "line ")
    if check is None:
        return cases
    parameter = check.args.args[0].arg

    def prepare() -> None:
        names.setdefault(parameter, setting.candidate())

    if any(isinstance(node, ENDS) for node in walk(check)):
        return [*cases, (f"{path}::check", script.whole(check, prepare))]
    return [*cases, *script.cut(check.body, asserting, "check, line ", prepare)]


class _Script:
    def __init__(self, path: str, names: dict[str, Any]) -> None:
        self._path, self._names = path, names
        self._before: list[ast.stmt] = []

    def cut(
        self, body: Sequence[ast.stmt], asserting: set[str], word: str, prepare: Callable[[], None] | None = None
    ) -> list[tuple[str, Callable[[], None]]]:
        """Each assertion with the statements before it."""
        cases = []
        for node in body:
            self._before.append(node)
            if _is_test(node, asserting):
                cases.append((f"{self._path}::{word}{node.lineno}", self._body(self._before, prepare)))
                self._before = []
        return cases

    def whole(self, check: ast.FunctionDef, prepare: Callable[[], None]) -> Callable[[], None]:
        first, name, parameter = self._body(self._before, prepare), check.name, check.args.args[0].arg

        def body() -> None:
            first()
            self._names[name](self._names[parameter])

        return body

    def _body(self, statements: list[ast.stmt], prepare: Callable[[], None] | None) -> Callable[[], None]:
        code = compile(ast.Module(list(statements), []), self._names["__file__"], "exec")

        def body() -> None:
            if prepare:
                prepare()
            main, sys.modules["__main__"] = sys.modules["__main__"], _Namespace("__main__")
            try:
                exec(code, self._names)
            finally:
                sys.modules["__main__"] = main

        return body


class _Namespace(ModuleType):
    """Replaces the runner's own module while a script runs."""


def _check_function(tree: ast.Module) -> ast.FunctionDef | None:
    """`check(candidate)` that nobody calls: the entry point must be passed in."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    calls = [_call_name(node) for top in tree.body if not isinstance(top, DEFINITIONS) for node in walk(top)]
    return found[-1] if found and len(found[-1].args.args) == 1 and "check" not in calls else None


def _is_test(node: ast.stmt, asserting: set[str]) -> bool:
    if isinstance(node, DEFINITIONS):
        return False
    return _asserts(node) or any(_call_name(each) in asserting for each in walk(node))


def _asserts(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Assert) for each in walk(node))


def _call_name(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def _find_unbound(tree: ast.Module) -> frozenset[str]:
    """Names that the file uses but neither defines nor imports."""
    used: set[str] = set()
    bound = set(vars(builtins))
    for node in walk(tree):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (*DEFINITIONS, ast.ExceptHandler)):
            bound.add(node.name or "")
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).split(".")[0])
    return frozenset({name for name in used if not name.startswith("@")} - bound - {"__name__", "__file__"})
