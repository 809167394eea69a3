"""What the engine follows, and where it knows a flow to end. In each snippet `q` comes from a web request."""

import pytest
from samples import scanned

from moot.core.types import Code, SourceFile, Vulnerability
from moot.scan import StaticTeam
from moot.scan.engine.state import HeapCell, join_cells
from moot.scan.engine.values import ANY

HEAD = """
import base64, configparser, html, os, re, shlex, subprocess, collections, queue, pathlib, uuid, sys
from flask import Flask, abort, request
app = Flask(__name__)
ALLOWED = ['a', 'b']
TABLE = {'a': 'x', 'b': 'y'}
BASE = '/data'
"""


def found(body: str, before: str = "") -> list[str]:
    lines = "\n    ".join(["q = request.args.get('q')", *body.splitlines()])
    text = f"{HEAD}{before}\n@app.route('/x')\ndef view():\n    {lines}\n"
    return [finding.rule for finding in scanned("python", text).findings if finding.rule in SEEN]


SEEN = {"python-os-system", "python-path", "python-response-xss", "python-eval", "python-open-redirect"}
SHELL = ["python-os-system"]
FLOWS = [
    "os.system(q)",
    "os.system(f'ls {q}')",
    "os.system('ls %s' % q)",
    "os.system('ls {}'.format(q))",
    "os.system('ls {0[k]}'.format({'k': q}))",
    "os.system(' '.join(['ls', q]))",
    "x = 'ls '\nx += q\nos.system(x)",
    "a, b = 'ls', q\nos.system(b)",
    "os.system(q.strip().lower())",
    "os.system(q[1:])",
    "d = {}\nd['k'] = q\nos.system(d['k'])",
    "xs = ['a']\nxs.append(q)\nxs.pop(0)\nos.system(xs[0])",
    "c = configparser.ConfigParser()\nc.add_section('s')\nc.set('s', 'k', q)\nos.system(c.get('s', 'k'))",
    "z = queue.Queue()\nz.put(q)\nos.system(z.get())",
    "os.system(base64.b64decode(base64.b64encode(q.encode())).decode())",
    "os.system(q if 7 * 6 == 42 else 'ls')",
    "x = 'ls'\nif os.path.exists('/x'):\n    x = q\nos.system(x)",
    "x = 'ls'\nfor part in q.split(' '):\n    x += part\nos.system(x)",
    "match 'B':\n    case 'A':\n        x = 'ls'\n    case 'B':\n        x = q\nos.system(x)",
    "try:\n    x = q\nexcept ValueError:\n    x = 'ls'\nos.system(x)",
    "while True:\n    x = q\n    break\nos.system(x)",
    "f = lambda v: 'ls ' + v\nos.system(f(q))",
    "os.system([v for v in [q]][0])",
    "os.system(html.escape(q))",
    "if (x := q):\n    os.system(x)",
    "if q.startswith('ls'):\n    os.system(q)",
    "if 'a' in q:\n    os.system(q)",
    "with open('f') as f:\n    os.system(q)",
    "def inner():\n    os.system(q)\ninner()",
]
ENDS = [
    "os.system('ls')",
    "os.system(shlex.quote(q))",
    "os.system('ls %d' % q)",
    "os.system(f'ls {int(q)}')",
    "os.system(str(uuid.UUID(q)))",
    "x = q\nx = 'ls'\nos.system(x)",
    "d = {}\nd['k'] = q\nd['j'] = 'ls'\nos.system(d['j'])",
    "xs = ['a']\nxs.append(q)\nxs.append('ls')\nxs.pop(0)\nos.system(xs[1])",
    "c = configparser.ConfigParser()\nc.set('s', 'k', q)\nc.set('s', 'j', 'ls')\nos.system(c.get('s', 'j'))",
    "os.system('ls' if 7 * 6 == 42 else q)",
    "n = 106\nif (7 * 18) + n > 200:\n    x = 'ls'\nelse:\n    x = q\nos.system(x)",
    "match 'ABC'[0]:\n    case 'A':\n        x = 'ls'\n    case _:\n        x = q\nos.system(x)",
    "if q not in ALLOWED:\n    return 'no'\nos.system(q)",
    "if q in ALLOWED:\n    os.system(q)",
    "assert q in ALLOWED\nos.system(q)",
    "os.system(TABLE[q])",
    "os.system(TABLE.get(q, 'ls'))",
    "if not q.isalnum():\n    abort(400)\nos.system(q)",
    "if re.fullmatch(r'[a-z]+', q):\n    os.system(q)",
    "if not re.match(r'^[a-z0-9_]+$', q):\n    raise ValueError\nos.system(q)",
    "if q != 'ls':\n    sys.exit(1)\nos.system(q)",
    "ok = q in ALLOWED\nif ok:\n    os.system(q)",
    "if request.args.get('q') in ALLOWED:\n    os.system(request.args.get('q'))",
    "return 'x'\nos.system(q)",
    "x = q if q in ALLOWED else 'ls'\nos.system(x)",
    "x = q.split(' ')[0]\nif x in ALLOWED:\n    os.system(x)",
    "x = q.split(' ')[0]\nif q in ALLOWED:\n    os.system(x)",
    "if q not in ALLOWED:\n    q = 'ls'\nos.system(q)",
]


