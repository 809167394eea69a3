"""Which given file an import names, as its language looks it up.

A given file has the name `~folder.file`, so that it is never mistaken for a library: a project's `tools/requests.py`
does not stand in for `requests` elsewhere.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable

from moot.scan.engine.machine import Unit

HERE = "~"
Words = tuple[str, ...]


def name_unit(path: str) -> str:
    """`src/app/db.py` is `~src.app.db`; a package's `__init__.py` or `index.js` has the name of its folder."""
    bare = re.sub(r"\.\w+$", "", path.replace("\\", "/")).strip("/")
    words = [word for word in bare.split("/") if word not in ("", ".", "..")]
    if words and (words[-1] == "__init__" or (words[-1] == "index" and len(words) > 1 and not path.endswith(".py"))):
        words.pop()
    return HERE + (".".join(words) or "__init__")


class ModuleIndex:
    def __init__(self, units: Iterable[Unit], libraries: frozenset[str]) -> None:
        self._libraries = libraries
        self._packages: set[Words] = set()
        """Folders with an `__init__.py`."""
        self._below: dict[str, set[Words]] = defaultdict(set)
        """First word of a dotted name -> the folders in which a file or folder has this name."""
        self._known: set[Words] = set()
        """Files and folders."""
        for unit in units:
            words = _split(unit.name)
            if _is_package(unit):
                self._packages.add(words)
            for end in range(len(words)):
                self._below[words[end]].add(words[:end])
                self._known.add(words[: end + 1])

    def find_root(self, dotted: str, unit: Unit) -> str | None:
        """What stands before an imported name to make it the name of a given file; None for a library's."""
        if unit.module.language != "python" or dotted.startswith(HERE):
            # Go's packages and JavaScript's relative paths are resolved by their own front ends.
            return None
        words = tuple(dotted.split("."))
        folder = _folder_of(unit)
        roots = [root for root in self._below.get(words[0], ()) if self._is_searched(root, folder, words[0])]
        if not roots:
            return None
        best = max(
            roots,
            key=lambda root: (self._count_known(root, words), root not in self._packages, _near(root, folder), root),
        )
        return HERE + "".join(f"{word}." for word in best)

    def _is_searched(self, root: Words, folder: Words, first: str) -> bool:
        """Whether Python may look in this folder for an absolute import of this name: a folder of the path is no
        package. Only a program's own folder comes before the standard library. Another library is in the environment,
        unless its name lies in a folder above. Any other name must come from the given files."""
        if first not in self._libraries:
            return True
        if root in self._packages:
            return False
        return root == folder if first in sys.stdlib_module_names else folder[: len(root)] == root

    def _count_known(self, root: Words, words: Words) -> int:
        return max((end for end in range(1, len(words) + 1) if root + words[:end] in self._known), default=0)


def make_absolute(dotted: str, unit: Unit, index: ModuleIndex) -> str:
    """The full name of what an import names: of a given file with its mark, of a library as written."""
    if not dotted.startswith("."):
        root = index.find_root(dotted, unit)
        return dotted if root is None else root + dotted
    rest = dotted.lstrip(".")
    up = len(dotted) - len(rest)
    package = _split(unit.name) if _is_package(unit) else _folder_of(unit)
    return HERE + ".".join([*package[: len(package) - up + 1], *([rest] if rest else [])])


def _split(name: str) -> Words:
    return tuple(name.removeprefix(HERE).split("."))


def _is_package(unit: Unit) -> bool:
    return unit.module.path.replace("\\", "/").rpartition("/")[2] == "__init__.py"


def _folder_of(unit: Unit) -> Words:
    """The folder of the file: for `pkg/__init__.py` that is `pkg`."""
    words = _split(unit.name)
    return words if _is_package(unit) else words[:-1]


def _near(root: Words, folder: Words) -> int:
    """Folders that both share."""
    return next(
        (n for n, (one, other) in enumerate(zip(root, folder, strict=False)) if one != other),
        min(len(root), len(folder)),
    )
