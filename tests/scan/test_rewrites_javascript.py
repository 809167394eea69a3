"""Rewrites of JavaScript and TypeScript, compared to the letter."""

import pytest
from samples import repaired, rules

from moot.core.types import Language

MYSQL = "const mysql = require('mysql2');\n"
PG = "import { Pool } from 'pg';\n"
CHILD = "const { exec } = require('child_process');\n"

CASES = [
    (
        MYSQL + 'db.query("SELECT * FROM t WHERE n = \'" + name + "\'", (e, r) => done(r));',
        MYSQL + 'db.query("SELECT * FROM t WHERE n = ?", [String(name)], (e, r) => done(r));',
    ),
    (
        MYSQL + "db.execute(`SELECT * FROM t WHERE n = '${name}' AND a LIKE '%${part}%'`);",
        MYSQL + "db.execute(`SELECT * FROM t WHERE n = ? AND a LIKE ?`, [String(name), `%${part}%`]);",
    ),
    (
        PG + "pool.query(`SELECT * FROM t WHERE n = '${name}' AND a = ${age}`);",
        PG + "pool.query(`SELECT * FROM t WHERE n = $1 AND a = $2`, [name, age]);",
    ),
    (
        PG + "async function f(id) {\n  const q = `DELETE FROM t WHERE id = ${id}`;\n  await pool.query(q);\n}",
        PG + "async function f(id) {\n  const q = `DELETE FROM t WHERE id = $1`;\n  await pool.query(q, [id]);\n}",
    ),
    (
        CHILD + "exec('ls -l ' + dir, done);",
        'const { exec, execFile } = require(\'child_process\');\nexecFile("ls", ["-l", String(dir)], done);',
    ),
    (
        "import { execSync } from 'child_process';\nconst out = execSync(`cat /srv/${name}.txt`);",
        "import { execSync, execFileSync } from 'child_process';\n"
        'const out = execFileSync("cat", [`/srv/${name}.txt`]);',
    ),
    (
        "const cp = require('child_process');\ncp.exec(`ls ${dir}`);",
        "const cp = require('child_process');\ncp.execFile(\"ls\", [String(dir)]);",
    ),
    ("el.innerHTML = name;", "el.textContent = name;"),
    ("const o = { rejectUnauthorized: false };", "const o = { rejectUnauthorized: true };"),
    ("process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';", "process.env.NODE_TLS_REJECT_UNAUTHORIZED = '1';"),
    (
        "const crypto = require('crypto');\ncrypto.createHash('md5').update(data);",
        "const crypto = require('crypto');\ncrypto.createHash('sha256').update(data);",
    ),
    ("const b = Buffer.allocUnsafe(n);", "const b = Buffer.alloc(n);"),
    ("const b = new Buffer(10);", "const b = Buffer.alloc(10);"),
]

REFUSED = [
    ("db.query(`SELECT * FROM t WHERE n = ${name}`);", "driver"),
    (MYSQL + "db.query(`SELECT * FROM ${table}`);", "FROM"),
    (MYSQL + "db.query(`SELECT * FROM t WHERE n = ${name}`, [1]);", "already has parameters"),
    (CHILD + "exec('node ' + dir + ' | more');", "needs a shell"),
    (CHILD + "exec('ls ' + dir, { shell: '/bin/bash' });", "options of its own"),
    (CHILD + "exec(cmd);", "Not rewritten"),
    ("el.innerHTML = '<b>' + name;", "markup of its own"),
    ("document.write(x);", "innerHTML"),
    ("const b = new Buffer(n);", "size or data"),
    ("eval(x);", "cannot be replaced by data"),
]


@pytest.mark.parametrize("language", ["javascript", "typescript"])
@pytest.mark.parametrize(("before", "after"), CASES)
def test_a_flaw_is_rewritten(language: Language, before: str, after: str) -> None:
    text, repair = repaired(language, before)
    assert (text, repair.left) == (after, {})
    assert rules(language, text) == []
    assert repaired(language, text)[0] == text


@pytest.mark.parametrize(("before", "why"), REFUSED)
def test_what_has_no_safe_rewrite_is_left_with_a_reason(before: str, why: str) -> None:
    text, repair = repaired("javascript", before)
    assert (text, repair.fixed) == (before, {})
    assert all(why in left for left in repair.left.values()) and repair.left
