"""The switch that turns debates off."""

from collections.abc import Mapping

SWITCHES = ("MOOT_DISABLE_DEBATE", "DISABLE_DEBATE")
OFF = ("", "0", "false", "no", "off")


def find_off_switch(env: Mapping[str, str]) -> str:
    return next((name for name in SWITCHES if env.get(name, "").strip().lower() not in OFF), "")
