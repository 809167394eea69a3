"""What is a heading, code or a row of a table on a page, and on which line it stands."""

import pytest

from moot.evidence.artefacts.state import with_decision
from moot.text.markdown import page


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        ("# One #\ntext\n### Two **bold**\n", [(1, "One", 1), (3, "Two bold", 3)]),
        ("---\na: 1\n---\n\n## After front matter\n", [(2, "After front matter", 5)]),
        ("```sh\n# a comment\n```\n# One\n", [(1, "One", 4)]),
        ("~~~\n```\n# inside\n~~~\n# One\n", [(1, "One", 5)]),
        ("```\n# never closed\n", []),
        ("- item\n\n  # in a list\n\n> # quoted\n\n    # indented\n", []),
        ("a text\n---\n#no heading\n# One\n", [(1, "One", 4)]),
        ("a\rb\n# One\n", [(1, "One", 2)]),
    ],
)
def test_headings(text: str, headings: list[tuple[int, str, int]]) -> None:
    assert [(h.level, h.text, h.line) for h in page(text).headings] == headings


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a\n```\nx\n```\nb\n", [2, 3, 4]),
        ("- a\n  ```py\n  x\n  ```\n- b\n", [2, 3, 4]),
        ("> ```\n> x\n> ```\nb\n", [1, 2, 3]),
        ("- ```\n  x\n\nb\n", [1, 2, 3]),
        ("        ```\n        x\n        ```\nb\n", [1, 2, 3]),
    ],
)
def test_code(text: str, code: list[int]) -> None:
    assert [line.number for line in page(text).lines if line.code] == code


def test_rows_of_tables() -> None:
    text = (
        "# One\n| **ID** | What |\n|:--|--:|\n| A | x \\| y |\n| B |\nbelow\n\n| no | table |\n\n"
        "- in a list\n\n  | ID |\n  |--|\n  | C |\n\n```\n| ID |\n|--|\n| D |\n```\n"
    )
    found = [(row.line, row.cells, row.section) for row in page(text).rows]
    assert found == [
        (4, {"id": "A", "what": "x | y"}, "one"),
        (5, {"id": "B", "what": ""}, "one"),
        (14, {"id": "C"}, "one"),
    ]


def test_a_decision_is_not_put_into_a_block_of_code() -> None:
    text = "````\n```\n## Accumulated Context\n````\n## Accumulated Context\n\n### Decisions\n\n- old\n"
    told = with_decision(text, "k1", "new").split("\n")
    assert told[8:10] == ["- old", "- new <!-- moot review k1 -->"]
