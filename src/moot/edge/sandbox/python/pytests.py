"""What Python tests need of their runner: pytest or not, installed packages or not."""

import ast
import sys
from functools import lru_cache
from pathlib import PurePosixPath

from moot.edge.sandbox.layout import Layout

NO_TESTS = frozenset({"conftest.py", "__init__.py"})
PYTEST = frozenset({"pytest", "_pytest"})
ANYTHING = "*"
PREPARES = ("setup", "teardown")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def needs_pytest(layout: Layout) -> bool:
    """Pytest takes longer to start than most tests to run, so it is used only if a file needs it."""
    given = [path for path in layout.tests if path.endswith(".py")]
    return any(PurePosixPath(path).name == "conftest.py" or _asks_for_pytest(layout.files[path]) for path in given)


def needs_packages(layout: Layout) -> bool:
    """Whether any file imports what is neither in the standard library nor beside it."""
    return needs_pytest(layout) or bool(packages(layout))  # in this order: reading a whole project takes minutes


def packages(layout: Layout) -> set[str]:
    """Packages that must be installed; an unreadable file may need anything."""
    texts = [text for path, text in layout.files.items() if path.endswith(".py")]
    own = {part for path in layout.files for part in PurePosixPath(path).with_suffix("").parts}
    trees = [_tree(text) for text in texts]
    wanted = {name for tree in trees if tree for name in _find_imports(tree)} - own - sys.stdlib_module_names
    if any("import_module" in text or "__import__" in text or "subprocess" in text for text in texts):
        wanted.add(ANYTHING)
    return wanted | {"pytest"} if needs_pytest(layout) else wanted


def modules(layout: Layout) -> list[str]:
    """The modules of the code that can be imported by their bare name."""
    paths = [PurePosixPath(path) for path in layout.files if path.endswith(".py") and path not in layout.tests]
    return [p.stem for p in paths if str(p.parent) in layout.front and p.stem.isidentifier() and p.name not in NO_TESTS]


def _asks_for_pytest(text: str) -> bool:
    tree = _tree(text)
    if tree is None:
        return False
    functions = [node for node in tree.body if isinstance(node, Function)]
    methods = [m for c in tree.body if isinstance(c, ast.ClassDef) and not _is_case(c) for m in _tests_of(c)]
    return (
        bool(PYTEST & _find_imports(tree))
        or any(f.name.startswith(PREPARES) for f in (*functions, *methods))
        or any(_parameters(f) > 0 for f in functions if f.name.startswith("test"))
        or any(_parameters(m) > 1 for m in methods if m.name.startswith("test"))
    )


def _tests_of(node: ast.ClassDef) -> list[Function]:
    return [m for m in node.body if isinstance(m, Function)] if node.name.startswith("Test") else []


def _is_case(node: ast.ClassDef) -> bool:
    return any("TestCase" in ast.unparse(base) for base in node.bases)


def _parameters(function: Function) -> int:
    return len(function.args.args) + len(function.args.posonlyargs) - len(function.args.defaults)


def _find_imports(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def find_imports(text: str) -> set[str]:
    tree = _tree(text)
    return _find_imports(tree) if tree else set()


@lru_cache(maxsize=256)
def _tree(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
