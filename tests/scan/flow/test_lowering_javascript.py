"""JavaScript and TypeScript in the engine's form: a table of sources, and no text that makes the front end fail."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.scan.engine import ir
from moot.scan.javascript import frontend as javascript
from moot.scan.syntax import parse, words

WRITTEN = [
    # literals and text
    ("'a\\n\\x41\\u{42}'", "'a\\nAB'"),
    ("0x10 + 1_000", "(16 + 1000)"),
    ("`a${x}b`", "text['a', {x}, 'b']"),
    ("`plain`", "'plain'"),
    ("a + b + 'c' + d", "text[a, b, 'c', d]"),
    ("'a'.concat(b)", "text['a', b]"),
    ("a + b", "(a + b)"),
    ("undefined ?? void 0", "(None ?? None)"),
    # access
    ("a?.b?.[0]", "a.b[0]"),
    ("a['b']", "a.b"),
    ("x_1.default.y", "x_1.y"),
    ("this.x", "self.x"),
    # calls
    ("new A.B(c, ...d)", "new A.B(c, *d)"),
    ("(0, a.b)(c)", "a.b(c)"),
    ("sql`select ${x}`", "sql(['select '], x)"),
    ("require('fs').readFile(x)", "<fs>.readFile(x)"),
    ("await f(x)", "wait f(x)"),
    ("/a+/g.test(x)", "new RegExp('a+', 'g').search(x)"),
    # the engine's words for JavaScript's own methods
    ("list.push(x)", "list.append(x)"),
    ("list.push(a, b)", "list.extend([a, b])"),
    ("list.includes(x)", "(x in list)"),
    ("list.indexOf(x) !== -1", "(x in list)"),
    ("list.indexOf(x) < 0", "(x not in list)"),
    ("parts.join('')", "''.join(parts)"),
    ("x.slice(1)", "x[1:]"),
    ("x.replace(/[<>]/g, '')", "x.replace('<', '').replace('>', '')"),
    ("x.replace('<', '')", "x.replace_first('<', '')"),
    ("x.replace(/[^a-z0-9]/gi, '')", "<js.only_harmless>(x)"),
    ("typeof x === 'number'", "<js.is_safe>(x)"),
    ("'https://a.b/' + c", "text['https://a.b/', <js.path_part>(c)]"),
    ("`https://${a}${b}`", "text['https://', {a}, {b}]"),
    ("xs.map(f)", "[f(each 0) for each 0 in xs]"),
    ("Object.keys(x)", "x.keys()"),
    ("path.join(a, b)", "path.resolve(a, b)"),
    # the rest
    ("a ? b : c", "(a ? b : c)"),
    ("a && b && c", "(a and b and c)"),
    ("x !== y", "(x != y)"),
    ("({a, 'b': 1, ...c})", "{'a': a, 'b': 1, **c}"),
    ("<b id='x' {...p}>hi {y}</b>", "<react.createElement>('b', {'id': 'x', **p}, 'hi ', y)"),
]
STATEMENTS = [
    ("const x = 1, y = 2", "let x = 1; let y = 2"),
    ("a = b = c", "a = b = c"),
    ("x += 1; y++; z ||= 2", "x += 1; y += 1; z = (z or 2)"),
    ("const {a, b: {c}, ...d} = req", "let a = req.a; let c = req.b.c; let d = req"),
    ("const {a = 1} = f()", "let whole 6 = f(); let a = (whole 6.a ?? 1)"),
    ("const cp = require('node:child_process')", "import cp=child_process"),
    ("const {exec: e, spawn} = require('cp')", "import e=cp.exec; import spawn=cp.spawn"),
    ("import d, * as n from 'm'; import {a as b} from 'm'", "import d=m; import n=m; import b=m.a"),
    ("const e_1 = __importDefault(require('e'))", "import e_1=e"),
    ("if (a) b; else if (c) d; else e", "if a: b else: if c: d else: e"),
    ("for (let i = 0; i < n; i++) f(i)", "let i = 0; while (i < n): f(i) step i += 1"),
    ("for (const [k, v] of xs) f()", "each [k, v] in xs: f()"),
    ("for (const {a} of xs) f(a)", "each each 11 in xs: let a = each 11.a; f(a)"),
    ("for (k in o) f()", "each key k in o: f()"),
    ("do f(); while (x)", "while: f(); if not x: break"),
    ("switch (a) { case 1: case 2: f(); break; default: g() }", "switch a 1|2: f() *: g()+"),
    ("try { a } catch ({m}) { b } finally { c }", "try: a except caught error: let m = caught error.m; b finally: c"),
    ("g(); function g(a = 1, ...b) {}", "def g(a=1, *b): ; g()"),
    ("const f = async x => x", "async def f(x): return x"),
    ("p.then(v => g(v))", "def callback 7(v): return g(v); callback 7(wait p)"),
    ("f(a => b => a)", "def callback 2(a): def callback 7(b): return a; return callback 7; f(callback 2)"),
    ("x = {d() { return 1 }}", "def callback 5(): return 1; x = {'d': callback 5}"),
    ("f((a, {b, c: [d]}) => b)",
     "def callback 2(a, parameter 1): let b = parameter 1.b; let [d] = parameter 1.c; return b; f(callback 2)"),
    ("f({rejectUnauthorized: false})", "<js.option.rejectUnauthorized>(False); f({'rejectUnauthorized': False})"),
    ("exports.f = x => x", "def callback 12(x): return x; f = exports.f = callback 12"),
    ("const b = require('./lib/b.js')", "import b=~lib.b"),
    ("class A extends B { p = 1; constructor(x) { super(x) } m() {} }",
     "class A(B): p = 1; def __init__(self, x): super().__init__(x); def m(self): "),
    ("module.exports = class { m() {} }", "class class 17: def m(self): ; module.exports = class 17"),
    ("export default f(x)", "default = f(x)"),
    ("delete a.b", "del a.b"),
    ("throw x", "raise x"),
    ("function h(req, res) { return req.query }", "def h(req, res): import req=req; import res=res; return req.query"),
    ("window.addEventListener('message', e => f(e.data))",
     "def callback 35(e): import e=message_event; return f(e.data); window.addEventListener('message', callback 35)"),
]  # fmt: skip
TYPED = [
    ("enum E { A = 1 }", "E = {'A': 1}"),
    ("const x: string = y! as T", "let x = y"),
    ("class A { constructor(private db: Db) {} }", "class A: def __init__(self, db): self.db = db"),
    ("class A { @Get() m(@Query('q') q: string) {} }", "class A: def m(self, q): import q=req; q = q.query"),
    ("import files = require('fs')", "import files=fs"),
    ("namespace N { f() }", "f()"),
]


@pytest.mark.parametrize(("source", "form"), WRITTEN)
def test_expressions(source: str, form: str) -> None:
    assert body(f"x = {source}", "javascript").removeprefix("x = ") == form.replace("each 0", "each 4")


@pytest.mark.parametrize(("source", "form"), STATEMENTS)
def test_statements(source: str, form: str) -> None:
    assert body(source, "javascript") == form


@pytest.mark.parametrize(("source", "form"), TYPED)
def test_typescript(source: str, form: str) -> None:
    assert body(source, "typescript") == form


@pytest.mark.parametrize(
    "source",
    [
        "x = " + "(" * 3000 + "1" + ")" * 3000,
        "a" + ".b()" * 3000,
        "x = " + "a + " * 5000 + "'b'",
        "x = " + "a < " * 3000 + "b",
        "if (a) b; " + "else if (a) b; " * 2000,
        "f(" * 2000,
        "{" * 3000,
        "x = " + "[" * 3000,
        "const " + "{a: " * 1000 + "b" + "}" * 1000 + " = x",
        "x = " + "() => " * 2000 + "1",
        "<a>" * 2000,
        "`${" * 1000,
        "class A { m() { return " * 500,
    ],
)
def test_deep_nesting_is_no_error(source: str) -> None:
    parsed = parse("deep.js", "javascript", source)
    javascript.lower(parsed)


def test_what_is_too_deep_is_said() -> None:
    module = javascript.lower(parse("deep.js", "javascript", "\nx = " + "[" * 100 + "]" * 100))
    assert [(gap.line, gap.why) for gap in module.gaps] == [(2, "nests too deep")]


PIECES = st.sampled_from(
    sorted(
        words(
            "( ) [ ] { } , ; : . => = == + - ? ?. ... ` ${ ' / < > </a> function class async await yield new return if "
            "else for of in switch case default try catch throw const let var import export from require delete typeof "
            "get static a b req x 1 'text' //"
        )
    )
)


@settings(max_examples=300)
@given(st.lists(PIECES, max_size=60).map(" ".join) | st.text(max_size=200), st.sampled_from(["a.js", "a.ts", "a.tsx"]))
def test_any_text_can_be_read(source: str, path: str) -> None:
    module = javascript.lower(parse(path, "javascript" if path == "a.js" else "typescript", source))
    for stmt in module.body:
        assert 0 <= stmt.at[0] <= stmt.at[1] <= len(module.data)


def body(source: str, language: str) -> str:
    module = javascript.lower(parse("a.ts" if language == "typescript" else "a.jsx", language, source))  # type: ignore[arg-type]
    assert not module.gaps
    return block(tuple(stmt for stmt in module.body if not _is_own(stmt)))


def _is_own(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.Import) and (stmt.local.startswith("require ") or stmt.local == stmt.origin)


def block(stmts: ir.Block) -> str:
    return "; ".join(map(statement, stmts))


def statement(stmt: ir.Stmt) -> str:
    match stmt:
        case ir.Assign():
            return ("let " if stmt.local else "") + " = ".join(map(shown, (*stmt.targets, stmt.value)))
        case ir.Augment():
            return f"{shown(stmt.target)} {stmt.op}= {shown(stmt.value)}"
        case ir.Do():
            return shown(stmt.value)
        case ir.Import():
            return f"import {stmt.local}={stmt.origin}"
        case ir.Return():
            return f"return {shown(stmt.value)}" if stmt.value is not None else "return"
        case ir.Raise():
            return f"raise {shown(stmt.value)}" if stmt.value is not None else "raise"
        case ir.Define():
            return function(stmt.function)
        case ir.Class():
            bases = f"({', '.join(map(shown, stmt.bases))})" if stmt.bases else ""
            return f"class {stmt.name}{bases}: {block(stmt.body)}"
        case _:
            return branching(stmt)


def branching(stmt: ir.Stmt) -> str:
    match stmt:
        case ir.Delete():
            return "del " + ", ".join(map(shown, stmt.targets))
        case ir.Jump():
            return stmt.how
        case ir.If():
            return f"if {shown(stmt.test)}: {block(stmt.then)}" + (f" else: {block(stmt.other)}" if stmt.other else "")
        case ir.While():
            test = f" {shown(stmt.test)}" if stmt.test is not None else ""
            return f"while{test}: {block(stmt.body)}" + (f" step {block(stmt.step)}" if stmt.step else "")
        case ir.Each():
            key = "key " if stmt.keys else ""
            return f"each {key}{shown(stmt.target)} in {shown(stmt.iterable)}: {block(stmt.body)}"
        case ir.Switch():
            cases = [f"{'|'.join(map(shown, c.patterns)) or '*'}: {block(c.body)}{'+' * c.falls}" for c in stmt.cases]
            return f"switch {shown(stmt.subject)} {' '.join(cases)}" if stmt.subject else ""
        case ir.Try():
            handlers = "".join(f" except {h.name}: {block(h.body)}" for h in stmt.handlers)
            return f"try: {block(stmt.body)}{handlers} finally: {block(stmt.final)}"
        case _:
            return type(stmt).__name__


def function(made: ir.Function) -> str:
    return f"{'async ' if made.is_async else ''}def {made.name}({params(made)}): {block(made.body)}"


def params(made: ir.Function) -> str:
    return ", ".join(
        ("*" if p.kind == "star" else "") + p.name + (f"={shown(p.default)}" if p.default is not None else "")
        for p in made.params
    )


def shown(expr: ir.Expr) -> str:
    match expr:
        case ir.Const():
            return repr(expr.value)
        case ir.Name():
            return f"<{expr.id[8:]}>" if expr.id.startswith("require ") else expr.id
        case ir.Attr():
            return f"{shown(expr.base)}.{expr.name}"
        case ir.Item():
            return f"{shown(expr.base)}[{shown(expr.key)}]"
        case ir.Cut():
            return f"{shown(expr.base)}[{shown(expr.low) if expr.low else ''}:{shown(expr.high) if expr.high else ''}]"
        case ir.Star():
            return f"*{shown(expr.value)}"
        case ir.Call():
            return f"{'new ' * expr.new}{shown(expr.func)}({', '.join(map(shown, expr.args))})"
        case ir.Hole():
            return "{" + shown(expr.value) + "}"
        case ir.Concat():
            return f"text[{', '.join(map(shown, expr.parts))}]"
        case _:
            return compound(expr)


def compound(expr: ir.Expr) -> str:
    match expr:
        case ir.Many():
            return f"[{', '.join(map(shown, expr.items))}]"
        case ir.Table():
            entries = [f"{shown(e.key)}: {shown(e.value)}" if e.key else f"**{shown(e.value)}" for e in expr.entries]
            return "{" + ", ".join(entries) + "}"
        case ir.Choice():
            return f"({shown(expr.test)} ? {shown(expr.then)} : {shown(expr.other)})"
        case ir.Logic():
            return "(" + f" {expr.op} ".join(map(shown, expr.values)) + ")"
        case ir.Compare() | ir.Binary():
            return f"({shown(expr.left)} {expr.op} {shown(expr.right)})"
        case ir.Unary():
            return f"{expr.op} {shown(expr.value)}"
        case ir.Wait():
            return f"wait {shown(expr.value)}"
        case ir.Comprehension():
            clause = expr.clauses[0]
            return f"[{shown(expr.element)} for {shown(clause.target)} in {shown(clause.iterable)}]"
        case _:
            return type(expr).__name__
