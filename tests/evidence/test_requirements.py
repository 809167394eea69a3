"""Requirements in the words of a task, and kinds of tests: rules by tables."""

import pytest

from moot.core.types import Tests
from moot.evidence.trials.kinds import asks_refusal, is_refusal, refusals_in, worth
from moot.evidence.trials.requirements import has_test, requirements_in
from moot.evidence.trials.values import Example

SLUG = (
    "Write slugify(title): lower case, words joined by hyphens, accents removed. "
    "slugify('Hello World') -> 'hello-world'"
)


@pytest.mark.parametrize(
    ("task", "found"),
    [
        (SLUG, ("lower case", "words joined by hyphens", "accents removed")),
        (
            "Write `largest(numbers)`: the largest number of a list, or None for an empty one.\n\nlargest([1]) -> 1\n",
            ("the largest number of a list", "None for an empty one"),
        ),
        (
            'def total(x):\n    """Return the sum of x, ignoring negative numbers.\n\n    >>> total([1])\n    1\n"""\n',
            ("Return the sum of x", "ignoring negative numbers"),
        ),
        ("Units are h, m and s; whitespace is ignored.", ("Units are h, m and s", "whitespace is ignored")),
        ("f(2) -> 4", ()),
        ("", ()),
    ],
)
def test_the_clauses_of_a_task_are_its_requirements(task: str, found: tuple[str, ...]) -> None:
    assert requirements_in(task) == found


def test_a_long_task_has_no_more_requirements_than_can_be_asked_about() -> None:
    assert (
        len(requirements_in("It must hold the line number again. " * 3 + "Do this thing, then that thing. " * 90)) <= 8
    )


@pytest.mark.parametrize(
    ("requirement", "test", "is_touched"),
    [
        ("accents removed", "slugify('Hello World') == 'hello-world'", False),
        ("accents removed", "slugify('Café') == 'cafe'", True),
        ("lower case", "slugify('Hello') == 'hello'", True),
        ("None for an empty one", "largest([1, 3]) == 3", False),
        ("None for an empty one", "largest([]) == None", True),
        ("ignoring negative numbers", "total([1, -2]) == 1", True),
        ("ignoring negative numbers", "total([1, 2]) == 3", False),
        ("duplicates are dropped", "unique([1, 2, 1]) == [1, 2]", True),
        ("duplicates are dropped", "unique([1, 2, 3]) == [1, 2, 3]", False),
        ("invalid input raises ValueError", "seconds('x') raises ValueError", True),
        ("the largest number of a list", "largest([1]) == 1", None),
    ],
)
def test_a_test_touches_a_requirement_by_what_it_has_in_it(
    requirement: str, test: str, is_touched: bool | None
) -> None:
    assert has_test(requirement, [test]) is is_touched


SUITE = """
def test_reads(): assert seconds("1s") == 1
def test_else():
    with pytest.raises(ValueError):
        seconds("x")
def test_none(): assert seconds("") is None
def test_both():
    assert seconds("1s") == 1
    assert seconds("") is None
class TestIt(TestCase):
    def test_raised(self): self.assertRaises(ValueError, seconds, "x")
    def test_equal(self): self.assertEqual(seconds("1s"), 1)
"""


def test_tests_that_ask_for_a_refusal_are_known_by_their_code() -> None:
    assert refusals_in(Tests(files=(("test_s.py", SUITE),))) == {"test_else", "test_none", "test_raised"}
    assert refusals_in(Tests(files=(("test_s.py", "def broken("),))) == refusals_in(None) == frozenset()


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("test_s.py::test_reads[1s-1]", False),
        ("test_s.py::test_invalid[x]", True),
        ("test_s.py::TestIt::test_rejects_letters", True),
        ("test_s.py::test_parse[bad-None]", True),
        ("test_s.py::test_parse[x-ValueError]", True),
        ("test_s.py::test_badge", False),
        ("throws on nonsense", True),
    ],
)
def test_tests_that_ask_for_a_refusal_are_known_by_their_name(name: str, refusal: bool) -> None:
    assert is_refusal(name) is refusal


def test_examples_that_ask_for_a_refusal() -> None:
    assert asks_refusal(Example(call="f(1)", raises="ValueError")) and asks_refusal(
        Example(call="f(1)", expected="None")
    )
    assert not asks_refusal(Example(call="f(1)", expected="0"))


@pytest.mark.parametrize(
    ("passed", "of", "refused", "refusals", "value"),
    [
        (5, 10, 5, 5, 0.0), (4, 10, 0, 5, 4.0), (8, 10, 5, 5, 8.0), (7, 10, 5, 5, 6.0), (10, 10, 5, 5, 10.0),
        (3, 5, 3, 5, 3.0), (0, 0, 0, 0, 0.0),
    ],
)  # fmt: skip
def test_a_refusal_counts_in_full_where_half_of_the_results_are_right(
    passed: int, of: int, refused: int, refusals: int, value: float
) -> None:
    assert worth(passed, of, refused, refusals) == value
