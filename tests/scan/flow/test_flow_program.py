"""Files as one program: what they share, what hides what, and what is said of that which was not followed."""

import pytest

from moot.core.types import Language
from moot.scan.engine.analyse import FlowAnalysis, analyse
from moot.scan.engine.frontends import lower
from moot.scan.syntax import parse

SUFFIXES: dict[str, Language] = {"py": "python", "js": "javascript", "ts": "typescript", "go": "go"}


def analysed(**files: str) -> FlowAnalysis:
    """Files by name; the last `_` of a name stands for the dot."""
    sources = []
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        sources.append(parse(f"{stem.replace('__', '/')}.{suffix}", SUFFIXES[suffix], text))
    return analyse([lower(source) for source in sources])


def rules(**files: str) -> list[tuple[str, str, int]]:
    return [(flow.finding.rule, flow.finding.file, flow.finding.line) for flow in analysed(**files).flows]


HANDLER = 'package main\nimport ("net/http"; "os/exec")\nfunc h(w http.ResponseWriter, r *http.Request) {\n'


def test_typescript_and_javascript_import_each_other() -> None:
    helper = "const { exec } = require('child_process');\nexports.run = (cmd) => { exec('git ' + cmd); };\n"
    app = "import { run } from './lib';\nexport const h = (req: Request, res: Response) => { run(req.query.b); };\n"
    found = analysed(lib_js=helper, app_ts=app).flows
    assert [(flow.finding.rule, flow.finding.file) for flow in found] == [("javascript-exec", "lib.js")]
    assert found[0].finding.path[0].file == "app.ts"
    other = "export function run(cmd: string) { return cmd; }\n"
    user = "const { run } = require('./lib'); const { exec } = require('child_process');\n"
    assert rules(lib_ts=other, app_js=user + "app.get('/', (req, res) => { exec(`git ${run(req.query.b)}`); });\n")


def test_a_module_that_is_one_function() -> None:
    user = "const check = require('./check');\nconst { exec } = require('child_process');\n"
    use = "app.get('/', (req, res) => { exec('x ' + check(req.query.b)); });\n"
    assert rules(check_js="module.exports = function (x) { return x; };\n", app_js=user + use)
    assert not rules(check_js="module.exports = function (x) { return Number(x); };\n", app_js=user + use)


def test_files_of_a_go_package_share_their_names() -> None:
    use = HANDLER + 'exec.Command("sh", "-c", prefix+shown(r.FormValue("x"))).Run()\n}\n'
    keeps = 'package main\nconst prefix = "make "\nfunc shown(x string) string { return x }\n'
    drops = 'package main\nconst prefix = "make "\nfunc shown(x string) string { return "all" }\n'
    assert rules(main_go=use, other_go=keeps) == [("go-exec", "main.go", 4)]
    assert rules(main_go=use, other_go=drops) == []
    assert rules(a__main_go=use, b__other_go=drops), "another folder is another package"


def test_a_go_package_of_the_project_is_followed() -> None:
    guard = 'package guard\nfunc Word(x string) string { return "all" }\n'
    text = HANDLER.replace('"os/exec"', '"os/exec"; "example.com/app/guard"')
    use = text + 'exec.Command("sh", "-c", guard.Word(r.FormValue("x"))).Run()\n}\n'
    assert rules(main_go=use, guard__guard_go=guard) == []
    assert rules(main_go=use, guard__guard_go=guard.replace('"all"', "x")) == [("go-exec", "main.go", 4)]


def test_methods_of_a_type_in_another_file() -> None:
    kind = "package main\ntype Box struct{ word string }\n"
    method = "package main\nfunc (b *Box) show(x string) string { return b.word }\n"
    use = HANDLER + 'b := &Box{word: "ls"}\nexec.Command("sh", "-c", b.show(r.FormValue("x"))).Run()\n}\n'
    assert rules(kind_go=kind, method_go=method, main_go=use) == []
    assert rules(kind_go=kind, method_go=method.replace("return b.word", "return x"), main_go=use)


@pytest.mark.parametrize(("inner", "outer"), [("r.FormValue(`x`)", '"ls"'), ('"ls"', "r.FormValue(`x`)")])
def test_a_block_hides_a_name_until_its_end(inner: str, outer: str) -> None:
    body = f'x := {outer}\nif w != nil {{\nx := {inner}\n_ = x\n}}\nexec.Command("sh", "-c", x).Run()\n}}\n'
    assert bool(rules(main_go=HANDLER + body)) == outer.startswith("r.")


