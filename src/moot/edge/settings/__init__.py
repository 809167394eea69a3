"""Sources of settings: `moot.toml` of the project, the user's own, and the environment."""

import tomllib
from pathlib import Path

import platformdirs

from moot.core.config import Layer, flat
from moot.core.errors import ConfigError

FILE = "moot.toml"


def user_file() -> Path:
    return Path(platformdirs.user_config_dir("moot", appauthor=False)) / FILE


def default_store() -> Path:
    return Path(platformdirs.user_data_dir("moot", appauthor=False)) / "moot.db"


def default_worktrees() -> Path:
    return Path(platformdirs.user_data_dir("moot", appauthor=False)) / "worktrees"


def project_file(start: Path) -> Path | None:
    """The nearest `moot.toml` upwards, no further than the repository's root."""
    for folder in (start, *start.parents):
        if (folder / FILE).is_file():
            return None if _is_users(folder / FILE) else folder / FILE
        if (folder / ".git").exists():
            return None
    return None


def _is_users(path: Path) -> bool:
    """In the folder of the user's own settings there is no project."""
    own = user_file()
    return own.is_file() and not path.is_symlink() and path.samefile(own)


def user_layers() -> list[Layer]:
    path = user_file()
    return [Layer(str(path), flat(_table(path)))] if path.is_file() else []


def _table(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from None
