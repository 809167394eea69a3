"""Moot's own files (state, settings, program), and commands that reach them by a detour: links, unpacking, copying,
patches, or as a library."""

import os
import re
from collections.abc import Mapping

from moot.routing.answer import Sight
from moot.routing.patterns import Lazy
from moot.routing.secrets import place_sight

PROGRAM = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = Lazy(r"[^\s;|&<>()\"'`=]+")
WHOLE_FOLDERS = Lazy(r"(?:^|[;&|(\s])(?:cp|mv|rsync|ln|tar|bsdtar|unzip|7z|cpio|ditto|stow)\s")
"""Programs that can write many files into a folder, or replace it."""
MANY = Lazy(
    r"\s-\w*[aRr]\b|\s--(?:recursive|archive)\b|(?:^|[;&|(\s])(?:rsync|tar|bsdtar|unzip|7z|cpio|ditto|stow|ln)\s"
)
PATCHERS = Lazy(r"(?:^|[;&|(\s])(?:patch|git\s+(?:\S+\s+)*?(?:apply|am))\b")
PATCHED = re.compile(rb"^(?:\+\+\+|---|rename to|copy to) (?:[ab]/)?([^\t\r\n]+)", re.MULTILINE)
AS_LIBRARY = Lazy(
    r"python[\d.]*\b.*(?:\b(?:import|from)\s+moot\b|(?:__import__|import_module)\(\s*['\"]moot)", re.DOTALL
)
REMOVED = Lazy(r"\b(?:uv|pip\d?|pipx|poetry|pdm|conda|rye)\b[^;|&]*\b(?:uninstall|remove)\b[^;|&]*\bmoot\b")
MOST_WORDS = 500
LARGEST_PATCH = 2_000_000


def own_folders(env: Mapping[str, str]) -> list[str]:
    from moot.edge.files.memory import config_folder, data_folder

    return [str(data_folder(env)), str(config_folder(env)), PROGRAM]


def is_own(path: str, env: Mapping[str, str]) -> bool:
    """Whether this resolved path lies in a folder of Moot."""
    return any(_lies_in(path, os.path.realpath(each)) for each in own_folders(env))


def own_sights(line: str, folder: str, env: Mapping[str, str]) -> list[Sight]:
    """What a writing command would do to the guard, by the paths its words resolve to."""
    if AS_LIBRARY.search(line) or REMOVED.search(line):
        return [Sight("high", "guard", line[:80], "it changes Moot, which judges this, from the inside")]
    here = os.path.realpath(folder)
    places = [here, *(_resolve_word(word, here, env) for word in _words(line))]
    if PATCHERS.search(line):
        places += [_resolve_word(name, here, env) for place in places[1:] for name in _read_patch(place)]
    kept = [each for each in own_folders(env) if each != PROGRAM or "site-packages" in PROGRAM]
    real = [os.path.realpath(each) for each in kept]
    if any(_lies_in(place, each) for place in places for each in real):
        return [Sight("high", "guard", line[:80], "it works in a folder that belongs to Moot itself")]
    if found := next((s for place in places[1:] if (s := place_sight(place)).group == "guard"), None):
        return [found]
    wide = (os.path.realpath(os.path.expanduser("~")), "/")
    holders = [place for place in places[1:] if place not in wide or MANY.search(line)]
    if WHOLE_FOLDERS.search(line) and any(_lies_in(each, place) for place in holders for each in real[:2]):
        return [Sight("high", "guard", line[:80], "it fills or renames a folder that holds Moot's own")]
    return []


def _lies_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder.rstrip('/')}/")


def _words(line: str) -> list[str]:
    """Words that may be paths; unlikely ones only if whole folders are moved."""
    every = WHOLE_FOLDERS.search(line) is not None
    found = dict.fromkeys(word for word in WORDS.findall(line) if every or set(word) & set("/~.$"))
    return [word for word in list(found)[:MOST_WORDS] if len(word) <= 4096]


def _resolve_word(word: str, folder: str, env: Mapping[str, str]) -> str:
    """The path of a word, with links resolved."""
    text = re.sub(r"\$\{?(\w+)\}?", lambda name: env.get(name[1], name[0]), word)
    try:
        return os.path.realpath(os.path.join(folder, os.path.expanduser(text)))
    except (OSError, ValueError):
        return folder


def _read_patch(path: str) -> list[str]:
    """The files that a patch changes; empty if it cannot be read."""
    if not os.path.isfile(path):
        return []
    try:
        with open(path, "rb") as file:
            return [name.decode("utf-8", "replace") for name in PATCHED.findall(file.read(LARGEST_PATCH))]
    except OSError:
        return []
