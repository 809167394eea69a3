"""Finds Python tests that share more with the code than calls and results: files, threads, patches, the interpreter.

Such a test cannot be judged separately. Only its own text decides, so the code has no influence. A test is read with
everything it uses of the given files: helpers, fixtures, its class's set-up, the top of its file.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

FILES, AT_ONCE, INTERPRETER, SAID, PATCHES = (
    "the test shares files or the environment with the code",
    "the test runs the code in threads, processes or an event loop",
    "the test looks into the interpreter",
    "the test looks at warnings or logs of the code",
    "the test patches what the code uses",
)
CHANCE = "the test seeds the code's random numbers"
PLUGIN = "the test uses the fixture {!r} of a plugin"
MODULES = {
    **dict.fromkeys(("os", "pathlib", "tempfile", "shutil", "glob", "fileinput", "zipfile", "tarfile", "sqlite3",
                     "socket", "locale", "mmap", "dbm", "shelve"), FILES),
    **dict.fromkeys(("asyncio", "concurrent", "multiprocessing", "queue", "select", "selectors", "signal", "subprocess",
                     "threading", "_thread", "trio", "anyio", "contextvars"), AT_ONCE),
    **dict.fromkeys(("sys", "gc", "inspect", "importlib", "builtins", "ctypes", "weakref", "pickle", "copyreg",
                     "atexit", "runpy", "tracemalloc", "dis", "resource", "types", "pkgutil", "site"),
                    INTERPRETER),
    **dict.fromkeys(("warnings", "logging"), SAID),
    **dict.fromkeys(("freezegun", "time_machine", "responses", "respx", "pyfakefs"), PATCHES),
}  # fmt: skip
BUILTINS = {"open": FILES, "input": FILES, "__import__": INTERPRETER, "vars": INTERPRETER}
FIXTURES = {
    **dict.fromkeys(("tmp_path", "tmp_path_factory", "tmpdir", "tmpdir_factory", "testdir", "pytester", "pytestconfig"),
                    FILES),
    **dict.fromkeys(("caplog", "recwarn", "capfd", "capfdbinary", "capsysbinary"), SAID),
    **dict.fromkeys(("monkeypatch", "mocker", "freezer"), PATCHES),
}  # fmt: skip
FINE_FIXTURES = frozenset({"capsys", "request", "subtests", "record_property", "doctest_namespace", "self", "cls"})
METHODS = {
    **dict.fromkeys(
        ("assertWarns", "assertWarnsRegex", "assertLogs", "assertNoLogs", "warns", "deprecated_call"), SAID
    ),
    "seed": CHANCE,
}
HARMLESS = {
    "sys": {"maxsize", "version_info", "platform", "float_info", "byteorder", "maxunicode", "hexversion", "path"},
    "types": {"GeneratorType", "FunctionType", "NoneType", "SimpleNamespace", "MappingProxyType"},
    "inspect": {"isgenerator", "isfunction"},
}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = Function | ast.ClassDef


@dataclass(frozen=True)
class SuiteFile:
    path: str
    text: str
    tree: ast.Module
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Name in the file -> module, and the name there."""
    defined: dict[str, Definition] = field(default_factory=dict)
    top: list[ast.stmt] = field(default_factory=list)
    """What runs on import."""


def find_shared_state(texts: Mapping[str, str]) -> dict[str, str]:
    """Test or whole file (`path::Class::name`) -> why it cannot be judged separately."""
    return dict(_find_shared(tuple(sorted(texts.items()))))


