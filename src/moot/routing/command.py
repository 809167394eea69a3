"""A command line judged: every program in it, what carries it, what feeds it, where it writes."""

import re
from collections.abc import Iterator
from itertools import pairwise
from posixpath import join

from moot.routing.answer import Route, Sight, action, gravest
from moot.routing.carriers import (
    CARRIERS,
    LOADER,
    RUN_VALUED,
    SECOND,
    Carrier,
    after_dashes,
    carrier,
    inner_words,
    settings_in,
)
from moot.routing.git_settings import git_sights
from moot.routing.guarding import guard_sights, variable_guard
from moot.routing.interpreters import (
    DATABASES,
    DECODERS,
    DOCUMENTS,
    INPUTS,
    LANGUAGES,
    SHELLS,
    database_sights,
    document_sights,
    fed,
    language_sights,
    shell_sights,
)  # fmt: skip
from moot.routing.launchers import (
    EDITORS,
    Judge,
    awk_sights,
    edited_by,
    edited_by_sed,
    launched,
    made_by,
    sent_to_terminal,
    spawned,
    values_of,
)  # fmt: skip
from moot.routing.patterns import Lazy
from moot.routing.rules import Call, call, has_option, known, ruled
from moot.routing.script import HOLE, Command, Unreadable, Word
from moot.routing.secrets import secret_sights
from moot.routing.shell import parse
from moot.routing.tasks import ruled_or_guessed, unknown_sights
from moot.routing.variables import variable_sights
from moot.routing.web import FETCHERS, runs_download, web_sights
from moot.routing.writing import copied, from_example, redirect_sights, written

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


def command_route(command: str) -> Route:
    """The route of something known to be a shell command."""
    return action(command_sights(command.replace("\0", "")))


def command_sights(text: str, depth: int = 0) -> list[Sight]:
    """Everything seen in a script. What cannot be read is not taken for harmless."""
    if depth > DEEPEST:
        return [Sight("high", "unclear", "nesting", "it is nested too deep to be read")]
    if FORK_BOMB.search(text[:2000]):
        return [Sight("high", "destructive", "fork bomb", "it starts itself until the machine stops")]
    try:
        commands = parse(text)
    except (Unreadable, RecursionError) as problem:
        why = str(problem) if isinstance(problem, Unreadable) else "it is nested too deep"
        return [Sight("high", "unclear", "unreadable command", f"the command cannot be read: {why}")]
    own = frozenset(c.words[1].text for c in commands if len(c.words) == 2 and c.words[0].text == "function")
    sights = [s for c in in_folders(commands) for s in one_command(c, depth, own)]
    names = {c.words[0].text.rsplit("/", 1)[-1] for c in commands if c.words}
    unclear = any(s.group == "unclear" for s in sights)
    if (names & FETCHERS and unclear) or runs_download(commands):
        sights.append(Sight("high", "security", "download and run", "it runs what the network sends, unread"))
    if names & DECODERS and unclear:
        sights.append(Sight("high", "unclear", "decoded and run", "the commands are hidden in an encoding"))
    return sights or [Sight("read")]


def in_folders(commands: tuple[Command, ...]) -> Iterator[Command]:
    """The commands, each with the folder it runs in as far as `cd` tells."""
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
    if not (known(name) or name in CARRIERS or LANGUAGES.fullmatch(name)):
        name = name.lower().removesuffix(".exe")
    called = call(name, words[1:])
    sights = [*program_sights(called, command, depth), *guard_sights(called, command.folder)]
    if first.spelled:
        sights.append(Sight("high", "unclear", f"{name} in escapes", f"the name {name} is hidden in escapes"))
    texts, names = [w.text for w in words[1:]], [n for w in words[1:] for n in w.names]
    if not (name == "git" and "--cached" in texts) and not from_example(name, called.rest):
        sights += secret_sights(name, texts, names)
    for option in (*called.options, *(f"{a.text}={b.text}" for a, b in pairwise(called.args))):
        if option in UNSAFE_OPTIONS:
            sights.append(Sight("high", "security", option, f"{option} {UNSAFE_OPTIONS[option]}"))
    return sights


def judge_at(depth: int) -> Judge:
    """What judges a command inside a command."""
    return lambda text: command_sights(text, depth + 1)


def program_sights(called: Call, command: Command, depth: int) -> list[Sight]:
    if helps(called):
        return [Sight("read")]
    return [*own_sights(called, command, depth), *launched(called, judge_at(depth))]


