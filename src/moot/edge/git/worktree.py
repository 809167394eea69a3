"""Git tool: a session's own branch and worktree beside the user's checkout, which is never touched."""

import contextlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from moot.core.errors import UsageError
from moot.core.ports import BlameLine, FileChange
from moot.edge.git import GitError, git, top_of

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
PREFIX = "debate/"
MARK = "Moot-Version: "
"""The last line of a commit message names the session's version."""
MOST_VERSIONS = 10_000
SESSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}")
FIELD = "\x1f"


@dataclass(frozen=True)
class Worktree:
    """A session's files on the branch `debate/<session>`."""

    repository: Path
    path: Path
    branch: str
    base: str
    """The commit it started from."""

    @classmethod
    def open(cls, repository: Path, session: str, folder: Path, base: str = "HEAD") -> "Worktree":
        """CreateBranch: the session's worktree below `folder`, reused if it exists."""
        if not SESSION.fullmatch(session):
            raise UsageError(f"{session!r} cannot be part of a branch name")
        top = top_of(repository)
        path, branch = folder / session, f"{PREFIX}{session}"
        if (tip := commit_of(top, f"refs/heads/{branch}")) is None:
            tip = _begin(top, branch, base)
        if not (path / ".git").exists():
            folder.mkdir(parents=True, exist_ok=True)
            git(top, "worktree", "add", "--quiet", "--force", "--force", str(path), branch)
        return cls(top, path, branch, find_fork_point(top, tip, base))

    def commit(self, texts: Mapping[str, str | None], message: str, version: int | None = None) -> str:
        """CommitSnapshot: commit these texts (None: deleted). Returns the commit; without changes, the existing one.

        A `version` gets a commit of its own even without changes; the same version again gets the same commit.
        """
        for name, text in texts.items():
            parts = safe_parts(name)
            if text is None:
                self._delete(parts)
                git(self.path, "update-index", "--force-remove", "--", name)
            else:
                self._write(parts, text.encode("utf-8"))
                self._stage(name, text.encode("utf-8"))
        tree = git(self.path, "write-tree").decode().strip()
        head = git(self.path, "rev-parse", "HEAD").decode().strip()
        if version is not None:
            if (there := self._there(version, tree)) is not None:
                return there
            message = f"{message.rstrip()}\n\n{MARK}{version}"
        elif tree == git(self.path, "rev-parse", "HEAD^{tree}").decode().strip():
            return head
        data = message.replace("\0", "").encode("utf-8", "replace")
        made = git(self.path, "commit-tree", tree, "-p", head, "-F", "-", data=data)
        commit = made.decode().strip()
        git(self.path, "update-ref", f"refs/heads/{self.branch}", commit, head)
        return commit

    def list_changes(self) -> list[str]:
        options = ("--name-only", "-z", "--no-renames", self.base, self.branch, "--")
        output = git(self.repository, "diff", *options).decode("utf-8", "surrogateescape")
        return [name for name in output.split("\0") if name]

    def text_at(self, commit: str, name: str) -> str | None:
        """A file at a commit; None if absent."""
        try:
            return git(self.repository, "cat-file", "blob", f"{commit}:{name}").decode("utf-8")
        except GitError:
            return None
        except UnicodeDecodeError:
            raise UsageError(f"{name!r} is not UTF-8 text in {commit[:12]}") from None

    def diff(self, since: str | None = None, until: str | None = None) -> str:
        """CreateDiff: the changes of the branch, or between two of its commits."""
        ends = [
            _resolve_commit(self.repository, since or self.base),
            _resolve_commit(self.repository, until or self.branch),
        ]
        return git(self.repository, "diff", "--find-renames", *ends, "--").decode("utf-8", "replace")

    def history(self, name: str, limit: int = 20) -> list[FileChange]:
        """GetFileHistory: the commits that touched a file, newest first."""
        safe_parts(name)
        form = f"--format=%H{FIELD}%an{FIELD}%aI{FIELD}%s"
        options = ("--follow", f"--max-count={limit}", "-z", form, self.branch, "--", name)
        log = git(self.repository, "log", *options).decode("utf-8", "replace")
        rows = [entry.strip("\n").split(FIELD) for entry in log.split("\0") if entry.strip()]
        return [FileChange(commit=c, author=a, when=datetime.fromisoformat(w), subject=s) for c, a, w, s in rows]

    def blame(self, name: str, first: int = 1, last: int | None = None) -> list[BlameLine]:
        """GetBlame: who wrote which line, by commit."""
        safe_parts(name)
        span = f"-L{first},{last if last is not None else ''}"
        options = ("--line-porcelain", span, self.branch, "--", name)
        return _parse_blame(git(self.repository, "blame", *options).decode("utf-8", "replace"))

    def remove(self, *, branch: bool = False) -> None:
        """Remove the folder, and optionally the branch."""
        with contextlib.suppress(GitError):  # git does not know a half-created worktree
            git(self.repository, "worktree", "remove", "--force", "--force", str(self.path))
        shutil.rmtree(self.path, ignore_errors=True)
        if branch and commit_of(self.repository, f"refs/heads/{self.branch}") is not None:
            git(self.repository, "update-ref", "-d", f"refs/heads/{self.branch}")

    def _there(self, version: int, tree: str) -> str | None:
        """The commit of this version, if it exists with the same content."""
        versions = list_versions(self.repository, self.branch)
        return next((c for c, held, number in versions if (held, number) == (tree, version)), None)

    def _stage(self, name: str, data: bytes) -> None:
        blob = git(self.path, "hash-object", "-w", "--no-filters", "--stdin", data=data).decode().strip()
        mode = "100755" if os.access(self.path / name, os.X_OK) else "100644"
        git(self.path, "update-index", "--add", "--cacheinfo", f"{mode},{blob},{name}")

    def _write(self, parts: Sequence[str], data: bytes) -> None:
        with _Folder(self.path, parts[:-1], make=True) as folder:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
            try:
                handle = os.open(parts[-1], flags, 0o644, dir_fd=folder)
            except OSError as error:
                raise UsageError(f"{'/'.join(parts)!r} cannot be written: {error.strerror}") from None
            with os.fdopen(handle, "wb") as file:
                file.write(data)

    def _delete(self, parts: Sequence[str]) -> None:
        try:
            with _Folder(self.path, parts[:-1], make=False) as folder:
                os.unlink(parts[-1], dir_fd=folder)
        except FileNotFoundError:
            return
        except OSError as error:
            raise UsageError(f"{'/'.join(parts)!r} cannot be deleted: {error.strerror}") from None


