"""Programs that start another program, and where the inner command begins."""

import re
from typing import NamedTuple

from moot.routing.answer import Sight
from moot.routing.patterns import Lazy, names
from moot.routing.script import HOLE, Word


class CommandCarrier(NamedTuple):
    valued: frozenset[str] = frozenset()
    """Options that take a value."""
    skips: int = 0
    """Arguments before the command, such as the seconds of `timeout`."""
    floor: Sight | None = None
    """The least level if the inner command changes anything."""
    always: Sight | None = None
    """The least level whatever the inner command does."""
    as_text: bool = False
    """The rest is joined and parsed by a shell again."""
    more: bool = False
    """More arguments come from elsewhere."""


def carrier(valued: str = "", **rest: object) -> CommandCarrier:
    return CommandCarrier(frozenset(valued.split()), **rest)  # type: ignore[arg-type]


ROOT = Sight("medium", "privilege", "sudo", "it changes something with all rights")
BULK = Sight("medium", "bulk", "xargs", "it runs once for everything that is piped in")
REMOTE = Sight("medium", "change", "ssh", "it changes another machine")
FETCHED = Sight("low")
ELSEWHERE = Sight("low")

CARRIERS: dict[str, CommandCarrier] = {
    "sudo": carrier("-u -g -h -p -C -T -U -r -t -D -R --user --group --host --prompt --chdir", floor=ROOT),
    "doas": carrier("-u -C", floor=ROOT),
    "pkexec": carrier("--user", floor=ROOT),
    "run0": carrier(floor=ROOT),
    "env": carrier("-u -C --unset --chdir -S --split-string"),
    "nohup": carrier(),
    "time": carrier("-f -o --format --output"),
    "command": carrier(),
    "builtin": carrier(),
    "exec": carrier("-a"),
    "timeout": carrier("-s -k --signal --kill-after", skips=1),
    "gtimeout": carrier("-s -k --signal --kill-after", skips=1),
    "nice": carrier("-n --adjustment"),
    "ionice": carrier("-c -n -p"),
    "stdbuf": carrier("-i -o -e"),
    "setsid": carrier(),
    "unbuffer": carrier(),
    "caffeinate": carrier("-t -w"),
    "chronic": carrier(),
    "busybox": carrier(),
    "toybox": carrier(),
    "runuser": carrier("-u -g -G -s -c --user --command", floor=ROOT),
    "gosu": carrier(skips=1, floor=ROOT),
    "su-exec": carrier(skips=1, floor=ROOT),
    "setpriv": carrier("--reuid --regid --groups", floor=ROOT),
    "setarch": carrier(skips=1),
    "linux64": carrier(),
    "linux32": carrier(),
    "taskset": carrier("-c -p --cpu-list", skips=1),
    "chrt": carrier("-p", skips=1),
    "numactl": carrier("-C -m -N"),
    "prlimit": carrier("-p"),
    "cgexec": carrier("-g"),
    "xvfb-run": carrier("-e -f -n -p -s"),
    "dbus-run-session": carrier(),
    "dbus-launch": carrier(),
    "firejail": carrier(),
    "fakeroot": carrier("-s -i -l"),
    "fakechroot": carrier(),
    "proot": carrier("-r -b -w -q"),
    "eatmydata": carrier(),
    "faketime": carrier("-f", skips=1),
    "valgrind": carrier(),
    "rlwrap": carrier("-f -H -S"),
    "catchsegv": carrier(),
    "cpulimit": carrier("-l -p"),
    "tini": carrier(),
    "dumb-init": carrier(),
    "ifne": carrier(),
    "cross-env": carrier(),
    "winpty": carrier(),
    "concurrently": carrier("-n -c -p", as_text=True),
    "pdsh": carrier("-w -l -x", floor=REMOTE, as_text=True),
    "clush": carrier("-w -l -x -g", floor=REMOTE, as_text=True),
    "pssh": carrier("-h -H -l -t -o -e", floor=REMOTE, as_text=True),
    "flock": carrier("-w -E --timeout", skips=1),
    "chroot": carrier("--userspec --groups", skips=1, floor=ROOT),
    "unshare": carrier(floor=ROOT),
    "nsenter": carrier("-t --target", floor=ROOT),
    "strace": carrier("-e -o -p -s -u"),
    "ltrace": carrier("-e -o -p -s -u"),
    "perf": carrier("-e -o", skips=1),
    "proxychains": carrier("-f"),
    "torsocks": carrier(),
    "systemd-run": carrier("-p --unit --slice -u -t --property", floor=ROOT),
    "systemd-inhibit": carrier("--what --who --why --mode"),
    "dotenv": carrier("-f -e -p"),
    "entr": carrier(),
    "hyperfine": carrier("-w -r -n -m -M -p --warmup --runs --export-json --export-markdown", as_text=True),
    "watch": carrier("-n -d --interval", as_text=True),
    "watchexec": carrier("-e -w -i", as_text=True),
    "parallel": carrier("-j -n -N -S -a --jobs --colsep --joblog", as_text=True, floor=BULK, more=True),
    "xargs": carrier(
        "-n -I -P -L -d -E -s -a -i --max-args --max-procs --replace --delimiter --arg-file", floor=BULK, more=True
    ),
    "ssh": carrier(
        "-i -p -l -o -F -L -R -D -J -c -m -b -e -E -W -w -Q -S -B -I -O", skips=1, floor=REMOTE, as_text=True
    ),
    "mosh": carrier("-p --ssh", skips=1, floor=REMOTE, as_text=True),
    "npx": carrier("-p --package -c --call", always=FETCHED),
    "bunx": carrier(always=FETCHED),
    "uvx": carrier("--from --with --python", always=FETCHED),
}
SECOND: dict[tuple[str, str], CommandCarrier] = {
    ("uv", "run"): carrier("--with --extra --group --python -p --project --env-file --directory", always=ELSEWHERE),
    ("uv", "tool"): carrier("--from", skips=1, always=FETCHED),
    ("poetry", "run"): carrier(always=ELSEWHERE),
    ("pdm", "run"): carrier(always=ELSEWHERE),
    ("rye", "run"): carrier(always=ELSEWHERE),
    ("hatch", "run"): carrier(always=ELSEWHERE),
    ("pipenv", "run"): carrier(always=ELSEWHERE),
    ("pipx", "run"): carrier("--spec", always=FETCHED),
    ("conda", "run"): carrier("-n -p --name --prefix", always=ELSEWHERE),
    ("bundle", "exec"): carrier(always=ELSEWHERE),
    ("npm", "exec"): carrier("-p --package", always=FETCHED),
    ("pnpm", "exec"): carrier(always=ELSEWHERE),
    ("pnpm", "dlx"): carrier(always=FETCHED),
    ("yarn", "dlx"): carrier("-p", always=FETCHED),
    ("yarn", "exec"): carrier(always=ELSEWHERE),
    ("bun", "x"): carrier(always=FETCHED),
    ("dotnet", "exec"): carrier(always=ELSEWHERE),
    ("op", "run"): carrier("--env-file", always=ELSEWHERE),
    ("doppler", "run"): carrier("-p -c", always=ELSEWHERE),
    ("aws-vault", "exec"): carrier("-d", skips=1, always=ELSEWHERE),
    ("direnv", "exec"): carrier(skips=1, always=ELSEWHERE),
    ("mise", "exec"): carrier(always=ELSEWHERE),
    ("nix", "run"): carrier(always=FETCHED),
    ("coverage", "run"): carrier("-m --source --omit --include", always=ELSEWHERE),
    ("docker", "exec"): carrier("-e -u -w --env --user --workdir --env-file --detach-keys", skips=1, always=ELSEWHERE),
    ("podman", "exec"): carrier("-e -u -w --env --user --workdir", skips=1, always=ELSEWHERE),
    ("docker-compose", "exec"): carrier("-e -u -w --env --user --workdir --index", skips=1, always=ELSEWHERE),
    ("docker-compose", "run"): carrier(
        "-e -u -w -v -p --env --user --workdir --volume --name --entrypoint", skips=1, always=ELSEWHERE
    ),
    ("foreman", "run"): carrier("-e -f", always=ELSEWHERE),
    ("honcho", "run"): carrier("-e -f", always=ELSEWHERE),
    ("toolbox", "run"): carrier("-c", always=ELSEWHERE),
    ("heroku", "run"): carrier("-a --app -s --size -r", floor=REMOTE),
    ("vagrant", "ssh"): carrier("-c --command", floor=REMOTE),
    ("gcloud", "ssh"): carrier("--command --zone", floor=REMOTE),
}
RUN_VALUED = names("""
    -v -e -p -w -u -m -l -h --volume --env --publish --workdir --user --memory --label --hostname --name
    --network --net --entrypoint --cpus --env-file --mount --restart --platform --gpus --add-host --link
    --expose --device --tmpfs --log-driver --log-opt --shm-size --ulimit --dns --ip --pull --cap-add --cap-drop
    --security-opt --pid --ipc --cgroupns --userns --volumes-from
""")
SETTING = Lazy(r"[A-Za-z_]\w*=.*", re.DOTALL)
LOADER = Lazy(r"ld-(?:linux|musl)[\w.-]*|ld\.so[\w.]*|ld64\.so[\w.]*")
"""The dynamic loader can be called by hand."""


