"""Inside the sandbox: runs Python tests without pytest: functions, classes, doctests, `unittest` cases, bare
assertions.

Our own because pytest takes longer to start than most tests to run.
"""

from __future__ import annotations

import _ast as ast
import builtins
import io
import os
import sys
from types import FunctionType, ModuleType

from moot.edge.sandbox.python.inside.in_honest import insert_guards
from moot.edge.sandbox.python.inside.in_record import (
    FOREIGN_SKIP,
    TRACE,
    SelectedTests,
    SignedReport,
    TooLong,
    is_foreign,
)
from moot.edge.sandbox.python.inside.in_script import script_cases
from moot.edge.sandbox.python.inside.in_tree import Rewriter, copy_location, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from moot.edge.sandbox.python.inside.in_record import Result

    Case = tuple[str, Callable[[], None]]

SIGNS = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
WHY, LEFT, RIGHT = "@moot_why", "@moot_left", "@moot_right"
KEPT = 2000
HEAD = "Traceback (most recent call last):\n"
NO_PYTEST = "pytest is not installed, and this test asks for its fixtures"


class NeedsPytest(Exception):
    """The test never began: that says nothing about the code."""


def run(tests: list[str], record: SignedReport, given: frozenset[str], setting: Any, chosen: SelectedTests) -> int:
    """Every test of these files in order; `unittest` cases come last."""
    setattr(builtins, WHY, _why)
    record.seal()
    cases: list[Case] = []
    unit_cases: list[Any] = []
    for number, path in enumerate(tests):
        if chosen.needs(path, record):
            continue
        try:
            text = _text(path)
            tree = _tree(text, path)
            script = [] if _holds_tests(tree, text) else script_cases(path, tree, setting)
            cases += script
            chosen.whole |= {name for name, _ in script}
            if script:
                continue
            # Even without a test in it: a file that cannot be loaded is worth reporting.
            module = _load(tree, path, f"moot_tests_{number}")
            cases += _function_cases(path, module)
            cases += _doctest_cases(path, module, setting.doctest) if setting.doctest else []
            unit_cases += setting.unittest.cases_of(path, module) if setting.unittest else []
        except BaseException as problem:
            record.report_done(path, "error", trace(problem))
    if record.link is not None:
        record.link.finish_loading()
    cases = [case for case in _apart(cases) if chosen.runs(case[0], record)]
    unit_cases = [case for case in unit_cases if chosen.runs(case[0], record)]
    record.report_found([name for name, _ in (*cases, *unit_cases)])
    for name, body in cases:
        if chosen.wants(name):
            record.report_started(name)
            record.report_ended(name, _attempt(body, given))
        elif chosen.leads_on(name):
            _attempt(body, given)
    unit_cases = [(name, case) for name, case in unit_cases if chosen.wants(name)]
    if unit_cases:
        setting.unittest.run_cases(unit_cases, record, given)
    return 0 if record.clean else 1


def trace(problem: BaseException) -> str:
    """As Python prints it, without the frames of this runner."""
    import traceback

    try:
        told = traceback.TracebackException.from_exception(problem)
        _without_own(told)
        if code := getattr(problem, "__dict__", {}).get(TRACE):
            return f"{HEAD}{''.join(told.stack.format())}{code}{''.join(told.format_exception_only())}"
        return "".join(told.format())
    except Exception:
        return type(problem).__name__


def _without_own(told: Any) -> None:
    own = os.path.dirname(os.path.abspath(trace.__code__.co_filename))
    told.stack[:] = [frame for frame in told.stack if not os.path.abspath(frame.filename).startswith(own)]
    for more in (told.__cause__, told.__context__):
        if more is not None:
            _without_own(more)


class _Tail(io.RawIOBase):
    """The last part of a test's output."""

    def __init__(self) -> None:
        self.kept = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.kept = (self.kept + bytes(data))[-KEPT:]
        return len(data)

    def fileno(self) -> int:
        return 2


def _attempt(body: Callable[[], None], given: frozenset[str]) -> Result:
    tail, usual = _Tail(), (sys.stdout, sys.stderr)
    heard = io.TextIOWrapper(io.BufferedWriter(tail), "utf-8", "replace", write_through=True)
    sys.stdout = sys.stderr = heard
    try:
        body()
        result: Result = ("passed", "")
    except TooLong:
        result = ("timeout", "")
    except NeedsPytest:
        result = ("error", NO_PYTEST)
    except BaseException as problem:
        result = _classify_failure(problem, given)
    finally:
        sys.stdout, sys.stderr = usual
    try:
        heard.flush()
    except BaseException:
        tail.kept += b""
    printed = tail.kept.decode("utf-8", "replace")
    return (result[0], f"{result[1]}\n--- printed ---\n{printed}") if printed and result[0] != "passed" else result


