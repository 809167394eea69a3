"""What tests reach: lines and branches, counted inside the sandbox and signed like everything else."""

import asyncio

import pytest

from moot.core.measures import Covered
from moot.core.types import Code, Language, SourceFile, Tests
from moot.edge.sandbox import find_sandbox
from moot.testing import one_file

CODE = """def f(x):
    if x > 1:
        return 2
    elif (x
          < 0):
        return 3
    for i in range(x):
        if i: pass
        while i > 5:
            i -= 1
    return 1


def g(items):
    for item in items:
        yield item


def h(x):
    try:
        if int(x):
            return 1
    except ValueError:
        return 2
    match x:
        case "0":
            return 3
        case _:
            return 4
"""


def covered(test: str, code: str | Code = CODE, path: str = "test_app.py", language: Language = "python") -> Covered:
    given = one_file(code) if isinstance(code, str) else code
    return asyncio.run(find_sandbox().cover(given, Tests(files=((path, test),), language=language)))


@pytest.mark.parametrize(
    ("test", "missed", "open_"),
    [
        ("from app import f\ndef test(): assert f(2) == 2\n", {4, 5, 6, 7, 8, 9, 10, 11}, [2, 4, 4, 7, 7, 9, 9]),
        ("from app import f\ndef test(): assert f(2) == 2 and f(1) == 1 and f(-1) == 3\n", {10}, [9]),
        ("from app import f\nassert f(0) == 1\n", {3, 6, 8, 9, 10}, [2, 4, 7, 9, 9]),
    ],
)
def test_lines_and_branches_that_were_never_reached(test: str, missed: set[int], open_: list[int]) -> None:
    (file,) = covered(test).coverage.files
    assert {line for line in file.missed if line < 13} == missed
    assert sorted(line for line in file.open if line < 13) == open_
    assert file.branches == 14 and file.file == "app.py"


def test_a_generator_goes_both_ways_and_an_error_is_no_way_at_all() -> None:
    (file,) = covered(
        "from app import *\ndef test():\n    assert list(g([1])) == [1]\n    assert h('x') == 2\n"
    ).coverage.files
    assert 15 not in file.open and 16 not in file.missed
    assert file.open.count(21) == 2, "int() failed: the condition went neither way"


def test_pytest_unittest_and_scripts_are_watched_alike() -> None:
    forms = (
        "import pytest\nfrom app import g\ndef test(tmp_path): assert list(g([1])) == [1]\n",
        "import unittest\nfrom app import g\nclass T(unittest.TestCase):\n"
        "    def test(self): self.assertEqual(list(g([1])), [1])\n",
        "from app import g\nassert list(g([1])) == [1]\n",
    )
    seen = [covered(form) for form in forms]
    assert all(each.run.passed for each in seen)
    assert len({each.coverage for each in seen}) == 1


def test_threads_are_watched_and_a_test_that_is_broken_off_does_not_blind() -> None:
    test = (
        "import threading\nfrom app import f, g\n"
        "def test_long():\n    while True: f(1)\n"
        "def test_thread():\n    t = threading.Thread(target=f, args=(-1,)); t.start(); t.join()\n"
        "def test_after(): assert list(g([1])) == [1]\n"
    )
    box = find_sandbox(limits=find_sandbox().limits.model_copy(update={"test": 0.5}))
    seen = asyncio.run(box.cover(one_file(CODE), Tests(files=(("test_app.py", test),))))
    assert [o.status for o in seen.run.outcomes] == ["timeout", "passed", "passed"]
    (file,) = seen.coverage.files
    assert 6 not in file.missed and 16 not in file.missed


def test_tests_are_no_part_of_what_is_measured() -> None:
    both = Code(
        files=(
            SourceFile(path="pkg/app.py", language="python", text="x = 1\n"),
            SourceFile(path="pkg/test_app.py", language="python", text="def test_a(): pass\n"),
        )
    )
    seen = covered("from app import x\ndef test(): assert x == 1\n", both, "pkg/test_app.py")
    assert [file.file for file in seen.coverage.files] == ["pkg/app.py"] and seen.coverage.share == 1.0


@pytest.mark.parametrize(
    ("test", "code", "problem", "share"),
    [
        ("def test(): pass\n", "import os\nos._exit(0)\n", "", 0.0),
        ("import app\ndef test(): pass\n", "import os\nos._exit(0)\n",
         "the test process ended with status 0 before its tests did", None),
        ("import app\n", "x = 1\n", "no test was found", None),
        ("import app\ndef test(): pass\n", "def f(:\n", "no file of the code could be watched", None),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said(test: str, code: str, problem: str, share: float | None) -> None:
    seen = covered(test, code).coverage
    assert (seen.problem, seen.share) == (problem, share)


def test_other_languages_are_not_measured() -> None:
    code = one_file("exports.f = () => 1;\n", "app.js", "javascript")
    test = (
        "const t = require('node:test'); const a = require('./app.js');\nt('a', () => { if (a.f() !== 1) throw 1; });\n"
    )
    seen = covered(test, code, "app.test.js", "javascript")
    assert seen.run.passed and "Python only" in seen.coverage.problem and seen.coverage.share is None