def inner_words(args: tuple[Word, ...], how: CommandCarrier) -> tuple[Word, ...]:
    at, skips = 0, how.skips
    while at < len(args):
        text = args[at].text
        if text == "--":
            at += 1
            continue
        if text.startswith("-") and text != "-":
            at += 2 if text in how.valued else 1
        elif SETTING.fullmatch(text) and not skips:
            at += 1
        elif skips:
            skips -= 1
            at += 1
        else:
            break
    return args[at:] + ((Word(HOLE),) if how.more and args[at:] else ())


def settings_in(args: tuple[Word, ...], inner: tuple[Word, ...]) -> list[tuple[str, str]]:
    """Variables set between a carrier and its command: `env A=1 command`."""
    before = args[: len(args) - len(inner)] if not (inner and inner[-1].text == HOLE) else args
    pairs = [word.text.partition("=") for word in before if SETTING.fullmatch(word.text)]
    return [(name, value) for name, _, value in pairs]


def after_dashes(args: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words after `--`, as in `kubectl exec pod -- command`."""
    for at, word in enumerate(args):
        if word.text == "--":
            return args[at + 1 :]
    return ()


def after_word(args: tuple[Word, ...], word: str) -> tuple[Word, ...]:
    at = next(n for n, a in enumerate(args) if a.text == word)
    return args[at + 1 :]
