"""One table of the scan on all labelled public data that we have, and its findings on packages that are well kept.

`python -m benchmarks.scan_table` writes results/scan.md. We had this data while the rules were written, so expect lower
figures on other code. The packages are those of this environment.
"""

import sysconfig
from collections import Counter
from pathlib import Path

from benchmarks import run_scan, scan_go, scan_javascript
from benchmarks.kept import RESULTS, command_line, read_rows
from benchmarks.tally import Tally
from moot.core.types import SourceFile, Vulnerability
from moot.edge.parallel_scan import scan_files

PACKAGES = (
    "requests", "click", "rich", "jinja2", "httpx", "werkzeug", "starlette", "fastapi", "mako", "alembic", "uvicorn",
    "jwt",
)  # fmt: skip


def list_figures() -> list[str]:
    cases = run_scan.cases()
    helpers = {str(path): str(text) for path, text in read_rows(run_scan.HELPERS)[0]["files"].items()}
    tallies = run_scan.owasp(cases, helpers)
    owasp = Tally(*(sum(getattr(t, name) for t in tallies.values()) for name in ("tp", "fn", "fp", "tn")))
    macro = sum(tally.youden for tally in tallies.values()) / len(tallies)
    hit, count, _ = run_scan.security_eval(cases)
    loud, secure, _ = run_scan.false_alarms(cases)
    go = scan_go.measure().by_cwe.values()
    gosec = Tally(*(sum(getattr(t, name) for t in go) for name in ("tp", "fn", "fp", "tn")))
    script = scan_javascript.measure()
    return [
        "| given data | found | false alarms | |",
        "|---|---|---|---|",
        f"| OWASP BenchmarkPython | {_share(owasp.tp, owasp.fn)} | {_share(owasp.fp, owasp.tn)} "
        f"| macro J {macro:+.3f} |",
        f"| SecurityEval, right CWE family | {_share(hit, count - hit)} | | |",
        f"| LLMSecEval, secure files, medium or worse | | {_share(loud, secure - loud)} | |",
        f"| gosec's samples | {_share(gosec.tp, gosec.fn)} | {_share(gosec.fp, gosec.tn)} | |",
        f"| njsscan's files | {script.positive - len(script.missed)} of {script.positive} "
        f"| {len(script.false)} of {script.negative} | |",
    ]


def _share(hits: int, others: int) -> str:
    return f"{hits} of {hits + others}"


def list_packages() -> list[str]:
    lines = ["| package | findings | critical | high | medium | low | possible |", "|---|---|---|---|---|---|---|"]
    for name in PACKAGES:
        folder = Path(sysconfig.get_paths()["purelib"]) / name
        if not folder.is_dir():
            continue
        paths = sorted(folder.rglob("*.py"))
        files = [
            SourceFile(path=f"{name}/{path.relative_to(folder)}", language="python", text=path.read_text("utf-8"))
            for path in paths
        ]
        lines.append(_describe(name, scan_files(files, 1, None, lambda done, total: None).findings))
    return lines


def _describe(name: str, findings: tuple[Vulnerability, ...]) -> str:
    grades = Counter(finding.severity for finding in findings)
    possible = sum(finding.certainty == "possible" for finding in findings)
    counts = " | ".join(str(grades[grade]) for grade in ("critical", "high", "medium", "low"))
    return f"| {name} | {len(findings)} | {counts} | {possible} |"


def report() -> None:
    table = "\n".join([f"command: {command_line()}", "", *list_figures(), "", *list_packages(), ""])
    print(table)
    (RESULTS / "scan.md").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    report()