def own_sights(called: Call, command: Command, depth: int) -> list[Sight]:
    """What a program does by itself, whatever its options make it run besides."""
    name = called.name
    if special := SPECIAL.get(name):
        return special(called, command, depth)
    if name in CARRIERS:
        return carried(called, CARRIERS[name], called.args, command, depth)
    if LOADER.fullmatch(name):
        return carried(called, carrier("--library-path --preload --argv0"), called.args, command, depth)
    if called.rest and (how := SECOND.get((name, called.rest[0]))):
        return carried(called, how, _after_word(called.args, called.rest[0]), command, depth)
    return coded(called, command, depth) or ruled_or_guessed(called)


def coded(called: Call, command: Command, depth: int) -> list[Sight]:
    """Programs that are handed code or requests of their own; nothing for all others."""
    if called.name in SHELLS:
        return shell_sights(called, command, judge_at(depth))
    if LANGUAGES.fullmatch(called.name):
        return scripted(called, command, depth)
    if called.name in DATABASES:
        return database_sights(called, command)
    if called.name in DOCUMENTS:
        return document_sights(called, command)
    return web_sights(called) if called.name in FETCHERS else []


def helps(called: Call) -> bool:
    """`--help` and `--version` do nothing else; but not where they may belong to an inner command."""
    texts = [word.text for word in called.args]
    asks = (
        any(t in ("--help", "--version", "-help", "-version") for t in texts[:4])
        or texts[-1:] == ["--help"]
        or texts in (["-h"], ["-V"], ["help"], ["version"])
    )
    carries = called.name in CARRIERS or called.name in SHELLS or (called.rest and called.rest[0] in ("run", "exec"))
    return (
        asks
        and bool(known(called.name) or (LANGUAGES.fullmatch(called.name) and not called.rest))
        and not (carries and texts[:1] not in (["--help"], ["--version"]))
        and called.name not in ("echo", "printf", "kill")
    )


def _after_word(args: tuple[Word, ...], word: str) -> tuple[Word, ...]:
    at = next(n for n, a in enumerate(args) if a.text == word)
    return args[at + 1 :]


def carried(called: Call, how: Carrier, args: tuple[Word, ...], command: Command, depth: int) -> list[Sight]:
    words = inner_words(args, how)
    given = [s for name, value in settings_in(args, words) for s in variable_sights(name, value, judge_at(depth))]
    return [*given, *carried_words(called, how, words, command, depth)]


def carried_words(called: Call, how: Carrier, words: tuple[Word, ...], command: Command, depth: int) -> list[Sight]:
    if not words and called.name == "ssh" and (texts := fed(command)):  # `ssh host <<EOF`
        return [how.floor or Sight("low"), *(s for text in texts for s in command_sights(text, depth + 1))]
    if not words:
        return [how.always or (how.floor if how.floor and called.name == "ssh" else Sight("low"))]
    if how.as_text:
        text = " ".join(
            w.text if not re.search(r"[\s;|&]", w.text) or len(words) <= 2 else f"'{w.text}'" for w in words
        )
        sights = command_sights(text, depth + 1)
    else:
        sights = words_sights(words, command, depth + 1)
    if how.floor and any(s.level != "read" for s in sights):
        sights = [*sights, how.floor]
    return [*sights, how.always] if how.always else sights


def scripted(called: Call, command: Command, depth: int) -> list[Sight]:
    """A language: a module or script we know by name counts as the program itself."""
    texts = [word.text for word in called.args]
    if called.name.startswith("py") and texts[:1] == ["-m"] and len(texts) > 1:
        inner = texts[1]
        if known(inner) or inner in CARRIERS:
            return [*words_sights(called.args[1:], command, depth + 1), Sight("low")]
        return [Sight("low")]
    script = called.rest[0].rsplit("/", 1)[-1] if called.rest else ""
    if script in ("manage.py", "artisan", "console", "rails"):
        return django(call(script, called.args[1:]))
    return language_sights(called, command, judge_at(depth))


def django(called: Call) -> list[Sight]:
    task = called.rest[0] if called.rest else ""
    if task in (
        "flush",
        "reset_db",
        "sqlflush",
        "migrate:fresh",
        "migrate:reset",
        "db:wipe",
        "migrate:rollback",
        "doctrine:database:drop",
    ):
        return [Sight("high", "destructive", called.shown, f"`{called.shown}` throws data away")]
    if task in ("showmigrations", "check", "help", "sqlmigrate", "diffsettings", "route:list", "list"):
        return [Sight("read")]
    if task in ("changepassword", "createsuperuser"):
        return [Sight("high", "security", called.shown, f"`{called.shown}` changes accounts")]
    if task in ("migrate", "loaddata"):
        return [Sight("medium", "change", called.shown, f"`{called.shown}` changes a database")]
    return [Sight("low")]


