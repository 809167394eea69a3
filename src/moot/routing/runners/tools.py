"""Tools that need more than a table: find, docker, kubectl, git, sed, awk, make, editors."""

import re

from moot.routing.answer import Sight, highest_sight
from moot.routing.interpreters import find_input_texts
from moot.routing.rules import CommandCall, find_rule, has_option
from moot.routing.runners.carriers import RUN_VALUED, SECOND, after_dashes, after_word, carrier, inner_words
from moot.routing.runners.git_settings import git_sights
from moot.routing.runners.inside import Inside
from moot.routing.runners.launchers import EDITORS, awk_sights, editor_sights, make_sights, sed_sights, values_of
from moot.routing.runners.variables import variable_sights
from moot.routing.runners.wrappers import (
    alias,
    env,
    evaluate,
    expect,
    export,
    judge_carrier,
    schedule,
    source,
    su,
    sudo,
    terminal,
    trap,
)
from moot.routing.script import Word
from moot.routing.secrets import pattern_secrets
from moot.routing.tasks import judge_task, unknown_sights
from moot.routing.write_targets import judge_copy, judge_write


def find(called: CommandCall, inside: Inside) -> list[Sight]:
    sights, texts = [Sight("read")], [w.text for w in called.args]
    if "-delete" in texts:
        sights.append(Sight("high", "destructive", called.excerpt, "it deletes everything it finds"))
    if {"-fprint", "-fls", "-fprintf"} & set(texts):
        sights.append(Sight("low"))
    for at, text in enumerate(texts):
        if text in ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"):
            end = next((n for n in range(at + 1, len(texts)) if texts[n] in (";", "+")), len(texts))
            if inner := called.args[at + 1 : end]:
                found = [*inside.words(inner), *pattern_secrets(called.args, inner[0].text)]
                sights += [
                    *found,
                    *(
                        [Sight("medium", "bulk", called.excerpt, "it runs once for everything it finds")]
                        if highest_sight(found).level != "read"
                        else []
                    ),
                ]
    return sights


def docker_run(called: CommandCall, inside: Inside) -> list[Sight]:
    """`docker run image command`: a container without the host's files can do little harm."""
    sight = find_rule(called)
    sights = [sight] if sight else []
    verbs = called.rest[:2]
    if verbs[:1] == ("compose",):
        return [*sights, *compose(called, inside)]
    if verbs[:1] == ("container",):
        verbs = verbs[1:]
    if verbs[:1] == ("exec",):
        return [*sights, *judge_carrier(called, SECOND[("docker", "exec")], after_word(called.args, "exec"), inside)]
    if verbs[:1] != ("run",):
        return sights or unknown_sights(called)
    words = inner_words(after_word(called.args, "run"), carrier(" ".join(RUN_VALUED), skips=1))
    words = (*(Word(text) for text in values_of(called, frozenset(("--entrypoint",)))), *words)
    mounts = any(has_option(called, o) for o in ("--mount", "--volume", "--privileged")) or any(
        re.match(r"-v", o) for o in called.options
    )
    if words and mounts:
        sights += inside.words(words)
    return [*sights, Sight("low")]


def compose(called: CommandCall, inside: Inside) -> list[Sight]:
    for verb in ("exec", "run"):
        if verb in called.rest[1:2]:
            return judge_carrier(called, SECOND[("docker-compose", verb)], after_word(called.args, verb), inside)
    return []


def cluster(called: CommandCall, inside: Inside) -> list[Sight]:
    sight = find_rule(called)
    if called.rest[:1] in (("exec",), ("debug",), ("run",)):
        words = after_dashes(called.args)
        inner = inside.words(words) if words else []
        if inner and highest_sight(inner).level == "read" and called.rest[0] == "exec":
            return inner
        return [*inner, Sight("medium", "change", called.excerpt, "it acts inside the cluster")]
    return [sight] if sight else unknown_sights(called)


def git(called: CommandCall, inside: Inside) -> list[Sight]:
    sights = git_sights(called, inside.text)
    if called.rest[:2] in (("submodule", "foreach"), ("bisect", "run")):
        words = after_word(called.args, called.rest[1])
        words = words[1:] if words[:1] and words[0].text == "--recursive" else words
        inner = inside.text(words[0].text) if len(words) == 1 else []
        sights += inner or (inside.words(words) if words else [])
    sight = find_rule(called)
    return [*sights, sight] if sight else [*sights, Sight("low")]


def awk(called: CommandCall, inside: Inside) -> list[Sight]:
    return awk_sights(called, inside.text)


def sed(called: CommandCall, inside: Inside) -> list[Sight]:
    return [*judge_task(called), *sed_sights(called, inside.text)]


def edit(called: CommandCall, inside: Inside) -> list[Sight]:
    """Editors and pagers: the files they may write, and the commands they run."""
    own = judge_task(called) if called.name in ("less", "more") else judge_write(called, inside)
    inner = editor_sights(
        called, inside.text, find_input_texts(inside.command) if called.name in ("ed", "ex", "vi", "vim") else []
    )
    return [*own, *inner]


def make(called: CommandCall, inside: Inside) -> list[Sight]:
    fed_rules = find_input_texts(inside.command) if {"-", "/dev/stdin"} & {word.text for word in called.args} else []
    given = [text.partition("=") for text in called.rest if "=" in text]
    found = [s for name, _, value in given for s in variable_sights(name, value, inside.text)]
    return [*judge_task(called), *make_sights(called, inside.text, fed_rules), *found]


SPECIAL = {
    "sudo": sudo, "doas": sudo, "su": su, "env": env, "eval": evaluate, "source": source, ".": source, "trap": trap,
    "alias": alias, "find": find, "fd": find, "fdfind": find, "docker": docker_run, "podman": docker_run,
    "nerdctl": docker_run, "kubectl": cluster, "oc": cluster, "k": cluster, "git": git, "awk": awk, "gawk": awk,
    "mawk": awk, "nawk": awk, "sed": sed, "gsed": sed, "make": make, "gmake": make, "tmux": terminal,
    "screen": terminal, "expect": expect, "at": schedule, "batch": schedule, "crontab": schedule,
    **dict.fromkeys(("tee", "nano", "code", "subl"), judge_write),
    **dict.fromkeys((*sorted(EDITORS), "ed"), edit),
    **dict.fromkeys(("export", "declare", "typeset", "readonly", "local"), export),
    **dict.fromkeys(("cp", "mv", "ln", "install"), judge_copy),
}  # fmt: skip
