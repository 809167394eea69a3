"""Files of lines: one writer at a time, across processes, and a held lock is an error that is told."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moot.core.errors import StoreError
from moot.edge.files import lines
from moot.edge.files.lines import lock_file, read_lines
from moot.surfaces.hooks.allowances import allowances
from moot.surfaces.hooks.events import answer

HOLDER = """
import sys
from pathlib import Path
from moot.edge.files.lines import lock_file
with lock_file(Path(sys.argv[1])) as file:
    file.append([{"by": "holder"}])
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that has locked this file."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        try:
            yield holder
        finally:
            holder.kill()


def test_a_writer_that_waits_too_long_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOCK_SECONDS", 0.05)
    path = tmp_path / "calls.jsonl"
    with (
        held(path),
        pytest.raises(StoreError, match=r"calls\.jsonl is locked by another process; gave up after 0\.05 s"),
        lock_file(path) as file,
    ):
        file.append([{"by": "second"}])
    assert read_lines(path).lines == ({"by": "holder"},)


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with held(path) as holder:
        holder.kill()
        holder.wait()
        with lock_file(path) as file:
            file.append([{"by": "second"}])
    assert [line["by"] for line in read_lines(path).lines] == ["holder", "second"]
    assert not list(tmp_path.glob("calls.jsonl?*"))  # nothing is left beside it


def test_a_hook_stops_a_grave_call_while_the_lock_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LOCK_SECONDS", 0.05)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("DISABLE_DEBATE", raising=False)
    call = {"session_id": "s", "cwd": str(tmp_path), "tool_name": "Bash", "tool_input": {"command": "rm -rf data"}}
    with held(allowances(os.environ)):
        told = answer("pre-tool-use", json.dumps(call).encode(), os.environ, client="claude")
    given = json.loads(told.out)["hookSpecificOutput"]
    assert given["permissionDecision"] == "deny" and "is locked by another process" in given["permissionDecisionReason"]
