"""Rules written from the documentation of a library: its dangerous use is found, the use it recommends is not."""

import pytest

from moot.core.types import Code, SourceFile
from moot.scan import StaticTeam

GO_FILE = """package a

import (
	"{imports}"
)

func run(w http.ResponseWriter, r *http.Request, key []byte) {{
{body}
}}
"""
SUFFIX = {".py": "python", ".js": "javascript", ".go": "go"}


def go(body: str, *imports: str) -> str:
    return GO_FILE.format(imports='"\n\t"'.join(("net/http", *imports)), body=body)


MAC = "mac := hmac.New(sha256.New, key)\nwant := hex.EncodeToString(mac.Sum(nil))\ngot := r.Header.Get(`X`)\n"
CODES = ("crypto/hmac", "crypto/sha256", "encoding/hex")
CORS = "_ = cors.Options{{AllowOriginFunc: func(o string) bool {{ return {} }}, AllowCredentials: true}}"
LOGIN = """const auth = require('crypto');
exports.f = (user, password) => {{
  const d = auth.scryptSync(password, user.s, 64).toString('hex');
  return {};
}};
"""
TWINS = {
    "a code of any name, compared": (
        "a.go",
        "go-timing",
        go(MAC + "if got != want {\nreturn\n}", *CODES),
        go(MAC + "if !hmac.Equal([]byte(got), []byte(want)) {\nreturn\n}", *CODES),
    ),
    "reflect.DeepEqual": (
        "a.go",
        "go-timing",
        go(
            "mac := hmac.New(sha256.New, key)\n_ = reflect.DeepEqual(mac.Sum(nil), key)",
            "crypto/hmac",
            "crypto/sha256",
            "reflect",
        ),
        go("sum := sha256.Sum256(key)\n_ = reflect.DeepEqual(sum[:], key)", "crypto/sha256", "reflect"),
    ),
    "HMAC of MD5": (
        "a.go",
        "go-weak-hash",
        go("_ = hmac.New(md5.New, key)", "crypto/hmac", "crypto/md5"),
        go("_ = hmac.New(sha256.New, key)", "crypto/hmac", "crypto/sha256"),
    ),
    "leave for every site": (
        "a.go",
        "go-cors",
        go(CORS.format("true"), "github.com/rs/cors"),
        go(CORS.format("o == `https://a.example`"), "github.com/rs/cors"),
    ),
    "the origin echoed": (
        "a.go",
        "go-cors",
        go(
            'w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))\n'
            'w.Header().Set("Access-Control-Allow-Credentials", "true")'
        ),
        go(
            'w.Header().Set("Access-Control-Allow-Origin", "https://a.example")\n'
            'w.Header().Set("Access-Control-Allow-Credentials", "true")'
        ),
    ),
    "a session of gorilla": (
        "a.go",
        "go-cookie-script",
        go("_ = sessions.Options{Secure: true}", "github.com/gorilla/sessions"),
        go("_ = sessions.Options{Secure: true, HttpOnly: true}", "github.com/gorilla/sessions"),
    ),
    "a cookie of Fiber": (
        "a.go",
        "go-cookie",
        go('_ = fiber.Cookie{Name: "s", Value: "v", HTTPOnly: true}', "github.com/gofiber/fiber/v2"),
        go('_ = fiber.Cookie{Name: "s", Value: "v", HTTPOnly: true, Secure: true}', "github.com/gofiber/fiber/v2"),
    ),
    "rights that were not given up": (
        "a.go",
        "go-discarded-error",
        go("syscall.Setuid(1000)", "syscall"),
        go("if err := syscall.Setuid(1000); err != nil {\npanic(err)\n}", "syscall"),
    ),
    "an error that the next one replaces": (
        "a.go",
        "go-discarded-error",
        go('a, err := os.Open("a")\nb, err := os.Open("b")\nuse(a, b, err)', "os"),
        go('a, err := os.Open("a")\nif err != nil {\nreturn\n}\nb, err := os.Open("b")\nuse(a, b, err)', "os"),
    ),
    "a transaction": (
        "a.go",
        "go-discarded-error",
        go("tx := begin()\ntx.Commit()", "database/sql"),
        go("tx := begin()\nif err := tx.Commit(); err != nil {\npanic(err)\n}", "database/sql"),
    ),
    "loguru": (
        "a.py",
        "python-log",
        "from flask import request\nfrom loguru import logger\n\n\ndef f():\n    logger.info('' + request.args['q'])\n",
        "from flask import request\nfrom loguru import logger\n\n\ndef f():\n    logger.info('seen {!r}', 1)\n",
    ),
    "rights by their names": (
        "a.py",
        "python-file-mode",
        "import os, stat\nos.chmod('a', stat.S_IRWXU | stat.S_IRWXO)\n",
        "import os, stat\nos.chmod('a', stat.S_IRWXU)\n",
    ),
    "what a function returns": (
        "a.py",
        "python-weak-random",
        "import random\n\n\ndef new_token():\n    return random.Random(4).getrandbits(64)\n",
        "import random\n\n\ndef new_delay():\n    return random.Random(4).getrandbits(64)\n",
    ),
    "a stack trace in an answer": (
        "a.js",
        "javascript-error-disclosure",
        "app.use((err, req, res, next) => { res.status(500).json({ stack: err.stack }); });\n",
        "app.use((err, req, res, next) => {\n"
        "  res.status(500).json({ stack: process.env.NODE_ENV === 'development' ? err.stack : '' });\n});\n",
    ),
    "the whole environment": (
        "a.js",
        "javascript-error-disclosure",
        "module.exports = (req, res) => { res.json({ env: process.env }); };\n",
        "module.exports = (req, res) => { res.json({ release: process.env.RELEASE }); };\n",
    ),
    "middleware for makers": (
        "a.js",
        "javascript-error-disclosure",
        "const handler = require('errorhandler');\napp.use(handler());\n",
        "const handler = require('errorhandler');\nif (app.get('env') === 'development') app.use(handler());\n",
    ),
    "a hash of a password": (
        "a.js",
        "javascript-timing",
        LOGIN.format("d === user.digest"),
        LOGIN.format("auth.timingSafeEqual(Buffer.from(d), user.digest)"),
    ),
    "rights that are asked before a file is opened": (
        "a.py",
        "python-claim-race",
        "import os\n\n\ndef f(path):\n    if os.access(path, os.W_OK):\n        return open(path, 'a')\n",
        "import os\n\n\ndef f(path, other):\n    if os.access(path, os.W_OK):\n        return open(other, 'a')\n",
    ),
    "rights of an opened file": (
        "a.js",
        "javascript-file-mode",
        "require('fs').openSync('a', 'w', 0o777);\n",
        "require('fs').openSync('a', 'w', 0o600);\n",
    ),
}


