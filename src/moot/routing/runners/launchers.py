"""Programs that run a command named by one of their options or scripts."""
# ruff: noqa: E501 - tables: one row a line

import re
from functools import cache
from itertools import pairwise

from moot.routing.answer import ORDER, Sight, highest_sight
from moot.routing.patterns import Lazy, names
from moot.routing.rules import CommandCall
from moot.routing.runners.inside import Judge
from moot.routing.runners.sed import script_parts
from moot.routing.script import HOLE
from moot.routing.secrets import place_sight

CARRYING = """
script,runuser,sg,flock,capsh,xterm,gnome-terminal,konsole,alacritty,kitty -c -e --command
npx,npm,pnpm,bunx -c --call
nix-shell,nix --run --command -c
nodemon,start-stop-daemon -x --exec -a --startas
hyperfine --prepare --setup --cleanup --conclude
fzf --preview
mapfile,readarray -C
yt-dlp,youtube-dl --exec --exec-before-download
"""
"""Options meant to run a command: it counts as if it stood alone."""
HIDING = """
tar,gtar,bsdtar --to-command --use-compress-program -I --rsh-command --rmt-command --info-script --new-volume-script -F --checkpoint-action
cpio --rsh-command
nano,pico -s --speller
zip -TT --unzip-command
rsync -e --rsh --rsync-path
scp,sftp -S
man -P --pager -H --html
sort --compress-program
split --filter
rg --pre --hostname-bin
npm,yarn,pnpm --script-shell
mysql,mariadb --pager
tcpdump -z
wget --use-askpass
git --upload-pack --receive-pack --extcmd
apt,apt-get,aptitude -o
ssh,scp,sftp,mosh -o
bat,batcat,ag,ack,delta --pager
go -toolexec --toolexec -exec --exec -vettool
gcc,g++,cc,clang,clang++ -wrapper -fplugin
aria2c --on-download-complete --on-download-start --on-download-error --on-download-stop
fzf --bind
cargo --config
bash,zsh,sh --rcfile --init-file
"""
"""Options of programs with another purpose: a command run that way is hidden."""
HARMLESS = names("""
    cat less more most bat delta diff-so-fancy true : vi vim nvim nano emacs emacsclient code subl micro ssh pigz gzip gunzip bzip2
    pbzip2 xz zstd lz4 lzop unzip git-upload-pack git-receive-pack upload-pack none col head tail wc pdftotext zcat nc firefox chromium
    chrome google-chrome open xdg-open safari gcc g++ cc c++ clang clang++ ccache sccache ld ar ld.lld mold rustc dot
    lynx w3m zeditor zed hx helix kak
""")
"""Programs commonly named in such places."""
STARTERS = names("sh bash zsh dash ksh fish csh env xargs python python3 perl ruby node php eval exec sudo busybox")
CONNECTS = Lazy(
    r"(?:.*\s)?(?:ProxyCommand|LocalCommand|KnownHostsCommand|ProxyUseFdpass)[\s=]+(.*)", re.IGNORECASE | re.DOTALL
)
INVOKES = Lazy(r"\w[\w:-]*(?:Invoke|Run|Options)[\w:-]*=(.*)", re.IGNORECASE | re.DOTALL)
EXECUTES = Lazy(r"(?:execute|reload|become|transform|preview)(?:-silent|-multi)?[(\[{](.*)[)\]}]", re.DOTALL)
WRAPPERS = Lazy(r".*(?:wrapper|runner|linker|credential-provider|\brustc)\s*=\s*(.*)", re.DOTALL)
EDITORS = names("vim vi nvim gvim view ex vimdiff rvim less more emacs")
SHELL_OUT = Lazy(
    r":?\s*(?:sil(?:ent)?!?\s+)?(?:[%\d,.$'<>]*)(?:r|re|read|w|write|exe(?:cute)?\s+['\"])?\s*!\s*(.*)", re.DOTALL
)
EDITOR_CODE = Lazy(
    r"\bcall\s+(?:delete|writefile|rename|feedkeys)\b|\b(?:system|systemlist|job_start|termopen|shell-command|call-process|start-process|async-shell-command|delete-file|delete-directory)\b|:?\s*(?:terminal|term|lua|luado|py3?|python3?|perl|ruby|tcl|source|so)\s",
    re.IGNORECASE,
)
STRING = Lazy(r"\"((?:[^\"\\]|\\.){1,400})\"|'((?:[^'\\]|\\.){1,400})'")
AWK_RUNS = Lazy(r"\bsystem\s*\(|(?<!\|)\|&?\s*\"|\|&?\s*getline|\bprintf?\b[^|;{}]*[^|]\|&?(?!\|)")
AWK_STRING = Lazy(r"\"(?:[^\"\\]|\\.)*\"")
AWK_WRITES = Lazy(r">>?\s*\"([^\"]{1,200})\"")
RECIPE = Lazy(r"(?:^\t|^[^\n:=]*::?[^\n;=]*;)[@-]*(.+)|\$\(shell ([^)]*)\)", re.MULTILINE)
SPAWNS = Lazy(r"\b(?:spawn|exec|system)\s+([^;\n\]]+)")


