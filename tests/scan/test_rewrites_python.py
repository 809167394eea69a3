"""Rewrites of Python, compared to the letter."""

import pytest
from samples import repaired, rules

QUERIES = [
    (
        "cur.execute(f\"SELECT * FROM t WHERE n = '{name}' AND a = {age}\")",
        'cur.execute("SELECT * FROM t WHERE n = ? AND a = ?", (str(name), age))',
    ),
    (
        'cur.execute("SELECT * FROM t WHERE n = \'" + name + "\'")',
        'cur.execute("SELECT * FROM t WHERE n = ?", (name,))',
    ),
    ('cur.execute("SELECT * FROM t WHERE a = " + str(age))', 'cur.execute("SELECT * FROM t WHERE a = ?", (age,))'),
    (
        "cur.execute('SELECT * FROM t WHERE n = \\'' + name + '\\'')",
        "cur.execute('SELECT * FROM t WHERE n = ?', (name,))",
    ),
    (
        "cur.execute(\"SELECT * FROM t WHERE n = '%s' AND a = %s\" % (name, age))",
        'cur.execute("SELECT * FROM t WHERE n = ? AND a = ?", (str(name), age))',
    ),
    (
        "cur.execute(\"SELECT * FROM t WHERE n = '%s'\" % name)",
        'cur.execute("SELECT * FROM t WHERE n = ?", (str(name),))',
    ),
    (
        "cur.execute(\"SELECT * FROM t WHERE n = '{1}' AND a = {0}\".format(age, name))",
        'cur.execute("SELECT * FROM t WHERE n = ? AND a = ?", (str(name), age))',
    ),
    (
        "cur.execute(\"SELECT '{{x}}' FROM t WHERE n = '{n}'\".format(n=name))",
        "cur.execute(\"SELECT '{x}' FROM t WHERE n = ?\", (str(name),))",
    ),
    (
        "cur.execute(f\"SELECT * FROM t WHERE n LIKE '%{name}%'\")",
        'cur.execute("SELECT * FROM t WHERE n LIKE ?", (f"%{name}%",))',
    ),
    (
        'cur.execute("SELECT * FROM t WHERE n LIKE \'%" + d["k"] + "%\'")',
        'cur.execute("SELECT * FROM t WHERE n LIKE ?", (f\'%{d["k"]}%\',))',
    ),
    (
        "cur.execute(f\"INSERT INTO t (n, a) VALUES ('{name}', {age})\")",
        'cur.execute("INSERT INTO t (n, a) VALUES (?, ?)", (str(name), age))',
    ),
    (
        "cur.execute(f\"UPDATE t SET n = '{name}' WHERE a BETWEEN {low} AND {high} LIMIT {n}\")",
        'cur.execute("UPDATE t SET n = ? WHERE a BETWEEN ? AND ? LIMIT ?", (str(name), low, high, n))',
    ),
    (
        'cur.execute(f"""SELECT *\n    FROM t  -\n    WHERE n = \'{name}\'\n""")',
        'cur.execute("""SELECT *\n    FROM t  -\n    WHERE n = ?\n""", (str(name),))',
    ),
    (
        'cur.execute(\n    "SELECT * FROM t " +\n    "WHERE n = \'" + name + "\'"\n)',
        'cur.execute(\n    "SELECT * FROM t " +\n    "WHERE n = ?", (name,)\n)',
    ),
    (
        "def f(name):\n    q = f\"SELECT * FROM t WHERE n = '{name}'\"\n    return cur.execute(q)",
        'def f(name):\n    q = "SELECT * FROM t WHERE n = ?"\n    return cur.execute(q, (str(name),))',
    ),
    (
        "def f(name):\n    q = f\"SELECT * FROM t WHERE n = '{name}'\"\n    print(q)\n    return cur.execute(q)",
        "def f(name):\n    q = f\"SELECT * FROM t WHERE n = '{name}'\"\n    print(q)\n"
        '    return cur.execute("SELECT * FROM t WHERE n = ?", (str(name),))',
    ),
    (
        'cur.execute("SELECT * FROM t WHERE n = \'" + (name or other) + "\'")',
        'cur.execute("SELECT * FROM t WHERE n = ?", ((name or other),))',
    ),
]
DRIVER = "import sqlite3\n"
SQLITE = [(DRIVER + before, DRIVER + after) for before, after in QUERIES]

