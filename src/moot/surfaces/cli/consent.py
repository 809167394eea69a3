"""Asks for consent before an imported session runs on this machine."""

from collections.abc import Sequence

from moot.surfaces.cli.screen import ask_on_terminal, err, plain


def ask_to_run(session_id: str, uses: Sequence[str]) -> bool:
    """True if the person at the terminal agrees; False without a terminal."""
    console = err()
    console.print(
        plain(f"session {session_id} was imported. Running it here would use the following of this machine:"),
        soft_wrap=True,
    )
    for each in uses:
        console.print(plain(f"  {each}"), soft_wrap=True)
    return ask_on_terminal("moot: run it anyway? [y/N] ") in ("y", "yes")
