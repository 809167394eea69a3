"""Reads the user's own roles and teams from files."""

from collections.abc import Mapping
from pathlib import Path

from moot.core.errors import ConfigError
from moot.teams.roles import Role, Team, load_roles, read_role, read_team

MAX_BYTES = 100_000


def read_roles(folder: str = "") -> Mapping[str, Role]:
    """The shipped and installed roles, and every `NAME.md` of the folder, which replaces one of the same name."""
    if not folder:
        return load_roles()
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise ConfigError(f"the folder of roles {folder!r} does not exist")
    own = {path.stem: read_role(path.stem, _text(path, "role"), str(path)) for path in sorted(place.glob("*.md"))}
    if not own:
        raise ConfigError(f"the folder of roles {folder!r} contains no NAME.md file")
    return {**load_roles(), **own}


def read_team_file(path: str, roles: Mapping[str, Role]) -> Team:
    return read_team(_text(Path(path).expanduser(), "team"), path, roles)


def _text(path: Path, kind: str) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{kind} file {str(path)!r} is larger than {MAX_BYTES // 1000} kB")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{kind} file {str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{kind} file {str(path)!r} is not UTF-8 text") from None
