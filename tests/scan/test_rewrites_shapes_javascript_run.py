"""Functions as people write them, in many shapes: repaired, each passes its honest checks and stands its attacks.

The shapes are in tests/scan/shapes/javascript.txt: `==== NAME` begins one, then the function, `---- checks`, and other
files. In the checks, `S` is the module under test, `H` an honest check and `A` an attack.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from patience import PATIENCE
from samples import repaired

FOLDER = Path(__file__).parent / "shapes"
KIT = (FOLDER / "kit.cjs").read_text(encoding="utf-8")
NAMES = "test, assert, fs, os, path, base, dir, put, quiet, H, A, res, flat, db"


def read_shapes() -> dict[str, dict[str, str]]:
    """The files of each shape by its name."""
    found: dict[str, dict[str, str]] = {}
    for part in re.split(r"^==== ", (FOLDER / "javascript.txt").read_text(encoding="utf-8"), flags=re.M)[1:]:
        name, _, rest = part.partition("\n")
        subject, *others = re.split(r"^---- ", rest, flags=re.M)
        files = {path: body for path, _, body in (other.partition("\n") for other in others)}
        modern = re.search(r"^(?:import|export) ", subject, re.M) is not None
        opening = f"const {{ {NAMES} }} = require('./kit.cjs');\nconst S = require('./subject.js');\n"
        if modern:
            files["package.json"] = '{"type": "module"}'
            opening = f"import kit from './kit.cjs';\nimport * as S from './subject.js';\nconst {{ {NAMES} }} = kit;\n"
        files |= {"checks.js": opening + files.pop("checks"), "subject.js": subject, "kit.cjs": KIT}
        found[name] = files
    return found


SHAPES = read_shapes()


def passes(folder: Path, files: dict[str, str], subject: str) -> subprocess.CompletedProcess[str]:
    node = shutil.which("node")
    assert node is not None, "Node.js is missing: these tests run the rewritten code"
    for path, body in {**files, "subject.js": subject}.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(body, encoding="utf-8")
    return subprocess.run(
        [node, "--test-reporter=tap", "checks.js"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE
    )


@pytest.mark.parametrize("name", SHAPES)
def test_a_repaired_shape_does_its_work_and_stands_its_attacks(name: str, tmp_path: Path) -> None:
    files = SHAPES[name]
    before = passes(tmp_path / "before", files, files["subject.js"])
    assert before.returncode and "not ok" in before.stdout and "not ok" not in _only("functional", before.stdout)
    text, _ = repaired("javascript", files["subject.js"])
    after = passes(tmp_path / "after", files, text)
    assert after.returncode == 0, text + after.stdout


def _only(kind: str, report: str) -> str:
    return "\n".join(line for line in report.splitlines() if f"- {kind} " in line)


LEFT = {
    "an argument that may be empty": "const { exec } = require('child_process');\n"
    "function f(dir = '') {\n  exec('ls ' + dir, done);\n}\n",
    "a word of SQL": "const mysql = require('mysql2');\nfunction f(db, boss) {\n"
    "  return db.query(`UPDATE t SET boss = ${boss || 'NULL'}`);\n}\n",
    "parts of a page": "function f(children) {\n  return `<main>${children}</main>`;\n}\n",
    "a shell of another system": "const { exec } = require('child_process');\n"
    "function f(name) {\n  exec('type ' + name + ' > out.txt');\n}\n",
    "a token whose key is elsewhere": "const jwt = require('jsonwebtoken');\nfunction f(token) {\n"
    "  return jwt.decode(token);\n}\n",
    "a vector that only this side knows": "const crypto = require('crypto');\nconst IV = Buffer.alloc(16);\n"
    "function f(key, text) {\n  const c = crypto.createCipheriv('aes-256-cbc', key, IV);\n"
    "  return c.update(text, 'utf8', 'hex') + c.final('hex');\n}\n",
}


@pytest.mark.parametrize("why", LEFT)
def test_a_shape_that_a_repair_could_break_is_left(why: str) -> None:
    after, repair = repaired("javascript", LEFT[why])
    assert after == LEFT[why] and repair.left


def test_markup_kept_in_a_table_is_no_text() -> None:
    text = "const ICONS = { a: '<i></i>' };\nfunction f(kind, name) {\n"
    text += "  return `<p>${ICONS[kind] || ''} ${name}</p>`;\n}\n"
    after, _ = repaired("javascript", text)
    assert "escapeHtml(name)" in after and "escapeHtml(ICONS" not in after


def test_two_numbers_in_front_of_a_text_are_added_first() -> None:
    text = "function f(a, b) {\n  console.log(a + b + ' items');\n}\n"
    assert "oneLine(a + b) + ' items'" in repaired("javascript", text)[0]
