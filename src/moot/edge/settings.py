"""Where settings are kept: `moot.toml` of the project, the user's own, and the environment."""

import tomllib
from pathlib import Path

import platformdirs

from moot.config import Layer, flat
from moot.errors import ConfigError

FILE = "moot.toml"


def user_file() -> Path:
    return Path(platformdirs.user_config_dir("moot", appauthor=False)) / FILE


def default_store() -> Path:
    return Path(platformdirs.user_data_dir("moot", appauthor=False)) / "moot.db"


def default_worktrees() -> Path:
    """Where sessions that commit to a branch have their files while they run."""
    return Path(platformdirs.user_data_dir("moot", appauthor=False)) / "worktrees"


def project_file(start: Path) -> Path | None:
    """The nearest `moot.toml` from here upwards, no further than the repository's root."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return folder / FILE
        if (folder / ".git").exists():
            return None
    return None


def file_layers(start: Path | None) -> list[Layer]:
    """What files say; without a place to start from, the user's own file alone."""
    project = project_file(start) if start else None
    found = [path for path in (project, user_file()) if path is not None and path.is_file()]
    return [Layer(str(path), flat(_table(path))) for path in found]


def _table(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
