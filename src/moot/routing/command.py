"""Judges a command line: every program in it, what runs it, what feeds it, where it writes."""

from collections.abc import Iterator
from itertools import pairwise
from posixpath import join

from moot.routing.answer import Route, Sight, action
from moot.routing.interpreters import (
    DATABASES,
    DECODERS,
    DOCUMENTS,
    LANGUAGES,
    SHELLS,
    database_sights,
    document_sights,
    language_sights,
    shell_sights,
)  # fmt: skip
from moot.routing.patterns import Lazy
from moot.routing.rules import VERBED, CommandCall, call, is_known
from moot.routing.runners.carriers import CARRIERS, LOADER, SECOND, after_word, carrier
from moot.routing.runners.inside import Inside, Judge
from moot.routing.runners.launchers import option_sights
from moot.routing.runners.printed import scripts_written_and_run
from moot.routing.runners.renames import resolve_renames
from moot.routing.runners.tools import SPECIAL
from moot.routing.runners.variables import variable_sights
from moot.routing.runners.wrappers import judge_carrier
from moot.routing.script import Command, UnreadableScript, Word
from moot.routing.secrets import place_sight, secret_sights
from moot.routing.self_protection import guard_sights
from moot.routing.shell import parse
from moot.routing.statements import LOOKS_SQL, sql_sights
from moot.routing.tasks import django, judge_task
from moot.routing.web import FETCHERS, runs_download, web_sights
from moot.routing.write_targets import from_example, outputs, redirect_sights

DEEPEST = 12
FORK_BOMB = Lazy(r"([\w:.]+)\s*\(\)\s*\{[^}]*?\1\s*\|\s*\1\s*&")
UNSAFE_OPTIONS = {
    "--dangerously-skip-permissions": "switches every safeguard off",
    "--dangerously-bypass-approvals-and-sandbox": "switches every safeguard off",
    "--yolo": "switches every safeguard off",
    "--approval-mode=yolo": "switches every safeguard off",
    "--permission-mode=bypassPermissions": "switches every safeguard off",
    "--trust-all-tools": "switches every safeguard off",
    "--allow-all-tools": "switches every safeguard off",
    "--no-check-certificate": "does not check who answers",
    "--disable-host-key-checking": "does not check who answers",
    "--allow-unauthenticated": "does not check where it comes from",
    "--skip-ssl-validation": "does not check who answers",
    "--insecure-skip-tls-verify": "does not check who answers",
}


WRITTEN_UNREAD = Sight("medium", "unclear", "written and run", "it runs a script that it writes itself")


def command_route(command: str) -> Route:
    return action(command_sights(command.replace("\0", "")))


def command_sights(text: str, depth: int = 0) -> list[Sight]:
    """Everything seen in a script. What cannot be parsed does not count as harmless."""
    if depth > DEEPEST:
        return [Sight("high", "unclear", "nesting", "it is nested too deep to be read")]
    if FORK_BOMB.search(text[:2000]):
        return [Sight("high", "destructive", "fork bomb", "it starts itself until the machine stops")]
    try:
        commands = parse(text)
    except (UnreadableScript, RecursionError) as problem:
        why = str(problem) if isinstance(problem, UnreadableScript) else "it is nested too deep"
        return [Sight("high", "unclear", "unreadable command", f"the command cannot be read: {why}")]
    own = frozenset(c.words[1].text for c in commands if len(c.words) == 2 and c.words[0].text == "function")
    sights = [s for c in in_folders(commands) for s in one_command(c, depth, own)]
    sights += [s for c in resolve_renames(commands) for s in words_sights(c.words, c, depth + 1) if c.words]
    for script in scripts_written_and_run(commands):
        sights += [WRITTEN_UNREAD] if script is None else command_sights(script, depth + 1)
    names = {c.words[0].text.rsplit("/", 1)[-1] for c in commands if c.words}
    unclear = any(s.group == "unclear" for s in sights)
    if (names & FETCHERS and unclear) or runs_download(commands):
        sights.append(Sight("high", "security", "download and run", "it runs what the network sends, unread"))
    if names & DECODERS and unclear:
        sights.append(Sight("high", "unclear", "decoded and run", "the commands are hidden in an encoding"))
    return sights or [Sight("read")]


def in_folders(commands: tuple[Command, ...]) -> Iterator[Command]:
    """The commands, each with its working folder as far as `cd` tells."""
    folder = ""
    for command in commands:
        yield command._replace(folder=folder)
        if len(command.words) == 2 and command.words[0].text in ("cd", "pushd") and command.words[1].known:
            folder = join(folder, command.words[1].text)


def one_command(command: Command, depth: int, own: frozenset[str] = frozenset()) -> list[Sight]:
    sights = [s for redirect in command.redirects for s in redirect_sights(redirect, command)]
    judge = judge_at(depth)
    alone = not command.words
    sights += [s for name, value in command.settings for s in variable_sights(name, value.text, judge, alone=alone)]
    if not command.words:
        return sights or [Sight("read")]
    if command.words[0].text in own or command.words[0].text == "function":
        return sights or [Sight("read")]
    if command.fed_by and command.fed_by[-1].words and command.fed_by[-1].words[0].text == "yes":
        sights.append(Sight("medium", "scope", "yes |", "it answers yes to every question"))
    return sights + words_sights(command.words, command, depth)


