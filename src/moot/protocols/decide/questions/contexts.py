"""Parses questions in the `debate_context` form, one or many; every error names its place."""

import difflib
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import yaml

from moot.core.errors import UsageError
from moot.protocols.decide.questions.values import PanelQuestion, QuestionOption

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
OPTION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,9}")
LETTERED = re.compile(r"\s*\(?([A-Za-z0-9])\s*[:)]\s*(\S.*)", re.DOTALL)
WRAPPERS = ("debate_context", "debate_contexts", "questions")
SHARED = ("spec_context", "feature_name", "feature_dir")
KEYS = ("question_id", "question_text", "options", *SHARED)
DEEPEST, MOST = 4, 500
OPTION_KEYS = ("id", "label", "description")
EXAMPLE = "debate_context: {question_text: …, options: [{id: A, label: …}, {id: B, label: …}]}"


def read_questions(text: str, place: str) -> tuple[PanelQuestion, ...]:
    """Every question of a file: one mapping, a list, several documents, or `questions` with a shared context."""
    try:
        documents = [document for document in yaml.safe_load_all(text) if document is not None]
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        where = "" if line is None else f" at line {line + 1}"
        raise UsageError(f"{place} is not valid YAML{where}; fix it there") from None
    entries = _all_entries(documents, place)
    if not entries:
        raise UsageError(f"{place} contains no question; write {EXAMPLE}")
    return parse_questions(entries, place)


def parse_questions(entries: Sequence[Mapping[str, object]], place: str) -> tuple[PanelQuestion, ...]:
    """Questions from mappings with the keys of a file."""
    found = [_question(entry, number, place) for number, entry in enumerate(entries, start=1)]
    return _distinct(found, place)


def parse_spoken_question(text: str, options: Sequence[str]) -> PanelQuestion:
    """`--ask TEXT --option "A: …" --option "B: …"`; options without letters are numbered off."""
    if not text.strip():
        raise UsageError("--ask is empty; write the question after it")
    lettered = [LETTERED.fullmatch(option) for option in options]
    named = [
        {"id": m[1], "label": m[2]} if m and all(lettered) else option
        for m, option in zip(lettered, options, strict=True)
    ]
    entry = {"question_text": text, "options": named}
    return _question(entry, 1, "--option" if len(options) else "--ask")


def question_texts(text: str, place: str) -> list[tuple[str, str]]:
    """Id and text of every question, whatever its options: a file in the form above, or one question per line."""
    try:
        documents = [document for document in yaml.safe_load_all(text) if document is not None]
    except (yaml.YAMLError, ValueError, RecursionError):
        documents = []
    if not documents or not all(isinstance(document, dict | list) for document in documents):
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return [(f"Q{number}", line) for number, line in enumerate(lines, start=1)]
    entries = _all_entries(documents, place)
    found = []
    for number, entry in enumerate(entries, start=1):
        name = _text(entry, "question_id", f"{place}, question {number}") or f"Q{number}"
        asked = _text(entry, "question_text", f"{place}, question {name!r}")
        if not asked:
            raise UsageError(f"{place}, question {name!r}: 'question_text' is missing or empty")
        found.append((name, asked))
    return found


def _all_entries(documents: Sequence[object], place: str) -> list[dict[str, object]]:
    """YAML aliases can make a short file endless: refuse too many questions before building them."""
    found = list(islice((e for document in documents for e in _entries(document, {}, place, DEEPEST)), MOST + 1))
    if len(found) > MOST:
        raise UsageError(f"{place} has more than {MOST} questions; split it")
    return found


