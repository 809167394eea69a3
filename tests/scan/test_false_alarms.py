"""What only looks like a flaw is not reported, and its dangerous twin is."""

import pytest

from moot.core.types import Code, Language, SourceFile
from moot.scan import StaticTeam

SUFFIX = {"python": ".py", "javascript": ".js", "go": ".go"}
FINALIZER = """class A:
    def {name}(self):
        try:
            f()
        except Exception:
            pass
"""
BLOCKS = """package a

import "crypto/aes"

func seal(key, data, out []byte) {{
	block, err := aes.NewCipher(key)
	if err != nil {{
		panic(err)
	}}
	for i := 0; i < len(data); i += 16 {{
		{chain}block.Encrypt(out[i:], data[i:])
	}}
}}
"""
READ = """package a

import (
	"io"
	"os"
)

func read() []byte {{
	{reason}data, _ := io.ReadAll(os.Stdin)
	return data
}}
"""
LOG = """package a

import (
	"log"
	"net/http"
)

func tell(w http.ResponseWriter, r *http.Request) {{
	log.Printf("asked: %s", {address})
}}
"""
ROUTE = """package a

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

func Routes() http.Handler {{
	router := chi.NewRouter()
	router.Get("{pattern}", func(w http.ResponseWriter, r *http.Request) {{
		http.Redirect(w, r, r.RequestURI+"/", http.StatusMovedPermanently)
	}})
	return router
}}
"""
DECODED = """package a

import (
	"encoding/{kind}"
	"net/http"
)

func read(r *http.Request, into any) error {{
	return {kind}.NewDecoder(r.Body).Decode(into)
}}
"""
POOLED = """package a

import "sync"

type Call struct {{
	mu     sync.Mutex
	values map[string]string
	path   string
	index  int
	failed bool
}}

func (c *Call) Set(key, value string) {{
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values = map[string]string{{key: value}}
}}

func (c *Call) reset() {{
	c.values = nil
{others}}}
"""
OPENED = """package a

import (
	"flag"
	"net/http"
	"os"
)

var given = flag.String("file", "", "what to read")

func read(r *http.Request) (*os.File, error) {{
	return os.Open({path})
}}
"""
WRITTEN = """package a

import "encoding/json"

type Args map[string]{kind}

func (a Args) String() string {{
	data, _ := json.Marshal(a)
	return string(data)
}}
"""
CLEARED = """def serve(self):
    try:
        self.run()
    except ValueError as error:
        try:
            self.answer(500)
        except Exception:
            pass
{after}"""
PAGE_TIMER = """const later = ((token, waiting) => {{
  window.addEventListener('message', ({{ data }}) => {{
    if (data === token) waiting.shift()();
  }});
}})({token}, []);
"""
SOCKET = "function f(req, socket) {{ socket.write(`HTTP/1.1 302 Found\\r\\nLocation: ${{{to}}}\\r\\n\\r\\n`); }}\n"
LOCATION = """function f(answer) {{
  {declared} = answer.headers.get('location');
  location = new URL({name}, answer.url);
  return location;
}}
"""
RENAMED = "def run(path, given):\n    code = compile('raise error', path, 'exec')\n    exec(code.replace({part}))\n"
MADE = """from types import CodeType


def run(given):
    exec(CodeType(0, 0, 0, 1, 2, 64, {code}, (), (), (), 'a.py', {name}, {name}, 1, b'', b''))
"""
LOOKED_UP = """from flask import request
import logging


def view():
    name = request.args["name"]
    logging.info("deploying %s", {shown})
"""
ARGUMENT = """package a

import (
	"net/http"
	"os/exec"
)

func logs(w http.ResponseWriter, r *http.Request) {{
	since := r.FormValue("since")
	_ = exec.Command("docker", "logs", {word}).Run()
}}
"""
TWINS = {
    "what came as a header line, and what was decoded": (
        "javascript-header",
        SOCKET.format(to="req.headers.referer"),
        SOCKET.format(to="req.query.to"),
    ),
    "an address as it was sent, and one that is decoded here": (
        "javascript-header",
        "function f(req, res) { res.setHeader('X-Path', req.url); }\n",
        "function f(req, res) { res.setHeader('X-Path', decodeURIComponent(req.url)); }\n",
    ),
    "a variable called location, and the page's": (
        "javascript-open-redirect",
        LOCATION.format(declared="let location", name="location"),
        LOCATION.format(declared="let next", name="next"),
    ),
    "what a part of ours makes of settings, and a text": (
        "python-markup",
        "from markupsafe import Markup\n\n\nclass Macro:\n    def __init__(self, body):\n        self.body = body\n\n"
        "    def call(self, values):\n        return Markup(self.body(*values))\n",
        "from markupsafe import Markup\n\n\nclass Macro:\n    def __init__(self, body):\n        self.body = body\n\n"
        "    def call(self, values):\n        return Markup(''.join(values))\n",
    ),
    "markup that becomes a plain text at once, and one that stays": (
        "python-markup",
        "from markupsafe import Markup\n\n\ndef strip(text):\n    return Markup(str(text)).striptags()\n",
        "from markupsafe import Markup\n\n\ndef strip(text):\n    return Markup(str(text)).strip()\n",
    ),
    "the name of a piece of code, and its constants": (
        "python-eval",
        RENAMED.format(part="co_name=given"),
        RENAMED.format(part="co_consts=(given,)"),
    ),
    "a piece of code made by hand: its name, and its bytes": (
        "python-eval",
        MADE.format(code="b'd'", name="given"),
        MADE.format(code="given", name="'f'"),
    ),
    "what is ended with a reason, and what is sent": (
        "javascript-swallowed-error",
        "function f(stream, error) { try { stream.destroy(error); } catch {} g(); }\n",
        "function f(stream, error) { try { stream.send(error); } catch {} g(); }\n",
    ),
    "an error on the way to report another, and the only one": (
        "python-swallowed-error",
        CLEARED.format(after="        self.log(error)\n"),
        CLEARED.format(after="    self.log('done')\n"),
    ),
    "an address of one route, and one that begins as the sender likes": (
        "go-open-redirect",
        ROUTE.format(pattern="/docs"),
        ROUTE.format(pattern="/{name}"),
    ),
    "an address of one route in Express, and any address": (
        "javascript-open-redirect",
        "app.get('/docs', (req, res) => res.redirect(req.originalUrl + '/'));\n",
        "app.get('*', (req, res) => res.redirect(req.originalUrl + '/'));\n",
    ),
    "a format that fills the type it is given, and one that names types": (
        "go-deserialise",
        DECODED.format(kind="xml"),
        DECODED.format(kind="gob"),
    ),
    "an object made new for its next owner, and a guarded field emptied": (
        "go-unguarded-write",
        POOLED.format(others='\tc.path = ""\n\tc.index = 0\n\tc.failed = false\n'),
        POOLED.format(others=""),
    ),
    "the path of whoever starts the command, and that of a visitor": (
        "go-path",
        OPENED.format(path="*given"),
        OPENED.format(path='r.URL.Query().Get("file")'),
    ),
    "strings that can always be written, and values that may not": (
        "go-discarded-error",
        WRITTEN.format(kind="string"),
        WRITTEN.format(kind="any"),
    ),
    "a nonce of random bytes, and a digest of a text": (
        "python-weak-hash",
        "import hashlib, os\n\n\ndef nonce(count):\n    data = str(count).encode()\n    data += os.urandom(8)\n"
        "    return hashlib.sha1(data).hexdigest()[:16]\n",
        "import hashlib, os\n\n\ndef nonce(count):\n    data = str(count).encode()\n"
        "    return hashlib.sha1(data).hexdigest()[:16]\n",
    ),
    "a key that is looked up among our own, and one that is logged": (
        "python-log",
        LOOKED_UP.format(shown="PROJECTS.get(name).title"),
        LOOKED_UP.format(shown="name"),
    ),
    "the first line of a key, and a key": (
        "python-hardcoded-secret",
        "MARKS = ('-----BEGIN PRIVATE KEY-----', '-----END PRIVATE KEY-----')\n",
        "PEM = '-----BEGIN PRIVATE KEY-----\\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\\n-----END PRIVATE KEY-----'\n",
    ),
    "a tag of another format, and one of a page": (
        "python-response-xss",
        "def ask(text):\n    return '<question>' + text + '</question>'\n",
        "def ask(text):\n    return '<p>' + text + '</p>'\n",
    ),
    "a stand-in for a key, and a key": (
        "python-timing",
        "import hmac\n\n\ndef check(api_key):\n    return api_key == KEY_PLACEHOLDER\n",
        "import hmac\n\n\ndef check(api_key):\n    return api_key == EXPECTED\n",
    ),
    "a word behind an option, and one that may be an option": (
        "go-argument",
        ARGUMENT.format(word='"--since=" + since'),
        ARGUMENT.format(word="since"),
    ),
    "a number that everybody can foresee, and a token": (
        "javascript-timing",
        PAGE_TIMER.format(token="`timer${Math.random()}`"),
        PAGE_TIMER.format(token="process.env.TOKEN"),
    ),
    "a token of a grammar, and a key": (
        "python-hardcoded-secret",
        "def is_group(token):\n    return token == '#bygroup'\n",
        "def is_admin(token):\n    return token == 'kJ83hf92KSs9fh2q'\n",
    ),
    "an object that is kept, and a value put into the session": (
        "python-trust-boundary",
        "from flask import request\n\n\nclass View:\n    def go(self):\n        self.session = request.args['s']\n",
        "from flask import request, session\n\n\ndef view():\n    session['user'] = request.args['user']\n",
    ),
    "a client's jar, and a server's response": (
        "python-cookie",
        "class Client:\n    def keep(self, cookie):\n        self.cookies.set_cookie(cookie)\n",
        "def answer(response):\n    response.set_cookie('sid', 'x')\n",
    ),
    "text that becomes a tree, and text that becomes a program": (
        "python-eval",
        "import ast\n\n\ndef read(text):\n    return compile(text, 'a', 'exec', ast.PyCF_ONLY_AST)\n",
        "def read(text):\n    return compile(text, 'a', 'exec')\n",
    ),
    "a condition of a query, and a comparison": (
        "python-timing",
        "import hmac\n\n\ndef find(tokens, digest):\n    return select(tokens).where(tokens.c.digest == digest)\n",
        "import hmac\n\n\ndef check(token, digest):\n    return token.digest_key == hmac.new(b'', digest).digest()\n",
    ),
    "an error whose reason to be ignored stands there, and one that is dropped": (
        "python-swallowed-error",
        "try:\n    f()\nexcept Exception:\n    # It stays a string.\n    pass\n",
        "try:\n    f()\nexcept Exception:\n    pass  # noqa: BLE001\n",
    ),
    "what follows only runs after a failure, and what follows runs anyway": (
        "python-swallowed-error",
        "def f(x):\n    try:\n        return g(x)\n    except Exception:\n        pass\n    return str(x)\n",
        "def f(x):\n    try:\n        g(x)\n    except Exception:\n        pass\n    return str(x)\n",
    ),
    "one validator of several, and the only one": (
        "python-swallowed-error",
        "for v in ways:\n    try:\n        v(x)\n    except Exception:\n        continue\n    else:\n        break\n",
        "for v in ways:\n    try:\n        v(x)\n    except Exception:\n        continue\n",
    ),
    "what is cleared away, and what is written": (
        "python-swallowed-error",
        "try:\n    conn.close()\nexcept Exception:\n    pass\n",
        "try:\n    conn.write()\nexcept Exception:\n    pass\n",
    ),
    "a finalizer, and a method": (
        "python-swallowed-error",
        FINALIZER.format(name="__del__"),
        FINALIZER.format(name="go"),
    ),
    "a module that may be missing, and a call": (
        "javascript-swallowed-error",
        "let c;\ntry { c = require('pg-native'); } catch {}\n",
        "let c;\ntry { c = g(); } catch {}\n",
    ),
    "a fallback, and a step that is lost": (
        "javascript-swallowed-error",
        "function f(x) { try { return g(x); } catch (e) {} return ''; }\n",
        "function f(x) { try { g(x); } catch (e) {} return ''; }\n",
    ),
    "the size of a digest, and a digest": (
        "python-weak-hash",
        "from hashlib import sha1\n\n\ndef size():\n    return sha1().digest_size\n",
        "from hashlib import sha1\n\n\ndef name(data):\n    return sha1(data).hexdigest()\n",
    ),
    "a digest that WebSocket prescribes, and one of our choice": (
        "javascript-weak-hash",
        "const c = require('crypto');\nfunction f(h) {\n  const k = h['sec-websocket-key'];\n"
        "  return c.createHash('sha1').update(k + GUID).digest('base64');\n}\n",
        "const c = require('crypto');\nfunction f(k) { return c.createHash('sha1').update(k).digest('hex'); }\n",
    ),
    "a digest in front of bcrypt, and one alone": (
        "python-password-hash",
        "import bcrypt, hashlib\n\n\ndef f(password, salt):\n"
        "    return bcrypt.hashpw(hashlib.sha256(password).digest(), salt)\n",
        "import hashlib\n\n\ndef f(password):\n    return hashlib.sha256(password).digest()\n",
    ),
    "what the server says of a request, and what the visitor says": (
        "python-trust-boundary",
        "def view(request):\n    request.session['user'] = request.META['REMOTE_USER']\n",
        "def view(request):\n    request.session['user'] = request.META['HTTP_X_USER']\n",
    ),
    "a chained block, and blocks each by itself": (
        "go-weak-cipher",
        BLOCKS.format(chain="for j := range out {\n\t\t\tout[j] ^= data[j]\n\t\t}\n\t\t"),
        BLOCKS.format(chain=""),
    ),
    "a reason above, and none": (
        "go-discarded-error",
        READ.format(reason="// an empty body fails below\n\t"),
        READ.format(reason=""),
    ),
    "an address without its password, and a raw one": (
        "go-log",
        LOG.format(address="r.URL.Redacted()"),
        LOG.format(address="r.URL.Path"),
    ),
}


@pytest.mark.parametrize(("rule", "harmless", "flawed"), TWINS.values(), ids=list(TWINS))
def test_twins_are_told_apart(rule: str, harmless: str, flawed: str) -> None:
    language: Language = {"python": "python", "javascript": "javascript", "go": "go"}[rule.partition("-")[0]]  # type: ignore[assignment]

    def rules(text: str) -> list[str]:
        code = Code(files=(SourceFile(path=f"a{SUFFIX[language]}", language=language, text=text),))
        return [finding.rule for finding in StaticTeam().scan(code).findings]

    assert rules(harmless) == []
    assert rules(flawed) == [rule]
