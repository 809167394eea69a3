"""Blue may not hide a sink: what can be known is resolved, and what cannot is a blind spot that no patch may add."""

import hidden_sinks as hidden
import pytest
from samples import scanned

from moot.core.types import Language
from moot.protocols.harden.patches import new_blind_spot

HEADS: dict[Language, str] = {"python": hidden.python("pass"), "javascript": hidden.javascript("0")}


@pytest.mark.parametrize("line", hidden.PYTHON_FOUND)
def test_a_sink_of_python_that_is_named_in_a_roundabout_way_is_found(line: str) -> None:
    scan = scanned("python", hidden.python(line))
    assert scan.findings and not scan.not_analysed


@pytest.mark.parametrize(
    "line",
    [
        "subprocess.run(['grep', '-c', x, 'file'])",
        "subprocess.run(['ls', '--'] + [x])",
        "subprocess.run(['git', '-C', x, 'log'])",
        "subprocess.run(['ping', '-c', '1', x])",
        "subprocess.run(['cat'], input=x)",
        "subprocess.run(['sort'], input=x, executable='/usr/bin/sort')",
        "subprocess.run([sys.executable, '-m', 'pip', x])",
        "subprocess.run([sys.executable, '-c', 'import sys', x])",
        "subprocess.run(['python3', 'a.py', '-c', x])",
        "subprocess.run(['awk', '{print $1}', x])",
        "subprocess.run(['awk', '-v', x, '{print $1}'])",
        "subprocess.run(['ssh', '-i', x, 'host', 'ls'])",
        "import shlex | subprocess.run(['ssh', 'host', 'ls ' + shlex.quote(x)])",
        "import shlex | subprocess.run(shlex.split('ls ' + x))",
    ],
)
def test_a_program_of_python_that_runs_no_text_is_no_sink(line: str) -> None:
    assert not scanned("python", hidden.python(line)).findings


@pytest.mark.parametrize("line", hidden.JS_FOUND)
def test_a_sink_of_javascript_that_is_named_in_a_roundabout_way_is_found(line: str) -> None:
    scan = scanned("javascript", hidden.javascript(line))
    assert scan.findings and not scan.not_analysed


@pytest.mark.parametrize("body", hidden.GO_FOUND)
def test_a_sink_of_go_that_is_reached_by_a_value_is_found(body: str) -> None:
    scan = scanned("go", hidden.go(body, hidden.GO_FOUND[body]))
    assert [finding.rule for finding in scan.findings if finding.rule == "go-exec"] and not scan.not_analysed


def test_a_carriage_return_ends_a_comment_of_python() -> None:
    assert scanned("python", "import os\ndef f(x):\n    # fine\r    os.system(x)\n").findings


@pytest.mark.parametrize("order", [1, -1])
def test_no_length_of_a_chain_of_calls_hides_its_end(order: int) -> None:
    chain = [f"def f{n}(x):\n    f{n + 1}(x)\n" for n in range(12)] + ["def f12(x):\n    os.system(x)\n"]
    assert scanned("python", "import os\n" + "".join(chain[::order])).findings


def test_no_number_of_harmless_calls_hides_the_harmful_one() -> None:
    calls = "    run('ls')\n" * 70 + "    run(x)\n"
    text = f"import os\ndef f(x):\n{calls}"
    run = "def run(x):\n    os.system(x)\n"
    assert scanned("python", text + run).findings and scanned("python", run + text).findings


def test_a_function_that_calls_itself_is_read_to_its_end() -> None:
    text = "import os\ndef run(n, x):\n    if n:\n        return run(n - 1, x)\n    os.system(x)\n"
    assert scanned("python", text + "def f(x):\n    run(3, x)\n").findings


@pytest.mark.parametrize(
    ("language", "line"),
    [("python", line) for line in hidden.PYTHON_BLIND] + [("javascript", line) for line in hidden.JS_BLIND],
)
def test_what_cannot_be_resolved_is_a_blind_spot(language: Language, line: str) -> None:
    write = hidden.python if language == "python" else hidden.javascript
    before, after = scanned(language, HEADS[language]), scanned(language, write(line))
    assert new_blind_spot(before, after)
    assert not new_blind_spot(after, after)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "# -*- coding: rot13 -*-\nvzcbeg bf\n"),
        ("python", "import os\nname = 'a\u202eb'\n"),
        ("javascript", "const name = 'a\u2066b';\n"),
        ("go", 'package a\n\nimport "unsafe"\n'),
        ("go", 'package a\n\nimport . "os/exec"\n'),
        ("go", "package a\n\n//go:linkname run os/exec.Command\nfunc run()\n"),
        ("go", 'package a\n\nimport "reflect"\n\nfunc F(v any, n string) {\n\treflect.ValueOf(v).MethodByName(n)\n}\n'),
        ("go", 'package a\n\nimport "os/exec"\n\nvar run = exec.Command\n'),
    ],
)
def test_whole_files_can_be_blind(language: Language, text: str) -> None:
    before = scanned(language, "package a\n" if language == "go" else "")
    assert new_blind_spot(before, scanned(language, text))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "import os\ndef f(x):\n    return getattr(x, 'name', None), vars(x), os.environ['A']\n"),
        ("python", "import subprocess\ndef f(x):\n    subprocess.run(['ls', '--', x], check=True)\n"),
        ("python", "import ast\ndef f(x):\n    return ast.literal_eval(x)\n"),
        ("python", "TABLE = {'a': len, 'b': str}\ndef f(k, x):\n    return TABLE[k](x)\n"),
        ("python", "import os\nos.environ['HOME'] = '/tmp'\nclass A:\n    def __init__(self):\n        self.a = 1\n"),
        ("python", "import json\ndef f(x):\n    return list(map(json.loads, x))\n"),
        ("python", "def f(größe, naïve):\n    return größe + naïve\n"),
        ("javascript", "const t = { a: (x) => x };\nfunction f(k, x) { return t[k](x); }\nmodule.exports = { f };\n"),
        (
            "javascript",
            "const { execFile } = require('child_process');\nconst f = (x) => execFile('ls', ['--', x]);\n",
        ),
        ("javascript", "const fs = require('fs');\nfunction f(rows, i) { return rows[i].map((r) => r[0]); }\n"),
        ("javascript", "class A { copy() { return new this.constructor(1); } }\nsetTimeout(() => 1, 5);\n"),
        ("go", 'package a\n\nimport "os/exec"\n\nfunc F(x string) {\n\texec.Command("ls", "--", x).Run()\n}\n'),
    ],
)
def test_honest_code_has_no_blind_spots(language: Language, text: str) -> None:
    assert scanned(language, text).blind == ()
