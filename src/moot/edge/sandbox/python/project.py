"""The project's own environment: the interpreter and packages its tests need, and the least of the disk that shows
them.

Others wrote a checkout. So nothing of it is executed to inspect it, and a folder is shown only if it is what it claims
to be and contains nothing else of the user.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field

from moot.core.errors import UsageError
from moot.core.types import Value
from moot.edge.sandbox.go.modules import module_cache
from moot.edge.sandbox.python.poetry import poetry_folders

FOLDERS = (".venv", "venv")
MARKS = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "package.json", "go.mod")
ASK = "import json, sys; print(json.dumps([sys.executable, sys.prefix]))"


class Python(Value):
    """An interpreter with its packages."""

    program: str
    version: tuple[int, int]
    folders: dict[str, str] = Field(default_factory=dict)
    """Path in the sandbox -> folder shown there, read-only."""
    chosen: bool = False
    """Whether the user named it."""


class ProjectEnvironment(Value):
    """What tests see of the project besides their files. Recorded with a session."""

    python: Python | None = None
    how: str = ""
    """Where the interpreter was found: --python, VIRTUAL_ENV, .venv."""
    node_modules: str = ""
    go_modules: str = ""
    go_vendor: str = ""

    @property
    def notice(self) -> str:
        """One line for a person; may be empty."""
        parts = []
        if self.python:
            parts.append(f"{self.python.program} (Python {'.'.join(map(str, self.python.version))}, {self.how})")
        parts += [folder for folder in (self.node_modules, self.go_vendor) if folder]
        return f"tests run with {', '.join(parts)}" if parts else ""


NO_PROJECT = ProjectEnvironment()


def find_project(paths: Iterable[str], python: str | None, env: Mapping[str, str]) -> ProjectEnvironment:
    """The environment of these paths' project; `python` is the user's choice, and must exist."""
    folders = list(dict.fromkeys(folder for path in paths for folder in _outwards(Path(path))))
    home, how = _find_named_python(python) if python else _python(folders, env)
    return ProjectEnvironment(
        python=home,
        how=how,
        node_modules=_node_modules(folders),
        go_modules=module_cache(env),
        go_vendor=next((str(f / "vendor") for f in folders if _has_vendor(f)), ""),
    )


def _find_named_python(python: str) -> tuple[Python, str]:
    """`--python`: an environment or an interpreter. The user named it, so it may be executed."""
    given = Path(python).expanduser()
    program = _program_of(given) if given.is_dir() else Path(shutil.which(python) or python)
    if program is None or not program.is_file():
        raise UsageError(f"--python {python!r}: there is no Python interpreter or environment there")
    try:
        said = subprocess.run([str(program), "-I", "-c", ASK], capture_output=True, text=True, timeout=20, check=True)
        executable, _ = json.loads(said.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        raise UsageError(f"--python {python!r} is not a Python interpreter that can be started") from None
    found = read_python(Path(executable), [])
    if isinstance(found, str):
        raise UsageError(f"--python {python!r} cannot be used: {found}")
    return found.model_copy(update={"chosen": True}), "--python"


def _python(folders: Iterable[Path], env: Mapping[str, str]) -> tuple[Python | None, str]:
    """The first valid one, most explicit first; None if it is Moot's own."""
    places = list(folders)
    for folder, how in _candidates(places, env):
        program = _program_of(folder)
        if program is None or os.path.realpath(folder) == os.path.realpath(sys.prefix):
            continue
        found = read_python(program, places)
        if isinstance(found, Python):
            return found, how
    return None, ""


