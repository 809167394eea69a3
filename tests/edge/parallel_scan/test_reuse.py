"""A kept result is used again only where a scan without a cache would find the same."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.types import Scan, SourceFile
from moot.edge.parallel_scan import scan_groups
from moot.edge.parallel_scan.cache import Cache
from moot.scan.groups import groups, merge_scans

MOST_FILES = 6
"""Pieces of three files with three beside them: most of a tree of twelve is context somewhere."""
BREAK = "\n"
HEAD = "import os\nimport shlex\nimport ssl\nfrom flask import request\n"
NAMES = ["take", "clean", "send", "fetch"]
VIEW = "def view{n}():\n    os.system('ls ' + {one}({other}(request.args['q'])))\n"
BOX = """class Box:
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value
"""
BODIES = [
    "    return value\n",
    "    return shlex.quote(value)\n",
    "    return 'x'\n",
    "    os.system('ls ' + value)\n    return value\n",
    "    return request.args['q']\n",
    "    return {other}(value)\n",
    "    {other}(value)\n    return value\n",
    "    for part in value:\n        {other}(part)\n",
    "    def inner(more):\n        return {other}(more + value)\n\n    return inner(value)\n",
    "    global LIMIT\n    LIMIT = value\n    return LIMIT\n",
    "    if value not in ('a', 'b'):\n        raise ValueError\n    return value\n",
    "    return Box(value).get()\n",
    "    ssl.SSLContext(ssl.PROTOCOL_SSLv23)\n    return value\n",
    "    '''OP_NO_SSLv3'''\n    return {other}(value)\n",
    "    import {module}\n    return {module}.take(value)\n",
    "    view0()\n    return v0.os\n",
]
BLOCKS = [
    "LIMIT = 'x'\n",
    "LIMIT = {other}('x')\n",
    "LIMIT = {other}(request.args['l'])\n",
    "os.system({other}(request.args['m']))\n",
    "take = {other}\n",
    "if LIMIT:\n    def send(value):\n        return {other}(value)\n",
    "def clean(value, run={other}): return run(value)\n",
    BOX,
    BOX.replace("= value", "= {other}(value)"),
    BOX.replace("return self.value", "return 'x'"),
    "def wrap(view):\n    def inner(value):\n        return view({other}(value))\n\n    return inner\n",
    "@wrap\ndef fetch(value):\n    os.system(value)\n    return value\n",
    "# moot: ignore[*] it is fine\n",
    "\n\n\n",
    "x = '''\n",
    "from {module} import *\n",
    "from {module} import take, send\n",
    "import {module}\n",
    "import v0\nfrom v1 import view0\n",
]  # fmt: skip
VIEWS = [f"v{n}" for n in range(6)]
MODULES = [f"w{n}" for n in range(6)]
SHADOWS = ["flask", "shlex", "os", "w3", "w3/__init__", "w5/take"]
HEAD += "".join(f"import {module}\nfrom {module} import take, clean\n" for module in ("w3", "w4", "w5"))

others = st.sampled_from([*NAMES, *(f"{module}.{name}" for module in MODULES[3:] for name in NAMES)])
modules = st.sampled_from(MODULES)
functions = st.builds(
    lambda name, body, other, module: f"def {name}(value):\n{body.format(other=other, module=module)}",
    st.sampled_from(NAMES),
    st.sampled_from(BODIES),
    others,
    modules,
)
blocks = st.builds(
    lambda block, other, module: block.format(other=other, module=module), st.sampled_from(BLOCKS), others, modules
)
views = st.builds(lambda one, other: VIEW.format(n=0, one=one, other=other), others, others)
parts = st.one_of(functions, functions, functions, blocks, views)
Tree = dict[str, list[str]]
places = st.integers(0, 30)


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Views, and behind them modules that they use: the last of these are passive beside all others."""
    tree: Tree = {f"p/{name}.py": [HEAD, *draw(st.lists(views, min_size=1, max_size=2))] for name in VIEWS}
    for name in MODULES:
        bodies = [draw(functions).partition("\n")[2] for _ in NAMES]
        own = [f"def {known}(value):\n{body}" for known, body in zip(NAMES, bodies, strict=True)]
        tree[f"p/{name}.py"] = ["import os\nimport shlex\nimport ssl\nfrom flask import request\n", *own]
        tree[f"p/{name}.py"][1:1] = draw(st.lists(blocks, max_size=1))
    return tree


def edit(tree: Tree, kind: str, at: int, place: int, part: str) -> None:
    path = sorted(tree)[-1 - at]  # the last ones: they are context of others
    chunks = tree[path]
    chosen = place % len(chunks)
    match kind:
        case "change":
            chunks[chosen] = part
        case "body":
            chunks[chosen] = f"{chunks[chosen].partition(BREAK)[0]}{BREAK}{part.partition(BREAK)[2]}"
        case "rename":
            chunks[chosen] = chunks[chosen].replace("def take", "def taken").replace("clean", "f")
        case "remove":
            chunks[chosen] = ""
        case "add":
            chunks.insert(chosen, part)
        case "append":
            chunks.append(re.sub(r"^def \w+", f"def added{place % 3}", part))
        case "move":
            chunks.insert(chosen, BREAK * (1 + place % 3))
        case "file":
            tree[f"p/{SHADOWS[place % len(SHADOWS)]}.py"] = [HEAD, part]
        case "forget" if len(tree) > MOST_FILES + 1:
            del tree[path]


def scan(tree: Mapping[str, Sequence[str]], cache: Cache | None) -> Scan:
    files = [SourceFile(path=path, language="python", text="\n\n".join(tree[path])) for path in sorted(tree)]
    asked = groups(files, MOST_FILES)
    return merge_scans(files, zip(asked, scan_groups(asked, 1, cache, lambda _: None), strict=True))


KINDS = ["change", "body", "body", "body", "rename", "remove", "add", "append", "append", "move", "file", "forget"]
edits = st.tuples(st.sampled_from(KINDS), st.integers(0, 6), places, parts)


@settings(max_examples=40, deadline=None)
@given(trees(), st.lists(edits, min_size=1, max_size=6))
def test_after_any_edits_the_cache_changes_nothing(tree: Tree, steps: list[tuple[str, int, int, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        scan(tree, Cache(Path(folder)))
        for step in steps:
            edit(tree, *step)
            assert scan(tree, Cache(Path(folder))) == scan(tree, None)
