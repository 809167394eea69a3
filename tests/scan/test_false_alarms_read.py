"""What only looked like a flaw in packages that were read by eye is not reported, and its dangerous twin is."""

import pytest
from samples import rules, scanned

from moot.core.types import Language

ENDING = """def matches(domain, hostname):
    if not hostname.endswith(domain):
        return False
    {rest}
"""
KIND = 'def f(url):\n    if {first}".core.example.com" not in url:\n        return "emulator"\n    return "cloud"\n'
DIGESTS = """from hashlib import md5, sha1, sha256

KNOWN = {{16: md5, 20: sha1, 32: sha256}}


class Fingerprint:
    def __init__(self, length):
        digest = KNOWN.get(length)
        if {refused}:
            raise ValueError("too weak")
        self.digest = digest

    def check(self, cert):
        return self.digest(cert).hexdigest()
"""
QUIET = (
    'def bound(sockets):\n    """{about}"""\n    try:\n        sockets.limit()\n    except Exception:\n        pass\n'
)
TOLD = """def serve(self):
    try:
        self.run()
    except ValueError as error:
        {before}
        try:
            self.answer(500)
        except Exception:
            pass
"""
MARK = """import http.client
import os

{name} = {value}


def check(data):
    return data[:3] == {name}
"""
SHAKEN = """package a

import "crypto/sha1"

var guid = []byte("258EAFA5-E914-47DA-95CA-C5AB0DC85B11")

func {name}(text string) []byte {{
	h := sha1.New()
	h.Write([]byte(text))
	h.Write(guid)
	return h.Sum(nil)
}}
"""
FOUND = """package a

import "strconv"

func f(text string, items []string) []string {{
	n, _ := strconv.Atoi(text)
	{step}
	return items[:n]
}}
"""
PARTLY = """package a

import "io"

func f(r io.Reader, data []byte) []byte {{
	n, _ := io.ReadFull(r, data)
	return {used}
}}
"""
STAMPED = """package a

import "time"

func f(text string) time.Time {{
	// {words}
	var at time.Time
	if text != "" {{
		at, _ = time.Parse(time.RFC3339, text)
	}}
	return at
}}
"""
CHECKED = """package a

import "crypto/tls"

func f() *tls.Config {{
	return &tls.Config{{
		// {words}
		InsecureSkipVerify: true,
	}}
}}
"""
TWINS = {
    "a zero that is asked for next, and one that is used": (
        "go-discarded-error",
        FOUND.format(step="if n == 0 {\n\t\treturn nil\n\t}"),
        FOUND.format(step="n += 2"),
    ),
    "what is emptied, and what is kept": (
        "go-discarded-error",
        'package a\n\nimport "io"\n\nfunc f(r io.Reader) {\n\t_, _ = io.Copy(io.Discard, r)\n}\n',
        'package a\n\nimport "io"\n\nfunc f(r io.Reader, w io.Writer) {\n\t_, _ = io.Copy(w, r)\n}\n',
    ),
    "a part whose length is looked at, and a whole that is assumed": (
        "go-discarded-error",
        PARTLY.format(used="data[:n]"),
        PARTLY.format(used="append(data, byte(n))"),
    ),
    "a digest that the handshake of WebSocket prescribes, and one of our choice": (
        "go-weak-hash",
        SHAKEN.format(name="acceptKey"),
        SHAKEN.format(name="cacheKey"),
    ),
    "a check of our own instead, and no check": (
        "go-tls-verify",
        CHECKED.format(words="the verification function we built is used"),
        CHECKED.format(words="the test server has no certificate"),
    ),
    "an ending with a dot before it, and an ending": (
        "python-host-check",
        ENDING.format(rest='return hostname[: -len(domain)].endswith(".")'),
        ENDING.format(rest="return True"),
    ),
    "two kinds of an address told apart, and a check": (
        "python-host-check",
        KIND.format(first='"devaccount" in url and '),
        KIND.format(first=""),
    ),
    "a search among our own addresses, and a check": (
        "javascript-host-check",
        "const f = (ours, host) => ours.find((url) => url.includes(host));\n",
        "const f = (url, host) => url.includes(host);\n",
    ),
    "the name of a function, and its text": (
        "python-eval",
        "def head(fun):\n    exec('def %s(): pass' % fun.__name__)\n",
        "def head(fun):\n    exec('def %s(): pass' % fun.text)\n",
    ),
    "a digest that is refused before, and one that is used": (
        "python-weak-hash",
        DIGESTS.format(refused="digest is md5 or digest is sha1"),
        DIGESTS.format(refused="digest is None"),
    ),
    "a function that says it never fails, and one that says nothing": (
        "python-swallowed-error",
        QUIET.format(about="Best effort: callers are tearing down."),
        QUIET.format(about="Limit all sockets."),
    ),
    "an error after another that was logged, and one alone": (
        "python-swallowed-error",
        TOLD.format(before="self.log(str(error))"),
        TOLD.format(before="self.log('failed')"),
    ),
    "a comment that errors are ignored, and none": (
        "python-swallowed-error",
        "def f(a):\n    # Wait, but ignore any errors:\n    # they were logged.\n    assert a\n    try:\n        g(a)\n"
        "    except Exception:\n        pass\n    h()\n",
        "def f(a):\n    # Wait.\n    assert a\n    try:\n        g(a)\n    except Exception:\n        pass\n    h()\n",
    ),
    "a comment that an exception may come and is ignored, and one that ignores something else": (
        "python-swallowed-error",
        "def f(a):\n    # can_handle could raise an exception, as issubclass does if it is called on an instance:\n"
        "    # it is easier to ignore that.\n    try:\n        g(a)\n    except Exception:\n        pass\n    h()\n",
        "def f(a):\n    # Ignores the case.\n    try:\n        g(a)\n    except Exception:\n        pass\n    h()\n",
    ),
    "everything closed, and everything sent": (
        "python-swallowed-error",
        "def f(pool):\n    try:\n        pool.force_close_all()\n    except Exception:\n        pass\n    g()\n",
        "def f(pool):\n    try:\n        pool.force_send_all()\n    except Exception:\n        pass\n    g()\n",
    ),
    "a request that is ended, and one that is sent": (
        "javascript-swallowed-error",
        "function f(xhr) { try { xhr.abort(); } catch (e) {} g(); }\n",
        "function f(xhr) { try { xhr.send(); } catch (e) {} g(); }\n",
    ),
    "a failure that the comment above expects, and one that it does not": (
        "javascript-swallowed-error",
        "function f(a) {\n  g();\n  // no address: best effort\n  try { h(a); } catch {}\n  g();\n}\n",
        "function f(a) {\n  g();\n  // adds the address\n  try { h(a); } catch {}\n  g();\n}\n",
    ),
    "a comment about this attempt, and one about the line above": (
        "javascript-swallowed-error",
        "function f(a) {\n  g();\n  // throws in old browsers\n  try { h(a); } catch {}\n  g();\n}\n",
        "function f(a) {\n  g(); // throws in old browsers\n  try { h(a); } catch {}\n  g();\n}\n",
    ),
    "a reason in front of the first step, and none": (
        "javascript-swallowed-error",
        "function f(a) {\n  let b;\n  try {\n    // after errors\n    b = h(a);\n  } catch {}\n  g(b);\n}\n",
        "function f(a) {\n  let b;\n  try {\n    // the real place\n    b = h(a);\n  } catch {}\n  g(b);\n}\n",
    ),
    "a reason above the function around it, and none": (
        "javascript-swallowed-error",
        "function f(a) {\n  // it rejects\n  (async () => { try { await a; } catch {} })();\n  g();\n}\n",
        "function f(a) {\n  // waits for the end\n  (async () => { try { await a; } catch {} })();\n  g();\n}\n",
    ),
    "an error that an option asks to ignore, and one that it does not": (
        "javascript-swallowed-error",
        "function f(o, all) { if (o.ignoreBad) { all.map(async (a) => { try { await a; } catch {} }); } g(); }\n",
        "function f(o, all) { if (!o.ignoreBad) { all.map(async (a) => { try { await a; } catch {} }); } g(); }\n",
    ),
    "a function that logs, and one that saves": (
        "javascript-swallowed-error",
        "function logError(out, text) { try { out.put(text); } catch {} g(); }\n",
        "function saveError(out, text) { try { out.put(text); } catch {} g(); }\n",
    ),
    "a reason above the lines before, and none": (
        "go-discarded-error",
        STAMPED.format(words="A malformed one leaves the zero time rather than failing the list."),
        STAMPED.format(words="The time is that of the server."),
    ),
    "the console of a page, and the log of a server": (
        "javascript-log",
        "window.addEventListener('message', (event) => { console.log('got', event.data); });\n",
        "app.get('/', (req, res) => { console.log('got', req.query.name); });\n",
    ),
    "the first bytes of a format, and a key of the environment": (
        "python-timing",
        MARK.format(name="SIGNATURE", value='b"PNG"'),
        MARK.format(name="SIGNATURE", value="os.environ['KEY']"),
    ),
}


@pytest.mark.parametrize(("rule", "harmless", "flawed"), TWINS.values(), ids=list(TWINS))
def test_twins_are_told_apart(rule: str, harmless: str, flawed: str) -> None:
    language: Language = "go" if rule.startswith("go") else "python" if rule.startswith("python") else "javascript"
    assert rules(language, harmless) == []
    assert rules(language, flawed) == [rule]


@pytest.mark.parametrize(
    "line",
    [
        "export type * from './types.js';",
        "export type * as Types from './types.js';",
        "export type {default as Request} from './core.js';",
    ],
)
def test_names_of_types_are_handed_on(line: str) -> None:
    text = f"{line}\nexport const run = (code: string) => eval(code + '');\n"
    assert scanned("typescript", text).not_analysed == ()
    assert rules("typescript", text) == ["javascript-eval"]


def test_what_does_not_parse_is_still_told() -> None:
    assert scanned("typescript", "export type * from;\n").not_analysed
