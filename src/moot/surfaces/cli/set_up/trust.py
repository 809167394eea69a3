"""`moot trust`: shows the risky settings of a project and asks for trust."""

import getpass
import json
import os
from pathlib import Path
from typing import Annotated

import typer

from moot.core.errors import UsageError
from moot.edge.settings import FILE, project_file
from moot.edge.settings.trust_file import ProjectFile, is_trusted, list_trusted_files, read_project_file, revoke, trust
from moot.surfaces.cli.options import JsonFlag
from moot.surfaces.cli.screen import ask_on_terminal, err, out, plain, print_json
from moot.surfaces.session.project_trust import risky_settings
from moot.surfaces.session.settings import all_settings

NOT_TRUSTED = 1
EXAMPLES = """Examples:

  moot trust                                      show this project's moot.toml and ask you

  moot trust --show                               only show it

  moot trust --list                               list all trusted files

  moot trust --revoke                             stop trusting this project's
"""


def register(app: typer.Typer) -> None:
    app.command("trust", epilog=EXAMPLES)(trust_command)


def trust_command(
    path: Annotated[str | None, typer.Argument(help="A moot.toml or its folder; default: the project's.")] = None,
    show: Annotated[bool, typer.Option("--show", help="Show what needs trust, and whether it is trusted.")] = False,
    list_all: Annotated[bool, typer.Option("--list", help="List the files that are trusted.")] = False,
    take_back: Annotated[bool, typer.Option("--revoke", help="Stop trusting the file.")] = False,
    json_output: JsonFlag = False,
) -> None:
    """Trust a project's moot.toml: the commands it runs, its local models, the places it writes to.

    Until then such settings are ignored. If the file changes, or a script of the project that it names, it must be
    trusted again. Needs a person at a terminal.
    Exit code 0: trusted, or nothing needs trust; 1: not trusted; 2: no such file, or no terminal.
    """
    if show + list_all + take_back > 1:
        raise UsageError("give only one of --show, --list and --revoke")
    if list_all:
        return _list(as_json=json_output)
    place = _place(path)
    if take_back:
        return _revoke(place, as_json=json_output)
    found = read_project_file(place, Path.cwd())
    risky, trusted = risky_settings(all_settings(), found), is_trusted(found, os.environ)
    if not json_output:
        _show(found, risky)
    elif show:
        print_json(
            {
                "path": str(found.path), "sha256": found.digest, "trusted": trusted, "needs_trust": [*risky],
                "files": [*found.named],
            }
        )  # fmt: skip
    if show or trusted or not risky:
        return _end(found, trusted=trusted, needed=bool(risky), told=not json_output)
    _ask(found, as_json=json_output)


def _ask(found: ProjectFile, *, as_json: bool) -> None:
    said = ask_on_terminal("moot: trust this file as it is now? [y/N] ")
    if said is None:
        raise UsageError("not a terminal; a person must run `moot trust` there")
    if said not in ("y", "yes"):
        err().print(plain("not trusted"))
        raise typer.Exit(NOT_TRUSTED)
    trust(found, getpass.getuser(), os.environ)
    if as_json:
        return print_json({"path": str(found.path), "sha256": found.digest, "trusted": True})
    out().print(plain(f"trusted as it is now: {found.path}"), soft_wrap=True)


def _place(path: str | None) -> Path:
    if path is None:
        found = project_file(Path.cwd())
        if found is None:
            raise UsageError(f"no {FILE} here or in a parent folder up to the repository's root")
        return found
    place = Path(os.path.abspath(path))
    place = place / FILE if place.is_dir() else place
    if place.name != FILE:
        raise UsageError(f"{path!r} is not a {FILE}")
    return place


def _show(found: ProjectFile, risky: dict[str, object]) -> None:
    console = err()
    console.print(plain(f"{found.path}\nsha256 {found.digest}"), soft_wrap=True)
    for key, value in risky.items():
        console.print(plain(f"  {key} = {json.dumps(value, ensure_ascii=False, default=str)}"), soft_wrap=True)
    for name in found.named:
        console.print(plain(f"  with the file {name}"), soft_wrap=True)


def _end(found: ProjectFile, *, trusted: bool, needed: bool, told: bool) -> None:
    if told:
        said = "trusted" if trusted else "not trusted" if needed else "nothing in it needs trust"
        out().print(plain(said))
    raise typer.Exit(NOT_TRUSTED if needed and not trusted else 0)


def _list(*, as_json: bool) -> None:
    found = list_trusted_files(os.environ)
    if as_json:
        return print_json([each._asdict() for each in found])
    if not found:
        out().print("no file is trusted")
    for each in found:
        now = "" if _is_current(each.path, each.digest) else "  (changed or gone since)"
        out().print(plain(f"{each.digest[:12]}  {each.at}  {each.by}  {each.path}{now}"), soft_wrap=True)


def _is_current(path: str, digest: str) -> bool:
    try:
        return read_project_file(Path(path), Path(path).parent).digest == digest
    except UsageError:
        return False


def _revoke(place: Path, *, as_json: bool) -> None:
    count = revoke(place, getpass.getuser(), os.environ)
    if as_json:
        return print_json({"path": str(place), "revoked": count})
    out().print(plain(f"no longer trusted: {place}" if count else f"{place} was not trusted"), soft_wrap=True)
