"""Looks up which line of the program tables matches a call."""

import re
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from moot.routing.answer import Level, Sight
from moot.routing.programs import cloud, containers, files, git, packages, system
from moot.routing.script import Word

TABLES = (files.RULES, git.RULES, containers.RULES, cloud.RULES, packages.RULES, system.RULES)
READS = frozenset(files.READS.split())
VERBED = frozenset(cloud.VERBED.split())
RUNNERS = frozenset(packages.RUNNERS.split())
VALUED = {
    "git": "-C -c --git-dir --work-tree --namespace --exec-path --config-env",
    "docker": "-H --host --context -c --config -l --log-level -f --file -p --project-name --profile --env-file",
    "kubectl": "-n --namespace --context --cluster --kubeconfig --user -s --server --as --token -l -f --filename -o",
    "helm": "-n --namespace --kube-context --kubeconfig",
    "aws": "--profile --region --endpoint-url --output --query --ca-bundle --cli-input-json",
    "gcloud": "--project --account --configuration --format --zone --region --filter",
    "az": "--subscription -g --resource-group --name -n -o --output --query",
    "gh": "-R --repo",
    "make": "-C --directory -f --file --makefile -j -I -o -W",
    "npm": "--prefix -w --workspace -C",
    "yarn": "--cwd",
    "pnpm": "--filter -F -C --dir",
    "systemctl": "-H -M -n -t --type",
    "redis-cli": "-h -p -a -n -u -s --user --pass",
    "cargo": "--manifest-path --color --config -Z -p --package",
    "nomad": "-address -namespace",
    "just": "-f --justfile -d",
    "gradle": "-p -b",
    "apt-get": "-o -c",
    "heroku": "-a --app -r --remote",
    "gsutil": "-o",
    "truncate": "-s --size -r",
    "tar": "-f --file -C --directory",
    "mvn": "-f -P -pl",
    "systemd-run": "-p",
    "tmux": "-s -n -c -t -x -y -F -f -L -S -e",
    "screen": "-S -c -h -t -s -p -T",
}
for _name, _like in (
    ("podman", "docker"), ("nerdctl", "docker"), ("docker-compose", "docker"), ("podman-compose", "docker"),
    ("oc", "kubectl"), ("k", "kubectl"), ("apt", "apt-get"), ("gmake", "make"), ("flyctl", "heroku"), ("fly", "heroku"),
):  # fmt: skip
    VALUED[_name] = VALUED[_like]


class RuleLine(NamedTuple):
    """One line of a table: `high destructive git reset --hard | throws away…`."""

    level: Level
    group: str
    needs: tuple[str, ...]
    why: str


class CommandCall(NamedTuple):
    """A program call, options separated from the other arguments."""

    name: str
    args: tuple[Word, ...]
    options: tuple[str, ...]
    rest: tuple[str, ...]

    @property
    def excerpt(self) -> str:
        return _shorten_text(" ".join([self.name, *(word.text for word in self.args)]))


def _shorten_text(text: str) -> str:
    plain = " ".join(text.replace("\0", "…").split())
    return plain if len(plain) <= 60 else plain[:59] + "…"


def call(name: str, args: tuple[Word, ...]) -> CommandCall:
    valued = frozenset(VALUED.get(name, "").split())
    options: list[str] = []
    rest: list[str] = []
    taken = ended = False
    for word in args:
        text = word.text
        if taken:
            taken = False
            options[-1] += f"={text}"
        elif not ended and text.startswith("-") and text != "-":
            options.append(text)
            ended = text == "--"
            taken = text in valued
        else:
            rest.append(text)
    return CommandCall(name, args, tuple(options), tuple(rest))


@cache
def index() -> dict[str, list[str]]:
    lines: dict[str, list[str]] = {}
    for table in TABLES:
        for line in table.strip().splitlines():
            for name in line.split(None, 3)[2].split(","):
                lines.setdefault(name, []).append(line)
    return lines


@cache
def lines_of(name: str) -> tuple[RuleLine, ...]:
    found = []
    for raw in index().get(name, ()):
        head, _, why = raw.partition(" | ")
        level, group, _, *needs = head.split()
        found.append(RuleLine(level, "" if group == "-" else group, tuple(needs), why.strip()))  # type: ignore[arg-type]
    return tuple(sorted(found, key=lambda line: not line.needs))  # lines that match every call come last


def is_known(name: str) -> bool:
    return name in READS or name in index() or name in VERBED or name in RUNNERS


def find_rule(called: CommandCall) -> Sight | None:
    """The first matching line. Higher stakes are also searched behind options that may take a value."""
    other = without_values(called)
    for line in lines_of(called.name):
        counts = any(need.startswith("#") for need in line.needs)
        hidden = other and line.level == "high" and not counts and _fits(line, other)
        if _fits(line, called) or hidden:
            return Sight(line.level, line.group, called.excerpt, line.why and f"`{called.excerpt}` {line.why}")
    return Sight("read") if called.name in READS else None


def without_values(called: CommandCall) -> CommandCall | None:
    """The call as if every unknown option took the next word: `mysqladmin -u root drop app`."""
    texts = [word.text for word in called.args]
    values = {b for a, b in pairwise(texts) if a.startswith("-") and a != "--" and "=" not in a}
    rest = tuple(text for text in called.rest if text not in values)
    return called._replace(rest=rest) if rest != called.rest and rest else None


def _fits(line: RuleLine, called: CommandCall) -> bool:
    place = 0
    for need in line.needs:
        if need == "@alone":
            fits = not called.args
        elif need.startswith("#"):
            fits = len(called.rest) == int(need[1:])
        elif need.startswith("!"):
            fits = not _anywhere(need[1:], called)
        elif need.startswith(("~", "-")):
            fits = _anywhere(need, called, loosely=line.level != "read")
        else:
            choices = need.split(",")
            fits = place < len(called.rest) and (need == "*" or called.rest[place] in choices)
            place += fits
            fits = fits or any(has_option(called, c) for c in choices if c.startswith("-"))
        if not fits:
            return False
    return True


def _anywhere(need: str, called: CommandCall, *, loosely: bool = False) -> bool:
    if need.startswith("~"):
        pattern = _pattern(need[1:])
        return any(pattern.fullmatch(word.text) for word in called.args)
    return any(
        has_option(called, choice, loosely=loosely) if choice.startswith("-") else choice in called.rest
        for choice in need.split(",")
    )


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("\\\\", "\\"))


def has_option(called: CommandCall, wanted: str, *, loosely: bool = False) -> bool:
    """`-f` is in `-rf`, `--force` in `--force=true`; loosely, `--forc` is read as `--force`, as many programs do."""
    for given in called.options:
        if given == wanted or given.startswith(f"{wanted}="):
            return True
        if (
            len(wanted) == 2
            and wanted[1].isalnum()
            and re.fullmatch(r"-[A-Za-z0-9]{2,6}", given)
            and wanted[1] in given
        ):
            return True
        if loosely and len(given) >= 5 and given.startswith("--") and wanted.startswith(given):
            return True
    name, equals, value = wanted.partition("=")
    return bool(equals) and any(a.text == name and b.text == value for a, b in pairwise(called.args))
