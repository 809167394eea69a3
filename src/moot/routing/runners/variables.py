"""Variables before a command that make it run something else."""

import re

from moot.routing.answer import Sight
from moot.routing.patterns import Lazy, names
from moot.routing.runners.inside import Judge
from moot.routing.runners.launchers import judge_named_command
from moot.routing.script import HOLE
from moot.routing.self_protection import variable_guard

SAFEGUARDS = names("NODE_TLS_REJECT_UNAUTHORIZED GIT_SSL_NO_VERIFY PYTHONHTTPSVERIFY")
LOADED = names("""
    LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV PERL5OPT PERL5DB RUBYOPT PYTHONSTARTUP LUA_INIT GCONV_PATH
    GIT_EXEC_PATH GIT_TEMPLATE_DIR PROMPT_COMMAND R_PROFILE_USER PHP_INI_SCAN_DIR
""")
"""They name code that every program, or every program of a language, loads first."""
COMMANDS = names("""
    GIT_PAGER GIT_SSH GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS
    SUDO_ASKPASS GIT_PROXY_COMMAND PAGER MANPAGER BAT_PAGER GH_PAGER AWS_PAGER SYSTEMD_PAGER DELTA_PAGER PSQL_PAGER
    EDITOR VISUAL SUDO_EDITOR SYSTEMD_EDITOR KUBE_EDITOR GH_EDITOR FCEDIT HGEDITOR SVN_EDITOR PSQL_EDITOR BROWSER
    GH_BROWSER LESSOPEN LESSCLOSE RSYNC_RSH CVS_RSH SVN_SSH RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CC CXX
    KUBECTL_EXTERNAL_DIFF FZF_DEFAULT_COMMAND npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL
""")
"""They name a command that another program starts."""
LOADING_OPTIONS = {
    "NODE_OPTIONS": r"--?(?:r|require|import|loader|experimental-loader)\b",
    "JAVA_TOOL_OPTIONS": r"-javaagent|-agent|OnError|OnOutOfMemory",
    "_JAVA_OPTIONS": r"-javaagent|-agent|OnError|OnOutOfMemory",
    "MAVEN_OPTS": r"-javaagent",
    "GOFLAGS": r"-toolexec",
    "PS4": r"\$\(|`|\x00",
    **dict.fromkeys(("PS0", "PS1", "PS2"), r"\$\(|`|\x00"),
    "MAKEFLAGS": r"--eval|SHELL=",
    "TAR_OPTIONS": r"exec|command|program",
}
SETTINGS_OF_GIT = Lazy(r"GIT_CONFIG_(?:COUNT|KEY_\d+|VALUE_\d+|PARAMETERS|GLOBAL|SYSTEM)|GIT_CONFIG")
USUAL_PATHS = names("node_modules/.bin .venv/bin venv/bin vendor/bin bin target/debug target/release .bin .tools/bin")


def variable_sights(name: str, value: str, judge: Judge, *, alone: bool = False) -> list[Sight]:
    """What setting a variable does to the programs that see it."""
    shown = f"{name}={value[:20]}".replace(HOLE, "…")
    if guarded := variable_guard(name):
        return [guarded]
    if name in SAFEGUARDS:
        return [Sight("high", "security", shown, f"{name} switches a safeguard off")]
    if name in LOADED and value.strip():
        return [Sight("high", "security", shown, f"{name} makes other programs load code")]
    if name in LOADING_OPTIONS and re.search(LOADING_OPTIONS[name], value):
        return [Sight("high", "security", shown, f"{name} makes other programs load code")]
    if SETTINGS_OF_GIT.fullmatch(name) and value not in ("", "0", "/dev/null"):
        return [Sight("medium", "unclear", shown, f"{name} changes what git itself runs")]
    if name == "PATH" and (odd := find_unsafe_folder(value)):
        return [Sight("medium", "unclear", shown, f"programs are taken from {odd} first")]
    if name in COMMANDS:
        return judge_named_command(value, f"{name} makes another program run {value[:40]!r}", judge)
    if value.lower() in ("production", "prod") and name != "NODE_ENV" and not alone:
        return [Sight("medium", "deployment", f"{name}={value}", "it is about production")]
    return []


def find_unsafe_folder(value: str) -> str:
    """The first folder of a PATH that anybody could write to."""
    for part in value.split(":"):
        plain = part.removeprefix("./").rstrip("/")
        if part.startswith(("/tmp", "/var/tmp", "/dev/shm")):
            return part
        if part and not part.startswith(("/", "~", HOLE)) and plain not in USUAL_PATHS and not plain.endswith("/bin"):
            return part
    return ""
