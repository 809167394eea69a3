"""A parser for shell scripts: which commands run, in which pipe, with which files.

Our own instead of shlex or bashlex: it needs no import, tolerates broken input, and never takes what it cannot parse
for harmless.
"""

import re
from itertools import pairwise

from moot.routing.script import HOLE, Command, Document, Redirect, UnreadableScript, Word
from moot.routing.shell_words import NAME, Spelling, WordReader

LONGEST = 200_000
"""No system accepts a longer command line."""
MOST_COMMANDS = 5000
NEAREST = 12
"""How many commands back in a pipe the input is traced."""
REDIRECT = re.compile(r"(?:\d+|\{\w+\})?(<<<|<<-?|<&|<>|>>|>&|>\||<(?!\()|>(?!\())|(&>>?)")
SEPARATOR = re.compile(r"&&|\|\||;;&|;;|;&|;|&|\n")
BLANKS = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|while|until|do|done|for|select|case|esac|function|time|coproc|\{|\}|!|\[\[)(?=[\s;&|()<>]|$)"
)
SETTING = re.compile(r"([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
TIME_OPTIONS = re.compile(r"(?:[ \t]+(?:-p|--)(?=[ \t]))+")
LINE_END = re.compile(r"[^\n]*")


class ScriptReader(WordReader):
    def inner(self, text: str) -> None:
        reader = ScriptReader(text, self.depth + 1)
        reader.values, reader.uncertain = self.values, self.uncertain
        reader.commands_until(frozenset())
        self.note(*reader.commands)

    def note(self, *commands: Command) -> None:
        self.commands.extend(commands)
        if len(self.commands) > MOST_COMMANDS:
            raise UnreadableScript("it is too long")

    def commands_until(self, stops: frozenset[str]) -> str:
        """Parse commands up to one of the stops; returns the stop."""
        while True:
            self.space()
            if self.at >= len(self.text):
                if stops:
                    raise UnreadableScript(f"{' or '.join(sorted(stops))} is missing")
                return ""
            if stop := self.stop_at(stops):
                return stop
            self.pipeline()
            self.blanks()
            if separator := SEPARATOR.match(self.text, self.at):
                if separator[0].startswith(";;") or separator[0] == ";&":
                    if ";;" in stops:
                        return ";;"
                    raise UnreadableScript("a stray ;;")
                self.newline() if separator[0] == "\n" else self.skip(len(separator[0]))
            elif self.at < len(self.text) and not self.stop_at(stops):
                raise UnreadableScript(f"a stray {self.text[self.at]}")

    def stop_at(self, stops: frozenset[str]) -> str:
        if self.text[self.at] == ")" and ")" in stops:
            return ")"
        if ";;" in stops and self.text.startswith((";;", ";&"), self.at):
            return ";;"
        word = RESERVED.match(self.text, self.at)
        return word[0] if word and word[0] in stops else ""

    def skip(self, count: int) -> None:
        self.at += count

    def blanks(self) -> None:
        if found := BLANKS.match(self.text, self.at):
            self.at = found.end()
        if self.at < len(self.text) and self.text[self.at] == "#" and self._word_may_begin():
            self.at = LINE_END.match(self.text, self.at).end()  # type: ignore[union-attr]

    def _word_may_begin(self) -> bool:
        return self.at == 0 or self.text[self.at - 1] in " \t\r\n;&|()"

    def space(self) -> None:
        while True:
            self.blanks()
            if self.at < len(self.text) and self.text[self.at] == "\n":
                self.newline()
            else:
                return

    def newline(self) -> None:
        self.at += 1
        waiting, self.documents = self.documents, []
        for document in waiting:
            self.document_body(document)

    def document_body(self, document: Document) -> None:
        lines = []
        while self.at < len(self.text):
            end = self.text.find("\n", self.at)
            end = len(self.text) if end < 0 else end
            line, self.at = self.text[self.at : end], min(end + 1, len(self.text))
            if (line.lstrip("\t") if document.indented else line).rstrip("\r") == document.end:
                break
            lines.append(line)
        document.body = "\n".join(lines)
        if not document.literal and ("$(" in document.body or "`" in document.body):
            self.read_expanded(document.body)

    def pipeline(self) -> None:
        base, began = self.upstream, len(self.commands)
        while True:
            self.element()
            self.blanks()
            if self.text.startswith("||", self.at) or not self.text.startswith("|", self.at):
                break
            self.skip(2 if self.text.startswith("|&", self.at) else 1)
            self.upstream = (*base, *self.commands[max(began, len(self.commands) - NEAREST) :])[-NEAREST:]
            self.space()
        self.upstream = base

    def element(self) -> None:
        self.blanks()
        if self.at >= len(self.text):
            return
        if self.text.startswith("((", self.at) and self.arithmetic(2, Spelling()):
            return
        if self.text[self.at] == "(":
            self.group(1, ")")
        elif word := RESERVED.match(self.text, self.at):
            self.compound(word[0])
        else:
            self.simple()

    def group(self, opening: int, end: str) -> None:
        self.skip(opening)
        self.deeper()
        self.commands_until(frozenset((end,)))
        self.depth -= 1
        self.skip(len(end))
        self.read_trailing_redirects()

    def compound(self, word: str) -> None:
        if word == "{":
            return self.group(1, "}")
        if word in ("!", "time", "coproc"):
            self.skip(len(word))
            if options := TIME_OPTIONS.match(self.text, self.at):
                self.at = options.end()
            return self.element()
        self.skip(len(word))
        self.deeper()
        if word == "if":
            self.conditional()
        elif word in ("while", "until"):
            self.through("do")
            self.through("done")
        elif word in ("for", "select"):
            self.loop()
        elif word == "case":
            self.cases()
        elif word == "function":
            self.blanks()
            self.word()
            self.definition()
        elif word == "[[":
            self.condition()
        else:
            raise UnreadableScript(f"a stray {word}")
        self.depth -= 1
        self.read_trailing_redirects()

    def through(self, *ends: str) -> str:
        end = self.commands_until(frozenset(ends))
        self.skip(len(end))
        return end

    def conditional(self) -> None:
        self.through("then")
        while (end := self.through("elif", "else", "fi")) != "fi":
            if end == "elif":
                self.through("then")

    def loop(self) -> None:
        self.blanks()
        if self.text.startswith("((", self.at):
            self.arithmetic(2, Spelling())
        else:
            self.uncertain.add(self.word().word().text)
        self.space()
        if self.text.startswith("in", self.at):
            self.skip(2)
            self.blanks()
            while self.at < len(self.text) and self.text[self.at] not in ";\n&|":
                self.some_word()
                self.blanks()
        self.space()
        if self.text.startswith(";", self.at):
            self.skip(1)
        self.space()
        if self.text.startswith("{", self.at):
            return self.group(1, "}")
        if not self.text.startswith("do", self.at):
            raise UnreadableScript("do is missing")
        self.skip(2)
        self.through("done")

    def cases(self) -> None:
        self.blanks()
        self.some_word()
        self.space()
        if not self.text.startswith("in", self.at):
            raise UnreadableScript("in is missing")
        self.skip(2)
        while True:
            self.space()
            if self.at >= len(self.text):
                raise UnreadableScript("esac is missing")
            if self.stop_at(frozenset(("esac",))):
                return self.skip(4)
            self.skip(self.text.startswith("(", self.at))
            while self.at < len(self.text) and self.text[self.at] != ")":
                if self.text[self.at] in " \t|":
                    self.skip(1)
                else:
                    self.some_word()
            self.skip(1)
            if self.commands_until(frozenset((";;", "esac"))) == ";;":
                self.skip(3 if self.text.startswith(";;&", self.at) else 2)

    def some_word(self) -> Word:
        began = self.at
        word = self.word().word()
        if self.at == began:
            raise UnreadableScript(f"a stray {self.text[self.at : self.at + 1]}")
        return word

    def condition(self) -> None:
        while self.at < len(self.text):
            self.space()
            if self.text.startswith("]]", self.at):
                return self.skip(2)
            began = self.at
            self.word()
            if self.at == began:
                self.skip(1)
        raise UnreadableScript("]] is missing")

    def definition(self) -> None:
        self.blanks()
        if parens := re.compile(r"\(\s*\)").match(self.text, self.at):
            self.at = parens.end()
        self.space()
        self.element()

    def read_trailing_redirects(self) -> None:
        redirects = []
        self.blanks()
        while found := REDIRECT.match(self.text, self.at):
            redirects.append(self.redirect(found))
            self.blanks()
        if redirects:
            self.note(Command((), (), tuple(redirects), self.upstream))

    def redirect(self, found: re.Match[str]) -> Redirect:
        sign, self.at = found[1] or found[2], found.end()
        self.blanks()
        spelling = self.word()
        if not spelling.began:
            raise UnreadableScript(f"nothing follows {sign}")
        word = spelling.word()
        if sign in ("<<", "<<-"):
            document = Document(word.text, indented=sign == "<<-", literal=word.quoted)
            self.documents.append(document)
            return Redirect(sign, word, document)
        return Redirect(sign, word)

    def simple(self) -> None:
        words: list[Word] = []
        settings: list[tuple[str, Word]] = []
        redirects: list[Redirect] = []
        while self.at < len(self.text):
            self.blanks()
            if found := REDIRECT.match(self.text, self.at):
                redirects.append(self.redirect(found))
                continue
            setting = SETTING.match(self.text, self.at) if not words else None
            spelling = self.word()
            if not spelling.began:
                break
            if setting:
                settings.append((setting[1], Word(spelling.word().text.partition("=")[2])))
            else:
                words.extend(_split(spelling, self.values.get("IFS", "")))
            if len(words) == 1 and re.compile(r"[ \t]*\([ \t]*\)").match(self.text, self.at):
                self.deeper()
                self.definition()
                self.depth -= 1
                return self.note(Command((Word("function"), words[0])))
        if not words:
            for name, value in settings:
                self.remember(name, value)
        elif words[0].text in ("export", "local", "declare", "readonly", "typeset"):
            self.note_exports(words[1:])
        if words or settings or redirects:
            self.note(Command(tuple(words), tuple(settings), tuple(redirects), self.upstream))

    def note_exports(self, words: list[Word]) -> None:
        for word in words:
            name, equals, text = word.text.partition("=")
            if equals and NAME.fullmatch(name):
                self.remember(name, Word(text))

    def remember(self, name: str, value: Word) -> None:
        """A variable that is set twice is unknown; of a partly known value, the known part is kept."""
        if self.values.get(name, value.text) != value.text:
            self.uncertain.add(name)
        self.values[name] = value.text


def _split(spelling: Spelling, separators: str) -> list[Word]:
    """Split a word as the shell does: at `$IFS`, and in the values of unquoted variables."""
    word = spelling.word()
    if spelling.gaps:
        cuts = [0, *spelling.gaps, len(spelling.parts)]
        parts = ["".join(spelling.parts[a:b]) for a, b in pairwise(cuts)]
        return [Word(part, spelled=True, names=word.names) for part in parts if part]
    if spelling.lone and spelling.lone == word.text and HOLE not in word.text:
        pattern = f"[{re.escape(separators)}]" if separators else r"\s+"
        spelled = bool(separators) and bool(re.search(pattern, word.text))
        return [Word(part, "*" in part, False, spelled, word.names) for part in re.split(pattern, word.text) if part]
    return [word]


def parse(text: str) -> tuple[Command, ...]:
    """All commands of a script, including those inside substitutions, in order."""
    if len(text) > LONGEST:
        raise UnreadableScript("it is too long")
    reader = ScriptReader(text)
    reader.commands_until(frozenset())
    return tuple(reader.commands)
