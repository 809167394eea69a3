"""Sessions with a branch: a commit a version, the checkout untouched, carried on after kill -9; and `moot branch`."""

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest
import repositories
from conftest import Cli
from kit import settled
from repositories import ATTRIBUTES, disturbed, git, moot_run, seen, subjects, trapped
from solve_kit import RIGHT, WORSE, WRONG, code, coder, reflection, reflector, world

import moot
from moot.core.errors import UsageError
from moot.core.types import Code, Limits, SourceFile
from moot.edge.git.branches import GitBranches
from moot.runtime.journal import Journal
from moot.runtime.ports import SessionPorts
from moot.runtime.room import LiveRoom
from moot.runtime.version_commits import SessionCommits
from moot.testing import FakeScanner, FrozenClock, one_file

HERE = Path(__file__).parents[1]
ENTRIES = [*coder(code(WORSE), code(WRONG), code(RIGHT)), *reflector(reflection("Use max."), reflection())]


def repository(folder: Path, **texts: str) -> Path:
    return repositories.repository(folder, {"src/solution.py": WORSE, "notes.txt": "notes\n", **texts})


def solve(cli: Cli, folder: Path, *more: str) -> dict[str, Any]:
    ran = cli(*world(folder, *ENTRIES), *more)
    assert ran.out, ran.err
    return dict(json.loads(ran.out))


def test_each_version_is_a_commit_and_the_checkout_is_untouched(cli: Cli, tmp_path: Path) -> None:
    repo = disturbed(repository(tmp_path / "my rëpo"))
    before = seen(repo)
    result = solve(cli, tmp_path, "--repo", str(repo / "src"), "--branch")
    branch = f"debate/{result['session_id']}"
    assert (result["outcome"], result["branch"]) == ("solved", branch)
    assert subjects(repo, branch) == [
        "Version 3: attempt 3: 4 of 4 passed",
        "Version 2: attempt 2: 3 of 4 passed",
        "Version 1: attempt 1: 0 of 4 passed",
        "first",
    ]
    assert git(repo, "show", f"{branch}:src/solution.py") == RIGHT
    assert git(repo, "show", f"{branch}:notes.txt") == "notes\n"
    assert seen(repo) == before
    assert len(git(repo, "worktree", "list").splitlines()) == 1
    assert list((tmp_path / "data-home/moot/worktrees").iterdir()) == []
    versions = json.loads(cli("show", result["session_id"], "--json").out)["versions"]
    assert [v["metrics"]["commit"] for v in versions][::-1] == git(repo, "rev-list", f"main..{branch}").split()
    told = cli("resume", result["session_id"]).out
    assert f"branch: {branch} (a commit for each version)" in told