def sudo(called: Call, command: Command, depth: int) -> list[Sight]:
    if any(has_option(called, o) for o in ("-i", "-s", "--login", "--shell")) and not called.rest:
        return [Sight("high", "security", called.shown, "it opens a shell with all rights")]
    words = inner_words(called.args, CARRIERS[called.name])
    if words and words[0].text.rsplit("/", 1)[-1] in (*SHELLS, "su") and len(words) == 1 and not command.fed_by:
        return [Sight("high", "security", called.shown, "it opens a shell with all rights")]
    return carried(called, CARRIERS[called.name], called.args, command, depth)


def su(called: Call, command: Command, depth: int) -> list[Sight]:
    texts = [w.text for w in called.args]
    if "-c" in texts and texts.index("-c") + 1 < len(texts):
        return [
            *command_sights(texts[texts.index("-c") + 1], depth + 1),
            Sight("medium", "privilege", "su", "it acts as somebody else"),
        ]
    return [Sight("high", "security", called.shown, "it becomes somebody else")]


def env(called: Call, command: Command, depth: int) -> list[Sight]:
    if texts := values_of(called, frozenset(("-S", "--split-string"))):
        return [s for text in texts for s in command_sights(text, depth + 1)]
    unset = [s for name in values_of(called, frozenset(("-u", "--unset"))) if (s := variable_guard(name))]
    if not inner_words(called.args, CARRIERS["env"]):
        return [Sight("high", "security", "env", "it prints every secret of the environment")]
    return unset + carried(called, CARRIERS["env"], called.args, command, depth)


def evaluate(called: Call, command: Command, depth: int) -> list[Sight]:
    text = " ".join(w.text for w in called.args)
    if HOLE in text and not text.strip(HOLE + " "):
        return [Sight("medium", "unclear", "eval", "what it runs is only known when it runs")]
    return command_sights(text, depth + 1)


def source(called: Call, command: Command, depth: int) -> list[Sight]:
    if called.args and HOLE in called.args[0].text:
        return [Sight("medium", "unclear", "source", "what it runs is only known when it runs")]
    if called.rest[:1] and called.rest[0] in INPUTS:
        return shell_sights(call("sh", ()), command, judge_at(depth))
    return [Sight("low")]


def exported(called: Call, command: Command, depth: int) -> list[Sight]:
    """`export NAME=value` is a setting for everything that follows."""
    pairs = [text.partition("=") for text in called.rest if "=" in text]
    found = [s for name, _, value in pairs for s in variable_sights(name, value, judge_at(depth), alone=True)]
    return [*found, *ruled_or_guessed(called)]


def trap(called: Call, command: Command, depth: int) -> list[Sight]:
    return command_sights(called.rest[0], depth + 1) if called.rest and called.rest[0] != "-" else [Sight("read")]


def alias(called: Call, command: Command, depth: int) -> list[Sight]:
    bodies = [text.partition("=")[2] for text in called.rest if "=" in text]
    return [s for body in bodies for s in [*command_sights(body, depth + 1), Sight("low")]] or [Sight("read")]


def find(called: Call, command: Command, depth: int) -> list[Sight]:
    sights, texts = [Sight("read")], [w.text for w in called.args]
    if "-delete" in texts:
        sights.append(Sight("high", "destructive", called.shown, "it deletes everything it finds"))
    if {"-fprint", "-fls", "-fprintf"} & set(texts):
        sights.append(Sight("low"))
    for at, text in enumerate(texts):
        if text in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"):
            end = next((n for n in range(at + 1, len(texts)) if texts[n] in (";", "+")), len(texts))
            if inner := called.args[at + 1 : end]:
                found = words_sights(inner, command, depth + 1)
                sights += [
                    *found,
                    *(
                        [Sight("medium", "bulk", called.shown, "it runs once for everything it finds")]
                        if gravest(found).level != "read"
                        else []
                    ),
                ]
    return sights


def docker_run(called: Call, command: Command, depth: int) -> list[Sight]:
    """`docker run image command`: inside a container without the host's files little can go wrong."""
    sight = ruled(called)
    sights = [sight] if sight else []
    verbs = called.rest[:2]
    if verbs[:1] == ("compose",):
        return [*sights, *compose(called, command, depth)]
    if verbs[:1] == ("container",):
        verbs = verbs[1:]
    if verbs[:1] == ("exec",):
        return [*sights, *carried(called, SECOND[("docker", "exec")], _after_word(called.args, "exec"), command, depth)]
    if verbs[:1] != ("run",):
        return sights or unknown_sights(called)
    words = inner_words(_after_word(called.args, "run"), carrier(" ".join(RUN_VALUED), skips=1))
    words = (*(Word(text) for text in values_of(called, frozenset(("--entrypoint",)))), *words)
    mounts = any(has_option(called, o) for o in ("--mount", "--volume", "--privileged")) or any(
        re.match(r"-v", o) for o in called.options
    )
    if words and mounts:
        sights += words_sights(words, command, depth + 1)
    return [*sights, Sight("low")]


