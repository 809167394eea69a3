"""What benchmarks share: where public data is found, what is said when it is missing, what heads a result."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.kept import ROOT, data_path, has_data, read_rows, render_result


@pytest.mark.parametrize(
    ("folder", "expected"),
    [("", ROOT.parent / "shared" / "data"), ("sets", ROOT / "sets"), ("/sets", Path("/sets"))],
)
def test_data_is_found_from_any_working_directory(
    folder: str, expected: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MOOT_DATA", folder)
    assert data_path("a.jsonl.gz") == expected / "a.jsonl.gz"


def test_a_result_begins_with_its_command_and_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_DATA", str(tmp_path))
    for name, rows in (("one", 1), ("many", 1200)):
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * rows))
    assert has_data("one.jsonl.gz") and read_rows("one.jsonl.gz") == [{"a": 1}]
    assert render_result("the table", "python -m benchmarks.x", ("one.jsonl.gz", "many.jsonl.gz")) == (
        "command: python -m benchmarks.x\ndata: one.jsonl.gz, 1 row\ndata: many.jsonl.gz, 1,200 rows\n\nthe table\n"
    )


def test_a_benchmark_without_its_data_says_so_and_fails() -> None:
    done = subprocess.run([sys.executable, "-m", "benchmarks.run_planning"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("not run: data set humaneval.jsonl.gz is not in ") and "MOOT_DATA" in done.stderr


def test_all_benchmarks_look_for_data_in_one_place() -> None:
    paths = sorted((ROOT / "benchmarks").rglob("*.py"))
    assert [path.name for path in paths if "MOOT_DATA" in path.read_text(encoding="utf-8")] == ["kept.py"]
