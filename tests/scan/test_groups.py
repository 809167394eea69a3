"""A project in groups: every file is answered for once, files that name each other stay together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.types import Code, Language, Scan, SourceFile
from moot.scan import StaticTeam
from moot.scan.groups import Group, groups, merge_scans
from moot.scan.links import links
from moot.scan.traces import scan_group


def file(path: str, text: str = "", language: Language = "python") -> SourceFile:
    return SourceFile(path=path, language=language, text=text)


@pytest.mark.parametrize(
    ("path", "text", "language", "named"),
    [
        ("a/x.py", "from a.db import find", "python", ["a/db.py"]),
        ("a/x.py", "from . import db", "python", ["a/db.py", "a/__init__.py"]),
        ("a/x.py", "from .db import (\n    find,  # all\n    keep,\n)", "python", ["a/db.py"]),
        ("a/c/x.py", "from ..db import find", "python", ["a/db.py"]),
        ("x.py", "import os, a.db as d", "python", ["a/db.py", "a/__init__.py"]),
        ("b/x.py", "def f():\n    import db", "python", ["b/db.py"]),
        ("a/x.py", "import json", "python", []),
        ("w/x.js", "const q = require('./lib/q')", "javascript", ["w/lib/q.js"]),
        ("w/x.ts", "import {q} from '../w/lib/q.js'", "typescript", ["w/lib/q.js"]),
        ("w/x.ts", "export * from './lib'", "typescript", ["w/lib/index.ts"]),
        ("g/x.go", "package g", "go", ["g/a.go"]),
        ("h/x.go", 'package h\nimport "g"', "go", []),
    ],
)
def test_who_names_whom(path: str, text: str, language: Language, named: list[str]) -> None:
    known = [file("a/__init__.py"), file("a/db.py"), file("b/db.py"), file("z/json.py")]
    known += [file("w/lib/q.js", language="javascript"), file("w/lib/index.ts", language="typescript")]
    known += [file("g/a.go", language="go"), file(path, text, language)]
    assert {known[there].path for here, there in links(known) if here == len(known) - 1} == set(named)


NAMES = st.integers(0, 59)


@given(st.dictionaries(NAMES, st.lists(NAMES, max_size=4), min_size=21, max_size=60), st.integers(2, 30))
def test_each_file_is_answered_for_once_and_no_group_is_too_large(named: dict[int, list[int]], most: int) -> None:
    files = [file(f"p/m{n}.py", "".join(f"from p.m{other} import x\n" for other in named[n])) for n in sorted(named)]
    found = groups(files, most)
    assert sorted(path for group in found for path in group.own) == sorted(f.path for f in files)
    assert all(len(group.files) <= most for group in found)
    assert all(group.own <= {f.path for f in group.files} for group in found)
    whole = groups(files)
    for here, there in links(files):
        assert any({files[here].path, files[there].path} <= group.own for group in whole)


def test_a_flow_into_another_piece_is_told_once() -> None:
    sink = "import sqlite3\n\n\ndef find(name):\n    return sqlite3.connect('a').execute('SELECT ' + name)\n"
    view = "from flask import request\nfrom p.store import find\n\n\ndef x():\n    return find(request.args['q'])\n"
    files = [*(file(f"p/a{n}.py", view) for n in range(6)), file("p/store.py", sink)]
    found = groups(files, 4)
    assert len(found) == 4 and all("p/store.py" in {f.path for f in group.files} for group in found)
    parts = [(group, StaticTeam().scan(Code(files=group.files))) for group in found]
    (finding,) = [f for f in merge_scans(files, parts).findings if f.cwe == 89]
    whole = [f for f in StaticTeam().scan(Code(files=tuple(files))).findings if f.cwe == 89]
    assert [(f.file, f.line, f.fingerprint, f.confidence) for f in whole] == [
        (finding.file, finding.line, finding.fingerprint, finding.confidence)
    ]


def test_a_piece_takes_only_the_files_beside_it_that_are_referred_to_most() -> None:
    files = [file(f"p/lib{n:02}.py", "x = 1\n") for n in range(40)]
    for place in range(40):
        # `lib39` is referred to by all of them, `lib38` by all but one.
        files.append(
            file(f"q/use{place:02}.py", "".join(f"from p.lib{n:02} import x\n" for n in range(39 - place, 40)))
        )
    found = groups(files, 20)
    assert all(len(group.own) <= 10 and len(group.context) <= 6 for group in found)
    first = next(group for group in found if "q/use00.py" in group.own)
    assert first.context == {f"p/lib{n}.py" for n in range(34, 40)}


def test_context_is_passive_if_it_cannot_reach_the_files_reported_on() -> None:
    store = "import db\n\n\ndef find(name):\n    return db.run(name)\n"
    files = [*(file(f"p/a{n}.py", "from p.store import find\n") for n in range(4)), file("p/store.py", store)]
    found = groups([*files, file("p/back.py", "from p import a0\n"), file("p/db.py", "from p import back\n")], 6)
    by_own = {path: group for group in found for path in group.own}
    first = by_own["p/a1.py"]
    assert first.context == {"p/store.py"} and first.passive == {"p/store.py"}
    other = by_own["p/db.py"]
    assert other.context and all(path not in other.passive for path in other.own)


def test_a_passive_file_is_followed_only_where_another_calls_it() -> None:
    sink = "import os\n\n\ndef run(x):\n    os.system('ls ' + x)\n\n\ndef alone(x):\n    os.system('rm ' + x)\n"
    view = "from flask import request\nfrom tool import run\n\n\ndef show():\n    run(request.args['q'])\n"
    code = Code(files=(file("view.py", view), file("tool.py", sink)))
    whole = scan_group(Group(code.files, frozenset({"view.py", "tool.py"}))).scan
    assert {f.line for f in whole.findings if f.cwe == 78} == {5, 9}
    part = scan_group(Group(code.files, frozenset({"view.py"}), frozenset({"tool.py"}))).scan
    assert [(f.file, f.line) for f in part.findings if f.cwe == 78] == [("tool.py", 5)]


def test_no_files_no_groups() -> None:
    assert groups([]) == () and merge_scans([], []) == Scan()
