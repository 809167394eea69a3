"""Whatever the text, the Python analysis ends soon and without a crash."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.scan.engine.analyse import analyse
from moot.scan.engine.frontends import lower
from moot.scan.syntax import parse

PIECES = st.sampled_from(
    re.split(
        r"\|",
        'def f(x):\n|    |return x\n|x = |f(x)|(|)|[|]|{|}|\'|"|f"{|if x:\n|else:\n|for a in b:\n|while True:\n|'
        "match x:\n|case 1:\n|try:\n|except:\n|with a as b:\n|lambda x: x|import a.b\n|from . import *\n|"
        "class A(B):\n|self.x|@app.route('/')\n|yield|await |global x\n|\n|+|%|:=|*|**|,|:|\\|request.args|eval(|é|"
        "\0|\t|1|not | in |del x\n",
    )
)


@settings(max_examples=150)
@given(st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=60).map("".join)))
def test_any_text(text: str) -> None:
    analyse([lower(parse("a.py", "python", text))])


N = 3000
HOSTILE = {
    "parentheses": "(" * N + "x" + ")" * N,
    "sums": "eval('a'" + " + x" * N + ")",
    "attributes": "x" + ".a" * N,
    "calls": "f(" * N + ")" * N,
    "chained calls": "x" + ".f()" * N,
    "elif": "if x:\n    a = 1\n" + "".join(f"elif x == {i}:\n    a = {i}\n" for i in range(N)),
    "blocks": "".join(" " * i + "if x:\n" for i in range(300)) + " " * 300 + "y = 1",
    "lists": "[" * N + "]" * N,
    "recursion": "def f(x):\n    return f(x)\nf(1)\n",
    "mutual": "def f(x):\n    return g(x) + g(x)\ndef g(x):\n    return f(x) + f(x)\nf(1)\n",
    "doubling": "".join(f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 1}(x + 'a')\n" for i in range(30)),
    "text": "x = 'a'\n" + "x = x + x\n" * 200,
    "loops": "".join("    " * i + "for a in b:\n" for i in range(20)) + "    " * 20 + "c = a",
    "self import": "import a\nfrom a import *\nfrom . import a\n",
    "own base": "class A(A):\n    pass\nA().x()\n",
    "closures": "def f(x):\n    def g():\n        return f(g)\n    return g\nf(f)()()\n",
    "branches": "".join(f"if x{i}:\n    y = '{i}'\n" for i in range(N)),
    "not": "not " * N + "x",
    "lambdas": "lambda x: " * N + "x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_done_soon(name: str) -> None:
    source = parse("a.py", "python", HOSTILE[name])
    start = time.process_time()
    analyse([lower(source)])
    assert time.process_time() - start < 4
