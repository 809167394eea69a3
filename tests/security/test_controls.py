"""The table of controls is true: what it removes is there, and so are the tests that it names.

`make controls` proves that these tests notice.
"""

import tomllib
from pathlib import Path

from remove_controls import ROOT, Control, read_controls

CONTROLS = read_controls()


def is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    file = ROOT / "tests" / path
    return file.is_file() and (not name or f"def {name.partition('[')[0]}(" in file.read_text(encoding="utf-8"))


def test_every_control_can_be_taken_out_of_its_file() -> None:
    places: dict[Path, str] = {}
    for control in CONTROLS:
        place = ROOT / "src" / "moot" / control.file
        source = places.setdefault(place, place.read_text(encoding="utf-8"))
        compile(control.remove_from(source), str(place), "exec")
        assert control.remove_from(source) != source, control.name


def test_every_test_that_guards_a_control_is_there() -> None:
    assert len(CONTROLS) >= 25 and len({control.name for control in CONTROLS}) == len(CONTROLS)
    assert [(one.name, test) for one in CONTROLS for test in one.tests if not is_there(test)] == []
    assert all(isinstance(one, Control) and one.tests for one in CONTROLS)


def test_the_page_about_security_counts_them() -> None:
    assert f"each of the {len(CONTROLS)} controls in" in (ROOT / "SECURITY.md").read_text("utf-8")


def test_every_attack_from_outside_is_tried_again() -> None:
    table = tomllib.loads((ROOT / "tests" / "security" / "attacks.toml").read_text(encoding="utf-8"))
    attacks = {name: row for family in table.values() for name, row in family.items()}
    named = [(name, test) for name, row in attacks.items() for test in (*row["tests"], *row.get("doors", []))]
    assert len(attacks) >= 27 and [each for each in named if not is_there(each[1])] == []
    assert all(row["tests"] and set(row) <= {"tests", "doors"} for row in attacks.values())
