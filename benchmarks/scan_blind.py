"""How the scan does on examples that were written without sight of its rules, per language and family of flaws.

`python -m benchmarks.scan_blind` writes results/scan-blind.txt; `--second` to `--seventh` judge the later batches of
examples and write results/scan-blind-second.txt and so on; `--details` also prints which examples were judged wrongly.
The examples and the rule for their use: tests/scan/blind_examples.py.
"""

import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import ROOT, keep
from moot.core.types import SUFFIXES, SourceFile
from moot.edge.parallel_scan import scan_files

sys.path.insert(0, str(ROOT / "tests" / "scan"))  # the examples lie beside the tests

from blind_examples import (
    BLIND_BATCHES,
    BLIND_LANGUAGES,
    HELD_BACK_BATCHES,
    BlindBatch,
    BlindExample,
    read_examples,
)

FITTING: dict[str, frozenset[int]] = {
    "archive_extraction": frozenset({22, 23, 36, 59, 73, 99}),
    "code_injection": frozenset({94, 95, 96, 98, 470, 829}),
    "command_injection": frozenset({77, 78, 88}),
    "cookie_flags_csrf_cors": frozenset({346, 352, 614, 942, 1004, 1275}),
    "debug_mode_information_exposure": frozenset({94, 200, 201, 209, 215, 489, 497, 532, 548}),
    "deserialization": frozenset({94, 95, 502}),
    "hardcoded_secret": frozenset({259, 260, 321, 522, 547, 798}),
    "header_log_injection": frozenset({93, 113, 116, 117}),
    "host_check": frozenset({20, 183, 184, 185, 187, 346, 601, 625, 777, 918, 1385}),
    "insecure_temp_file_permissions": frozenset({276, 277, 367, 377, 378, 379, 668, 732}),
    "integer_overflow": frozenset({190, 191, 194, 195, 196, 197, 680, 681}),
    "jwt": frozenset({287, 327, 345, 347, 613}),
    "ldap_xpath_injection": frozenset({90, 91, 643}),
    "nosql_injection": frozenset({89, 94, 95, 943}),
    "open_redirect": frozenset({601}),
    "path_traversal": frozenset({22, 23, 36, 59, 73, 99}),
    "prototype_pollution": frozenset({915, 1321}),
    "race_condition": frozenset({362, 366, 367, 567, 662, 667, 820, 821}),
    "regex_dos": frozenset({185, 400, 625, 730, 1333}),
    "resource_exhaustion": frozenset({400, 409, 676, 770, 776, 789, 835, 1088}),
    "sql_injection": frozenset({89, 564, 943}),
    "ssrf": frozenset({441, 918}),
    "template_injection": frozenset({94, 95, 96, 917, 1336}),
    "timing_comparison": frozenset({203, 208, 385}),
    "tls_verification": frozenset({295, 297, 319, 322, 326, 327, 757}),
    "trust_boundary_authentication": frozenset(
        {269, 284, 285, 287, 290, 302, 306, 425, 501, 565, 602, 617, 639, 703, 807, 862, 863, 915}
    ),
    "unchecked_error": frozenset({252, 253, 390, 391, 476, 703, 754, 755}),
    "weak_cipher": frozenset({323, 326, 327, 329, 780, 1204}),
    "weak_hash": frozenset({326, 327, 328, 759, 760, 916}),
    "weak_random": frozenset({330, 331, 335, 336, 337, 338, 339, 340}),
    "xss": frozenset({79, 80, 83, 87, 116}),
    "xxe": frozenset({611, 776, 827}),
}
"""The CWEs by which a finding names the flaw of a family; an example's own CWE always fits."""


@dataclass(frozen=True)
class Judged:
    example: BlindExample
    flagged: bool
    fits: bool


@dataclass
class BlindTally:
    flawed: int = 0
    fitting: int = 0
    found: int = 0
    safe: int = 0
    flagged: int = 0
    pairs: int = 0
    apart: int = 0
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "BlindTally") -> None:
        for name in ("flawed", "fitting", "found", "safe", "flagged", "pairs", "apart"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def judge_example(example: BlindExample) -> Judged:
    """Every finding counts that `moot scan FILE` shows: it hides none unless told to."""
    file = SourceFile(path=example.path, language=SUFFIXES[Path(example.path).suffix], text=example.code)
    scan = scan_files([file], 1, None, lambda done, total: None)
    if scan.not_analysed:
        raise SystemExit(f"not analysed: {example.family}/{example.name}: {scan.not_analysed}")
    findings = scan.findings
    wanted = FITTING[example.family] | ({int(example.cwe.removeprefix("cwe-"))} if example.cwe else set())
    return Judged(example, bool(findings), any(finding.cwe in wanted for finding in findings))


def tally_family(judged: list[Judged]) -> BlindTally:
    flawed = {each.example.name: each for each in judged if each.example.flawed}
    safe = {each.example.name: each for each in judged if not each.example.flawed}
    pairs = flawed.keys() & safe.keys()
    return BlindTally(
        flawed=len(flawed),
        fitting=sum(each.fits for each in flawed.values()),
        found=sum(each.flagged for each in flawed.values()),
        safe=len(safe),
        flagged=sum(each.flagged for each in safe.values()),
        pairs=len(pairs),
        apart=sum(flawed[name].fits and not safe[name].fits for name in pairs),
        wrong=[f"missed {name}" for name, each in flawed.items() if not each.fits]
        + [f"false {name}" for name, each in safe.items() if each.flagged],
    )


def describe(name: str, tally: BlindTally) -> str:
    return (
        f"| {name} | {tally.fitting} of {tally.flawed} | {tally.found} of {tally.flawed} "
        f"| {tally.flagged} of {tally.safe} | {tally.apart} of {tally.pairs} |"
    )


def main(details: bool, batch: BlindBatch) -> None:
    held_back = batch in HELD_BACK_BATCHES
    if held_back and details:
        raise SystemExit(f"{batch} is held back: only its figures per language are shown")
    total = BlindTally()
    sums: list[str] = []
    lines: list[str] = []
    for language in BLIND_LANGUAGES:
        families: dict[str, list[Judged]] = defaultdict(list)
        for example in read_examples(language, batch):
            families[example.family].append(judge_example(example))
        whole = BlindTally()
        for family, judged in families.items():
            tally = tally_family(judged)
            whole.add(tally)
            lines.append(describe(f"{language} {family}", tally))
            if details:
                print(*(f"{language}/{family} {wrong}" for wrong in tally.wrong), sep="\n")
        sums.append(describe(language, whole))
        total.add(whole)
    head = "| | found, CWE fits | found at all | safe ones flagged | pairs told apart |\n|---|---|---|---|---|"
    families_table = [] if held_back else ["", head, *lines]
    keep(f"scan-{batch.replace('_', '-')}", "\n".join([head, *sums, describe("all", total), *families_table]))
    report_figures(
        f"scan-{batch.replace('_', '-')}",
        [
            BenchFigure("blind flaws found", total.fitting / total.flawed, "share", "higher"),
            BenchFigure("safe blind examples flagged", total.flagged / total.safe, "share"),
            BenchFigure("blind pairs told apart", total.apart / total.pairs, "share", "higher"),
        ],
    )


if __name__ == "__main__":
    chosen: BlindBatch = next(
        (batch for batch in BLIND_BATCHES if f"--{batch.removeprefix('blind_')}" in sys.argv), "blind"
    )
    main("--details" in sys.argv, chosen)
