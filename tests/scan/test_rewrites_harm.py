"""What a rewrite must not do: change code whose types or purpose it does not know. Each case broke a real program."""

import pytest
from samples import repaired, repaired_files, rules

from moot.core.types import Language

JARS = [
    "import http.cookiejar\ndef f(jar):\n    jar.set_cookie(make('a', 'b'))\n",
    "class CookieJar:\n    def set_cookie(self, cookie):\n        pass\n    def update(self, other):\n"
    "        self.set_cookie(other)\n",
    "from requests.cookies import RequestsCookieJar, create_cookie\ndef f():\n    jar = RequestsCookieJar()\n"
    "    jar.set_cookie(create_cookie('a', 'b'))\n",
    "from httpx import Cookies\ndef f(cookie):\n    Cookies().jar.set_cookie(cookie)\n",
    "from flask import request\ndef f(jar):\n    jar.set_cookie(request.args['c'])\n",
    "def f(response):\n    response.set_cookie('a', 'b')\n",
    "import falcon\ndef f(req, resp):\n    resp.set_cookie('a', 'b')\n",
]


@pytest.mark.parametrize("before", JARS)
def test_only_a_web_response_gets_cookie_flags(before: str) -> None:
    after, repair = repaired("python", before)
    assert (after, repair.fixed) == (before, {})
    assert all("response" in why for why in repair.left.values())


RESPONSES = [
    "from flask import make_response\ndef f():\n    r = make_response('x')\n    r.set_cookie('a', 'b'FLAGS)\n",
    "from flask import redirect\ndef f():\n    r = redirect('/')\n    r.set_cookie('a', 'b'FLAGS)\n",
    "from flask import make_response\ndef f():\n    r = ''\n    r += 'x'\n    r = make_response(r)\n"
    "    r.set_cookie('a', 'b'FLAGS)\n",
    "from fastapi import Response\ndef f(answer: Response):\n    answer.set_cookie('a', 'b'FLAGS)\n",
    "from django.http import HttpResponse\ndef f(request):\n    r = HttpResponse()\n    r.set_cookie('a', 'b'FLAGS)\n",
    "from django.shortcuts import render\ndef f(request, response):\n    response.set_cookie('a', 'b'FLAGS)\n",
    "import flask\n@app.after_request\ndef f(response):\n    response.set_cookie('a', 'b'FLAGS)\n    return response\n",
]


@pytest.mark.parametrize("text", RESPONSES)
def test_a_web_response_gets_them(text: str) -> None:
    after, repair = repaired("python", text.replace("FLAGS", ""))
    assert after == text.replace("FLAGS", ", secure=True, httponly=True"), repair


def test_a_cookie_that_scripts_read_stays_readable() -> None:
    before = (
        "from flask import make_response\ndef f():\n    r = make_response('x')\n    r.set_cookie('csrf_token', 'b')\n"
    )
    after, _ = repaired("python", before)
    assert "httponly" not in after


VERIFY = [
    "import ssl\ndef f(verify):\n    c = ssl.create_default_context()\n    if not verify:\n"
    "        c.check_hostname = False\n        c.verify_mode = ssl.CERT_NONE\n    return c\n",
    "import requests\ndef f(url, insecure):\n    if insecure:\n        return requests.get(url, verify=False)\n"
    "    return requests.get(url)\n",
    "import ssl\ndef f(check):\n    return ssl.SSLContext() if check else ssl._create_unverified_context()\n",
    "import ssl\ndef f(c, need):\n    if need:\n        c.load_verify_locations('x')\n    else:\n"
    "        c.verify_mode = ssl.CERT_NONE\n",
    "import requests\ndef f(url):\n    try:\n        return requests.get(url)\n    except requests.RequestException:\n"
    "        return requests.get(url, verify=False)\n",
    "import requests\nrequests.get('https://localhost:8443/', verify=False)\n",
]