def test_const_in_a_block_hides_too() -> None:
    text = "const { exec } = require('child_process');\napp.get('/', (req, res) => {\n  const x = 'ls';\n"
    assert not rules(a_js=text + "  if (req.query.a) { const x = req.query.b; }\n  exec(x);\n});\n")
    assert rules(a_js=text + "  if (req.query.a) { const x = req.query.b; exec('ls ' + x); }\n});\n")


@pytest.mark.parametrize(
    ("checked", "found"), [("body['a']", True), ("body['b']", False), ("body", False), ("body.get('b')", False)]
)
def test_a_check_is_of_one_place(checked: str, found: bool) -> None:
    text = (
        "import os\nfrom flask import Flask, abort, request\napp = Flask(__name__)\nKNOWN = ['x', 'y']\n"
        "@app.route('/')\ndef view():\n    body = request.get_json()\n"
        f"    if {checked} not in KNOWN:\n        abort(400)\n    os.system(body['b'])\n"
    )
    assert bool(rules(a_py=text)) == found


def test_the_scheme_of_an_address_says_nothing_of_its_host() -> None:
    text = (
        "import requests\nfrom urllib.parse import urlsplit\nfrom flask import Flask, abort, request\n"
        "app = Flask(__name__)\n@app.route('/')\ndef view():\n    u = request.args['u']\n"
        "    if urlsplit(u).{part} not in ('a', 'b'):\n        abort(400)\n"
        "    return {{'n': requests.get(u).status_code}}\n"
    )
    assert rules(a_py=text.format(part="scheme"))
    assert not rules(a_py=text.format(part="hostname"))


def test_what_costs_too_much_is_read_again_with_fewer_calls() -> None:
    """Every call doubles the work: eight levels are too many, two are not, and the flaw is in the open."""
    filler = "        y = (x + 'a' + x + 'b', x + 'c')\n" * 60
    deep = "".join(
        f"    def m{level}(self, x):\n        self.a = x\n" + filler + f"        self.m{level + 1}(self.a)\n" * 6
        for level in range(9)
    )
    text = (
        "import os\nfrom flask import Flask, request\napp = Flask(__name__)\nclass A:\n"
        f"{deep}    def m9(self, x):\n        return x\n"
        "@app.route('/')\ndef view():\n    A().m0(request.args['q'])\n    os.system(request.args['q'])\n"
    )
    found = analysed(a_py=text)
    assert [flow.finding.rule for flow in found.flows] == ["python-os-system"]
    assert [gap for gap in found.not_analysed if "view" in text.splitlines()[gap.line - 1]] == []


def test_what_is_cut_off_is_said_with_its_place() -> None:
    names = [f"v{place}" for place in range(400)]
    loop = "".join(
        f"        {name} = f({name}, v0, v1)\n        if {name}:\n            {name} = 1\n" for name in names
    )
    text = "def quick():\n    pass\n\ndef wild(f, v0, v1):\n    while f:\n" + loop * 6
    gaps = analysed(a_py=text).not_analysed
    assert [(gap.file, gap.line) for gap in gaps] == [("a.py", 4)]
    assert "not analysed" in gaps[0].why


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a_py", "x = 1\n\ny = (" + "(" * 200 + "1" + ")" * 200 + ")\n", 3),
        ("a_js", "let x = 1;\nlet y = " + "[" * 200 + "]" * 200 + ";\n", 2),
        ("a_go", "package a\n\nvar y = " + "-(" * 200 + "1" + ")" * 200 + "\n", 3),
    ],
)
def test_what_nests_too_deep_is_said_with_its_place(name: str, text: str, line: int) -> None:
    assert [gap.line for gap in analysed(**{name: text}).not_analysed] == [line]


def test_a_list_plus_something_unknown_keeps_its_items() -> None:
    run = "import subprocess\nfrom flask import request\n\n\ndef show():\n    subprocess.run({})\n"
    assert not rules(a_py=run.format("['ls', '-l'] + request.args.getlist('a')"))
    assert rules(a_py=run.format("request.args.getlist('a') + ['-l']")) == [("python-program", "a.py", 6)]
    assert not rules(a_py="def f():\n    pass\n\n\ndef g(x):\n    return f + x\n")
