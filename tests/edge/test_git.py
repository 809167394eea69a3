"""Git in a checkout that somebody else wrote: nothing that it says is started, nothing outside of it is read."""

import ast
import contextlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Cli
from repositories import ATTRIBUTES, git, repository, trapped

from moot.core.errors import UsageError
from moot.edge.files.sources import read_code
from moot.edge.files.surroundings import git_state
from moot.edge.git import GitError, is_repository, top_of
from moot.edge.git import git as run
from moot.edge.git.worktree import Worktree

SOURCE = Path(__file__).parents[2] / "src" / "moot"


def looked(folder: Path) -> dict[str, Callable[[], object]]:
    """Every way in which a command looks into the checkout that it stands in."""
    return {
        "a diff": lambda: read_code(["."], None, "HEAD", bytes),
        "a folder": lambda: read_code(["."], None, None, bytes),
        "the state": lambda: git_state(folder),
        "a worktree": lambda: Worktree.open(folder, "s", folder.parent / "data").diff(),
        "a log": lambda: run(folder, "log", "-p", "HEAD", "--"),
        "blame": lambda: run(folder, "blame", "HEAD", "--", "app.py"),
        "grep": lambda: run(folder, "grep", "-e", "one", "HEAD"),
        "show": lambda: run(folder, "show", "HEAD:app.py"),
    }


def edited(folder: Path) -> Path:
    """With a change that git must look at to tell, and whose time it does not know."""
    (folder / "app.py").write_text("two\n")
    os.utime(folder / "app.py", (1, 1))
    return folder


WAYS = list(looked(Path()))


@pytest.mark.parametrize("way", WAYS)
def test_a_checkout_starts_nothing_while_it_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\n", **ATTRIBUTES})
    proof = trapped(repo, tmp_path)
    monkeypatch.chdir(edited(repo))
    looked(repo)[way]()
    assert not proof.exists(), proof.read_text()


@pytest.mark.parametrize("way", WAYS)
def test_a_driver_with_an_odd_name_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """`git -c filter.a=b.clean=` sets another key: what stands before the first `=`."""
    repo = repository(tmp_path / "r", {"app.py": "one\n", ".gitattributes": "*.py filter=a=b diff=a=b\n"})
    proof, trap = tmp_path / "ran", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 >> '{proof}'\ncat\n")
    trap.chmod(0o755)
    with (repo / ".git/config").open("a") as file:
        file.write(f'[filter "a=b"]\n clean = {trap}\n smudge = {trap}\n required = true\n')
        file.write(f'[diff "a=b"]\n textconv = {trap}\n command = {trap}\n')
    monkeypatch.chdir(edited(repo))
    looked(repo)[way]()
    assert not proof.exists(), proof.read_text()


@pytest.mark.parametrize("way", WAYS)
def test_settings_that_a_repository_includes_start_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\n", **ATTRIBUTES})
    proof = trapped(repo, tmp_path)
    (repo / ".git/config").rename(repo / ".git/more")
    (repo / ".git/config").write_text('[core]\n bare = false\n[includeIf "gitdir:/**"]\n path = more\n')
    monkeypatch.chdir(edited(repo))
    looked(repo)[way]()
    assert not proof.exists(), proof.read_text()


@pytest.mark.parametrize("way", WAYS)
def test_a_submodule_starts_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    inner = repository(tmp_path / "inner", {"sub.py": "one\n", **ATTRIBUTES})
    repo = repository(tmp_path / "r", {"app.py": "one\n"})
    git(repo, "submodule", "--quiet", "add", str(inner), "sub")
    git(repo, "config", "-f", ".gitmodules", "submodule.sub.ignore", "none")
    git(repo, "commit", "-qam", "a submodule")
    proof, trap = tmp_path / "ran", tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\necho $0 >> '{proof}'\ncat\n")
    trap.chmod(0o755)
    for key in ("filter.evil.clean", "filter.evil.process", "core.fsmonitor"):
        git(repo / "sub", "config", key, str(trap))
    (repo / "sub" / "sub.py").write_text("two\n")
    monkeypatch.chdir(edited(repo))
    looked(repo)[way]()
    assert not proof.exists(), proof.read_text()


@pytest.mark.parametrize("way", WAYS)
def test_what_is_missing_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """A partial clone asks its remote for what it lacks, and the remote may be a command."""
    repo = repository(tmp_path / "r", {"app.py": "one\n"})
    proof = tmp_path / "ran"
    git(repo, "config", "core.repositoryFormatVersion", "1")
    git(repo, "config", "extensions.partialClone", "origin")
    git(repo, "config", "remote.origin.url", f"ext::sh -c touch% {proof}")
    git(repo, "config", "remote.origin.promisor", "true")
    git(repo, "config", "protocol.ext.allow", "always")
    git(repo, "config", "protocol.allow", "always")
    blob = git(repo, "rev-parse", "HEAD:app.py").strip()
    (repo / ".git/objects" / blob[:2] / blob[2:]).unlink()
    monkeypatch.chdir(edited(repo))
    with contextlib.suppress(UsageError):
        looked(repo)[way]()
    assert not proof.exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_checkout_cannot_stand_for_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """`core.worktree` would have the user's own files listed, read, and sent to a model."""
    home = tmp_path / "home"
    repo = repository(home / "r", {"app.py": "one\n"})
    (home / "private.py").write_text("KEY = 'mine'\n")
    git(repo, "config", "core.worktree", str(home))
    monkeypatch.chdir(repo)
    with pytest.raises(UsageError, match=r"core\.worktree"):
        assert looked(repo)[way]() != ""


