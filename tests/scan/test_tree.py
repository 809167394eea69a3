"""A file in its tree: its findings are those it has alone, or the tree explains the difference."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.types import Code, Language, SourceFile
from moot.scan import StaticTeam

LANGUAGES: dict[str, Language] = {"py": "python", "js": "javascript", "ts": "typescript", "go": "go"}
FETCH = "import requests\nfrom flask import request\n\n\ndef show():\n    return requests.get(request.args['u']).text\n"
LOAD = "import pickle\nfrom flask import request\n\n\ndef show():\n    return pickle.loads(request.data)\n"
RUN = (
    "import subprocess\nfrom flask import request\n\n\ndef show():\n    subprocess.run(request.args['c'], shell=True)\n"
)
READ = "const fs = require('fs');\nmodule.exports = (req, res) => fs.readFile(req.query.f, (e, d) => res.end(d));\n"
STUB = {
    "py": "def get(*args): ...\ndef loads(*args): ...\ndef run(*args, **more): ...\n",
    "js": "module.exports = {readFile() {}};\n",
}


def scan(files: dict[str, str]) -> dict[str, set[tuple[str, int]]]:
    given_files = tuple(
        SourceFile(path=path, language=LANGUAGES[path.rpartition(".")[2]], text=text) for path, text in files.items()
    )
    found: dict[str, set[tuple[str, int]]] = {path: set() for path in files}
    for finding in StaticTeam().scan(Code(files=given_files)).findings:
        found[finding.file].add((finding.rule, finding.line))
    return found


@pytest.mark.parametrize(
    ("path", "text", "beside"),
    [
        ("app/main.py", FETCH, "tools/requests.py"),
        ("main.py", FETCH, "tools/http/requests.py"),
        ("app/main.py", LOAD, "app/formats/pickle.py"),
        ("app/main.py", LOAD, "pickle.py"),
        ("app/main.py", RUN, "lib/subprocess.py"),
        ("main.js", READ, "lib/fs.js"),
        ("lib/main.js", READ, "lib/fs.js"),
        ("main.js", READ, "fs.js"),
    ],
)
def test_a_file_that_is_named_like_a_library_does_not_hide_the_library(path: str, text: str, beside: str) -> None:
    alone = scan({path: text})[path]
    assert alone
    assert scan({path: text, beside: STUB[beside.rpartition(".")[2]]})[path] == alone


def test_a_module_of_a_package_does_not_hide_the_library_from_its_neighbours() -> None:
    tree = {"app/__init__.py": "", "app/pickle.py": STUB["py"], "app/main.py": LOAD}
    assert scan(tree)["app/main.py"] == scan({"app/main.py": LOAD})["app/main.py"]


@pytest.mark.parametrize(
    "tree",
    [
        {"pickle.py": STUB["py"], "main.py": LOAD},
        {
            "app/pickle.py": STUB["py"],
            "app/__init__.py": "",
            "app/main.py": LOAD.replace("import pickle", "from . import pickle"),
        },
        {"app/requests/__init__.py": STUB["py"], "app/main.py": FETCH},
        {"lib/fs.js": STUB["js"], "main.js": READ.replace("'fs'", "'./lib/fs'")},
        {"fs/index.js": STUB["js"], "main.js": READ.replace("'fs'", "'./fs'")},
    ],
)
def test_a_file_that_the_import_names_is_the_one_that_is_called(tree: dict[str, str]) -> None:
    assert not any(scan(tree).values())


@pytest.mark.parametrize(
    ("store", "use", "where"),
    [
        ("src/app/db.py", "from app.db import find", "src/app/main.py"),
        ("src/app/db.py", "from .db import find", "src/app/main.py"),
        ("src/app/db.py", "from ..db import find", "src/app/views/main.py"),
        ("src/app/db/__init__.py", "from . import find", "src/app/db/main.py"),
        ("src/app/db.py", "from db import find", "src/app/main.py"),
        ("src/app/db.py", "from app.db import find", "tests/main.py"),
    ],
)
def test_values_still_flow_between_files_that_import_each_other(store: str, use: str, where: str) -> None:
    code = f"{use}\nfrom flask import request\n\n\ndef show(db):\n    find(db, request.args['n'])\n"
    flawed = "def find(db, name):\n    db.execute('SELECT * FROM t WHERE n = %s' % name)\n"
    found = scan({store: flawed, where: code})
    assert ("python-sql-string", 2) in found[store]


NAMES = st.sampled_from(
    ["requests", "pickle", "subprocess", "os", "flask", "json", "helpers", "app", "sqlite3", "yaml"]
)
FOLDERS = st.sampled_from(["", "lib/", "tools/", "a/b/", "tests/"])


@settings(max_examples=60)
@given(st.sampled_from([FETCH, LOAD, RUN]), st.sets(st.tuples(FOLDERS, NAMES), max_size=6))
def test_findings_are_the_same_alone_and_in_the_tree(text: str, others: set[tuple[str, str]]) -> None:
    """No file of the tree lies beside the program, so none can stand in for what it imports."""
    alone = scan({"service/web/main.py": text})["service/web/main.py"]
    tree = {f"{folder}{name}.py": STUB["py"] for folder, name in sorted(others)}
    above = {name for folder, name in others if not folder}
    if above & {"requests", "flask", "yaml"}:
        # A folder above may be on the path before the environment: the tree explains the difference.
        return
    assert scan({**tree, "service/web/main.py": text})["service/web/main.py"] == alone


QUERY = "from flask import request\n\n\ndef find(db, name):\n    return db.execute('SELECT 1 FROM t WHERE ' + name)\n\n"
CLEAN = (
    "import html\nfrom flask import make_response, request\n\n\ndef clean(text):\n    return html.escape(text)\n\n\n"
)
GUARD = """import subprocess
from flask import request


