"""What a deleting command would delete: its targets on disk, and their size."""

import fnmatch
import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from moot.core.report import count_things
from moot.edge.command_inspection.parser import UNSET, UNSET_NAME, render_word
from moot.routing.answer import Sight
from moot.routing.patterns import names
from moot.routing.script import HOLE, Command, Word

MOST_ENTRIES = 50_000
SECONDS = 0.3
MOST_MATCHES = 10_000
MOST_BRACES = 64
LONGEST_PATH = 4096
PROJECT = "the project itself"
MOST_TARGETS = 20
REMOVERS = names("rm rmdir unlink shred srm wipe trash trash-put rimraf remove-item ri")
WINDOWS = names("del erase rd")
EMPTIERS = names("truncate")
RSYNC_DELETES = re.compile(r"--del(?:ete(?:-\w+)?)?$")
FIND_PRUNES = ("-delete", "-exec", "-execdir", "-ok", "-okdir")
BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


class Deletion(NamedTuple):
    said: str
    targets: tuple[Word, ...]
    extent: str = "all"
    """all; found: only matches; missing: what the source does not have; emptied; untracked; piped."""


def deletion_of(name: str, args: tuple[Word, ...], command: Command, said: str) -> Deletion | None:
    """None for programs that do not delete."""
    texts = [word.text for word in args]
    if name in REMOVERS or name in WINDOWS:
        operands = _operands(args, r"/[A-Za-z]" if name in WINDOWS else "")
        if operands and all(word.text == HOLE for word in operands) and (fed := _finds(command)):
            return Deletion(said, fed, "piped")
        return Deletion(said, operands) if operands else None
    if name == "find" and (place := next((n for n, t in enumerate(texts) if t in FIND_PRUNES), None)) is not None:
        inner = texts[place + 1 : place + 2]
        if texts[place] == "-delete" or (inner and os.path.basename(inner[0]) in REMOVERS):
            filtered = any(text.startswith("-") and text not in ("-depth", "-H", "-L", "-P") for text in texts[:place])
            return Deletion(said, _find_paths(args), "found" if filtered else "all")
    if name == "rsync" and any(RSYNC_DELETES.match(text) for text in texts) and not {"-n", "--dry-run"} & set(texts):
        operands = _operands(args)
        if len(operands) > 1 and not re.match(r"[^/]*:", operands[-1].text):
            return Deletion(said, operands[-1:], "missing")
    if name in EMPTIERS:
        operands = tuple(w for n, w in enumerate(args) if not w.text.startswith("-") and texts[n - 1 : n] not in VALUED)
        return Deletion(said, operands, "emptied") if operands else None
    if name == "git" and "clean" in texts:
        return _git_clean(args, said)
    return None


VALUED = (["-s"], ["--size"], ["-r"], ["--reference"])


def _operands(args: Sequence[Word], skipped: str = "") -> tuple[Word, ...]:
    found, ended = list[Word](), False
    for word in args:
        if not ended and word.text == "--":
            ended = True
        elif (ended or not word.text.startswith("-") or word.text == "-") and not re.fullmatch(skipped, word.text):
            found.append(word)
    return tuple(found)


def _find_paths(args: Sequence[Word]) -> tuple[Word, ...]:
    paths = []
    for word in args:
        if word.text in ("-H", "-L", "-P"):
            continue
        if word.text.startswith(("-", "(", "!")):
            break
        paths.append(word)
    return tuple(paths) or (Word("."),)


def _finds(command: Command) -> tuple[Word, ...]:
    """The folders of a `find` that is piped into the command."""
    feeder = next((c for c in reversed(command.fed_by) if c.words and c.words[0].text in ("find", "fd")), None)
    return _find_paths(feeder.words[1:]) if feeder else ()


def _git_clean(args: tuple[Word, ...], said: str) -> Deletion | None:
    texts = [word.text for word in args]
    options = "".join(text[1:] for text in texts if re.fullmatch(r"-[a-zA-Z]+", text))
    if "n" in options or "--dry-run" in texts or not ("f" in options or "--force" in texts):
        return None
    after = args[texts.index("clean") + 1 :]
    return Deletion(said, _operands(after) or (Word("."),), "untracked")


# --- amount


class DeletionBudget:
    """For everything that one line deletes."""

    def __init__(self, entries: int = MOST_ENTRIES, seconds: float = SECONDS) -> None:
        self.entries, self.seconds, self.until = entries, seconds, 0.0

    def share(self, among: int) -> "DeletionBudget":
        """A part of the rest, so that one large target does not hide the others."""
        self.until = self.until or time.monotonic() + self.seconds
        part = DeletionBudget(max(0, self.entries))
        part.until = time.monotonic() + max(0.0, self.until - time.monotonic()) / max(1, among)
        return part

    def has_budget(self) -> bool:
        self.until = self.until or time.monotonic() + self.seconds
        return self.entries > 0 and time.monotonic() < self.until


