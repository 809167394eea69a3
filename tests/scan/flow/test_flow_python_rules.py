"""Every rule about flows in Python speaks on its example and is silent on the other one."""

import pytest
from samples import rules

from moot.scan.flow.analyse import covered
from moot.scan.flow.rulebook import Example
from moot.scan.flow.rules.python_examples import EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=[example.rule for example in EXAMPLES])
def test_a_rule_speaks_and_is_silent(example: Example) -> None:
    assert example.rule in rules("python", example.fires)
    assert example.rule not in rules("python", example.silent)


def test_every_rule_has_an_example() -> None:
    assert covered("python") == {example.rule for example in EXAMPLES}
