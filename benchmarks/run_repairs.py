"""How many flawed functions are functional and secure after a repair without a model, by execution.

`python -m benchmarks.run_repairs [LANGUAGE [NAME…]]`; with a language, nothing is kept, and with names, the
repaired code is shown.
"""

import sys
from concurrent.futures import ThreadPoolExecutor

from benchmarks.figures import BenchFigure, report_figures
from benchmarks.kept import keep
from benchmarks.repair_cases import LANGUAGES, RepairOutcome, read_cases, repair_case


def main(wanted: list[str]) -> None:
    languages = [each for each in LANGUAGES if not wanted or each == wanted[0]]
    names = wanted[1:]
    cases = [case for language in languages for case in read_cases(language) if not names or case.name in names]
    with ThreadPoolExecutor(2) as workers:
        outcomes = list(workers.map(repair_case, cases))
    for each in outcomes if names else ():
        print(each.result.diff, *each.found, *each.left, sep="\n")
    if wanted:
        print(table(outcomes))
        return
    keep("repairs", table(outcomes))
    share = sum(each.functional and each.secure for each in outcomes) / len(outcomes)
    report_figures("repairs", [BenchFigure("functional and secure after a repair", share, "share", "higher")])


def table(outcomes: list[RepairOutcome]) -> str:
    lines = [f"{'language':12}{'case':20}{'CWE':>6}  {'changed':9}{'functional':12}{'secure':8}{'first run':11}found"]
    lines += [line(each) for each in outcomes]
    for language in LANGUAGES:
        mine = [each for each in outcomes if each.case.language == language]
        for batch in ("", "new", "held"):
            of_batch = [each for each in mine if each.case.batch == batch]
            lines += [total(f"{language}, {batch} cases" if batch else language, of_batch)] if of_batch else []
    return "\n".join(lines)


def total(what: str, batch: list[RepairOutcome]) -> str:
    """New cases also say what their first run gave, before any rewrite was changed for them."""
    both = sum(each.functional and each.secure for each in batch)
    broken = sum(not each.functional for each in batch)
    told = f"{both} of {len(batch)} functional and secure, {broken} broken"
    firsts = [each.case.first for each in batch if each.case.first]
    if not firsts:
        return f"{what}: {told}"
    before = f"first run {firsts.count('repaired')} of {len(firsts)}, {firsts.count('broken')} broken"
    return f"{what}: {told} ({before})"


def line(each: RepairOutcome) -> str:
    words = ["yes" if fact else "no" for fact in (each.changed, each.functional, each.secure)]
    case = each.case
    return (
        f"{case.language:12}{case.name:20}{case.cwe:>6}  {words[0]:9}{words[1]:12}{words[2]:8}"
        f"{case.first or '-':11}{' '.join(sorted(set(each.found))) or '-'}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
