"""What fires and what stays silent in Python, one line each."""

import pytest
from samples import rules

FIRES = [
    ("import hashlib\nhashlib.sha256(password)", "python-password-hash"),
    ('cur.execute("SELECT * FROM t WHERE n = \'" + name + "\'")', "python-sql-string"),
    ("cur.execute(f\"SELECT * FROM t WHERE n = '{name}'\")", "python-sql-string"),
    ("cur.execute(\"SELECT * FROM t WHERE n = '%s'\" % name)", "python-sql-string"),
    ('cur.execute("SELECT * FROM t WHERE n = {}".format(name))', "python-sql-string"),
    ('def f(name):\n    q = "SELECT * FROM t WHERE n = "\n    q += name\n    cur.execute(q)', "python-sql-string"),
    ('def f(n):\n    q = f"DELETE FROM t WHERE n = {n}"\n    q = q + ";"\n    cur.execute(q)', "python-sql-string"),
    ('Model.objects.raw("SELECT * FROM t WHERE n = %s" % name)', "python-sql-string"),
    ("import subprocess\nsubprocess.run(cmd, shell=True)", "python-shell"),
    ('import subprocess as sp\nsp.check_output(f"ls {x}", shell=True)', "python-shell"),
    ("from subprocess import Popen as P\nP(cmd, shell=True)", "python-shell"),
    ('from os import system\nsystem("ls " + x)', "python-os-system"),
    ("import os\nos.popen(cmd)", "python-os-system"),
    ("eval(x)", "python-eval"),
    ("exec(code)", "python-eval"),
    ("import yaml\nyaml.load(x)", "python-yaml-load"),
    ("import yaml\nyaml.load(x, Loader=yaml.Loader)", "python-yaml-load"),
    ("from yaml import load\nload(x)", "python-yaml-load"),
    ("import pickle\npickle.loads(x)", "python-pickle"),
    ("import hashlib\nh = hashlib.md5(password.encode()).hexdigest()", "python-password-hash"),
    ("import hashlib\ndef hash_password(p):\n    return hashlib.sha1(p).digest()", "python-password-hash"),
    ("import hashlib\nhashlib.md5(data)", "python-weak-hash"),
    ('import hashlib\nhashlib.new("sha1", data)', "python-weak-hash"),
    ("from Crypto.Cipher import DES\nDES.new(key)", "python-weak-cipher"),
    ("from Crypto.Cipher import AES\nAES.new(key, AES.MODE_ECB)", "python-weak-cipher"),
    ("import tempfile\ntempfile.mktemp()", "python-mktemp"),
    ("import requests\nrequests.get(url, verify=False)", "python-tls-verify"),
    ("import ssl\nssl._create_unverified_context()", "python-tls-verify"),
    ("import ssl\nctx.verify_mode = ssl.CERT_NONE", "python-tls-verify"),
    ("from flask import Flask\napp.run(debug=True)", "python-debug"),
    ("import random\ntoken = random.choice(letters)", "python-weak-random"),
    ("from random import randint\ndef reset_token():\n    return randint(0, 9)", "python-weak-random"),
    ('from flask import render_template_string\nrender_template_string("<b>" + name)', "python-template-string"),
    ("from markupsafe import Markup\nMarkup(x)", "python-markup"),
    ("from django.utils.safestring import mark_safe\nmark_safe(x)", "python-markup"),
    ("import jinja2\njinja2.Environment(autoescape=False)", "python-autoescape"),
    ('from flask import request\nopen("/srv/" + request.args["f"])', "python-path"),
    ('from flask import request\ndef f():\n    n = request.args.get("f")\n    return open(n)', "python-path"),
    ('from flask import request\nimport requests\nrequests.get(request.args["u"])', "python-ssrf"),
    ('from flask import request, redirect\nredirect(request.args["u"])', "python-open-redirect"),
    ("import ctypes\nctypes.memmove(a, b, n)", "python-raw-memory"),
    ("try:\n    f()\nexcept:\n    pass", "python-swallowed-error"),
    ("try:\n    f()\nexcept Exception as e:\n    # ignore\n    pass", "python-swallowed-error"),
    ("from lxml import etree\netree.XMLParser(resolve_entities=True)", "python-xxe"),
    ('password = "hunter2!"', "python-hardcoded-secret"),
    ('connect(host, password="hunter2!")', "python-hardcoded-secret"),
    ('app.config["SECRET_KEY"] = "9f8a7b6c5d4e3f2a1b"', "python-hardcoded-secret"),
    ('if password == "hunter2!":\n    pass', "python-hardcoded-secret"),
    (
        "import threading\ncount = 0\ndef work():\n    global count\n    count += 1\n"
        "threading.Thread(target=work).start()",
        "python-thread-race",
    ),
    (
        "import threading\nclass A:\n    def work(self):\n        self.n += 1\n    def go(self):\n"
        "        threading.Thread(target=self.work).start()",
        "python-thread-race",
    ),
]

