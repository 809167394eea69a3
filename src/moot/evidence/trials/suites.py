"""Tests as a value: files that were given, examples of a task's text, tests that an agent wrote."""

import ast
import re
from collections.abc import Iterator, Sequence

from moot.core.types import Tests, Value
from moot.evidence.trials.examples import compared, examples_in, literal_call
from moot.evidence.trials.values import Difficulty, Example, TestCategory, TestOrigin

KINDS: dict[str, TestCategory] = {
    "functional": "functional", "typical": "functional", "normal": "functional", "happy": "functional",
    "edge": "edge_case", "boundar": "edge_case", "corner": "edge_case", "empty": "edge_case", "limit": "edge_case",
    "error": "error_handling", "exception": "error_handling", "invalid": "error_handling", "raises": "error_handling",
    "performance": "performance", "large": "performance", "slow": "performance", "scal": "performance",
    "security": "security", "inject": "security", "malicious": "security",
    "concurren": "concurrency", "thread": "concurrency", "race": "concurrency", "parallel": "concurrency",
}  # fmt: skip
"""How a word that names a category may begin."""
GRADES: dict[str, Difficulty] = {"basic": "basic", "moderate": "moderate", "advanced": "advanced", "expert": "expert"}
BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):])\s+")
LABEL = re.compile(r"^[\[(*_]*(?P<said>[A-Za-z][A-Za-z _-]{3,30}?)[\])*_]*\s*(?::|[-–—]\s)[\])*_]*\s*")
Function = ast.FunctionDef | ast.AsyncFunctionDef
MOST_TESTS = 60
TRUTHS = {"assertTrue": "True", "assertFalse": "False", "assertIsNone": "None"}


class SuiteTest(Value):
    """One test: a call and what must come of it, or a text that is run as it is."""

    name: str
    example: Example | None = None
    text: str = ""
    origin: TestOrigin = "given"
    category: TestCategory = "functional"
    difficulty: Difficulty = "basic"


class TestSuite(Value):
    """`given` are files that somebody else answers for; `made` are single tests that can be judged one by one."""

    __test__ = False

    given: Tests | None = None
    made: tuple[SuiteTest, ...] = ()

    @property
    def examples(self) -> tuple[Example, ...]:
        return tuple(test.example for test in self.made if test.example)

    def counted(self) -> dict[TestCategory, int]:
        """How many of the single tests are of each category."""
        kinds = [test.category for test in self.made]
        return {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}


def of_files(tests: Tests) -> TestSuite:
    return TestSuite(given=tests)


def of_task(text: str, name: str | None = None) -> TestSuite:
    """The examples that the text of a task gives."""
    return TestSuite(made=tuple(of_example(example) for example in examples_in(text, name)))


def of_reply(text: str, origin: TestOrigin = "agent") -> TestSuite:
    """The tests in what an agent wrote: Python, or lines that say `f(2) == 4` in any of the usual ways; each once."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = _of_lines(text, origin)
    else:
        found = _of_module(tree, text.split("\n"), origin)
    once: dict[tuple[str, str, str], SuiteTest] = {}
    for test in found:
        said = test.example
        once.setdefault((said.call, said.expected, said.raises) if said else ("", test.text, ""), test)
        if len(once) == MOST_TESTS:
            break
    return TestSuite(made=tuple(once.values()))


def of_example(example: Example) -> SuiteTest:
    return SuiteTest(
        name=example.call,
        example=example,
        origin=example.origin,
        category=example.category,
        difficulty=example.difficulty,
    )


class _Page:
    """The lines of a reply, and what their comments say of the tests below or beside them."""

    def __init__(self, lines: Sequence[str], origin: TestOrigin) -> None:
        self._lines = lines
        self._origin = origin
        self.head: list[str] = []
        """Imports, values and helpers that the texts need."""

    def of_call(self, call: str, expected: str, raises: str, line: int) -> SuiteTest:
        said = self._said(line)
        kind = category_in(said) or ("error_handling" if raises else "functional")
        example = Example(call=call, expected=expected, raises=raises, origin=self._origin, category=kind)
        return of_example(example.model_copy(update={"difficulty": difficulty_in(said)}))

    def of_text(self, node: ast.stmt, name: str = "") -> SuiteTest:
        said = f"{name.replace('_', ' ')} {self._said(node.lineno)}"
        return SuiteTest(
            name=name or ast.unparse(node)[:200],
            text="\n".join([*self.head, ast.unparse(node)]) + "\n",
            origin=self._origin,
            category=category_in(said) or "functional",
            difficulty=difficulty_in(said),
        )

    def _said(self, number: int) -> str:
        """The comment on this line, else the last line above that is nothing but one."""
        own = self._lines[number - 1].partition("#")[2]
        if category_in(own):
            return own
        above = (line.strip() for line in reversed(self._lines[: number - 1]))
        return next((line for line in above if line.startswith("#") and category_in(line)), own)


def category_in(said: str) -> TestCategory | None:
    for word in re.findall(r"[a-z]+", said.lower()):
        if kind := next((kind for start, kind in KINDS.items() if word.startswith(start)), None):
            return kind
    return None


def difficulty_in(said: str) -> Difficulty:
    return next((GRADES[word] for word in re.findall(r"[a-z]+", said.lower()) if word in GRADES), "basic")


def _of_module(tree: ast.Module, lines: Sequence[str], origin: TestOrigin) -> Iterator[SuiteTest]:
    page = _Page(lines, origin)
    for node in tree.body:
        if isinstance(node, Function) and node.name.startswith("test"):
            yield from _of_body(node, node.body, node.name, page)
        elif isinstance(node, ast.ClassDef) and any(_is_test(each) for each in node.body):
            yield from _of_class(node, page)
        elif (plain := _plain(node)) is not None:
            yield page.of_call(*plain, node.lineno)
        elif isinstance(node, ast.Assert) or _holds_assert(node):
            yield page.of_text(node)
        elif not isinstance(node, ast.Expr):
            page.head.append(ast.unparse(node))


def _of_class(node: ast.ClassDef, page: _Page) -> Iterator[SuiteTest]:
    methods = [each for each in node.body if isinstance(each, Function) and _is_test(each)]
    plain = [_all_plain(method.body) for method in methods]
    if None in plain:
        yield page.of_text(node, node.name)
        return
    for found in plain:
        yield from (page.of_call(*said, line) for said, line in found or ())


def _of_body(node: ast.stmt, body: Sequence[ast.stmt], name: str, page: _Page) -> Iterator[SuiteTest]:
    """The function's own calls where it does nothing else, for those can be judged one by one; else the function."""
    plain = _all_plain(body)
    if plain is None:
        yield page.of_text(node, name)
        return
    named = category_in(name.replace("_", " "))
    for said, line in plain:
        test = page.of_call(*said, line)
        if named and test.example and test.category == "functional":
            test = of_example(test.example.model_copy(update={"category": named}))
        yield test


