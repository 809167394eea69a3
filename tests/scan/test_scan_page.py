"""The page on `moot scan` names only rules that exist, and each language's column names its own."""

import re
from pathlib import Path

from moot.scan.catalogue import rules
from moot.scan.plugin_rules import LANGUAGES

PAGE = Path(__file__).parents[2] / "docs" / "scan.md"


def test_the_table_names_rules_that_exist() -> None:
    _, _, section = PAGE.read_text(encoding="utf-8").partition("## What it looks for\n")
    table, _, _ = section.partition("\n## ")
    rows = [line.split("|")[2:5] for line in table.splitlines() if line.startswith("| ")]
    assert len(rows) > 15
    for row in rows:
        for language, cell in zip(LANGUAGES, row, strict=True):
            named = [name for name in re.findall(r"`([^`]+)`", cell) if not name.endswith("…")]
            assert {f"{language}-{name}" for name in named} - rules(language).keys() == set()
