"""What each part of the scan earns: the flaws and the false alarms that nothing else in it reports.

`python -m benchmarks.scan_ablation` writes results/scan-ablation.txt. A rule's figures come from one whole run; an
analysis is switched off in a run of its own. Judge by the blind examples: the given data was there while the rules were
written, and our own pairs were written for them.
"""

import re
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks import run_scan, scan_blind, scan_go
from benchmarks.kept import ROOT, keep, read_rows
from moot.core.types import SUFFIXES, Code, Language, Scan, SourceFile, Vulnerability
from moot.scan.go import checks as go_checks
from moot.scan.plugin_rules import LANGUAGES, list_shipped_rules
from moot.scan.rules import BOOKS
from moot.scan.selection import select_shown
from moot.scan.team import list_found, scan_code
from moot.surfaces.bench.suites.cwes import FAMILIES as CWE_FAMILIES
from moot.surfaces.bench.suites.cwes import OWASP_CWES

sys.path.insert(0, str(ROOT / "tests" / "scan"))  # the examples lie beside the tests

from blind_examples import BLIND_LANGUAGES, read_examples
from test_pairs import FAMILIES, PAIRS

SampleSet = Literal["given", "blind", "own"]
SETS: tuple[SampleSet, ...] = ("given", "blind", "own")
GO_PACKAGES = ("archive", "crypto/tls", "database", "encoding", "html", "mime", "net/http", "os", "text/template")
SCRIPTS = ("javascript", "typescript")


@dataclass(frozen=True, eq=False)
class AblationSample:
    """Code with a label; `wanted` are the CWEs that name its flaw, all where it is empty."""

    set: SampleSet
    name: str
    flawed: bool
    code: Code
    wanted: frozenset[int] = frozenset()
    beside: frozenset[str] = frozenset()
    """Files that only help to read the others."""

    @property
    def languages(self) -> frozenset[Language]:
        found = {file.language for file in self.code.files}
        return frozenset(found | {"javascript"} if found & set(SCRIPTS) else found)

    def fits(self, finding: Vulnerability) -> bool:
        return finding.file not in self.beside and (not self.wanted or finding.cwe in self.wanted)


Fired = dict[AblationSample, frozenset[str]]
"""The rules that reported a sample's flaw, or that raised a false alarm on a safe one."""


def list_samples() -> Iterator[AblationSample]:
    yield from _list_given_python()
    for case in scan_go.cases():
        family = {c for family in scan_go.FAMILIES if case.cwe in family for c in family} | {case.cwe}
        wanted = frozenset(family) if case.cwe else scan_go.CONCURRENCY
        yield AblationSample("given", case.id, case.vulnerable, _code(case.files, "go"), wanted)
    for row in read_rows("code-javascript.jsonl.gz"):
        yield AblationSample("given", row["id"], bool(row["vulnerable"]), _code(row["files"], "javascript"))
    for language in BLIND_LANGUAGES:
        for example in read_examples(language):
            own = {int(example.cwe.removeprefix("cwe-"))} if example.cwe else set[int]()
            wanted = scan_blind.FITTING[example.family] | own if example.flawed else frozenset[int]()
            code = _code({example.path: example.code}, SUFFIXES[Path(example.path).suffix])
            yield AblationSample("blind", f"{example.family}/{example.name}", example.flawed, code, wanted)
    for pair in PAIRS:
        wanted = next((family for family in FAMILIES if pair.cwe in family), frozenset({pair.cwe}))
        yield AblationSample("own", pair.title, True, _code(pair.before, pair.language), wanted)
        yield AblationSample("own", pair.title, False, _code(pair.after, pair.language), wanted)


def _list_given_python() -> Iterator[AblationSample]:
    helpers = {str(path): str(text) for path, text in read_rows(run_scan.HELPERS)[0]["files"].items()}
    for case in run_scan.cases():
        if case.corpus == "owasp_benchmark_python":
            code = _code({**case.files, **helpers}, "python")
            wanted = frozenset(OWASP_CWES[case.category])
            yield AblationSample("given", case.id, case.vulnerable, code, wanted, frozenset(helpers))
        elif case.corpus in ("securityeval", "llmseceval"):
            family = {c for family in CWE_FAMILIES if case.cwe in family for c in family} | {case.cwe}
            flawed = case.corpus == "securityeval"
            wanted = frozenset(family) if flawed else frozenset[int]()
            yield AblationSample("given", case.id, flawed, _code(case.files, "python"), wanted)


def _code(files: dict[str, str], language: Language) -> Code:
    named = ((str(path), SUFFIXES.get(Path(path).suffix, language), str(text)) for path, text in files.items())
    return Code(files=tuple(SourceFile(path=path, language=lang, text=text) for path, lang, text in named))


def _scan(code: Code) -> Scan:
    return list_found(scan_code(code, whole=False).values())


def scan_samples(samples: list[AblationSample]) -> Fired:
    found: Fired = {}
    for sample in samples:
        findings = select_shown(_scan(sample.code).findings, sample.code.files)
        found[sample] = frozenset(finding.rule for finding in findings if sample.fits(finding))
    return found