def _entries(document: object, shared: Mapping[str, object], place: str, deep: int) -> Iterator[dict[str, object]]:
    """The mapping of each question, with the shared parts added."""
    if isinstance(document, list) and deep:
        for item in document:
            yield from _entries(item, shared, place, deep - 1)
        return
    if not isinstance(document, dict):
        raise UsageError(f"{place}: {_short(document)} is not a question with options; write {EXAMPLE}")
    wrapper = next((key for key in WRAPPERS if key in document), None)
    if wrapper is None or not deep:
        yield {**shared, **document}
        return
    beside = [key for key in document if key not in (wrapper, *SHARED)]
    if beside:
        raise UsageError(f"{place}: {beside[0]!r} is next to {wrapper!r}; move it into a question, or delete it")
    if document[wrapper] is None:
        raise UsageError(f"{place}: {wrapper!r} is empty; write {EXAMPLE}")
    said = {key: document[key] for key in SHARED if key in document}
    yield from _entries(document[wrapper], {**shared, **said}, place, deep - 1)


def _question(entry: Mapping[str, object], number: int, place: str) -> PanelQuestion:
    where = f"{place}, question {number}"
    _refuse_unknown(entry, KEYS, where)
    name = _text(entry, "question_id", where) or f"Q{number}"
    if not ID.fullmatch(name):
        raise UsageError(
            f"{where}: question_id {name!r} cannot name a file; use letters, digits, '.', '-' and '_', at most 64"
        )
    where = f"{place}, question {name!r}"
    text = _text(entry, "question_text", where)
    if not text:
        raise UsageError(f"{where}: 'question_text' is missing or empty")
    context = _text(entry, "spec_context", where)
    names = {key: _text(entry, key, where) for key in ("feature_name", "feature_dir")}
    return PanelQuestion(id=name, text=text, options=_options(entry.get("options"), where), context=context, **names)


def _options(said: object, where: str) -> tuple[QuestionOption, ...]:
    if isinstance(said, dict):  # `{A: the small one, B: the large one}`
        said = [{"id": key, **(value if isinstance(value, dict) else {"label": value})} for key, value in said.items()]
    if not isinstance(said, list):
        raise UsageError(f"{where}: 'options' must be a list of at least two; each has id, label and description")
    if len(said) < 2:
        raise UsageError(f"{where}: give at least two options to choose from (--option with --ask)")
    options = tuple(_option(option, number, where) for number, option in enumerate(said, start=1))
    for field in ("id", "label"):
        values = [getattr(option, field).casefold() for option in options]
        if twice := next((value for value in values if values.count(value) > 1), None):
            raise UsageError(f"{where}: two options have the same {field} {twice!r}; judges could not name one of them")
    return options


def _option(said: object, number: int, where: str) -> QuestionOption:
    place = f"{where}, option {number}"
    entry = {"label": said} if isinstance(said, str) else said
    if not isinstance(entry, dict):
        raise UsageError(f"{place}: {_short(said)} is not an option; write id, label and description")
    _refuse_unknown(entry, OPTION_KEYS, place)
    if "id" not in entry and number > len(string.ascii_uppercase):
        raise UsageError(f"{place}: no letter is left for it; give every option an 'id'")
    name = _text(entry, "id", place) or string.ascii_uppercase[number - 1]
    if not OPTION_ID.fullmatch(name):
        raise UsageError(f"{place}: id {name!r} must be a letter, or at most ten letters and digits")
    label, description = _text(entry, "label", place), _text(entry, "description", place)
    if not label and not description:
        raise UsageError(f"{place}: 'label' is missing or empty")
    return QuestionOption(
        id=name.upper() if len(name) == 1 else name, label=label or description, description=description
    )


def _text(entry: Mapping[str, object], key: str, where: str) -> str:
    value = entry.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{where}: {key!r} must be text, not {_short(value)}; put it in quotes")
    return str(value).strip()


def _refuse_unknown(entry: Mapping[str, object], known: tuple[str, ...], where: str) -> None:
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.0)
            raise UsageError(f"{where}: unknown key {key!r}; did you mean {near[0]!r}? Known are {', '.join(known)}")


def _distinct(questions: Sequence[PanelQuestion], place: str) -> tuple[PanelQuestion, ...]:
    names = [question.id.casefold() for question in questions]  # ids become file names, also where case is ignored
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"{place}: two questions have the id {twice!r}; their files would overwrite each other")
    return tuple(questions)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