def compose(called: Call, command: Command, depth: int) -> list[Sight]:
    for verb in ("exec", "run"):
        if verb in called.rest[1:2]:
            return carried(called, SECOND[("docker-compose", verb)], _after_word(called.args, verb), command, depth)
    return []


def cluster(called: Call, command: Command, depth: int) -> list[Sight]:
    sight = ruled(called)
    if called.rest[:1] in (("exec",), ("debug",), ("run",)):
        words = after_dashes(called.args)
        inner = words_sights(words, command, depth + 1) if words else []
        if inner and gravest(inner).level == "read" and called.rest[0] == "exec":
            return inner
        return [*inner, Sight("medium", "change", called.shown, "it acts inside the cluster")]
    return [sight] if sight else unknown_sights(called)


def git(called: Call, command: Command, depth: int) -> list[Sight]:
    sights = git_sights(called, judge_at(depth))
    if called.rest[:2] in (("submodule", "foreach"), ("bisect", "run")):
        words = _after_word(called.args, called.rest[1])
        words = words[1:] if words[:1] and words[0].text == "--recursive" else words
        inner = command_sights(words[0].text, depth + 1) if len(words) == 1 else []
        sights += inner or (words_sights(words, command, depth + 1) if words else [])
    sight = ruled(called)
    return [*sights, sight] if sight else [*sights, Sight("low")]


def awk(called: Call, command: Command, depth: int) -> list[Sight]:
    return awk_sights(called, judge_at(depth))


def sed(called: Call, command: Command, depth: int) -> list[Sight]:
    return [*ruled_or_guessed(called), *edited_by_sed(called, judge_at(depth))]


def edit(called: Call, command: Command, depth: int) -> list[Sight]:
    """Editors and pagers: the files they may write, and the commands they are told to run."""
    own = ruled_or_guessed(called) if called.name in ("less", "more") else written(called, command, depth)
    inner = edited_by(called, judge_at(depth), fed(command) if called.name in ("ed", "ex", "vi", "vim") else [])
    return [*own, *inner]


def make(called: Call, command: Command, depth: int) -> list[Sight]:
    fed_rules = fed(command) if {"-", "/dev/stdin"} & {word.text for word in called.args} else []
    given = [text.partition("=") for text in called.rest if "=" in text]
    found = [s for name, _, value in given for s in variable_sights(name, value, judge_at(depth))]
    return [*ruled_or_guessed(called), *made_by(called, judge_at(depth), fed_rules), *found]


def terminal(called: Call, command: Command, depth: int) -> list[Sight]:
    """tmux and screen: what they start in another window runs all the same."""
    if text := sent_to_terminal(called):
        return [*command_sights(text, depth + 1), Sight("low")]
    words = inner_words(called.args, carrier("-S -c -h -t -s -p -T -e")) if called.name == "screen" else ()
    return [*(words_sights(words, command, depth + 1) if words else []), Sight("low")]


def expect(called: Call, command: Command, depth: int) -> list[Sight]:
    codes = [*values_of(called, frozenset(("-c",))), *(fed(command) or [])]
    return [Sight("low"), *(s for code in codes for s in spawned(called, code, judge_at(depth)))]


def planned(called: Call, command: Command, depth: int) -> list[Sight]:
    """`at` and `crontab -`: what comes in runs later."""
    lines = [CRON_TIME.sub("", line) for text in fed(command) or () for line in text.splitlines()]
    return [*ruled_or_guessed(called), *(s for line in lines if line.strip() for s in command_sights(line, depth + 1))]


CRON_TIME = Lazy(r"\s*(?:@\w+|(?:[\d*/,-]+\s+){5})\s*")
SPECIAL = {
    "sudo": sudo, "doas": sudo, "su": su, "env": env, "eval": evaluate, "source": source, ".": source, "trap": trap,
    "alias": alias, "find": find, "fd": find, "fdfind": find, "docker": docker_run, "podman": docker_run,
    "nerdctl": docker_run, "kubectl": cluster, "oc": cluster, "k": cluster, "git": git, "awk": awk, "gawk": awk,
    "mawk": awk, "nawk": awk, "sed": sed, "gsed": sed, "make": make, "gmake": make, "tmux": terminal,
    "screen": terminal, "expect": expect, "at": planned, "batch": planned, "crontab": planned,
    **dict.fromkeys(("tee", "nano", "code", "subl"), written),
    **dict.fromkeys((*sorted(EDITORS), "ed"), edit),
    **dict.fromkeys(("export", "declare", "typeset", "readonly", "local"), exported),
    **dict.fromkeys(("cp", "mv", "ln", "install"), copied),
}  # fmt: skip
