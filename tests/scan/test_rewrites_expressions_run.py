"""A formula that was run as code is computed: the same values, and no other code."""

from collections.abc import Callable
from pathlib import Path

import pytest
from samples import repaired

ATTACKS = (
    "__import__('os').mkdir('owned')",
    "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__['mkdir']('owned')",
    "(lambda: 0).__globals__",
    "''.join(['a'])",
    "max.__self__",
    "9 ** 9 ** 9 ** 9",
)
SHAPES = {
    "alone": "def calculate(expression, a=3, b=4):\n    return eval(expression)\n",
    "a scope": 'def total(text, a=3, b=4):\n    return float(eval(text, {"__builtins__": {}}, {"a": a, "b": b}))\n',
    "a named scope": (
        "def price(formula, a=3, b=4):\n    scope = {'__builtins__': {}}\n    scope.update(a=a, b=b)\n"
        "    return eval(formula, scope)\n"
    ),
    "a loop": "def formula_values(formula, b=4):\n    for a in (3,):\n        return eval(formula)\n",
    "an f-string": 'def compute(formula, a=3, b=4):\n    return eval(f"({formula}) * 1")\n',
}
VALUES = ("a + b", " a * -b", "2 ** a", "(a + b) / 2", "a if a < b else b", "b // a + b % a", "max(a, b)", "1 < a <= 3")


def read(text: str) -> Callable[[str], object]:
    space: dict[str, object] = {}
    exec(text, space)
    (name,) = [name for name in space if text.startswith(f"def {name}(") or f"\ndef {name}(" in text][-1:]
    found = space[name]
    assert callable(found)
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_a_formula_has_the_same_value_and_runs_no_code(
    shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, repair = repaired("python", SHAPES[shape])
    assert repair.fixed and not repair.left, repair
    before, after = read(SHAPES[shape]), read(text)
    for value in VALUES:
        if not ("scope" in shape and "max" in value):
            assert after(value) == before(value), value
    for value in ATTACKS:
        with pytest.raises((ValueError, NameError, TypeError, SyntaxError)):
            after(value)
    assert not Path("owned").exists()
    for broken, error in (("a +", SyntaxError), ("c + 1", NameError), ("a / 0", ZeroDivisionError)):
        with pytest.raises(error):
            after(broken)


def test_a_condition_is_tested_on_the_record() -> None:
    text, _ = repaired("python", "def meets(rule, record):\n    return bool(eval(rule, {}, record))\n")
    meets = read(text)
    record = {"age": 20, "country": "DE", "tags": ["new"], "name": "Ann"}
    assert [
        meets_one(meets, rule, record)
        for rule in (
            "age >= 18 and country == 'DE'",
            "country in ('AT', 'CH') or 'new' in tags",
            "not age < 30",
            "name.startswith('A') and tags[0] == 'new'",
            "len(tags) == 1",
        )
    ] == [True, True, False, True, True]


def meets_one(meets: Callable[..., object], rule: str, record: dict[str, object]) -> object:
    return meets(rule, record)


@pytest.mark.parametrize(
    "text",
    [
        "def run(code):\n    return eval(code)\n",
        "def evaluate(expr, frame):\n    return int(eval(expr, frame.f_globals, frame.f_locals))\n",
        "def calculate(expr):\n    return eval(expr, globals())\n",
        "class Shell:\n    def calculate(self, text):\n        return eval(text, self.space)\n",
        "def check(rule, user):\n    return bool(eval(rule, {'user': user}))[0]\n",
        "def formula(source_code):\n    return eval(source_code)\n",
    ],
)
def test_code_that_may_name_everything_is_left(text: str) -> None:
    after, repair = repaired("python", text)
    assert after == text and not repair.fixed
