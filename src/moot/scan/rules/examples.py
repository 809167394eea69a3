"""For each rule that syntax alone decides, code that it must report and code that it must not."""

from moot.core.types import Language
from moot.scan.rule import RuleExample

COUNT = "import threading\ntotal = 0\nlock = threading.Lock()\ndef work():\n    global total\n{body}\n"
START = "for _ in range(4):\n    threading.Thread(target=work).start()\n"
GO = "package app\n\nimport (\n{imports})\n\nfunc run({given}) {{\n{body}\n}}\n"


def _go(rule: str, imports: str, fires: str, silent: str, given: str = "") -> RuleExample:
    lines = "".join(f'\t"{path}"\n' for path in imports.split())
    return RuleExample(rule, *(GO.format(imports=lines, given=given, body=body) for body in (fires, silent)))


MERGE = """function merge(to, from) {{
  for (const key in from) {{{guard}
    if (typeof from[key] === "object") merge(to[key], from[key]);
    else to[key] = from[key];
  }}
}}
"""
WALK = """function set(at, way, value) {{
  const parts = way.split(".");
  for (let i = 0; i < parts.length - 1; i++) {{{guard}
    at = at[parts[i]];
  }}
  at[parts[parts.length - 1]] = value;
}}
"""
PROTO = " if (/^__proto__|constructor$/.test({key})) continue;"

EXAMPLES: dict[Language, tuple[RuleExample, ...]] = {
    "python": (
        RuleExample(
            "python-swallowed-error",
            "try:\n    save()\nexcept Exception:\n    pass",
            "try:\n    save()\nexcept KeyError:\n    pass",
        ),
        RuleExample(
            "python-raw-memory",
            "import ctypes\ndef copy(to, data, n):\n    ctypes.memmove(to, data, n)",
            "def copy(to, data, n):\n    memoryview(to)[:n] = data[:n]",
        ),
        RuleExample(
            "python-thread-race",
            COUNT.format(body="    total += 1") + START,
            COUNT.format(body="    with lock:\n        total += 1") + START,
        ),
        RuleExample(
            "python-hardcoded-secret",
            "password = 'hunter2!'",
            "import os\npassword = os.environ['PASSWORD']",
        ),
        RuleExample(
            "python-timing",
            "import hmac\ndef check(key, body, signature):\n"
            "    return hmac.new(key, body, 'sha256').hexdigest() == signature",
            "import hmac\ndef check(key, body, signature):\n"
            "    return hmac.compare_digest(hmac.new(key, body, 'sha256').hexdigest(), signature)",
        ),
        RuleExample(
            "python-host-check",
            "from urllib.parse import urlsplit\ndef ours(url):\n    return 'example.com' in urlsplit(url).netloc",
            "from urllib.parse import urlsplit\ndef ours(url):\n    return urlsplit(url).hostname == 'example.com'",
        ),
        RuleExample(
            "no-validation",
            "from flask import request\ndef view():\n    return lookup(request.args['id'])",
            "from flask import request\ndef view():\n    return lookup(int(request.args['id']))",
        ),
        RuleExample(
            "suppression-without-reason",
            "x = eval(y)  # moot: ignore[python-eval]",
            "x = eval(y)  # moot: ignore[python-eval] y is our own table of constants",
        ),
    ),
    "javascript": (
        RuleExample(
            "javascript-swallowed-error",
            "try { save(); } catch (e) {}",
            "try { save(); } catch (e) { report(e); }",
        ),
        RuleExample(
            "javascript-hardcoded-secret",
            "connect({host: h, password: 'hunter2!'});",
            "connect({host: h, password: process.env.PASSWORD});",
        ),
        RuleExample(
            "javascript-host-check",
            "const ours = (url) => url.includes('example.com');",
            "const ours = (url) => new URL(url).hostname === 'example.com';",
        ),
        RuleExample(
            "javascript-host-check",
            "const ours = (url) => /^https:\\/\\/www.example.com\\//.test(url);",
            "const ours = (url) => /^https:\\/\\/www\\.example\\.com\\//.test(url);",
        ),
        RuleExample(
            "javascript-type-confusion",
            "app.get('/', (req, res) => { const f = req.query.f; if (f.includes('..')) return; send(f); });",
            "app.get('/', (req, res) => { const f = String(req.query.f); if (f.includes('..')) return; send(f); });",
        ),
        RuleExample(
            "javascript-logged-secret",
            "console.log(`login of ${user.name} with ${user.password}`);",
            "console.log(`login of ${user.name}, password of ${user.password.length} letters`);",
        ),
        RuleExample("javascript-prototype", MERGE.format(guard=""), MERGE.format(guard=PROTO.format(key="key"))),
        RuleExample("javascript-prototype", WALK.format(guard=""), WALK.format(guard=PROTO.format(key="parts[i]"))),
        RuleExample(
            "no-validation",
            "function view(req) { return lookup(req.query.id); }",
            "function view(req) { return lookup(parseInt(req.query.id, 10)); }",
        ),
        RuleExample(
            "suppression-without-reason",
            "eval(y); // moot: ignore[javascript-eval]",
            "eval(y); // moot: ignore[javascript-eval] y is our own table of constants",
        ),
    ),
    "go": (
        _go(
            "go-unsafe",
            "unsafe",
            "_ = *(*int)(unsafe.Pointer(&b[0]))",
            "_ = int(b[0])",
            "b []byte",
        ),
        _go(
            "go-discarded-error",
            "os",
            'os.Remove("lock")',
            'if err := os.Remove("lock"); err != nil {\npanic(err)\n}',
        ),
        _go(
            "go-timing",
            "crypto/hmac",
            "if mac != signature {\nreturn\n}",
            "if !hmac.Equal([]byte(mac), []byte(signature)) {\nreturn\n}",
            "mac, signature string",
        ),
        _go(
            "go-host-check",
            "strings",
            'if strings.HasSuffix(host, "example.com") {\nallow()\n}',
            'if host == "example.com" || strings.HasSuffix(host, ".example.com") {\nallow()\n}',
            "host string",
        ),
        _go(
            "go-logged-secret",
            "log",
            'log.Println("connecting with", cfg.Password)',
            'log.Println("connecting, password set:", cfg.Password != "")',
            "cfg Config",
        ),
        _go(
            "no-validation",
            "net/http",
            'lookup(r.FormValue("id"))',
            'lookup(strconv.Atoi(r.FormValue("id")))',
            "r *http.Request",
        ),
        _go(
            "suppression-without-reason",
            "os",
            'os.Remove("lock") // moot: ignore[go-discarded-error]',
            'os.Remove("lock") // moot: ignore[go-discarded-error] it may be gone already',
        ),
    ),
}
