"""What fires and what stays silent in JavaScript and TypeScript, one line each."""

import pytest
from samples import rules, scanned

from moot.core.types import Language

FIRES = [
    ('db.query("SELECT * FROM t WHERE n = \'" + name + "\'");', "javascript-sql-string"),
    ("db.query(`SELECT * FROM t WHERE n = ${name}`);", "javascript-sql-string"),
    ("function f(n) { let q = 'SELECT * FROM t WHERE n = '; q += n; db.query(q); }", "javascript-sql-string"),
    ("const { exec } = require('child_process'); exec('ls ' + dir);", "javascript-exec"),
    ("import * as cp from 'node:child_process'; cp.execSync(`ls ${dir}`);", "javascript-exec"),
    ("require('child_process').exec(cmd);", "javascript-exec"),
    ("eval(x);", "javascript-eval"),
    ("new Function('a', body);", "javascript-eval"),
    ("el.innerHTML = name;", "javascript-html"),
    ("el.innerHTML += '<b>' + name;", "javascript-html"),
    ("document.write(location.hash);", "javascript-html"),
    ("el.insertAdjacentHTML('beforeend', x);", "javascript-html"),
    ("function f(req, res) { res.send('Hello ' + req.query.name); }", "javascript-response-xss"),
    ("const crypto = require('crypto'); crypto.createHash('md5').update(data);", "javascript-weak-hash"),
    ("import { createHash } from 'crypto'; createHash('sha1').update(password);", "javascript-password-hash"),
    ("const crypto = require('crypto'); crypto.createCipheriv('des-ecb', k, i);", "javascript-weak-cipher"),
    ("const token = Math.random().toString(36);", "javascript-weak-random"),
    ("const o = { rejectUnauthorized: false };", "javascript-tls-verify"),
    ("process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';", "javascript-tls-verify"),
    ("const password = 'hunter2!';", "javascript-hardcoded-secret"),
    ("connect({ host: h, password: 'hunter2!' });", "javascript-hardcoded-secret"),
    ("const fs = require('fs'); function f(req) { fs.readFileSync('/srv/' + req.query.f); }", "javascript-path"),
    ("import path from 'path'; const f = (req) => readFile(path.join(root, req.params.name));", "javascript-path"),
    ("const axios = require('axios'); function f(req) { axios.get(req.query.url); }", "javascript-ssrf"),
    ("function f(req, res) { res.redirect(req.query.next); }", "javascript-open-redirect"),
    ("Buffer.allocUnsafe(n);", "javascript-unsafe-buffer"),
    ("new Buffer(n);", "javascript-unsafe-buffer"),
    ("try { f(); } catch (e) {}", "javascript-swallowed-error"),
    ("try { f(); } catch {}", "javascript-swallowed-error"),
]

SILENT = [
    "db.query('SELECT 1');",
    "db.query('SELECT * FROM t ' + 'WHERE a = 1');",
    "db.query(`SELECT 1`);",
    "db.query('SELECT * FROM t WHERE a = ?', [name]);",
    "const LIMIT = 10; db.query(`SELECT * FROM t LIMIT ${LIMIT}`);",
    "db.query(`SELECT * FROM t LIMIT ${Number(n)}`);",
    "cache.get('user from ' + name);",
    "const { exec } = require('child_process'); exec('ls -l');",
    "const m = /a(b)/.exec(text + more);",
    "const { execFile } = require('child_process'); execFile('ls', [dir]);",
    "eval('1 + 1');",
    "redis.eval(script);",
    "el.innerHTML = '<b>hello</b>';",
    "el.innerHTML = DOMPurify.sanitize(x);",
    "el.textContent = x;",
    "res.send('hello');",
    "function f(req, res) { res.send(escapeHtml(req.query.name)); }",
    "const crypto = require('crypto'); crypto.createHash('sha256').update(data);",
    "const colour = Math.random();",
    "const o = { rejectUnauthorized: true };",
    "const password = process.env.PASSWORD;",
    "const labels = { password: 'Password' };",
    "const path = require('path'); path.join(__dirname, 'views');",
    "const fs = require('fs'); fs.readFileSync('a.txt');",
    "Buffer.alloc(n);",
    "new Buffer('abc');",
    "try { f(); } catch (e) { log(e); }",
    "// eval(x)",
    "const s = 'el.innerHTML = x; eval(y)';",
]


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize(("text", "rule"), FIRES)
def test_a_flaw_is_found(language: Language, text: str, rule: str) -> None:
    assert rule in rules(language, text)


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize("text", SILENT)
def test_sound_code_is_left_in_peace(language: Language, text: str) -> None:
    assert rules(language, text) == []


def test_markup_in_jsx() -> None:
    assert rules("javascript", "const a = <p dangerouslySetInnerHTML={{ __html: x }} />;") == ["javascript-html"]
    assert rules("javascript", "const a = <p dangerouslySetInnerHTML={{ __html: '<b>' }} />;") == []


def test_a_path_made_for_a_file_is_told_once() -> None:
    text = (
        "const fs = require('fs'), path = require('path'); function f(req) { fs.readFile(path.join(d, req.query.f)); }"
    )
    assert rules("javascript", text) == ["javascript-path"]


def test_typed_code() -> None:
    text = "export const f = (id: string) => pool.query(`SELECT * FROM t WHERE id = ${id}` as string);"
    assert rules("typescript", text) == ["javascript-sql-string"]


def test_a_field_may_end_with_its_line_before_a_computed_one() -> None:
    text = "class A {\n  #left\n\n  [key] = null\n  static right\n  [other](text) { return eval(text); }\n}\n"
    scan = scanned("javascript", text)
    assert scan.not_analysed == ()
    assert [(finding.rule, finding.line) for finding in scan.findings] == [("javascript-eval", 6)]


def test_a_name_before_brackets_is_still_an_element() -> None:
    assert scanned("javascript", "a\n  [0].run()\nb(\n").not_analysed != ()