SILENT = [
    'cur.execute("SELECT 1")',
    'cur.execute("SELECT * " "FROM t")',
    'cur.execute(f"SELECT 1")',
    'cur.execute("SELECT * FROM t " + "WHERE a = 1")',
    'cur.execute("SELECT * FROM t WHERE a = ?", (name,))',
    'q = "SELECT * FROM t WHERE a = %s"\ncur.execute(q, [name])',
    'TABLE = "users"\ncur.execute(f"SELECT * FROM {TABLE}")',
    'cur.execute(f"SELECT * FROM t LIMIT {int(n)}")',
    'cur.execute("SELECT * FROM t LIMIT %d" % n)',
    'cur.execute("SELECT * FROM t WHERE id IN (%s)" % ",".join("?" * len(ids)), ids)',
    'cur.execute("SELECT * FROM t WHERE id IN ({})".format(", ".join("?" for _ in ids)), ids)',
    'for t in ("a", "b"):\n    cur.execute(f"DELETE FROM {t}")',
    'pool.execute(f"job {name}")',
    '# cur.execute("SELECT * FROM t WHERE n = " + name)',
    "text = \"cur.execute(f'SELECT * FROM t WHERE a = {x}')\"",
    '"""\neval(x)\n"""',
    'import subprocess\nsubprocess.run("ls -l", shell=True)',
    'import subprocess\nsubprocess.run(["ls", x])',
    'import subprocess\nCMD = "ls"\nsubprocess.run(CMD, shell=True)',
    "import subprocess\nsubprocess.run(cmd, shell=False)",
    'import os\nos.system("clear")',
    'eval("1 + 1")',
    "model.eval()",
    "def eval(x):\n    return x\neval(y)",
    "import ast\nast.literal_eval(x)",
    "import yaml\nyaml.safe_load(x)",
    "import yaml\nyaml.load(x, Loader=yaml.SafeLoader)",
    "import json\njson.loads(x)",
    "import hashlib\nhashlib.sha256(content)",
    "import hashlib\nhashlib.md5(data, usedforsecurity=False)",
    "import tempfile\ntempfile.mkstemp()",
    "import requests\nrequests.get(url, verify=True)",
    'import requests\nrequests.get(url, verify="ca.pem")',
    "from flask import Flask\napp.run(debug=False)",
    "import random\ncolour = random.choice(colours)",
    "import secrets\ntoken = secrets.choice(letters)",
    'from flask import render_template_string\nrender_template_string("<b>{{ name }}</b>", name=name)',
    'from markupsafe import Markup\nMarkup("<b>")',
    "import jinja2\njinja2.Environment(autoescape=True)",
    'open("/etc/hosts")',
    "open(path)",
    'from flask import request\nimport os\nopen(os.path.basename(request.args["f"]))',
    'from flask import request\nn = int(request.args["n"])\nopen(n)',
    "try:\n    f()\nexcept KeyError:\n    pass",
    "try:\n    f()\nexcept Exception:\n    log()",
    "try:\n    f()\nexcept:\n    raise",
    'import os\npassword = os.environ["PASSWORD"]',
    'password = ""',
    'password = "changeme"',
    'password = "<your password>"',
    'token = "access_token"',
    'PASSWORD_FIELD = "password"',
    'api_key = "YOUR_API_KEY"',
    'token_url = "https://example.com/token"',
    "password = getpass()",
    "import threading\ndef work():\n    n = 0\n    n += 1\nthreading.Thread(target=work).start()",
    (
        "import threading\nlock = threading.Lock()\ncount = 0\ndef work():\n    global count\n    with lock:\n"
        "        count += 1\nthreading.Thread(target=work).start()"
    ),
]


@pytest.mark.parametrize(("text", "rule"), FIRES)
def test_a_flaw_is_found(text: str, rule: str) -> None:
    assert rule in rules("python", text)


@pytest.mark.parametrize("text", SILENT)
def test_sound_code_is_left_in_peace(text: str) -> None:
    assert rules("python", text) == []


@pytest.mark.parametrize(("text", "rule"), FIRES)
def test_comments_and_strings_change_nothing(text: str, rule: str) -> None:
    said = '# lock mutex validate escape sanitize prepare parameterize nosec\nNOTE = "lock = Lock(); safe_load"\n'
    assert rules("python", said + text) == rules("python", text)


def test_a_lock_in_a_comment_is_no_lock() -> None:
    body = "    global count\n    # hold the lock here\n    'with lock: acquire()'\n    count += 1\n"
    text = f"import threading\ncount = 0\ndef work():\n{body}threading.Thread(target=work).start()"
    assert rules("python", text) == ["python-thread-race"]
