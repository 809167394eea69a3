"""`moot branch`: the branches that sessions left in a repository."""

import re
from typing import Annotated

import typer
from pydantic import JsonValue
from rich.table import Table

from moot.core.errors import UsageError
from moot.edge.git.worktree import PREFIX, Worktree
from moot.surfaces.cli.options import JsonFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.session.branch import branches_in

EXAMPLES = """Examples:

  moot solve "Fix it" --file slug.py --tests tests/ --repo . --branch

  moot branch list

  moot branch diff 3f2a                       what this session changes

  moot branch diff 3f2a --since HEAD~1        only its last step

  moot branch blame 3f2a slug.py --lines 10-20

  moot branch clean 3f2a --delete-branch      discard it
"""
SHORT = 10
branch_app = typer.Typer(help="The branches that sessions left in a repository.", no_args_is_help=True, epilog=EXAMPLES)
RepoFlag = Annotated[str | None, typer.Option("--repo", help="Any folder of the repository; default: the current one.")]
SessionArgument = Annotated[str, typer.Argument(help="Session id, a unique prefix, or a branch name.")]
FileArgument = Annotated[str, typer.Argument(help="Path of a file in the repository.")]


def register(app: typer.Typer) -> None:
    app.add_typer(branch_app, name="branch")


@branch_app.command("list")
def list_command(repo: RepoFlag = None, json_output: JsonFlag = False) -> None:
    """List the branches of sessions, the newest first."""
    found = branches_in(repo).all()
    if json_output:
        return print_json([info.model_dump(mode="json") for info in found])
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("branch", "commits", "last", "left behind"):
        table.add_column(column, overflow="fold")
    for info in found:
        table.add_row(plain(info.branch), str(info.commits), info.commit[:SHORT], plain(info.worktree))
    out().print(table if found else plain("no session branches"))


@branch_app.command("diff")
def diff_command(
    session: SessionArgument,
    since: Annotated[
        str | None, typer.Option("--since", help="Start after this commit; HEAD is the tip of the branch.")
    ] = None,
    until: Annotated[str | None, typer.Option("--until", help="Up to this commit.")] = None,
    repo: RepoFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Show what a session's branch changes since it began, or between two commits."""
    tree = branches_in(repo).find(session)
    text = tree.diff(_commit(tree, since), _commit(tree, until))
    if json_output:
        return print_json({"branch": tree.branch, "base": tree.base, "diff": text})
    out().print(plain(text.rstrip("\n") or "no difference"), soft_wrap=True)


@branch_app.command("history")
def history_command(
    session: SessionArgument,
    file: FileArgument,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most this many, newest first.")] = 20,
    repo: RepoFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """List the commits on a branch that touched a file."""
    changes = branches_in(repo).find(session).history(file, limit)
    if json_output:
        return print_json([change.model_dump(mode="json") for change in changes])
    for change in changes:
        out().print(plain(f"{change.commit[:SHORT]} {change.when:%Y-%m-%d %H:%M} {change.author}: {change.subject}"))
    if not changes:
        out().print(plain(f"no commit touched {file}"))


@branch_app.command("blame")
def blame_command(
    session: SessionArgument,
    file: FileArgument,
    lines: Annotated[str | None, typer.Option("--lines", help="Only these lines, e.g. 10-20.")] = None,
    repo: RepoFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Show which commit each line of a file on a branch comes from."""
    first, last = _span(lines)
    blamed = branches_in(repo).find(session).blame(file, first, last)
    if json_output:
        return print_json([line.model_dump(mode="json") for line in blamed])
    for line in blamed:
        text = f"{line.commit[:SHORT]} {line.author:12.12} {line.line:5} {line.text}"
        out().print(plain(text), soft_wrap=True)


@branch_app.command("clean")
def clean_command(
    sessions: Annotated[list[str], typer.Argument(help="Ended sessions, by id or prefix.")],
    delete_branch: Annotated[
        bool, typer.Option("--delete-branch", help="Also delete the branch, including commits that are nowhere else.")
    ] = False,
    repo: RepoFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Remove the worktree that a killed session left behind, and its branch with --delete-branch."""
    branches, done = branches_in(repo), list[JsonValue]()
    trees = [branches.find(session) for session in sessions]
    if other := next((tree.branch for tree in trees if not tree.branch.startswith(PREFIX)), None):
        raise UsageError(f"{other!r} is not the branch of a session; nothing was cleaned up")
    for tree in trees:
        there = tree.path.exists()
        tree.remove(branch=delete_branch)
        done.append({"branch": tree.branch, "worktree_removed": there, "branch_deleted": delete_branch})
        if not json_output:
            what = ["the worktree"] * there + ["the branch"] * delete_branch
            out().print(plain(f"{tree.branch}: removed {' and '.join(what) or 'nothing; it was already clean'}"))
    if json_output:
        print_json(done)


def _commit(tree: Worktree, name: str | None) -> str | None:
    """`HEAD` means the tip of the branch, not of the user's checkout."""
    return name and re.sub(r"^(HEAD|@)(?=$|[~^@{])", tree.branch, name)


def _span(lines: str | None) -> tuple[int, int | None]:
    if lines is None:
        return 1, None
    if not (found := re.fullmatch(r"(\d+)(?:-(\d+))?", lines.strip())) or int(found[1]) < 1:
        raise UsageError(f"--lines {lines!r} must be like 10-20")
    return int(found[1]), int(found[2] or found[1])
