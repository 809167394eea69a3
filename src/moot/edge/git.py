"""Git, run so that nothing a repository says is started: no hooks, no filters, no programs of its configuration."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from moot.errors import UsageError

SECONDS = 60.0
MAX_OUTPUT = 50_000_000
QUIET = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.alternateRefsCommand": "true",
    "core.sshCommand": "false",
    "core.untrackedCache": "false",
    "commit.gpgSign": "false",
    "log.showSignature": "false",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "protocol.allow": "never",
    "advice.detachedHead": "false",
}
"""Settings that would have git start a program, or reach for the network."""
PROGRAMS = ("clean", "smudge", "process", "textconv", "command", "driver")
"""Keys of `filter.*`, `diff.*` and `merge.*` whose value is a program."""
PEOPLE = {"NAME": "Moot", "EMAIL": "moot@localhost"}


class GitError(UsageError):
    """Git refused; the message says what it said."""


def git(folder: Path, *arguments: str, data: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
    """What the command prints. A repository's own configuration is read, but none of its programs is run."""
    return _run(folder, [*_settings(programs(folder)), *arguments], data, env or {})


def programs(folder: Path) -> dict[str, str]:
    """Every program the configuration names for filters and drivers, each with nothing in its place."""
    listed = _run(folder, ["config", "--list", "--name-only", "-z"], b"", {}).decode("utf-8", "surrogateescape")
    silenced: dict[str, str] = {}
    for key in listed.split("\0"):
        section, dot, name = key.partition(".")
        driver, _, last = name.rpartition(".")
        if dot and section.lower() in ("filter", "diff", "merge") and driver and last.lower() in PROGRAMS:
            silenced[key] = ""
            if section.lower() == "filter":
                silenced[f"{section}.{driver}.required"] = "false"
    return silenced


def is_repository(folder: Path) -> bool:
    try:
        _run(folder, ["rev-parse", "--git-dir"], b"", {})
    except GitError:
        return False
    return True


def _settings(more: Mapping[str, str]) -> list[str]:
    return [word for key, value in {**QUIET, **more}.items() for word in ("-c", f"{key}={value}")]


def _run(folder: Path, arguments: Sequence[str], data: bytes, env: Mapping[str, str]) -> bytes:
    command = ["git", "--no-optional-locks", "--no-pager", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, env=_environment(env))
    except FileNotFoundError:
        raise GitError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git gave no answer within {SECONDS:g} s") from None
    except (OSError, ValueError) as error:  # a NUL in an argument is a ValueError
        raise GitError(f"git cannot be run: {error}") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git failed: {said[:300] or f'status {done.returncode}'}")
    if len(done.stdout) > MAX_OUTPUT:
        raise GitError(f"git printed {len(done.stdout)} bytes, more than the {MAX_OUTPUT} that are read")
    return done.stdout


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """The caller's, without the variables that would point git elsewhere or at other programs."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    people = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PEOPLE.items()}
    return {**kept, **people, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8", **more}