def _classify_failure(problem: BaseException, given: frozenset[str]) -> Result:
    kind = sys.modules.get("unittest.case")
    if kind is None or not isinstance(problem, kind.SkipTest):
        return "failed", trace(problem)
    last = problem.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    where = last.tb_frame.f_code.co_filename if last else ""
    return FOREIGN_SKIP if is_foreign(where, given) else ("skipped", str(problem))


def _apart(cases: list[Case]) -> list[Case]:
    """Two assertions may be on one line: make test names unique."""
    seen: dict[str, int] = {}
    named: list[Case] = []
    for name, body in cases:
        seen[name] = seen.get(name, 0) + 1
        named.append((name if seen[name] == 1 else f"{name} #{seen[name]}", body))
    return named


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def _tree(text: str, path: str) -> ast.Module:
    tree = parse(text, os.path.abspath(path))
    _Explained().visit(tree)
    insert_guards(tree)
    return tree


def _holds_tests(tree: ast.Module, text: str) -> bool:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    named = [node for node in tree.body if isinstance(node, functions) and node.name.startswith("test")]
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = [m for c in classes for m in c.body if isinstance(m, functions) and m.name.startswith("test")]
    return bool(named or methods or ">>>" in text)


def _load(tree: ast.Module, path: str, name: str) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = os.path.abspath(path)
    sys.modules[name] = module
    # moot: ignore[python-eval] running the code under test is the purpose, inside the sandbox
    exec(compile(tree, module.__file__, "exec"), vars(module))
    return module


def _function_cases(path: str, module: ModuleType) -> list[Case]:
    cases: list[Case] = []
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType) and name.startswith("test"):
            cases.append((f"{path}::{name}", _wrap_call(value)))
        elif isinstance(value, type) and name.startswith("Test") and not hasattr(value, "assertEqual"):
            methods = [each for each in vars(value) if each.startswith("test")]
            cases += [(f"{path}::{name}::{method}", _on_instance(value, method)) for method in methods]
    return cases


def _on_instance(kind: type, method: str) -> Callable[[], None]:
    def body() -> None:
        bound = getattr(kind(), method)
        _wrap_call(bound)()

    return body


def _wrap_call(function: Any) -> Callable[[], None]:
    def body() -> None:
        if _asks_for_fixtures(function):
            raise NeedsPytest
        given = function()
        if hasattr(given, "cr_await"):
            import asyncio

            asyncio.run(given)

    return body


def _asks_for_fixtures(function: Any) -> bool:
    """A decorated test may fill in its own parameters: its wrapper is what is called."""
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return False
    return bool(code.co_argcount - len(plain.__defaults__ or ()) > (plain is not function))


def _doctest_cases(path: str, module: ModuleType, doctest: Any) -> list[Case]:
    def body_of(test: Any) -> Callable[[], None]:
        def body() -> None:
            said: list[str] = []
            if doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed:
                raise AssertionError("".join(said))

        return body

    found = [test for test in doctest.DocTestFinder().find(module, path) if test.examples]
    names = [test.name.removeprefix(path).removeprefix(".") for test in found]
    return [(f"{path}::{name or 'module'} (doctest)", body_of(test)) for name, test in zip(names, found, strict=True)]


class _Explained(Rewriter):
    """Makes a failing assertion show its values."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        self.inner(node)
        said = [node.msg] if node.msg else []
        if isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
            sign = SIGNS[type(node.test.ops[0])]
            first = [_store(LEFT, node.test.left), _store(RIGHT, node.test.comparators[0])]
            node.test = ast.Compare(_name(LEFT), node.test.ops, [_name(RIGHT)])
            shown: list[ast.expr] = [ast.Constant(sign), _name(LEFT), _name(RIGHT)]
        else:
            first = [_store(LEFT, node.test)]
            node.test = _name(LEFT)
            shown = [ast.Constant(""), _name(LEFT), ast.Constant(None)]
        node.msg = ast.Call(_name(WHY), [*shown, *said], [])
        _place(node)
        return [copy_location(each, node) for each in (*first, node)]


def _place(node: ast.Assert) -> None:
    for part in (node.test, node.msg):
        if part is not None:
            copy_location(part, node)


def _name(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _store(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _why(sign: str, left: object, right: object, said: object = "") -> str:
    seen = f"assert {_safe_repr(left)} {sign} {_safe_repr(right)}" if sign else f"assert {_safe_repr(left)}"
    return f"{said}\n{seen}" if said else seen


def _safe_repr(value: object) -> str:
    try:
        text = repr(value)
    except BaseException as problem:
        return f"<{type(value).__name__} whose repr raises {type(problem).__name__}>"
    return text if len(text) <= 600 else f"{text[:300]} … {text[-300:]}"
