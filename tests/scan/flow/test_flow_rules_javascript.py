"""Flows in JavaScript that look alike are told apart."""

import pytest

from moot.scan.engine.analyse import analyse
from moot.scan.engine.frontends import lower
from moot.scan.syntax import parse


def found(text: str, path: str = "server.js") -> set[str]:
    language = "typescript" if path.endswith((".ts", ".tsx")) else "javascript"
    return {flow.finding.rule for flow in analyse([lower(parse(path, language, text))]).flows}  # type: ignore[arg-type]


SQL, XSS, PATH = "javascript-sql-string", "javascript-response-xss", "javascript-path"
EXEC, NOSQL, SSRF, HTML = "javascript-exec", "javascript-nosql", "javascript-ssrf", "javascript-html"
REDIRECT = "javascript-open-redirect"
IMPORTS = (
    "const {exec} = require('child_process'), fs = require('fs'), path = require('path'), axios = require('axios')"
)


def route(body: str) -> str:
    return f"{IMPORTS};\nconst OK = ['/a', '/b'], by = id => 'x = ' + id;\napp.get('/', (req, res) => {{ {body} }});"


IN_HANDLERS = [
    (SQL, "const {id} = req.query; db.query('x = ' + id)", "const {id} = req.query; db.query('x = ?', [id])"),
    (SQL, "db.query(by(req.query.id))", "db.query(by(7))"),
    (
        SQL,
        "const w = []; w.push('x = ' + req.query.id); db.query(w.join(' and '))",
        "const w = []; w.push('x = ?'); db.query(w.join(' and '), [req.query.id])",
    ),
    (SQL, "db.query({sql: `x = ${req.body.x}`})", "db.query({sql: 'x = ?', values: [req.body.x]})"),
    (XSS, "load(1).then(x => res.send('<b>' + req.query.n))", "load(1).then(x => res.send('<b>' + x))"),
    (XSS, "res.status(400).send(`no ${req.params.x}`)", "res.status(400).json({no: req.params.x})"),
    (XSS, "res.send('<b>' + req.query.n)", "res.send('<b>' + req.query.n.replace(/</g, '&lt;'))"),
    (EXEC, "exec('ls ' + req.query.n)", "const {n} = req.query; if (!/^[a-z]+$/.test(n)) return; exec('ls ' + n)"),
    (REDIRECT, "res.redirect(req.query.to)", "if (!OK.includes(req.query.to)) return; res.redirect(req.query.to)"),
    (PATH, "fs.readFileSync('./x/' + req.params.f)", "fs.readFileSync('./x/' + path.basename(req.params.f))"),
    (SSRF, "axios.post(req.body.url, {})", "axios.post('https://a.example/x', req.body)"),
    (SSRF, "axios.get(`https://${req.body.host}/x`)", "axios.get(`https://a.example/${req.body.host}`)"),
    (NOSQL, "User.findOne({name: req.query.name})", "User.findOne({name: req.params.name})"),
]
ELSEWHERE = [
    (
        SQL,
        "app.get('/', ({query}, res) => { db.query('x = ' + query.id) })",
        "app.get('/', ({query}, res) => { db.query('x = ?', [query.id]) })",
    ),
    (
        SQL,
        "router.get(async (ctx, next) => { await db.query('x = ' + ctx.query.id) })",
        "router.get(async (ctx, next) => { await db.query('x = ' + Number(ctx.query.id)) })",
    ),
    (
        SQL,
        "exports.handler = async (event, context) => db.query('x = ' + event.body)",
        "exports.handler = async (event, context) => db.query('x = ' + parseInt(event.body, 10))",
    ),
    (
        SQL,
        "class A { constructor(db) { this.db = db } get(req) { this.db.query(`x = ${req.body.id}`) } }",
        "class A { constructor(db) { this.db = db } get(req) { this.db.query('x = $1', [req.body.id]) } }",
    ),
    (
        HTML,
        "const q = new URLSearchParams(location.search).get('q'); out.innerHTML = `<b>${q}</b>`",
        "const q = new URLSearchParams(location.search).get('q'); out.textContent = q",
    ),
    (
        HTML,
        "window.addEventListener('message', e => { out.innerHTML = e.data })",
        "window.addEventListener('message', e => { out.innerText = e.data })",
    ),
]
PAIRS = [*((rule, route(unsafe), route(safe)) for rule, unsafe, safe in IN_HANDLERS), *ELSEWHERE]


@pytest.mark.parametrize(("rule", "unsafe", "safe"), PAIRS)
def test_unsafe_and_safe_are_told_apart(rule: str, unsafe: str, safe: str) -> None:
    assert rule in found(unsafe)
    assert rule not in found(safe)


def test_jsx_and_typescript() -> None:
    unsafe = "const A = () => <p dangerouslySetInnerHTML={{__html: location.hash}}/>"
    assert HTML in found(unsafe, "a.tsx")
    assert HTML not in found("const A = () => <p>{location.hash}</p>", "a.tsx")
    nest = "class C { @Get() all(@Query('id') id: string) { return this.db.query(`x = ${id}`) } }"
    assert SQL in found(nest, "a.ts")
    assert SQL not in found(nest.replace("`x = ${id}`", "'x = $1', [id]"), "a.ts")


def test_the_path_tells_where_the_value_came_from() -> None:
    text = "app.get('/', (req, res) => {\n  const id = req.query.id;\n  db.query('x = ' + id);\n});"
    [flow] = [f for f in analyse([lower(parse("a.js", "javascript", text))]).flows if f.finding.rule == SQL]
    assert (flow.finding.line, flow.finding.path[0].line, flow.finding.path[-1].line) == (3, 2, 3)
    assert "req.query" in flow.finding.path[0].what
