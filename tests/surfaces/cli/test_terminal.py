"""What others wrote is shown, never obeyed: no escape code of a file, a model or an archive reaches a terminal."""

import ast
import json
import re
import sys
from pathlib import Path

import pytest
from conftest import Cli
from hostile import HOSTILE, HOSTILE_LINES
from kit import run_moot
from terminals import shown_on_a_terminal

from moot.text.controls import clean, clean_json

SOURCE = Path(__file__).parents[3] / "src" / "moot"
TITLE, CLEAR, TURN, TAG = "\x1b]0;PWNED\x07", "\x9b2J", "\u202egnp.exe", "\U000e0041"
EVIL = f"{TITLE}{CLEAR}{TURN}{TAG}"
NAME = f"ev{TITLE}{CLEAR}{TURN}il.py"
HARMFUL = (TITLE[:3], CLEAR, TURN[0], TAG, "\x07", "\u2066")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with a session whose every text is hostile: the code, its name, what the model said."""
    folder = tmp_path_factory.mktemp("hostile")
    comments = "".join(f"# {each}\n" for each in HOSTILE_LINES)
    text = f"import os\n\n# {EVIL}\n{comments}def run(name):\n    os.system('ls {EVIL}' + name)\n"
    (folder / NAME).write_text(text, encoding="utf-8")
    exploit = " ".join([EVIL, *HOSTILE_LINES])
    found = {
        "description": "\n".join([EVIL, *HOSTILE]).replace("\0", ""),
        "evidence": f"    os.system('ls {EVIL}' + name)", "exploit": exploit,
        "category": "injection", "severity": "high",
    }  # fmt: skip
    (folder / "replies.yaml").write_text(json.dumps([{"reply": {"vulnerabilities": [found]}, "always": True}]))
    ran = run_moot(folder, "harden", NAME, "-m", "script:replies.yaml", "--json", "-q", XDG_DATA_HOME=str(folder))
    return folder, str(json.loads(ran.stdout)["session_id"])


COMMANDS = (
    "list", "show SESSION", "show SESSION --json", "export SESSION --format md", "export SESSION --format html",
    "export SESSION --format json", "audit SESSION", "audit SESSION --json", "scan .", "scan . --json", "NAME",
    "scan NAME/none", "harden NAME -m script:replies.yaml", "resume SESSION --json", "diff SESSION SESSION",
    "--NAME", "scan --NAME", "route NAME", "export NAME", "show NAME", "fork SESSION --at NAME", "team --model NAME",
    "models -m NAME:x",
)  # fmt: skip
ALL = """
import json, sys
from moot.__main__ import run
for words in json.loads(sys.argv[1]):
    code = run(words, debug=False)
    sys.stdout.flush()
    sys.stderr.write(f"\\n=== {code}\\n")
    sys.stderr.flush()
"""
"""Every command on one terminal, one after the other: a process for each would take a minute."""


@pytest.fixture(scope="module")
def screens(hostile: tuple[Path, str]) -> dict[str, tuple[int, str]]:
    """The exit code of each command, and what a person sees."""
    folder, session = hostile
    given = [[w.replace("SESSION", session).replace("NAME", NAME) for w in words.split()] for words in COMMANDS]
    env = ["/usr/bin/env", f"MOOT_STORE={folder}/s.db", f"XDG_DATA_HOME={folder}"]
    _, seen = shown_on_a_terminal([*env, sys.executable, "-c", ALL, json.dumps(given)], str(folder))
    parts = re.split(r"\r\n=== (\d+)\r\n", seen)
    return {words: (int(parts[2 * n + 1]), parts[2 * n]) for n, words in enumerate(COMMANDS)}


@pytest.mark.parametrize("words", COMMANDS)
def test_nothing_reaches_a_terminal_that_it_would_obey(screens: dict[str, tuple[int, str]], words: str) -> None:
    code, seen = screens[words]
    assert seen.strip() and code in (0, 1, 2, 3), seen
    assert [text for text in HARMFUL if text in seen] == []


@pytest.mark.parametrize("form", ["md", "html"])
def test_a_document_holds_no_escape_codes_either(
    hostile: tuple[Path, str], cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """It is looked at with `cat`, and opened by programs that draw text from right to left."""
    folder, session = hostile
    monkeypatch.setenv("MOOT_STORE", str(folder / "s.db"))
    assert cli("export", session, "--format", form, "-o", "x").code == 0
    assert [text for text in HARMFUL if text in (tmp_path / "x").read_text()] == []


def test_the_record_as_json_keeps_every_character(
    hostile: tuple[Path, str], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, session = hostile
    monkeypatch.setenv("MOOT_STORE", str(folder / "s.db"))
    for ran in (cli("export", session), cli("show", session, "--json")):
        assert EVIL in json.loads(ran.out)["versions"][0]["code"]
        assert [text for text in HARMFUL if text in ran.out] == []


def test_what_is_harmless_stays_and_what_is_not_is_marked() -> None:
    assert clean("tab\there\nümläut 漢字 👍 é") == "tab\there\nümläut 漢字 👍 é"
    assert clean("a\x1b[31mb\x9bc\u202ed\u200be\x7ff\rg\ud800h\u2066") == "a�[31mb�c�d�e�f�g�h�"
    assert clean("of Windows\r\nnot\rof it\r") == "of Windows\nnot�of it�"
    text = json.dumps({"a": f"{EVIL}\x7f\u2066ü漢"}, ensure_ascii=False)
    assert json.loads(clean_json(text)) == json.loads(text) and clean_json(text) != text and "漢" in clean_json(text)


def test_whatever_is_printed_goes_through_one_door() -> None:
    """`sys.stdout.write`, `print` and `echo` show text as it is; `screen.py` has what makes it harmless first."""
    raw = []
    for path in [*(SOURCE / "surfaces").rglob("*.py"), SOURCE / "__main__.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if called in ("print", "sys.stdout.write", "typer.echo", "sys.stdout.buffer.write", "Console"):
                raw.append(f"{path.relative_to(SOURCE)}: {called}")
    assert sorted(set(raw)) == [
        "__main__.py: sys.stdout.write",  # the version
        "surfaces/acp.py: Console",  # into a text that goes to an editor as JSON
        "surfaces/cli/progress.py: Console",  # a silent one
        "surfaces/cli/screen.py: sys.stdout.write",
        "surfaces/fast_path.py: sys.stdout.write",  # what a hook answers, and a route
    ]