class Amount(NamedTuple):
    files: int = 0
    size: int = 0
    whole: bool = True
    """False if there is more than was counted."""
    closed: int = 0
    """Unreadable folders."""

    def __str__(self) -> str:
        if not self.whole and not self.files:
            return "not counted: there was no time left"
        files = f"{self.files:,} file{'' if self.files == 1 else 's'}"
        said = f"{files}, {in_units(self.size)}" if self.whole else f"more than {files}, at least {in_units(self.size)}"
        return said + (f", and {self.closed:,} folders that cannot be read" if self.closed else "")


def in_units(size: float) -> str:
    for unit in UNITS:
        if size < 1000 or unit == UNITS[-1]:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError(size)


def count(paths: Sequence[str], budget: DeletionBudget) -> Amount:
    """Files and bytes below these paths; links are not followed."""
    files = size = closed = 0
    waiting = list(reversed(paths))
    while waiting:
        if not budget.has_budget():
            return Amount(files, size, False, closed)
        path = waiting.pop()
        try:
            found = os.lstat(path)
            if not stat.S_ISDIR(found.st_mode):
                files, size, budget.entries = files + 1, size + found.st_size, budget.entries - 1
                continue
            with os.scandir(path) as entries:
                for number, entry in enumerate(entries):
                    if budget.entries <= 0 or (number % 256 == 255 and not budget.has_budget()):
                        return Amount(files, size, False, closed)
                    budget.entries -= 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            continue  # deleted meanwhile
        except OSError:
            closed += 1
    return Amount(files, size, True, closed)


# --- location


class WorkingPlace(NamedTuple):
    folder: Path | None
    """None: only known at run time."""
    project: Path
    home: Path


def reason_to_keep(path: str, place: WorkingPlace) -> str:
    """Why losing a folder would be serious; empty for others."""
    here = Path(path)
    if path == "/" or here.parent == here:
        return "the whole file system"
    if here == place.home:
        return "the home folder"
    if here == place.project:
        return PROJECT
    if here in place.home.parents:
        return "a folder that holds the home folder"
    if here in place.project.parents:
        return "a folder that holds the project"
    if here.name == ".git":
        return "a repository with all its history"
    return "a part of a repository's .git" if ".git" in here.parts else ""


def spellings(text: str, quoted: bool) -> list[str]:
    """`{a,b}` expanded, as the shell does."""
    found = [text]
    while not quoted and len(found) < MOST_BRACES and any(BRACES.search(one) for one in found):
        at = next(n for n, one in enumerate(found) if BRACES.search(one))
        m = BRACES.search(found[at])
        assert m is not None
        found[at : at + 1] = [found[at][: m.start()] + part + found[at][m.end() :] for part in m[1].split(",")]
    return found[:MOST_BRACES]


def absolute(text: str, place: WorkingPlace) -> str | None:
    """None if the folder is unknown. No system accepts a longer name."""
    text = text[:LONGEST_PATH]
    if text == "~" or text.startswith("~/"):
        text = str(place.home) + text[1:]
    elif text.startswith("~"):
        text = os.path.expanduser(text)
    if text.startswith("/"):
        return text
    return None if place.folder is None else os.path.join(place.folder, text)


def matches(pattern: str, budget: DeletionBudget) -> Iterator[str]:
    """Matches of a pattern, as far as time allows."""
    parts = [part for part in pattern.split("/") if part]
    last = "/" if pattern.endswith("/") else ""
    found = ["/"]
    for part in parts:
        if not re.search(r"[*?\[]", part):
            found = [os.path.join(base, part) for base in found]
            continue
        new = list[str]()
        for base in found:
            if not budget.has_budget() or len(new) >= MOST_MATCHES:
                break
            new += _match_entries(base, part, MOST_MATCHES - len(new))
        found = new
    return (path + last for path in found if os.path.lexists(path))


def _match_entries(base: str, part: str, most: int) -> list[str]:
    found = []
    try:
        with os.scandir(base) as entries:
            for entry in entries:
                if fnmatch.fnmatchcase(entry.name, part) and (part.startswith(".") or not entry.name.startswith(".")):
                    found.append(entry.path)
                    if len(found) >= most:
                        break
    except OSError:
        return found
    return found


def real(path: str) -> str:
    """The path with links on the way resolved; a link that is itself named stays a link."""
    base = os.path.basename(path)
    if base in ("", ".", ".."):
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), base)


# --- messages


