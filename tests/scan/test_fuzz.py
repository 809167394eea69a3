"""Broken files do not break the scanner: a small share of `make fuzz`."""

import pytest

from benchmarks.fuzz_scan import look
from benchmarks.mutations import FILES, LARGEST, mutated
from moot.core.types import Language
from moot.scan.syntax import parse, trouble


@pytest.mark.parametrize("language", FILES)
def test_broken_files_are_scanned_to_the_end(language: Language) -> None:
    for number in range(30):
        text = mutated(3, language, number)
        assert len(text) <= LARGEST
        look(language, text, repair=number % 10 == 0)


def test_a_seed_gives_the_same_file_again() -> None:
    assert [mutated(3, "go", n) for n in range(20)] == [mutated(3, "go", n) for n in range(20)]
    assert len({mutated(3, "go", n) for n in range(20)}) > 15


def test_what_the_parser_cannot_do_in_time_is_said_to_be_unread() -> None:
    storm = "f();\n" * 2000 + "new A({b" + "x()" * 40_000
    source = parse("f.js", "javascript", storm)
    problem = trouble(source)
    assert source.read < len(source.data) and problem is not None and "nothing after line" in problem.why
