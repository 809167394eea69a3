"""Builds the command of a protocol from its descriptor: fields of the input, rules with a flag, and session flags."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args

import typer
from pydantic import BaseModel

from moot.core.errors import UsageError
from moot.core.experience import TrackRecord
from moot.edge.files.sources import MAX_FILE_BYTES, read_code, read_tests
from moot.edge.store import SqlStore
from moot.edge.store.records import TrackRecords
from moot.protocols import PROTOCOLS, AnyProtocol
from moot.surfaces.cli.group import CleanCommand
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import BranchFlag, PythonFlag, RepoFlag, SecretsFlag, TeamModelFlag, UnsafeFlag
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.session_flags import SessionFlags, with_flags
from moot.surfaces.cli.session_runner import finish, run_command
from moot.surfaces.extensions import find_extension
from moot.surfaces.session.input_fields import InputField, choices_of, fields_of, options_in
from moot.surfaces.session.plans import Request
from moot.surfaces.session.project_environment import project_note
from moot.text.secrets import Vault

LanguageFlag = Annotated[
    str | None, typer.Option("--language", "-l", help="Language of the code, if the file name does not tell.")
]
TAKEN: Mapping[str, Any] = {
    "flag": bool,
    "whole": int | None,
    "number": float | None,
    "words": list[str] | None,
    "pairs": list[str] | None,
}
RUNNING: Mapping[str, tuple[Any, Any]] = {
    "python": (PythonFlag, None),
    "unsafe_local": (UnsafeFlag, False),
    "run_with_secrets": (SecretsFlag, False),
}


def load_protocol_command(name: str) -> Any:
    app = typer.Typer(add_completion=False)
    protocol = PROTOCOLS[name]
    app.command(name, epilog=format_examples(protocol), cls=CleanCommand)(command_of(protocol))
    return typer.main.get_command(app)


def format_examples(protocol: AnyProtocol) -> str | None:
    return "Examples:\n\n" + "\n\n".join(f"  {line}" for line in protocol.examples) if protocol.examples else None


def command_of(protocol: AnyProtocol) -> Callable[..., None]:
    extension = find_extension(protocol.name)
    by_name = {each.name: each for each in (*fields_of(protocol.input), *fields_of(extension.options))}
    fields, rules = list(by_name.values()), options_in(protocol.rules)
    kinds = {each.kind for each in fields}

    def run(flags: SessionFlags, **said: Any) -> None:
        own = dict[str, object]()
        for each in rules:
            own |= read_rule(each, protocol.name, said.pop(f"rule_{each.name}"))
        own["run_with_secrets"] = said.pop("run_with_secrets", False) or None
        repo, branch = said.pop("repo", None), said.pop("branch", False)
        unsafe, python = said.pop("unsafe_local", False), said.pop("python", None)
        paths = [path for each in fields if each.kind in ("code", "tests") for path in _paths(said[each.name])]
        given, origins = read_fields(fields, said, protocol.input)
        own |= extension.read_command(given, flags)
        settings = flags.settings(own)
        after = {each.name: given.pop(each.name) for each in fields if each.option.after and each.name in given}
        request = Request(
            protocol=protocol,
            given=given,
            settings=settings,
            vault=Vault(os.environ),
            notes={"unsafe_local": unsafe, **project_note([*paths, repo], python)} if "tests" in kinds else {},
            origins=origins,
            repo=repo,
            branch=branch,
            use_models=not flags.no_llm,
            tried=with_store(settings.store, count_track_records, new=True) if protocol.deals_models else (),
        )
        plan = extension.plan(request)
        ending = Ending(json=flags.json_output, quiet=flags.quiet, **after)
        if (at_once := extension.answer(plan)) is not None:
            raise typer.Exit(finish(at_once, plan, request.vault, ending))
        raise typer.Exit(run_command(settings, plan, request.vault, ending))

    parameters = [_parameter("flags", SessionFlags), *(_make_parameter(each) for each in fields)]
    parameters += [_rule(each) for each in rules]
    if kinds & {"code", "tests"} and "language" not in by_name:
        parameters.append(_parameter("language", LanguageFlag, None))
    if any(each.kind == "code" and each.required for each in fields):
        diff = Annotated[str | None, typer.Option("--diff", help="Only what changed since this commit.")]
        parameters.append(_parameter("diff", diff, None))
    if "code" in kinds:
        parameters += [_parameter("repo", RepoFlag, None), _parameter("branch", BranchFlag, False)]
    if "tests" in kinds:
        parameters += [_parameter(name, kind, default) for name, (kind, default) in RUNNING.items()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    codes = f"{protocol.exit_codes}; 130: stopped by Ctrl-C."
    run.__doc__ = protocol.summary + (f"\n\nExit code {codes}" if protocol.exit_codes else "")
    return with_flags(TeamFlags if protocol.deals_models else SessionFlags)(run)


@dataclass(frozen=True)
class TeamFlags(SessionFlags):
    """Models are dealt to a team; in all other commands they are fallbacks of each other."""

    model: TeamModelFlag = None


async def count_track_records(store: SqlStore) -> Sequence[TrackRecord]:
    return await TrackRecords(store).count_results()


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _make_parameter(each: InputField) -> inspect.Parameter:
    """Required code and texts are arguments; everything else is an option unless it says otherwise."""
    metavar = each.option.metavar or None
    if each.kind == "code":
        said = each.help if each.option.help else f"{each.help} Files or folders; - is standard input."
        if each.required:
            return _parameter(each.name, Annotated[list[str] | None, typer.Argument(help=said, metavar=metavar)], None)
        names = [each.flag, *([each.option.short] if each.option.short else [])]
        return _parameter(each.name, Annotated[list[str] | None, typer.Option(*names, help=said)], None)
    if each.option.positional or (each.kind == "text" and each.required):
        said = each.help if each.option.help else f"{each.help} - is standard input."
        kind: Any = list[str] if each.kind == "words" else str
        kind = kind if each.required else kind | None
        return _parameter(each.name, Annotated[kind, typer.Argument(help=said)], *(() if each.required else (None,)))
    return _option(each, each.name, required=each.required)


def _rule(each: InputField) -> inspect.Parameter:
    return _option(each, f"rule_{each.name}", required=False)


def _option(each: InputField, name: str, *, required: bool) -> inspect.Parameter:
    rule = name != each.name
    names = [each.flag, *([each.option.short] if each.option.short else [])]
    words = f" One of: {', '.join(map(str, choices_of(each.info.annotation)))}." if each.kind == "choice" else ""
    form = {"tests": " A file or folder.", "data": " As JSON."}.get(each.kind, "") if not each.option.help else ""
    option = typer.Option(*names, help=f"{each.help}{words}{form}", metavar=each.option.metavar or None)
    kind = TAKEN.get(each.kind, str | None)
    if each.kind == "flag":
        kind = bool | None if rule else bool
    default: Any = False if kind is bool else None
    return _parameter(name, Annotated[kind, option], inspect.Parameter.empty if required else default)


def _paths(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def read_rule(each: InputField, protocol: str, said: Any) -> dict[str, object]:
    """The settings that the flag of a rule stands for: `critique=60` is that of one phase."""
    if each.kind == "words":  # names, separated by commas, or by the flag itself
        return {f"{protocol}.{each.name}": ",".join(said) if said else None}
    if each.kind != "pairs":
        return {f"{protocol}.{each.name}": said}
    found, known = dict[str, object](), choices_of(get_args(each.info.annotation)[0])
    for pair in said or ():
        key, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise UsageError(f"{each.flag} must be {each.option.metavar}, not {pair!r}")
        if known and key not in known:
            raise UsageError(f"{each.flag}: unknown name {key!r}; known are {', '.join(map(str, known))}")
        found[f"{protocol}.{each.name}.{key}"] = value
    return found


def read_fields(
    fields: Sequence[InputField], said: Mapping[str, Any], kind: type[BaseModel]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The given values with their files read, and the paths of these files."""
    given, origins = dict[str, Any](), dict[str, Any]()
    language, diff = said.get("language"), said.get("diff")
    for each in fields:
        value = said[each.name]
        if each.kind == "code" and (value or each.required):
            gathered = read_code(value or (["."] if diff else []), language, diff, sys.stdin.buffer.read)
            given[each.name] = gathered.code
            origins |= gathered.origins
            if "left_out" in kind.model_fields:
                given["left_out"] = gathered.left_out
        elif value is None or value == [] or (each.kind == "flag" and not value):
            continue
        elif each.kind == "tests":
            given[each.name] = read_tests(value)
        elif each.kind == "data":
            given[each.name] = _data(each, value)
        else:
            given[each.name] = read_words(value) if each.kind == "text" and value == "-" and each.required else value
    return given, origins


def _data(each: InputField, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{each.flag} is not JSON: {error}") from None


def read_words(given: str) -> str:
    """The text itself, or standard input for `-`."""
    if given != "-":
        return given
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"the task is larger than {MAX_FILE_BYTES // 1_000_000} MB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("the task on standard input is not UTF-8 text") from None