REFUSED = [
    ('cur.execute(f"SELECT * FROM {tables}")', "FROM"),
    ('cur.execute(f"SELECT * FROM t ORDER BY {clause}")', "BY"),
    ('cur.execute(f"SELECT {columns} FROM t")', "SELECT"),
    ('cur.execute(f"INSERT INTO t ({columns}) VALUES (1)")', "name or a clause"),
    ('cur.execute(f"SELECT * FROM t WHERE {condition}")', "WHERE"),
    ('cur.execute(f"SELECT * FROM t WHERE id IN ({ids})")', "whole list"),
    ('cur.execute(f"SELECT * FROM t WHERE `{column}` = 1")', "name of a table"),
    ('cur.execute(f"SELECT * FROM t WHERE n = {name} -- the name")', "comment"),
    ('cur.execute(f"SELECT * FROM t WHERE n = {name} AND a = ?")', "placeholders"),
    ('cur.execute(f"SELECT * FROM t WHERE n = {name!r}")', "formatted"),
    ('cur.execute(f"SELECT * FROM t WHERE n = {name}_x")', "part of a word"),
    ('cur.execute(f"SELECT * FROM t WHERE n = {name}", other)', "alone"),
    ('cur.executescript(f"DELETE FROM t WHERE n = {name}")', "execute()"),
    ('def f(n):\n    q = "SELECT * FROM t WHERE n = "\n    q += n\n    cur.execute(q)', "several steps"),
    (
        "def f(n):\n    q = f\"SELECT * FROM t WHERE n = '{n}'\"\n    n = 1\n    print(q)\n    cur.execute(q)",
        "more places",
    ),
    ('import sqlalchemy\nsession.execute(f"SELECT * FROM t WHERE n = {name}")', "driver"),
    ('import psycopg2\ncur.execute(f"SELECT * FROM t WHERE n = {name}")', "driver"),
]

OTHERS = [
    (
        "import sqlite3\ndef f(n):\n    q = f\"SELECT * FROM t WHERE n = '{n}'\"\n    n = 2\n    cur.execute(q)",
        'import sqlite3\ndef f(n):\n    params = [str(n)]\n    q = "SELECT * FROM t WHERE n = ?"\n    n = 2\n'
        "    cur.execute(q, params)",
    ),
    (
        'import subprocess\nsubprocess.run("ls -l " + path, shell=True)',
        'import subprocess\nsubprocess.run(["ls", "-l", path])',
    ),
    (
        "import subprocess as sp\nsp.run(f\"ping -c 1 '{host}'\", shell=True, check=True)",
        'import subprocess as sp\nsp.run(["ping", "-c", "1", str(host)], check=True)',
    ),
    (
        'import subprocess\nsubprocess.run("cat /var/log/%s.log" % name, timeout=3, shell=True)',
        'import subprocess\nsubprocess.run(["cat", f"/var/log/{name}.log"], timeout=3)',
    ),
    (
        'import subprocess\ndef f(path):\n    cmd = "ls " + path\n    subprocess.call(cmd, shell=True)',
        'import subprocess\ndef f(path):\n    cmd = ["ls", path]\n    subprocess.call(cmd)',
    ),
    ('import os\nos.system("rm " + path)', 'import os\nimport subprocess\nsubprocess.run(["rm", path], check=False)'),
    (
        'from os import system\nif system(f"test -e {path}") == 0:\n    go()',
        "from os import system\nimport subprocess\n"
        'if subprocess.run(["test", "-e", str(path)], check=False).returncode == 0:\n    go()',
    ),
    (
        'import os\ny = os.popen("cat " + path).read()',
        "import os\nimport subprocess\n"
        'y = subprocess.run(["cat", path], stdout=subprocess.PIPE, text=True, check=False).stdout',
    ),
    (
        '#!/usr/bin/env python\n"""Doc."""\n\nfrom __future__ import annotations\n\ny = eval(value)\n',
        '#!/usr/bin/env python\n"""Doc."""\n\nfrom __future__ import annotations\n'
        "import ast\n\ny = ast.literal_eval(value)\n",
    ),
    ("y = eval(value)\n", "import ast\ny = ast.literal_eval(value)\n"),
    ("\ufeffy = eval(value)\r\n", "\ufeffimport ast\r\ny = ast.literal_eval(value)\r\n"),
    ("import yaml\nyaml.load(x)", "import yaml\nyaml.safe_load(x)"),
    ("import yaml\nyaml.load(x, Loader=yaml.Loader)", "import yaml\nyaml.safe_load(x)"),
    ("import yaml as y\ny.load(x, y.FullLoader)", "import yaml as y\ny.safe_load(x)"),
    (
        "try:\n    import yaml\nexcept ImportError:\n    yaml = None\nyaml.load(x)",
        "try:\n    import yaml\nexcept ImportError:\n    yaml = None\nyaml.safe_load(x)",
    ),
    ("def f():\n    import yaml\n    yaml.load(x)", "def f():\n    import yaml\n    yaml.safe_load(x)"),
    (
        "def f():\n    import yaml as y\ndef g():\n    from yaml import load\n    load(x)",
        "import yaml\ndef f():\n    import yaml as y\ndef g():\n    from yaml import load\n    yaml.safe_load(x)",
    ),
    ("from yaml import load\nload(x)\n", "from yaml import load\nimport yaml\nyaml.safe_load(x)\n"),
    ("import hashlib\nh = hashlib.md5(data).hexdigest()", "import hashlib\nh = hashlib.sha256(data).hexdigest()"),
    ('import hashlib\nh = hashlib.new("md5", data)', 'import hashlib\nh = hashlib.new("sha256", data)'),
    ("from hashlib import sha1\nsha1(data)\n", "from hashlib import sha1\nimport hashlib\nhashlib.sha256(data)\n"),
    (
        'import os\nimport tempfile\np = tempfile.mktemp(".txt")',
        'import os\nimport tempfile\np = os.path.join(tempfile.mkdtemp(), "file.txt")',
    ),
    (
        "import os\nimport tempfile\np = tempfile.mktemp(suffix=s, dir=d)",
        'import os\nimport tempfile\np = os.path.join(tempfile.mkdtemp(dir=d), "file" + s)',
    ),
    ("import requests\nrequests.get(u, verify=False, timeout=3)", "import requests\nrequests.get(u, timeout=3)"),
    ("import ssl\nc = ssl._create_unverified_context()", "import ssl\nc = ssl.create_default_context()"),
    ("import ssl\nc.verify_mode = ssl.CERT_NONE", "import ssl\nc.verify_mode = ssl.CERT_REQUIRED"),
    ("import random\ntoken = random.choice(x)\n", "import random\nimport secrets\ntoken = secrets.choice(x)\n"),
    (
        "import random\nimport secrets\npin_code = random.randint(0, 9)",
        "import random\nimport secrets\npin_code = secrets.SystemRandom().randint(0, 9)",
    ),
    ("from flask import Flask\napp.run(port=1, debug=True)", "from flask import Flask\napp.run(port=1, debug=False)"),
]

