"""Sessions of one process share an open store."""

import asyncio
import threading
from pathlib import Path

import pytest

import moot

REPLIES = """
- seat: advocate
  reply: "CLAIM: drop it\\nSUPPORTS: it is a copy\\nCONFIDENCE: 0.9"
- seat: critic
  reply: "OBJECTION: none worth naming\\nRISKS: none\\nSEVERITY: low\\nCOUNTER: none"
"""


def count_writers() -> int:
    return sum(thread.name == "moot-store" for thread in threading.enumerate())


def test_sessions_at_once_write_through_one_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("replies.yaml").write_text(REPLIES, encoding="utf-8")
    monkeypatch.setenv("MOOT_MODEL", "script:replies.yaml")
    seen = []

    async def ask(number: int) -> str:
        answer = await moot.vet(
            f"drop table copy_{number}", stakes="high", listen=lambda _: seen.append(count_writers())
        )
        return answer.outcome

    async def ask_all() -> list[str]:
        return await asyncio.gather(*(ask(number) for number in range(20)))

    assert asyncio.run(ask_all()) == ["proceed"] * 20
    assert set(seen) == {1}
    assert count_writers() == 0  # the last one closed it