def guard(name):
    if name not in ("a", "b"):
        raise ValueError


"""


def test_harmless_callers_do_not_hide_the_one_that_is_not() -> None:
    harmless = "".join(f"def use{n}(db):\n    find(db, 'name{n}')\n\n\n" for n in range(70))
    flawed = "def view(db):\n    find(db, request.args['n'])\n"
    assert ("python-sql-string", 5) in scan({"a.py": QUERY + flawed + harmless})["a.py"]
    assert ("python-sql-string", 5) in scan({"a.py": QUERY + harmless + flawed})["a.py"]
    assert scan({"a.py": QUERY + harmless})["a.py"] == set()


def test_a_sanitiser_that_is_called_often_stays_one() -> None:
    views = "".join(f"def view{n}():\n    return make_response(clean(request.args['n{n}']))\n\n\n" for n in range(80))
    assert scan({"a.py": CLEAN + views})["a.py"] == set()


def test_a_check_that_is_called_often_stays_one() -> None:
    call = (
        "def view{n}():\n    name = request.args['n{n}']\n    guard(name)\n    subprocess.run(name, shell=True)\n\n\n"
    )
    views = "".join(call.format(n=n) for n in range(80))
    assert scan({"a.py": GUARD + views})["a.py"] == set()


def test_calls_that_are_not_followed_are_reported() -> None:
    many = "".join(f"def view{n}(db):\n    find(db, request.args['n'], 'kind{n}')\n\n\n" for n in range(260))
    text = QUERY.replace("(db, name)", "(db, name, kind)") + many
    gaps = StaticTeam().scan(Code(files=(SourceFile(path="a.py", language="python", text=text),))).not_analysed
    assert [(gap.line, "different ways" in gap.why) for gap in gaps] == [(4, True)]


FRAGMENTS = [
    (path.parent.name, text)
    for path in sorted(Path(__file__).parent.glob("pairs/*/families.txt"))
    for text in re.split(r"(?m)^(?:=== .*\n)?--- (?:before|after)\n", path.read_text(encoding="utf-8"))[1:]
]
SUFFIX = {"python": "py", "javascript": "js", "typescript": "ts", "go": "go"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), min_size=2, max_size=3, unique=True))
def test_fragments_say_the_same_beside_each_other(fragments: list[tuple[str, str]]) -> None:
    """Nothing of one is taken for something of another: neither a name, nor a check, nor a caller."""
    files = {f"part{place}/file{place}.{SUFFIX[kind]}": text for place, (kind, text) in enumerate(fragments)}
    assert scan(files) == {path: scan({path: text})[path] for path, text in files.items()}
