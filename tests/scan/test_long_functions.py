"""The time for a function grows with its length, not with the square: what rules search in it is searched once."""

import time

import pytest
from samples import scanned

from moot.core.types import Language

GO = "func f(db *DB, v *T) {\n"
STEPS: dict[str, tuple[Language, str, str, str]] = {
    "answers": ("javascript", "app.get('/', (req, res) => {\n", "  res.send(req.query.a + 'x');\n", "});\n"),
    "listeners": ("javascript", "function f(req) {\n", "  req.on('data', (c) => { b += c; });\n", "}\n"),
    "claims in JavaScript": (
        "javascript",
        "function f(p) {\n",
        "  if (fs.existsSync(p)) return false;\n  fs.writeFileSync(q, 'w');\n",
        "}\n",
    ),
    "claims in Python": (
        "python",
        "def f(p):\n",
        "    if os.path.exists(p):\n        return False\n    open(q, 'w')\n",
        "",
    ),
    "marks": ("python", "import hmac\n\n\ndef f(a):\n", "    if a == A_MAGIC:\n        g()\n", ""),
    "docstrings": (
        "python",
        'def f(a):\n    """' + "best " * 40_000 + '"""\n',
        "    try:\n        g()\n    except Exception:\n        pass\n    h()\n",
        "",
    ),
    "statements": ("go", GO, '\tdb.Exec("a")\n', "}\n"),
    "dropped errors": ("go", "func g() (int, error) {\n\treturn 0, err\n}\n\n" * 2_000 + GO, "\ta, _ := g()\n", "}\n"),
    "methods": ("go", "func (t *T) g() error {\n\treturn err\n}\n\n" * 2_000 + GO, "\tv.g()\n", "}\n"),
}  # fmt: skip


@pytest.mark.parametrize(("language", "head", "step", "end"), STEPS.values(), ids=list(STEPS))
def test_a_long_function_takes_time_by_its_length(language: Language, head: str, step: str, end: str) -> None:
    text = head + step * (200_000 // len(step)) + end
    began = time.process_time()
    scanned(language, f"package a\n\n{text}" if language == "go" else text)
    assert time.process_time() - began < 4
