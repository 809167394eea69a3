"""Paths and names that hold secrets, and paths that must not be overwritten lightly."""
# ruff: noqa: E501 - tables: one row a line

import re
from itertools import pairwise

from moot.core import secret_patterns as patterns
from moot.routing.answer import Sight
from moot.routing.patterns import Lazy, can_match, names, shorten_path
from moot.routing.script import Word
from moot.routing.self_protection import guard_sight

SECRET_PATH = Lazy(patterns.FILE, re.IGNORECASE)
SECRET_FOLDER = Lazy(patterns.FOLDER)
SHOWN_VARIABLE = Lazy(patterns.SHOWN_VARIABLE)
LISTERS = names("""
    ls ll dir stat file test [ tree touch find fd fdfind chmod chown mkdir basename dirname realpath readlink du
    wc which echo printf exa eza locate source . cd
""")
"""Programs that do not show a file's content."""
PATTERN_FIRST = names("grep egrep fgrep rg ag ack sed awk gawk jq yq")


def is_secret(path: str) -> bool:
    """A file of secrets, a folder of them, or a pattern that matches one."""
    path = shorten_path(path)
    if SECRET_PATH.fullmatch(path) or SECRET_FOLDER.fullmatch(path):
        return True
    return matches_secret(path) if "*" in path or "?" in path or "[" in path else False


def matches_secret(pattern: str) -> bool:
    """`.en*`, `~/.aws/*` and `*.pem` match secrets; `*`, `*.md` and `src/*` do not."""
    ending = pattern.partition("=")[2] if pattern.startswith("--") else pattern
    plain = ending.strip("*")
    if (
        plain.startswith(".")
        and "/" not in ending
        and any(SECRET_PATH.fullmatch(name) for name in (plain, f"x{plain}"))
    ):
        return True
    parts = ending.split("/")
    if len(re.sub(r"[*?\[\]]", "", parts[-1])) < 2 and not SECRET_FOLDER.fullmatch("/".join(parts[:-1])):
        return False
    return any(can_match(parts, sample) for sample in patterns.FILE_SAMPLES)


def secret_sights(name: str, args: list[str], names: list[str]) -> list[Sight]:
    """The secret files and variables that a program reads."""
    found = []
    if name not in LISTERS:
        paths = args[1:] if name in PATTERN_FIRST and args and not args[0].startswith("-") else args
        for before, path in zip(["", *paths], paths, strict=False):
            if before in ("--env-file", "--exclude", "--ignore", "-m", "--message", "-e"):
                continue
            if is_secret(path) and not path.startswith(("--env-file", "--exclude", "http")):
                found.append(Sight("high", "security", path, f"{path} holds secrets"))
    if name in ("echo", "printf", "printenv", "cat"):
        shown = [*names, *(a for a in args if name == "printenv")]
        found += [Sight("high", "security", f"${n}", f"it shows ${n}") for n in shown if SHOWN_VARIABLE.fullmatch(n)]
    return found


def pattern_secrets(words: tuple[Word, ...], program: str) -> list[Sight]:
    """`find -name '*.env' -exec cat`, `find -name id_rsa | xargs cat`: only a pattern names what is shown."""
    given = [b.text for a, b in pairwise(words) if a.text in ("-name", "-iname", "-path", "-g", "--glob")]
    return secret_sights(program, ["", *given], [])[:1]


