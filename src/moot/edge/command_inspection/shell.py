"""Judges a shell script with the router, command by command, with line numbers."""

import re
from collections.abc import Mapping, Sequence

from moot.edge.command_inspection.code import Finding
from moot.edge.command_inspection.parser import (
    IN,
    OUT,
    UNSET_NAME,
    PlacedCommand,
    drop_uncalled,
    read_line,
    render_word,
)
from moot.routing.answer import Sight
from moot.routing.command import command_sights, one_command
from moot.routing.script import HOLE, Command, UnreadableScript

ACROSS = ("download and run", "decoded and run", "fork bomb", "unreadable command", "nesting")
"""What the router sees only in a whole text, not in a single command."""
HIDDEN = ("hidden program", "unreadable command", "nesting")
ENCODED = re.compile(r"\b(?:base64|base32|xxd|openssl|uudecode|gunzip|zcat)\b")
TEMPORARY = re.compile(r"\b([A-Za-z_]\w*)=[\"']?(?:\$\(|`)\s*mktemp\b")
CLEANUP = re.compile(r"\s*rm(?:\s+-[rf]+|\s+--|\s+[\"']?\$\{?\w+\}?[\"']?)+\s*")


def shell_findings(
    env: Mapping[str, str], text: str, arguments: Sequence[str] | None = None, called: frozenset[str] = frozenset()
) -> list[Finding]:
    """`called`: functions that the caller of the text may call."""
    try:
        commands = read_line(text, env, arguments)
    except UnreadableScript as problem:
        return [Finding(Sight("medium", "unclear", "unreadable script", f"it cannot be read: {problem}"))]
    across = [sight for sight in command_sights(text) if sight.what in ACROSS]
    if not ENCODED.search(text):  # `tr` in a script decodes nothing
        across = [sight for sight in across if sight.what != "decoded and run"]
    own = frozenset(
        p.command.words[1].text for p in commands if len(p.command.words) == 2 and _first(p.command) == "function"
    )
    temporary = frozenset(TEMPORARY.findall(text))
    judged = [
        finding
        for placed in drop_uncalled(commands, called)
        if _first(placed.command) not in (IN, OUT) and not _cleans_up(placed.command, temporary)
        for finding in _judge_command(placed, own)
    ]
    return [*(Finding(usual(sight)) for sight in across), *judged]


def _first(command: Command) -> str:
    return command.words[0].text if command.words else ""


def _judge_command(placed: PlacedCommand, own: frozenset[str]) -> list[Finding]:
    words = tuple(word._replace(text=UNSET_NAME.sub(HOLE, word.text)) for word in placed.command.words)
    feeders = tuple(command for command in placed.command.fed_by if _first(command) not in (IN, OUT))
    command = placed.command._replace(words=words, fed_by=feeders)
    return [Finding(usual(sight), placed.line) for sight in one_command(command, 0, own)]


def _cleans_up(command: Command, temporary: frozenset[str]) -> bool:
    """`rm "$tmp"` and `trap 'rm "$tmp"' EXIT` of a `mktemp` file: a script tidies up after itself."""
    words = command.words
    if not temporary or not words or command.redirects:
        return False
    if words[0].text == "trap" and len(words) > 1:
        named = set(re.findall(r"\$\{?(\w+)", words[1].text))
        return bool(named) and named <= temporary and CLEANUP.fullmatch(words[1].text) is not None
    operands = [word for word in words[1:] if not word.text.startswith("-")]
    only = all(word.names and set(word.names) <= temporary and word.text == HOLE for word in operands)
    return words[0].text == "rm" and bool(operands) and only


def usual(sight: Sight) -> Sight:
    """In a script, a program named by a variable is normal; only its effect is unknown."""
    level = "medium" if sight.group == "unclear" and sight.what in HIDDEN else sight.level
    return Sight(level, sight.group, render_word(sight.what), render_word(sight.why))
