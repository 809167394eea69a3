"""Whatever the text, the analysis of JavaScript ends soon and without a crash."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.scan.engine.analyse import analyse
from moot.scan.engine.frontends import lower
from moot.scan.syntax import parse, words

PIECES = st.sampled_from(
    [
        *sorted(words("( ) [ ] { } , ; : . => = == + ? ?. ... ` ${ ' / < > a b req x 1 'text' [] {} async await new")),
        "function f(a) {", "class A extends B {", "if (x) ", "else ", "for (const a of b) ", "switch (x) { case 1: ",
        "try {", "} catch (e) {", "return ", "const x = ", "x.push(", "x.map(a => a)", "x[0] = ", "x.length", "eval(",
        "req.query.x", "res.send(", "db.query(", "import a from 'b'\n", "require('fs')", ".then(v => ", "\n", "<a b={",
        "x.replace(/</g, '')", "delete x.y", "this.x = ", "export default ", "yield ", "...x", "len = ", "x.y = ",
    ]
)  # fmt: skip
N = 3000
HOSTILE = {
    "parentheses": "(" * N + "x" + ")" * N,
    "sums": "eval('a'" + " + x" * N + ")",
    "templates": "`${" * 500 + "x" + "}`" * 500,
    "attributes": "x" + ".a" * N,
    "promises": "x" + ".then(a => a)" * 500,
    "callbacks": "f(a => " * 500 + "a" + ")" * 500,
    "else if": "if (x) a = 1;" + "".join(f"else if (x == {i}) a = {i};" for i in range(N)),
    "blocks": "if (x) {" * 300 + "y = 1" + "}" * 300,
    "lists": "[" * N + "]" * N,
    "recursion": "function f(x) { return f(x) }\nf(1)",
    "mutual": "function f(x) { return g(x) + g(x) }\nfunction g(x) { return f(x) + f(x) }\nf(1)",
    "doubling": "".join(f"function f{i}(x) {{ return f{i + 1}(x) + f{i + 1}(x + 'a') }}\n" for i in range(30)),
    "text": "x = 'a'\n" + "x = x + x\n" * 200,
    "loops": "for (const a of b) {" * 20 + "c = a" + "}" * 20,
    "own base": "class A extends A { m() { return this.m() } }\nnew A().m()",
    "closures": "function f(x) { const g = () => f(g); return g }\nf(f)()()",
    "branches": "".join(f"if (x{i}) y = '{i}';\n" for i in range(N)),
    "cases": "switch (x) {" + "".join(f"case {i}: y = {i}; break;\n" for i in range(N)) + "}",
    "lists with gaps": "const a = [1]; a[7] = 2; a.name = 'x'; a.push(3); f(a.length, ...a); const [b] = a",
    "numbers": "x = 1" + " * 1e308" * 50 + " << 1e9; y = 'a'.repeat(1e9); z = 2 ** 1e9",
}


@settings(max_examples=200)
@given(st.text(max_size=200) | st.lists(PIECES, max_size=60).map(" ".join), st.sampled_from(["a.js", "a.ts", "a.tsx"]))
def test_any_text(text: str, path: str) -> None:
    analyse([lower(parse(path, "javascript" if path == "a.js" else "typescript", text))])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_done_soon(name: str) -> None:
    source = parse("a.js", "javascript", HOSTILE[name])
    start = time.process_time()
    analyse([lower(source)])
    assert time.process_time() - start < 4
