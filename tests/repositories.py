"""What tests of git share: repositories, a checkout in the middle of somebody's work, and one full of traps."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import kit

HOOKS = ("post-checkout", "pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change")
PROGRAMS = (
    "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.evil.command",
    "diff.external", "core.fsmonitor", "core.pager", "gpg.program", "core.editor", "core.sshCommand",
    "merge.evil.driver", "credential.helper", "core.alternateRefsCommand",
)  # fmt: skip
SWITCHES = ("filter.evil.required", "commit.gpgSign", "log.showSignature", "submodule.recurse")
ATTRIBUTES = {".gitattributes": "*.py filter=evil diff=evil merge=evil\n"}
"""With these in the repository, its filters and drivers are for every Python file."""


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"]
    return subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit of these files."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def disturbed(repo: Path) -> Path:
    """A checkout in the middle of somebody's work: changed, staged, and untracked files."""
    (repo / "notes.txt").write_text("changed\n")
    (repo / "staged.txt").write_text("staged\n")
    git(repo, "add", "staged.txt")
    (repo / "src/solution.py").write_text("# mine, half done\n")
    (repo / "ünträcked file").write_text("mine\n")
    return repo


def seen(repo: Path) -> tuple[str, ...]:
    """All that a user sees of his checkout."""
    texts = [path.read_text() for path in sorted(repo.rglob("*")) if path.is_file() and ".git" not in path.parts]
    told = [
        git(repo, *words)
        for words in (("status", "--porcelain=v2", "--branch"), ("diff", "--cached"), ("stash", "list"))
    ]
    return (*told, git(repo, "rev-parse", "HEAD"), *texts)


def subjects(repo: Path, branch: str) -> list[str]:
    return git(repo, "log", "--format=%s", branch).splitlines()


def trapped(repo: Path, folder: Path) -> Path:
    """Every hook, filter, driver and program of its configuration leaves a line in the file that is given back."""
    proof, trap = folder / "ran", folder / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 >> '{proof}'\ncat\n")
    trap.chmod(0o755)
    for hook in HOOKS:
        (repo / ".git/hooks" / hook).write_text(trap.read_text())
        (repo / ".git/hooks" / hook).chmod(0o755)
    for key in PROGRAMS:
        git(repo, "config", key, str(trap))
    for key in SWITCHES:
        git(repo, "config", key, "true")
    return proof


def moot_run(folder: Path, *arguments: str, kill_after: int = 0) -> subprocess.CompletedProcess[str]:
    """`moot` in a process of its own, with worktrees below `data`; killed -9 after so many writes, if asked."""
    return kit.run_moot(folder, *arguments, kill_after=kill_after, XDG_DATA_HOME=str(folder / "data"))
