"""Programs that execute their arguments: shells, interpreters, and launchers."""

import re
from itertools import pairwise

from moot.scan.engine.fold import UNKNOWN
from moot.scan.engine.rulebook import Site
from moot.scan.engine.values import ALL, Val
from moot.scan.syntax import words

SHELLS = re.compile(r"(?:^|/)(?:ba|z|da|k|a|fi|c|tc)?sh$|(?:^|\\\\)cmd(?:\.exe)?$|powershell|(?:^|/)pwsh$")
INTERPRETERS = re.compile(r"(?:^|/)(?:python|perl|ruby|node|php|lua|pypy)[\d.]*(?:\.exe)?$")
SCRIPT = re.compile(r"/[cC]|-[a-zA-Z]*c")
"""`-c`, `-lc`, `/c`: the next argument is a script."""
SHELL_IN_TEXT = re.compile(r"""\b(?:ba|z|da|k|a)?sh(?:['"],)?\s+['"]?-[a-z]*c\b""")
EVALUATED = words("-c -e -E -p -pe -ne -r --eval --print --command --session-command")
NO_FLAGS: frozenset[str] = frozenset()
AWKS = words("awk gawk mawk nawk")
STARTERS = words(
    "env sudo doas nohup nice timeout time setsid stdbuf xargs find parallel busybox chroot unshare nsenter exec"
)
"""Programs whose arguments are another command."""
COUNTERS = words(
    "grep egrep fgrep zgrep rg ping ping6 fping wc head tail cut uniq cc gcc g++ clang clang++ gzip gunzip bzip2 xz "
    "zcat tar ls cat cp mv rm stat du df diff cmp touch chmod chown ffmpeg ffprobe convert ionice taskset curl wget "
    "sha1sum sha256sum sha512sum md5sum docker-compose pip pylint flake8 black pytest mypy iperf iperf3"
)
"""Programs whose `-c` does not run code."""
SSH_VALUES = frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOopQRSWw")
AWK_VALUES = words("-v -F -f --assign --field-separator --file")


def words_of(site: Site) -> list[Val] | None:
    """The program and its arguments; `executable` replaces the first word."""
    first, instead = site.arg(0, "args"), site.arg("executable", 2)
    parts = site.items(first)
    if parts is None and first is not None and isinstance(first.const, str):
        parts = [first]
    if parts and instead is not None and instead.const is not None:
        return [instead, *parts[1:]]
    return parts


def list_commands(site: Site) -> list[list[Val]]:
    """The program and its arguments, in each way that the branches before may have built them."""
    built = site.variants(site.arg(0, "args"))
    return built if len(built) > 1 else [words_of(site) or []]


def runs_text(parts: list[Val]) -> bool:
    """Whether the program executes an untrusted argument."""
    if not parts:
        return False
    program = _base(parts[0])
    if program in AWKS:
        return _is_hot_operand(parts[1:], AWK_VALUES, 0)
    if program == "ssh":
        return _is_hot_operand(parts[1:], SSH_VALUES, 1)
    if program in STARTERS and any(_base(part) and runs_text(parts[n:]) for n, part in enumerate(parts) if n):
        return True
    flags = EVALUATED if program is not None and INTERPRETERS.search(program) else NO_FLAGS
    if flags:
        parts = parts[: next((n for n, part in enumerate(parts) if n and _is_file(part)), len(parts))]
    follows = pairwise(parts[1:])
    return program not in COUNTERS and any(is_hot(text) and _asks(flag, flags) for flag, text in follows)


def reads_commands(site: Site) -> bool:
    """`run(["sh"], input=x)`: a shell or interpreter without a script reads one from its input."""
    operands = [part for part in words_of(site) or [] if not _is_flag(part)]
    last = operands[-1].const if operands else None
    return isinstance(last, str) and bool(SHELLS.search(last) or INTERPRETERS.search(last))


def is_shell_in_text(site: Site) -> bool:
    """`shlex.split("sh -c " + x)`: the words are unknown, but the string that was split begins with a shell."""
    first = site.arg(0, "args")
    unknown = first is not None and not isinstance(first.const, str) and site.items(first) is None
    return unknown and SHELL_IN_TEXT.search(f"{site.text()}\n{site.around()}") is not None


