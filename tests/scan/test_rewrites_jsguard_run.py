"""JavaScript whose values were made harmless is run by Node: honest values do what they did."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from samples import repaired, rules

HEAD = 'const express = require("express");\n'
STUBS = """
const Module = require("module");
const said = [];
console.log = (...given) => said.push(given.join(" "));
console.error = (error) => said.push(["error", String(error)]);
const res = {
  setHeader: (...given) => said.push(given), send: (page) => said.push(page), end: (page) => said.push(page ?? "end"),
  redirect: (...given) => said.push(given.at(-1)), json: (value) => said.push(value),
};
const stubs = {
  express: () => ({ get: (_, answer) => answer({ originalUrl: "/a/b", query, body: query, headers: query }, res) }),
  mongoose: { model: () => ({ findOne: (query) => said.push(query) }) },
  libxmljs: { parseXml: (...given) => said.push(given) },
  "node-serialize": { unserialize: (text) => said.push(["ran", text]) },
};
const load = Module._load;
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);
const API_KEY = "k", query = GIVEN;
"""


def said(text: str, given: dict[str, Any] | None = None, folder: Path | None = None) -> Any:
    """What the program hands to the libraries it uses."""
    node = shutil.which("node")
    assert node is not None, "Node.js is missing: these tests run the rewritten code"
    script = STUBS.replace("GIVEN", json.dumps(given or {})) + text
    script += '\nprocess.on("exit", () => process.stdout.write(JSON.stringify(said)));\n'
    # The newest Node.js warns of some of what is rewritten.
    ended = subprocess.run(
        [node, "--no-deprecation", "-e", script],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
        cwd=folder,
    )
    return json.loads(ended.stdout)


def app(body: str, head: str = "") -> str:
    return f'{HEAD}{head}express().get("/", (req, res) => {{\n  {body}\n}});\n'


def mended(text: str, rule: str) -> str:
    for language in ("typescript", "javascript"):
        assert rule in rules(language, text)
        after, repair = repaired(language, text)
        assert repair.fixed and rule not in rules(language, after), (repair, after)
    return after


def left(text: str, rule: str, why: str) -> None:
    assert rule in rules("javascript", text)
    after, repair = repaired("javascript", text)
    assert after == text and why in " ".join(repair.left.values()), repair


@pytest.mark.parametrize("shown", ["'user ' + req.query.n", "`user ${req.query.n}`"])
def test_a_log_entry_is_the_same_and_never_two(shown: str) -> None:
    text = app(f"console.log({shown});")
    after = mended(text, "javascript-log")
    assert said(after, {"n": "ann lee"}) == said(text, {"n": "ann lee"}) == ["user ann lee"]
    assert said(text, {"n": "a\nb"}) == ["user a\nb"] and said(after, {"n": "a\nb"}) == ["user a b"]
    left(app("console.log(req.query.n);"), "javascript-log", "no text that is put together here")


def test_a_header_begins_no_other() -> None:
    text = app('res.setHeader("X-Name", "n=" + req.query.n);')
    after = mended(text, "javascript-header")
    assert said(after, {"n": "ann"}) == said(text, {"n": "ann"}) == [["X-Name", "n=ann"]]
    assert said(after, {"n": "a\r\nb: c"}) == [["X-Name", "n=a  b: c"]]
    left("const oneLine = 1;\n" + text, "javascript-header", "means something else")


def test_a_word_is_found_and_is_no_pattern() -> None:
    text = app('res.json(new RegExp("^" + req.query.q, "i").test("Ann (lee)"));')
    after = mended(text, "javascript-regex-injection")
    assert said(after, {"q": "ann"}) == said(text, {"q": "ann"}) == [True]
    assert said(text, {"q": "(a|b)+nn"}) == [True] and said(after, {"q": "(a|b)+nn"}) == [False]
    assert said(after, {"q": "ann (lee"}) == [True]
    left(text.replace("query.q", "query.pattern"), "javascript-regex-injection", "a pattern is wanted")


def test_a_query_compares_with_text() -> None:
    text = app("User.findOne({ name: req.body.n });", 'const User = require("mongoose").model("u");\n')
    after = mended(text, "javascript-nosql")
    assert said(after, {"n": "ann"}) == said(text, {"n": "ann"}) == [{"name": "ann"}]
    assert said(text, {"n": {"$ne": 1}}) == [{"name": {"$ne": 1}}]
    assert said(after, {"n": {"$ne": 1}}) == [{"name": "[object Object]"}]
    left(text.replace("{ name:", "{ age:"), "javascript-nosql", "whether a field holds text")


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("/in?x=1#top", "/in?x=1#top"),
        ("c", "/a/c"),
        ("https://evil.example/in", "/in"),
        ("//evil.example", "/"),
        ("///evil.example//x", "//x"),
        ("/\\evil.example", "/"),
        ("blob:https://evil.example/", "/"),
        ("x:https://evil.example/", "/"),
        ("http://", "/"),
        ("/.//evil.example", "/"),
        ("javascript:alert(1)", "/"),
    ],
)
def test_a_redirect_stays_on_the_host(given: str, sent: str) -> None:
    after = mended(app("res.redirect(req.query.to);"), "javascript-open-redirect")
    assert said(after, {"to": given}) == [sent if not sent.startswith("//") else "/"]


def test_a_redirect_that_may_lead_back_is_left() -> None:
    left(app('res.redirect(req.query.to || "back");'), "javascript-open-redirect", "came from")


PATHS = 'const fs = require("fs");\nconst path = require("path");\n'


@pytest.mark.parametrize("way", ["path.join('files', req.query.f)", "path.resolve('files', req.query.f)"])
def test_a_file_in_the_folder_is_read_and_no_other(way: str, tmp_path: Path) -> None:
    (tmp_path / "files" / "sub").mkdir(parents=True)
    (tmp_path / "files" / "sub" / "a").write_text("abc")
    (tmp_path / "filesystem").write_text("hidden")
    text = app(f"res.send(fs.readFileSync({way}, 'utf8'));", PATHS)
    after = mended(text, "javascript-path")
    for given in ("sub/a", "sub/../sub/a"):
        assert said(after, {"f": given}, tmp_path) == said(text, {"f": given}, tmp_path) == ["abc"]
    assert said(text, {"f": "../filesystem"}, tmp_path) == ["hidden"]
    assert said(after, {"f": "../filesystem"}, tmp_path) == ["end"]
    inner = text.replace("'files'", "'.', 'files'")
    assert said(mended(inner, "javascript-path"), {"f": "../filesystem"}, tmp_path) == ["end"]
    folder = text.replace(f"fs.readFileSync({way}, 'utf8')", f"fs.readdirSync({way})")
    assert said(mended(folder, "javascript-path"), {"f": "."}, tmp_path) == [["sub"]]
    left(app("fs.readFileSync(req.query.f);", PATHS), "javascript-path", "no folder is known")


def test_a_stack_is_for_the_operator() -> None:
    text = app("try { throw new Error('x') } catch (error) { res.send(error.stack) }")
    after = mended(text, "javascript-error-disclosure")
    assert "at " in said(text)[0]
    assert said(after) == [["error", "Error: x"], "Internal server error"]


@pytest.mark.parametrize(("operator", "same"), [("===", True), ("!==", False)])
def test_a_comparison_in_constant_time_says_the_same(operator: str, same: bool) -> None:
    text = app(f"res.json(req.headers['x-key'] {operator} API_KEY && 1 > 0);")
    after = mended(text, "javascript-timing")
    assert "timingSafeEqual" in after
    for given in ({"x-key": "k"}, {"x-key": "other"}, {}, {"x-key": 1}, {"x-key": ""}):
        assert said(after, given) == said(text, given) == [same == (given.get("x-key") == "k")]
    numbers = "said.push(sameSecret(1, 1), sameSecret(undefined, undefined), sameSecret(1, 2));\n"
    assert said(after + numbers)[1:] == [True, True, False]
    left(text.replace(operator, operator[:2]), "javascript-timing", "only === and !==")


def test_entities_are_left_alone_and_data_is_only_data() -> None:
    text = 'const x = require("libxmljs");\nx.parseXml("<a/>", { noblanks: true, noent: true });\n'
    assert said(mended(text, "javascript-xxe")) == [["<a/>", {"noblanks": True, "noent": False}]]
    read = app("said.push(s.unserialize(req.body.x));", 'const s = require("node-serialize");\n')
    assert said(mended(read, "javascript-deserialise"), {"x": '{"a":[1]}'}) == [{"a": [1]}]
    old = app("said.push(readJson(req.body.x));", 'function readJson(x) { return eval("(" + x + ")"); }\n')
    after = mended(old, "javascript-eval")
    assert said(after, {"x": '{"a":[1]}'}) == said(old, {"x": '{"a":[1]}'}) == [{"a": [1]}]
    assert said(old, {"x": "1 + 1"}) == [2]
    with pytest.raises(subprocess.CalledProcessError):
        said(after, {"x": "1 + 1"})
    left(app("eval(req.body.x);"), "javascript-eval", "cannot be replaced by data")


CHILD = 'const cp = require("child_process");\n'


def test_a_program_gets_its_arguments_without_a_shell() -> None:
    text = app('res.json(String(cp.spawnSync("echo", ["-n", req.query.n], { shell: true }).stdout));', CHILD)
    after = mended(text, "javascript-program")
    assert said(after, {"n": "ann"}) == said(text, {"n": "ann"}) == ["ann"]
    assert said(text, {"n": "a; echo b"}) == ["ab\n"] and said(after, {"n": "a; echo b"}) == ["a; echo b"]
    left(text.replace('"-n"', '"$HOME"'), "javascript-program", "written for the shell")
    left(text.replace('"echo"', '"npm"'), "javascript-program", "has to find")


def test_a_command_kept_in_a_variable_is_a_list() -> None:
    text = app("const command = `echo -n ${req.query.name}`;\n  res.json(String(cp.execSync(command)));", CHILD)
    after = mended(text, "javascript-exec")
    assert said(after, {"name": "ann"}) == said(text, {"name": "ann"}) == ["ann"]
    assert said(text, {"name": "a; echo b"}) == ["ab\n"] and said(after, {"name": "a; echo b"}) == ["a; echo b"]
    shared = text.replace("res.json(", "console.log(command.length);\n  res.json(")
    assert "used in more places" in " ".join(repaired("javascript", shared)[1].left.values())


MERGE = """function merge(to, from) {
  for (const key in from) {
    if (typeof from[key] === "object") merge(to[key], from[key]);
    else to[key] = from[key];
  }
}
"""
MERGED = """const to = { a: {} };
merge(to, JSON.parse('{"b": 2, "a": {"c": 3}, "__proto__": {"owned": true}}'));
said.push(to, ({}).owned ?? false);
"""


def test_a_merge_copies_all_but_what_reaches_the_prototype() -> None:
    assert said(MERGE + MERGED) == [{"a": {"c": 3}, "b": 2}, True]
    assert said(mended(MERGE, "javascript-prototype") + MERGED) == [{"a": {"c": 3}, "b": 2}, False]
    walked = "function set(at, way, value) {\n  const parts = way.split('.');\n"
    walked += "  for (let i = 0; i < parts.length - 1; i++) {\n    at = at[parts[i]];\n  }\n"
    walked += "  at[parts[parts.length - 1]] = value;\n}\n"
    use = "const to = { a: {} };\nset(to, 'a.b', 1);\n"
    use += "try { set(to, '__proto__.owned', true); } catch (error) { said.push(1); }\n"
    use += "said.push(to, ({}).owned ?? false);\n"
    assert said(walked + use) == [{"a": {"b": 1}}, True]
    assert said(mended(walked, "javascript-prototype") + use) == [1, {"a": {"b": 1}}, False]
    given = walked.replace("value) {\n  const parts = way.split('.');", "value, parts) {")
    left(given, "javascript-prototype", "that a loop runs over")
