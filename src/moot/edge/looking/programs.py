"""Programs that run something else: which script, recipe or command they are given."""

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from moot.edge.looking.files import Script, Unread, kind_of_program, kind_of_text, name_from, read_text
from moot.edge.looking.reading import UNSET, shown_words
from moot.routing.carriers import CARRIERS, SECOND, inner_words
from moot.routing.interpreters import DATABASES, FILE_OPTIONS, LANGUAGES, SHELLS, option_values
from moot.routing.patterns import Lazy, names
from moot.routing.rules import Call, call, known
from moot.routing.script import HOLE, Command, Word

if TYPE_CHECKING:
    from moot.edge.looking.look import Look

ELSEWHERE = names("ssh mosh docker podman docker-compose heroku vagrant gcloud npx bunx uvx")
"""They run what they carry on another machine, in a container, or from the network."""
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
DRY = ("-n", "--dry-run", "--just-print", "--recon", "-q", "--question", "--version", "-v", "--help", "-h", "-p")


class Step(NamedTuple):
    """A program about to run."""

    look: "Look"
    name: str
    words: tuple[Word, ...]
    command: Command
    folder: Path | None
    depth: int

    @property
    def said(self) -> str:
        return shown_words(self.words)

    @property
    def args(self) -> tuple[Word, ...]:
        return self.words[1:]

    @property
    def texts(self) -> list[str]:
        return [word.text for word in self.words[1:]]

    def carry(self, words: tuple[Word, ...], folder: Path | None = None) -> None:
        if words:
            self.look.run(words, self.command, folder or self.folder, self.depth + 1)

    def script(self, word: Word, kind: str, arguments: list[str] | None = None) -> None:
        path = self.look.find(self.said, word, self.folder)
        if path is not None:
            self.look.run_script(self.said, path, kind, self.folder, self.depth, arguments or [])


def follow(look: "Look", name: str, words: tuple[Word, ...], command: Command, folder: Path | None, depth: int) -> None:
    step = Step(look, name, words, command, folder, depth)
    if "/" in words[0].text and program_file(step):
        return
    plain = name.lower().removesuffix(".exe")
    called = call(plain, words[1:])
    if plain in CARRIERS:
        carried(step, called)
    elif called.rest and (plain, called.rest[0]) in SECOND:
        carried_second(step, called)
    elif look.only_programs:
        return
    elif action := FOLLOWED.get(plain):
        action(step, called)
    elif plain in SHELLS:
        shell(step, called)
    elif LANGUAGES.fullmatch(plain):
        language(step, called)
    elif plain in DATABASES:
        database(step, called)


def program_file(step: Step) -> bool:
    """A program named by its path: read, unless it is installed, or an interpreter. True: nothing is left to do."""
    text = step.words[0].text
    if step.name in SHELLS or LANGUAGES.fullmatch(step.name) or step.name in CARRIERS or step.name in WRAPPERS:
        return False
    path = step.look.find(step.said, step.words[0], step.folder)
    if path is None:
        return True
    if INSTALLED.fullmatch(os.path.normpath(path)):
        return False
    try:
        found = step.look.written.get(os.path.realpath(path)) or read_text(path)[0]
    except Unread as problem:
        if problem.args == ("is no text",) and known(step.name):
            step.look.notes.append(f"{text} is a program, and judged by its name alone")
            return False
        found = ""
    step.look.run_script(step.said, path, kind_of_text(found, text), step.folder, step.depth, step.texts)
    return True


# --- carriers


def carried(step: Step, called: Call) -> None:
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
        if called.name in ("env", "sudo") and text in ("-C", "--chdir", "-D") and folder is not None:
            folder = folder / step.texts[at + 1]
    step.carry(words, folder)


def carried_second(step: Step, called: Call) -> None:
    key = (called.name, called.rest[0])
    if called.name in ELSEWHERE or key in FETCHED or step.look.only_programs:
        return
    at = step.texts.index(called.rest[0])
    step.carry(inner_words(step.args[at + 1 :], SECOND[key]))


def evaluate(step: Step, called: Call) -> None:
    step.look.walk(" ".join(step.texts), step.folder, step.depth + 1)


def su(step: Step, called: Call) -> None:
    if "-c" in step.texts[:-1]:
        step.look.walk(step.texts[step.texts.index("-c") + 1], step.folder, step.depth + 1)


def find(step: Step, called: Call) -> None:
    for at, text in enumerate(step.texts):
        if text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((n for n in range(at + 1, len(step.texts)) if step.texts[n] in (";", "+")), len(step.texts))
            inner = tuple(Word(HOLE) if word.text == "{}" else word for word in step.args[at + 1 : end])
            if inner and os.path.basename(inner[0].text) not in ("rm", "rmdir", "unlink"):  # those are counted with it
                step.carry(inner)


# --- shells and languages


def source(step: Step, called: Call) -> None:
    if step.args:
        step.script(step.args[0], "shell", step.texts[1:])


def shell(step: Step, called: Call) -> None:
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
    return piped_in(step, kind)


def piped_in(step: Step, kind: str) -> None:
    """`bash < x.sh`, `cat x.sh | bash`."""
    for redirect in step.command.redirects:
        if redirect.sign == "<":
            step.script(redirect.target, kind)
    feeder = step.command.fed_by[-1].words if step.command.fed_by else ()
    if len(feeder) == 2 and feeder[0].text == "cat":
        step.script(feeder[1], kind)


