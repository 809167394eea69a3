"""A folder of tasks of the user's own. Each task is a folder:

slug/task.md         all that the models read
slug/test_slug.py    hidden tests, for code (test_*.py, *.test.js, *_test.go)
slug/rubric.toml     or rules for an answer in words: [[must]] and [[must_not]], each with says and matches
"""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.types import SUFFIXES, Tests
from moot.edge.files.links import refuse_links_out
from moot.evidence.trials.values import is_named_as_test
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.suites.bare import strip_examples
from moot.surfaces.bench.tasks import BenchTask, RubricRule
from moot.surfaces.extensions.solve import solution_path

WORDS, RUBRIC = "task.md", "rubric.toml"
MISSING = f"has no {WORDS}; a task is a folder with {WORDS} and its tests (test_NAME.py) or {RUBRIC}"


def read_tasks(source: SuiteSource) -> Sequence[BenchTask]:
    folder = source.folder
    assert folder is not None
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder of tasks")
    places = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith((".", "__")))
    if not places:
        raise UsageError(f"{folder} has no tasks: a task is a folder with {WORDS} and its tests or {RUBRIC}")
    return [_read_task(place, source) for place in places]


def _read_task(place: Path, source: SuiteSource) -> BenchTask:
    if not (place / WORDS).is_file():
        raise UsageError(f"{place} {MISSING}")
    refuse_links_out(place.iterdir(), place)
    words = (place / WORDS).read_text("utf-8")
    if not words.strip():
        raise UsageError(f"{place / WORDS} is empty")
    prompt = words if source.examples else strip_examples(words)
    tests = sorted(path for path in place.iterdir() if path.suffix in SUFFIXES and is_named_as_test(path.name))
    if tests:
        return _make_code_task(place, prompt, tests)
    if not (place / RUBRIC).is_file():
        raise UsageError(f"{place} has neither tests (test_NAME.py) nor {RUBRIC}, so answers cannot be judged")
    return BenchTask(id=place.name, kind="text", prompt=prompt, rubric=_read_rubric(place / RUBRIC))


def _make_code_task(place: Path, prompt: str, tests: Sequence[Path]) -> BenchTask:
    language = SUFFIXES[tests[0].suffix]
    hidden = Tests(files=tuple((path.name, path.read_text("utf-8")) for path in tests), language=language)
    return BenchTask(
        id=place.name,
        kind="code",
        prompt=prompt,
        language=language,
        path=solution_path(hidden, language),
        hidden=hidden,
    )


def _read_rubric(path: Path) -> tuple[RubricRule, ...]:
    try:
        table = tomllib.loads(path.read_text("utf-8"))
        must, never = table.pop("must", []), table.pop("must_not", [])
        rules = [RubricRule(**rule) for rule in must] + [RubricRule(**rule, absent=True) for rule in never]
        for rule in rules:
            re.compile(rule.matches)
    except (tomllib.TOMLDecodeError, ValueError, TypeError, re.error) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None
    if table or not must:
        raise UsageError(f"{path} must have [[must]] with says and matches, and may have [[must_not]]")
    return tuple(rules)
