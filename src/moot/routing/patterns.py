"""Patterns compiled on first use: a hook must answer at once and cannot afford to compile all of them."""

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from posixpath import normpath


class Lazy:
    __slots__ = ("_compiled", "flags", "text")

    def __init__(self, text: str, flags: int = 0) -> None:
        self.text, self.flags = text, flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def compiled(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self.text, self.flags)
        return self._compiled

    def match(self, text: str, at: int = 0) -> re.Match[str] | None:
        return self.compiled.match(text, at)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self.compiled.fullmatch(text)

    def search(self, text: str) -> re.Match[str] | None:
        return self.compiled.search(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.compiled.finditer(text)

    def findall(self, text: str) -> list[str]:
        return self.compiled.findall(text)

    def sub(self, new: str | Callable[[re.Match[str]], str], text: str, count: int = 0) -> str:
        return self.compiled.sub(new, text, count=count)


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


LONGEST_PATTERN = 1000
"""Nobody writes a longer one; to compile thousands of brackets takes minutes, and what is not looked at may match."""


def can_match(pattern: list[str], sample: str) -> bool:
    """Whether a path with wildcards can match a name: `.claude/s*` and `moot.t*` can.

    `*.json` matches no name without its folder, and no name that begins with a dot.
    """
    depth = sample.count("/") + 1
    if sum(map(len, pattern)) > LONGEST_PATTERN:
        return True
    bare = depth == 1 and pattern[-1].startswith(("*", "?"))
    return len(pattern) >= depth and not bare and fnmatchcase(sample, "/".join(pattern[-depth:]))


def shorten_path(path: str) -> str:
    """Normalise a path and cut its middle: patterns look at both ends, and are slow on long ones."""
    plain = normpath(re.sub(r"/{2,}", "/", path)) if "./" in path or "//" in path else path
    return plain if len(plain) <= LONGEST_PATH else plain[: LONGEST_PATH // 2] + plain[-LONGEST_PATH // 2 :]


LONGEST_PATH = 1000