class _Folder:
    """A folder accessed without following links: a name inside it cannot refer to a file elsewhere."""

    def __init__(self, root: Path, parts: Sequence[str], *, make: bool) -> None:
        self._root, self._parts, self._make = root, parts, make

    def __enter__(self) -> int:
        self._handle = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in self._parts:
                self._enter(part)
        except BaseException:
            os.close(self._handle)
            raise
        return self._handle

    def _enter(self, part: str) -> None:
        if self._make:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=self._handle)
        try:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=self._handle)
        except NotADirectoryError:
            raise UsageError(f"{'/'.join(self._parts)!r} leads through something that is not a folder") from None
        os.close(self._handle)
        self._handle = inner

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)


def safe_parts(name: str) -> tuple[str, ...]:
    """The parts of a path that stays inside the folder and out of `.git`; anything else is refused."""
    parts = PurePosixPath(name).parts
    inner = [part for part in parts if part.lower().rstrip(". ") in (".git", "git~1") or part == ".."]
    if not parts or name != "/".join(parts) or name.startswith("/") or "\0" in name or "\\" in name or inner:
        raise UsageError(f"{name!r} is not a path inside the worktree")
    return parts


def commit_of(top: Path, name: str) -> str | None:
    try:
        return git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode().strip()
    except GitError:
        return None


def _resolve_commit(top: Path, name: str) -> str:
    if (found := commit_of(top, name)) is None:
        raise UsageError(f"unknown commit {name!r}")
    return found


def list_versions(top: Path, tip: str) -> list[tuple[str, str, int]]:
    """Commit, tree and number of the latest consecutive versions, newest first."""
    options = ("--first-parent", f"--max-count={MOST_VERSIONS}", "-z", f"--format=%H{FIELD}%T{FIELD}%B")
    found = []
    for entry in git(top, "log", *options, tip, "--").decode("utf-8", "replace").split("\0"):
        commit, _, rest = entry.partition(FIELD)
        tree, _, message = rest.partition(FIELD)
        last = message.rstrip().rpartition("\n")[2]
        if not last.startswith(MARK) or not last.removeprefix(MARK).isdecimal():
            break
        found.append((commit.strip(), tree, int(last.removeprefix(MARK))))
    return found


def _begin(top: Path, branch: str, base: str) -> str:
    """The new branch at `base`; a repository without commits gets an empty first one."""
    start = commit_of(top, base)
    if start is None:
        if base != "HEAD" or git(top, "for-each-ref", "--count=1").strip():
            raise UsageError(f"unknown commit {base!r}")
        git(top, "hash-object", "-w", "-t", "tree", "--stdin")
        start = git(top, "commit-tree", EMPTY_TREE, "-m", "Empty beginning").decode().strip()
    git(top, "update-ref", f"refs/heads/{branch}", start, "")
    return start


def find_fork_point(top: Path, tip: str, base: str) -> str:
    """Where the branch left the other history: before its first version, whatever the user merged since; else its merge
    base with `base`, or its first commit."""
    if versions := list_versions(top, tip):
        with contextlib.suppress(GitError):
            return git(top, "rev-parse", "--verify", "--quiet", f"{versions[-1][0]}^").decode().strip()
    with contextlib.suppress(UsageError):
        return git(top, "merge-base", tip, _resolve_commit(top, base)).decode().strip()
    return git(top, "rev-list", "--max-parents=0", tip).decode().split()[0]


def _parse_blame(told: str) -> list[BlameLine]:
    lines: list[BlameLine] = []
    commit, author, number = "", "", 0
    for line in told.split("\n"):
        if line.startswith("\t"):
            lines.append(BlameLine(line=number, commit=commit, author=author, text=line[1:]))
        elif head := re.match(r"([0-9a-f]{40}) \d+ (\d+)", line):
            commit, number = head[1], int(head[2])
        elif line.startswith("author "):
            author = line.removeprefix("author ")
    return lines
