"""A task's words without their examples: as people write tasks."""

import re

from moot.protocols.solve.attempts import task_examples

HEADING = re.compile(r"^\s*(?:for\s+)?examples?\b.{0,30}[:：]?\s*$", re.IGNORECASE)
PROMPT = re.compile(r"^\s*>>>")
CALL = re.compile(r"^.*\b\w+\(.*\)\s*(?:==|=>|➞|->|→|=|returns?|should)\s*\S.*$")
DEFINITION = re.compile(r"^\s*(?:def|class|from|import|return|if|for|while|assert)\b")
HEAD = re.compile(r"^\s*(?:def|class|from|import)\b")


def strip_examples(prompt: str) -> str:
    """Without doctests and their results, lines like `f(2) -> 4`, and the headings above them."""
    kept: list[str] = []
    after_prompt = False
    for line in prompt.splitlines():
        if PROMPT.match(line):
            after_prompt = True
            continue
        if after_prompt and line.strip() and not line.strip().startswith(('"""', "'''")):
            continue  # the result that the doctest expects
        after_prompt = False
        if HEADING.match(line) or (CALL.match(line) and not DEFINITION.match(line)):
            continue
        kept.append(line)
    return "\n".join(_drop_rest(kept)) + "\n"


def _drop_rest(lines: list[str]) -> list[str]:
    """Whatever a debate would still find as an example goes with its line, from the last one up."""
    count = len(task_examples("\n".join(lines), "python"))
    for place in reversed(range(len(lines))):
        if not count:
            break
        if HEAD.match(lines[place]) or lines[place].strip().startswith(('"""', "'''")):
            continue
        less = lines[:place] + lines[place + 1 :]
        left = len(task_examples("\n".join(less), "python"))
        if left < count:
            lines, count = less, left
    return lines
