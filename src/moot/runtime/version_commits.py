"""The versions of a session as commits on its branch: one at a time, whoever is waiting for them."""

import threading

from moot.core.errors import UsageError
from moot.core.ports import Branch, Branches
from moot.core.types import Code


class Committing:
    """One session's branch, opened with its first commit. A cancelled session may close while a commit is made."""

    def __init__(self, branches: Branches, session: str) -> None:
        self.name = branches.name(session)
        self._branches = branches
        self._session = session
        self._branch: Branch | None = None
        self._one = threading.Lock()

    def commit(self, code: Code, note: str, number: int) -> tuple[str, str]:
        """The commit of this version, and what went wrong: a session is worth more than its branch."""
        with self._one:
            try:
                if self._branch is None:
                    self._branch = self._branches.open(self._session)
                return self._branch.commit(code, f"Version {number}: {note}", number), ""
            except (UsageError, OSError) as error:
                return "", f"version {number} is not on the branch {self.name}: {error}"

    def close(self) -> None:
        """Clean up what is no longer needed; the branch stays."""
        with self._one:
            self._branch = None
            self._branches.close(self._session)