@cache
def _options(table: str) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for line in table.strip().splitlines():
        programs, *options = line.split()
        for name in programs.split(","):
            found[name] = found.get(name, frozenset()) | frozenset(options)
    return found


def values_of(called: CommandCall, options: frozenset[str]) -> list[str]:
    """Option values, separate (`-e x`), joined (`--rsh=x`, `-Ix`) or at the end of a bundle (`-avze x`)."""
    found = [_value(after.text) for before, after in pairwise(called.args) if _takes(before.text, options)]
    for word in called.args:
        text = word.text
        name, equals, value = text.partition("=")
        if equals and _names(name, options):
            found.append(_value(value))
        elif text[:2] in options and len(text) > 2 and not text.startswith("--") and text not in options:
            found.append(_value(text[2:]))
    return found


def _names(text: str, options: frozenset[str]) -> bool:
    """`--upload-pa` is `--upload-pack`: many programs accept the prefix of a long option."""
    short = len(text) > 5 and text.startswith("--") and text != "--checkpoint"  # an option of its own
    return text in options or (short and any(option.startswith(text) for option in options))


def _takes(text: str, options: frozenset[str]) -> bool:
    bundle = re.fullmatch(r"-[A-Za-z]{2,6}", text)
    return _names(text, options) or bool(bundle and f"-{text[-1]}" in options)


def _value(text: str) -> str:
    return text.removeprefix("exec=")


def option_sights(called: CommandCall, judge: Judge) -> list[Sight]:
    """What options make a program run besides its own work."""
    sights: list[Sight] = []
    if options := _options(CARRYING).get(called.name):
        sights += [s for text in values_of(called, options) for s in judge(text)]
    if options := _options(HIDING).get(called.name):
        for text in values_of(called, options):
            sights += judge_option_command(text, called, judge)
    return sights


def judge_option_command(text: str, called: CommandCall, judge: Judge) -> list[Sight]:
    """A command in an option: only common programs pass."""
    if called.name in ("ssh", "scp", "sftp", "mosh") and not text.startswith(("./", "/")):
        text = found[1] if (found := CONNECTS.fullmatch(text)) else ""
    elif called.name == "fzf":
        text = found[1] if (found := EXECUTES.search(text)) else ""
    elif called.name == "cargo":
        text = found[1] if (found := WRAPPERS.fullmatch(text)) else ""
    elif called.name.startswith("apt"):
        text = found[1] if (found := INVOKES.fullmatch(text)) else ""
    elif "checkpoint" in called.excerpt and re.fullmatch(
        r"dot|bell|totals|wait=\d+|(?:echo|ttyout|sleep)(?:=.*)?", text
    ):
        text = ""
    return judge_named_command(text, f"`{called.excerpt}` runs {text[:40]!r} by an option", judge)


def judge_named_command(text: str, why: str, judge: Judge) -> list[Sight]:
    """A command named where another program picks it up: an option, a variable, a setting."""
    text = text.strip().lstrip("|").strip()
    if not text:
        return []
    first = text.split()[0].strip("'\"").rsplit("/", 1)[-1]
    inner = [found[1]] if first == "ssh" and (found := CONNECTS.fullmatch(text)) else []
    if first in HARMLESS and not re.search(r"[;&|`]|\$\(", text) and HOLE not in text:
        return [s for command in inner for s in judge_named_command(command, why, judge)]
    sights = judge(text)
    if ORDER[highest_sight(sights).level] >= ORDER["medium"]:
        return sights
    plain = highest_sight(sights).level == "read" and "/" not in text.split()[0] and first not in STARTERS
    return [] if plain else [Sight("medium", "unclear", text[:40], why)]


