"""What a rewrite must not do, by repairs of applications that were read by eye: each case broke an honest use."""

import pytest
from samples import repaired, rules

from moot.core.types import Language

LEFT: dict[str, tuple[Language, str]] = {
    "a comment tells another scanner that the line is meant": (
        "python",
        "import random\ndef make():\n    token = random.choice('abc')  # noqa: S311 - not cryptographic\n"
        "    return token\n",
    ),
    "a comment gives the reason for a setting": (
        "python",
        "# the test's browser can not clear other cookies\napp.config['SESSION_COOKIE_SECURE'] = False\n",
    ),
    "the values have names in the message": (
        "python",
        "import logging\nfrom flask import request\ndef f():\n"
        "    data = {'x': request.args['x']}\n    logging.info('a %(x)s', data)\n",
    ),
    "a template may want several values": (
        "python",
        "import logging\nfrom flask import request\ndef f(template):\n"
        "    data = {'x': request.args['x']}\n    logging.info(template % data)\n",
    ),
    "values of a template that is marked as safe": (
        "python",
        "from markupsafe import Markup\nclass W:\n    def f(self, url):\n"
        "        args = {'text': url}\n        return Markup(self.template % args)\n",
    ),
    "what follows a line break": (
        "python",
        "import logging\nfrom flask import request\ndef f():\n    logging.info('got:\\n%s', request.args['x'])\n",
    ),
    "the same in a script": (
        "javascript",
        "app.get('/', (req, res) => {\n  logger.info('stopped:' + '\\n' + req.query.table);\n});\n",
    ),
    "a function that logs whole messages": (
        "javascript",
        "const log = (on, name, msg) => on && console.log(`${name}: ${msg}`);\n",
    ),
    "text is bytes in Python 2": (
        "python",
        "from __future__ import print_function\nimport logging\nfrom flask import request\ndef f():\n"
        "    logging.info('got %s', request.args['name'])\n",
    ),
    "a call that makes markup": (
        "python",
        "from flask import Flask, request\ndef f(env):\n    label = format_to_line(env, request.args['x'])\n"
        "    return f'<p>{label}</p>'\n",
    ),
    "a caption may have markup": ("javascript", "function f(el, caption) { el.innerHTML = caption; }\n"),
    "the frame of a page": (
        "javascript",
        "const render = function (title, text) {\n"
        "  return `<html><head><title>${title}</title></head><body><h1>Oops</h1><p>${text}</p></body></html>`;\n};\n"
        "export { render };\n",
    ),
    "all of the text is one value": (
        "go",
        'package p\n\nimport "net/http"\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n'
        '\tflush(r.URL.Query().Get("x"), w)\n}\n\nfunc flush(out string, w http.ResponseWriter) {\n'
        '\tw.Write([]byte(out + "\\n"))\n}\n',
    ),
    "a call of Go that makes markup": (
        "go",
        "package p\n\nfunc show(input string) string {\n\toutput, err := markdown.RenderString(input)\n"
        '\tif err != nil {\n\t\treturn ""\n\t}\n\treturn "<div>" + output + "</div>"\n}\n',
    ),
    "relative names start in the working folder": (
        "javascript",
        "const fs = require('fs');\nconst path = require('path');\nfunction load(flags) {\n"
        "  const file = path.resolve(process.cwd(), flags.dotenv);\n  return fs.readFileSync(file);\n}\n",
    ),
    "nobody would catch the error": (
        "javascript",
        "const fs = require('fs');\nconst path = require('path');\nsocket.on('get', (name) => {\n"
        "  fs.unlink(path.join('/srv/files', name), () => 0);\n});\n",
    ),
    "the configuration names the server": (
        "go",
        'package p\n\nimport "crypto/tls"\n\nfunc connect(cfg Wrapper) *tls.Config {\n\tuse(cfg.GUI())\n'
        "\treturn &tls.Config{InsecureSkipVerify: true}\n}\n",
    ),
    "the same in a script that asks for its address": (
        "javascript",
        "function load(config) {\n  const url = config('importUrl');\n"
        "  io.connect(url, { rejectUnauthorized: false });\n}\n",
    ),
    "an address that a middleware was set up with": (
        "go",
        'package p\n\nimport (\n\t"net/http"\n\t"strings"\n)\n\n'
        "func (m *T) serve(w http.ResponseWriter, r *http.Request) {\n"
        '\tto := strings.Replace(r.URL.Path, "/old", m.target, 1)\n'
        "\thttp.Redirect(w, r, to, 302)\n}\n",
    ),
    "a name that leads out on purpose": (
        "javascript",
        "const fs = require('fs');\nconst path = require('path');\nfunction commit(target, text, callback) {\n"
        "  fs.writeFile(path.join(__dirname, '../../public/' + target), text, callback);\n}\n",
    ),
    "a value in a script": (
        "go",
        'package p\n\nimport (\n\t"net/http"\n\t"text/template"\n)\n\n'
        "const page = `<html><script>window.ON = {{ .ON }}</script></html>`\n\n"
        "func show(w http.ResponseWriter, r *http.Request) {\n"
        '\ttmpl := template.Must(template.New("p").Parse(page))\n'
        '\ttmpl.Execute(w, map[string]string{"ON": r.FormValue("on")})\n}\n',
    ),
    "a writer of a log": (
        "go",
        'package p\n\nimport (\n\t"fmt"\n\t"os"\n)\n\ntype W struct{}\n\n'
        "func (w *W) Write(p []byte) (int, error) {\n"
        '\treturn fmt.Fprintf(os.Stdout, "[TestLogger] %s\\n", p)\n}\n',
    ),
    "settings that were made elsewhere": (
        "go",
        'package p\n\nimport "crypto/tls"\n\nfunc make() *tls.Config {\n\tsettings := secure()\n'
        "\tsettings.InsecureSkipVerify = true\n\treturn settings\n}\n",
    ),
    "a comment about certificates": (
        "go",
        'package p\n\nimport "crypto/tls"\n\nfunc make() *tls.Config {\n\treturn &tls.Config{\n'
        "\t\t// Go wants a name of a host otherwise\n\t\tInsecureSkipVerify: true,\n\t}\n}\n",
    ),
    "the other flags of a cookie are set": (
        "go",
        'package p\n\nimport "net/http"\n\nfunc login(w http.ResponseWriter, token string) {\n'
        '\thttp.SetCookie(w, &http.Cookie{Name: "t", Value: token, '
        "HttpOnly: true, SameSite: http.SameSiteLaxMode})\n}\n",
    ),
    "a token against forged requests": (
        "javascript",
        "app.get('/', (req, res) => { res.cookie('XSRF-TOKEN', make(req)); res.end(); });\n",
    ),
    "a token that scripts send back": (
        "go",
        'package p\n\nimport "net/http"\n\nfunc protect(w http.ResponseWriter) {\n'
        '\thttp.SetCookie(w, &http.Cookie{Name: "CSRF-Token", Value: make()})\n}\n',
    ),
    "a digest in an index that clients compare": (
        "go",
        'package p\n\nimport (\n\t"crypto/md5"\n\t"fmt"\n\t"strings"\n)\n\nfunc index(info string) string {\n'
        "\tvar out strings.Builder\n"
        '\tfmt.Fprintf(&out, "%x", md5.Sum([]byte(info)))\n\treturn out.String()\n}\n',
    ),
    "a redirect that the routes name": (
        "javascript",
        "function bind(path, redirectTo) {\n  route(path, (req, res) => { res.redirect(redirectTo); });\n}\n",
    ),
    "an address that begins with the program's own": (
        "go",
        'package p\n\nimport "net/http"\n\nfunc serve(dest string) http.HandlerFunc {\n'
        "\treturn func(w http.ResponseWriter, r *http.Request) {\n"
        "\t\thttp.Redirect(w, r, dest+r.URL.Path, 302)\n\t}\n}\n",
    ),
    "who made the folder counts on files alone": (
        "python",
        "import tempfile\nclass T:\n    def make(self):\n        return tempfile.mktemp('a', 'b', self.folder)\n",
    ),
    "others read a log": (
        "go",
        'package p\n\nimport "os"\n\nfunc (h *Handler) rotate() (*os.File, error) {\n'
        "\treturn os.OpenFile(h.config.FilePath, os.O_CREATE|os.O_APPEND, 0o666)\n}\n",
    ),
    "a port may follow the host": (
        "go",
        'package p\n\nimport "strings"\n\nfunc isCloud(info Info) bool {\n'
        '\treturn strings.HasPrefix(info.RemoteHost, "https://ollama.com")\n}\n',
    ),
}


