"""Fenced blocks in a reply, even if their code contains fences."""

import re
from dataclasses import dataclass

from moot.text.replies.shape import CodeBlock

FENCE = re.compile(r"(?P<indent>[ \t]*)(?P<ticks>`{3,}|~{3,})(?P<info>[^`]*)$")
FILE = re.compile(r"\W{0,6}(?:file|path|filename|file name)\b\W{0,6}[:=]\W{0,6}(?P<path>[^\s`*\"'(<>]+)", re.IGNORECASE)
PATH = re.compile(r"(?<![\w./\\@+-])[\w./\\@+-]*[\w-]\.[A-Za-z]\w{0,9}(?![\w/\\])")
LONGEST_PATH_LINE = 300
MOST_UNBALANCED = 8
"""How many blocks are searched to the end of the reply for a missing closing fence."""


@dataclass(frozen=True)
class Block:
    info: str
    lines: tuple[str, ...]
    start: int
    end: int
    """Line of the closing fence, or one past the last line if unclosed."""
    closed: bool

    @property
    def holds_json(self) -> bool:
        first = next((line.lstrip() for line in self.lines if line.strip()), "")
        return self.info.lower().startswith("json") or first[:1] in ("{", "[")


def blocks(lines: list[str]) -> list[Block]:
    fences = [(n, fence) for n, line in enumerate(lines) if (fence := FENCE.match(line))]
    found: list[Block] = []
    at = unbalanced = 0
    while at < len(fences):
        end = _find_closing(fences, at, nesting=unbalanced < MOST_UNBALANCED)
        if end is None:  # an unclosed inner fence must not swallow the reply
            unbalanced += 1
            end = _find_closing(fences, at, nesting=False)
        start, fence = fences[at]
        last = fences[end][0] if end is not None else len(lines)
        found.append(Block(fence["info"].strip(), tuple(lines[start + 1 : last]), start, last, end is not None))
        at = len(fences) if end is None else end + 1
    return found


def _find_closing(fences: list[tuple[int, re.Match[str]]], opening: int, *, nesting: bool) -> int | None:
    ticks, indent, depth = fences[opening][1]["ticks"], _indent(fences[opening][1]), 0
    for at in range(opening + 1, len(fences)):
        fence = fences[at][1]
        if not fence["ticks"].startswith(ticks) or _indent(fence) > indent:
            continue  # a deeper or shorter fence belongs to the code: a docstring, a template
        if fence["info"].strip():
            depth += nesting
        elif depth == 0:
            return at
        else:
            depth -= 1
    return None


def _indent(fence: re.Match[str]) -> int:
    return len(fence["indent"].expandtabs())


def code_of(block: Block, lines: list[str]) -> CodeBlock:
    """The block's code, with the path from its info string, the line above, or its first line."""
    first = FILE.fullmatch(block.lines[0].rstrip(" *`")) if block.lines else None
    code = block.lines[1:] if first else block.lines
    return CodeBlock(path=first["path"] if first else _path(block, lines), text="\n".join(code) + "\n")


def _path(block: Block, lines: list[str]) -> str:
    above = next((line for line in reversed(lines[max(0, block.start - 2) : block.start]) if line.strip()), "")
    if len(above) <= LONGEST_PATH_LINE and (labelled := FILE.match(above)):
        return labelled["path"]
    for place in (block.info, above if len(above.split()) <= 2 else ""):
        if len(place) <= LONGEST_PATH_LINE and (found := PATH.search(place)):
            return found[0]
    return ""