def language(step: Step, called: Call) -> None:
    kind = kind_of_program(called.name)
    valued = next((v for begin, v in LANGUAGE_VALUES.items() if called.name.startswith(begin)), ())
    texts, at = step.texts, 0
    while at < len(texts) and texts[at].startswith("-") and texts[at] != "-":
        if texts[at] == "-m" and kind == "python":
            return module(step, texts[at + 1] if at + 1 < len(texts) else "", texts[at + 2 :])
        if texts[at] == "--test" or GIVEN_CODE.fullmatch(texts[at]):
            return None  # a runner of tests, or code that the router reads
        if called.name == "node" and texts[at] in ("-r", "--require") and texts[at + 1 : at + 2]:
            required(step, step.args[at + 1])
            at += 1
        at += 2 if texts[at] in valued else 1
    if called.name in ("deno", "bun"):
        return with_verb(step, called, at)
    if at >= len(texts) or texts[at] in ("-", "/dev/stdin"):
        return piped_in(step, kind)
    return interpreted(step, step.args[at], kind, texts[at + 1 :])


def required(step: Step, word: Word) -> None:
    """`node -r ./setup.js`; what is named without a path is installed."""
    if word.text.startswith((".", "/")):
        step.script(word, "javascript")


def with_verb(step: Step, called: Call, at: int) -> None:
    """`deno run x.ts`, `bun run x.ts`, `bun run build`."""
    if step.texts[at : at + 1] == ["run"]:
        given = next((n for n in range(at + 1, len(step.texts)) if not step.texts[n].startswith("-")), len(step.texts))
        if given < len(step.texts) and (called.name == "deno" or re.search(r"[./]", step.texts[given])):
            return interpreted(step, step.args[given], "javascript", step.texts[given + 1 :])
    return packages(step, called) if called.name == "bun" else None


def interpreted(step: Step, word: Word, kind: str, arguments: list[str]) -> None:
    """A file, or a folder that holds one under the usual name."""
    path = step.look.find(step.said, word, step.folder)
    if path is None:
        return
    usual = {"python": ("__main__.py",), "javascript": ("index.js", "index.ts", "index.mjs")}.get(kind, ())
    others = [path / name for name in usual] if path.is_dir() else []
    if kind == "javascript" and not path.suffix:
        others.append(path.with_name(f"{path.name}.js"))
    chosen = next((other for other in others if other.is_file()), path)
    step.look.run_script(step.said, chosen, kind, step.folder, step.depth, arguments)


def module(step: Step, name: str, arguments: list[str]) -> None:
    """`python -m name`, where it is a module of this folder; others are installed, and known by their names."""
    if not re.fullmatch(r"[\w.]+", name) or step.folder is None:
        return
    parts = Path(*name.split("."))
    given = [Path(part) for part in step.look.env.get("PYTHONPATH", "").split(os.pathsep) if part]
    for base in (step.folder, *(step.folder / path for path in given), step.folder / "src"):
        for path in (base / parts.with_suffix(".py"), base / parts / "__main__.py"):
            if path.is_file():
                return step.look.run_script(step.said, path, "python", step.folder, step.depth, arguments)


def database(step: Step, called: Call) -> None:
    for value in option_values(called, FILE_OPTIONS):
        step.script(Word(value), "sql")
    piped_in(step, "sql")


# --- make


def make(step: Step, called: Call) -> None:
    from moot.edge.looking.makefiles import NAMES, Makefile

    asked = make_call(step.texts)
    if asked is None or step.folder is None:
        return
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
            look.unread(step.said, f"the file {name_from(path, look.folder)} is too large; only its beginning was read")
        texts.append(found[0] if found else "")
        return found[0] if found else None

    for path in files:
        if (text := read(str(path))) is not None:
            known.take_in(text, read, asked.given)
    if not any(texts):
        return
    shell_is = os.path.basename(known.expand(known.values.get("SHELL", "/bin/sh")).split(" ")[0])
    if shell_is not in SHELLS:
        look.unread(step.said, f"its recipes are run by {shell_is or 'a shell only known when it runs'}")
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
    """What make is asked for; None where it runs nothing."""
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


def judge_lines(step: Step, name: str, kind: str, text: str, lines: list[tuple[str, int, str]], folder: Path) -> None:
    """Shell lines of another file: each is judged, and followed."""
    look = step.look
    findings = [finding._replace(line=number) for _, number, line in lines for finding in look.shell_findings(line)]
    look.judge(step.said, Script(name, kind, text, folder / name), findings)
    for _, _, line in lines:
        look.walk(line, folder, step.depth + 1)


# --- package.json


def packages(step: Step, called: Call) -> None:
    from moot.edge.looking.packages import lines_of, scripts_in, wanted_of

    called = call(called.name, step.args)
    wanted = wanted_of(called)
    if wanted is None or step.folder is None:
        return
    folder = package_folder(step, called, wanted.workspace)
    if folder is None:
        if wanted.named or wanted.workspace:
            step.look.unread(step.said, "there is no package.json that says what it runs")
        return
    path, look = folder / "package.json", step.look
    try:
        text, _ = read_text(path)
    except Unread as problem:
        return look.unread(step.said, f"{name_from(path, look.folder)} {problem}")
    table = scripts_in(text)
    if table is None:
        return look.unread(step.said, f"{name_from(path, look.folder)} is no table of scripts")
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


def package_folder(step: Step, called: Call, workspace: str) -> Path | None:
    """The folder of the package.json that counts: the one named, or the nearest upwards."""
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


Followed = Callable[[Step, Call], None]
FOLLOWED: dict[str, Followed] = {
    "eval": evaluate, "su": su, "find": find, "source": source, ".": source, "make": make, "gmake": make,
    "npm": packages, "yarn": packages, "pnpm": packages, "bun": language,
}  # fmt: skip
