"""Session branches in one repository: one commit per version, a worktree while the session runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.ports import BlameLine, FileChange
from moot.core.types import Code, Value
from moot.edge.git import GitError, git, top_of
from moot.edge.git.worktree import PREFIX, Worktree, commit_of, find_fork_point


class BranchInfo(Value):
    session: str
    branch: str
    commit: str
    base: str
    commits: int
    worktree: str = ""
    """The folder that a killed session left behind, or that a running one uses."""


@dataclass(frozen=True)
class SessionBranch:
    """One branch, addressed by the session's names for its files."""

    tree: Worktree
    places: Mapping[str, str]

    def commit(self, code: Code, message: str, number: int) -> str:
        """Commit exactly these files on top of the branch's base; the same version again is the same commit."""
        texts: dict[str, str | None] = {self._place(file.path): file.text for file in code.files}
        for name in self.tree.list_changes():
            texts.setdefault(name, self.tree.text_at(self.tree.base, name))
        return self.tree.commit(texts, message, number)

    def diff(self) -> str:
        return self.tree.diff()

    def history(self, path: str, limit: int = 20) -> list[FileChange]:
        return self.tree.history(self._place(path), limit)

    def blame(self, path: str) -> list[BlameLine]:
        return self.tree.blame(self._place(path))

    def _place(self, path: str) -> str:
        return self.places.get(path, path)


@dataclass(frozen=True)
class GitBranches:
    """Opens and closes branches; `folder` holds the worktrees, outside of the repository."""

    repository: Path
    folder: Path
    places: Mapping[str, str] = field(default_factory=dict)
    """Path of a file in the session -> its path in the repository."""

    def name(self, session: str) -> str:
        return PREFIX + session

    def open(self, session: str) -> SessionBranch:
        self.close(session)  # remove what a killed session left behind
        return SessionBranch(Worktree.open(self.repository, session, self.folder), self.places)

    def close(self, session: str) -> None:
        if (self.folder / session).exists():
            Worktree(top_of(self.repository), self.folder / session, self.name(session), "").remove()

    def all(self) -> list[BranchInfo]:
        """Every session's branch, newest first."""
        top = top_of(self.repository)
        form = "--format=%(refname:lstrip=2)%00%(objectname)"
        refs = git(top, "for-each-ref", "--sort=-committerdate", form, f"refs/heads/{PREFIX}").decode()
        return [self._info(top, *line.split("\0")) for line in refs.splitlines() if line]

    def find(self, word: str) -> Worktree:
        """By session id or prefix, else any branch by name."""
        top = top_of(self.repository)
        names = [info.session for info in self.all() if info.session.startswith(word.removeprefix(PREFIX))]
        chosen = [name for name in names if name == word.removeprefix(PREFIX)] or names
        if word and len(chosen) > 1:
            raise UsageError(f"{word!r} matches {len(chosen)} branches: {', '.join(sorted(chosen)[:5])}")
        branch = f"{PREFIX}{chosen[0]}" if word and chosen else word
        if not branch or (tip := commit_of(top, f"refs/heads/{branch}")) is None:
            raise UsageError(f"{self.repository} has no branch {word!r}; `moot branch list` shows those of sessions")
        return Worktree(top, self.folder / branch.removeprefix(PREFIX), branch, find_fork_point(top, tip, "HEAD"))

    def _info(self, top: Path, branch: str, tip: str) -> BranchInfo:
        session = branch.removeprefix(PREFIX)
        try:
            base = find_fork_point(top, tip, "HEAD")
            count = int(git(top, "rev-list", "--count", f"{base}..{tip}").decode())
        except GitError:  # an unrelated history
            base, count = "", 0
        folder = self.folder / session
        return BranchInfo(
            session=session,
            branch=branch,
            commit=tip,
            base=base,
            commits=count,
            worktree=str(folder) if folder.exists() else "",
        )
