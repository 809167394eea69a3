"""Harden twelve well-kept packages without a model and run their own tests before and after: none may change.

`python -m benchmarks.run_packages [PACKAGE…]`; with names, only these are tried and no result is kept. The sources with
their tests come from the package registry, in the newest version it has. A test counts as changed when it passed before
and does not pass after, in a second run of both as well.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep

MOOT = Path(sys.executable).parent / "moot"
TOOLS = (
    "pytest", "pytest-timeout", "pytest-httpbin", "pytest-mock", "trio", "trustme", "PySocks", "socksio", "uvicorn",
    "chardet", "hypothesis", "freezegun", "python-dotenv", "zstandard", "brotli", "h2", "cryptography", "asgiref",
    "tabulate", "anyio", "ephemeral-port-reserve", "watchdog",
)  # fmt: skip
"""What the tests of the packages import beside the packages themselves."""
SECONDS = 900


@dataclass(frozen=True)
class Package:
    name: str
    code: str
    """Where its code lies in the archive."""
    tests: str = "tests"
    left_out: tuple[str, ...] = ()
    """Files of tests that do not run everywhere: they start servers."""


PACKAGES = (
    Package("jinja2", "src/jinja2"),
    Package("requests", "src/requests"),
    Package("httpx", "httpx"),
    Package("werkzeug", "src/werkzeug", left_out=("tests/test_serving.py", "tests/live_apps")),
    Package("markupsafe", "src/markupsafe"),
    Package("click", "src/click"),
    Package("itsdangerous", "src/itsdangerous"),
    Package("bottle", "bottle.py", "test"),
    Package("webob", "src/webob"),
    Package("sqlite-utils", "sqlite_utils"),
    Package("boltons", "boltons"),
    Package("mistune", "src/mistune"),
)


@dataclass(frozen=True)
class Trial:
    name: str
    version: str
    findings: int
    patched: int
    before: dict[str, str]
    after: dict[str, str]
    changed: tuple[str, ...]


def run(*command: object, cwd: Path | None = None, check: bool = True, **more: str) -> str:
    given = {**os.environ, **more, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([str(part) for part in command], cwd=cwd, env=given, capture_output=True, text=True)
    if check and done.returncode != 0:
        raise SystemExit(f"not run: {' '.join(map(str, command[:6]))} failed: {(done.stderr or done.stdout)[-400:]}")
    return done.stdout


def make_python(folder: Path, packages: Sequence[Package]) -> Path:
    """An interpreter that has what the tests need, and the packages for the sake of their metadata."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "-q", "--disable-pip-version-check")
    run(*pip, *TOOLS, *(package.name for package in packages))
    return python


def fetch(python: Path, package: Package, folder: Path) -> Path:
    """The sources of a package with their tests, unpacked."""
    pip = (python, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:")
    run(*pip, "-d", folder, package.name)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    (tree,) = (path for path in folder.iterdir() if path.is_dir())
    return tree


def outcomes(python: Path, package: Package, tree: Path) -> dict[str, str]:
    """How each test of a tree ends. The code of the tree comes before what is installed."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        skipped = [f"--ignore={name}" for name in package.left_out]
        options = ["-q", "-p", "no:cacheprovider", "--timeout=60", f"--basetemp={scratch}/tmp", f"--junitxml={report}"]
        home = str((tree / package.code).parent)
        command = ("timeout", SECONDS, python, "-m", "pytest", *options, *skipped, package.tests)
        said = run(*command, cwd=tree, check=False, PYTHONPATH=home)
        if not report.is_file():
            return {"the tests as a whole": said[-200:]}
        cases = ElementTree.parse(report).iter("testcase")
        named = ((f"{case.get('classname')}.{case.get('name')}".replace(str(tree), ""), case) for case in cases)
        return {name: _status(case) for name, case in named}


def _status(case: ElementTree.Element) -> str:
    return next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")


def lost(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name, status in before.items() if status == "passed" and after.get(name) != "passed"}


def harden(package: Package, tree: Path, store: Path) -> tuple[int, int]:
    """How many findings there were, and how many of them were patched in the files."""
    command = (MOOT, "harden", package.code, "--no-llm", "--write", "--json", "-q", "--store", store)
    result = json.loads(run(*command, cwd=tree, check=False))
    if result["outcome"] not in ("hardened", "risk_accepted", "unresolved"):
        raise SystemExit(f"not run: {package.name} ended {result['outcome']}")
    first = result["attack_reports"][0]["vulnerabilities"]
    return len(first), sum(len(report["patched_vulnerabilities"]) for report in result["defense_reports"])


def trial(python: Path, package: Package, folder: Path) -> Trial:
    trees = [folder / name for name in ("before", "after")]
    for tree in trees:
        tree.mkdir(parents=True)
    old, new = (fetch(python, package, tree) for tree in trees)
    findings, patched = harden(package, new, folder / "store.db")
    before, after = outcomes(python, package, old), outcomes(python, package, new)
    if "passed" not in before.values():
        raise SystemExit(f"not run: no test of {package.name} passes before anything is changed: {before}"[:400])
    changed = lost(before, after)
    if changed:
        changed &= lost(outcomes(python, package, old), outcomes(python, package, new))
    version = old.name.rpartition("-")[2]
    return Trial(package.name, version, findings, patched, before, after, tuple(sorted(changed)))


def table(trials: Sequence[Trial]) -> str:
    lines = [f"{'package':16}{'version':>10}{'findings':>10}{'patched':>9}{'before':>8}{'after':>8}{'changed':>9}"]
    for each in trials:
        passed = [sum(status == "passed" for status in run.values()) for run in (each.before, each.after)]
        lines.append(
            f"{each.name:16}{each.version:>10}{each.findings:>10}{each.patched:>9}{passed[0]:>8}{passed[1]:>8}"
            f"{len(each.changed):>9}"
        )
    names = [f"changed: {each.name}: {name}" for each in trials for name in each.changed]
    return "\n".join([*lines, "", "before, after: tests of the package that pass", *names])


def main(wanted: list[str]) -> None:
    chosen = [package for package in PACKAGES if not wanted or package.name in wanted]
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        python = make_python(home / "python", chosen)
        trials = []
        for package in chosen:
            trials.append(trial(python, package, home / package.name))
            print(table(trials[-1:]).splitlines()[1], *trials[-1].changed, sep="\n    ", flush=True)
    if wanted:
        print(table(trials))
    else:
        keep("packages", table(trials))
        changed = sum(len(each.changed) for each in trials)
        report_figures("packages", [BenchFigure("test results that hardening changed", changed, "tests")])
    if any(each.changed for each in trials):
        raise SystemExit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
