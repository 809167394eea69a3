"""Standard streams that are closed, full, cut off, or cannot show every character."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli


def run_shell(line: str, folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The shell closes streams as nothing else does; `$moot` is the command in a process of its own."""
    command = line.replace("$moot", f"'{sys.executable}' -m moot")
    place = {**os.environ, "MOOT_STORE": str(folder / "s.db"), **env}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=place, capture_output=True, text=True, timeout=60)


def test_a_reader_that_leaves_early_is_no_fault(tmp_path: Path) -> None:
    end = run_shell("yes 'git push --force' | head -20000 | $moot route --stdin | head -1", tmp_path)
    assert (end.stdout.count("\n"), end.stderr) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="not run: there is no /dev/full")
@pytest.mark.parametrize("words", ["route ls", "vote e.json", "--version"])
def test_a_full_disk_behind_the_output_is_named(tmp_path: Path, words: str) -> None:
    (tmp_path / "e.json").write_text('{"candidates": ["A"], "ballots": []}')
    end = run_shell(f"$moot {words} > /dev/full", tmp_path)
    assert (end.returncode, end.stderr) == (3, "moot: cannot write the output: No space left on device\n")


def test_closed_streams_are_empty_ones(tmp_path: Path) -> None:
    end = run_shell("$moot scan - -l python <&-", tmp_path)
    assert (end.returncode, end.stderr) == (2, "moot: standard input is empty; there is nothing to look at\n")
    assert run_shell("$moot vet route ls >&- 2>&-", tmp_path).returncode == 0


@pytest.mark.parametrize(
    "ascii_only", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_an_output_without_unicode_shows_escapes(tmp_path: Path, ascii_only: dict[str, str]) -> None:
    election = {"candidates": ["é→😀"], "ballots": []}
    (tmp_path / "e.json").write_text(json.dumps(election))
    shown = run_shell("$moot vote e.json", tmp_path, **ascii_only)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith("\\xe9\\u2192\\U0001f600 wins")
    data = run_shell("$moot vote e.json --json", tmp_path, PYTHONIOENCODING="ascii")
    assert json.loads(data.stdout)["winner"] == "é→😀"
    routed = run_shell("$moot route 'rm é→😀' --json", tmp_path, PYTHONIOENCODING="ascii")
    assert json.loads(routed.stdout)["triggers"] == ["destructive: rm é→😀"]


def test_an_argument_that_is_not_unicode_is_named(cli: Cli) -> None:
    end = cli("lessons", "add", os.fsdecode(b"na\xffme"))
    assert (end.code, end.err) == (2, "moot: the argument 'na\\xffme' is not valid UTF-8\n")
