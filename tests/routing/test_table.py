"""What people really type: every line of the table, with its class, stakes and bypass."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from moot.routing import route

TABLE = Path(__file__).with_name("table.tsv")


class Case(NamedTuple):
    line: int
    text: str
    kind: str
    stakes: str
    bypass: bool


def cases() -> list[Case]:
    """Tab-separated: text as a person types it (`\\n` is a line break), class, stakes, bypass."""
    found = []
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip() and "\t" in line:
            text, kind, stakes, bypass = line.split("\t")
            found.append(Case(number, text.replace("\\n", "\n"), kind, stakes, bypass == "yes"))
    return found


def test_every_line_of_the_table() -> None:
    wrong = []
    for case in cases():
        seen = route(case.text, own_words=True)
        if (seen.kind, seen.stakes, seen.bypass) != case[2:]:
            wrong.append(f"{case.line}: {case.text!r} is {seen.kind} {seen.stakes} {seen.bypass}: {seen.reason}")
    assert not wrong, "\n".join(wrong)


def test_the_table_is_large_and_even() -> None:
    told = cases()
    assert len({case.text for case in told}) >= 1000
    by_stakes = Counter(case.stakes for case in told)
    harmless = sum(1 for case in told if case.bypass)
    assert by_stakes["high"] >= 300 and by_stakes["low"] >= 300 and by_stakes["medium"] >= 100
    assert 0.6 < harmless / by_stakes["high"] < 1.6
    assert {(case.kind, case.stakes) for case in told} >= {("ANSWER", "low"), ("ACTION", "low"), ("ACTION", "medium")}


def test_a_reason_and_what_raised_the_stakes_are_given() -> None:
    for case in cases():
        seen = route(case.text)
        assert seen.reason
        assert seen.stakes == "low" or seen.triggers, case.text
        assert seen.security == any(trigger.startswith("security") for trigger in seen.triggers)