@lru_cache(maxsize=64)
def _find_shared(texts: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    files = [file for path, text in texts if (file := _read(path, text)) is not None]
    reader = _Reader(files)
    return tuple(pair for file in files for pair in reader.tests(file))


def _read(path: str, text: str) -> SuiteFile | None:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    file = SuiteFile(path, text, tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            file.imports.update({(a.asname or a.name.split(".")[0]): (a.name, "") for a in node.names})
        elif isinstance(node, ast.ImportFrom):
            file.imports.update({(a.asname or a.name): (node.module or "", a.name) for a in node.names})
    for each in tree.body:
        if isinstance(each, Definition):
            file.defined[each.name] = each
        elif not isinstance(each, ast.Import | ast.ImportFrom) and not _is_start(each):
            file.top.append(each)
    return file


def _is_start(node: ast.stmt) -> bool:
    """`if __name__ == "__main__"`, and the ways a file makes its neighbours importable."""
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    attributes = {each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute)}
    starts = isinstance(node, ast.If) and "__name__" in names
    finds = "__file__" in names or ("sys" in names and "path" in attributes)
    return starts or (finds and "open" not in names)


class _Reader:
    def __init__(self, files: Sequence[SuiteFile]) -> None:
        self._files = {PurePosixPath(file.path).stem: file for file in files}
        self._conftests = [file for file in files if PurePosixPath(file.path).name == "conftest.py"]

    def tests(self, file: SuiteFile) -> Iterator[tuple[str, str]]:
        always = [*file.top, *_automatic(file), *(node for each in self._conftests for node in _automatic(each))]
        for node in always:
            if why := self._why(file, node, set()):
                yield file.path, why
                return
        found = {}
        for node in file.tree.body:
            if isinstance(node, Function) and node.name.startswith("test"):
                found[f"{file.path}::{node.name}"] = self._why(file, node, set(), is_test=True)
            elif isinstance(node, ast.ClassDef):
                found |= self._methods(file, node)
        if found and all(found.values()) and ">>>" not in file.text:
            yield file.path, next(iter(found.values()))
        else:
            yield from ((test, why) for test, why in found.items() if why)

    def _methods(self, file: SuiteFile, kind: ast.ClassDef) -> dict[str, str]:
        tests = [m for m in kind.body if isinstance(m, Function) and m.name.startswith("test")]
        setting = [*(node for node in kind.body if node not in tests), *kind.decorator_list, *kind.bases]
        shared = next((why for node in setting if (why := self._why(file, node, set()))), "")
        return {
            f"{file.path}::{kind.name}::{each.name}": shared or self._why(file, each, set(), is_test=True)
            for each in tests
        }

    def _why(self, file: SuiteFile, node: ast.AST, seen: set[int], *, is_test: bool = False) -> str:
        if id(node) in seen:
            return ""
        seen.add(id(node))
        if is_test and isinstance(node, ast.AsyncFunctionDef):
            return AT_ONCE
        found = next((why for each in ast.walk(node) if (why := _sign(file, each))), "")
        if found:
            return found
        if isinstance(node, Function) and (is_test or _is_fixture(node)) and (why := self._fixtures(file, node, seen)):
            return why
        return next((why for name in _names(node) if (why := self._look_up(file, name, seen))), "")

    def _look_up(self, file: SuiteFile, name: str, seen: set[int]) -> str:
        if name in file.defined:
            return self._why(file, file.defined[name], seen)
        module, member = file.imports.get(name, ("", ""))
        helper = self._files.get(module.split(".")[-1]) or self._files.get(member)
        if helper is None or helper is file:
            return ""
        places = [helper.defined[member]] if member in helper.defined else [*helper.top, *helper.defined.values()]
        return next((why for place in places if (why := self._why(helper, place, seen))), "")

    def _fixtures(self, file: SuiteFile, node: Function, seen: set[int]) -> str:
        given = {text for each in _strings(node.decorator_list) for text in each.replace(",", " ").split()}
        asked = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        for name in asked[: len(asked) - len(node.args.defaults) or None]:
            if name in FIXTURES:
                return FIXTURES[name]
            homes = [each for each in (file, *self._conftests, *self._files.values()) if name in each.defined]
            if homes:
                if why := self._why(homes[0], homes[0].defined[name], seen):
                    return why
            elif name not in given and name not in FINE_FIXTURES and not _draws(node) and not _marks(file, name):
                return PLUGIN.format(name)
        return ""


def _automatic(file: SuiteFile) -> list[Definition]:
    """Fixtures and functions used without being named."""
    return [
        node
        for node in file.defined.values()
        if isinstance(node, Function)
        and (node.name.startswith(("setup", "teardown", "setUpModule", "tearDownModule", "pytest_")) or _is_auto(node))
    ]


def _is_auto(node: Function) -> bool:
    words = [word for each in node.decorator_list if isinstance(each, ast.Call) for word in each.keywords]
    return any(word.arg == "autouse" for word in words)


def _is_fixture(node: Function) -> bool:
    return any("fixture" in ast.unparse(each) for each in node.decorator_list)


def _draws(node: Function) -> bool:
    """Whether a library generates its arguments."""
    return any(ast.unparse(each).split("(")[0].endswith(("given", "parametrize_with")) for each in node.decorator_list)


def _marks(file: SuiteFile, name: str) -> bool:
    """Whether the whole file, or a class, runs with values of this name."""
    marked = [node for node in ast.walk(file.tree) if isinstance(node, ast.Assign | ast.ClassDef)]
    texts = [node.decorator_list if isinstance(node, ast.ClassDef) else [node.value] for node in marked]
    return any(name in each.replace(",", " ").split() for nodes in texts for each in _strings(nodes))


def _strings(nodes: Sequence[ast.AST]) -> Iterator[str]:
    for node in nodes:
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _sign(file: SuiteFile, node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        module, member = _module(file, node.value)
        if _mocks(module, member, node.attr):
            return PATCHES
        if node.attr in METHODS and (node.attr != "seed" or module in ("random", "numpy.random", "numpy")):
            return METHODS[node.attr]
        home = module.split(".")[0] if not member else ""
        return MODULES.get(home, "") if home and node.attr not in HARMLESS.get(home, ()) else ""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return ""
    if node.id not in file.imports:
        return BUILTINS.get(node.id, "") if node.id not in file.defined else ""
    module, member = file.imports[node.id]
    if not member:
        return ""
    if _mocks(module, "", member):
        return PATCHES
    if module == "random" and member == "seed":
        return CHANCE
    home = module.split(".")[0]
    return MODULES.get(home, "") if member not in HARMLESS.get(home, ()) else ""


def _module(file: SuiteFile, node: ast.AST) -> tuple[str, str]:
    """The module that an expression names, with the rest of its path."""
    if isinstance(node, ast.Name):
        return file.imports.get(node.id, ("", ""))
    if isinstance(node, ast.Attribute):
        module, member = _module(file, node.value)
        return (f"{module}.{node.attr}", member) if module else ("", "")
    return "", ""


def _mocks(module: str, member: str, name: str) -> bool:
    inside = f"{module}.{member}".strip(".")
    return "mock" in inside.split(".") and name in ("patch", "mock_open", "create_autospec", "seal")
