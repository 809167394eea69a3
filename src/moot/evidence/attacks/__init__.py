"""Attacks on one function, as tests: each fails while the attack works. A function that cannot be called with made-up
arguments, or a class of flaw without such an attack, gets none."""

from collections.abc import Callable, Sequence

from moot.core.types import Code, Language, SourceFile, Tests, Value, Vulnerability
from moot.evidence.attacks import python_attacks, script_attacks

NAME = "test_moot_attack"
Writer = Callable[[SourceFile, Sequence[Vulnerability]], tuple[str, tuple[str, ...]]]
WRITERS: dict[Language, tuple[Writer, str]] = {
    "python": (python_attacks.write_attacks, f"{NAME}.py"),
    "javascript": (script_attacks.write_attacks, f"{NAME}.test.js"),
}


class AttackSuite(Value):
    tests: Tests
    attacked: tuple[str, ...]
    """Ids of the findings that the tests attack."""


def write_suite(code: Code, findings: Sequence[Vulnerability]) -> AttackSuite | None:
    """The attacks on the first file that has some; None if no attack fits any finding."""
    for file in code.files:
        mine = [finding for finding in findings if finding.file == file.path]
        if not mine or file.language not in WRITERS:
            continue
        write, name = WRITERS[file.language]
        text, attacked = write(file, mine)
        if text:
            place = f"{file.path.rpartition('/')[0]}/{name}".lstrip("/")
            return AttackSuite(tests=Tests(files=((place, text),), language=file.language), attacked=attacked)
    return None
