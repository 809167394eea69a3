"""CPU seconds and memory of a scan beside bandit and ruff, and of hardening beside a scan.

`python -m benchmarks.run_scan_speed [FILES]`; with a number, a tree of that many files is measured and no result is
kept. The tree is the standard library without its tests, then packages of this environment, up to 2,000 files. CPU time
counts all processes: other work on the machine changes it little. What is hardened is the package rich.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from benchmarks.figures import BenchFigure, compare_times, report_figures
from benchmarks.kept import keep

FILES = 2000
BIN = Path(sys.executable).parent
LEFT_OUT = frozenset({"test", "tests", "testing", "site-packages", "idle_test", "__pycache__"})
EDIT = "\n\ndef added_by_the_benchmark(name):\n    return name\n"


@dataclass(frozen=True)
class Cost:
    what: str
    seconds: float
    megabytes: float


def list_sources() -> Iterator[tuple[Path, Path]]:
    """Each file with its place in the tree."""
    paths = sysconfig.get_paths()
    for home in (Path(paths["stdlib"]), Path(paths["purelib"])):
        for path in sorted(home.rglob("*.py")):
            place = path.relative_to(home)
            if LEFT_OUT.isdisjoint(place.parts):
                yield path, place


def build_tree(folder: Path, count: int) -> int:
    """The number of lines in it."""
    lines = 0
    for path, place in islice(list_sources(), count):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, folder / place)
        lines += path.read_bytes().count(b"\n")
    return lines


def measure(what: str, *command: object, cache: Path) -> Cost:
    """What a command and its processes cost. Findings are no failure: exit codes up to 2."""
    given = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [str(word) for word in command]
    with subprocess.Popen(words, env=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1, 2):
        raise SystemExit(f"not run: {' '.join(words[:3])} ended with exit code {process.returncode}")
    cost = Cost(what, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
    print(render_cost(cost), flush=True)
    return cost


def edit_body(path: Path, function: str) -> None:
    text = path.read_text(encoding="utf-8")
    edited = re.sub(rf"(?m)^(def {function}\(.*:\n)", r"\1    added_by_the_benchmark = 1\n", text)
    assert edited != text, f"{path.name} has no function {function}"
    path.write_text(edited, encoding="utf-8")


def find_tool(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join((str(BIN), os.environ.get("PATH", ""))))
    if found is None:
        raise SystemExit(f"not run: {name} is not installed")
    return found


def render_cost(cost: Cost) -> str:
    return f"{cost.what:44}{cost.seconds:>9.1f}{cost.megabytes:>9.0f}"


def measure_tree(tree: Path, cache: Path) -> list[Cost]:
    scan = (BIN / "moot", "scan", tree, "--json", "--jobs", 1)
    costs = [measure(f"moot scan, {name}", *scan, cache=cache) for name in ("cold", "warm")]
    for name in ("colorsys.py", "argparse.py"):
        with (tree / name).open("a", encoding="utf-8") as file:
            file.write(EDIT)
        costs.append(measure(f"moot scan, {name} edited", *scan, cache=cache))
    edit_body(tree / "urllib" / "parse.py", "unquote_plus")
    costs.append(measure("moot scan, a function of urllib/parse edited", *scan, cache=cache))
    bandit = (find_tool("bandit"), "-q", "-r", tree, "-f", "json")
    ruff = (find_tool("ruff"), "check", "--isolated", "--select", "S", "--no-cache", tree)
    return [*costs, measure("bandit", *bandit, cache=cache), measure("ruff, rules S", *ruff, cache=cache)]


def measure_hardening(folder: Path, cache: Path) -> list[Cost]:
    package = folder / "rich"
    shutil.copytree(Path(sysconfig.get_paths()["purelib"]) / "rich", package)
    store = ("--store", folder / "store.db")
    scan = measure("moot scan rich, cold", BIN / "moot", "scan", package, "--no-cache", "--jobs", 1, cache=cache)
    harden = (BIN / "moot", "harden", package, "--no-llm", "--json", "-q", *store)
    return [scan, measure("moot harden rich, to its end", *harden, cache=cache)]


def main(given: list[str]) -> None:
    count = int(given[0]) if given else FILES
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch)
        lines = build_tree(home / "tree", count)
        costs = [*measure_tree(home / "tree", home / "cache"), *measure_hardening(home, home / "cache")]
    table = [f"{f'{count:,} files, {lines:,} lines':44}{'CPU s':>9}{'peak MB':>9}", *map(render_cost, costs)]
    if given:
        return
    keep("scan-speed", "\n".join(table))
    cold, warm, edited, *_ = costs
    bandit = next(cost for cost in costs if cost.what == "bandit")
    report_figures(
        "scan_speed",
        [
            compare_times("cold scan", cold.seconds, "CPU s", "bandit", bandit.seconds),
            compare_times("memory of a cold scan", cold.megabytes, "MB", "bandit", bandit.megabytes),
            BenchFigure("warm scan", warm.seconds, "CPU s"),
            BenchFigure("scan after one edited file", edited.seconds, "CPU s"),
            BenchFigure("hardening of rich", costs[-1].seconds, "CPU s"),
        ],
    )


if __name__ == "__main__":
    main(sys.argv[1:])