@pytest.mark.parametrize("body", FLOWS)
def test_a_flow_is_followed(body: str) -> None:
    assert found(body) == SHELL


@pytest.mark.parametrize("body", ENDS)
def test_a_flow_ends(body: str) -> None:
    assert found(body) == []


PATHS_OPEN = [
    "open('/data/' + q)",
    "open(os.path.join(BASE, q))",
    "p = os.path.join(BASE, q)\nif p.startswith(BASE):\n    open(p)",
    "p = pathlib.Path(BASE) / q\np.read_text()",
    "if q.rsplit('.', 1)[1] in ALLOWED:\n    open('/data/' + q)",
]
PATHS_CLOSED = [
    "open('/data/' + os.path.basename(q))",
    "p = os.path.realpath(os.path.join(BASE, q))\nif not p.startswith(BASE):\n    abort(404)\nopen(p)",
    "p = (pathlib.Path(BASE) / q).resolve()\nif not p.is_relative_to(BASE):\n    raise ValueError\np.read_text()",
    "p = (pathlib.Path(BASE) / q).resolve()\np.relative_to(BASE)\np.read_text()",
    "base = pathlib.Path(BASE)\np = (base / q).resolve()\nif base not in p.parents:\n    abort(404)\np.read_text()",
    "if '..' in q or q.startswith('/'):\n    return 'no'\nopen('/data/' + q)",
    "p = os.path.abspath(q)\nif os.path.commonpath([BASE, p]) != BASE:\n    return 'no'\nopen(p)",
]


@pytest.mark.parametrize("body", PATHS_OPEN)
def test_a_path_from_outside_is_found(body: str) -> None:
    assert found(body) == ["python-path"]


@pytest.mark.parametrize("body", PATHS_CLOSED)
def test_a_path_that_is_checked_is_not(body: str) -> None:
    assert found(body) == []


