"""Questions with a key: a YAML file that a person wrote, one question after the other."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from moot.core.errors import UsageError
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.tasks import LETTERS, BenchTask, render_options

KEYS = ("id", "question", "options", "answer")
ASK = "Begin your position with the letter of the option that you choose, in brackets, such as (A)."
"""Not as a labelled line: whoever reads a reply by its labels would take `Answer: A` for a field of its own."""


def ask_for_letter(question: str, options: Sequence[str]) -> str:
    return f"{question.strip()}\n\n{render_options(options)}\n\n{ASK}\n"


def read_tasks(source: SuiteSource) -> Sequence[BenchTask]:
    path = source.folder
    assert path is not None
    files = sorted(path.glob("*.y*ml")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise UsageError(f"{path} is neither a YAML file of questions nor a folder of such files")
    return [task for file in files for task in _read(file)]


def _read(file: Path) -> list[BenchTask]:
    try:
        items: object = yaml.safe_load(file.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{file} is not valid YAML: {error}") from None
    if not isinstance(items, list):
        raise UsageError(f"{file} is not a list of questions; write entries that start with '- id: …'")
    return [_task(item, f"{file}, question {number}") for number, item in enumerate(items, start=1)]


def _task(item: object, where: str) -> BenchTask:
    if not isinstance(item, dict) or set(item) != set(KEYS):
        raise UsageError(f"{where}: a question has exactly these keys: {', '.join(KEYS)}")
    options = item["options"]
    if not isinstance(options, list) or not 2 <= len(options) <= len(LETTERS):
        raise UsageError(f"{where}: `options` must be a list of two or more")
    key = str(item["answer"]).strip().upper()
    if key not in LETTERS[: len(options)] or len(key) != 1:
        raise UsageError(f"{where}: `answer` must be the letter of an option, A to {LETTERS[len(options) - 1]}")
    words = tuple(str(each) for each in options)
    return BenchTask(
        id=str(item["id"]), kind="choice", prompt=ask_for_letter(str(item["question"]), words), options=words, key=key
    )