@pytest.mark.parametrize(("path", "rule", "flawed", "right"), TWINS.values(), ids=list(TWINS))
def test_only_the_dangerous_use_is_found(path: str, rule: str, flawed: str, right: str) -> None:
    def rules(text: str) -> set[str]:
        language = SUFFIX[path[path.index(".") :]]
        code = Code(files=(SourceFile.model_validate({"path": path, "language": language, "text": text}),))
        return {finding.rule for finding in StaticTeam().scan(code).findings}

    assert rule in rules(flawed)
    assert rule not in rules(right)


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("if (!product) {\n  res.status(500).json({ stack: err.stack });\n}\n", True),
        ("res.json({ products, stack: err.stack });\n", True),
        ("if (!isProduction) {\n  res.json({ stack: err.stack });\n}\n", False),
        ("if (IS_PROD) {\n  res.json({});\n} else {\n  res.json({ stack: err.stack });\n}\n", False),
        ("if (devMode) {\n  if (x) {\n    res.json(err.stack);\n  }\n}\n", False),
        ("if (devMode) {\n  if (debug) {\n    a();\n  }\n  res.json(err.stack);\n}\n", False),
        ("if (devMode) {\n  a();\n}\nres.json(err.stack);\n", True),
        ("res.json(debug ? err.stack : {});\n", False),
        ("const a = debug ? 1 : 2;\nif (x) {\n  res.json(err.stack);\n}\n", True),
    ],
)
def test_a_product_is_no_production(text: str, fires: bool) -> None:
    found = StaticTeam().scan(Code(files=(SourceFile(path="f.js", language="javascript", text=text),)))
    assert ("javascript-error-disclosure" in {f.rule for f in found.findings}) is fires
