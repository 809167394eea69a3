"""Parses shell words: quotes, escapes, variables, substitutions."""

import re

from moot.routing.script import HOLE, Command, Document, UnreadableScript, Word

DEEPEST = 40
PLAIN = re.compile(r"[^\s|&;<>()$`\"'\\*?\[]+")
IN_QUOTES = re.compile(r"[^\"\\$`]+")
NAME = re.compile(r"[A-Za-z_]\w*")
SPECIAL = re.compile(r"[0-9@*#?$!_-]")
ANSI = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL)
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


class Spelling:
    """A word while it is parsed."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.names: list[str] = []
        self.glob = self.quoted = self.spelled = False
        self.began = False
        self.gaps: list[int] = []
        """Parts preceded by an unquoted `$IFS`, where the shell splits the word."""
        self.lone = ""
        """The value, if the word is one known, unquoted variable; the shell would split it."""

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.began = True

    def word(self) -> Word:
        return Word("".join(self.parts), self.glob, self.quoted, self.spelled, tuple(self.names))


class WordReader:
    """Parses words at a position in a text. `commands_until` parses substitutions."""

    def __init__(self, text: str, depth: int = 0) -> None:
        if depth > DEEPEST:
            raise UnreadableScript("it is nested too deep")
        self.text, self.at, self.depth = text, 0, depth
        self.commands: list[Command] = []
        self.upstream: tuple[Command, ...] = ()
        self.values: dict[str, str] = {}
        self.uncertain: set[str] = set()
        self.documents: list[Document] = []

    def commands_until(self, stops: frozenset[str]) -> str:
        raise NotImplementedError

    def inner(self, text: str) -> None:
        """Parse a nested text, such as the one between backticks."""
        raise NotImplementedError

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise UnreadableScript("it is nested too deep")

    def word(self) -> Spelling:
        spelling, text = Spelling(), self.text
        while self.at < len(text):
            if plain := PLAIN.match(text, self.at):
                spelling.add(plain[0])
                self.at = plain.end()
                continue
            sign = text[self.at]
            if sign in "*?[":
                spelling.glob = True
                spelling.add(sign)
                self.at += 1
            elif sign in "\"'\\$`":
                self.special(sign, spelling)
            elif text.startswith(("<(", ">("), self.at):
                self.substitution(2, spelling)
            elif sign == "(" and self._array(spelling):
                continue
            else:
                break
        return spelling

    def _array(self, spelling: Spelling) -> bool:
        """`names=(a b)` and patterns such as `!(a|b)`."""
        before = "".join(spelling.parts[-1:])
        if not before or before[-1] not in "=!@+?*":
            return False
        self.at += 1
        self.deeper()
        while self.at < len(self.text) and self.text[self.at] != ")":
            if self.text[self.at] in " \t\r\n|&;<>(":
                self.at += 1
            else:
                self.word()
        self.depth -= 1
        self.at += 1
        spelling.add(HOLE)
        return True

    def special(self, sign: str, spelling: Spelling) -> None:
        if sign == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            if following != "\n":  # a continued line
                spelling.add(following)
            self.at += 2
        elif sign == "'":
            end = self.text.find("'", self.at + 1)
            if end < 0:
                raise UnreadableScript("a quote is not closed")
            spelling.add(self.text[self.at + 1 : end])
            spelling.quoted, self.at = True, end + 1
        elif sign == '"':
            self.at += 1
            self.read_quoted(spelling)
        elif sign == "`":
            self.backticks(spelling)
        else:
            self.dollar(spelling)

    def read_quoted(self, spelling: Spelling, end: str = '"') -> None:
        spelling.quoted = spelling.began = True
        while self.at < len(self.text):
            if plain := IN_QUOTES.match(self.text, self.at):
                spelling.add(plain[0])
                self.at = plain.end()
            elif self.text[self.at] == '"':
                self.at += 1
                if end == '"':
                    return
                spelling.add('"')
            elif self.text[self.at] == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                spelling.add(following if following in '"\\$`' else "" if following == "\n" else "\\" + following)
                self.at += 2
            elif self.text[self.at] == "`":
                self.backticks(spelling)
            else:
                self.dollar(spelling, within_quotes=True)
        if end:
            raise UnreadableScript("a quote is not closed")

    def backticks(self, spelling: Spelling) -> None:
        end = self.at + 1
        while end < len(self.text) and self.text[end] != "`":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise UnreadableScript("a backtick is not closed")
        body = re.sub(r"\\([`\\$])", r"\1", self.text[self.at + 1 : end])
        self.at = end + 1
        self.inner(body)
        spelling.add(HOLE)

    def substitution(self, opening: int, spelling: Spelling) -> None:
        self.at += opening
        kept, self.upstream = self.upstream, ()
        self.deeper()
        self.commands_until(frozenset(")"))
        self.depth -= 1
        self.at += 1
        self.upstream = kept
        spelling.add(HOLE)

    def dollar(self, spelling: Spelling, *, within_quotes: bool = False) -> None:
        text, at = self.text, self.at
        following = text[at + 1 : at + 2]
        if following == "'" and not within_quotes:
            self.ansi(spelling)
        elif following == '"' and not within_quotes:
            self.at += 2
            self.read_quoted(spelling)
        elif text.startswith("$((", at) and self.arithmetic(3, spelling):
            pass
        elif following == "(":
            self.substitution(2, spelling)
        elif following == "{":
            self.read_braces(spelling)
        elif name := NAME.match(text, at + 1):
            self.at = name.end()
            self.variable(name[0], spelling, within_quotes=within_quotes)
        elif SPECIAL.match(following):
            self.at += 2
            spelling.add(HOLE)
        else:
            self.at += 1
            spelling.add("$")

    def variable(self, name: str, spelling: Spelling, *, within_quotes: bool) -> None:
        spelling.names.append(name)
        value = self.values.get(name)
        if name == "IFS" and not within_quotes:
            spelling.gaps.append(len(spelling.parts))
            spelling.began = True
            return
        if value is None or name in self.uncertain:
            spelling.add(HOLE)
            return
        if not spelling.parts and not within_quotes:
            spelling.lone = value
        spelling.add(value)

    def ansi(self, spelling: Spelling) -> None:
        end = self.at + 2
        while end < len(self.text) and self.text[end] != "'":
            end += 2 if self.text[end] == "\\" else 1
        if end >= len(self.text):
            raise UnreadableScript("a quote is not closed")
        body, self.at = self.text[self.at + 2 : end], end + 1
        spelling.spelled |= bool(re.search(r"\\[xuU0-7]", body))
        spelling.add(ANSI.sub(_unescape_match, body))
        spelling.quoted = True

    def arithmetic(self, opening: int, spelling: Spelling) -> bool:
        """`((…))`; false if it turns out to be a command in two brackets."""
        depth, end = 2, self.at + opening
        limit = min(len(self.text), end + 10_000)
        while depth and end < limit:
            depth += {"(": 1, ")": -1}.get(self.text[end], 0)
            end += 1
        if depth or self.text[end - 2 : end] != "))":
            return False
        body, self.at = self.text[self.at + opening : end - 2], end
        if "$(" in body or "`" in body:
            self.read_expanded(body)
        spelling.add(HOLE)
        return True

    def read_expanded(self, body: str) -> None:
        """Commands inside text that the shell expands, such as a here-document."""
        kept, at = self.text, self.at
        self.text, self.at = body, 0
        try:
            self.read_quoted(Spelling(), end="")
        finally:
            self.text, self.at = kept, at

    def read_braces(self, spelling: Spelling) -> None:
        self.at += 2
        whole = re.compile(r"([A-Za-z_]\w*)\}").match(self.text, self.at)
        if whole:
            self.at = whole.end()
            self.variable(whole[1], spelling, within_quotes=spelling.quoted)
            return
        if name := re.compile(r"[#!]?([A-Za-z_]\w*|[@*\d])").match(self.text, self.at):
            spelling.names.append(name[1])
            self.at = name.end()
            if self.text.startswith("@P}", self.at):  # the value is expanded again, including commands
                self.commands.append(Command((Word("eval"), Word(HOLE))))
        ignored = Spelling()
        self.deeper()
        while self.at < len(self.text) and self.text[self.at] != "}":
            sign = self.text[self.at]
            if sign in '"\\$`':
                self.special(sign, ignored)
            else:
                self.at += 1
        if self.at >= len(self.text):
            raise UnreadableScript("a brace is not closed")
        self.depth -= 1
        self.at += 1
        spelling.add(HOLE)


def _unescape_match(found: re.Match[str]) -> str:
    for place, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if found[place]:
            code = int(found[place], base)
            return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "?"
    return found[5] or LETTERS.get(found[6], found[6])
