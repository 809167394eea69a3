"""Put small faults into modules of Moot, one at a time, and say which of them the tests do not notice.

Example: scripts/mutate.py voting chain:120 --limit 150
MODULE:LINE tries the faults of one line. The faults go into a temporary copy of src; the checkout is not changed.
"""

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).parent.parent
FORK = multiprocessing.get_context("fork")
WARM = ("pytest", "hypothesis.strategies", "pydantic", "sqlalchemy", "alembic.command", "typer.testing", "psycopg")
"""Imported once for all runs, for they take most of the time. Moot itself must not be among them."""
BROKEN = "raise RuntimeError('this module cannot be loaded')\n"
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:schemathesis", "--hypothesis-seed=0",
           "-k", "not postgresql", "-W", "ignore::pytest.PytestAssertRewriteWarning")  # fmt: skip
TESTS = {
    "runtime/journal": (
        "runtime/test_journal",
        "runtime/test_room runtime/test_room_tools",
        "protocols/debate/test_debate_limits surfaces/history/test_gates",
    ),
    "runtime/ledger": ("runtime/test_ledger", "runtime/test_room edge/models/test_provider_faults"),
    "runtime/runner": (
        "runtime/test_runner runtime/test_runner_sessions",
        "runtime/test_room record/test_ends surfaces/history/test_gates",
        "surfaces/cli/test_cli",
    ),
    "runtime/room": (
        "runtime/test_room_asking runtime/test_room",
        "runtime/test_room_tools protocols/debate/test_debate_limits",
        "record/test_telemetry",
    ),
    "teams/voting": ("teams/test_voting", "teams/test_vote_oracle surfaces/cli/test_vote_cli"),
    "runtime/approvals": ("runtime/test_gate_room", "surfaces/history/test_gates protocols/review/test_review_gate"),
    "record/chain": ("record/test_chain", "record/test_tampering", "record/test_ends record/test_archive"),
}
"""Module -> the tests that are about it; then, group by group, those that see only the faults that are left."""


@dataclass(frozen=True)
class Fault:
    module: str
    line: int
    what: str
    text: str  # of the module, with the fault in it
    fate: str = ""

    @property
    def told(self) -> dict[str, str]:
        now = self.text.splitlines()[self.line - 1].strip()
        return {"place": f"src/moot/{self.module}.py:{self.line}", "change": self.what, "now": now, "fate": self.fate}


def make_faults(module: str, text: str, limit: int) -> list[Fault]:
    """Run in a process of its own, which may import Moot."""
    from moot.core.types import Code, SourceFile
    from moot.evidence.trials.mutants import mutants

    code = Code(files=(SourceFile(path=f"{module}.py", language="python", text=text),))
    return [Fault(module, mutant.line, mutant.what, mutant.code.files[0].text) for mutant in mutants(code, limit)]


def run_tests(folder: Path, module: str, text: str, tests: str, seconds: float | None = None) -> str:
    """What became of the module with this text: it survived its tests, was killed, or took more than `seconds`."""
    place = folder / "src" / "moot" / f"{module}.py"
    for old in (place.parent / "__pycache__").glob(f"{module}.*"):
        old.unlink()  # Python takes two texts of one length and second for the same
    place.write_text(text, encoding="utf-8")
    process = FORK.Process(target=_test, args=(folder, [f"tests/{name}.py" for name in tests.split()]))
    process.start()
    try:
        process.join(seconds)
        late = process.is_alive()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)  # with the processes that the tests began
        process.join()
        shutil.rmtree(folder / "tmp", ignore_errors=True)
    return "timeout" if late else "killed" if process.exitcode else "survived"


def _test(folder: Path, files: Sequence[str]) -> None:
    os.setsid()
    out = os.open(folder / "out.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    copy, scratch = str(folder / "src"), folder / "tmp"
    scratch.mkdir(exist_ok=True)
    os.environ |= {"PYTHONPATH": copy, "TMPDIR": str(scratch), "HYPOTHESIS_STORAGE_DIRECTORY": str(scratch)}
    tempfile.tempdir = str(scratch)
    sys.path.insert(0, copy)
    sys.exit(importlib.import_module("pytest").main([*OPTIONS, *files]))


def judge(folder: Path, module: str, right: str, faults: Sequence[Fault]) -> list[Fault]:
    """The faults with their fates. First it is made sure that the tests can tell right from wrong, in the copy."""
    judged = {fault: "survived" for fault in faults}
    for tests in TESTS[module]:
        left, began = [fault for fault in faults if judged[fault] == "survived"], time.monotonic()
        if left and run_tests(folder, module, right, tests) != "survived":
            sys.exit(f"the tests of {module} fail without a fault:\n{(folder / 'out.txt').read_text()}")
        patience = 10 + 3 * (time.monotonic() - began)
        if left and run_tests(folder, module, BROKEN, tests, patience) != "killed":
            sys.exit(f"the tests of {module} pass though it cannot be loaded: {tests}")
        for place, fault in enumerate(left, start=1):
            judged[fault] = fate = run_tests(folder, module, fault.text, tests, patience)
            sys.stderr.write(f"{module} {place}/{len(left)} line {fault.line}: {fault.what}: {fate} ({tests})\n")
    return [replace(fault, fate=fate) for fault, fate in judged.items()]


def show(faults: Sequence[Fault]) -> str:
    """The faults that were not killed, then the counts."""
    lines = ["| place | change | now | fate |", "|---|---|---|---|"]
    alive = [fault.told.values() for fault in faults if fault.fate != "killed"]
    lines += [f"| {' | '.join(value.replace('|', '&#124;') for value in told)} |" for told in alive]
    lines += ["", "| module | faults | killed | timeout | survived |", "|---|---|---|---|---|"]
    for module in dict.fromkeys(fault.module for fault in faults):
        counts = Counter(fault.fate for fault in faults if fault.module == module)
        lines.append(f"| {module} | {counts.total()} | " + "{killed} | {timeout} | {survived} |".format_map(counts))
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="+", metavar="MODULE[:LINE]", help=f"one of {', '.join(TESTS)}")
    parser.add_argument("--limit", type=int, default=150, help="faults a module, evenly spread (default: 150)")
    parser.add_argument("--json", action="store_true", help="every fault with its fate, as JSON")
    given = parser.parse_args()
    wanted = [(name, line) for name, _, line in (module.partition(":") for module in given.modules)]
    if unknown := {name for name, _ in wanted} - TESTS.keys():
        parser.error(f"no tests are listed for {', '.join(sorted(unknown))}; add them to TESTS")
    os.chdir(ROOT)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing is left behind
    list(map(importlib.import_module, WARM))
    faults: list[Fault] = []
    with tempfile.TemporaryDirectory(prefix="moot-mutants-") as folder:
        shutil.copytree(ROOT / "src", Path(folder) / "src")
        for module, line in wanted:
            text = (ROOT / "src" / "moot" / f"{module}.py").read_text(encoding="utf-8")
            with FORK.Pool(1) as pool:
                made = pool.apply(make_faults, (module, text, sys.maxsize if line else given.limit))
            faults += judge(Path(folder), module, text, [fault for fault in made if line in ("", str(fault.line))])
    sys.stdout.write((json.dumps([f.told for f in faults], indent=1) if given.json else show(faults)) + "\n")


if __name__ == "__main__":
    main()