def count_packages() -> Counter[str]:
    """Findings by rule on well-kept packages: ours of Python, and Go's standard library where it is installed."""
    from benchmarks.scan_table import PACKAGES

    site = Path(sysconfig.get_paths()["purelib"])
    found: Counter[str] = Counter()
    trees: list[tuple[Path, Language, str]] = [(site / name, "python", "*.py") for name in PACKAGES]
    trees += [(site / "go" / "src" / name, "go", "*.go") for name in GO_PACKAGES]
    for folder, language, pattern in trees:
        paths = [path for path in sorted(folder.rglob(pattern)) if not re.search(r"_test\.go$|/testdata/", str(path))]
        named = ((str(path.relative_to(site)), path.read_text("utf-8")) for path in paths)
        files = tuple(SourceFile(path=path, language=language, text=text) for path, text in named)
        if files:
            found.update(finding.rule for finding in select_shown(_scan(Code(files=files)).findings, files))
    return found


@dataclass(frozen=True)
class Earned:
    found: int
    alarms: int

    def __str__(self) -> str:
        return f"{self.found} / {self.alarms}" if self.found or self.alarms else "–"


def count_alone(fired: Fired, rule: str, part: SampleSet) -> Earned:
    """Flaws found, and safe samples flagged, by this rule and no other."""
    alone = [sample for sample, rules in fired.items() if sample.set == part and rules == {rule}]
    return Earned(sum(sample.flawed for sample in alone), sum(not sample.flawed for sample in alone))


def count_reported(fired: Fired, rule: str, part: SampleSet) -> Earned:
    here = [sample for sample, rules in fired.items() if sample.set == part and rule in rules]
    return Earned(sum(sample.flawed for sample in here), sum(not sample.flawed for sample in here))


def list_rule_rows(fired: Fired, packages: Counter[str]) -> Iterator[str]:
    head = " | ".join(f"{part}: all | {part}: alone" for part in SETS)
    yield f"| rule (flaws found / false alarms) | {head} | findings in packages |"
    yield "|---" * (2 + 2 * len(SETS)) + "|"
    for language in LANGUAGES:
        for rule in sorted({rule.id for rule in list_shipped_rules(language)}):
            cells = (f"{count_reported(fired, rule, part)} | {count_alone(fired, rule, part)}" for part in SETS)
            yield f"| {rule} | {' | '.join(cells)} | {packages[rule] or '–'} |"


@dataclass(frozen=True)
class SyntaxAnalysis:
    """A check beside the dataflow engine."""

    language: Language
    check: Any

    @property
    def name(self) -> str:
        return f"{self.language}: {self.check.__module__.removeprefix('moot.scan.')}.{self.check.__name__}"


def list_analyses() -> Iterator[SyntaxAnalysis]:
    for language in LANGUAGES:
        for check in (*BOOKS[language].checks, *(go_checks.CHECKS if language == "go" else ())):
            if check is not go_checks.structure:
                yield SyntaxAnalysis(language, check)


@contextmanager
def switched_off(analysis: SyntaxAnalysis) -> Iterator[None]:
    book, checks, own = BOOKS[analysis.language], BOOKS[analysis.language].checks, go_checks.CHECKS
    object.__setattr__(book, "checks", tuple(check for check in checks if check is not analysis.check))
    go_checks.CHECKS = tuple(check for check in own if check is not analysis.check)
    try:
        yield
    finally:
        object.__setattr__(book, "checks", checks)
        go_checks.CHECKS = own


def scan_without(analysis: SyntaxAnalysis, fired: Fired) -> Fired:
    """Only the samples in which a check reported something."""
    checked = {rule.id for rule in BOOKS[analysis.language].checked}
    concerned = [s for s, rules in fired.items() if analysis.language in s.languages and rules & checked]
    with switched_off(analysis):
        return scan_samples(concerned)


def list_analysis_rows(fired: Fired) -> Iterator[str]:
    yield f"| switched off (flaws / false alarms lost) | {' | '.join(SETS)} |"
    yield "|---" * (1 + len(SETS)) + "|"
    for analysis in list_analyses():
        without = scan_without(analysis, fired)
        lost = [sample for sample, rules in without.items() if fired[sample] and not rules]
        cells = []
        for part in SETS:
            here = [sample for sample in lost if sample.set == part]
            cells.append(str(Earned(sum(s.flawed for s in here), sum(not s.flawed for s in here))))
        yield f"| {analysis.name} | {' | '.join(cells)} |"


def main() -> None:
    fired = scan_samples(list(list_samples()))
    rules = list_rule_rows(fired, count_packages())
    table = "\n".join([*list_analysis_rows(fired), "", *rules])
    keep("scan-ablation", table, "code-python.jsonl.gz", "code-go.jsonl.gz", "code-javascript.jsonl.gz")


if __name__ == "__main__":
    main()