def is_hot(part: Val) -> bool:
    return any(not taint.ended & {"shell", ALL} for taint in part.taints)


def _base(part: Val) -> str | None:
    return re.split(r"[/\\]", part.const)[-1] if isinstance(part.const, str) else None


def _is_flag(part: Val) -> bool:
    return isinstance(part.const, str) and part.const.startswith("-")


def _is_file(part: Val) -> bool:
    """A script or module: the rest are its arguments."""
    return isinstance(part.const, str) and bool(re.search(r"^-m$|\.(?:py|pl|rb|m?js|php|lua)$", part.const))


def _asks(flag: Val, flags: frozenset[str]) -> bool:
    return isinstance(flag.const, str) and (flag.const in flags or SCRIPT.fullmatch(flag.const) is not None)


def _is_hot_operand(parts: list[Val], valued: frozenset[str], skip: int) -> bool:
    """Whether an operand after the first `skip` is untrusted. awk executes only its first."""
    operands: list[Val] = []
    value = False
    for part in parts:
        if value or (_is_flag(part) and not len(operands) > skip):
            value = not value and part.const in valued
            continue
        operands.append(part)
    text = operands[skip:] if skip else operands[:1]
    return any(is_hot(part) for part in text)


def through_shell(site: Site) -> bool:
    """`shell=True`, or a shell that is given a script."""
    shell = site.arg("shell")
    if shell is not None and shell.const is not UNKNOWN and shell.const:
        return True
    return any(_is_script(parts) or runs_text(parts) for parts in list_commands(site)) or is_shell_in_text(site)


def runs_shell(site: Site) -> bool:
    """`os.execl("/bin/sh", "sh", "-c", x)`, `pty.spawn(["sh", "-c", x])`"""
    given = [value for place in range(site.count) if (value := site.arg(place)) is not None]
    parts = [part for value in given for part in site.items(value) or [value]]
    # `execl` takes the program and then its own name again; `spawnl` has a mode before.
    return _is_script(parts) or any(runs_text(parts[skip:]) for skip in range(min(3, len(parts))))


def _is_script(parts: list[Val]) -> bool:
    """A script of ours, to which values are given as `$1`, is none that somebody else wrote."""
    shell = next((n for n, part in enumerate(parts) if isinstance(part.const, str) and SHELLS.search(part.const)), None)
    if shell is None:
        return False
    flags = (n for n, part in enumerate(parts) if isinstance(part.const, str) and SCRIPT_FLAG.fullmatch(part.const))
    flag = next(flags, None)
    if flag is None:
        return False
    script = parts[flag + 1].const if flag + 1 < len(parts) else UNKNOWN
    return not isinstance(script, str) or RUNS_VALUE.search(script) is not None


SCRIPT_FLAG = re.compile(r"-\w*c|/[cC]")
RUNS_VALUE = re.compile(
    r"\beval\b|(?:^|[;&|(`\n]|\b(?:exec|source|sudo|xargs|nohup|env|sh -c|then|do)\b|^\.)[ \t]*\"?\$[@*{\d]"
)
"""A value stands where the shell reads a program or a script."""


def program_is_ours(site: Site) -> bool:
    """A list with a constant program that is no shell is safe, whatever its arguments."""
    first = site.arg(0, "args")
    if through_shell(site) or first is None:
        return False
    parts = site.items(first)
    if parts is None:
        return bool(first.refs)
    if not parts or parts[0].taints:
        return not parts
    words = [part.const for part in parts[:3]]
    scripted = any(w in ("-c", "/c", "/C", "-e") for w in words if isinstance(w, str))
    last = [part for part in parts[1:] if part.taints]
    shells = isinstance(words[0], str) and re.search(
        r"(?:^|/)(?:ba|z|da|k)?sh$|cmd(?:\.exe)?$|powershell|python|perl|ruby|node", words[0]
    )
    return not (scripted and shells and last)


def not_ours(site: Site) -> bool:
    return not through_shell(site) and not program_is_ours(site)
