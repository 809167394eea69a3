"""Each Go rule speaks on its bad example and is silent on its good one."""

import pytest

from moot.scan import StaticTeam
from moot.scan.flow.rulebook import Example
from moot.scan.flow.rules import golang, golang_structure
from moot.scan.flow.rules.golang_examples import EXAMPLES
from moot.scan.rule import Rule
from moot.types import Code, SourceFile


def rules_in(text: str) -> set[str]:
    code = Code(files=(SourceFile(path="app/main.go", language="go", text=text),))
    scan = StaticTeam().scan(code)
    assert scan.not_analysed == ()
    return {finding.rule for finding in scan.findings}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.rule)
def test_the_rule_fires_on_bad_code_only(example: Example) -> None:
    assert example.rule in rules_in(example.fires)
    assert example.rule not in rules_in(example.silent)


def test_every_rule_has_an_example() -> None:
    by_flow = {sink.rule.id for sinks in golang.BOOK.sinks.values() for sink in sinks}
    by_shape = {value.id for value in vars(golang_structure).values() if isinstance(value, Rule)}
    assert (by_flow | by_shape) - {example.rule for example in EXAMPLES} == set()