def look_at_deletion(deletion: Deletion, place: WorkingPlace, budget: DeletionBudget) -> tuple[list[str], list[Sight]]:
    notes, sights = list[str](), list[Sight]()
    words = [w._replace(text=text) for w in deletion.targets for text in spellings(w.text, w.quoted)]
    for done, word in enumerate(words[:MOST_TARGETS]):
        part = budget.share(len(words) - done)
        said, seen = look_at_target(deletion, word, place, part)
        budget.entries = part.entries
        notes += said
        sights += seen
    if len(words) > MOST_TARGETS:
        notes.append(f"`{deletion.said}` names {count_things(len(words) - MOST_TARGETS, 'more target')}")
    return notes, sights


def look_at_target(
    deletion: Deletion, word: Word, place: WorkingPlace, budget: DeletionBudget
) -> tuple[list[str], list[Sight]]:
    notes, text = list[str](), word.text
    for name in UNSET_NAME.findall(text):
        meant = UNSET_NAME.sub("", text).replace(HOLE, "…")
        means = f"`{render_word(text)}` means `{meant}`" if meant else f"`{render_word(text)}` names nothing"
        notes.append(f"`${name}` is not set: in `{deletion.said}`, {means}")
    text = UNSET_NAME.sub("", text) if UNSET in text else text
    if HOLE in text:
        return [*notes, *_unknown(deletion, text)[0]], _unknown(deletion, text)[1]
    if not text:
        return notes, []
    path = absolute(text, place)
    if path is None:
        return [*notes, f"`{deletion.said}`: in which folder it deletes `{text}` is only known when it runs"], []
    said, seen = _look_at_path(deletion, text, path, word.glob, place, budget)
    return [*notes, *said], seen


def _unknown(deletion: Deletion, text: str) -> tuple[list[str], list[Sight]]:
    """A name that the shell builds at run time; if empty, it might mean everything."""
    empty = text.replace(HOLE, "")
    what = render_word(text)
    if text.startswith(HOLE) and re.fullmatch(r"/+(?:[*.]*|\w+/?\**)", empty):
        why = f"`{deletion.said}` deletes `{empty}` if what stands before it is empty"
        return [f"{why}; it is only known when it runs"], [Sight("high", "destructive", deletion.said, why)]
    return [f"`{deletion.said}`: what `{what}` stands for is only known when it runs"], []


def _look_at_path(
    deletion: Deletion, text: str, path: str, glob: bool, place: WorkingPlace, budget: DeletionBudget
) -> tuple[list[str], list[Sight]]:
    glob = glob and bool(re.search(r"[*?\[]", text))
    found = [real(one) for one in matches(path, budget)] if glob else [real(path)]
    base, last = os.path.split(path.rstrip("/"))
    everything = glob and last in ("*", ".*", "*.*", "**")
    target = os.path.realpath(base) if everything else found[0] if len(found) == 1 else ""
    grave = reason_to_keep(target, place) if target and deletion.extent != "emptied" else ""
    sights = list[Sight]()
    if grave and deletion.extent in ("all", "missing", "untracked") and not os.path.islink(target):
        within = "everything in " if everything else ""
        why = f"`{deletion.said}` deletes {within}{target}: {grave}"
        if deletion.extent == "all":
            sights.append(Sight("high", "destructive", deletion.said, why))
    if glob and not found and not budget.has_budget():
        return [f"what {path} stands for was not looked up: there was no time left"], sights
    if not any(os.path.lexists(one) for one in found):
        return [f"nothing is there to delete at {path if glob else found[0]}"], sights
    where = target if target and not everything else f"everything in {target}" if everything else path
    where += f", {len(found):,} entries" if glob and len(found) > 1 else ""
    if len(found) == 1 and os.path.islink(found[0]):
        return [f"deletes the link {found[0]}, not {os.path.realpath(found[0])}, to which it points"], sights
    amount = count(found, budget)
    return [_sentence(deletion, where, amount, grave, outside(found, place))], sights


def outside(found: Sequence[str], place: WorkingPlace) -> bool:
    return any(not Path(one).is_relative_to(place.project) for one in found)


def _sentence(deletion: Deletion, where: str, amount: Amount, grave: str, away: bool) -> str:
    match deletion.extent:
        case "found" | "piped":
            said = f"deletes what it finds in {where} (at most {amount})"
        case "missing":
            said = f"deletes in {where} what the source does not have (there: {amount})"
        case "untracked":
            said = f"deletes what git does not track in {where} (at most {amount})"
        case "emptied":
            said = f"cuts off {where} ({amount})"
        case _:
            said = f"deletes {where} ({amount})"
    some = deletion.extent in ("found", "piped", "untracked")
    if grave and not (some and grave == PROJECT):
        return f"{said}; it is {grave}"
    return f"{said}; it lies outside the project" if away else said
