"""How well the deterministic red team tells safe code from unsafe, and how fast: on the labelled Python corpora."""

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import LOAD_BEFORE, BenchFigure, compare_times, report_figures
from benchmarks.kept import keep, read_rows
from benchmarks.tally import Tally
from moot.core.types import Code, SourceFile, Vulnerability
from moot.scan import StaticTeam
from moot.surfaces.bench.suites.cwes import FAMILIES, OWASP_CWES

DATA, HELPERS = "code-python.jsonl.gz", "owasp-helpers.jsonl.gz"
SERIOUS = ("critical", "high", "medium")


@dataclass(frozen=True)
class Case:
    corpus: str
    id: str
    category: str
    cwe: int
    vulnerable: bool
    files: dict[str, str]


def cases() -> list[Case]:
    return [
        Case(
            str(row["corpus"]),
            str(row["id"]),
            str(row.get("category") or ""),
            int(row.get("cwe") or 0),
            bool(row["vulnerable"]),
            {str(path): str(text) for path, text in row["files"].items()},
        )
        for row in read_rows(DATA)
    ]


def code_of(files: dict[str, str]) -> Code:
    return Code(files=tuple(SourceFile(path=path, language="python", text=text) for path, text in files.items()))


def scanned(case: Case, helpers: dict[str, str]) -> list[Vulnerability]:
    """Findings in the case's own files; helper modules are only given along."""
    scan = StaticTeam().scan(code_of({**case.files, **helpers}))
    return [finding for finding in scan.findings if finding.file in case.files]


def owasp(all_cases: list[Case], helpers: dict[str, str]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    for case in all_cases:
        if case.corpus == "owasp_benchmark_python":
            wanted = OWASP_CWES[case.category]
            hit = any(finding.cwe in wanted for finding in scanned(case, helpers))
            tallies[case.category].add(case.vulnerable, hit, case.id)
    return dict(sorted(tallies.items()))


def same_family(cwe: int, other: int | None) -> bool:
    return cwe == other or any(cwe in family and other in family for family in FAMILIES)


def security_eval(all_cases: list[Case]) -> tuple[int, int, list[str]]:
    mine = [case for case in all_cases if case.corpus == "securityeval"]
    missed = [c.id for c in mine if not any(same_family(c.cwe, f.cwe) for f in scanned(c, {}))]
    return len(mine) - len(missed), len(mine), missed


def false_alarms(all_cases: list[Case]) -> tuple[int, int, list[str]]:
    mine = [case for case in all_cases if case.corpus == "llmseceval"]
    loud = [
        f"{case.id}: {', '.join(sorted({f.rule for f in serious}))}"
        for case in mine
        if (serious := [f for f in scanned(case, {}) if f.severity in SERIOUS])
    ]
    return len(loud), len(mine), loud


@dataclass(frozen=True)
class Cost:
    """Seconds for 1000 files: by the clock, and of one core's time."""

    wall: float
    cpu: float


def run_costs(texts: list[str]) -> dict[str, Cost | None]:
    """Moot and bandit as commands over the same folder, from start to exit, held to one core, neither from a cache of
    results; both from bytecode, as they run once they are installed."""
    programs = {
        "moot": [sys.executable, "-m", "moot", "scan", "--jobs", "1", "--no-cache", "--json"],
        "bandit": [*_bandit(), "-q", "-f", "json", "-r"],
    }
    with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as bytecode:
        env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = bytecode
        for number, text in enumerate(texts):
            (Path(name) / f"case{number}.py").write_text(text, encoding="utf-8")
        return {
            program: _cost([*command, name], len(texts), env) if _answers(command[:3]) else None
            for program, command in programs.items()
        }


def _bandit() -> list[str]:
    """A bandit of another environment may be named; else ours."""
    return [os.environ["BANDIT"]] if "BANDIT" in os.environ else [sys.executable, "-m", "bandit"]


def _answers(command: list[str]) -> bool:
    program = command[:1] if command[1] != "-m" else command
    return subprocess.run([*program, "--version"], capture_output=True, check=False).returncode == 0


def _cost(command: list[str], files: int, env: dict[str, str]) -> Cost:
    """The best of three: what disturbs only ever adds. An answer that is no JSON is no measurement."""
    costs = []
    for _ in range(3):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, capture_output=True, check=False, env=env, preexec_fn=_on_one_core)
        wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        json.loads(done.stdout)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        costs.append(Cost(wall / files * 1000, cpu / files * 1000))
    return Cost(min(cost.wall for cost in costs), min(cost.cpu for cost in costs))