def _all_plain(body: Sequence[ast.stmt]) -> list[tuple[tuple[str, str, str], int]] | None:
    stated = [node for node in body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))]
    found = [(plain, node.lineno) for node in stated if (plain := _plain(node)) is not None]
    return found if found and len(found) == len(stated) else None


def _plain(node: ast.stmt) -> tuple[str, str, str] | None:
    """Call, value and error of a statement that only says what comes of a call with literals."""
    match node:
        case ast.Assert(test=test) | ast.Expr(value=ast.Compare() as test):
            pair = compared(test)
            return (*pair, "") if pair else None
        case ast.With(
            items=[ast.withitem(context_expr=ast.Call() as opened)], body=[ast.Expr(value=ast.Call() as call)]
        ):
            error = (
                opened.args[0]
                if len(opened.args) == 1 and ast.unparse(opened.func).lower().endswith("raises")
                else None
            )
            stated = literal_call(ast.unparse(call))
            return (stated, "", error.id) if stated and isinstance(error, ast.Name) else None
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=said), args=[one, *others])):
            if said == "assertRaises" and len(others) > 1 and isinstance(one, ast.Name):
                stated = literal_call(ast.unparse(ast.Call(others[0], list(others[1:]), [])))
                return (stated, "", one.id) if stated else None
            right = ast.unparse(others[0]) if said == "assertEqual" and others else TRUTHS.get(said)
            return (*pair, "") if right and (pair := compared(_equal(one, right))) else None
    return None


def _equal(left: ast.expr, right: str) -> ast.expr:
    return ast.Compare(left, [ast.Eq()], [ast.parse(right, mode="eval").body])


def _is_test(node: ast.stmt) -> bool:
    return isinstance(node, Function) and node.name.startswith("test")


def _holds_assert(node: ast.stmt) -> bool:
    return not isinstance(node, Function | ast.ClassDef) and any(
        isinstance(each, ast.Assert) for each in ast.walk(node)
    )


def _of_lines(text: str, origin: TestOrigin) -> Iterator[SuiteTest]:
    """Line by line, where prose, bullets and arrows make it no Python."""
    heading = ""
    for number, line in enumerate(text.split("\n"), 1):
        stated, label = _unlisted(line)
        own = f"{label} {stated.partition('#')[2]}"
        said = own if category_in(own) else f"{own} {heading}"
        page = _Page([f"# {said}"] * number, origin)
        tests = list(_of_statement(stated, number, page)) or list(_of_prose(stated, number, page))
        if not tests and category_in(line) and len(line) < 80:
            heading = line
        yield from tests


def _unlisted(line: str) -> tuple[str, str]:
    """The line without its bullet, its back-ticks and a label that names a category; and that label."""
    stated = BULLET.sub("", line).strip()
    if (label := LABEL.match(stated)) and category_in(label["said"]):
        return stated[label.end() :].strip().strip("`").strip(), label["said"]
    return stated.strip("`").strip(), ""


def _of_statement(stated: str, number: int, page: _Page) -> Iterator[SuiteTest]:
    try:
        body = ast.parse(stated).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in body:
        if (plain := _plain(node)) is not None:
            yield page.of_call(*plain, number)
        elif isinstance(node, ast.Assert):
            node.lineno = number
            yield page.of_text(node)


def _of_prose(stated: str, number: int, page: _Page) -> Iterator[SuiteTest]:
    for example in examples_in(stated):
        yield page.of_call(example.call, example.expected, example.raises, number)
