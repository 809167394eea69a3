"""Our Go programs that separate tests from the code they test, and link the two. Built once and kept."""

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from moot.edge.sandbox.go.toolchain import Toolchain, below, cache_of, is_fresh, is_target_there, run_go, write_whole

HERE = Path(__file__).parent / "golink"
LINK = "moot.invalid/link"
OLDEST = (1, 22)
# The second compiles and vets the link as its own module, as the sandboxes will use it.
BUILD = (
    '"$0" -C "$1" build -o "$2" . >&2 && "$0" -C "$3" test -mod=mod -count=1 . >&2 && '
    f'exec "$0" -C "$3" list -mod=mod -export -f \'{{{{.Export}}}}\' {LINK}'
)
USER = f'package user\n\nimport _ "{LINK}"\nimport "testing"\n\nfunc TestNothing(t *testing.T) {{}}\n'


@dataclass(frozen=True)
class GoKit:
    folder: Path
    problem: str = ""

    @property
    def tool(self) -> Path:
        return self.folder / "bin" / "tool"

    @property
    def link(self) -> Path:
        return self.folder / "link"


async def open_kit(go: Toolchain) -> GoKit:
    """The kit for this toolchain. The link is compiled where the sandbox will see it, so Go reuses it."""
    if tuple(map(int, go.version.split("."))) < OLDEST:
        return GoKit(Path(), f"Go {go.version} is older than {'.'.join(map(str, OLDEST))}")
    cache = cache_of(go)
    kit = GoKit(cache.with_name(f"{cache.name}-kit-{_mark()}"))
    if kit.tool.is_file() and is_fresh(_export(cache)) and is_target_there(_export(cache)):
        return kit
    try:
        _lay_out(kit)
        problem = await _build(go, kit, cache)
    except OSError as error:
        problem = str(error)
    return GoKit(kit.folder, problem)


def _lay_out(kit: GoKit) -> None:
    """All sources or none: another process may be building from them."""
    if kit.folder.is_dir():
        return
    kit.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kit.folder.parent, ignore_cleanup_errors=True) as place:
        made = Path(place) / "kit"
        for path, text in _sources().items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text, "utf-8")
        (made / "bin").mkdir()
        for each in (made, *made.rglob("*")):
            each.chmod(0o755 if each.is_dir() else 0o644)  # a sandbox that steps down from root reads it
        with contextlib.suppress(OSError):  # another process was faster
            made.rename(kit.folder)


async def _build(go: Toolchain, kit: GoKit, cache: Path) -> str:
    with tempfile.TemporaryDirectory(prefix="moot-", ignore_cleanup_errors=True) as place:
        user = Path(place) / "user"
        user.mkdir()
        (user / "go.mod").write_text(with_link(f"module user\n\ngo {go.version}\n", kit), "utf-8")
        (user / "user_test.go").write_text(USER, "utf-8")
        made = Path(place) / "tool"
        ended = await run_go(go, cache, place, BUILD, (str(kit.folder / "tool"), str(made), str(user)))
        if ended.status != 0 or ended.stopped:
            return (ended.output.strip().splitlines() or [f"status {ended.status}"])[-1]
        write_whole(_export(cache), below(cache, ended.report.decode()))
        spot = kit.folder / "bin" / f"tool-{hashlib.sha256(place.encode()).hexdigest()[:8]}"
        spot.write_bytes(made.read_bytes())
    spot.chmod(0o755)
    spot.replace(kit.tool)
    return ""


def _export(cache: Path) -> Path:
    return cache / f"moot-plain-{LINK.replace('/', '.')}"


def with_link(module: str, kit: GoKit) -> str:
    return f"{module.rstrip()}\n\nrequire {LINK} v0.0.0\n\nreplace {LINK} => {json.dumps(str(kit.link))}\n"


@cache
def _sources() -> Mapping[str, str]:
    found = sorted(path for path in HERE.rglob("*") if path.suffix in (".go", ".mod"))
    return {str(path.relative_to(HERE)): path.read_text("utf-8") for path in found}


@cache
def _mark() -> str:
    return hashlib.sha256(repr(_sources()).encode()).hexdigest()[:16]
