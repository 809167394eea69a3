"""The page on `moot scan` names only rules that exist, and each language's column names its own."""

import re
from pathlib import Path

from moot.scan.catalogue import LANGUAGES, rules

PAGE = Path(__file__).parents[2] / "docs" / "scan.md"


def test_the_table_names_rules_that_exist() -> None:
    rows = [line.split("|")[2:5] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert len(rows) > 15
    for row in rows:
        for language, cell in zip(LANGUAGES, row, strict=True):
            named = [name for name in re.findall(r"`([^`]+)`", cell) if not name.endswith("…")]
            assert {f"{language}-{name}" for name in named} - rules(language).keys() == set()
