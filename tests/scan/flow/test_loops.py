"""Loops: what one iteration leaves reaches the next, and no iteration is run that finds what the one before found."""

import pytest
from samples import scanned

from moot.scan.engine.carried import find_carried
from moot.scan.engine.frontends import lower
from moot.scan.engine.ir import Each, While
from moot.scan.syntax import parse

HEAD = "import os\nfrom flask import request\nLAST = 'x'\nclass Box:\n    pass\n"
SAVE = "def save(value):\n    global LAST\n    LAST = value\n"
CARRIES = [
    "last = 'x'\nfor part in parts:\n    os.system(last)\n    last = request.args['q']",
    "last = 'x'\nwhile parts:\n    os.system(last)\n    last = request.args['q']",
    "last = old = 'x'\nwhile parts:\n    os.system(old)\n    old = last\n    last = request.args['q']",
    "last = 'x'\nfor part in parts:\n    if part:\n        last = 'y'\n    os.system(last)\n"
    "    last = request.args['q']",
    "last = 'x'\nfor part in parts:\n    for more in part:\n        last = 'y'\n    os.system(last)\n"
    "    last = request.args['q']",
    "last = 'x'\nfor part in parts:\n    try:\n        last = open('y').name\n    except OSError:\n        pass\n"
    "    os.system(last)\n    last = request.args['q']",
    "last = ['x']\nfor part in parts:\n    os.system(last[-1])\n    last.append(request.args['q'])",
    "box = Box()\nbox.last = 'x'\nfor part in parts:\n    os.system(box.last)\n    box.last = request.args['q']",
    "for part in parts:\n    os.system(LAST)\n    save(request.args['q'])",
    "last = 'x'\nrun = lambda: os.system(last)\nfor part in parts:\n    run()\n    last = request.args['q']",
    "last = 'x'\nfor part in parts:\n    os.system([last for _ in part][0])\n    last = request.args['q']",
]


@pytest.mark.parametrize("body", CARRIES)
def test_what_an_iteration_leaves_reaches_the_next(body: str) -> None:
    lines = "\n    ".join(body.splitlines())
    text = f"{HEAD}{SAVE}def view(parts):\n    {lines}\n"
    assert [f.rule for f in scanned("python", text).findings if f.rule == "python-os-system"] == ["python-os-system"]


@pytest.mark.parametrize(
    ("loop", "carried"),
    [
        ("for a in b:\n    c = a\n    d(c)", "d"),
        ("for a in b:\n    d(c)\n    c = a", "c d"),
        ("while a:\n    b = a", "a"),
        ("for a in b:\n    if a:\n        c = 1\n    else:\n        c = 2\n    d(c)", "d"),
        ("for a in b:\n    if a:\n        c = 1\n    elif d:\n        e = 2\n    e(c)", "c d e"),
        ("for a in b:\n    if a:\n        c = 1\n    else:\n        continue\n    d(c)", "d"),
        ("for a in b:\n    c += a", "c"),
        ("for a in b:\n    with a as c:\n        d = c\n    e(d)", "e"),
        ("for a in b:\n    try:\n        c = a\n    except d as e:\n        f = e\n    g(c, f)", "c d f g"),
        ("for a in b:\n    for c, *d in a:\n        e(c, d)\n    e(c)", "c e"),
        ("for a in b:\n    import c\n    c.d(a)", ""),
        ("for a in b:\n    c.d = a\n    e[f] = c", "c e f"),
        ("for a in b:\n    c(lambda d: e)", "c e"),
    ],
)
def test_names_that_are_read_before_they_are_set(loop: str, carried: str) -> None:
    statement = lower(parse("a.py", "python", f"{loop}\n")).body[0]
    assert isinstance(statement, Each | While)
    assert find_carried(statement) == set(carried.split())


@pytest.mark.parametrize("loop", ["for {0} in {1}:", "while {1}.{0}:"])
def test_loops_within_loops_take_no_more_steps_than_they_need(loop: str) -> None:
    lines = [f"{' ' * n}{loop.format(f'n{n}', f'n{n - 1}')}" for n in range(1, 18)]
    text = "def walk(n0):\n" + "\n".join(lines) + "\n" + " " * 18 + "print(n0)\n"
    assert scanned("python", text).not_analysed == ()
