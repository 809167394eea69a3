"""One look at a command line: follows every command to the scripts it runs and the files it deletes."""

import os
import re
import shlex
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from moot.edge.command_inspection.code import Finding, code_findings
from moot.edge.command_inspection.deletions import DeletionBudget, WorkingPlace, absolute, deletion_of, look_at_deletion
from moot.edge.command_inspection.files import Script, UnreadFile, name_from, read_text, replace_unusable
from moot.edge.command_inspection.parser import (
    IN,
    OUT,
    UNSET,
    UNSET_NAME,
    WORDS,
    PlacedCommand,
    drop_uncalled,
    read_line,
    render_word,
    render_words,
)
from moot.edge.command_inspection.shell import shell_findings
from moot.edge.files.project import project_root
from moot.routing.answer import ORDER, Sight
from moot.routing.interpreters import find_input_texts
from moot.routing.patterns import names
from moot.routing.script import HOLE, Command, UnreadableScript, Word

DEEPEST = 6
"""Scripts that call scripts."""
MOST_SCRIPTS = 25
MOST_NOTES = 30
SECONDS = 1.0
MAKERS = names("mkdir git tar unzip cp mv mktemp")
"""Programs that may create a missing folder."""
WRITERS = names("cp mv ln install curl wget sed tee dd patch rsync perl")
OWN_FOLDER = re.compile(
    r"\$\(\s*dirname\s+(?:--\s+)?(?:\"?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?\"?)\s*\)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}"
)
ASKS_FOR_PROGRAM = re.compile(r"\$\(\s*(?:command -v|which|type)\s+[\w-]+\s*&?>\s*/dev/null\s*\)")
"""As in the `activate` of virtual environments: it prints nothing, so nothing is run."""
WORKED_OUT = re.compile(r"\$\(\s*cd\s+(?:-P\s+)?(?:--\s+)?\"?([\w./-]+)\"?\s*(?:&&|;)\s*pwd(?:\s+-P)?\s*\)")


