"""Ordinary Go code, and ordinary tests of it, one of each kind: see `tests/data/go_apart`."""

from pathlib import Path

DATA = Path(__file__).parents[2] / "data" / "go_apart"


def files_in(folder: str) -> dict[str, str]:
    top = DATA / folder
    return {str(path.relative_to(top)): path.read_text("utf-8") for path in sorted(top.rglob("*")) if path.is_file()}


CODE, TESTS = files_in("one/code"), files_in("one/tests")
TOGETHER = {"TestChannel", "TestMock", "TestFiles"}
"""What needs the process of the code; everything else is judged apart."""
MODULE_CODE, MODULE_TESTS = files_in("several/code"), files_in("several/tests")
MODULE_TOGETHER = {"TestGone", "TestChannel"}
