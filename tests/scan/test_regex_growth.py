"""The work of a regular expression is measured: what blows up is slow, what only looks nested is not."""

import multiprocessing
import re

import pytest

from moot.core.types import Code, SourceFile
from moot.scan import StaticTeam
from moot.scan.regex_growth import measure_growth

EXPONENTIAL = [
    r"(a+)+$",
    r"^(a|a)*$",
    r"([a-zA-Z]+)*!",
    r"^(\w+\s?)*$",
    r"(x+x+)+y",
    r"^((ab)*)+$",
    r"^(?:a?b?c?)*$",
    r"(a|b|ab)*c",
    r'"(\\?.)*"',
    r"^([a-z]{2,10})*$",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*@[a-z0-9]+$",
]
LINEAR = [
    r"(\d+[dhms])+",
    r"^(?:[a-z]+,)*[a-z]+$",
    r'"(\\.|[^"\\])*"',
    r"([^,]*,)*",
    r"^(?:[^/]*/)*[^/]*$",
    r"(?:HTTP/(\d)\.(\d) )?(\d{3})(?: (.*))?",
    r"^(?:(?:a++)+)$",
    r"^(?>a+)+$",
    r"[\w.+-]+@[\w-]+\.[\w.-]+",
    r"^\s+|\s+$",
    r"(?P<key>[^=]+)=(?P<value>.*)",
    r"(",
    r"(a+)+" * 400,
]


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_what_blows_up_is_exponential(pattern: str) -> None:
    assert measure_growth(pattern) == "exponential"


@pytest.mark.parametrize("pattern", LINEAR)
def test_what_does_not_blow_up_is_linear(pattern: str) -> None:
    assert measure_growth(pattern) == "linear"


def test_quadratic_work_is_polynomial() -> None:
    assert measure_growth(r"^(.*),(.*);$") == "polynomial"


def match_pumped(pattern: str) -> None:
    for letter in "ax0b ":
        re.search(pattern, letter * 40 + "\x00")
    re.search(pattern, "ab" * 30 + "\x00")


@pytest.mark.parametrize(("pattern", "slow"), [(r"(a+)+$", True), (r"(\d+[dhms])+$", False)])
def test_the_engine_of_the_language_agrees(pattern: str, slow: bool) -> None:
    worker = multiprocessing.get_context("fork").Process(target=match_pumped, args=(pattern,))
    worker.start()
    worker.join(2)
    busy = worker.is_alive()
    worker.kill()
    worker.join()
    assert busy == slow == (measure_growth(pattern) == "exponential")


def find_rules(text: str, path: str = "a.py") -> list[str]:
    language = "python" if path.endswith(".py") else "javascript"
    code = Code(files=(SourceFile(path=path, language=language, text=text),))  # type: ignore[arg-type]
    return [finding.rule for finding in StaticTeam().scan(code).findings if "regex" in finding.rule]


def test_a_slow_expression_on_a_value_from_outside_is_found() -> None:
    head = "import re\nfrom flask import request\n"
    head += "WORDS = re.compile(r'^(\\w+\\s?)*$')\nUNITS = re.compile(r'(\\d+[dhms])+')\n"
    assert find_rules(head + "def f():\n    return WORDS.match(request.args['q'])\n") == ["python-slow-regex"]
    assert find_rules(head + "def f():\n    return UNITS.match(request.args['q'])\n") == []
    assert find_rules(head + "def f():\n    return re.sub(r'(a+)+$', '', request.args['q'])\n") == ["python-slow-regex"]


def test_javascript_is_measured_too() -> None:
    view = "app.get('/', (req, res) => res.json(/{}/.test(req.query.q)));\n"
    assert find_rules(view.format(r"^(?<word>\w+\s?)*$"), "a.js") == ["javascript-slow-regex"]
    assert find_rules(view.format(r"^(\d+[dhms])+$"), "a.js") == []
