"""Calls and values as JavaScript and Go write them: what is read, what is refused, and what is equal."""

import pytest

from moot.core.types import Language
from moot.evidence.trials.examples import examples_in
from moot.evidence.trials.inputs import vary_calls
from moot.evidence.trials.notations import notation_of
from moot.evidence.trials.signatures import calls_of_drafts
from moot.evidence.trials.values import same_value


@pytest.mark.parametrize(
    ("language", "text", "canonical"),
    [
        ("javascript", "f([1,-2,{a:1,'b':true}], `x`, undefined)", 'f([1, -2, {"a": 1, "b": true}], "x", undefined)'),
        ("javascript", "f(new Set([2, 1]), 10n, 1.0, 0.5e1)", "f(new Set([1, 2]), 10n, 1, 5)"),
        ("javascript", r"a.b('it\'s \u{1f600}\n');", 'a.b("it\'s 😀\\n")'),
        ("typescript", "f<number>([1] as number[])", "f([1])"),
        ("go", 'F([]int{1,-2}, map[string]int{"a":1})', 'F([]int{1, -2}, map[string]int{"a": 1})'),
        ("go", "F([][]string{{`a`}, {}}, &Point{X: 1}, nil)", 'F([][]string{{"a"}, {}}, &Point{X: 1}, nil)'),
        ("go", "F(int64( 3 ))", "F(int64(3))"),
        ("go", "F([]byte(\"ab\"), 'a')", 'F([]byte("ab"), 97)'),
        ("python", "f(1,k = 2)", "f(1, k=2)"),
    ],
)  # fmt: skip
def test_a_call_has_one_form(language: Language, text: str, canonical: str) -> None:
    notation = notation_of(language)
    assert notation.unify_call(text) == canonical
    assert notation.unify_call(canonical) == canonical, "and it is read back"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("javascript", "f(x)"), ("javascript", "f(() => 1)"), ("javascript", "f(`${1}`)"), ("javascript", "f(g(1))"),
        ("javascript", "f(1), g(2)"), ("javascript", "1 + 1"), ("javascript", "f(" * 3000), ("javascript", "f(...[1])"),
        ("go", "F(x)"), ("go", "F(g(1))"), ("go", "p.F(1)"), ("go", "F(make([]int, 1))"), ("go", "func() {}()"),
        ("go", "F(1); G(2)"), ("go", "F([]int{1: 2, 3})"), ("python", "f(x)"),
    ],
)  # fmt: skip
def test_only_literals_are_read(language: Language, text: str) -> None:
    assert notation_of(language).unify_call(text) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("{a: 1, b: null}", '{"b": null, "a": 1}', True), ("undefined", "null", False), ("true", "1", False),
        ("[1, true]", "[1, true]", True), ("[1, true]", "[1, 1]", False), ("new Set([2, 1])", "new Set([1, 2])", True),
        ("NaN", "NaN", True), ("[0.1, null]", "[0.10000000001, null]", True), ("[]int{1,2}", "[]int{1, 2}", True),
        ("nil", "[]int{}", True), ("nil", "[]int{1}", False), ("(2, nil)", "(2, error)", False), ("f(", "g(", False),
        ("(0, error)", "(0, error)", True), ('map[string]int{"b": 1, "a": 2}', 'map[string]int{"a": 2, "b": 1}', True),
        ("True", "1", True), ("None", "null", False),
    ],
)  # fmt: skip
def test_values_are_compared_as_data(one: str, other: str, same: bool) -> None:
    assert same_value(one, other) is same


SCRIPT = """largest([1, 3]) -> 3, largest([]) === null
assert.deepStrictEqual(largest([4]), 4);
expect(largest([5])).toBe(5);
console.log(largest([6])); // 6
largest("x") throws TypeError; largest([7]) is 3 + 4
Input: numbers = [8, 1]
Output: 8"""
GOLANG = """Largest([]int{1, 3}) == 3; `Largest([]int{2})` returns 2.
Divide(4, 2) -> 2, nil and Divide(1, 0) gives (0, error). Largest(nil) panics"""


def test_examples_are_found_in_the_words_of_the_language() -> None:
    found = {e.call: e.expected or f"!{e.raises}" for e in examples_in(SCRIPT, "largest", language="javascript")}
    assert found == {
        "largest([1, 3])": "3", "largest([])": "null", "largest([4])": "4", "largest([5])": "5", "largest([6])": "6",
        'largest("x")': "!TypeError", "largest([8, 1])": "8",
    }  # fmt: skip
    assert {e.call: e.expected or f"!{e.raises}" for e in examples_in(GOLANG, language="go")} == {
        "Largest([]int{1, 3})": "3", "Largest([]int{2})": "2", "Divide(4, 2)": "(2, nil)",
        "Divide(1, 0)": "(0, error)", "Largest(nil)": "!panic",
    }  # fmt: skip


def test_calls_are_varied_in_their_own_notation() -> None:
    assert vary_calls(['F([]int{1, 3}, "a")'], 4, "go") == (
        'F([]int{3, 1}, "a")', 'F([]int{}, "a")', 'F([]int{1, 3}, "")', 'F([]int{1}, "a")',
    )  # fmt: skip
    assert vary_calls(["f([1, true])"], 2, "javascript") == ("f([true, 1])", "f([])")


@pytest.mark.parametrize(
    ("language", "code", "first"),
    [
        ("go", "package p\n\nfunc F(n uint, words []string) int { return 1 }", 'F(0, []string{"a"})'),
        ("typescript", "export const f = (xs: number[], n = 1): number => 1", "f([])"),
        ("javascript", "function f(text) { return text }", 'f("")'),
    ],
)  # fmt: skip
def test_inputs_come_from_types_and_names(language: Language, code: str, first: str) -> None:
    assert calls_of_drafts([code], "", language=language)[0] == first


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("go", "package p\n\nfunc F(n *Node) int { return 1 }"), ("go", "package p\n\nfunc F[T any](x T) T {}"),
        ("typescript", "function f(node: Node) { return 1 }"), ("javascript", "const f = ({ a }) => a"),
        ("javascript", "function f(...rest) {}"),
    ],
)  # fmt: skip
def test_a_parameter_that_no_plain_value_fits_gives_no_inputs(language: Language, code: str) -> None:
    assert calls_of_drafts([code], "", language=language) == ()
