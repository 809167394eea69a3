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
TWINS = {
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
