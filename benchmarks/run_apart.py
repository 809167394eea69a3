"""The tests of well-known libraries in both ways: apart from the code, and in one process with it. Verdicts must agree.

`python -m benchmarks.run_apart [PACKAGE…]`; with names, only these are tried and no result is kept. The sources with
their tests come from the package registry, in the newest version it has.
"""

import asyncio
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kept import keep
from moot.core.types import Code, SourceFile, SuiteRun, Tests
from moot.edge.sandbox import Bubblewrap, SandboxLimits
from moot.edge.sandbox.layout import lay_out
from moot.edge.sandbox.python.suite import PythonRun, one_process_suite
from moot.edge.sandbox.report import judge

LIMITS = SandboxLimits(wall=500)


@dataclass(frozen=True)
class Library:
    name: str
    root: str
    """The folder of the archive from which its modules are imported."""
    code: str
    tests: str


LIBRARIES = (
    Library("toolz", ".", "toolz", "toolz/tests"),
    Library("markupsafe", "src", "markupsafe", "tests"),
    Library("more-itertools", ".", "more_itertools", "tests"),
)


@dataclass(frozen=True)
class Trial:
    library: Library
    version: str
    apart: SuiteRun
    together: SuiteRun

    @property
    def different(self) -> list[str]:
        one, other = ({o.name: o.status for o in run.outcomes} for run in (self.apart, self.together))
        return sorted(name for name in {*one, *other} if one.get(name) != other.get(name))


def fetch(library: Library, folder: Path) -> Path:
    """The sources of a library with their tests, unpacked. Moot's own environment has no pip."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = (folder / "venv/bin/python", "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps")
    subprocess.run([*pip, "--no-binary", ":all:", "-d", folder, library.name], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "tree", filter="data")
    (tree,) = (folder / "tree").iterdir()
    return tree


async def tried(library: Library, folder: Path) -> Trial:
    tree = fetch(library, folder)
    root = tree / library.root
    tests = [(str(path.relative_to(tree)), path.read_text("utf-8")) for path in _python(tree / library.tests)]
    own = [path for path in _python(root / library.code) if not path.is_relative_to(tree / library.tests)]
    code = Code(
        files=tuple(
            SourceFile(path=str(path.relative_to(root)), language="python", text=path.read_text("utf-8"))
            for path in own
        )
    )
    suite = Tests(files=tuple(tests))
    sandbox = Bubblewrap(LIMITS)
    apart = await sandbox.run(code, suite)
    alone = one_process_suite(lay_out(code, suite), PythonRun("", LIMITS.test))
    ended = await sandbox.program(alone)
    return Trial(library, tree.name.rpartition("-")[2], apart, judge(alone.read(ended.report), ended, LIMITS))


def _python(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def table(trials: Sequence[Trial]) -> str:
    columns = ("library", "version", "tests", "different", "judged apart", "of those that ran", "seconds (one process)")
    lines = [f"| {' | '.join(columns)} |", "|---|---|---:|---:|---:|---:|---:|"]
    for each in trials:
        ran = [outcome for outcome in each.apart.outcomes if outcome.status != "skipped"]
        apart = sum(not outcome.in_process for outcome in ran)
        lines.append(
            f"| {each.library.name} | {each.version} | {len(each.together.outcomes)} | {len(each.different)} "
            f"| {apart} | {apart / len(ran):.0%} | {each.apart.seconds:.1f} ({each.together.seconds:.1f}) |"
        )
    for each in trials:
        why = Counter(o.in_process for o in each.apart.outcomes if o.in_process and o.status != "skipped")
        lines += ["", f"{each.library.name}, in process because:"]
        lines += [f"- {reason}: {many}" for reason, many in why.most_common()]
        lines += [f"- DIFFERENT: {name}" for name in each.different]
        lines += [f"- PROBLEM: {run.problem}" for run in (each.apart, each.together) if run.problem]
    return "\n".join(lines)


def main() -> None:
    wanted = sys.argv[1:]
    trials = []
    for library in LIBRARIES:
        if not wanted or library.name in wanted:
            with tempfile.TemporaryDirectory() as folder:
                trials.append(asyncio.run(tried(library, Path(folder))))
    if wanted:
        print(table(trials))
    else:
        keep("apart", table(trials))


if __name__ == "__main__":
    main()
