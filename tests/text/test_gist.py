import pytest

from moot.text.gist import LONGEST, find_gist


@pytest.mark.parametrize(
    ("reply", "gist"),
    [
        ('{"vulnerabilities": [{"severity": "high", "description": "SQL injection. More."}]}', "SQL injection."),
        ('```json\n{"reasoning": "later", "verdict": "PROCEED"}\n```', "PROCEED"),
        ('{"description": "a", "summary": " two\\n  lines "}', "two lines"),
        ("# Title\n\n```python\nx = 1 + 1\n```\nTake the first one. It is shorter.", "Take the first one."),
        ('{\n  "analysis": {"A": "cheap"},\n  "reasons": "It is safer.",\n  "option": "B"\n}', "It is safer."),
        ('{"diagnosis": "The import is wrong. It was moved."}', "The import is wrong."),
        ('{\n  "patched_code": "x = 1"\n}', ""),
        ('{\n  "broken": "a b",', ""),
        ('{"patched_code": "x = 1"}', ""),
        ("", ""),
        ("{broken", ""),
        ("[" * 100_000, ""),
    ],
)  # fmt: skip
def test_a_reply_is_told_in_a_sentence_or_not_at_all(reply: str, gist: str) -> None:
    assert find_gist(reply) == gist


def test_a_long_sentence_is_cut() -> None:
    gist = find_gist(f"A sentence {'that goes on ' * 50}")
    assert len(gist) <= LONGEST and gist.endswith("…")
