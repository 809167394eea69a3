"""Tasks run by name: targets of a Makefile, scripts of a `package.json`."""

import os
import re
import shlex
from pathlib import Path
from typing import NamedTuple

from moot.edge.command_inspection.files import Script, UnreadFile, name_from, read_text
from moot.edge.command_inspection.makefiles import NAMES, Makefile
from moot.edge.command_inspection.packages import find_wanted_scripts, lines_of, scripts_in
from moot.edge.command_inspection.parser import UNSET
from moot.edge.command_inspection.shell import shell_findings
from moot.edge.command_inspection.step import CommandStep
from moot.routing.interpreters import SHELLS
from moot.routing.rules import CommandCall, call
from moot.routing.script import HOLE

DRY = ("-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "--version", "-v", "--help", "-h", "-p")


# --- make


def make(step: CommandStep, called: CommandCall) -> None:
    asked = make_call(step.texts)
    if asked is None:
        return
    if step.folder is None or any(HOLE in text or UNSET in text for text in (*asked.folders, *asked.goals)):
        return step.look.note_unreadable(step.said, "what it makes is only known when it runs")
    folder = Path(os.path.normpath(step.folder.joinpath(*asked.folders)))
    look = step.look
    files = [folder / name for name in asked.files] or [
        next((path for name in NAMES if (path := folder / name).exists()), folder / NAMES[-1])
    ]
    known = Makefile({**look.env, **asked.given})
    known.values.pop("SHELL", None)  # make does not take that one from the environment
    texts = list[str]()

    def read(name: str) -> str | None:
        wanted, path = not name.startswith("-"), folder / name.removeprefix("-")
        if not wanted and not path.exists():
            return None
        found = look.read(step.said, path, step.depth)
        if found is not None and not found[1]:
            look.note_unreadable(
                step.said, f"the file {name_from(path, look.folder)} is too large; only its beginning was read"
            )
        texts.append(found[0] if found else "")
        return found[0] if found else None

    for path in files:
        if (text := read(str(path))) is not None:
            known.take_in(text, read, asked.given)
    if not any(texts):
        return
    shell_is = os.path.basename(known.expand(known.values.get("SHELL", "/bin/sh")).split(" ")[0])
    if shell_is not in SHELLS:
        look.note_unreadable(step.said, f"its recipes are run by {shell_is or 'a shell only known when it runs'}")
    recipes, missing = known.recipes(asked.goals)
    lines = [*(("", number, text) for number, text in known.called), *recipes]
    judge_lines(step, name_from(files[0], look.folder), "make", texts[0], lines, folder)
    look.notes += [f"`{step.said}`: there is no target {goal!r}" for goal in missing if not (folder / goal).exists()]


class MakeCall(NamedTuple):
    folders: tuple[str, ...]
    files: tuple[str, ...]
    goals: tuple[str, ...]
    given: dict[str, str]


def make_call(texts: list[str]) -> MakeCall | None:
    """What make is asked for; None if it runs nothing."""
    folders, files, goals, given = list[str](), list[str](), list[str](), dict[str, str]()
    at = 0
    while at < len(texts):
        text, following = texts[at], texts[at + 1] if at + 1 < len(texts) else ""
        if text in DRY:
            return None
        if text in ("-C", "--directory", "-f", "--file", "--makefile", "-I", "-o", "-W"):
            (folders if text in ("-C", "--directory") else files if "f" in text[:7] else []).append(following)
            at += 1
        elif found := re.match(r"(?:-C|--directory=)(.+)", text):
            folders.append(found[1])
        elif found := re.match(r"(?:-f|--file=|--makefile=)(.+)", text):
            files.append(found[1])
        elif text in ("-j", "-l") and following.isdigit():
            at += 1
        elif not text.startswith("-"):
            name, equals, value = text.partition("=")
            if equals:
                given[name.rstrip(":+?")] = value
            else:
                goals.append(text)
        at += 1
    return MakeCall(tuple(folders), tuple(files), tuple(goals), given)


def judge_lines(
    step: CommandStep, name: str, kind: str, text: str, lines: list[tuple[str, int, str]], folder: Path
) -> None:
    look = step.look
    findings = [
        finding._replace(line=number) for _, number, line in lines for finding in shell_findings(look.env, line)
    ]
    look.judge(step.said, Script(name, kind, text, folder / name), findings)
    for _, _, line in lines:
        look.walk(line, folder, step.depth + 1)


# --- package.json


def packages(step: CommandStep, called: CommandCall) -> None:
    called = call(called.name, step.args)
    wanted = find_wanted_scripts(called)
    if wanted is None:
        return
    if step.folder is None or any(HOLE in text or UNSET in text for text in (*wanted.scripts, wanted.workspace)):
        return step.look.note_unreadable(step.said, "what it runs is only known when it runs")
    folder = package_folder(step, called, wanted.workspace)
    if folder is None:
        if wanted.named or wanted.workspace:
            step.look.note_unreadable(step.said, "there is no package.json that says what it runs")
        return
    path, look = folder / "package.json", step.look
    try:
        text, _ = read_text(path, look.folder)
    except UnreadFile as problem:
        return look.note_unreadable(step.said, f"{name_from(path, look.folder)} {problem}")
    table = scripts_in(text)
    if table is None:
        return look.note_unreadable(step.said, f"{name_from(path, look.folder)} has no table of scripts")
    found = lines_of(table, wanted)
    if not found:
        if wanted.named:
            look.notes.append(f"`{step.said}`: {name_from(path, look.folder)} has no script {wanted.scripts[0]!r}")
        return
    mark = f"{os.path.realpath(path)}:{','.join(name for name, _ in found)}"
    if mark in look.seen:
        return
    look.seen.add(mark)
    extra = shlex.join(step.texts[step.texts.index("--") + 1 :]) if "--" in step.texts else ""
    lines = [
        (name, _line_in(text, name), f"{line} {extra}" if name in wanted.scripts and extra else line)
        for name, line in found
    ]
    judge_lines(step, name_from(path, look.folder), "package", text, lines, folder)


def _line_in(text: str, name: str) -> int:
    at = text.find(f'"{name}"', max(0, text.find('"scripts"')))
    return text.count("\n", 0, at) + 1 if at >= 0 else 0


def package_folder(step: CommandStep, called: CommandCall, workspace: str) -> Path | None:
    """The folder of the relevant package.json: the named one, or the nearest upwards."""
    assert step.folder is not None
    folder = step.folder
    for option in called.options:
        name, _, value = option.partition("=")
        if name in ("--prefix", "-C", "--cwd", "--dir") and value and HOLE not in value and UNSET not in value:
            folder = folder / value
    home = next((one for one in (folder, *folder.parents) if (one / "package.json").is_file()), None)
    if home is None or not workspace:
        return home
    short = workspace.rpartition("/")[2]
    places = (workspace, f"packages/{short}", f"apps/{short}", short)
    return next((home / one for one in places if (home / one / "package.json").is_file()), None)