OTHERS_REFUSED = [
    ('import subprocess\nsubprocess.run("cat " + x + " | wc", shell=True)', "needs a shell"),
    ('import subprocess\nsubprocess.run("ls *.c " + options, shell=True)', "needs a shell"),
    ('import subprocess\nsubprocess.run("echo $" + x, shell=True)', "needs a shell"),
    ('import subprocess\nsubprocess.run("cd " + x, shell=True)', "matter of the shell"),
    ('import subprocess\nsubprocess.run(x + " -l", shell=True)', "Not rewritten"),
    ("import subprocess\nsubprocess.run(x, shell=True)", "Not rewritten"),
    ("def evaluate(x):\n    return eval(x)", "more than a literal"),
    ("eval(value)()", "object with behaviour"),
    ("exec(x)", "cannot be replaced"),
    ("import pickle\npickle.loads(x)", "the format itself runs code"),
    ('import hashlib\nif hashlib.md5(password).hexdigest() == "' + "0a" * 16 + '":\n    pass', "no longer match"),
    ('import hashlib\nif hashlib.md5(data).hexdigest() == "' + "0a" * 16 + '":\n    pass', "digest that"),
    ("import hashlib\nh = hashlib.md5(password.encode()).hexdigest()", "stored passwords would no longer match"),
    ('password = "hunter2!"', "set up elsewhere first"),
]


@pytest.mark.parametrize(("before", "after"), [*SQLITE, *OTHERS])
def test_a_flaw_is_rewritten(before: str, after: str) -> None:
    text, repair = repaired("python", before)
    assert (text, repair.left) == (after, {})
    assert rules("python", text) == []


@pytest.mark.parametrize(("before", "why"), [*((DRIVER + b, why) for b, why in REFUSED), *OTHERS_REFUSED])
def test_what_has_no_safe_rewrite_is_left_with_a_reason(before: str, why: str) -> None:
    text, repair = repaired("python", before)
    said = " ".join((*repair.left.values(), *repair.fixed.values()))
    assert why in said
    assert (text == before) == (not repair.fixed)


@pytest.mark.parametrize(("before", "after"), QUERIES)
def test_drivers_that_want_percent_get_it(before: str, after: str) -> None:
    text, _ = repaired("python", "import psycopg2\n" + before)
    assert text == "import psycopg2\n" + after.replace("?", "%s")


def test_a_percent_sign_that_stays_is_doubled_for_those_drivers() -> None:
    text, _ = repaired("python", "import pymysql\ncur.execute(f\"SELECT '5%' FROM t WHERE n = '{name}'\")")
    assert text == "import pymysql\ncur.execute(\"SELECT '5%%' FROM t WHERE n = %s\", (str(name),))"


@pytest.mark.parametrize(("before", "after"), [*SQLITE, *OTHERS])
def test_rewriting_twice_changes_nothing(before: str, after: str) -> None:
    once, _ = repaired("python", before)
    twice, repair = repaired("python", once)
    assert (twice, repair.texts, repair.fixed) == (once, {}, {})
