"""The git tool on real repositories, friendly and hostile: nothing of theirs is run, nothing of the user's changes."""

import os
import threading
from pathlib import Path

import pytest
import repositories
from repositories import ATTRIBUTES, trapped
from repositories import git as run

from moot.core.errors import UsageError
from moot.edge.git.worktree import Worktree, safe_parts


def repository(folder: Path, files: dict[str, str] | None = None) -> Path:
    return repositories.repository(folder, files or {"app.py": "one\n", "pkg/b.py": "b\n"})


def state(folder: Path) -> tuple[str, str, str]:
    """What a user sees of his checkout."""
    return run(folder, "status", "--porcelain=v2", "--branch"), run(folder, "diff"), run(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize("name", ["plain", "with space", "ünï-コード"])
def test_milestones_go_to_the_sessions_branch_and_the_checkout_stays_as_it_is(tmp_path: Path, name: str) -> None:
    repo = repository(tmp_path / name)
    (repo / "app.py").write_text("dirty\n")
    (repo / "new ü.txt").write_text("not yet added\n")
    before = state(repo)
    tree = Worktree.open(repo / "pkg", "s-1", tmp_path / "data")
    first = tree.commit({"app.py": "two\n", "sub dir/ü.py": "u\n"}, "proposal\n\nwith a body")
    second = tree.commit({"pkg/b.py": None}, "dropped b")
    assert state(repo) == before
    assert run(repo, "log", "--format=%s", "debate/s-1").split("\n")[:3] == ["dropped b", "proposal", "first"]
    assert (tree.path / "app.py").read_text() == "two\n" and not (tree.path / "pkg/b.py").exists()
    assert not run(tree.path, "status", "--porcelain")
    assert "+two" in tree.diff() and "-one" in tree.diff() and "dirty" not in tree.diff()
    assert "+two" not in tree.diff(first, second) and "-b" in tree.diff(first, second)


def test_history_and_blame_tell_who_wrote_what(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\ntwo\n"})
    tree = Worktree.open(repo, "s", tmp_path / "data")
    made = tree.commit({"app.py": "one\n2\n"}, "second line")
    assert [(c.subject, c.author) for c in tree.history("app.py")] == [("second line", "Moot"), ("first", "Ada")]
    assert [(b.line, b.author, b.text) for b in tree.blame("app.py")] == [(1, "Ada", "one"), (2, "Moot", "2")]
    assert [b.commit for b in tree.blame("app.py", 2, 2)] == [made]


def test_the_same_again_makes_no_commit_and_opens_the_same_worktree(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    tree = Worktree.open(repo, "s", tmp_path / "data")
    first = tree.commit({"app.py": "two\n"}, "x")
    assert tree.commit({"app.py": "two\n"}, "x again") == first
    run(repo, "commit", "-q", "--allow-empty", "-m", "the user goes on")
    again = Worktree.open(repo, "s", tmp_path / "data")
    assert again == tree and "+two" in again.diff()


def test_no_hook_no_filter_and_no_program_of_the_configuration_is_run(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\n", **ATTRIBUTES})
    proof = trapped(repo, tmp_path)
    tree = Worktree.open(repo, "s", tmp_path / "data")
    tree.commit({"app.py": "two\n"}, "x")
    assert tree.diff() and tree.history("app.py") and tree.blame("app.py")
    tree.remove(branch=True)
    assert not proof.exists(), proof.read_text()


@pytest.mark.parametrize(
    "name",
    ["../x", "a/../../x", "/etc/x", "", ".", "./a", "a//b", ".git/config", "a/.git/hooks/x", ".GIT/x", "git~1/x",
     "a\0b", ".git./x", "..", "a\\..\\b", "a/"],
)  # fmt: skip
def test_paths_cannot_leave(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="not a path inside"):
        safe_parts(name)
    tree = Worktree.open(repository(tmp_path / "r"), "s", tmp_path / "data")
    for use in (lambda: tree.commit({name: "x"}, "m"), lambda: tree.history(name), lambda: tree.blame(name)):
        with pytest.raises(UsageError, match="not a path inside"):
            use()


def test_a_link_in_the_repository_leads_nowhere(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("mine\n")
    repo = repository(tmp_path / "r")
    (repo / "out").symlink_to(outside)
    (repo / "file").symlink_to(outside / "f")
    run(repo, "add", "-A")
    run(repo, "commit", "-qm", "links")
    tree = Worktree.open(repo, "s", tmp_path / "data")
    for name in ("out/f", "out/new", "file"):
        with pytest.raises(UsageError):
            tree.commit({name: "theirs\n"}, "m")
    assert (outside / "f").read_text() == "mine\n" and os.listdir(outside) == ["f"]


def test_a_repository_without_commits_and_a_shallow_one_and_one_with_submodules(tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    run(fresh, "init", "-q")
    assert "+x" in _worked(fresh, tmp_path / "d1").diff()

    origin = repository(tmp_path / "origin")
    run(origin, "commit", "-q", "--allow-empty", "-m", "second")
    run(tmp_path, "clone", "-q", "--depth=1", f"file://{origin}", "shallow")
    assert "+x" in _worked(tmp_path / "shallow", tmp_path / "d2").diff()

    whole = repository(tmp_path / "whole")
    run(whole, "submodule", "--quiet", "add", str(origin), "sub")
    run(whole, "commit", "-qm", "with a submodule")
    tree = _worked(whole, tmp_path / "d3")
    assert "+x" in tree.diff() and "sub" not in tree.diff()
    tree.remove(branch=True)
    assert not tree.path.exists()


def _worked(repo: Path, data: Path) -> Worktree:
    tree = Worktree.open(repo, "s", data)
    tree.commit({"x.py": "x\n"}, "x")
    return tree


def test_two_sessions_at_once_and_cleaning_up(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r")
    before = state(repo)
    failures: list[BaseException] = []

    def work(session: str) -> None:
        try:
            tree = Worktree.open(repo, session, tmp_path / "data")
            for number in range(5):
                tree.commit({"app.py": f"{session} {number}\n"}, f"{session} {number}")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b", "c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for name in ("a", "b", "c"):
        tree = Worktree.open(repo, name, tmp_path / "data")
        assert f"+{name} 4" in tree.diff()
        tree.remove()
        assert not tree.path.exists() and run(repo, "rev-parse", "--verify", tree.branch)
        tree.remove(branch=True)
    assert state(repo) == before and len(run(repo, "worktree", "list").splitlines()) == 1
    assert run(repo, "branch", "--list", "debate/*") == ""


@pytest.mark.parametrize("session", ["../x", "a b", "", "-x", "x" * 65, "a..b", "x.lock"])
def test_a_session_id_that_is_no_branch_name_is_refused(tmp_path: Path, session: str) -> None:
    with pytest.raises(UsageError, match="branch name"):
        Worktree.open(repository(tmp_path / "r"), session, tmp_path / "data")


def test_no_repository_an_unknown_base_and_an_unknown_commit_say_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not inside a git repository"):
        Worktree.open(tmp_path, "s", tmp_path / "data")
    repo = repository(tmp_path / "r")
    with pytest.raises(UsageError, match="unknown commit 'nowhere'"):
        Worktree.open(repo, "s", tmp_path / "data", base="nowhere")
    with pytest.raises(UsageError, match="unknown commit '--output=x'"):
        Worktree.open(repo, "t", tmp_path / "data").diff("--output=x")
