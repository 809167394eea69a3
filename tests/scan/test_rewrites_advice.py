"""Flaws whose repair would count on something the code does not say: they are left, with a reason that helps."""

import pytest
from samples import repaired, repaired_files, rules

from moot.core.types import Language

PYTHON = [
    ("python-eval", "def evalInput(inputStr):\n    return eval(inputStr)\n", "literal"),
    ("python-eval", "def f(x):\n    return eval(x)\n", "literal"),
    ("python-yaml-load", "import yaml\ndef f(x):\n    return yaml.load(x, Loader=yaml.UnsafeLoader)\n", "on purpose"),
    ("python-yaml-load", "import yaml\ndef f(x):\n    return yaml.unsafe_load(x)\n", "on purpose"),
    ("python-yaml-load", "import yaml\nyaml.add_constructor('!a', a)\ndef f(x):\n    return yaml.load(x)\n", "own"),
    ("python-yaml-load", "import yaml\ndef g(x):\n    return yaml.dump(x)\ndef f(x):\n    yaml.load(x)\n", "writes"),
    ("python-autoescape", "import jinja2\ne = jinja2.Environment(autoescape=False)\n", "on purpose"),
    ("python-ssh-host-key",
     "import paramiko as p\nc = p.SSHClient()\nc.set_missing_host_key_policy(p.AutoAddPolicy())\n", "known hosts"),
    ("python-file-mode", "import os\nos.chmod('a', 0o777)\n", "who must read or write"),
    ("python-file-mode", "import os\nos.chmod('a', 0o664)\n", "who must read or write"),
    ("python-debug", "from flask import Flask\nfrom tools import run\nrun(debug=True)\n", "not known to be an app"),
    ("python-regex-injection", "import re\nfrom flask import request\n@app.route('/')\ndef f():\n"
     "    x = request.args['q']\n    return str(bool(re.search(x, 'abc')))\n", "pattern"),
    ("python-header", "from flask import request, Response\n@app.route('/')\ndef f():\n    r = Response('')\n"
     "    r.headers['X'] = build(request.args['q'])\n    return r\n", "type"),
    ("python-jwt", "import jwt\ndef peek_unverified(t, key):\n"
     "    return jwt.decode(t, key, algorithms=['HS256'], options={'verify_signature': False})\n", "on purpose"),
    ("python-weak-random", "import random\ndef f():\n    token = random.random()\n    return token\n", "seeded"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "before", "why"), PYTHON)
def test_python_is_left_with_advice(rule: str, before: str, why: str) -> None:
    assert rule in rules("python", before)
    texts, repair = repaired_files({"a.py": before, "tools.py": "import random\nrandom.seed(1)\n"})
    assert texts["a.py"] == before
    assert why in " ".join(repair.left.values()), repair.left


SCRIPTS = [
    ("javascript-html", "function f(el, bodyHtml) { el.innerHTML = bodyHtml; }\n", "markup"),
    ("javascript-tls-verify",
     "const https = require('https');\nfunction f(u, insecure) {\n  if (insecure) {\n"
     "    return https.get(u, { rejectUnauthorized: false });\n  }\n}\n", "condition"),
    ("javascript-eval", "function f(text) { return eval('(' + text + ')'); }\n", "JSON"),
    ("javascript-weak-hash",
     "const c = require('crypto');\nfunction etag(b) {\n  return c.createHash('md5').update(b).digest('hex');\n}\n",
     "digest"),
    ("javascript-file-mode", "const fs = require('fs');\nfs.chmodSync('a', 0o777);\n", "who must read or write"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "before", "why"), SCRIPTS)
def test_a_script_is_left_with_advice(rule: str, before: str, why: str) -> None:
    assert rule in rules("javascript", before)
    after, repair = repaired("javascript", before)
    assert after == before
    assert why in " ".join(repair.left.values()), repair.left


def go(body: str, *imports: str, signature: str = "f(name string) error") -> str:
    lines = "".join(f'\t"{name}"\n' for name in imports)
    return f"package a\n\nimport (\n{lines})\n\nfunc {signature} {{\n{body}\n}}\n"


GO = [
    ("go-tls-verify", go('\tc := &tls.Config{}\n\tif name == "" {\n\t\tc = &tls.Config{InsecureSkipVerify: true}\n'
     "\t}\n\tuse(c)\n\treturn nil", "crypto/tls"), "condition"),
    ("go-tls-verify", go("\tuse(&tls.Config{InsecureSkipVerify: true, VerifyConnection: check})\n\treturn nil",
     "crypto/tls"), "check of its own"),
    ("go-weak-hash", go('\tuse(md5.Sum([]byte(name)))\n\treturn nil', "crypto/md5"), "digest"),
    ("go-template-html", go("\tuse(template.HTML(name))\n\treturn nil", "html/template"), "markup"),
    ("go-file-mode", go('\treturn os.WriteFile(name, nil, 0666)', "os"), "who must read or write"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "before", "why"), GO)
def test_go_is_left_with_advice(rule: str, before: str, why: str) -> None:
    assert rule in rules("go", before)
    after, repair = repaired("go", before)
    assert after == before
    assert why in " ".join(repair.left.values()), repair.left


STILL: list[tuple[Language, str, str]] = [
    ("python", "def parse_value(text):\n    return eval(text)\n",
     "import ast\ndef parse_value(text):\n    return ast.literal_eval(text)\n"),
    ("python", "import flask\nimport jinja2\ne = jinja2.Environment(loader=x)\n",
     "import flask\nimport jinja2\ne = jinja2.Environment(loader=x, autoescape=jinja2.select_autoescape())\n"),
    ("go", go("\tuse(template.HTML(\"<b>\" + name + \"</b>\"))\n\treturn nil", "html/template"),
     go("\tuse(template.HTML(\"<b>\" + template.HTMLEscapeString(name) + \"</b>\"))\n\treturn nil", "html/template")),
]  # fmt: skip


@pytest.mark.parametrize(("language", "before", "after"), STILL)
def test_what_is_known_is_still_rewritten(language: Language, before: str, after: str) -> None:
    text, repair = repaired(language, before)
    assert (text, repair.left) == (after, {})


def test_a_page_that_is_built_of_two_values_escapes_the_one_from_outside() -> None:
    before = "app.get('/', (req, res) => {\n  res.send('<p>' + req.query.name + '</p>' + menu);\n});\n"
    after, _ = repaired("javascript", before)
    assert "escapeHtml(req.query.name)" in after and "escapeHtml(menu)" not in after


def test_a_link_inside_the_folder_may_lead_out_of_it(tmp_path: object) -> None:
    """Uploads often lie on another disk, linked into the folder: only what the visitor wrote is checked."""
    before = "import os\nfrom flask import request\n@app.route('/x')\ndef x():\n    bar = request.args.get('x')\n"
    before += "    return str(len(open('/srv/data/' + bar).read()))\n"
    after, repair = repaired("python", before)
    assert "realpath" not in after and "abspath" in after, repair