class Look:
    def __init__(self, folder: Path | str, env: Mapping[str, str], home: Path | None = None) -> None:
        self.env = env
        self.folder = Path(os.path.abspath(folder))
        here = Path(os.path.realpath(folder))
        self.home = Path(os.path.realpath(home or env.get("HOME") or os.path.expanduser("~")))
        self.project = project_root(here)
        self.notes: list[str] = []
        self.sights: list[Sight] = []
        self.scripts: list[Script] = []
        self.called: frozenset[str] = frozenset()
        """Words of the line, which may call functions that it sources."""
        self.written: dict[str, str | None] = {}
        """Files that the line writes before it runs them; None if the content is unknown."""
        self.budget = DeletionBudget()
        self.seen: set[str] = set()
        self._makes = False
        self._until = time.monotonic() + SECONDS

    def place(self, folder: Path | None) -> WorkingPlace:
        return WorkingPlace(folder, self.project, self.home)

    def list_notes(self) -> tuple[str, ...]:
        """Without duplicates, and not more than somebody would read."""
        notes = tuple(dict.fromkeys(self.notes))
        more = len(notes) - MOST_NOTES
        return (*notes[:MOST_NOTES], f"and {more} more notes like these") if more > 1 else notes

    # --- shell text

    def walk_line(self, line: str) -> None:
        line = replace_unusable(line.replace(HOLE, ""))
        self.called = frozenset(WORDS.findall(line))
        self.walk(line, self.folder, 0)

    def walk(self, text: str, folder: Path | None, depth: int, arguments: Sequence[str] | None = None) -> None:
        """Follow every command of a shell text; the router reports what cannot be parsed."""
        try:
            commands = read_line(text, self.env, arguments)
        except UnreadableScript:
            return
        before = list[Path | None]()
        for placed in drop_uncalled(commands, self.called):
            words = placed.command.words
            if words and words[0].text == IN:
                before.append(folder)
            elif words and words[0].text == OUT:
                folder = before.pop() if before else folder
            elif words and words[0].text in ("cd", "pushd", "popd", "chdir"):
                folder = self.resolve_folder(placed, folder)
            elif words and words[0].text != "function":
                self.run(words, placed.command, folder, depth)
            self.note_written(placed.command, folder)

    def run(self, words: tuple[Word, ...], command: Command, folder: Path | None, depth: int) -> None:
        """One program with its arguments, and whatever it runs."""
        from moot.edge.command_inspection.programs import follow

        if depth > 4 * DEEPEST or not words or HOLE in words[0].text or UNSET in words[0].text:
            return
        name = os.path.basename(words[0].text) or words[0].text
        self._makes |= name in MAKERS
        deletion = deletion_of(name.lower(), words[1:], command, render_words(words))
        if deletion is not None:
            notes, sights = look_at_deletion(deletion, self.place(folder), self.budget)
            self.notes += notes
            self.sights[:0] = sights  # whatever else is found, this is the most important
        follow(self, name, words, command, folder, depth)

    def resolve_folder(self, placed: PlacedCommand, folder: Path | None) -> Path | None:
        """Where `cd` leads; None if only the running shell knows."""
        words = placed.command.words
        given = [word for word in words[1:] if not word.text.startswith("-") or word.text == "-"]
        if words[0].text == "popd" or (given and (given[0].text == "-" or HOLE in given[0].text)):
            return None
        if not given:
            return self.home
        text = shown_empty = given[0].text
        if UNSET in text:
            shown_empty = UNSET_NAME.sub("", text)
            meant = shown_empty or (str(folder) if given[0].quoted else str(self.home))
            self.notes.append(f"`cd {render_word(text)}`: the variable is not set, so it leads to {meant}")
            text = shown_empty or meant
        path = absolute(text, self.place(folder))
        if path is None:
            return None
        if os.path.isdir(path):
            return Path(os.path.realpath(path))
        if placed.before == "&&" or self._makes:
            return Path(os.path.normpath(path))
        self.notes.append(
            f"`cd {render_word(given[0].text)}`: the folder does not exist, so what follows runs in {folder}"
        )
        return folder

    # --- files written by the line itself

    def note_written(self, command: Command, folder: Path | None) -> None:
        place = self.place(folder)
        for redirect in command.redirects:
            if redirect.sign in (">", ">>", ">|", "&>", "&>>", "<>") and HOLE not in redirect.target.text:
                self._write(absolute(redirect.target.text, place), self._read_echo(command, redirect.sign))
        if command.words and os.path.basename(command.words[0].text) in WRITERS:
            tees = command.words[0].text == "tee" and "-a" not in [word.text for word in command.words]
            said = "\n".join(find_input_texts(command) or []) if tees else ""
            for word in command.words[1:]:
                if not word.text.startswith("-") and HOLE not in word.text:
                    self._write(absolute(word.text, place), said or None)

    def _write(self, path: str | None, said: str | None) -> None:
        if path is not None:
            self.written[os.path.realpath(path)] = said

    def _read_echo(self, command: Command, sign: str) -> str | None:
        name = command.words[0].text if command.words else ""
        if sign not in (">", ">|"):
            return None
        if name in ("echo", "printf") and not any(HOLE in word.text for word in command.words):
            return " ".join(word.text for word in command.words[1:] if word.text not in ("-e", "-n"))
        bodies = [redirect.document.body for redirect in command.redirects if redirect.document is not None]
        return bodies[0] if name == "cat" and len(bodies) == 1 and len(command.words) == 1 else None

    # --- scripts

    def note_unreadable(self, said: str, what: str) -> None:
        """A script whose effect nobody can tell."""
        why = f"`{said}`: {what}"
        self.notes.append(why)
        self.sights.append(Sight("medium", "unclear", said, f"{why}; what it would do cannot be told"))

    def find(self, said: str, word: Word, folder: Path | None) -> Path | None:
        """The path of a named script; noted if only known at run time."""
        if HOLE in word.text or UNSET in word.text:
            self.note_unreadable(said, f"the name of the script, {render_word(word.text)}, is only known when it runs")
            return None
        path = absolute(word.text, self.place(folder))
        if path is None:
            self.note_unreadable(said, "in which folder it runs is only known when it runs")
        return None if path is None else Path(path)

    def read(self, said: str, path: Path, depth: int) -> tuple[str, bool] | None:
        """The text of a script, and whether it is complete; None if already read or unreadable."""
        if HOLE in str(path) or UNSET in str(path):
            self.note_unreadable(said, f"the name of the script, {render_word(str(path))}, is only known when it runs")
            return None
        real = os.path.realpath(path)
        if real in self.seen:
            return None
        if depth >= DEEPEST or len(self.seen) >= MOST_SCRIPTS or time.monotonic() > self._until:
            self.note_unreadable(said, "too many scripts call each other; not all of them were read")
            return None
        self.seen.add(real)
        name = name_from(path, self.folder)
        if real in self.written:
            text = self.written[real]
            if text is None:
                self.note_unreadable(said, f"the script {name} is written by this very command")
            return None if text is None else (text, True)
        try:
            return read_text(path, self.folder)
        except UnreadFile as problem:
            self.note_unreadable(said, f"the script {name} {problem}")
            return None

    def run_script(
        self, said: str, path: Path, kind: str, folder: Path | None, depth: int, arguments: Sequence[str] = ()
    ) -> None:
        """Read a file that would run, judge it, and follow what it runs."""
        found = self.read(said, path, depth)
        if found is None:
            return
        script = Script(name_from(path, self.folder), kind, found[0], path, found[1])
        if kind == "shell":
            text = self.with_own_folder(script, arguments)
            findings = shell_findings(self.env, text, arguments, self.called)
            self.judge(said, script, findings)
            self.walk(text, folder, depth + 1, arguments)
            return
        findings = code_findings(script.text, kind)
        self.judge(said, script, findings)
        for command in dict.fromkeys(finding.command for finding in findings if finding.command):
            self.walk(command, folder, depth + 1)

    def take_in(self, path: Path, kind: str) -> None:
        """Read and judge a file that is only mentioned."""
        try:
            if os.path.realpath(path) in self.seen or len(self.seen) >= MOST_SCRIPTS:
                return
            self.seen.add(os.path.realpath(path))
            text, whole = read_text(path, self.folder)
        except UnreadFile as problem:
            self.notes.append(f"the file {name_from(path, self.folder)} {problem}")
            return
        script = Script(name_from(path, self.folder), kind, text, path, whole)
        findings = shell_findings(self.env, text) if kind == "shell" else code_findings(text, kind)
        self.scripts.append(script)
        self.sights += [finding.sight for finding in findings]

    def with_own_folder(self, script: Script, arguments: Sequence[str]) -> str:
        """The text with the script's own path and arguments filled in where known."""
        own = str(script.path.parent) if script.path is not None else ""
        text = ASKS_FOR_PROGRAM.sub("true", script.text)
        if re.fullmatch(r"[\w./-]+", own):
            text = WORKED_OUT.sub(r"\1", OWN_FOLDER.sub(own, text))
        if all(HOLE not in argument and UNSET not in argument for argument in arguments):
            text = text.replace('"$@"', shlex.join(arguments))
        return text

    def judge(self, said: str, script: Script, findings: Sequence[Finding]) -> None:
        """Keep the findings in a script, and note which line counts."""
        self.scripts.append(script)
        if not script.whole:
            self.note_unreadable(said, f"the script {script.name} is too large; only its beginning was read")
        telling = sorted(
            (f for f in findings if ORDER[f.sight.level] > ORDER["low"]), key=lambda f: -ORDER[f.sight.level]
        )
        runs = f"`{said}` runs {script.name}"
        if not telling:
            lines = len(script.text.splitlines())
            self.notes.append(f"{runs} ({lines} line{'' if lines == 1 else 's'}): nothing in it raises the stakes")
            return
        whys = [
            f"{runs}; {f'line {line}: ' if line else ''}{sight.why or sight.what}" for sight, line, _ in telling[:12]
        ]
        self.notes.append(whys[0])
        self.sights += [
            Sight(f.sight.level, f.sight.group, f.sight.what, why) for f, why in zip(telling, whys, strict=False)
        ]
