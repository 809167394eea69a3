"""Where files really are, and what they are called to a user."""

import os
from functools import cache
from pathlib import Path

from moot.edge.files.links import is_below


class FileNames:
    """Real paths and displayed names of many files: the folders they share are looked up once. For one pass over them:
    it does not see links that change meanwhile."""

    def __init__(self) -> None:
        self._find_folder = cache(os.path.realpath)
        self._here = os.path.realpath(os.getcwd())
        self._home = os.path.realpath(os.path.expanduser("~"))

    def find_real(self, path: str | Path) -> str:
        """After all links."""
        folder, name = os.path.split(path)
        if name in ("", ".", "..") or os.path.islink(path):
            return os.path.realpath(path)
        return os.path.join(self._find_folder(folder), name)

    def format(self, path: Path) -> str:
        """As the user would name it: relative to the working folder, or to `~`. Prompts hold this name, so it must not
        tell whose home folder it is."""
        real = self.find_real(path)
        if real == self._here:
            return "."
        if is_below(real, self._here):
            return real[len(self._here.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        if real != self._home and is_below(real, self._home):
            return "~/" + real[len(self._home.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        return path.as_posix()


def format_path(path: Path) -> str:
    return FileNames().format(path)


def escape_name(name: str) -> str:
    """Bytes that are not UTF-8 as `\\xff`."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")
