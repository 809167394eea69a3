"""Write docs/img/harden.svg: a real run of `moot harden`, with models that answer from a script, as a picture."""

import io
import json
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "img" / "harden.svg"
COLUMNS = 96
APP = """\
def find(db, name):
    return db.execute("SELECT * FROM users WHERE name = '" + name + "'").fetchall()
"""
SAFE = """\
def find(db, name):
    return db.execute("SELECT * FROM users WHERE name = ?", (name,)).fetchall()
"""
TESTS = """\
import sqlite3

from app import find


def test_a_user_is_found():
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE users (name)")
    db.execute("INSERT INTO users VALUES ('ann')")
    assert find(db, "ann") == [("ann",)]
"""
FOUND = {
    "description": "Any caller can read every user: the name is part of the SQL text.",
    "evidence": APP.splitlines()[1].strip(),
    "exploit": "find(db, \"' OR '1'='1\")",
    "category": "injection",
    "severity": "critical",
}
PATCH = f"PATCHES:\nVULN-001: bind the name\n\nCONFIDENCE: 0.9\n\nPATCHED_CODE:\nFILE: app.py\n```python\n{SAFE}```\n"
REPLIES = [
    {"seat": "red", "round": 1, "reply": {"vulnerabilities": [FOUND]}},
    {"seat": "blue", "reply": PATCH, "always": True},
    {"seat": "red", "reply": {"vulnerabilities": []}, "always": True},
]
COMMAND = ("harden", "app.py", "--tests", "test_app.py", "-m", "script:replies.yaml")
SHOWN = f"moot {' '.join(COMMAND)}"
# A template of our own: Rich's loads its font from another host, and a picture must show without one.
TEMPLATE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
<rect fill="#1b1f24" width="100%" height="100%" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g>
</svg>
"""


def run_moot(folder: Path) -> str:
    """What a person sees: progress, then the result as a terminal of this width shows it."""
    for name, text in {"app.py": APP, "test_app.py": TESTS, "replies.yaml": json.dumps(REPLIES)}.items():
        (folder / name).write_text(text)
    ours, theirs = pty.openpty()
    env = {**os.environ, "COLUMNS": str(COLUMNS), "MOOT_STORE": str(folder / "moot.db"), "TERM": "xterm-256color"}
    with subprocess.Popen(
        [sys.executable, "-m", "moot", *COMMAND], cwd=folder, env=env, stdout=theirs, stderr=subprocess.PIPE, text=True
    ) as running:
        os.close(theirs)
        result = b""
        while part := read_some(ours):
            result += part
        assert running.stderr is not None
        progress = running.stderr.read()
    os.close(ours)
    assert running.returncode == 0, progress
    return f"{progress}\n{result.decode()}".replace("\r\n", "\n").replace(str(folder), "~")


def read_some(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is gone
        return b""


def draw(text: str) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(Text.from_ansi(f"\x1b[1;32m$\x1b[0m \x1b[1m{SHOWN}\x1b[0m"))
    console.print(Text.from_ansi(text.rstrip()))
    return console.export_svg(title="moot", theme=MONOKAI, code_format=TEMPLATE, unique_id="moot")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        picture = draw(run_moot(Path(name)))
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(picture, encoding="utf-8")
