"""Programs that run something else: which script, recipe or command they are given."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from moot.edge.command_inspection.deletions import absolute
from moot.edge.command_inspection.files import UnreadFile, kind_of_program, kind_of_text, read_text
from moot.edge.command_inspection.parser import UNSET
from moot.edge.command_inspection.step import CommandStep
from moot.edge.command_inspection.tasks import make, packages
from moot.routing.interpreters import DATABASES, FILE_OPTIONS, LANGUAGES, SHELLS, option_values
from moot.routing.patterns import Lazy, names
from moot.routing.rules import CommandCall, call, is_known
from moot.routing.runners.carriers import CARRIERS, SECOND, inner_words
from moot.routing.script import HOLE, Command, Word

if TYPE_CHECKING:
    from moot.edge.command_inspection.inspector import Look

ELSEWHERE = names("ssh mosh docker podman docker-compose heroku vagrant gcloud npx bunx uvx")
"""They run a command on another machine, in a container, or from the network."""
FETCHED = (("pipx", "run"), ("npm", "exec"), ("pnpm", "dlx"), ("yarn", "dlx"), ("bun", "x"), ("nix", "run"))
SHELL_VALUES = ("-o", "+o", "-O", "+O", "--rcfile", "--init-file")
CODE_OPTION = Lazy(r"-[A-Za-z]*c[A-Za-z]*")
LANGUAGE_VALUES = {
    "python": ("-W", "-X", "--check-hash-based-pycs"), "pypy": ("-W", "-X"), "node": ("--import", "--loader"),
    "ruby": ("-I", "-r", "-C"), "perl": ("-I",), "php": ("-d", "-c"), "deno": (), "bun": (),
}  # fmt: skip
GIVEN_CODE = Lazy(r"-[A-Za-z]*[ceE]|-p|--eval|--print|-pe|-ne|-e.*")
INSTALLED = Lazy(
    r"/(?:usr|bin|sbin|opt|lib|lib64|nix|snap|System|Library|Applications)/.*|.*/node_modules/\.bin/.*|"
    r".*/\.?v?env/bin/.*|.*/\.(?:local/bin|cargo|rustup|nvm|pyenv|rbenv|volta|asdf|bun|deno|tox|nox)/.*"
)
WRAPPERS = names("gradlew mvnw")
"""They start an installed build tool; the router judges the task by its name."""


def follow(look: "Look", name: str, words: tuple[Word, ...], command: Command, folder: Path | None, depth: int) -> None:
    step = CommandStep(look, name, words, command, folder, depth)
    if "/" in words[0].text and program_file(step):
        return
    plain = name.lower().removesuffix(".exe")
    called = call(plain, words[1:])
    if plain in CARRIERS:
        inspect_carrier(step, called)
    elif called.rest and (plain, called.rest[0]) in SECOND:
        inspect_subcommand_carrier(step, called)
    elif action := FOLLOWED.get(plain):
        action(step, called)
    elif plain in SHELLS:
        shell(step, called)
    elif LANGUAGES.fullmatch(plain):
        language(step, called)
    elif plain in DATABASES:
        database(step, called)


def program_file(step: CommandStep) -> bool:
    """A program named by its path is read, unless it is installed. True: nothing is left to do."""
    path = step.look.find(step.said, step.words[0], step.folder)
    if path is None:
        return True
    if step.name in WRAPPERS or INSTALLED.fullmatch(os.path.normpath(path)):
        return False
    runs = step.name in SHELLS or step.name in CARRIERS or LANGUAGES.fullmatch(step.name) is not None
    text = step.look.written.get(os.path.realpath(path)) or ""
    try:
        text = text or read_text(path, step.look.folder)[0]
    except UnreadFile as problem:
        if runs:
            return False  # an interpreter is not a script; its arguments are followed
        if problem.args == ("is not text",) and is_known(step.name):
            step.look.notes.append(f"{step.words[0].text} is a program, and judged by its name alone")
            return False
    kind = kind_of_text(text, step.words[0].text)
    step.look.run_script(step.said, path, kind, step.folder, step.depth, step.texts)
    return True


# --- carriers


def inspect_carrier(step: CommandStep, called: CommandCall) -> None:
    how = CARRIERS[called.name]
    if called.name in ELSEWHERE:
        return
    words = inner_words(step.args, how)
    if how.as_text:
        return step.look.walk(" ".join(word.text for word in words), step.folder, step.depth + 1)
    if called.name == "xargs" and words and words[-1].text == HOLE and len(words) == 1:
        return
    folder = step.folder
    for at, text in enumerate(step.texts[:-1]):
        if called.name in ("env", "sudo") and text in ("-C", "--chdir", "-D"):
            path = absolute(step.texts[at + 1], step.look.place(folder))
            folder = None if path is None or HOLE in path or UNSET in path else Path(path)
    step.carry(words, folder)


def inspect_subcommand_carrier(step: CommandStep, called: CommandCall) -> None:
    key = (called.name, called.rest[0])
    if called.name in ELSEWHERE or key in FETCHED:
        return
    at = step.texts.index(called.rest[0])
    step.carry(inner_words(step.args[at + 1 :], SECOND[key]), step.folder)


def evaluate(step: CommandStep, called: CommandCall) -> None:
    step.look.walk(" ".join(step.texts), step.folder, step.depth + 1)


def su(step: CommandStep, called: CommandCall) -> None:
    if "-c" in step.texts[:-1]:
        step.look.walk(step.texts[step.texts.index("-c") + 1], step.folder, step.depth + 1)


def find(step: CommandStep, called: CommandCall) -> None:
    for at, text in enumerate(step.texts):
        if text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((n for n in range(at + 1, len(step.texts)) if step.texts[n] in (";", "+")), len(step.texts))
            inner = tuple(Word(HOLE) if word.text == "{}" else word for word in step.args[at + 1 : end])
            if inner and os.path.basename(inner[0].text) not in ("rm", "rmdir", "unlink"):  # those are counted with it
                step.carry(inner, step.folder)


# --- shells and languages


def source(step: CommandStep, called: CommandCall) -> None:
    if step.args:
        step.script(step.args[0], "shell", step.texts[1:])


def shell(step: CommandStep, called: CommandCall) -> None:
    texts, at = step.texts, 0
    while at < len(texts) and texts[at][:1] in ("-", "+") and texts[at] != "-":
        if texts[at] == "--":
            at += 1
            break
        if CODE_OPTION.fullmatch(texts[at]):
            code = texts[at + 1] if at + 1 < len(texts) else ""
            return step.look.walk(code, step.folder, step.depth + 1, texts[at + 3 :])
        if texts[at] == "-n" or "-s" in texts:
            return None
        at += 2 if texts[at] in SHELL_VALUES else 1
    kind = kind_of_program(step.name)
    if at < len(texts) and texts[at] not in ("-", "/dev/stdin"):
        return step.script(step.args[at], kind, texts[at + 1 :])
    return inspect_piped_script(step, kind)


def inspect_piped_script(step: CommandStep, kind: str) -> None:
    """`bash < x.sh`, `cat x.sh | bash`."""
    for redirect in step.command.redirects:
        if redirect.sign == "<":
            step.script(redirect.target, kind)
    feeder = step.command.fed_by[-1].words if step.command.fed_by else ()
    if len(feeder) == 2 and feeder[0].text == "cat":
        step.script(feeder[1], kind)


def language(step: CommandStep, called: CommandCall) -> None:
    kind = kind_of_program(called.name)
    valued = next((v for begin, v in LANGUAGE_VALUES.items() if called.name.startswith(begin)), ())
    texts, at = step.texts, 0
    while at < len(texts) and texts[at].startswith("-") and texts[at] != "-":
        if texts[at] == "-m" and kind == "python":
            return module(step, texts[at + 1] if at + 1 < len(texts) else "", texts[at + 2 :])
        if texts[at] == "--test" or GIVEN_CODE.fullmatch(texts[at]):
            return None  # a test runner, or code that the router reads
        if called.name == "node" and texts[at] in ("-r", "--require") and texts[at + 1 : at + 2]:
            inspect_required_module(step, step.args[at + 1])
            at += 1
        at += 2 if texts[at] in valued else 1
    if called.name in ("deno", "bun"):
        return with_verb(step, called, at)
    if at >= len(texts) or texts[at] in ("-", "/dev/stdin"):
        return inspect_piped_script(step, kind)
    return inspect_interpreted_file(step, step.args[at], kind, texts[at + 1 :])


def inspect_required_module(step: CommandStep, word: Word) -> None:
    """`node -r ./setup.js`; a name without a path is installed."""
    if word.text.startswith((".", "/")):
        step.script(word, "javascript")


def with_verb(step: CommandStep, called: CommandCall, at: int) -> None:
    """`deno run x.ts`, `bun run x.ts`, `bun run build`."""
    if step.texts[at : at + 1] == ["run"]:
        given = next((n for n in range(at + 1, len(step.texts)) if not step.texts[n].startswith("-")), len(step.texts))
        if given < len(step.texts) and (called.name == "deno" or re.search(r"[./]", step.texts[given])):
            return inspect_interpreted_file(step, step.args[given], "javascript", step.texts[given + 1 :])
    return packages(step, called) if called.name == "bun" else None


def inspect_interpreted_file(step: CommandStep, word: Word, kind: str, arguments: list[str]) -> None:
    """A file, or a folder that contains one under the usual name."""
    path = step.look.find(step.said, word, step.folder)
    if path is None:
        return
    usual = {"python": ("__main__.py",), "javascript": ("index.js", "index.ts", "index.mjs")}.get(kind, ())
    others = [path / name for name in usual] if path.is_dir() else []
    if kind == "javascript" and not path.suffix:
        others.append(Path(f"{path}.js"))
    chosen = next((other for other in others if other.is_file()), path)
    step.look.run_script(step.said, chosen, kind, step.folder, step.depth, arguments)


def module(step: CommandStep, name: str, arguments: list[str]) -> None:
    """`python -m name`, if it is a module of this folder; others are installed, and known by name."""
    if not re.fullmatch(r"[\w.]+", name) or step.folder is None:
        return
    parts = Path(*name.split("."))
    given = [Path(part) for part in step.look.env.get("PYTHONPATH", "").split(os.pathsep) if part]
    for base in (step.folder, *(step.folder / path for path in given), step.folder / "src"):
        for path in (base / parts.with_suffix(".py"), base / parts / "__main__.py"):
            if path.is_file():
                return step.look.run_script(step.said, path, "python", step.folder, step.depth, arguments)


def database(step: CommandStep, called: CommandCall) -> None:
    for value in option_values(called, FILE_OPTIONS):
        step.script(Word(value), "sql")
    inspect_piped_script(step, "sql")


Followed = Callable[[CommandStep, CommandCall], None]
FOLLOWED: dict[str, Followed] = {
    "eval": evaluate, "su": su, "find": find, "source": source, ".": source, "make": make, "gmake": make,
    "npm": packages, "yarn": packages, "pnpm": packages, "bun": language,
}  # fmt: skip
