"""Take Moot's controls out of a copy of the source, one at a time, and say whether their tests notice.

Example: scripts/remove_controls.py --only csrf
tests/security/controls.toml lists the controls. Exit code 0: every control is guarded; 1: one is not.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "tests" / "security" / "controls.toml"
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0")
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".tools", "build", "__pycache__", ".*_cache", ".hypothesis")
PATIENCE = 300.0
FAILED = 1
"""What pytest ends with if a test failed. A copy that cannot even be loaded ends otherwise, and proves nothing."""


@dataclass(frozen=True)
class Control:
    name: str
    guards: str
    file: str
    """Below src/moot."""
    text: str
    without: str
    tests: tuple[str, ...]
    """Below tests; each must fail without the control."""

    def remove_from(self, source: str) -> str:
        if (count := source.count(self.text)) != 1:
            sys.exit(f"{self.name}: its text is {count} times in src/moot/{self.file}, and must be there once")
        return source.replace(self.text, self.without)


def read_controls(table: Path = TABLE) -> list[Control]:
    rows = tomllib.loads(table.read_text(encoding="utf-8"))["control"]
    return [Control(**{**row, "tests": tuple(row["tests"])}) for row in rows]


def run_tests(copy: Path, tests: Sequence[str]) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", *OPTIONS, *(f"tests/{test}" for test in tests)]
    return subprocess.run(words, cwd=copy, env=env, capture_output=True, text=True, timeout=PATIENCE)


def is_guarded(copy: Path, control: Control) -> bool:
    """Whether every one of its tests fails without it."""
    place = copy / "src" / "moot" / control.file
    source = place.read_text(encoding="utf-8")
    try:
        place.write_text(control.remove_from(source), encoding="utf-8")
        return all(run_tests(copy, [test]).returncode == FAILED for test in control.tests)
    except subprocess.TimeoutExpired:
        return False
    finally:
        place.write_text(source, encoding="utf-8")


def require_green(copy: Path, controls: Sequence[Control]) -> None:
    """A test that fails anyway guards nothing."""
    done = run_tests(copy, list(dict.fromkeys(test for control in controls for test in control.tests)))
    if done.returncode or "skipped" in done.stdout:
        sys.exit(f"the tests must pass, and none may be skipped, while all controls are there:\n{done.stdout}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="WORD", help="controls with this word in their name")
    only = parser.parse_args().only
    controls = [each for each in read_controls() if only in each.name]
    if not controls:
        parser.error(f"no control has {only!r} in its name")
    began, missed = time.monotonic(), list[str]()
    with tempfile.TemporaryDirectory(prefix="moot-controls-") as folder:
        Path(folder).chmod(0o755)  # some tests of the sandbox run as an ordinary user
        copy = Path(shutil.copytree(ROOT, Path(folder) / "moot", ignore=LEFT_OUT, symlinks=True))
        require_green(copy, controls)
        for control in controls:
            guarded = is_guarded(copy, control)
            missed += [] if guarded else [control.name]
            sys.stdout.write(f"{'guarded' if guarded else 'NOT GUARDED':<12} {control.name}: {control.guards}\n")
            sys.stdout.flush()
    spent = time.monotonic() - began
    sys.stdout.write(f"{len(controls) - len(missed)} of {len(controls)} controls are guarded ({spent:.0f} s)\n")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
