"""Names: a class name means one thing, and functions say what they do."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import moot

PACKAGE = Path(moot.__file__).parent
IRREGULAR = frozenset(
    re.findall(
        r"\w+",
        "told shown hidden given taken written known kept held found said made begun done gone seen spoken "
        "sent built lost left led met heard laid ran came grew became grown drawn chosen broken thrown bound "
        "brought caught taught learnt spent meant felt stood understood won hung worn forgotten driven risen "
        "fallen stuck struck swept withheld upheld rebuilt unbroken unheld undone unread unbound rewritten "
        "proven fed unasked frozen",
    )
)
# End like a participle and are none.
NO_PARTICIPLES = frozenset(
    ("need", "seed", "heed", "embed", "speed", "feed", "exceed", "proceed", "succeed", "shred", "deed")
)
# Functions whose value is that state. Keep it short: an action is named by a verb.
STATES = frozenset({"masked"})
MOST = 0.03


def is_participle(name: str) -> bool:
    word = name.lstrip("_").split("_")[0]
    return word in IRREGULAR or (word.endswith("ed") and len(word) > 3 and word not in NO_PARTICIPLES)


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), ast.parse(path.read_text("utf-8"))


def test_participles_are_told_from_other_words() -> None:
    assert all(map(is_participle, ("told", "_shown_words", "merged", "broken_tests")))
    assert not any(map(is_participle, ("render_diff", "seed", "need_scope", "is_settled", "red")))


def test_no_class_name_is_used_twice() -> None:
    places: dict[str, list[str]] = {}
    for file, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(file)
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_no_public_function_of_a_module_begins_with_a_participle() -> None:
    found = [
        f"{file}: {node.name}"
        for file, tree in trees()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        # The name of a route's function is that of its operation in the HTTP schema.
        if not node.name.startswith("_") and is_participle(node.name) and not is_route(node)
    ]
    assert [each for each in found if each.rpartition(" ")[2] not in STATES] == []


def is_route(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(each).startswith(("router.", "app.")) for each in node.decorator_list)


def test_few_functions_and_methods_begin_with_a_participle() -> None:
    names = Counter(
        is_participle(node.name)
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert names[True] / names.total() < MOST
