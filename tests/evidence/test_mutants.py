"""Faults put into code: each one parses, changes one place, and is noticed by tests that are worth something."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutate import ROOT, TESTS, make_faults, show

from moot.core.types import Language
from moot.evidence.trials.mutants import mutants, score
from moot.scan.syntax import parse
from moot.testing import one_file

PYTHON = '''def clamp(x: int, low: int = 0) -> int:
    """Not < low + 1, and True."""
    if not x < low and x != 7:
        return x + 1
    return low
'''


def test_each_fault_is_one_small_change_that_parses() -> None:
    made = mutants(one_file(PYTHON))
    assert {m.what for m in made} >= {"'<' became '<='", "'not' was taken out", "'and' became 'or'", "'7' became '8'"}
    assert {m.what for m in made} >= {"'+' became '-'", "'low' became 'None'", "'0' became '1'"}
    assert not any("became" in m.what and m.line == 2 for m in made), "a docstring is no code"
    for mutant in made:
        text = mutant.code.files[0].text
        assert text != PYTHON and not parse("app.py", "python", text).root.has_error


@pytest.mark.parametrize(
    ("language", "path", "text", "what"),
    [
        ("javascript", "a.js", "const f = (a, b) => a === b && a > 1;\n", "'&&' became '||'"),
        ("typescript", "a.ts", "function f(a: number): boolean { return a <= 2; }\n", "'<=' became '<'"),
        ("go", "a.go", "package a\n\nfunc F(a int) bool { return a > 3 }\n", "'>' became '>='"),
    ],
)
def test_other_languages_have_the_same_faults(language: Language, path: str, text: str, what: str) -> None:
    assert what in {m.what for m in mutants(one_file(text, path, language))}


def test_a_limit_spreads_over_the_text() -> None:
    code = one_file("\n".join(f"x{n} = {n} + 1" for n in range(200)) + "\n")
    lines = [m.line for m in mutants(code, 10)]
    assert len(lines) == 10 and lines[0] < 20 and lines[-1] > 170


@given(st.text(max_size=120))
def test_any_text_gives_mutants_or_none(text: str) -> None:
    for mutant in mutants(one_file(text), 5):
        assert mutant.code.files[0].text != text


def test_no_fault_is_no_score() -> None:
    assert score([]) is None and score([True, False]) == 0.5 and not mutants(one_file("x = y\n"))


def test_the_report_on_a_module_lists_what_its_tests_let_pass_and_counts_all() -> None:
    made = make_faults("clamp", PYTHON, 4)
    fates = ("killed", "survived", "timeout", "killed")
    told = show([replace(fault, fate=fate) for fault, fate in zip(made, fates, strict=True)])
    place, now = f"src/moot/clamp.py:{made[1].line}", made[1].text.splitlines()[made[1].line - 1].strip()
    assert f"| {place} | {made[1].what} | {now} | survived |" in told and made[0].what not in told
    assert told.endswith("| clamp | 4 | 2 | 1 | 1 |")
    named = {name for groups in TESTS.values() for name in " ".join(groups).split()}
    assert [name for name in named if not (ROOT / "tests" / f"{name}.py").exists()] == []