def _candidates(folders: list[Path], env: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if active := env.get("VIRTUAL_ENV"):
        yield Path(active), "VIRTUAL_ENV"
    if wanted := env.get("UV_PROJECT_ENVIRONMENT"):
        yield from ((folder / wanted, "UV_PROJECT_ENVIRONMENT") for folder in folders)
    for folder in folders:
        yield from ((folder / name, f"{name} of the project") for name in FOLDERS)
        yield from ((place, "poetry") for place in poetry_folders(folder, env))


def _outwards(path: Path) -> list[Path]:
    """The folders from here to the project's root, nearest first: never the home folder or above it."""
    start = path.resolve()
    start = start if start.is_dir() else start.parent
    home = _home()
    inner = [folder for folder in (start, *start.parents) if not home.is_relative_to(folder)]
    for count, folder in enumerate(inner, start=1):
        if (folder / ".git").exists():
            return inner[:count]
    marked = [count for count, folder in enumerate(inner, start=1) if any((folder / m).exists() for m in MARKS)]
    here = Path.cwd()
    below = [count for count, folder in enumerate(inner, start=1) if folder == here]
    return inner[: max([1, *marked, *below])]


def _home() -> Path:
    return Path(os.path.expanduser("~")).resolve()


def _program_of(folder: Path) -> Path | None:
    return next((p for name in ("python", "python3") if os.path.exists(p := folder / "bin" / name)), None)


def read_python(program: Path, project: Iterable[Path]) -> Python | str:
    """What must be shown for this interpreter to run, or why it cannot be used. Nothing is executed."""
    prefix = Path(os.path.abspath(program)).parent.parent
    settings = _settings(prefix)
    real = Path(os.path.realpath(program))
    base = real.parent.parent
    if settings is not None and real.is_relative_to(os.path.realpath(prefix)):  # a copy, not a link
        base = Path(os.path.realpath(settings.get("home", ""))).parent
    version = _version(base, real)
    if version is None:
        return f"{base} holds no Python installation"
    folders = _installation(base, base)
    for other in _other_names(program, settings, base):
        folders |= _installation(other, base)
    if settings is not None:
        folders[str(prefix)] = os.path.realpath(prefix)
    if wide := next((shown for shown in folders.values() if _is_too_wide(Path(shown), project)), None):
        return f"{wide} holds more than an environment"
    shown = {place: folder for place, folder in folders.items() if not Path(place).is_relative_to("/usr")}
    return Python(program=os.path.abspath(program), version=version, folders=shown)


def _settings(prefix: Path) -> dict[str, str] | None:
    """`pyvenv.cfg`; None if it is not a virtual environment."""
    try:
        lines = (prefix / "pyvenv.cfg").read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    pairs = (line.partition("=") for line in lines)
    return {name.strip().lower(): value.strip() for name, equals, value in pairs if equals}


def _version(base: Path, real: Path) -> tuple[int, int] | None:
    """Of a real installation: its standard library exists, and the program is named like a Python."""
    if not re.match(r"python(\d|$|-)", real.name) and not (base / "bin" / "python3").exists():
        return None
    exact = re.match(r"python(\d+)\.(\d+)", real.name)
    libraries = [f for f in sorted((base / "lib").glob("python3.*")) if (f / "os.py").is_file()]
    versions = [(int(m[1]), int(m[2])) for f in libraries if (m := re.fullmatch(r"python(\d+)\.(\d+)", f.name))]
    if exact:
        return next((v for v in versions if v == (int(exact[1]), int(exact[2]))), None)
    return versions[0] if len(versions) == 1 else None


def _installation(place: Path, base: Path) -> dict[str, str]:
    """Only programs and libraries: a folder of installations may contain other people's environments."""
    return {str(place / part): str(base / part) for part in ("bin", "lib") if (base / part).is_dir()}


def _other_names(program: Path, settings: Mapping[str, str] | None, base: Path) -> list[Path]:
    """Paths by which the environment reaches the same installation, over a link to its folder."""
    names = [Path(settings["home"])] if settings and settings.get("home") else []
    link = Path(os.path.abspath(program))
    for _ in range(10):
        if not link.is_symlink():
            break
        link = Path(os.path.normpath(link.parent / link.readlink()))
        names.append(link.parent)
    same = [name.parent for name in names if os.path.realpath(name) == str(base / "bin")]
    return [name for name in dict.fromkeys(same) if name != base]


def _is_too_wide(folder: Path, project: Iterable[Path]) -> bool:
    """Whether it contains the home folder, the project itself, or everything."""
    real = folder.resolve()
    inside = (_home(), *(place.resolve() for place in project))
    return real == Path("/") or any(place.is_relative_to(real) for place in inside)


def has_package(python: Python, name: str) -> bool:
    library = f"python{python.version[0]}.{python.version[1]}/site-packages"
    places = [Path(python.program).parent.parent / "lib" / library / name]
    return any(os.path.exists(place) for place in places)


def _node_modules(folders: Iterable[Path]) -> str:
    """The project's node_modules folder. A link that leaves the project is not followed."""
    places = list(folders)
    for folder in places:
        real = (folder / "node_modules").resolve()
        if real.is_dir() and real.name == "node_modules" and any(real.is_relative_to(place) for place in places):
            return str(real)
    return ""


def _has_vendor(folder: Path) -> bool:
    vendor = folder / "vendor"
    return (vendor / "modules.txt").is_file() and vendor.resolve() == vendor and (folder / "go.mod").is_file()
