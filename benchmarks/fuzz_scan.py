"""The scanner against broken files: none may crash it, hang it, or take more than two seconds.

`python -m benchmarks.fuzz_scan [--count N] [--seed N] [--language L]`; `--only go:1234` runs one file again and
prints it. Only a run over all languages with at least the default number of files is kept.
"""

import argparse
import faulthandler
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from benchmarks.kept import has_data, keep
from benchmarks.mutations import CORPORA, FILES, mutated
from moot.core.types import Code, Language, SourceFile
from moot.scan import StaticTeam

COUNT = 20_000
MOST_SECONDS = 2.0
HANGS = 120
"""Seconds of the clock after which a file is said to hang."""
REPAIRED = 20
"""Every so many files the repairs run too; they scan the file again after each rewrite, so only small ones do."""
SMALL = 6000
WORKERS = 2


@dataclass
class Tally:
    files: int = 0
    seconds: float = 0.0
    slowest: tuple[float, int, int] = (0.0, 0, 0)
    """CPU seconds, the file's number, its length."""
    wrong: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.files += other.files
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.wrong += other.wrong


def look(language: Language, text: str, *, repair: bool) -> float:
    """CPU seconds of a scan; the repairs are only seen to end."""
    team, code = StaticTeam(), Code(files=(SourceFile(path=FILES[language], language=language, text=text),))
    began = time.process_time()
    scan = team.scan(code)
    spent = time.process_time() - began
    if repair and len(text) < SMALL:
        team.repair(code, [finding.fingerprint for finding in scan.findings])
    return spent


def work(language: Language, seed: int, numbers: range) -> None:
    """In a process of its own: one line for each file. What hangs is ended from below, with a trace of where it was."""
    for number in numbers:
        text = mutated(seed, language, number)
        faulthandler.dump_traceback_later(HANGS, exit=True)
        problem, spent = "", 0.0
        try:
            spent = look(language, text, repair=number % REPAIRED == 0)
            if spent > MOST_SECONDS:  # on a shared machine time is taken from us: what is slow is slow twice
                spent = min(spent, look(language, text, repair=False))
        except Exception as error:
            problem = f"{type(error).__name__}: {str(error)[:200]}"
        faulthandler.cancel_dump_traceback_later()
        sys.stdout.write(json.dumps([number, spent, len(text), problem]) + "\n")
        sys.stdout.flush()


def watch(language: Language, seed: int, numbers: range) -> Tally:
    """All of these files, with a new process after each one that ends it."""
    tally, left = Tally(), numbers
    while left:
        arguments = [str(left.start), str(left.stop), str(left.step)]
        command = [sys.executable, "-m", "benchmarks.fuzz_scan", "--work", language, "--seed", str(seed), *arguments]
        with tempfile.TemporaryFile("w+") as trace:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=trace, text=True)
            assert process.stdout is not None
            for line in process.stdout:
                _count(tally, line, f"--only {language}:{{}} --seed {seed}")
                left = left[1:]
            if process.wait() != 0 and left:
                trace.seek(0)
                tally.wrong.append(f"hangs or ends the process: --only {language}:{left[0]}\n{trace.read()[-2000:]}")
                left = left[1:]
    return tally


def _count(tally: Tally, line: str, again: str) -> None:
    number, spent, size, problem = json.loads(line)
    tally.files += 1
    tally.seconds += spent
    tally.slowest = max(tally.slowest, (spent, number, size))
    if problem:
        tally.wrong.append(f"{problem}: {again.format(number)}")
    if spent > MOST_SECONDS:
        tally.wrong.append(f"{spent:.1f} s for {size} characters: {again.format(number)}")


def fuzz(language: Language, seed: int, count: int) -> Tally:
    total = Tally()
    with ThreadPoolExecutor(WORKERS) as pool:
        shares = [range(first, count, WORKERS) for first in range(WORKERS)]
        for tally in pool.map(lambda numbers: watch(language, seed, numbers), shares):
            total.add(tally)
    return total


def report(languages: list[Language], seed: int, count: int) -> int:
    lines = ["| language | files | wrong | CPU s | slowest | again with |", "|---|---|---|---|---|---|"]
    wrong: list[str] = []
    for language in languages:
        tally = fuzz(language, seed, count)
        spent, number, size = tally.slowest
        slowest = f"{spent:.2f} s, {size} characters | --only {language}:{number} --seed {seed}"
        lines.append(f"| {language} | {tally.files} | {len(tally.wrong)} | {tally.seconds:.0f} | {slowest} |")
        print(lines[-1], file=sys.stderr, flush=True)
        wrong += tally.wrong
    table = "\n".join([*lines, *wrong])
    if count >= COUNT and len(languages) == len(FILES):
        keep("fuzz", table, *(name for name in dict.fromkeys(CORPORA.values()) if has_data(name)))
    else:
        print(table)
    return 1 if wrong else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--language", choices=FILES, action="append")
    parser.add_argument("--only", metavar="LANGUAGE:NUMBER")
    parser.add_argument("--work", choices=FILES, help=argparse.SUPPRESS)
    parser.add_argument("numbers", type=int, nargs="*", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        return work(given.work, given.seed, range(*given.numbers))
    if given.only:
        language, _, number = given.only.partition(":")
        text = mutated(given.seed, language, int(number))
        sys.stdout.write(text)
        sys.stdout.flush()
        print(f"{look(language, text, repair=True):.2f} s", file=sys.stderr)
        return
    sys.exit(report(given.language or list(FILES), given.seed, given.count))


if __name__ == "__main__":
    main()