def words_sights(words: tuple[Word, ...], command: Command, depth: int) -> list[Sight]:
    if depth > DEEPEST:
        return [Sight("high", "unclear", "nesting", "it is nested too deep to be read")]
    first = words[0]
    if not first.known or "{" in first.text or first.text.startswith("!") or (first.glob and first.text != "["):
        return [Sight("high", "unclear", "hidden program", "which program runs is only known when it runs")]
    name = first.text.rsplit("/", 1)[-1] if not first.text.endswith("/") else first.text
    if not (is_known(name) or name in CARRIERS or LANGUAGES.fullmatch(name)):
        name = name.lower().removesuffix(".exe")
    called = call(name, words[1:])
    sights = [*program_sights(called, command, depth), *guard_sights(called, command.folder)]
    if first.spelled:
        sights.append(Sight("high", "unclear", f"{name} in escapes", f"the name {name} is hidden in escapes"))
    texts, names = [w.text for w in words[1:]], [n for w in words[1:] for n in w.names]
    if not (name == "git" and "--cached" in texts) and not from_example(name, called.rest):
        sights += secret_sights(name, texts, names)
    sights += [place for path in outputs(called) if (place := place_sight(path)).level in ("medium", "high")]
    for option in (*called.options, *(f"{a.text}={b.text}" for a, b in pairwise(called.args))):
        if option in UNSAFE_OPTIONS:
            sights.append(Sight("high", "security", option, f"{option} {UNSAFE_OPTIONS[option]}"))
    return sights


def judge_at(depth: int) -> Judge:
    return lambda text: command_sights(text, depth + 1)


def program_sights(called: CommandCall, command: Command, depth: int) -> list[Sight]:
    if only_asks_help(called):
        return [Sight("read")]
    return [*own_sights(called, command, depth), *option_sights(called, judge_at(depth))]


def own_sights(called: CommandCall, command: Command, depth: int) -> list[Sight]:
    """What a program does itself, apart from what its options run."""
    name = called.name
    inside = Inside(judge_at(depth), lambda words: words_sights(words, command, depth + 1), command)
    if special := SPECIAL.get(name):
        return special(called, inside)
    if name in CARRIERS:
        return judge_carrier(called, CARRIERS[name], called.args, inside)
    if LOADER.fullmatch(name):
        return judge_carrier(called, carrier("--library-path --preload --argv0"), called.args, inside)
    if called.rest and (how := SECOND.get((name, called.rest[0]))):
        return judge_carrier(called, how, after_word(called.args, called.rest[0]), inside)
    return judge_code(called, command, depth) or [*judge_task(called), *statement_sights(called)]


def statement_sights(called: CommandCall) -> list[Sight]:
    """SQL passed to a program without a table: `wrangler d1 execute app --command 'DROP TABLE x'`."""
    if is_known(called.name) and called.name not in VERBED:
        return []
    return [s for word in called.args if LOOKS_SQL.match(word.text[:5000]) for s in sql_sights(word.text)]


def judge_code(called: CommandCall, command: Command, depth: int) -> list[Sight]:
    """Programs that are given code or requests; nothing for all others."""
    if called.name in SHELLS:
        return shell_sights(called, command, judge_at(depth))
    if LANGUAGES.fullmatch(called.name):
        return judge_script(called, command, depth)
    if called.name in DATABASES:
        return database_sights(called, command)
    if called.name in DOCUMENTS:
        return document_sights(called, command)
    return web_sights(called) if called.name in FETCHERS else []


def only_asks_help(called: CommandCall) -> bool:
    """`--help` and `--version` do nothing else, unless they may belong to an inner command."""
    texts = [word.text for word in called.args]
    asks = (
        any(t in ("--help", "--version", "-help", "-version") for t in texts[:4])
        or texts[-1:] == ["--help"]
        or texts in (["-h"], ["-V"], ["help"], ["version"])
    )
    carries = called.name in CARRIERS or called.name in SHELLS or (called.rest and called.rest[0] in ("run", "exec"))
    return (
        asks
        and bool(is_known(called.name) or (LANGUAGES.fullmatch(called.name) and not called.rest))
        and not (carries and texts[:1] not in (["--help"], ["--version"]))
        and called.name not in ("echo", "printf", "kill")
    )


def judge_script(called: CommandCall, command: Command, depth: int) -> list[Sight]:
    """An interpreter: a module or script we know by name counts as the program itself."""
    texts = [word.text for word in called.args]
    if called.name.startswith("py") and texts[:1] == ["-m"] and len(texts) > 1:
        inner = texts[1]
        if is_known(inner) or inner in CARRIERS:
            return [*words_sights(called.args[1:], command, depth + 1), Sight("low")]
        return [Sight("low")]
    script = called.rest[0].rsplit("/", 1)[-1] if called.rest else ""
    if script in ("manage.py", "artisan", "console", "rails"):
        return django(call(script, called.args[1:]))
    return language_sights(called, command, judge_at(depth))
