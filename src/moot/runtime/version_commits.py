"""The versions of a session: numbered, recorded, and committed to its branch if there is a repository."""

import asyncio
import threading
from collections.abc import Mapping

from pydantic import JsonValue

from moot.core.errors import UsageError
from moot.core.ports import Branch, Branches, VersionRow
from moot.core.types import Code, SuiteRun, Value
from moot.runtime.journal import Steps
from moot.runtime.ports import SessionPorts
from moot.text.render import join_files, render_diff


class VersionNumber(Value):
    number: int
    commit: str = ""
    problem: str = ""


class SessionCommits:
    """One session's branch, opened with its first commit. A cancelled session may close it during a commit."""

    def __init__(self, branches: Branches, session: str) -> None:
        self.name = branches.name(session)
        self._branches = branches
        self._session = session
        self._branch: Branch | None = None
        self._one = threading.Lock()

    def commit(self, code: Code, note: str, number: int) -> tuple[str, str]:
        """The commit of this version, and any error: a failed commit does not fail the session."""
        with self._one:
            try:
                if self._branch is None:
                    self._branch = self._branches.open(self._session)
                return self._branch.commit(code, f"Version {number}: {note}", number), ""
            except (UsageError, OSError) as error:
                return "", f"version {number} is not on the branch {self.name}: {error}"

    def close(self) -> None:
        """Remove what only a running session needs; the branch stays."""
        with self._one:
            self._branch = None
            self._branches.close(self._session)


class VersionHistory:
    def __init__(self, ports: SessionPorts, steps: Steps) -> None:
        self._ports = ports
        self._vault = ports.vault
        self._steps = steps
        self._latest: Code | None = None
        self._versions = 0
        self._committing = SessionCommits(ports.branches, steps.journal.session_id) if ports.branches else None
        self.branch = ""
        """The branch that holds this session's versions."""

    async def snapshot(
        self,
        code: Code,
        note: str,
        metrics: Mapping[str, JsonValue] | None = None,
        *,
        turn: int | None = None,
        rate: SuiteRun | None = None,
    ) -> int:
        self._versions += 1
        number, before = self._versions, self._latest
        self._latest = code
        row = VersionRow(
            seq=0,
            number=number,
            language=code.files[0].language if len({f.language for f in code.files}) == 1 else "mixed",
            code=join_files(code),
            diff=render_diff(before, code) if before else "",
            pass_rate=figure(metrics, "pass_rate"),
            turn=turn,
        )
        rated: dict[str, JsonValue] = {}

        async def keep() -> VersionNumber:
            if rate is not None and self._steps.journal.kept:
                rated.update(await asyncio.to_thread(measure_version, code, rate, self._ports))
            commit, problem = await self._commit_version(code, note, number)
            return VersionNumber(number=number, commit=commit, problem=problem)

        def keep_commit(value: VersionNumber, seq: int) -> VersionRow:
            commit: dict[str, JsonValue] = {"commit": value.commit} if value.commit else {}
            stored = {"note": note, **(metrics or {}), **rated, **commit}
            return row.model_copy(update={"seq": seq, "metrics": stored, "quality": figure(stored, "quality")})

        version = await self._steps.run(
            "snapshot",
            self._steps.journal.digest_request(code.model_dump_json(), note),
            VersionNumber,
            keep,
            keep_commit,
        )
        if version.commit and self._committing:
            self.branch = self._committing.name
        if version.problem:
            self._steps.degrade(version.problem)
        return version.number

    def close(self) -> None:
        """After every run: only the record and the branch remain."""
        if self._committing is not None:
            self._committing.close()

    async def _commit_version(self, code: Code, note: str, number: int) -> tuple[str, str]:
        """The version as a commit in the user's own repository, so with the real secrets; and any error."""
        if self._committing is None:
            return "", ""
        reveal, hide = self._vault.reveal, self._vault.hide
        real = code.with_texts({file.path: reveal(file.text) for file in code.files})
        commit, problem = await asyncio.to_thread(self._committing.commit, real, note, number)
        return commit, hide(problem)


def measure_version(code: Code, run: SuiteRun, ports: SessionPorts) -> dict[str, JsonValue]:
    from moot.evidence.trials.rating import rate_quality  # do not load parsers for sessions that measure nothing

    quality = rate_quality(code, ports.scanner.scan(code), ports.linter.lint(code) if ports.linter else None, run)
    return {"quality": quality.score, "parts": quality.model_dump(mode="json")["parts"]}


def figure(metrics: Mapping[str, JsonValue] | None, name: str) -> float | None:
    value = (metrics or {}).get(name)
    return float(value) if isinstance(value, int | float) else None