@pytest.mark.parametrize(("language", "text"), LEFT.values(), ids=list(LEFT))
def test_what_was_wrong_in_applications_is_left(language: Language, text: str) -> None:
    assert rules(language, text) and repaired(language, text)[0] == text


def test_a_function_with_a_callback_gives_it_the_error() -> None:
    text = "const fs = require('fs');\nconst path = require('path');\nfunction drop(name, next) {\n"
    text += "  fs.unlink(path.join('/srv/files', name), next);\n}\n"
    assert 'return next(new Error("the path leads out of its folder"));' in repaired("javascript", text)[0]


def test_a_comment_stays_with_its_field() -> None:
    text = 'package p\n\nimport (\n\t"net/http"\n\t"time"\n)\n\nvar wait = time.Second\n\nfunc run(h http.Handler) {\n'
    text += "\ts := &http.Server{\n\t\tHandler: h, // the one\n\t}\n\ts.ListenAndServe()\n}\n"
    after, _ = repaired("go", text)
    assert "\t\tHandler: h, // the one\n\t\tReadHeaderTimeout: 10 * time.Second,\n\t}\n" in after


def test_a_helper_stands_above_what_runs() -> None:
    text = "const a = require('a');\nstart();\nconst b = require('b');\n"
    text += "exports.f = (logger, user) => {\n  logger.info(`user ${user}`);\n};\n"
    lines = repaired("javascript", text)[0].splitlines()
    assert lines[0] == "const a = require('a');" and lines[1].startswith("const oneLine")


