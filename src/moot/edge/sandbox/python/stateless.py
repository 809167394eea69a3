"""Solutions whose calls leave nothing behind: those run one after another in one process.

Any other solution, or a doubtful one, gets a process for each call. The rules are narrow on purpose: functions and
constants only, stateless modules, no access to anything that outlives a call. A solution that gets around them spoils
only its own answers.
"""

import ast
from collections.abc import Sequence
from functools import lru_cache

KEEP_NOTHING = frozenset({
    "__future__", "bisect", "cmath", "collections", "functools", "heapq", "itertools", "math", "numbers", "operator",
    "re", "string", "typing",
})  # fmt: skip
REACH_OUT = frozenset({
    "breakpoint", "compile", "delattr", "eval", "exec", "exit", "getattr", "globals", "help", "input", "locals",
    "memoryview", "open", "quit", "setattr", "vars", "__import__", "__builtins__", "__loader__", "__spec__",
})  # fmt: skip
FORBIDDEN = (ast.ClassDef, ast.Global, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef)
FIXED = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.expr_context)


def leaves_nothing(texts: Sequence[str], calls: Sequence[str]) -> bool:
    """Whether no call can change what a later one sees."""
    return all(map(_keeps_no_state, texts)) and all(map(_is_plain_call, calls))


@lru_cache(maxsize=256)
def _keeps_no_state(text: str) -> bool:
    tree = _parse_code(text, "exec")
    return isinstance(tree, ast.Module) and all(map(_is_plain, tree.body)) and all(map(_is_harmless, ast.walk(tree)))


@lru_cache(maxsize=4096)
def _is_plain_call(call: str) -> bool:
    tree = _parse_code(call, "eval")
    return tree is not None and all(map(_is_harmless, ast.walk(tree)))


def _parse_code(text: str, mode: str) -> ast.AST | None:
    try:
        return compile(text, "<solution>", mode, ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_plain(node: ast.stmt) -> bool:
    """A module-level statement that creates nothing mutable."""
    match node:
        case ast.FunctionDef(decorator_list=[]) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets=targets, value=value):
            return all(isinstance(target, ast.Name) for target in targets) and _is_fixed(value)
        case ast.AnnAssign(target=ast.Name(), value=value):
            return value is None or _is_fixed(value)
        case ast.Expr(value=ast.Constant()) | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
        case _:
            return False


def _is_fixed(value: ast.expr) -> bool:
    return all(isinstance(part, FIXED) for part in ast.walk(value))


def _is_harmless(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return all(alias.name.partition(".")[0] in KEEP_NOTHING for alias in names)
        case ast.ImportFrom(module=module, level=level, names=names):
            known = not level and (module or "").partition(".")[0] in KEEP_NOTHING
            return known and all(alias.name != "*" for alias in names)
        case ast.Attribute(attr=name, ctx=context):
            return isinstance(context, ast.Load) and not name.startswith("_")
        case ast.Name(id=name):
            return name not in REACH_OUT
        case ast.arguments(defaults=defaults, kw_defaults=others):
            return all(each is None or _is_fixed(each) for each in (*defaults, *others))
        case ast.FunctionDef(decorator_list=decorators):
            return not decorators
        case _:
            return not isinstance(node, FORBIDDEN)