HELPERS = """
class Box:
    def __init__(self, value):
        self.value = value
    def get(self):
        return self.value
    def safe(self):
        return 'ls'
def same(x):
    return x
def fixed(x):
    return 'ls'
def is_fine(x):
    return x in ALLOWED
def refuse(x):
    if x not in ALLOWED:
        raise ValueError(x)
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("os.system(same(q))", SHELL),
        ("os.system(fixed(q))", []),
        ("b = Box(q)\nos.system(b.get())", SHELL),
        ("b = Box(q)\nos.system(b.value)", SHELL),
        ("b = Box(q)\nos.system(b.safe())", []),
        ("if is_fine(q):\n    os.system(q)", []),
        ("if not is_fine(q):\n    os.system(q)", SHELL),
        ("refuse(q)\nos.system(q)", []),
    ],
)
def test_functions_and_classes_are_followed(body: str, expected: list[str]) -> None:
    assert found(body, HELPERS) == expected


@pytest.mark.parametrize(("body", "expected"), [("run(q)", SHELL), ("run('ls')", [])])
def test_a_sink_in_a_helper_counts_for_what_is_given_to_it(body: str, expected: list[str]) -> None:
    assert found(body, "def run(command):\n    os.system(command)\n") == expected


def test_a_flow_across_files_and_aliases() -> None:
    helper = (
        "import os as system\ndef start(line):\n    system.system('run ' + line)\ndef quiet(line):\n    return 'x'\n"
    )
    web = (
        "from flask import Flask, request as r\nimport tools.shell as sh\nfrom tools.shell import quiet\n"
        "app = Flask('x')\n@app.route('/')\ndef go():\n    sh.start(r.form['a'])\n    sh.start(quiet(r.form['a']))\n"
    )
    files = (
        SourceFile(path="web.py", language="python", text=web),
        SourceFile(path="tools/shell.py", language="python", text=helper),
    )
    findings = StaticTeam().scan(Code(files=files)).findings
    assert [(f.rule, f.file, f.line) for f in findings] == [("python-os-system", "tools/shell.py", 3)]
    assert [(step.file, step.line) for step in findings[0].path] == [("web.py", 7), ("tools/shell.py", 3)]


def only(text: str) -> Vulnerability:
    (finding,) = scanned("python", text).findings
    return finding


def test_a_finding_tells_the_way() -> None:
    finding = only(
        "from flask import Flask, request\nimport os\napp = Flask('a')\n@app.route('/')\ndef f():\n"
        "    a = request.args['x']\n    b = 'ls ' + a\n    os.system(b)\n"
    )
    assert [(step.line, step.what) for step in finding.path] == [
        (6, "flask.request.args['x'] is read"),
        (7, "goes into b"),
        (8, "reaches os.system(b)"),
    ]


def test_a_sure_source_is_surer_than_a_parameter() -> None:
    sure = only("import os\nfrom flask import request\ndef f():\n    os.system(request.args['x'])\n")
    weak = only("import os\ndef f(x):\n    os.system('ls ' + x)\n")
    assert (sure.confidence or 0) > (weak.confidence or 0)


def test_the_address_of_a_handler_is_known() -> None:
    web = "from flask import Flask, request\nimport os\napp = Flask('a')\n@app.route({!r})\ndef f(x=''):\n"
    body = "    os.system(request.path.split('/')[1])\n"
    assert scanned("python", web.format("/fixed/way") + body).findings == ()
    assert only(web.format("/<x>") + body).rule == "python-os-system"


@pytest.mark.parametrize(("kind", "count"), [("int:", 0), ("", 1), ("path:", 1)])
def test_a_converted_parameter_is_no_text(kind: str, count: int) -> None:
    text = (
        f"from flask import Flask\nimport os\napp = Flask('a')\n@app.route('/<{kind}x>')\ndef f(x):\n    os.system(x)\n"
    )
    assert len(scanned("python", text).findings) == count


def test_too_much_work_is_cut_off_and_said() -> None:
    loops = "".join(f"{'    ' * i}for a{i} in {[*range(12)]}:\n" for i in range(1, 7))
    wild = f"def wild(x):\n{loops}{'    ' * 7}y = x\n"
    scan = scanned("python", wild + "def calm(x):\n    eval(x)\n")
    assert [(gap.line, gap.why[:18]) for gap in scan.not_analysed] == [(1, "too much to follow")]
    assert [finding.rule for finding in scan.findings] == ["python-eval"]


def test_joined_cells_keep_the_order_of_their_keys() -> None:
    """The order decides which taints of many are kept: it must not depend on the process."""
    left, right = (HeapCell("dict", {f"key{n}": ANY for n in numbers}) for numbers in (range(20), range(10, 40)))
    assert list(join_cells(left, right).items) == [f"key{n}" for n in range(40)]
