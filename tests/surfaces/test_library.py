"""What every coroutine of the library takes."""

from pathlib import Path

from moot.core.types import Limits
from moot.surfaces.library.given import session_flags
from moot.surfaces.setup import Settings


def test_the_patience_of_a_call_reaches_the_client_that_makes_it(tmp_path: Path) -> None:
    flags = session_flags("openai:a", {"red": ["openai:b", "openai:c"]}, tmp_path / "s.db", Limits(call_timeout=7.0))
    settings = Settings.load(flags, tmp_path)
    assert settings["call_timeout"] == 7.0 and settings.store == str(tmp_path / "s.db")
    assert settings.seats("harden") == {"red": ("openai:b", "openai:c"), "blue": ("openai:a",)}


def test_without_limits_the_configured_patience_holds(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text("call_timeout = 9\n")
    assert Settings.load(session_flags(None, None, None, None), tmp_path)["call_timeout"] == 9.0