@pytest.mark.parametrize("before", VERIFY)
def test_code_that_leaves_the_check_to_its_caller_is_left(before: str) -> None:
    after, repair = repaired("python", before)
    assert (after, repair.fixed) == (before, {})


MARKED = [
    "from markupsafe import Markup\ndef do_striptags(value):\n    return Markup(str(value)).striptags()\n",
    "from markupsafe import Markup\ndef safe(value):\n    return Markup(str(value))\n",
    "from markupsafe import Markup\ndef show(value):\n    return Markup(value.render())\n",
]


@pytest.mark.parametrize("before", MARKED)
def test_a_whole_value_that_is_marked_as_markup_stays_markup(before: str) -> None:
    after, repair = repaired("python", before)
    assert (after, repair.fixed) == (before, {})


def test_a_library_that_implements_escaping_is_not_its_user() -> None:
    before = "from markupsafe import Markup\ndef f(value):\n    return Markup(f'<b>{value}</b>')\n"
    texts, _ = repaired_files({"src/jinja2/filters.py": before, "src/jinja2/runtime.py": "x = 1\n"})
    assert texts["src/jinja2/filters.py"] == before
    own = "class Markup(str):\n    pass\n"
    assert repaired_files({"own.py": own, "a.py": before})[0]["a.py"] == before


def test_a_value_that_is_marked_already_is_not_escaped_again() -> None:
    before = "from markupsafe import Markup\ndef f(value):\n    return Markup(f'<b>{value}</b>')\n"
    after, _ = repaired("python", before)
    space: dict[str, object] = {}
    markup = pytest.importorskip("markupsafe", reason="not run: markupsafe is not installed")
    exec(after, space)
    show = space["f"]
    assert callable(show)
    assert show(markup.Markup("<i>")) == "<b><i></b>" and show("<i>") == "<b>&lt;i&gt;</b>"


DIGESTS = [
    "import hashlib\ndef check(data, known):\n    return hashlib.md5(data).hexdigest() == known\n",
    "import hashlib\ndef check(certificate, known_hash):\n    hash = hashlib.md5(certificate).hexdigest()\n"
    "    return hash == known_hash\n",
    "import hashlib, hmac\ndef check(data, known):\n    h = hashlib.sha1()\n    h.update(data)\n"
    "    return hmac.compare_digest(h.digest(), known)\n",
    "import hashlib\ndef etag(data):\n    return hashlib.md5(data).hexdigest()\n",
    "import hashlib\ndef digest(data):\n    h = hashlib.sha1()\n    h.update(data)\n    return h.hexdigest()\n",
    "import hashlib\nclass A:\n    def __init__(self):\n        self.h = hashlib.md5()\n",
    "import hashlib\ndef f(data, seen):\n    if hashlib.md5(data).hexdigest() in seen:\n        return 1\n",
    "import hashlib\ndef f(db, data):\n    db.lookup(hashlib.md5(data).hexdigest())\n",
    "import hashlib\ndef f(data):\n    return {'Content-MD5': hashlib.md5(data).digest()}\n",
    "import hashlib\ndef f(data):\n    print(hashlib.md5(data).hexdigest()[:16])\n",
    "import hashlib\ndef f(kind, data):\n    if kind == 'MD5':\n        print(hashlib.md5(data).hexdigest())\n",
]


@pytest.mark.parametrize("before", DIGESTS)
def test_a_digest_that_others_count_on_is_left(before: str) -> None:
    assert "python-weak-hash" in rules("python", before)
    after, repair = repaired("python", before)
    assert (after, repair.fixed) == (before, {})
    assert all("digest" in why for why in repair.left.values())


COMMANDS = [
    'subprocess.run(f"ls {options} /srv", shell=True)',
    'subprocess.run("ls " + args, shell=True)',
    'subprocess.run(f"tar {flags} {path}", shell=True)',
    'os.system("grep " + x)',
    "os.system('convert %s' % params)",
    'path = "a b"\n    os.system("rm " + path)',
]
SHELLS = [
    'files = " ".join(names)\n    os.system("rm " + files)',
    'subprocess.run("cat " + path, shell=True, executable="/bin/bash")',
    'subprocess.run("command " + path, shell=True)',
]


