"""Flawed functions with functional and attack tests: they are repaired without a model, then both kinds are run.

The cases are in tests/scan/repairs, one text per language: `==== NAME CWE-N` begins a case,
`---- PATH` one of its files. `==== NAME CWE-N new WORD` begins one that was written by somebody who had not seen the
rewrites; the word says what its first run gave: `repaired`, `open` or `broken`. With `held` instead of `new`, it was
also held back while the rewrites were changed for the new ones.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.kept import ROOT
from moot.core.types import Code, Language, SourceFile
from moot.protocols.harden.script import HardenResult
from moot.surfaces.library.harden import harden, run_sync

FOLDER = ROOT / "tests" / "scan" / "repairs"
LANGUAGES: tuple[Language, ...] = ("python", "javascript", "go")
SUBJECTS = {"python": "subject.py", "javascript": "subject.js", "go": "subject.go"}
LONGEST = 60
"""Seconds for the tests of one case."""
Kind = Literal["functional", "attack"]


@dataclass(frozen=True)
class RepairCase:
    language: Language
    name: str
    cwe: int
    files: dict[str, str]
    batch: str = ""
    """`new`, `held`, or empty for the first ones."""
    first: str = ""
    """Of a new case, what its first run gave."""

    @property
    def subject(self) -> str:
        return SUBJECTS[self.language]

    @property
    def code(self) -> Code:
        text = self.files[self.subject]
        return Code(files=(SourceFile(path=self.subject, language=self.language, text=text),))


@dataclass(frozen=True)
class RepairOutcome:
    case: RepairCase
    result: HardenResult
    functional: bool
    secure: bool

    @property
    def changed(self) -> bool:
        return self.result.final_files[self.case.subject] != self.case.files[self.case.subject]

    @property
    def found(self) -> tuple[str, ...]:
        return tuple(finding.rule for finding in self.result.attack_reports[0].vulnerabilities)

    @property
    def left(self) -> tuple[str, ...]:
        return self.result.remaining_risks


def read_cases(language: Language) -> list[RepairCase]:
    text = (FOLDER / f"{language}.txt").read_text(encoding="utf-8")
    cases = []
    for part in text.split("==== ")[1:]:
        head, *files = part.split("---- ")
        name, cwe, *more = head.split()
        texts = {path: body for path, _, body in (file.partition("\n") for file in files)}
        cases.append(RepairCase(language, name, int(cwe.removeprefix("CWE-")), texts, *more))
    return cases


def repair_case(case: RepairCase) -> RepairOutcome:
    result = run_sync(harden(case.code, model=[], keep=False))
    text = result.final_files[case.subject]
    return RepairOutcome(case, result, passes(case, text, "functional"), passes(case, text, "attack"))


def passes(case: RepairCase, text: str, kind: Kind) -> bool:
    """Whether all tests of this kind pass with `text` as the function under test. A run that ends early is no pass."""
    with tempfile.TemporaryDirectory() as folder:
        for path, body in {**case.files, case.subject: text}.items():
            place = Path(folder, path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(body, encoding="utf-8")
        if case.language == "go":
            Path(folder, "go.mod").write_text("module subject\n\ngo 1.21\n", encoding="utf-8")
        try:
            ended = subprocess.run(
                command(case.language, kind), cwd=folder, env=environment(), capture_output=True, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            return False
    return ended.returncode == 0


def command(language: Language, kind: Kind) -> list[str]:
    if language == "python":
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", f"test_{kind}", "checks.py"]
    if language == "go":
        return [find_program("go"), "test", "-count=1", "-vet=off", "-run", f"Test{kind.title()}", "."]
    return [find_program("node"), "--test", f"--test-name-pattern=^{kind}", "checks.js"]


def find_program(name: str) -> str:
    """From the environment of this Python first: Go comes with it."""
    beside = shutil.which(name, path=str(Path(sys.executable).parent))
    found = beside or shutil.which(name)
    if found is None:
        raise SystemExit(f"not run: {name} is missing")
    return found


def environment() -> dict[str, str]:
    return {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "PYTHONDONTWRITEBYTECODE": "1"}