@pytest.mark.parametrize("way", WAYS)
def test_settings_of_one_worktree_stand_for_no_other_folder_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """A main worktree that passes for a linked one: git heeds `core.worktree` in the settings of that worktree."""
    home = tmp_path / "home"
    repo = repository(home / "r", {"app.py": "one\n"})
    (home / "app.py").write_text("KEY = 'mine'\n")
    git(repo, "config", "extensions.worktreeConfig", "true")
    (repo / ".git/config.worktree").write_text(f"[core]\n worktree = {home}\n")
    (repo / ".git/commondir").write_text(".\n")
    monkeypatch.chdir(repo)
    with pytest.raises(UsageError, match=r"core\.worktree"):
        assert looked(repo)[way]() != ""


def test_a_linked_worktree_stands_for_no_other_folder_either(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\n"})
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    git(tmp_path / "linked", "config", "--worktree", "core.worktree", str(tmp_path))
    with pytest.raises(GitError, match=r"core\.worktree"):
        is_repository(tmp_path / "linked")


def test_a_checkout_of_which_git_cannot_say_where_it_lies_is_refused(tmp_path: Path) -> None:
    """It is not taken for a folder without git either: what git ignores would be read."""
    repo = repository(tmp_path / "r", {"app.py": "one\n"})
    git(repo, "config", "core.worktree", str(tmp_path))
    git(repo, "config", "core.bare", "true")
    with pytest.raises(GitError, match=r"core\.worktree"):
        is_repository(repo)


def test_a_repository_that_keeps_itself_elsewhere_is_read(tmp_path: Path) -> None:
    """Linked worktrees, submodules and `--separate-git-dir`: `core.worktree` is set, and says what is so."""
    inner = repository(tmp_path / "inner", {"sub.py": "one\n"})
    repo = repository(tmp_path / "r", {"app.py": "one\n", "folder/more.py": "one\n"})
    git(repo, "submodule", "--quiet", "add", str(inner), "sub")
    git(repo, "config", "core.worktree", str(repo))
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "kept"), str(tmp_path / "apart"))
    git(tmp_path / "apart", "config", "core.worktree", str(tmp_path / "apart"))
    for folder in (repo, repo / "sub", tmp_path / "linked", tmp_path / "apart"):
        assert top_of(folder) == folder
    assert top_of(repo / "folder") == repo


def test_a_link_in_a_checkout_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one that was committed or added, nor a folder that became a link behind git's back."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key.py").write_text("KEY = 'mine'\n")
    repo = repository(tmp_path / "r", {"app.py": "one\n", "sub/key.py": "theirs\n"})
    for name in ("leak.py", "later.py"):
        (repo / name).symlink_to(tmp_path / "private" / "key.py")
    git(repo, "add", "leak.py")
    (repo / "sub" / "key.py").unlink()
    (repo / "sub").rmdir()
    (repo / "sub").symlink_to(tmp_path / "private")
    monkeypatch.chdir(edited(repo))
    for base in ("HEAD", None):
        assert [file.path for file in read_code(["."], None, base, bytes).code.files] == ["app.py"]


def test_a_repository_that_lies_in_a_folder_of_the_checkout_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bare one can be committed like any other file, with its settings."""
    repo = repository(tmp_path / "r", {"app.py": "one\n"})
    git(tmp_path, "init", "-q", "--bare", str(repo / "docs"))
    monkeypatch.chdir(repo / "docs")
    assert not is_repository(repo / "docs")
    with pytest.raises(GitError):
        run(repo / "docs", "rev-parse", "HEAD")


def test_variables_lead_git_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\n"})
    other = repository(tmp_path / "other", {"app.py": "other\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "nonsense")
    assert top_of(repo) == repo and run(repo, "cat-file", "blob", "HEAD:app.py") == b"one\n"


def test_a_program_named_git_in_the_checkout_is_not_taken_for_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\n"})
    (repo / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    (repo / "git").chmod(0o755)
    monkeypatch.chdir(repo)
    monkeypatch.setenv("PATH", f".::bin:{os.environ['PATH']}")
    assert top_of(repo) == repo and not (tmp_path / "ran").exists()


def test_only_commands_that_were_thought_about_are_run(tmp_path: Path) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\n"})
    for command in ("fetch", "clone", "submodule", "difftool", "st", "-c"):
        with pytest.raises(ValueError, match="is not on the list of safe commands"):
            run(repo, command)


@pytest.mark.parametrize("words", [("scan", "--diff", "HEAD"), ("harden", "--diff", "HEAD")])
def test_the_commands_that_look_at_a_diff_start_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    repo = repository(tmp_path / "r", {"app.py": "one\n", **ATTRIBUTES})
    proof = trapped(repo, tmp_path)
    monkeypatch.chdir(edited(repo))
    ran = cli(*words)
    assert ran.code in (0, 1) and not proof.exists(), ran.err


def test_git_is_started_in_one_place() -> None:
    """Whoever starts git beside `edge/git.py` starts what the checkout says."""
    named = []
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        lists = [node for node in ast.walk(tree) if isinstance(node, ast.List | ast.Tuple) and node.elts]
        firsts = [node.elts[0] for node in lists]
        if any(isinstance(first, ast.Constant) and first.value == "git" for first in firsts):
            named.append(path.relative_to(SOURCE).as_posix())
    started = [name for name in named if not name.startswith(("routing/", "scan/", "edge/command_inspection/"))]
    assert started == ["edge/git/__init__.py"] or started == []
