"""Reads the user's own judges from a folder."""

from pathlib import Path

from moot.core.errors import ConfigError
from moot.protocols.decide.questions.panel import read_judge
from moot.protocols.decide.questions.values import Judge


def read_judges(folder: str) -> dict[str, Judge]:
    """Every `NAME.toml` of the folder, by name."""
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise ConfigError(f"the folder of judges {folder!r} does not exist; correct decide.judges_folder")
    return {path.stem: read_judge(path.stem, _text(path), str(path)) for path in sorted(place.glob("*.toml"))}


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(f"judge file {str(path)!r} cannot be read: {reason}") from None
