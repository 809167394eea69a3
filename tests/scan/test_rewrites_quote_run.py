"""Commands that need a shell keep it, and each value is one word of them: run with honest and hostile values."""

import contextlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import repaired

from moot.scan.change import RewriteRefused
from moot.scan.python.rewrites.quote import quote_values
from moot.scan.syntax import parse

HOSTILE = (
    "x; touch owned",
    "$(touch owned)",
    "x'; touch owned; '",
    '"; touch owned; "',
    "`touch owned`",
    "a\ntouch owned",
)
SHAPES = {
    "a pipe": """
import subprocess
def run(path):
    return subprocess.check_output(f"cat {path} | wc -l", shell=True, text=True).strip()
""",
    "quotes around the value": """
import subprocess
def run(path):
    return subprocess.run("cat '%s' | wc -l" % path, shell=True, capture_output=True, text=True).stdout.strip()
""",
    "quotes around more than the value": """
import subprocess
def run(path):
    return subprocess.getoutput('cat "./{}" | wc -l'.format(path)).strip()
""",
    "a redirection": """
import subprocess
def run(path):
    subprocess.run(f"wc -l < {path} > out.txt", shell=True)
    with open("out.txt") as out:
        return out.read().strip()
""",
    "steps": """
import os
def run(path, quiet=True):
    cmd = "cat " + path
    if quiet:
        cmd += " 2> /dev/null"
    cmd += " | wc -l"
    with os.popen(cmd) as out:
        return out.read().strip()
""",
    "joined words": """
import subprocess
def run(path):
    cmd = ["wc", "-l"]
    cmd.append(path)
    return subprocess.check_output(" ".join(cmd), shell=True, text=True).split()[0]
""",
    "a joined list within": """
import subprocess
def run(path):
    paths = [path]
    names = " ".join(paths)
    return subprocess.check_output(f"cat {names} | wc -l", shell=True, text=True).strip()
""",
    "a template with a name": """
import subprocess
COUNT = "cat {path} | wc -l"
def run(path):
    cmd = COUNT.format(path=path)
    return subprocess.run(cmd, shell=True, capture_output=True, text=True).stdout.strip()
""",
    "a shell in the list": """
import subprocess
def run(path):
    return subprocess.run(["sh", "-c", f"cat {path} | wc -l"], capture_output=True, text=True).stdout.strip()
""",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_command_counts_the_same_lines_and_runs_no_other(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("plain.txt", "a b.txt"):
        Path(name).write_text("one\ntwo\n", encoding="utf-8")
    before, after = read(SHAPES[shape]), read(repaired("python", SHAPES[shape])[0])
    assert after("plain.txt") == before("plain.txt") == "2"
    assert after("a b.txt") == "2"
    assert any(runs_another(before, value) for value in HOSTILE), "the attack works before the repair"
    assert not any(runs_another(after, value) for value in HOSTILE)


def runs_another(run: Callable[[str], str], value: str) -> bool:
    """Whether the second command in the value made its file."""
    with contextlib.suppress(OSError, ValueError, IndexError, subprocess.SubprocessError):
        run(value)
    made = Path("owned").exists()
    Path("owned").unlink(missing_ok=True)
    return made


def read(text: str) -> Callable[[str], str]:
    space: dict[str, object] = {}
    exec(text, space)
    run = space["run"]
    assert callable(run)
    return run


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ('f"ls {options} | wc -l"', "may hold several words"),
        ('f"{path} --version | head -1"', "the program itself is not constant"),
        ("f\"ssh host 'cat {path}' | wc -l\"", "another shell"),
        ("f\"bash -c 'cat {path}' | wc -l\"", "another shell"),
        ('f"cat $(basename {path}) | wc -l"', "another shell"),
    ],
)
def test_a_command_is_left_where_a_quoted_value_would_mean_something_else(command: str, why: str) -> None:
    text = f"import subprocess\ndef run(path, options):\n    return subprocess.run({command}, shell=True)\n"
    assert repaired("python", text)[0] == text
    source = parse("a.py", "python", text)
    node = next(n for n in source.nodes("call") if source.text(n).startswith("subprocess.run"))
    with pytest.raises(RewriteRefused, match=why):
        list(quote_values(source, node))


def test_a_command_is_left_where_windows_runs_it_too() -> None:
    text = (
        "import subprocess, sys\ndef run(path):\n    if sys.platform == 'win32':\n        return ''\n"
        "    return subprocess.run(f'cat {path} | wc -l', shell=True)\n"
    )
    after, repair = repaired("python", text)
    assert after == text and repair.left
