"""Inline suppression: it quiets one rule on one line, needs a reason, and is found only in comments."""

import pytest
from samples import scanned

from moot.core.types import Language

EVAL: dict[Language, str] = {"python": "eval(x){}\n", "javascript": "function f(x) {{\n  return eval(x);{}\n}}\n"}


def rules_after(language: Language, comment: str) -> list[str]:
    return [f.rule for f in scanned(language, EVAL[language].format(comment)).findings]


@pytest.mark.parametrize(("language", "mark"), [("python", "  #"), ("javascript", "  //")])
def test_a_reason_quiets_the_rule_it_names(language: Language, mark: str) -> None:
    (rule,) = rules_after(language, "")
    assert rules_after(language, f"{mark} moot: ignore[{rule}] only ever called with literals") == []
    assert rules_after(language, f"{mark} moot: ignore[other, {rule}] said why") == []
    assert rules_after(language, f"{mark} moot: ignore[*] said why") == []


@pytest.mark.parametrize("comment", ["  # moot: ignore[{}]", "  # moot: ignore[other-rule] reason", "  # ignore"])
def test_without_a_reason_or_for_another_rule_nothing_is_quiet(comment: str) -> None:
    (rule,) = rules_after("python", "")
    assert rules_after("python", comment.format(rule)) == [rule]


def test_a_comment_above_speaks_of_the_next_line_only() -> None:
    (rule,) = rules_after("python", "")
    text = f"# moot: ignore[{rule}] reviewed\neval(x)\neval(y)\n"
    assert [f.line for f in scanned("python", text).findings] == [3]


def test_a_suppression_without_a_reason_is_shown_and_a_string_is_no_comment() -> None:
    (rule,) = rules_after("python", "")
    scan = scanned("python", f"eval(x)  # moot: ignore[{rule}]\n")
    assert [h.rule for h in scan.hints if h.rule.startswith("suppression")] == ["suppression-without-reason"]
    assert rules_after("python", f'; s = "# moot: ignore[{rule}] because"') == [rule]
