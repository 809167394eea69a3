"""Rewritten JavaScript is run by Node: it does what it did, and the attack no longer works."""

import json
import shutil
import subprocess
from typing import Any

import pytest
from patience import PATIENCE
from samples import repaired, rules

APP = """const express = require("express");
const app = express();
app.get("/", (req, res) => {
  BODY
});
"""
STUBS = """
const Module = require("module");
const said = [];
const res = {
  cookie: (...given) => said.push(given), send: (page) => said.push(page), end: () => {},
  json: (value) => said.push(value),
};
const stubs = {
  express: () => ({ get: (_, answer) => answer({ query: QUERY, body: QUERY }, res) }),
  jsonwebtoken: { verify: (...given) => said.push(given) },
  https: { createServer: (given) => said.push(given) },
  handlebars: { compile: (text, given) => said.push(given) },
  mysql: { createConnection: () => ({ query: (...given) => said.push(given) }) },
};
const load = Module._load;
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);
"""


def said(text: str, query: dict[str, str] | None = None) -> Any:
    """What the program hands to the libraries it uses."""
    node = shutil.which("node")
    assert node is not None, "Node.js is missing: these tests run the rewritten code"
    script = STUBS.replace("QUERY", json.dumps(query or {})) + text
    script += '\nprocess.on("exit", () => console.log(JSON.stringify(said)));\n'
    ended = subprocess.run([node, "-e", script], capture_output=True, text=True, timeout=PATIENCE, check=True)
    return json.loads(ended.stdout.splitlines()[-1])


def mended(text: str, rule: str) -> str:
    assert rule in rules("javascript", text)
    after, repair = repaired("javascript", text)
    assert repair.fixed and rule not in rules("javascript", after), (repair, after)
    return after


def app(body: str) -> str:
    return APP.replace("BODY", body)


@pytest.mark.parametrize("given", ["", ", { maxAge: 5 }", ", { maxAge: 5, secure: false, httpOnly: false }", ", {}"])
def test_a_cookie_keeps_its_options_and_gets_its_flags(given: str) -> None:
    text = app(f'res.cookie("session", "abc"{given});')
    (before,), (after,) = said(text), said(mended(text, "javascript-cookie"))
    assert after[:2] == before[:2] == ["session", "abc"]
    kept = {key: value for key, value in (before[2] if len(before) > 2 else {}).items() if value is not False}
    assert after[2] == {**kept, "secure": True, "httpOnly": True}


@pytest.mark.parametrize("page", ['"<b>" + req.query.n + "</b>"', "`<b title='${req.body.n}'>${req.query.n}</b>`"])
def test_a_page_shows_text_as_it_was_and_markup_as_text(page: str) -> None:
    text = app(f"res.send({page});")
    after = mended(text, "javascript-response-xss")
    assert said(text, {"n": "ann 7"}) == said(after, {"n": "ann 7"})
    assert "<i>" in said(text, {"n": "'<i>"})[0]
    assert "<i>" not in said(after, {"n": "'<i>"})[0] and said(after, {"n": "'<i>"})[0].count("'") in (0, 2)


@pytest.mark.parametrize(
    "page",
    ["`<script>${req.query.n}</script>`", "`<a onclick='${req.query.n}'>x</a>`", "'<p>' + req.query.html + '</p>'"],
)
def test_escaping_is_not_taken_for_enough_everywhere(page: str) -> None:
    text = app(f"res.send({page});")
    assert "javascript-response-xss" in rules("javascript", text)
    assert repaired("javascript", text)[0] == text


def test_a_random_number_is_still_one_from_0_to_1() -> None:
    text = "const token = Math.random();\nsaid.push(token);\n"
    after = mended(text, "javascript-weak-random")
    many = "\n".join(f"{{ {after} }}" for _ in range(50))
    numbers = said(many)
    assert all(0 <= number < 1 for number in numbers) and len(set(numbers)) == 50
    assert min(numbers) < 0.5 < max(numbers)
    taken = mended('const crypto = require("crypto");\n' + text, "javascript-weak-random")
    assert "globalThis.crypto.getRandomValues" in taken and 0 <= said(taken)[0] < 1


def test_switches_are_on_the_safe_side() -> None:
    version = 'const https = require("https");\nhttps.createServer({ key: 1, minVersion: "TLSv1" });\n'
    assert said(mended(version, "javascript-tls-version")) == [{"key": 1, "minVersion": "TLSv1.2"}]
    none = 'const jwt = require("jsonwebtoken");\njwt.verify("t", "k", { algorithms: ["none", "HS256"] });\n'
    assert said(mended(none, "javascript-jwt")) == [["t", "k", {"algorithms": ["HS256"]}]]
    only = none.replace(', "HS256"', "")
    assert "javascript-jwt" in rules("javascript", only) and repaired("javascript", only)[0] == only


def test_a_query_with_a_named_callback_is_bound() -> None:
    text = 'const mysql = require("mysql");\nconst db = mysql.createConnection({});\n'
    text += 'require("express")().get("/", (req, res) => find(req, () => 1));\n'
    text += 'function find(req, done) {\n  db.query("SELECT * FROM t WHERE n = \'" + req.query.n + "\'", done);\n}\n'
    after = mended(text, "javascript-sql-string")
    attack = {"n": "x' OR '1'='1"}
    assert said(after, attack)[0][:2] == ["SELECT * FROM t WHERE n = ?", [attack["n"]]]
    listed = text.replace(", done)", ", values)").replace("find(req, done)", "find(req, values)")
    assert repaired("javascript", listed)[0] == listed


def test_options_of_a_command_are_kept_and_a_shell_asked_for_is_left() -> None:
    text = app('cp.exec("echo " + req.query.name, { timeout: 9000 }, (e, out) => res.json(out));')
    text = 'const cp = require("child_process");\n' + text
    assert said(mended(text, "javascript-exec"), {"name": "a; echo b"}) == ["a; echo b\n"]
    assert said(text, {"name": "a; echo b"}) == ["a\nb\n"]
    asked = text.replace("{ timeout: 9000 }", '{ shell: "/bin/bash" }')
    assert repaired("javascript", asked)[0] == asked


def test_a_password_is_not_given_another_fast_hash() -> None:
    text = 'const crypto = require("crypto");\n'
    text += 'const h = (password) => crypto.createHash("md5").update(password).digest("hex");\n'
    assert "javascript-password-hash" in rules("javascript", text)
    assert repaired("javascript", text)[0] == text
