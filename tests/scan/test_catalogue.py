"""Every rule that can speak has an example on which it does and one on which it does not, and both are run."""

import pkgutil
import re
from importlib import import_module

import pytest
from samples import scanned

import moot.scan
from moot.core.types import Language
from moot.scan.catalogue import catalogue, examples, rules
from moot.scan.plugin_rules import LANGUAGES
from moot.scan.rule import Rule, RuleExample

CASES = [(language, example) for language in LANGUAGES for example in examples(language)]
CASES += [("typescript", example) for example in examples("javascript")]


def told(language: Language, text: str) -> set[str]:
    scan = scanned(language, text)
    assert scan.not_analysed == ()
    return {finding.rule for finding in (*scan.findings, *scan.hints)}


@pytest.mark.parametrize(("language", "example"), CASES, ids=lambda case: getattr(case, "rule", case))
def test_the_rule_speaks_on_one_and_not_on_the_other(language: Language, example: RuleExample) -> None:
    assert example.rule in told(language, example.fires)
    assert example.rule not in told(language, example.silent)


def test_every_rule_is_listed_with_an_example() -> None:
    assert [listed.rule.id for listed in catalogue() if not listed.examples] == []
    for language in LANGUAGES:
        assert {example.rule for example in examples(language)} == rules(language).keys()


def test_every_rule_of_the_package_is_in_the_catalogue() -> None:
    listed = {listed.rule.id for listed in catalogue()}
    written = {
        value.id
        for module in pkgutil.walk_packages(moot.scan.__path__, "moot.scan.")
        for value in vars(import_module(module.name)).values()
        if isinstance(value, Rule)
    }
    assert written - listed == set()


def test_two_wordings_of_a_rule_agree() -> None:
    seen: dict[str, tuple[str, str, int]] = {}
    for module in pkgutil.walk_packages(moot.scan.__path__, "moot.scan."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, Rule):
                facts = (value.category, value.severity, value.cwe)
                assert seen.setdefault(value.id, facts) == facts, value.id


@pytest.mark.parametrize("listed", catalogue(), ids=lambda listed: f"{listed.language}-{listed.rule.id}")
def test_a_rule_says_what_to_do(listed: object) -> None:
    rule = listed.rule  # type: ignore[attr-defined]
    assert rule.cwe > 0
    assert 0 < rule.confidence <= 1
    assert all(text.endswith(".") for text in (rule.exploit, rule.fix))
    assert rule.reference.endswith(f"/{rule.cwe}.html")


def test_a_finding_is_named_by_its_class_then_by_what_is_wrong() -> None:
    named = re.compile(r"[A-Z][\w -]{2,40}: \S.{5,}[^.]")
    assert [entry.rule.id for entry in catalogue() if not named.fullmatch(entry.rule.description)] == []
