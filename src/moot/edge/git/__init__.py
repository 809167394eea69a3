"""Runs git so that a repository cannot start anything: no hooks, no filters, no programs from its configuration.

Others wrote a checkout and its settings: this is the only place that starts git.
Our own instead of GitPython, which runs git with the repository's configuration.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from moot.core.errors import UsageError

SECONDS = 60.0
MAX_OUTPUT = 50_000_000
QUIET = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.editor": "true",
    "core.askPass": "true",
    "core.alternateRefsCommand": "true",
    "core.sshCommand": "false",
    "core.untrackedCache": "false",
    "commit.gpgSign": "false",
    "credential.helper": "",
    "gpg.program": "false",
    "log.showSignature": "false",
    "diff.external": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "submodule.recurse": "false",
    "protocol.allow": "never",
    "safe.bareRepository": "explicit",
    "advice.detachedHead": "false",
}
"""Settings that would make git start a program or use the network."""
PROGRAMS = ("clean", "smudge", "process", "textconv", "command", "driver")
"""Keys of `filter.*`, `diff.*` and `merge.*` whose value is a program."""
DIFFS = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
"""Submodules are skipped: their own settings are not checked."""
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "diff": DIFFS,
    "log": DIFFS,
    "show": DIFFS,
    "blame": ("--no-textconv",),
    "grep": ("--no-color", "--no-textconv"),
    "status": ("--ignore-submodules=all",),
    **dict.fromkeys(
        (
            *("branch", "cat-file", "check-ignore", "commit-tree", "for-each-ref", "hash-object", "ls-files"),
            *(
                "ls-tree",
                "merge-base",
                "remote",
                "rev-list",
                "rev-parse",
                "update-index",
                "update-ref",
                "worktree",
                "write-tree",
            ),
        ),
        (),
    ),
}
"""The allowed commands, each with options that keep it from starting anything. Think before adding one."""
PEOPLE = {"NAME": "Moot", "EMAIL": "moot@localhost"}


class GitError(UsageError): ...


class ForeignWorktree(GitError):
    """A repository that refers to files elsewhere."""


def git(folder: Path, *arguments: str, data: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
    """The command's output. The repository's configuration is read, but none of its programs is run."""
    command = arguments[0]
    if command not in COMMANDS:
        raise ValueError(f"git {command} is not on the list of safe commands")
    configuration = _configuration(folder)
    if any(key.lower() == "core.worktree" for key, _ in configuration):
        _refuse_elsewhere(folder)
    settings = QUIET | _silence(configuration)
    return _run(
        folder, [command, *COMMANDS[command], *arguments[1:]], data, {**_as_environment(settings), **(env or {})}
    )


def run_bare(folder: Path, arguments: Sequence[str], data: bytes = b"") -> bytes:
    """Git in a folder of our own that is no repository, nor inside one: no configuration but ours is read."""
    env = {"GIT_CEILING_DIRECTORIES": str(folder.resolve().parent), "GIT_CONFIG_GLOBAL": os.devnull}
    return _run(folder, arguments, data, {**_as_environment(QUIET), "GIT_CONFIG_NOSYSTEM": "1", **env})


def is_repository(folder: Path) -> bool:
    try:
        git(folder, "rev-parse", "--git-dir")
    except ForeignWorktree:
        raise
    except GitError:
        return False
    return True


def top_of(repository: Path) -> Path:
    try:
        found = git(repository, "rev-parse", "--show-toplevel").decode("utf-8", "surrogateescape").removesuffix("\n")
    except ForeignWorktree:
        raise
    except GitError as error:
        raise UsageError(f"{repository} is not inside a git repository with files: {error}") from None
    return Path(found)


def _configuration(folder: Path) -> list[tuple[str, str]]:
    listed = _run(folder, ["config", "--list", "-z"], b"", _as_environment(QUIET)).decode("utf-8", "surrogateescape")
    pairs = (entry.partition("\n") for entry in listed.split("\0") if entry)
    return [(key, value) for key, _, value in pairs]


def _silence(configuration: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Override every program that the configuration names for filters and drivers."""
    silenced: dict[str, str] = {}
    for key, _ in configuration:
        section, dot, name = key.partition(".")
        driver, _, last = name.rpartition(".")
        if dot and section.lower() in ("filter", "diff", "merge") and driver and last.lower() in PROGRAMS:
            silenced[key] = ""
            if section.lower() == "filter":
                silenced[f"{section}.{driver}.required"] = "false"
    return silenced


def _refuse_elsewhere(folder: Path) -> None:
    """`core.worktree` must match the actual folder; else a checkout could have the user's own files read as its own.

    Git itself is asked how it resolves the setting, because that depends on other settings and files.
    """
    here = Path(os.path.realpath(folder))
    top = next((each for each in (here, *here.parents) if os.path.lexists(each / ".git")), here)
    try:
        said = _run(folder, ["rev-parse", "--show-toplevel"], b"", _as_environment(QUIET))
    except GitError as error:  # not "no repository": its ignore rules would be lost
        raise ForeignWorktree(f"the repository of {folder} sets core.worktree, so it is not used: {error}") from None
    taken = said.decode("utf-8", "surrogateescape").removesuffix("\n")
    if os.path.realpath(taken) != str(top):
        raise ForeignWorktree(
            f"the repository of {folder} sets core.worktree to another folder, {taken!r}; it is not used"
        )


def _as_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Not as `-c KEY=VALUE`: the name of a driver may contain a `=`, and another key would be set."""
    pairs = list(settings.items())
    numbered = {f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in enumerate(pairs)}
    numbered |= {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(pairs)}
    return {"GIT_CONFIG_COUNT": str(len(pairs)), **numbered}


def _run(folder: Path, arguments: Sequence[str], data: bytes, env: Mapping[str, str]) -> bytes:
    command = [_program(), "--no-optional-locks", "--no-pager", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=SECONDS, env=_environment(env))
    except subprocess.TimeoutExpired:
        raise GitError(f"git gave no answer within {SECONDS:g} s") from None
    except (OSError, ValueError) as error:  # a NUL in an argument is a ValueError
        raise GitError(f"git cannot be run: {error}") from None
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise GitError(f"git failed: {said[:300] or f'status {done.returncode}'}")
    if len(done.stdout) > MAX_OUTPUT:
        raise GitError(f"git printed {len(done.stdout)} bytes, more than the limit of {MAX_OUTPUT}")
    return done.stdout


def _program() -> str:
    """Never one in the current folder, whatever PATH says: that is the checkout."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    found = shutil.which("git", path=os.pathsep.join(each for each in folders if os.path.isabs(each)))
    if found is None:
        raise GitError("git is not installed")
    return found


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, without variables that would redirect git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    people = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in PEOPLE.items()}
    # A repository may allow itself any protocol by name; this variable takes precedence.
    no_network = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0"}
    return {**kept, **people, **no_network, "LC_ALL": "C.UTF-8", **more}
