"""The rules for JavaScript: each speaks on its firing example and is silent on the other, and flows that look alike are
told apart."""

import pytest

from moot.scan.flow.analyse import analyse, covered
from moot.scan.flow.rulebook import Example
from moot.scan.flow.rules import javascript_examples
from moot.scan.syntax import parse


def found(text: str, path: str = "server.js") -> set[str]:
    language = "typescript" if path.endswith((".ts", ".tsx")) else "javascript"
    return {flow.finding.rule for flow in analyse([parse(path, language, text)]).flows}  # type: ignore[arg-type]


@pytest.mark.parametrize("example", javascript_examples.EXAMPLES, ids=lambda example: example.rule)
def test_examples(example: Example) -> None:
    assert example.rule in found(example.fires)
    assert example.rule not in found(example.silent)


def test_every_rule_has_an_example() -> None:
    assert covered("javascript") == {example.rule for example in javascript_examples.EXAMPLES}


SQL, XSS, PATH, REDIRECT = (
    "javascript-sql-string",
    "javascript-response-xss",
    "javascript-path",
    "javascript-open-redirect",
)
EXEC, NOSQL, SSRF, HTML = "javascript-exec", "javascript-nosql", "javascript-ssrf", "javascript-html"
PAIRS = [
    # handlers of all frameworks
    (SQL, "app.get('/', async ({query}, res) => { await db.query('x = ' + query.id) })", "app.get('/', async ({query}, res) => { await db.query('x = ?', [query.id]) })"),
    (SQL, "router.get(async (ctx, next) => { await db.query('x = ' + ctx.query.id) })", "router.get(async (ctx, next) => { await db.query('x = ' + Number(ctx.query.id)) })"),
    (SQL, "exports.handler = async (event, context) => db.query('x = ' + event.pathParameters.id)", "exports.handler = async (event, context) => db.query('x = ' + parseInt(event.pathParameters.id, 10))"),
    # through functions, lists and promises
    (SQL, "const by = id => 'x = ' + id; app.get('/', (req, res) => { db.query(by(req.query.id)) })", "const by = id => 'x = ' + id; app.get('/', (req, res) => { db.query(by(7)) })"),
    (SQL, "app.get('/', (req, res) => { const w = []; w.push('x = ' + req.query.id); db.query(w.join(' and ')) })", "app.get('/', (req, res) => { const w = []; w.push('x = 1'); db.query(w.join(' and '), [req.query.id]) })"),
    (XSS, "app.get('/', (req, res) => { load(1).then(x => res.send('<b>' + req.query.n)) })", "app.get('/', (req, res) => { load(1).then(x => res.send('<b>' + x)) })"),
    (XSS, "app.get('/', (req, res) => { res.status(400).send(`no ${req.params.x}`) })", "app.get('/', (req, res) => { res.status(400).json({no: req.params.x}) })"),
    (SQL, "class A { constructor(db) { this.db = db } get(req) { return this.db.query(`x = ${req.body.id}`) } }", "class A { constructor(db) { this.db = db } get(req) { return this.db.query('x = $1', [req.body.id]) } }"),
    # checks
    (EXEC, "const {exec} = require('child_process'); app.get('/', (req, res) => { const {n} = req.query; exec('ls ' + n) })", "const {exec} = require('child_process'); app.get('/', (req, res) => { const {n} = req.query; if (!/^[a-z]+$/.test(n)) return; exec('ls ' + n) })"),
    (REDIRECT, "app.get('/', (req, res) => { res.redirect(req.query.to) })", "const OK = ['/a', '/b']; app.get('/', (req, res) => { if (!OK.includes(req.query.to)) return res.end(); res.redirect(req.query.to) })"),
    (PATH, "const fs = require('fs'); app.get('/', (req, res) => { fs.readFileSync('./x/' + req.params.f) })", "const fs = require('fs'), path = require('path'); app.get('/', (req, res) => { fs.readFileSync('./x/' + path.basename(req.params.f)) })"),
    (SSRF, "const axios = require('axios'); app.get('/', (req, res) => { axios.post(req.body.url, {}) })", "const axios = require('axios'); app.get('/', (req, res) => { axios.post('https://a.example/x', req.body) })"),
    (NOSQL, "app.get('/', (req, res) => { User.findOne({name: req.query.name}) })", "app.get('/', (req, res) => { User.findOne({name: req.params.name}) })"),
    # pages
    (HTML, "const q = new URLSearchParams(location.search).get('q'); out.innerHTML = `<b>${q}</b>`", "const q = new URLSearchParams(location.search).get('q'); out.textContent = q"),
    (HTML, "window.addEventListener('message', e => { out.innerHTML = e.data })", "window.addEventListener('message', e => { out.innerText = e.data })"),
]  # fmt: skip


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
    [flow] = [f for f in analyse([parse("a.js", "javascript", text)]).flows if f.finding.rule == SQL]
    assert (flow.finding.line, flow.finding.path[0].line, flow.finding.path[-1].line) == (3, 2, 3)
    assert "req.query" in flow.finding.path[0].what