def test_without_the_flag_nothing_is_committed_and_nothing_is_said_of_it(cli: Cli, tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    result = solve(cli, tmp_path)
    assert result["branch"] == "" and git(repo, "branch", "--list", "debate/*") == ""
    versions = json.loads(cli("show", result["session_id"], "--json").out)["versions"]
    assert versions and not any("commit" in version["metrics"] for version in versions)


def test_a_given_file_is_committed_where_it_lies_with_its_secrets(cli: Cli, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    repo = repository(tmp_path / "r", **{"src/solution.py": f"KEY = '{secret}'\n{WRONG}"})
    mended = f"KEY = '{secret}'\n{RIGHT}"
    entries = [*coder(code(mended)), *reflector(reflection())]
    ran = cli(*world(tmp_path, *entries), "--file", str(repo / "src/solution.py"), "--repo", str(repo), "--branch")
    result = json.loads(ran.out)
    assert result["outcome"] == "solved" and secret not in ran.out
    assert git(repo, "show", f"{result['branch']}:src/solution.py") == mended
    assert git(repo, "diff", "--name-only", "main", result["branch"]).split() == ["src/solution.py"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--repo", "r"), "give both"),
        (("--repo", "nowhere", "--branch"), "no such folder"),
        (("--repo", "plain", "--branch"), "not inside a git repository"),
    ],
)
def test_a_repository_that_cannot_be_used_is_said_before_anything_is_asked(
    cli: Cli, tmp_path: Path, more: tuple[str, ...], words: str
) -> None:
    repository(tmp_path / "r")
    (tmp_path / "plain").mkdir()
    ran = cli(*world(tmp_path, *ENTRIES), *more)
    assert ran.code == 2 and words in ran.err and json.loads(cli("list", "--json").out) == []


def test_git_that_fails_on_the_way_weakens_the_result_and_does_not_end_it(cli: Cli, tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    (repo / ".git/refs/heads/debate").write_text(git(repo, "rev-parse", "HEAD"))  # no room for debate/<session>
    result = solve(cli, tmp_path, "--repo", str(repo), "--branch")
    assert (result["outcome"], result["branch"]) == ("solved", "")
    assert sum("is not on the branch" in note for note in result["degraded"]) == 3
    resumed = json.loads(cli("resume", result["session_id"], "--json").out)
    assert resumed["degraded"] == result["degraded"]


@pytest.mark.parametrize("step", [7, 11, 20, 21])
def test_killed_it_resumes_to_the_same_commits(tmp_path: Path, step: int) -> None:
    repo = disturbed(repository(tmp_path / "r"))
    before = seen(repo)
    command = [*world(tmp_path, *ENTRIES), "--repo", "r", "--branch"]
    killed = moot_run(tmp_path, *command, kill_after=step)
    assert killed.returncode == -signal.SIGKILL
    assert list((tmp_path / "data/moot/worktrees").iterdir()), "the worktree of a killed session is left"
    (listed,) = json.loads(moot_run(tmp_path, "list", "--json").stdout)
    half = git(repo, "rev-list", f"debate/{listed['id']}").split()
    resumed = moot_run(tmp_path, "resume", listed["id"], "--json")
    assert resumed.returncode == 0, resumed.stderr
    result = settled(resumed.stdout)
    assert len(subjects(repo, result["branch"])) == 4 and result["degraded"] == []
    assert git(repo, "rev-list", result["branch"]).split()[-len(half) :] == half, "no commit was made again"
    assert git(repo, "show", f"{result['branch']}:src/solution.py") == WORSE  # --repo r: the solution is at its top
    assert git(repo, "show", f"{result['branch']}:solution.py") == RIGHT
    assert seen(repo) == before and list((tmp_path / "data/moot/worktrees").iterdir()) == []


def opened(tmp_path: Path, repo: Path, session: str = "s") -> tuple[GitBranches, Any]:
    branches = GitBranches(repo, tmp_path / "trees")
    return branches, branches.open(session)


def test_a_version_that_is_committed_but_not_recorded_is_found_again(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    branches, branch = opened(tmp_path, repo)
    first = branch.commit(one_file("1\n"), "one", 1)
    second = branch.commit(one_file("1\n"), "the same once more", 2)
    assert first != second and len(subjects(repo, "debate/s")) == 3, "one commit a version, changed or not"
    (tmp_path / "trees/s/app.py").write_text("half written when it was killed\n")
    (repo / ".git/worktrees/s/index.lock").write_text("")
    branch = branches.open("s")
    assert branch.commit(one_file("1\n"), "the same once more", 2) == second
    other = branch.commit(one_file("2\n"), "tried again with another reply", 2)
    assert other != second and git(repo, "show", "debate/s:app.py") == "2\n"


def test_a_version_is_its_files_over_the_beginning_and_nothing_of_earlier_ones(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    _, branch = opened(tmp_path, repo)
    files = [SourceFile(path=path, language="python", text="x = 1\n") for path in ("extra.py", "src/solution.py")]
    branch.commit(Code(files=tuple(files)), "two files", 1)
    branch.commit(one_file("y\n", "other.py"), "another file", 2)
    assert git(repo, "diff", "--name-status", "main", "debate/s").split() == ["A", "other.py"]
    git(repo, "merge", "-q", "debate/s")
    assert "+y" in branch.diff() and "+y" in GitBranches(repo, tmp_path / "trees").find("s").diff()


@pytest.mark.parametrize("path", ["../out.py", ".git/hooks/post-commit", "/etc/x.py", "a/../../x.py"])
def test_a_file_of_the_session_cannot_leave_the_worktree(tmp_path: Path, path: str) -> None:
    repo = repository(tmp_path / "r")
    committing = SessionCommits(GitBranches(repo, tmp_path / "trees"), "s")
    commit, problem = committing.commit(one_file("x\n", path), "out", 1)
    assert commit == "" and "not a path inside" in problem
    committing.close()
    assert not (tmp_path / "trees/s").exists() and subjects(repo, "debate/s") == ["first"]


def test_two_rooms_at_once_commit_to_branches_of_their_own(tmp_path: Path) -> None:
    repo = disturbed(repository(tmp_path / "r"))
    before = seen(repo)
    branches = GitBranches(repo, tmp_path / "trees")

    async def session(name: str) -> str:
        ports = SessionPorts(scanner=FakeScanner(), clock=FrozenClock(), branches=branches)
        live = LiveRoom(ports, {}, Journal(name, ports.clock), limits=Limits(), timeout=300.0)
        for number in range(3):
            await live.snapshot(one_file(f"{name} {number}\n"), f"{name} {number}")
        live.close()
        assert live.degraded == ()
        return live.branch

    async def both() -> tuple[str, str]:
        return await asyncio.gather(session("a"), session("b"))

    for branch in asyncio.run(both()):
        name = branch.removeprefix("debate/")
        wanted = [f"Version {n + 1}: {name} {n}" for n in (2, 1, 0)]
        assert subjects(repo, branch) == [*wanted, "first"]
    assert seen(repo) == before and not list((tmp_path / "trees").iterdir())


def test_a_repository_without_commits_gets_a_branch_and_stays_without(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    git(tmp_path / "r", "init", "-q", "-b", "main")
    _, branch = opened(tmp_path, tmp_path / "r")
    branch.commit(one_file("x\n"), "one", 1)
    assert subjects(tmp_path / "r", "debate/s") == ["one", "Empty beginning"] and "+x" in branch.diff()
    assert git(tmp_path / "r", "branch", "--list", "main") == ""
    assert [info.commits for info in GitBranches(tmp_path / "r", tmp_path / "trees").all()] == [1]


def test_a_shallow_clone_and_one_with_a_submodule_work_too(tmp_path: Path) -> None:
    origin = repository(tmp_path / "origin")
    git(origin, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{origin}", "shallow")
    whole = repository(tmp_path / "whole")
    git(whole, "submodule", "--quiet", "add", str(origin), "sub")
    git(whole, "commit", "-qm", "with a submodule")
    for repo in (tmp_path / "shallow", whole):
        before = seen(repo)
        branches, branch = opened(tmp_path / repo.name, repo)
        branch.commit(one_file("x\n"), "one", 1)
        branch.commit(one_file("y\n"), "two", 2)
        assert "+y" in branch.diff() and "sub" not in branch.diff() and branches.all()[0].commits == 2
        branches.close("s")
        assert seen(repo) == before and len(git(repo, "worktree", "list").splitlines()) == 1


def test_no_program_of_the_repository_is_run_from_the_first_commit_to_the_cleaning_up(cli: Cli, tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", **ATTRIBUTES)
    proof = trapped(repo, tmp_path)
    result = solve(cli, tmp_path, "--repo", str(repo), "--branch")
    assert result["degraded"] == [] and result["branch"]
    session = result["session_id"]
    for words in (("list",), ("diff", session), ("history", session, "solution.py"), ("blame", session, "solution.py")):
        assert cli("branch", *words, "--repo", str(repo)).code == 0
    assert cli("branch", "clean", session, "--delete-branch", "--repo", str(repo)).code == 0
    assert not proof.exists(), proof.read_text()


def left_behind(tmp_path: Path) -> Path:
    repo = repository(tmp_path / "r")
    for session, text in (("abc-1", "1\n"), ("abd-2", "2\n")):
        _, branch = opened(tmp_path / "data-home/moot", repo, session)
        branch.commit(one_file(text), "draft", 1)
        branch.commit(one_file(text * 2), "mended", 2)
    (tmp_path / "data-home/moot/trees").rename(tmp_path / "data-home/moot/worktrees")
    return repo


def test_branches_are_listed_shown_and_cleaned_up(cli: Cli, tmp_path: Path) -> None:
    repo = left_behind(tmp_path)
    where = ("--repo", str(repo))
    listed = json.loads(cli("branch", "list", *where, "--json").out)
    assert {(info["session"], info["commits"]) for info in listed} == {("abc-1", 2), ("abd-2", 2)}
    assert all(info["worktree"] for info in listed) and "debate/abc-1" in cli("branch", "list", *where).out
    assert "+1\n+1" in cli("branch", "diff", "abc", *where).out
    last = json.loads(cli("branch", "diff", "abc", "--since", "HEAD~1", *where, "--json").out)
    assert "+1" in last["diff"] and "new file" not in last["diff"]
    assert "Moot: mended" in cli("branch", "history", "abc", "app.py", *where).out
    blamed = json.loads(cli("branch", "blame", "abd", "app.py", "--lines", "2-2", *where, "--json").out)
    assert [(line["line"], line["text"]) for line in blamed] == [(2, "2")]
    assert "Ada" in cli("branch", "blame", "main", "notes.txt", *where).out
    assert cli("branch", "clean", "abc", *where).out == "debate/abc-1: removed the worktree\n"
    assert not (tmp_path / "data-home/moot/worktrees/abc-1").exists() and git(repo, "branch", "--list", "debate/abc-1")
    cleaned = json.loads(cli("branch", "clean", "abc", "abd", "--delete-branch", *where, "--json").out)
    assert [entry["worktree_removed"] for entry in cleaned] == [False, True]
    assert cli("branch", "list", *where).out == "no session branches\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("diff", "ab"), "matches 2 branches"),
        (("diff", "zzz"), "no branch 'zzz'"),
        (("diff", ""), "no branch ''"),
        (("diff", "abc", "--since", "--output=x"), "unknown commit '--output=x'"),
        (("blame", "abc", "../x"), "not a path inside"),
        (("blame", "abc", "app.py", "--lines", "x"), "--lines 'x'"),
        (("clean", "abc", "main", "--delete-branch"), "not the branch of a session"),
    ],
)
def test_a_wrong_word_is_said_and_nothing_is_done(
    cli: Cli, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    repo = left_behind(tmp_path)
    ran = cli("branch", *arguments, "--repo", str(repo))
    assert ran.code == 2 and words in ran.err and not ran.out
    assert (
        len(git(repo, "branch", "--list").splitlines()) == 3 and (tmp_path / "data-home/moot/worktrees/abc-1").exists()
    )


def test_from_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path / "r")
    monkeypatch.chdir(repo)
    world(tmp_path, *ENTRIES)
    given: dict[str, Any] = {"tests": tmp_path / "test_solution.py", "model": f"script:{tmp_path / 'replies.yaml'}"}
    solved = moot.run_sync(moot.solve("Write largest(numbers)", branch=True, store=tmp_path / "s.db", **given))
    assert solved.outcome == "solved" and len(subjects(repo, solved.branch)) == 4
    with pytest.raises(UsageError, match="kept"):
        moot.run_sync(moot.solve("Write largest(numbers)", branch=True, keep=False, **given))
