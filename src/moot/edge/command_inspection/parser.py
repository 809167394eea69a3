"""The router's parser, with environment variables expanded and the position of every command."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from moot.routing.patterns import names
from moot.routing.script import HOLE, Command, UnreadableScript, Word
from moot.routing.shell import LONGEST, ScriptReader
from moot.routing.shell_words import Spelling

UNSET, UNSET_END = "\ue000", "\ue001"
"""Around the name of an unset variable, which the shell expands to nothing."""
IN, OUT = "\ue002", "\ue003"
"""In place of a command: a subshell begins, and ends; `cd` inside has no effect outside."""
UNSET_NAME = re.compile(f"{UNSET}([^{UNSET_END}]*){UNSET_END}")
WORDS = re.compile(r"[\w.:-]+")
NAME_BEFORE = re.compile(r"([^\s;&|(){}]+)\s*$")
DEFAULTED = re.compile(r"([A-Za-z_]\w*|\d):?([-=])([^}$`\"'\\]*)\}")


class PlacedCommand(NamedTuple):
    command: Command
    line: int
    """From 1."""
    before: str
    """The operator that follows it: `&&`, `||`, `;`, `|` or nothing."""
    function: str = ""
    """The function it is in; it runs when that is called."""


SET_BY_SHELL = names("""
    PWD OLDPWD UID EUID PPID HOSTNAME HOSTTYPE OSTYPE MACHTYPE SHLVL RANDOM SECONDS LINENO OPTIND OPTARG REPLY IFS PS1
    PIPESTATUS COLUMNS LINES FUNCNAME DIRSTACK GROUPS BASH BASH_SOURCE BASH_VERSION EPOCHSECONDS ZSH_VERSION