def test_entries_of_the_object_itself_lead_to_no_prototype() -> None:
    text = (
        "function resolve(obj) {\n  for (const p in obj) {\n    obj[p] = resolve(obj[p], p);\n  }\n  return obj;\n}\n"
    )
    after, _ = repaired("javascript", text)
    assert '"constructor"' not in after


def test_python_2_has_a_secure_source_of_its_own() -> None:
    text = "from __future__ import unicode_literals\nimport random\ntoken = random.choice('abc')\n"
    assert "token = random.SystemRandom().choice('abc')" in repaired("python", text)[0]


def test_a_call_that_logs_nothing_is_left() -> None:
    text = "import logging\nfrom flask import request\nuser = request.args['user']\nlogging.log(user)\n"
    assert repaired("python", text)[0] == text


def test_a_variable_of_the_same_name_in_the_loop_is_a_copy() -> None:
    loop = "package p\n\nfunc f(xs []string) {{\n\tfor i, x := range xs {{\n{copy}"
    loop += "\t\tgo func() {{ use(i, x) }}()\n\t}}\n}}\n"
    assert rules("go", loop.format(copy="\t\ti, x := i, x\n")) == []
    assert rules("go", loop.format(copy="")) == ["go-loop-capture"]


def test_a_cookie_of_a_request_has_no_flags() -> None:
    text = 'package p\n\nimport "net/http"\n\nfunc f({given}) {{\n\t{call}&http.Cookie{{Name: "s", Value: "v"}})\n}}\n'
    assert rules("go", text.format(given="r *http.Request", call="r.AddCookie(")) == []
    assert "go-cookie" in rules("go", text.format(given="w http.ResponseWriter", call="http.SetCookie(w, "))


def test_types_are_no_secrets() -> None:
    text = "import hmac\ndef f(hint, secret):\n    return hint == {right}\n"
    assert rules("python", text.format(right="Optional[OAuthToken]")) == []
    assert rules("python", text.format(right="secret")) == ["python-timing"]


def test_a_plain_text_is_no_page() -> None:
    text = "app.get('/', (req, res) => {{\n  if (req.query.all) {{ res.type('html').end(PAGE); return; }}\n"
    text += "  res.writeHead(302, {{ 'content-type': '{kind}' }}).end(`to ${{req.query.x}}`);\n}});\n"
    assert "javascript-response-xss" not in rules("javascript", text.format(kind="text/plain"))
    assert "javascript-response-xss" in rules("javascript", text.format(kind="text/html"))


def test_of_markup_made_in_one_of_two_places_the_value_in_it_is_escaped() -> None:
    before = "from flask import Flask\ndef f(formula):\n    copy = ''\n    if formula:\n"
    before += "        copy = f'<span>{formula}</span>'\n    return f'<p>{copy}</p>'\n"
    after, _ = repaired("python", before)
    assert "<span>{html.escape(str(formula))}</span>" in after and "<p>{copy}</p>" in after
