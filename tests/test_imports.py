"""The tree tells the story: imports point one way, and `moot` itself loads next to nothing."""

import ast
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest
import typer

import moot
from moot.surfaces.cli.app import load_entry
from moot.surfaces.cli.menu import LISTED, PROTOCOL_COMMAND, SHORT

ROOT = Path(moot.__file__).parent
ROOMS = ("core", "text", "routing", "scan", "evidence", "teams", "protocols", "record", "runtime", "edge", "surfaces")
"""A room imports itself and those before it."""
OVER_RUNTIME = {"record.replay": "runs a session again, so it stands over what runs one"}
DOORS = ("testing", "__main__")
"""What lies beside the rooms, and may import all of them."""


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def place_of(name: str) -> int:
    if any(name == part or name.startswith(f"{part}.") for part in OVER_RUNTIME):
        return ROOMS.index("runtime")
    room = name.split(".")[0]
    return ROOMS.index(room) if room in ROOMS else len(ROOMS)


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{path.name}: relative import"
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("moot."):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("moot.")}
    return {name.removeprefix("moot.") for name in found}


MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def test_nothing_lies_beside_the_rooms() -> None:
    assert {room_of(path) for path in MODULES} == {*ROOMS, *DOORS}
    left = {entry.name for entry in ROOT.iterdir()} - {f"{door}.py" for door in DOORS} - set(ROOMS)
    assert left <= {"__init__.py", "py.typed", "__pycache__"}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_says_what_lives_in_it(room: str) -> None:
    said = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    assert len(said.splitlines()) >= 3, f"{room}/__init__.py says what lives here, what it imports, what to read first"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    here = place_of(".".join(path.relative_to(ROOT).with_suffix("").parts))
    outward = {name for name in imported(path) if place_of(name) > here}
    assert not outward, f"{path.relative_to(ROOT)} imports {outward}"


def test_protocols_and_rules_touch_no_clock_no_chance_and_no_world() -> None:
    forbidden = {"time", "random", "os", "socket", "subprocess", "sqlite3", "datetime", "uuid", "httpx"}
    for path in MODULES:
        if room_of(path) in ("core", "routing", "teams", "protocols") or "replies" in path.parts:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            names = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
            names |= {(n.module or "").split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
            if room_of(path) == "core":
                names -= {"datetime"}  # as a type of fields
            assert not names & forbidden, f"{path.relative_to(ROOT)} imports {names & forbidden}"


def test_public_names_are_few_and_true() -> None:
    assert len(moot.__all__) <= 40 and sorted(moot.__all__) == moot.__all__
    for name in moot.__all__:
        assert getattr(moot, name) is not None
    with pytest.raises(AttributeError):
        _ = moot.nonsense


def test_import_moot_loads_nothing_slow() -> None:
    slow = ("pydantic", "typer", "sqlalchemy", "rich")
    code = f"import sys, moot, moot.__main__; print([m for m in {slow} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_session_without_a_model_loads_no_provider(tmp_path: Path) -> None:
    code = (
        "import sys, asyncio; from moot.surfaces import library; import moot; "
        f"moot.run_sync(moot.harden('x = 1\\n', language='python', store={str(tmp_path / 's.db')!r})); "
        "print([m for m in ('pydantic_ai', 'openai', 'anthropic', 'alembic', 'genai_prices') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_scan_loads_nothing_it_does_not_need(tmp_path: Path) -> None:
    foreign = ("sqlalchemy", "rich", "asyncio", "moot.runtime", "moot.protocols", "moot.scan.repair")
    others = ("moot.scan.go.frontend", "moot.scan.javascript.frontend", "moot.scan.go.rules.patterns")
    assert list_loaded_by_scan(tmp_path, (*foreign, *others)) == "0 []"


def test_a_scan_whose_results_are_kept_loads_no_engine(tmp_path: Path) -> None:
    engine = ("tree_sitter", "moot.scan.engine.ir", "moot.scan.syntax", "moot.scan.rule")
    assert list_loaded_by_scan(tmp_path, engine) == f"0 {[*engine]}"
    assert list_loaded_by_scan(tmp_path, engine) == "0 []"


def list_loaded_by_scan(folder: Path, modules: Sequence[str]) -> str:
    """The exit code of a scan, and which of these modules it loaded."""
    code = folder / "code"
    code.mkdir(exist_ok=True)
    (code / "app.py").write_text("x = 1\n")
    script = (
        "import sys; from moot.__main__ import run; "
        f"ended = run(['scan', {str(code)!r}, '--json', '--jobs', '1'], debug=False); "
        f"print(ended, [m for m in {tuple(modules)} if m in sys.modules], file=sys.stderr)"
    )
    env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env)
    return done.stderr.strip()


@pytest.mark.parametrize("name", [*LISTED, *SHORT])
def test_every_command_of_the_menu_is_in_the_module_it_names(name: str) -> None:
    entry = {**LISTED, **SHORT}[name]
    assert load_entry(name, entry, []).name == (entry.short or name)
    for inner, each in entry.inside.items():
        group = load_entry(name, entry, [inner])
        assert inner in group.commands and load_entry(inner, each, []).name == (each.short or inner)


def test_no_command_is_left_out_of_the_menu() -> None:
    listed = {entry.short or name for name, entry in {**LISTED, **SHORT}.items()}
    for home in {entry.home for entry in {**LISTED, **SHORT}.values()} - {"", PROTOCOL_COMMAND}:
        app = typer.Typer()
        import_module(f"moot.surfaces.cli.{home}").register(app)
        assert set(typer.main.get_group(app).commands) <= listed, home


def test_the_list_of_commands_loads_none_of_them() -> None:
    code = (
        "import sys; from moot.__main__ import run; run(['--help'], debug=False); "
        "print([m for m in sys.modules if m.startswith('moot.surfaces.cli.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    own = ("app", "group", "menu")
    assert sorted(ast.literal_eval(done.stderr.strip())) == [f"moot.surfaces.cli.{name}" for name in own]
