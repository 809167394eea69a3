"""How fast the work of a regular expression grows with its text: measured on texts that almost match."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

from moot.scan.regex_program import Op, RegexRefused, StepCounter, Test, compile_regex, make_test, parse_regex

Growth = Literal["linear", "polynomial", "exponential"]
MAX_PATTERN = 1_000
MAX_TEXTS = 40
LIMIT = 40_000
BUDGET = 500_000
"""Steps for one expression; what is not shown with them is not called slow."""
LENGTHS = (4, 8, 12)
"""Repetitions of the pumped word."""
EXPONENTIAL = (13.0, 6.0)
"""How much more work each longer text takes at least, if the work is exponential; the third power takes 8 and 3.4."""
FEW = 24
POLYNOMIAL = 3.2
"""Twice the text takes four times the steps of quadratic work, and twice those of linear work."""
ENDS = ("\x00", "!", "\n!")
USUAL = "aA0 _-.,/:@\n!\"'<>(){}[]=&%+*#;|\\\t\x00é"


@lru_cache(2_048)
def measure_growth(pattern: str, *, javascript: bool = False) -> Growth:
    """From one place on: trying every place of a long text again is left out, since every search does that."""
    if len(pattern) > MAX_PATTERN:
        return "linear"
    try:
        tree = parse_regex(pattern, javascript=javascript)
        if _has_one_way(tree):
            return "linear"
        meter = _GrowthMeter(compile_regex(tree))
        texts = list(islice(_list_attacks(tree, _read_whole(tree), ""), MAX_TEXTS))
    except (RegexRefused, RecursionError):
        return "linear"
    attacks = [(before, word, end) for end in ENDS for before, word in texts]
    if any(meter.is_exponential(*attack) for attack in attacks):
        return "exponential"
    return "polynomial" if any(meter.is_polynomial(*attack) for attack in attacks) else "linear"


def _has_one_way(tree: Any) -> bool:
    """At most one repetition, of something that has one length: a try at each of its ends is all there is to do."""
    repeated = list(_list_repeated(tree))
    return len(repeated) <= 1 and all(_is_fixed(body) for body in repeated)


def _list_repeated(tree: Any) -> Iterator[Any]:
    for code, value in tree:
        if str(code) in ("MAX_REPEAT", "MIN_REPEAT") and value[1] > 1:
            yield value[2]
        for part in _list_parts(str(code), value):
            yield from _list_repeated(part)


def _is_fixed(tree: Any) -> bool:
    return all(
        str(code) not in ("BRANCH", "MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT", "GROUPREF_EXISTS")
        and all(_is_fixed(part) for part in _list_parts(str(code), value))
        for code, value in tree
    )


class _Whole(NamedTuple):
    """What the search for attacks asks of the whole expression again and again."""

    alphabet: str
    tests: tuple[Test, ...]


def _read_whole(tree: Any) -> _Whole:
    return _Whole(_alphabet(tree), tuple(_list_tests(tree)))


class _GrowthMeter:
    def __init__(self, ops: tuple[Op, ...]) -> None:
        self.ops = ops
        self.left = BUDGET

    def is_exponential(self, before: str, word: str, end: str) -> bool:
        short, long, longest = (self._count(before + word * times + end) for times in LENGTHS)
        if long >= LIMIT:
            short, long = (self._count(before + word * (times // 2) + end) for times in LENGTHS[:2])
        if longest >= LIMIT:
            return 0 < short * EXPONENTIAL[0] <= long
        return 0 < long * EXPONENTIAL[1] <= longest

    def is_polynomial(self, before: str, word: str, end: str) -> bool:
        less = self._count(before + word * FEW + end)
        if not 0 < less < LIMIT:
            return False
        for times in (2, 4):
            more = self._count(before + word * (FEW * times) + end)
            if not (0 < less * POLYNOMIAL <= more or more >= LIMIT):
                return False
            less = more
        return True

    def _count(self, text: str) -> int:
        counter = StepCounter(min(LIMIT, max(self.left, 0)))
        limit = counter.left
        counter.match(self.ops, text, 0)
        self.left -= limit - counter.left
        return limit - counter.left if self.left > 0 else 0


def _list_attacks(tree: Any, whole: _Whole, before: str) -> Iterator[tuple[str, str]]:
    """For every repetition: a text that leads up to it, and words that it can repeat."""
    for code, value in tree:
        name = str(code)
        if name in ("MAX_REPEAT", "MIN_REPEAT") and value[1] > 10:
            for word in dict.fromkeys((*_list_samples(value[2], whole), *_list_letters(value[2], whole))):
                if word:
                    yield before, word
        for part in _list_parts(name, value):
            yield from _list_attacks(part, whole, before)
        before += next(_list_samples([(code, value)], whole), "")


def _list_parts(name: str, value: Any) -> list[Any]:
    if name == "BRANCH":
        return list(value[1])
    if name in ("MAX_REPEAT", "MIN_REPEAT"):
        return [value[2]]
    if name == "SUBPATTERN":
        return [value[3]]
    return [value[1]] if name in ("ASSERT", "ASSERT_NOT") and value[0] > 0 else []


def _list_samples(tree: Any, whole: _Whole) -> Iterator[str]:
    """Texts that fit: one for each choice of the first alternatives, repetitions as short as they may be, then one
    longer."""
    for choice in range(3):
        yield "".join(_sample(str(code), value, whole, choice) for code, value in tree)


def _sample(name: str, value: Any, whole: _Whole, choice: int) -> str:
    if name == "BRANCH":
        return "".join(_sample(str(c), v, whole, choice) for c, v in value[1][choice % len(value[1])])
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        times = int(min(max(value[0], 1 if choice else value[0]), value[1], 40))
        return "".join(_sample(str(c), v, whole, choice) for c, v in value[2]) * times
    if name == "SUBPATTERN":
        return "".join(_sample(str(c), v, whole, choice) for c, v in value[3])
    if name == "ATOMIC_GROUP":
        return "".join(_sample(str(c), v, whole, choice) for c, v in value)
    if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
        fits = make_test(name, value)
        return next((char for char in whole.alphabet if fits(char)), "")
    return ""


def _list_letters(tree: Any, whole: _Whole) -> Iterator[str]:
    """Single characters that fit several parts of the expression at once come first: they are ambiguous."""
    inside = list(_list_tests(tree))
    fitting = [char for char in whole.alphabet if any(test(char) for test in inside)]
    return iter(sorted(fitting, key=lambda char: -sum(test(char) for test in whole.tests))[:6])


def _list_tests(tree: Any) -> Iterator[Test]:
    for code, value in tree:
        name = str(code)
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            yield make_test(name, value)
        for part in _list_parts(name, value):
            yield from _list_tests(part)


def _alphabet(tree: Any) -> str:
    """Usual characters, and those that the expression names."""
    return USUAL + "".join(dict.fromkeys(_list_literals(tree)))


def _list_literals(tree: Any) -> Iterator[str]:
    for code, value in tree:
        name = str(code)
        if name == "LITERAL":
            yield chr(value)
        if name == "IN":
            yield from (chr(v if str(c) == "LITERAL" else v[0]) for c, v in value if str(c) in ("LITERAL", "RANGE"))
        for part in _list_parts(name, value):
            yield from _list_literals(part)


def anchor_pattern(pattern: str, whole: bool) -> str:
    """The pattern with its end, where all of a text must match."""
    return f"(?:{pattern})$" if whole and not pattern.startswith("(?") else pattern
