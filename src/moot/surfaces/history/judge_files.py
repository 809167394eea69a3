"""Judge files: `debate-{id}-{judge}.md`, and `-r2.md` for round 2."""

import os
import re
import tempfile
from collections.abc import Container, Mapping
from glob import escape
from pathlib import Path

from moot.core.errors import UsageError
from moot.protocols.decide.script import DecideResult
from moot.protocols.decide.verdicts import JudgePosition, QuestionVerdict

FOLDER = "sadd"
MADE = re.compile(r"# [^\n]* Evaluation\n\n> \*\*Question:\*\* ")
"""The start of a file written by `_page`."""
MARKUP = re.compile(r"^(\s*)([#>*+\-`~\[|=]|\d+[.)])", re.MULTILINE)


def write_judge_files(result: DecideResult, folders: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Writes the files of every question that has a folder: returns those written, and those of an earlier run that
    were removed. Idempotent per session. A resumable session that heard nobody removes none."""
    written, removed = list[str](), list[str]()
    for verdict in result.questions:
        if folder := folders.get(verdict.question_id):
            place, files = Path(folder) / FOLDER, judge_files(verdict, result.session_id)
            for name, text in files.items():
                _replace(place / name, text)
                written.append(str(place / name))
            if files or not result.resumable:
                removed += remove_earlier(place, verdict.question_id, files)
    return written, removed


def remove_earlier(place: Path, question_id: str, files: Container[str]) -> list[str]:
    """Removes judge files that an earlier run left and this one did not write."""
    removed = []
    for path in sorted(place.glob(f"debate-{escape(question_id)}-*.md")):
        try:
            text = path.read_text(encoding="utf-8")
            if path.name not in files and MADE.match(text) and f"\n> **Id:** {question_id}\n" in text:
                path.unlink()
                removed.append(str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot look at {str(path)!r}, or remove it: {error}") from None
    return removed


def judge_files(verdict: QuestionVerdict, session_id: str) -> dict[str, str]:
    files = {}
    for position in verdict.positions:
        end = "-r2" if position.round == 2 else ""
        before = next(p for p in verdict.positions if p.judge == position.judge)
        name = f"debate-{verdict.question_id}-{position.judge}{end}.md"
        files[name] = _page(verdict, position, before, session_id)
    return files


def _page(verdict: QuestionVerdict, position: JudgePosition, before: JudgePosition, session_id: str) -> str:
    about = {
        "Question": verdict.question_text.replace("\n", "\n> "),
        "Stance": position.stance,
        "Round": str(position.round),
        "Session": session_id,
        "Id": verdict.question_id,
    }
    parts = [
        f"# {position.title} Evaluation",
        "\n".join(f"> **{label}:** {text}" for label, text in about.items()),
        "## My Recommendation",
        f"**Chosen Option:** Option {position.option}\n**Confidence:** {position.confidence or 'not given'}",
        as_text(position.reasons),
    ]
    if position.analysis:
        labels = {option.id: option.label for option in verdict.options}
        looks = [f"### Option {key}: {labels.get(key, '')}\n\n{as_text(t)}" for key, t in position.analysis.items()]
        parts += ["## Analysis by Option", *looks]
    if position.round == 2:
        parts += _answers(position, before)
    return "\n\n".join(parts) + "\n"


def _answers(position: JudgePosition, before: JudgePosition) -> list[str]:
    challenges = [f"**{name}:** {as_text(text)}" for name, text in position.challenges.items()]
    parts = ["### Response to Other Judges", *challenges, "### Did I Change My Mind?"]
    changed = position.option != before.option
    yes, no = ("x", " ") if changed else (" ", "x")
    parts.append(f"- [{yes}] Yes, I was convinced\n- [{no}] No, I maintain Option {before.option}")
    if changed:
        parts.append(f"**New Recommendation:** Option {position.option}")
        parts.append(f"**What Convinced Me:** {as_text(position.convinced_by)}")
    if position.wanted:
        parts.append(f"A change to Option {position.wanted} was not accepted: it did not say what convinced the judge.")
    return parts


def as_text(words: str) -> str:
    """Escapes a model's text, so that no line is a heading or label of ours."""
    return MARKUP.sub(r"\1\\\2", words.strip())


def _replace(path: Path, text: str) -> None:
    """Atomic."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}; check --feature-dir") from None
