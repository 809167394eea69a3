"""The command of any protocol, made from its descriptor: fields of the input, rules that have a flag, and the flags of
every session."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, get_args

import typer

from moot.core.errors import UsageError
from moot.edge.files.sources import MAX_FILE_BYTES, read_code, read_tests
from moot.protocols import PROTOCOLS, AnyProtocol
from moot.surfaces.cli.menu import LISTED, SHORT
from moot.surfaces.cli.options import BranchFlag, PythonFlag, RepoFlag, SecretsFlag, UnsafeFlag
from moot.surfaces.cli.output_options import Ending
from moot.surfaces.cli.running import run_command
from moot.surfaces.cli.session_flags import SessionFlags, with_flags
from moot.surfaces.extensions import find_extension
from moot.surfaces.fields import InputField, fields_of, options_in
from moot.surfaces.plans import Request
from moot.surfaces.projects import project_note
from moot.text.secrets import Vault

LanguageFlag = Annotated[
    str | None, typer.Option("--language", "-l", help="Language of the code, if the file name does not tell.")
]
TAKEN: Mapping[str, Any] = {"flag": bool, "whole": int | None, "number": float | None, "words": list[str] | None}
RUNNING: Mapping[str, tuple[Any, Any]] = {
    "python": (PythonFlag, None),
    "unsafe_local": (UnsafeFlag, False),
    "run_with_secrets": (SecretsFlag, False),
}
"""Flags of a protocol that runs tests, with their defaults."""


def register(app: typer.Typer) -> None:
    """The commands of the protocols that have none of their own."""
    for protocol in PROTOCOLS.values():
        if protocol.name not in LISTED and protocol.name not in SHORT:
            app.command(protocol.name, epilog=format_examples(protocol))(command_of(protocol))


def format_examples(protocol: AnyProtocol) -> str | None:
    return "Examples:\n\n" + "\n\n".join(f"  {line}" for line in protocol.examples) if protocol.examples else None


def command_of(protocol: AnyProtocol) -> Callable[..., None]:
    fields, rules = fields_of(protocol.input), options_in(protocol.rules)
    kinds = {each.kind for each in fields}

    def run(flags: SessionFlags, **said: Any) -> None:
        own = {f"{protocol.name}.{each.name}": said.pop(f"rule_{each.name}") for each in rules}
        settings = flags.settings({**own, "run_with_secrets": said.pop("run_with_secrets", False) or None})
        repo, branch = said.pop("repo", None), said.pop("branch", False)
        unsafe, python = said.pop("unsafe_local", False), said.pop("python", None)
        paths = [path for each in fields if each.kind in ("code", "tests") for path in _paths(said[each.name])]
        given, origins = read_fields(fields, said)
        notes = {"unsafe_local": unsafe, **project_note(paths, python)} if "tests" in kinds else {}
        request = Request(
            protocol=protocol,
            given=given,
            settings=settings,
            vault=Vault(os.environ),
            notes=notes,
            origins=origins,
            repo=repo,
            branch=branch,
            use_models=not flags.no_llm,
        )
        plan = find_extension(protocol.name).plan(request)
        ending = Ending(json=flags.json_output, quiet=flags.quiet)
        raise typer.Exit(run_command(settings, plan, request.vault, ending))

    parameters = [_parameter("flags", SessionFlags), *(_make_parameter(each) for each in fields)]
    parameters += [_rule(each) for each in rules]
    if kinds & {"code", "tests"} and "language" not in protocol.input.model_fields:
        parameters.append(_parameter("language", LanguageFlag, None))
    if "code" in kinds:
        diff = Annotated[str | None, typer.Option("--diff", help="Only what changed since this commit.")]
        parameters += [_parameter("diff", diff, None), _parameter("repo", RepoFlag, None)]
        parameters.append(_parameter("branch", BranchFlag, False))
    if "tests" in kinds:
        parameters += [_parameter(name, kind, default) for name, (kind, default) in RUNNING.items()]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__doc__ = protocol.summary
    return with_flags(SessionFlags)(run)


def _parameter(name: str, kind: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)


def _make_parameter(each: InputField) -> inspect.Parameter:
    """Code and a required text are arguments; everything else is an option."""
    if each.kind == "code":
        said = f"{each.help} Files or folders; - is standard input."
        if each.required:
            return _parameter(each.name, Annotated[list[str] | None, typer.Argument(help=said)], None)
        return _parameter(each.name, Annotated[list[str] | None, typer.Option(each.flag, help=said)], None)
    if each.kind == "text" and each.required:
        return _parameter(each.name, Annotated[str, typer.Argument(help=f"{each.help} - is standard input.")])
    return _option(each, each.name, required=each.required)


def _rule(each: InputField) -> inspect.Parameter:
    return _option(each, f"rule_{each.name}", required=False)


def _option(each: InputField, name: str, *, required: bool) -> inspect.Parameter:
    names = [each.flag, *([each.option.short] if each.option.short else [])]
    words = f" One of: {', '.join(map(str, _choices(each)))}." if each.kind == "choice" else ""
    form = {"tests": " A file or folder.", "data": " As JSON."}.get(each.kind, "")
    option = typer.Option(*names, help=f"{each.help}{words}{form}", metavar=each.option.metavar or None)
    kind = TAKEN.get(each.kind, str | None)
    if each.kind == "flag":
        kind = bool if name == each.name else bool | None
    default: Any = False if kind is bool else None
    return _parameter(name, Annotated[kind, option], inspect.Parameter.empty if required else default)


def _choices(each: InputField) -> tuple[Any, ...]:
    return get_args(each.info.annotation)


def _paths(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def read_fields(fields: Sequence[InputField], said: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values that were given, with their files read, and where these came from."""
    given, origins = dict[str, Any](), dict[str, Any]()
    language, diff = said.get("language"), said.get("diff")
    for each in fields:
        value = said[each.name]
        if each.kind == "code" and (value or (each.required and diff)):
            gathered = read_code(value or ["."], language, diff, sys.stdin.buffer.read)
            given[each.name] = gathered.code
            origins |= gathered.origins
        elif each.kind == "code" and each.required:
            raise UsageError(f"there is no code: name files or folders; - is standard input ({each.name})")
        elif value is None or value == [] or (each.kind == "flag" and not value):
            continue
        elif each.kind == "tests":
            given[each.name] = read_tests(value)
        elif each.kind == "data":
            given[each.name] = _data(each, value)
        else:
            given[each.name] = read_words(value) if each.kind == "text" and value == "-" else value
    return given, origins


def _data(each: InputField, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{each.flag} is not JSON: {error}") from None


def read_words(given: str) -> str:
    """The words themselves, or those on standard input for `-`."""
    if given != "-":
        return given
    data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"the task has more than {MAX_FILE_BYTES // 1_000_000} MB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError("the task on standard input is not UTF-8 text") from None
