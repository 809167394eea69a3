"""Finds fetched Go modules: only those a project names are shown to its tests."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

MOST = 1000
"""Upper limit: a command line has an end."""
SUM = re.compile(r"^(\S+) (v[^\s/]+)(/go\.mod)? h1:\S+$", re.MULTILINE)
NAME = re.compile(r"[A-Za-z0-9][\w.~/-]*")


def module_cache(env: Mapping[str, str]) -> str:
    first = env.get("GOPATH", "").split(os.pathsep)[0] or os.path.join(os.path.expanduser("~"), "go")
    place = Path(env.get("GOMODCACHE") or os.path.join(first, "pkg", "mod"))
    return str(place) if (place / "cache" / "download").is_dir() else ""


def find_modules(cache: str, texts: Mapping[str, str]) -> dict[Path, Path]:
    """The folders of the modules in `go.sum`, if present."""
    if not cache:
        return {}
    sums = "\n".join(text for path, text in texts.items() if path == "go.sum" or path.endswith("/go.sum"))
    wanted = dict.fromkeys((name, version) for name, version, _ in SUM.findall(sums))
    found: dict[Path, Path] = {}
    for name, version in list(wanted)[:MOST]:
        if not NAME.fullmatch(name) or ".." in name or not NAME.fullmatch(version.removeprefix("v").replace("+", "-")):
            continue
        spot = Path(cache) / f"{_escape(name)}@{_escape(version)}"
        kept = Path(cache) / "cache" / "download" / _escape(name) / "@v"
        found |= {folder: folder for folder in (spot, kept) if folder.is_dir() and folder.resolve() == folder}
    return found


def _escape(name: str) -> str:
    """As on disk: capital letters are escaped."""
    return re.sub(r"[A-Z]", lambda letter: f"!{letter[0].lower()}", name)