""")
SETS_ANYTHING = re.compile(r"(?:^|[;&|\s(])(?:source|\.|eval|read|getopts|mapfile|readarray|printf\s+-v|set\s+-a)\s")
SETS = re.compile(r"\b([A-Za-z_]\w*)\+?=|\b(?:for|select)\s+([A-Za-z_]\w*)")


class LineReader(ScriptReader):
    def __init__(self, text: str, env: Mapping[str, str], arguments: Sequence[str] | None, depth: int = 0) -> None:
        super().__init__(text, depth)
        self.env, self.arguments = env, arguments
        self.sets: frozenset[str] | None = frozenset()
        """Variables that the whole text sets, perhaps later; None: it may set any."""
        self.places: list[tuple[int, str, str]] = []
        self.function = ""
        self._begun = 0

    def inner(self, text: str) -> None:
        reader = LineReader(text, self.env, self.arguments, self.depth + 1)
        reader.values, reader.uncertain, reader.sets = self.values, self.uncertain, self.sets
        reader.function = self.function
        reader.commands_until(frozenset())
        self.note(Command((Word(IN),)), *reader.commands, Command((Word(OUT),)))

    def note(self, *commands: Command) -> None:
        super().note(*commands)
        follows = self.text[self.at : self.at + 40].lstrip(" \t")[:2]
        line = self.text.count("\n", 0, self._begun) + 1
        self.places.extend((line, follows, self.function) for _ in commands)

    def simple(self) -> None:
        self._begun = self.at
        super().simple()

    def definition(self) -> None:
        outer, name = self.function, NAME_BEFORE.search(self.text[max(0, self.at - 200) : self.at])
        self.function = outer or (name[1] if name else "")
        super().definition()
        self.function = outer

    def group(self, opening: int, end: str) -> None:
        if end != ")":
            return super().group(opening, end)
        self.note(Command((Word(IN),)))
        super().group(opening, end)
        self.note(Command((Word(OUT),)))

    def substitution(self, opening: int, spelling: Spelling) -> None:
        begun = self._begun
        self.note(Command((Word(IN),)))
        super().substitution(opening, spelling)
        self.note(Command((Word(OUT),)))
        self._begun = begun

    def dollar(self, spelling: Spelling, *, within_quotes: bool = False) -> None:
        digit = self.text[self.at + 1 : self.at + 2]
        if self.arguments is None or not ("0" < digit <= "9"):
            return super().dollar(spelling, within_quotes=within_quotes)
        self.at += 2
        self.argument(int(digit), spelling)

    def argument(self, number: int, spelling: Spelling) -> None:
        given = self.arguments or ()
        spelling.add(given[number - 1] if number <= len(given) else f"{UNSET}{number}{UNSET_END}")

    def read_braces(self, spelling: Spelling) -> None:
        """`${X:-y}` and `${1}`, which the router does not read."""
        found = DEFAULTED.match(self.text, self.at + 2)
        plain = re.compile(r"(\d)\}").match(self.text, self.at + 2)
        if self.arguments is not None and plain and plain[1] != "0":
            self.at = plain.end()
            return self.argument(int(plain[1]), spelling)
        if found is None or found[1] in self.uncertain or (found[1].isdigit() and self.arguments is None):
            return super().read_braces(spelling)
        self.at = found.end()
        spelling.names.append(found[1])
        if found[1].isdigit():
            given = self.arguments or ()
            spelling.add(given[int(found[1]) - 1] if 0 < int(found[1]) <= len(given) else found[3])
        else:
            spelling.add(self.values.get(found[1], self.env.get(found[1])) or found[3])

    def variable(self, name: str, spelling: Spelling, *, within_quotes: bool) -> None:
        spelling.names.append(name)
        value = self.values.get(name, self.env.get(name))
        if name in self.uncertain or (value is None and self.may_be_set(name)):
            spelling.add(HOLE)
        elif value is None:
            spelling.add(f"{UNSET}{name}{UNSET_END}")
        else:
            if not spelling.parts and not within_quotes:
                spelling.lone = value
            if not within_quotes:
                spelling.glob |= any(sign in value for sign in "*?[")
            spelling.add(value)

    def may_be_set(self, name: str) -> bool:
        """By the shell, or by another part of the text."""
        return name in SET_BY_SHELL or self.sets is None or name in self.sets


def names_set(text: str) -> frozenset[str] | None:
    """Variables that a text sets anywhere; None if it may set any."""
    if SETS_ANYTHING.search(text):
        return None
    return frozenset(name for found in SETS.finditer(text) for name in found.groups() if name)


def read_line(text: str, env: Mapping[str, str], arguments: Sequence[str] | None = None) -> list[PlacedCommand]:
    """All commands of a text, with `IN` and `OUT` around subshells. Raises `UnreadableScript`."""
    if len(text) > LONGEST:
        raise UnreadableScript("it is too long")
    reader = LineReader(text, env, arguments)
    reader.sets = names_set(text)
    try:
        reader.commands_until(frozenset())
    except RecursionError:
        raise UnreadableScript("it is nested too deep") from None
    return [PlacedCommand(command, *place) for command, place in zip(reader.commands, reader.places, strict=True)]


def drop_uncalled(commands: Sequence[PlacedCommand], called: frozenset[str] = frozenset()) -> list[PlacedCommand]:
    """Drop bodies of functions that nothing calls, as in a file that is only sourced. In doubt a function counts as
    called: if its name is in any word, or a program's name is only known at run time."""
    bodies: dict[str, list[PlacedCommand]] = {"": []}
    for placed in commands:
        bodies.setdefault(placed.function, []).append(placed)
    reached, new = {""}, [""]
    while new:
        running = [placed for name in new for placed in bodies[name] if not _defines(placed)]
        if any(HOLE in placed.command.words[0].text for placed in running if placed.command.words):
            return list(commands)
        words = {part for p in running for word in p.command.words for part in WORDS.findall(word.text)} | called
        new = [*((words & bodies.keys()) - reached)]
        reached.update(new)
    return [placed for placed in commands if placed.function in reached]


def _defines(placed: PlacedCommand) -> bool:
    return bool(placed.command.words) and placed.command.words[0].text == "function"


def render_word(text: str) -> str:
    return UNSET_NAME.sub(lambda m: f"${m[1]}", text).replace(HOLE, "…")


def render_words(words: Sequence[Word], longest: int = 80) -> str:
    said = " ".join(render_word(word.text) for word in words)
    said = " ".join(said.split())
    return said if len(said) <= longest else said[: longest - 1] + "…"
