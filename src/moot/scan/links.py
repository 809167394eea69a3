"""Which files of a project refer to which, by their text alone; values flow only between those."""

import posixpath
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence

from moot.core.types import SourceFile

FROM = re.compile(r"(?:^|[;:])[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]+)", re.MULTILINE)
HEAD = re.compile(r"from[ \t]+[.\w]+[ \t]+import")
IMPORT = re.compile(r"(?:^|[;:])[ \t]*import[ \t]+([^\n#;]+)", re.MULTILINE)
SPECIFIER = re.compile(r"\b(?:from|import|require)\b[\s(]*(['\"`])([^'\"`\n]{1,300})\1")
AS = r"(?:[ \t]+as[ \t]+\w+)?"
MEMBER, MODULE = re.compile(rf"(\w+){AS}"), re.compile(rf"([\w.]+){AS}")
ENDING = re.compile(r"\.(?:pyw?|[cm]?[jt]sx?|go)$")
PACKAGE_FILES = ("__init__", "index")


def links(files: Sequence[SourceFile]) -> list[tuple[int, int]]:
    """Pairs of indices: referring file, referenced file. In Go, the files of a folder are one package."""
    known = _Known(files)
    found: dict[tuple[int, int], None] = {}
    first_of: dict[str, int] = {}
    for here, file in enumerate(files):
        if file.language == "go":
            there = first_of.setdefault(posixpath.dirname(_use_slashes(file.path)), here)
            targets = [] if there == here else [there]
        else:
            names = dict.fromkeys(_python(file) if file.language == "python" else _scripts(file))
            targets = [place for name in names for place in known.find_nearest(name, here)]
        found.update(((here, there), None) for there in targets if there != here)
    return list(found)


class _Known:
    """Files by every name they can be imported as: `src/app/db.py` is `src/app/db`, `app/db` or `db`."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self.folders: list[tuple[str, ...]] = []
        self.places: dict[str, list[int]] = defaultdict(list)
        for place, words in enumerate(_words(file) for file in files):
            self.folders.append(words[:-1])
            for start in range(len(words)):
                self.places["/".join(words[start:])].append(place)

    def find_nearest(self, name: str, here: int) -> list[int]:
        """The nearest file of this name: the one that shares the most folders."""
        if name not in self.places:  # most are of libraries
            return []
        found = [place for place in self.places[name] if place != here]
        nearest = min(found, key=lambda place: (-self._count_shared(place, here), place), default=None)
        if nearest is None:
            return []
        return [] if name in sys.stdlib_module_names and self.folders[nearest] != self.folders[here] else [nearest]

    def _count_shared(self, one: int, other: int) -> int:
        return len(posixpath.commonprefix([self.folders[one], self.folders[other]]))


def _use_slashes(path: str) -> str:
    return path.replace("\\", "/")


def _split(path: str) -> tuple[str, ...]:
    return tuple(word for word in path.split("/") if word not in ("", ".", ".."))


def _words(file: SourceFile) -> tuple[str, ...]:
    words = _split(ENDING.sub("", _use_slashes(file.path)))
    return words[:-1] if len(words) > 1 and words[-1] in PACKAGE_FILES else words


def _python(file: SourceFile) -> Iterator[str]:
    folder = _split(posixpath.dirname(_use_slashes(file.path)))
    for module, members in _froms(file.text):
        base = _absolute(module, folder)
        yield base
        above = f"{base}/" if base else ""
        for member in MEMBER.findall(members):
            yield above + member
    for modules in (modules for line in _list_import_lines(file.text) for modules in IMPORT.findall(line)):
        for module in MODULE.findall(modules):
            name = module.replace(".", "/")
            while name:
                yield name
                name = name.rpartition("/")[0]


def _list_import_lines(text: str) -> Iterator[str]:
    at = text.find("import")
    while at >= 0:
        end = text.find("\n", at)
        line = text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]
        yield line
        at = text.find("import", end) if end >= 0 else -1


def _froms(text: str) -> Iterator[tuple[str, str]]:
    """All matches of `FROM`. Searching for the keyword first is much faster."""
    at = 0
    while head := HEAD.search(text, at):
        found = FROM.search(text, max(at, text.rfind("\n", 0, head.start()) + 1))
        if found is None:
            return
        yield found[1], found[2]
        at = found.end()


def _absolute(module: str, folder: tuple[str, ...]) -> str:
    rest = module.lstrip(".")
    up = len(module) - len(rest)
    return "/".join((*(folder[: len(folder) - up + 1] if up else ()), *filter(None, rest.split("."))))


def _scripts(file: SourceFile) -> Iterator[str]:
    for _, name in SPECIFIER.findall(file.text):
        if name.startswith("."):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(_use_slashes(file.path)), name))
        else:
            place = name.removeprefix("@/").removeprefix("~/").removeprefix("node:")
        words = _split(ENDING.sub("", place))
        yield "/".join(words[:-1] if len(words) > 1 and words[-1] in PACKAGE_FILES else words)
