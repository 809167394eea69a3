"""For each rule that syntax alone decides, code on which it must speak and code on which it must not."""

from moot.scan.rule import Example
from moot.types import Language

COUNT = "import threading\ntotal = 0\nlock = threading.Lock()\ndef work():\n    global total\n{body}\n"
START = "for _ in range(4):\n    threading.Thread(target=work).start()\n"
GO = "package app\n\nimport (\n{imports})\n\nfunc run({given}) {{\n{body}\n}}\n"


def _go(rule: str, imports: str, fires: str, silent: str, given: str = "") -> Example:
    lines = "".join(f'\t"{path}"\n' for path in imports.split())
    return Example(rule, *(GO.format(imports=lines, given=given, body=body) for body in (fires, silent)))


EXAMPLES: dict[Language, tuple[Example, ...]] = {
    "python": (
        Example(
            "python-swallowed-error",
            "try:\n    save()\nexcept Exception:\n    pass",
            "try:\n    save()\nexcept KeyError:\n    pass",
        ),
        Example(
            "python-raw-memory",
            "import ctypes\ndef copy(to, data, n):\n    ctypes.memmove(to, data, n)",
            "def copy(to, data, n):\n    memoryview(to)[:n] = data[:n]",
        ),
        Example(
            "python-thread-race",
            COUNT.format(body="    total += 1") + START,
            COUNT.format(body="    with lock:\n        total += 1") + START,
        ),
        Example(
            "python-hardcoded-secret",
            "password = 'hunter2!'",
            "import os\npassword = os.environ['PASSWORD']",
        ),
        Example(
            "no-validation",
            "from flask import request\ndef view():\n    return lookup(request.args['id'])",
            "from flask import request\ndef view():\n    return lookup(int(request.args['id']))",
        ),
        Example(
            "suppression-without-reason",
            "x = eval(y)  # moot: ignore[python-eval]",
            "x = eval(y)  # moot: ignore[python-eval] y is our own table of constants",
        ),
    ),
    "javascript": (
        Example(
            "javascript-swallowed-error",
            "try { save(); } catch (e) {}",
            "try { save(); } catch (e) { report(e); }",
        ),
        Example(
            "javascript-hardcoded-secret",
            "connect({host: h, password: 'hunter2!'});",
            "connect({host: h, password: process.env.PASSWORD});",
        ),
        Example(
            "no-validation",
            "function view(req) { return lookup(req.query.id); }",
            "function view(req) { return lookup(parseInt(req.query.id, 10)); }",
        ),
        Example(
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
