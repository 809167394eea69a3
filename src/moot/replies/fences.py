"""Fenced blocks in a reply, also when the code in them holds fences of its own."""

import re
from dataclasses import dataclass

from moot.replies.shape import CodeBlock

FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<ticks>`{3,}|~{3,})(?P<info>[^`]*)$")
PATH = re.compile(r"[\w./\\@+-]*[\w-]\.[A-Za-z]{1,5}")


@dataclass(frozen=True)
class Block:
    info: str
    lines: tuple[str, ...]
    start: int
    """Line of the opening fence."""
    end: int
    """Line of the closing fence, or one past the last line when it never closed."""
    closed: bool


def blocks(lines: list[str]) -> list[Block]:
    found: list[Block] = []
    at = 0
    while at < len(lines):
        if opening := FENCE.match(lines[at]):
            block = _block(lines, at, opening, nesting=True)
            if not block.closed:  # an inner fence that never closed must not swallow the reply
                block = _block(lines, at, opening, nesting=False)
            found.append(block)
            at = block.end
        at += 1
    return found


def _block(lines: list[str], start: int, opening: re.Match[str], *, nesting: bool) -> Block:
    ticks, indent, depth = opening["ticks"], len(opening["indent"].expandtabs()), 0
    for at in range(start + 1, len(lines)):
        fence = FENCE.match(lines[at])
        if not fence or fence["ticks"][0] != ticks[0] or len(fence["indent"].expandtabs()) > indent:
            continue  # a deeper fence belongs to the code: a docstring, a template
        if nesting and fence["info"].strip():
            depth += 1
        elif len(fence["ticks"]) >= len(ticks):
            if depth == 0:
                return Block(opening["info"].strip(), tuple(lines[start + 1 : at]), start, at, True)
            depth -= 1
    return Block(opening["info"].strip(), tuple(lines[start + 1 :]), start, len(lines), False)


def code_blocks(text: str, *, whole: bool) -> list[CodeBlock]:
    """Every block with the path named in its info string or just above it; cut-off code is not code."""
    lines = text.splitlines()
    return [
        CodeBlock(path=_path(block, lines), text="\n".join(block.lines) + "\n")
        for block in blocks(lines)
        if (block.closed or whole) and any(line.strip() for line in block.lines)
    ]


def _path(block: Block, lines: list[str]) -> str:
    above = next((line for line in reversed(lines[max(0, block.start - 2) : block.start]) if line.strip()), "")
    labelled = above if re.match(r"\W*(file|path|filename)\b", above, re.IGNORECASE) or len(above.split()) <= 2 else ""
    for place in (block.info, labelled):
        if found := PATH.search(place):
            return found[0]
    return ""
