"""Programs that run a given command: with other rights, elsewhere, later, or as text."""

import re

from moot.routing.answer import Sight
from moot.routing.interpreters import INPUTS, SHELLS, find_input_texts, shell_sights
from moot.routing.patterns import Lazy
from moot.routing.rules import CommandCall, call, has_option
from moot.routing.runners.carriers import CARRIERS, CommandCarrier, carrier, inner_words, settings_in
from moot.routing.runners.inside import Inside
from moot.routing.runners.launchers import tcl_sights, terminal_command, values_of
from moot.routing.runners.variables import variable_sights
from moot.routing.script import HOLE, Word
from moot.routing.secrets import pattern_secrets
from moot.routing.self_protection import variable_guard
from moot.routing.tasks import judge_task

CRON_TIME = Lazy(r"\s*(?:@\w+|(?:[\d*/,-]+\s+){5})\s*")


def judge_carrier(called: CommandCall, how: CommandCarrier, args: tuple[Word, ...], inside: Inside) -> list[Sight]:
    words = inner_words(args, how)
    given = [s for name, value in settings_in(args, words) for s in variable_sights(name, value, inside.text)]
    return [*given, *judge_carried_words(called, how, words, inside)]


def judge_carried_words(
    called: CommandCall, how: CommandCarrier, words: tuple[Word, ...], inside: Inside
) -> list[Sight]:
    if not words and called.name == "ssh" and (texts := find_input_texts(inside.command)):  # `ssh host <<EOF`
        return [how.floor or Sight("low"), *(s for text in texts for s in inside.text(text))]
    if not words:
        return [how.always or (how.floor if how.floor and called.name == "ssh" else Sight("low"))]
    if how.as_text:
        text = " ".join(
            w.text if not re.search(r"[\s;|&]", w.text) or len(words) <= 2 else f"'{w.text}'" for w in words
        )
        sights = inside.text(text)
    else:
        sights = inside.words(words)
    if how.more and inside.command.fed_by:
        sights = [*sights, *pattern_secrets(inside.command.fed_by[-1].words, words[0].text)]
    if how.floor and any(s.level != "read" for s in sights):
        sights = [*sights, how.floor]
    return [*sights, how.always] if how.always else sights


def sudo(called: CommandCall, inside: Inside) -> list[Sight]:
    if any(has_option(called, o) for o in ("-i", "-s", "--login", "--shell")) and not called.rest:
        return [Sight("high", "security", called.excerpt, "it opens a shell with all rights")]
    words = inner_words(called.args, CARRIERS[called.name])
    if words and words[0].text.rsplit("/", 1)[-1] in (*SHELLS, "su") and len(words) == 1 and not inside.command.fed_by:
        return [Sight("high", "security", called.excerpt, "it opens a shell with all rights")]
    return judge_carrier(called, CARRIERS[called.name], called.args, inside)


def su(called: CommandCall, inside: Inside) -> list[Sight]:
    texts = [w.text for w in called.args]
    if "-c" in texts and texts.index("-c") + 1 < len(texts):
        return [
            *inside.text(texts[texts.index("-c") + 1]),
            Sight("medium", "privilege", "su", "it acts as somebody else"),
        ]
    return [Sight("high", "security", called.excerpt, "it becomes somebody else")]


def env(called: CommandCall, inside: Inside) -> list[Sight]:
    if texts := values_of(called, frozenset(("-S", "--split-string"))):
        return [s for text in texts for s in inside.text(text)]
    unset = [s for name in values_of(called, frozenset(("-u", "--unset"))) if (s := variable_guard(name))]
    if not inner_words(called.args, CARRIERS["env"]):
        return [Sight("high", "security", "env", "it prints every secret of the environment")]
    return unset + judge_carrier(called, CARRIERS["env"], called.args, inside)


def evaluate(called: CommandCall, inside: Inside) -> list[Sight]:
    text = " ".join(w.text for w in called.args)
    if HOLE in text and not text.strip(HOLE + " "):
        return [Sight("medium", "unclear", "eval", "what it runs is only known when it runs")]
    return inside.text(text)


def source(called: CommandCall, inside: Inside) -> list[Sight]:
    if called.args and HOLE in called.args[0].text:
        return [Sight("medium", "unclear", "source", "what it runs is only known when it runs")]
    if called.rest[:1] and called.rest[0] in INPUTS:
        return shell_sights(call("sh", ()), inside.command, inside.text)
    return [Sight("low")]


def export(called: CommandCall, inside: Inside) -> list[Sight]:
    """`export NAME=value` affects everything that follows."""
    pairs = [text.partition("=") for text in called.rest if "=" in text]
    found = [s for name, _, value in pairs for s in variable_sights(name, value, inside.text, alone=True)]
    return [*found, *judge_task(called)]


def trap(called: CommandCall, inside: Inside) -> list[Sight]:
    return inside.text(called.rest[0]) if called.rest and called.rest[0] != "-" else [Sight("read")]


def alias(called: CommandCall, inside: Inside) -> list[Sight]:
    bodies = [text.partition("=")[2] for text in called.rest if "=" in text]
    return [s for body in bodies for s in [*inside.text(body), Sight("low")]] or [Sight("read")]


def terminal(called: CommandCall, inside: Inside) -> list[Sight]:
    """tmux and screen: what they start in another window runs too."""
    if text := terminal_command(called):
        return [*inside.text(text), Sight("low")]
    words = inner_words(called.args, carrier("-S -c -h -t -s -p -T -e")) if called.name == "screen" else ()
    return [*(inside.words(words) if words else []), Sight("low")]


def expect(called: CommandCall, inside: Inside) -> list[Sight]:
    codes = [*values_of(called, frozenset(("-c",))), *(find_input_texts(inside.command) or [])]
    return [Sight("low"), *(s for code in codes for s in tcl_sights(called, code, inside.text))]


def schedule(called: CommandCall, inside: Inside) -> list[Sight]:
    """`at` and `crontab -`: their input runs later."""
    lines = [CRON_TIME.sub("", line) for text in find_input_texts(inside.command) or () for line in text.splitlines()]
    return [*judge_task(called), *(s for line in lines if line.strip() for s in inside.text(line))]
