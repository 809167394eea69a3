"""What every coroutine of the library takes."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from moot import harden, run
from moot.core.errors import UsageError
from moot.core.types import Limits
from moot.edge.store import SqlStore
from moot.surfaces.library.given import session_flags
from moot.surfaces.session.settings import Settings


def test_the_patience_of_a_call_reaches_the_client_that_makes_it(tmp_path: Path) -> None:
    flags = session_flags("openai:a", {"red": ["openai:b", "openai:c"]}, tmp_path / "s.db", Limits(call_timeout=7.0))
    settings = Settings.load(flags, tmp_path)
    assert settings["call_timeout"] == 7.0 and settings.store == str(tmp_path / "s.db")
    assert settings.seats("harden") == {"red": ("openai:b", "openai:c"), "blue": ("openai:a",)}


def test_without_limits_the_configured_patience_holds(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text("call_timeout = 9\n")
    assert Settings.load(session_flags(None, None, None, None), tmp_path)["call_timeout"] == 9.0


def test_the_model_of_the_only_key_is_used_said_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    said = "using anthropic:claude-sonnet-4-6 because only ANTHROPIC_API_KEY is set"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-none")

    async def keep_one() -> dict[str, Any]:
        store = SqlStore(str(tmp_path / "s.db"))
        result = await harden("x = 1\n", language="python", store=tmp_path / "s.db", limits=Limits(max_calls=0))
        try:
            return (await store.session(str(result.session_id))).config
        finally:
            await store.aclose()

    config = asyncio.run(keep_one())
    assert config["notes"] == {**config["notes"], "picked": said} and caplog.messages == [said]
    assert "anthropic:claude-sonnet-4-6" in str(config["seats"])

    caplog.clear()
    asyncio.run(harden("x = 1\n", language="python", model=[], keep=False))
    assert caplog.records == []

    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with (
        caplog.at_level(logging.WARNING),
        pytest.raises(UsageError, match="ANTHROPIC_API_KEY and OPENAI_API_KEY are set"),
    ):
        asyncio.run(run("solve", task="Sort a list."))
