"""Renders values as text: fences, prompt material, diffs."""

import difflib
import re

from moot.core.types import Code, SourceFile
from moot.text.excerpts import CHARACTERS_PER_TOKEN, Fitted, TextPart

DETAIL = 4000


def estimate_tokens(text: str) -> int:
    return int(len(text) / CHARACTERS_PER_TOKEN) + 1


def fence_text(text: str, info: str = "") -> str:
    """Use a fence longer than any inside the text, so that the text cannot close it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{info}\n{text.rstrip(chr(10))}\n{fence}"


def cut(text: str, size: int = DETAIL) -> str:
    """The beginning and end of a long text: an error is explained in one of them."""
    if len(text) <= size:
        return text
    head = size // 4
    return f"{text[:head]}\n… {len(text) - size} characters cut …\n{text[head - size :]}"


def material(code: Code, allowance: int) -> Fitted:
    """Every file in a fence under its path, whole while the allowance lasts; cuts are marked in place."""
    parts: list[TextPart] = []
    missing: list[str] = []
    left = int(allowance * CHARACTERS_PER_TOKEN)
    for file in code.files:
        if len(file.text) <= left:
            parts.append(TextPart(file.path, _render_file(file, file.text)))
            left -= len(file.text)
            continue
        head = file.text[: max(left, 0)].rsplit("\n", 1)[0] if left > 0 else ""
        left = 0
        lines, kept = file.text.count("\n") + 1, head.count("\n") + 1 if head else 0
        note = f"{file.path}: {kept} of {lines} lines shown, the rest did not fit"
        missing.append(note)
        parts.append(TextPart(file.path, _render_file(file, head) + f"\n[{note}]" if head else f"[{note}]"))
    return Fitted(tuple(parts), tuple(missing))


def _render_file(file: SourceFile, text: str) -> str:
    return f"FILE: {file.path} ({file.language})\n{fence_text(text, file.language)}"


def join_files(code: Code) -> str:
    if len(code.files) == 1:
        return code.files[0].text
    return "".join(f"=== {file.path} ===\n{file.text.rstrip(chr(10))}\n" for file in code.files)


def render_diff(before: Code, after: Code) -> str:
    """A diff for `git apply` and for people."""
    return "".join(file_diff(old.path, old.text, new.text) for old, new in zip(before.files, after.files, strict=True))


def file_diff(path: str, before: str, after: str) -> str:
    old, new = (text.split("\n") for text in (before, after))  # a form feed does not end a line
    old, new = ([f"{line}\n" for line in lines[:-1]] + lines[-1:] * bool(lines[-1]) for lines in (old, new))
    name = path.lstrip("/")
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