@pytest.mark.parametrize("line", COMMANDS)
def test_what_may_be_several_words_does_not_become_one_argument(line: str) -> None:
    before = f"import os, subprocess\ndef f(path, options, args, flags, params, names, x):\n    {line}\n"
    after, repair = repaired("python", before)
    assert (after, repair.fixed) == (before, {})
    assert repair.left or not rules("python", before)


@pytest.mark.parametrize("line", SHELLS)
def test_what_only_a_shell_can_do_is_left_to_the_shell(line: str) -> None:
    before = f"import os, subprocess\ndef f(path, names):\n    {line}\n"
    after, repair = repaired("python", before)
    assert repair.fixed and ("shlex.quote(path)" in after or "shlex.join(names)" in after)
    assert ("os.system(" in after) == ("os.system(" in before) and ("shell=True" in after) == ("shell=True" in before)


STATUS = [
    "return os.system('rm ' + path)",
    "code = os.system('rm ' + path) >> 8",
    "if os.system('rm ' + path) == 256: pass",
]


@pytest.mark.parametrize("line", STATUS)
def test_the_status_of_a_command_is_only_compared_with_zero(line: str) -> None:
    """os.system gives 256 where a process ends with 1."""
    before = f"import os\ndef f(path):\n    {line}\n"
    after, repair = repaired("python", before)
    assert repair.fixed and after.endswith(f"def f(path):\n    {line.replace('+ path', '+ shlex.quote(path)')}\n")


@pytest.mark.parametrize(
    "before",
    [
        "const { exec } = require('child_process');\nfunction f(options) { exec('ls ' + options, done); }\n",
        "const { exec } = require('child_process');\nfunction f(args) { exec(`convert ${args}`); }\n",
    ],
)
def test_a_script_keeps_a_string_of_options(before: str) -> None:
    after, repair = repaired("javascript", before)
    assert (after, repair.fixed) == (before, {})


def test_go_keeps_a_string_of_options() -> None:
    before = (
        'package a\n\nimport "os/exec"\n\nfunc F(flags string) {\n\texec.Command("sh", "-c", "ls "+flags).Run()\n}\n'
    )
    after, _ = repaired("go", before)
    assert "go-exec" in rules("go", before) and '"ls "+flags' in after


def test_a_flaw_whose_line_was_changed_for_another_is_not_called_mended() -> None:
    before = "from flask import request, Response\n@app.route('/')\ndef f():\n    url = request.args['next']\n"
    before += "    r = Response('', 302)\n    r.headers['Location'] = url\n    return r\n"
    after, repair = repaired("python", before)
    assert "one_line(url)" in after and "python-open-redirect" in rules("python", after)
    assert len(repair.fixed) == len(repair.left) == 1


