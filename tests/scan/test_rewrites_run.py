"""Rewritten Python is run: it does what it did, and the attack no longer works."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import repaired

ROWS = [(1, "ann", 30), (2, "bob", 40), (3, "o'hara", 50)]
ATTACK = "x' OR '1' LIKE '1"
QUERIES = [
    "f\"SELECT * FROM t WHERE name = '{name}'\"",
    '"SELECT * FROM t WHERE name = \'" + name + "\'"',
    "\"SELECT * FROM t WHERE name = '%s'\" % name",
    "\"SELECT * FROM t WHERE name = '{}'\".format(name)",
    "f\"SELECT * FROM t WHERE name LIKE '%{name}%'\"",
]


def rows(expression: str, name: str) -> list[tuple[object, ...]]:
    """What a function with this query returns on a small table."""
    space: dict[str, object] = {}
    exec(f"def find(db, name):\n    return db.execute({expression}).fetchall()\n", space)
    return _find(space, name)


def _find(space: dict[str, object], name: str) -> list[tuple[object, ...]]:
    database = sqlite3.connect(":memory:")
    try:
        database.execute("CREATE TABLE t (id INTEGER, name TEXT, age INTEGER)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", ROWS)
        find = space["find"]
        assert callable(find)
        result: list[tuple[object, ...]] = find(database, name)
        return result
    finally:
        database.close()


def rows_after_repair(expression: str, name: str) -> list[tuple[object, ...]]:
    text, repair = repaired(
        "python", f"import sqlite3\ndef find(db, name):\n    return db.execute({expression}).fetchall()\n"
    )
    assert repair.fixed
    space: dict[str, object] = {}
    exec(text, space)
    return _find(space, name)


@pytest.mark.parametrize("expression", QUERIES)
def test_a_bound_query_finds_the_same_rows(expression: str) -> None:
    assert rows_after_repair(expression, "bob") == rows(expression, "bob") == [ROWS[1]]


@pytest.mark.parametrize("expression", QUERIES)
def test_a_bound_query_resists_injection(expression: str) -> None:
    assert len(rows(expression, ATTACK)) == 3
    assert rows_after_repair(expression, ATTACK) == []


@settings(max_examples=60)
@given(st.text(alphabet=st.characters(exclude_characters="'\0", exclude_categories=["Cs"])))
def test_a_bound_query_agrees_on_every_name_without_a_quote(name: str) -> None:
    assert rows_after_repair(QUERIES[0], name) == rows(QUERIES[0], name)


def run(text: str, folder: Path, *arguments: str) -> str:
    script = folder / "script.py"
    script.write_text(text)
    done = subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, check=True, cwd=folder
    )
    return done.stdout


@pytest.mark.parametrize(
    "call",
    [
        'print(subprocess.run("echo hello " + path, shell=True, capture_output=True, text=True).stdout)',
        'print(subprocess.check_output(f"echo hello {path}", shell=True, text=True))',
        'print(os.popen("echo hello " + path).read())',
        'def f(path):\n    cmd = f"echo hello {path}"\n    print(os.popen(cmd).read())\nf(path)',
        'print("".join(os.popen("echo hello %s" % path).readlines()))',
        'print(subprocess.getoutput("echo hello " + path) + "\\n")',
        'def f(path):\n    command = "echo hello " + path\n    os.system(command)\nf(path)\nprint()',
        "import asyncio\nasync def f(path):\n"
        '    p = await asyncio.create_subprocess_shell(f"echo hello {path}", stdout=subprocess.PIPE)\n'
        "    print((await p.communicate())[0].decode())\nasyncio.run(f(path))",
    ],
)
def test_a_command_prints_the_same_and_runs_nothing_else(call: str, tmp_path: Path) -> None:
    before = f"import os, subprocess, sys\npath = sys.argv[1]\n{call}\n"
    after, repair = repaired("python", before)
    assert repair.fixed
    assert run(after, tmp_path, "you") == run(before, tmp_path, "you") == "hello you\n\n"
    run(before, tmp_path, "you; touch owned")
    assert (tmp_path / "owned").exists()
    (tmp_path / "owned").unlink()
    assert "you; touch owned" in run(after, tmp_path, "you; touch owned")
    assert not (tmp_path / "owned").exists()


def test_literals_are_still_read_and_code_is_not(tmp_path: Path) -> None:
    after, _ = repaired("python", "import sys\nvalue = sys.argv[1]\nprint(eval(value))\n")
    assert run(after, tmp_path, "[1, 'a']") == "[1, 'a']\n"
    with pytest.raises(subprocess.CalledProcessError):
        run(after, tmp_path, "__import__('os').getpid()")


@pytest.mark.parametrize("fast", ["md5", "sha1"])
def test_a_password_hash_is_left_for_people_and_the_reason_is_given(fast: str) -> None:
    """Equal passwords must not get equal hashes, and what is stored must still match: no rewrite here does both."""
    before = f"import hashlib\ndef hash_password(p):\n    return hashlib.{fast}(p.encode()).hexdigest()\n"
    after, repair = repaired("python", before)
    assert (after, repair.fixed) == (before, {})
    (reason,) = repair.left.values()
    assert "stored passwords would no longer match" in reason and "random salt kept beside each hash" in reason


def test_a_temporary_name_is_private_and_free(tmp_path: Path) -> None:
    after, _ = repaired("python", 'import tempfile\nprint(tempfile.mktemp(suffix=".txt", dir="."))\n')
    path = tmp_path / run(after, tmp_path).strip()
    assert path.suffix == ".txt" and not path.exists()
    assert os.stat(path.parent).st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("caught", "now"),
    [
        ("NameError", "(NameError, ValueError)"),
        ("(NameError, SyntaxError)", "(NameError, SyntaxError, ValueError)"),
        ("Exception", "Exception"),
        ("(NameError, ValueError)", "(NameError, ValueError)"),
        ("SyntaxError", "SyntaxError"),
    ],
)
def test_a_word_that_is_no_literal_is_caught_as_before(caught: str, now: str) -> None:
    text = "def read(value):\n    try:\n        return eval(value)\n"
    text += f"    except {caught}:\n        return value\n"
    after, repair = repaired("python", text)
    assert repair.fixed and f"except {now}:" in after
    space: dict[str, object] = {}
    exec(after, space)
    read = space["read"]
    assert callable(read) and read("[1, 2]") == [1, 2]
    if "NameError" in caught or caught == "Exception":
        assert read("word") == "word" and read("open('x')") == "open('x')"
