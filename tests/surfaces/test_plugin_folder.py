"""The folder `plugin/`: the version of the package, skills that clients can read, the hooks of `moot hook install`."""

import json
import re
from pathlib import Path

import pytest
import yaml

from moot import __version__
from moot.protocols import PROTOCOLS
from moot.surfaces.cli.app import load_entry
from moot.surfaces.cli.menu import LISTED
from moot.surfaces.hooks.install import PLACES

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"
SKILLS = sorted(path.parent for path in PLUGIN.glob("skills/*/SKILL.md"))


def read_json(path: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_the_version_is_that_of_the_package() -> None:
    market = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text())
    (entry,) = market["plugins"]
    named = [read_json(PLUGIN / place)["version"] for place in ("plugin.json", ".claude-plugin/plugin.json")]
    assert {*named, entry["version"], market["metadata"]["version"]} == {__version__}
    assert (ROOT / entry["source"]).resolve() == PLUGIN


def test_there_is_a_skill_for_every_verb() -> None:
    assert [skill.name for skill in SKILLS] == sorted(PROTOCOLS)


@pytest.mark.parametrize("skill", SKILLS, ids=lambda path: path.name)
def test_a_skill_is_one_that_clients_read_and_names_what_there_is(skill: Path) -> None:
    _, head, text = (skill / "SKILL.md").read_text(encoding="utf-8").split("---\n", 2)
    given = yaml.safe_load(head)
    assert given["name"] == skill.name and re.fullmatch(r"[a-z0-9-]{1,64}", given["name"])
    assert 0 < len(given["description"]) <= 1024 and len(given["compatibility"]) <= 500
    command = load_entry(skill.name, LISTED[skill.name], [])
    known = {option for parameter in command.params for option in parameter.opts}
    own = re.sub(r"`moot (?!" + skill.name + r"\b)[^`]*`", "", text)
    assert set(re.findall(r"(?<![\w-])--[a-z][\w-]*", own)) - {"--help"} <= known
    assert all(word in LISTED or word in ("classify", "choose") for word in re.findall(r"`moot ([a-z]+)", text))


def test_the_hooks_are_those_that_install_writes() -> None:
    hooks = read_json(PLUGIN / "hooks/hooks.json")["hooks"]
    assert isinstance(hooks, dict)
    for event in PLACES["claude"].events:
        (group,) = hooks.pop(event.name)
        assert group.get("matcher", "") == event.matcher
        assert group["hooks"][0]["command"] == f"moot hook {event.hook} --client claude"
    assert hooks == {}


def test_every_client_starts_the_same_server() -> None:
    for place in ("mcp.json", ".claude-plugin/plugin.json"):
        servers = read_json(PLUGIN / place)["mcpServers"]
        assert isinstance(servers, dict)
        assert [servers["moot"]["command"], *servers["moot"]["args"]] == ["moot", "mcp"]