def _on_one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def cost_table(texts: list[str], costs: dict[str, Cost | None]) -> list[str]:
    machine = f"Python {platform.python_version()}, load {LOAD_BEFORE:.1f} before"
    lines = [f"| {len(texts)} files, one core, with start-up; {machine} | wall s per 1000 | CPU s per 1000 |"]
    lines.append("|---|---|---|")
    for program, cost in costs.items():
        lines.append(
            f"| {program} | {cost.wall:.2f} | {cost.cpu:.2f} |" if cost else f"| {program} | not installed | |"
        )
    ours, theirs = costs["moot"], costs["bandit"]
    if ours is not None and theirs is not None:
        lines.append(f"moot / bandit: {ours.wall / theirs.wall:.2f} wall, {ours.cpu / theirs.cpu:.2f} CPU")
    return lines


def owasp_table(tallies: dict[str, Tally]) -> list[str]:
    lines = ["| OWASP BenchmarkPython | TP | FN | FP | TN | J |", "|---|---|---|---|---|---|"]
    for category, tally in tallies.items():
        lines.append(f"| {category} | {tally.tp} | {tally.fn} | {tally.fp} | {tally.tn} | {tally.youden:+.2f} |")
    total = Tally(*(sum(getattr(t, name) for t in tallies.values()) for name in ("tp", "fn", "fp", "tn")))
    macro = sum(tally.youden for tally in tallies.values()) / len(tallies)
    means = f"macro {macro:+.3f}, micro {total.youden:+.3f}"
    return [*lines, f"| {means} | {total.tp} | {total.fn} | {total.fp} | {total.tn} | |"]


def report(details: bool = False) -> None:
    all_cases = cases()
    helpers = {str(path): str(text) for path, text in read_rows(HELPERS)[0]["files"].items()}
    tallies = owasp(all_cases, helpers)
    hit, count, missed = security_eval(all_cases)
    loud, secure, alarms = false_alarms(all_cases)
    texts = [text for case in all_cases for text in case.files.values()]
    costs = run_costs(texts)
    lines = [
        *owasp_table(tallies),
        "",
        f"SecurityEval recall, right CWE family: {hit}/{count} = {hit / count:.2f}",
        f"LLMSecEval secure samples with a medium-or-worse finding: {loud}/{secure} = {loud / secure:.2f}",
        "",
        *cost_table(texts, costs),
    ]
    keep("scan", "\n".join(lines), DATA, HELPERS)
    ours, theirs = costs["moot"], costs["bandit"]
    assert ours is not None
    macro = sum(tally.youden for tally in tallies.values()) / len(tallies)
    report_figures(
        "scan",
        [
            BenchFigure("OWASP, Youden's J, mean of the categories", macro, "J", "higher"),
            BenchFigure("SecurityEval, flaws found", hit / count, "share", "higher"),
            BenchFigure("LLMSecEval, safe samples flagged", loud / secure, "share"),
            compare_times("CPU on one core", ours.cpu, "s / 1000 files", "bandit", theirs.cpu if theirs else None),
        ],
    )
    if details:
        print("OWASP:", *(line for tally in tallies.values() for line in tally.wrong), sep="\n    ")
        print("missed:", *missed, sep="\n    ")
        print("alarms:", *alarms, sep="\n    ")


if __name__ == "__main__":
    report("--details" in sys.argv)