READ_BY_EYE: list[tuple[Language, str]] = [
    # The check would run before `boundary is not None`, and fail on None.
    ("python", "import os\ndef find(root, boundary=None):\n"
     "    if boundary is not None and os.path.exists(os.path.join(root, boundary)):\n        return None\n"
     "    return root\n"),
    # The other side of the channel compares the digest.
    ("python", "import hashlib\ndef sync(channel, path):\n    with open(path, 'rb') as f:\n"
     "        checksum = hashlib.md5(f.read()).digest()\n    channel.send(('have', checksum))\n"),
    # The source of a pattern is a pattern.
    ("javascript", "exports.toRegex = (req, res) => new RegExp(req.query.source, 'i');\n"),
    # Code that runs with the lock held may come back.
    ("go", 'package p\n\nimport "sync"\n\ntype T struct {\n\tmu sync.Mutex\n\tn  int\n}\n\n'
     "func (t *T) Fill(f func(*T)) {\n\tt.mu.Lock()\n\tdefer t.mu.Unlock()\n\tt.n = 1\n\tf(t)\n}\n\n"
     "func (t *T) Get() int {\n\treturn t.n\n}\n"),
    ("go", 'package p\n\nimport "os"\n\nfunc undo(path string) error {\n\tos.Chmod(path, 0600) // best effort\n'
     "\treturn nil\n}\n"),
    # Relative names start in the folder, and a person may name one outside of it.
    ("javascript", "const fs = require('fs');\nconst path = require('path');\nfunction watch(cwd, rule) {\n"
     "  const dir = path.resolve(cwd, rule);\n  return fs.statSync(dir);\n}\n"),
    ("python", "import os\ndef complete(state, typed):\n    base = os.path.join(state.project.path, typed)\n"
     "    return os.scandir(base)\n"),
    # An object of the program that has files as names.
    ("javascript", "const path = require('path');\napp.post('/', (req, res) => {\n"
     "  files.removeFile(path.resolve(root, req.query.name));\n  res.end();\n});\n"),
    # The marks between alternatives are no words.
    ("javascript", "exports.fill = (req, res) =>\n"
     "  new RegExp('{{(' + Object.keys(req.query).join('|') + ')}}').test('');\n"),
    ("python", "import re\nfrom flask import request\ndef fill(text):\n"
     "    return re.sub('(' + '|'.join(request.args) + ')', '', text)\n"),
    # Where there are no filters, the option is unknown.
    ("python", "import tarfile\ndef unpack(name):\n    with tarfile.open(name) as tar:\n"
     "        if hasattr(tarfile.TarFile, 'extraction_filter'):\n            tar.extractall(filter='data')\n"
     "        else:\n            tar.extractall()\n"),
    # The name, or the first line, says what the function is for.
    ("python", "import ssl\ndef make_insecure_context():\n    ctx = ssl.SSLContext()\n"
     "    ctx.check_hostname = False\n    ctx.verify_mode = ssl.CERT_NONE\n    return ctx\n"),
    ("python", 'import ssl\ndef make_context():\n    """A context that doesn\'t verify certificates."""\n'
     "    ctx = ssl.SSLContext()\n    ctx.check_hostname = False\n    ctx.verify_mode = ssl.CERT_NONE\n"
     "    return ctx\n"),
    # What writes the text writes more than JSON.
    ("javascript", "exports.run = (req, res) => {\n  const serializedOptions = req.query.options;\n"
     "  res.json(Object.keys(eval('(' + serializedOptions + ')')));\n};\n"),
    # The server is on the same machine.
    ("go", 'package p\n\nimport (\n\t"crypto/tls"\n\t"net"\n)\n\nfunc dial(port string) (net.Conn, error) {\n'
     '\treturn tls.Dial("tcp", "127.0.0.1:"+port, &tls.Config{InsecureSkipVerify: true})\n}\n'),
    ("go", 'package p\n\nimport "crypto/tls"\n\nfunc settings() *tls.Config {\n'
     "\treturn &tls.Config{InsecureSkipVerify: true} //nolint:gosec\n}\n"),
    # A pattern is made of the word first.
    ("javascript", "exports.find = (req, res) => new RegExp(`^${req.query.q.replace(/\\*/g, '.*')}`).test('');\n"),
    # Its callers say where a redirect leads.
    ("python", "import werkzeug.utils\ndef redirect(location, code=302):\n"
     "    return werkzeug.utils.redirect(location, code=code)\n"),
    # The certificate is checked elsewhere.
    ("go", 'package p\n\nimport "crypto/tls"\n\nfunc settings() *tls.Config {\n'
     "\treturn &tls.Config{InsecureSkipVerify: true}\n}\n\nfunc check(c *tls.Config) {\n"
     "\tc.VerifyConnection = func(tls.ConnectionState) error { return nil }\n}\n"),
    # Where a configuration lies is for its owner to say.
    ("python", "import os\nclass Config(dict):\n    def from_file(self, filename):\n"
     "        filename = os.path.join(self.root_path, filename)\n        with open(filename) as f:\n"
     "            return f.read()\n"),
    # Bytes and a text cannot be put together.
    ("python", 'import logging\nfrom flask import request\ndef login():\n'
     '    logging.info(b"login of " + request.args["user"])\n'),
    # There is often no such file.
    ("javascript", "const fs = require('fs');\nfunction stop(file) {\n  try { fs.unlinkSync(file); } catch (e) {}\n"
     "  console.error('stopped');\n}\n"),
    # A whole message may have lines of its own.
    ("javascript", "class Logger {\n  warn(message) {\n    console.warn(`Warning: ${message}`);\n  }\n}\n"),
    # The program says itself where it leads.
    ("javascript", "module.exports = (options) => (req, res, next) => {\n"
     "  if (req.query.failed) return res.redirect(options.failureRedirect);\n  next();\n};\n"),
    # There is often no such folder yet.
    ("go", 'package p\n\nimport "os"\n\nfunc list(dir string) ([]string, error) {\n\tvar found []string\n'
     "\tentries, _ := os.ReadDir(dir)\n\tfor _, entry := range entries {\n\t\tfound = append(found, entry.Name())\n"
     "\t}\n\treturn found, nil\n}\n"),
    # Without the colour the rest is still right.
    ("go", 'package p\n\nimport "strconv"\n\nfunc build(color string) (int, error) {\n\tn := 0\n'
     '\tif color != "" {\n\t\tvalue, _ := strconv.ParseInt(color, 16, 32)\n\t\tn = int(value)\n\t}\n'
     "\treturn n, nil\n}\n"),
    # A constant name leads nowhere.
    ("javascript", "const fs = require('fs');\nmodule.exports = (req, res) => {\n"
     "  res.end(fs.readFileSync(`${req.query.folder}/package.json`));\n};\n"),
    ("python", "import os\nfrom flask import request\ndef read():\n"
     "    with open(os.path.join(request.args['folder'], 'a.txt')) as f:\n        return f.read()\n"),
    # One name that is refused would end the search for the others.
    ("python", "import os\nfrom flask import request\ndef find(root):\n    for name in request.args.getlist('name'):\n"
     "        if os.path.exists(os.path.join(root, name)):\n            return name\n    return None\n"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), READ_BY_EYE)