def editor_sights(called: CommandCall, judge: Judge, fed: list[str] | None) -> list[Sight]:
    """`vim -c ':!rm x'`, `less +'!sh'`, `emacs --eval …`, and lines that begin with `!` for `ed`."""
    codes = values_of(called, frozenset(("-c", "--cmd", "--eval", "-eval", "--execute")))
    codes += [word.text[1:] for word in called.args if word.text.startswith("+") and len(word.text) > 1]
    codes += [line for text in fed or () for line in text.splitlines() if "!" in line[:12]]
    sights = []
    for code in codes:
        if found := SHELL_OUT.fullmatch(code):
            sights += [
                *judge(found[1]),
                Sight("medium", "unclear", f"{called.name} !", f"{called.name} runs {found[1][:40]!r}"),
            ]
        elif EDITOR_CODE.search(code):
            strings = [m[1] or m[2] for m in STRING.finditer(code)]
            sights += [s for text in strings for s in judge(text) if s.group != "unclear"]
            sights.append(Sight("medium", "unclear", f"{called.name} code", f"{called.name} runs code: {code[:40]!r}"))
    return sights


def sed_sights(called: CommandCall, judge: Judge) -> list[Sight]:
    """sed commands that run programs or write files, and the files edited in place."""
    scripts = values_of(called, frozenset(("-e", "--expression")))
    files = list(called.rest)
    if not scripts and "-f" not in called.options and files:
        scripts, files = files[:1], files[1:]
    hidden_script = any(HOLE in text for text in values_of(called, frozenset(("-f", "--file"))))
    sights = (
        [Sight("medium", "unclear", "sed -f", "the sed script is only known when it runs")] if hidden_script else []
    )
    for kind, text in (part for script in scripts for part in script_parts(script)):
        if kind == "write":
            sights.append(place_sight(text))
        else:
            sights += [
                *(judge(text) if text.strip() else []),
                Sight("medium", "unclear", "sed e", "the sed script runs programs"),
            ]
    if any(re.match(r"-[A-Za-z]*i|-I|--in-place", option) for option in called.options):
        sights += [place_sight(path) for path in files]
    return sights


def awk_sights(called: CommandCall, judge: Judge) -> list[Sight]:
    code = " ".join(word.text for word in called.args)
    targets = [place_sight(path) for path in AWK_WRITES.findall(code)]
    starts = AWK_RUNS.search(AWK_STRING.sub('""', code)) or "/inet" in code
    if starts or any(sight.level != "read" for sight in targets):
        strings = [s for m in re.finditer(r'"([^"]{1,200})"', code) for s in judge(m[1]) if s.group != "unclear"]
        return [
            *strings,
            *targets,
            Sight("medium", "unclear", "awk", "the awk program starts programs or writes files"),
        ]
    return [Sight("low" if "inplace" in code else "read")]


def make_sights(called: CommandCall, judge: Judge, fed: list[str] | None) -> list[Sight]:
    """make with a rule on the command line, or with another program as its shell."""
    rules = [*values_of(called, frozenset(("--eval", "-E"))), *(fed or ())]
    sights = [s for text in rules for m in RECIPE.finditer(text) for s in judge(m[1] or m[2])]
    for word in called.args:
        name, equals, value = word.text.partition("=")
        if (
            equals
            and name.rstrip(":?+") == "SHELL"
            and value.rsplit("/", 1)[-1] not in ("sh", "bash", "zsh", "dash", "ksh")
        ):
            sights += [
                Sight("medium", "unclear", word.text[:40], "make runs every line with another program than a shell"),
                *judge(value),
            ]
    return sights


def tcl_sights(called: CommandCall, code: str, judge: Judge) -> list[Sight]:
    """expect and Tcl: `spawn rm x`, `exec rm x`, `file delete x`."""
    sights = [s for text in SPAWNS.findall(code) for s in judge(text.replace("{*}", ""))]
    if re.search(r"\bfile\s+(?:delete|rename)\b", code):
        sights.append(Sight("high", "destructive", called.excerpt, "the code deletes files"))
    return sights


def terminal_command(called: CommandCall) -> str:
    """The command that `tmux new-session …` or `screen -X stuff …` starts; empty if none."""
    rest = [text for text in called.rest if text not in ("Enter", "C-m", "KPEnter")]
    if called.name == "tmux" and rest and rest[0] in TMUX_RUNS:
        return " ".join(rest[1:])
    if called.name == "screen" and "-X" in called.options and rest:
        return " ".join(rest[1:]).replace("\\n", "").replace("^M", "")
    return ""


TMUX_RUNS = names("""
    new-session new new-window neww split-window splitw respawn-pane respawnp respawn-window respawnw run-shell run if-shell if
    display-popup popup send-keys send pipe-pane
""")