PLACES: tuple[tuple[str, str, str, str], ...] = (
    (r"/dev/(?:null|stdout|stderr|tty|fd/\d+|zero|shm/.*)", "read", "", ""),
    (r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mem|kmem|mapper|md|loop).*", "high", "destructive", "writes over a device"),
    (r"/proc/sys.*|/sys/.*", "high", "security", "changes the kernel"),
    (r"(?:.*/)?etc/(?:passwd|shadow|group|sudoers.*|ssh/.*|pam\.d/.*|hosts\.(?:allow|deny)|ld\.so.*|crypttab|fstab)", "high", "security", "changes what protects the machine"),
    (r"(?:.*/)?\.ssh/.*", "high", "security", "changes who may come in"),
    (r"(?:.*/)?\.git/(?:hooks/.*|config)", "high", "security", "changes what git itself runs"),
    (r"(?:.*/)?\.git/(?!info/exclude|COMMIT_EDITMSG|MERGE_MSG|\w*\.(?:txt|log|tmp)).*|(?:.*/)?\.(?:svn|hg)/.*", "high", "destructive", "changes the record that version control keeps"),
    (r"(?:.*/)?(?:.*\.)?tfstate(?:\.backup)?|(?:.*/)?terraform\.tfstate.*|(?:.*/)?\.pulumi/.*", "high", "destructive", "changes the record of what runs"),
    (r"(?:.*/)?var/lib/(?:mysql|postgresql|docker|kubelet|etcd|mongodb|redis|rabbitmq|containerd)/.*|(?:.*/)?(?:dump\.rdb|appendonly\.aof|wallet\.dat)", "high", "destructive", "changes data of a service"),
    (r"(?!(?:.*[/._-])?(?:backup|bak|copy|tmp|temp|test|tests|sample|example|fixture|fixtures|dev|demo|old|new)[\w.-]*$)(?:.*/)?[\w.-]+\.(?:db|sqlite|sqlite3|mdb|duckdb|ldf|mdf|ibd|frm)", "medium", "change", "writes over a database"),
    (r"/(?:usr/local|opt)(?:/.*)?", "medium", "change", "changes the system"),
    (r"/(?:etc|usr|bin|sbin|boot|lib|lib64|var/spool|root)(?:/.*)?|/", "high", "destructive", "changes the system"),
    (patterns.ENV_FILE, "high", "security", "holds secrets"),
    (r"(?:.*/)?\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|gitconfig|npmrc|pypirc|bash_aliases)", "medium", "change", "changes what every new shell does"),
    (r"(?:.*/)?(?:\.config/(?:fish|autostart|systemd)/.*|Library/Launch(?:Agents|Daemons)/.*|\.(?:zlogin|zlogout|bash_login|bash_logout|xinitrc|xprofile|inputrc|envrc))", "medium", "change", "changes what runs by itself"),
    (r"(?:.*/)?(?:\.github/workflows/.*|\.gitlab-ci\.ya?ml|Jenkinsfile|\.circleci/.*|azure-pipelines\.ya?ml|\.travis\.yml|bitbucket-pipelines\.yml)", "high", "deployment", "changes what the pipeline runs"),
    (r"(?:.*/)?(?:migrations?|migrate|alembic/versions|db/migrate)/.*", "medium", "change", "changes how the database is built"),
    (r"(?:.*/)?(?:Dockerfile[\w.-]*|docker-compose[\w.-]*\.ya?ml|compose\.ya?ml|.*\.tf|.*\.tfvars|k8s/.*|kubernetes/.*|helm/.*|charts/.*|deploy/.*|deployment/.*|Procfile|fly\.toml|vercel\.json|netlify\.toml|serverless\.ya?ml|nginx\.conf)", "medium", "deployment", "changes what is deployed"),
)  # fmt: skip
COMPILED: list[tuple[re.Pattern[str], tuple[str, str, str, str]]] = []


def place_sight(path: str) -> Sight:
    path = shorten_path(path)
    if guarded := guard_sight(path):
        return guarded
    if not COMPILED:
        COMPILED.extend((re.compile(row[0], re.IGNORECASE), row) for row in PLACES)
    for pattern, (_, level, group, why) in COMPILED:
        if pattern.fullmatch(path):
            return Sight(level, group, path, why and f"writing to {path} {why}")  # type: ignore[arg-type]
    if SECRET_PATH.fullmatch(path):
        return Sight("high", "security", path, f"{path} holds secrets")
    return Sight("low")