def test_what_was_wrong_when_repairs_of_real_code_were_read_is_left(language: Language, text: str) -> None:
    assert rules(language, text) and repaired(language, text)[0] == text


def test_a_name_that_a_visitor_gives_stays_below_the_working_folder() -> None:
    text = "const fs = require('fs');\nconst path = require('path');\napp.get('/', (req, res) => {\n"
    text += "  const file = path.resolve(cwd, req.query.name);\n  res.end(fs.readFileSync(file));\n});\n"
    assert "path.relative(cwd, file)" in repaired("javascript", text)[0]


CLEANED = """function clean(value) {
  let kept = value;
  for (const key of Object.keys(value)) {
    const cleaned = clean(value[key]);
    kept[key] = cleaned;
  }
  return kept;
}
"""
MERGED = """function merge(into, from) {
  for (const key of Object.keys(from)) {
    if (typeof into[key] === 'object') {
      merge(into[key], from[key]);
    } else {
      into[key] = from[key];
    }
  }
}
"""


def test_an_entry_called_constructor_is_kept_where_it_leads_nowhere() -> None:
    cleaned, _ = repaired("javascript", CLEANED)
    merged, _ = repaired("javascript", MERGED)
    assert 'if (key === "__proto__") continue;' in cleaned
    assert 'key === "constructor"' in merged


def test_an_example_in_a_comment_is_no_import() -> None:
    text = "// const x = require('x');\nexports.f = (logger, user) => {\n  logger.info(`user ${user}`);\n};\n"
    assert repaired("javascript", text)[0].startswith("const oneLine")
