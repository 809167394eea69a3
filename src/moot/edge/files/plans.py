"""Planning artefacts on disk: one file, or a whole `.planning` folder with its context."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from moot.core.errors import UsageError
from moot.core.types import NotAnalysed
from moot.edge.files.links import lies_in, refuse_links_out
from moot.edge.files.names import format_path
from moot.edge.files.sources import Origins, decode_source
from moot.evidence.artefacts.kinds import guess
from moot.evidence.artefacts.values import ArtefactType, Neighbour

ROOT_FILES = ("PROJECT.md", "REQUIREMENTS.md", "ROADMAP.md", "config.json")
SKIPPED = frozenset({"milestones", "archive", "archived", "node_modules", "vendor", "venv", "site-packages"})
ORDER: tuple[ArtefactType, ...] = ("requirements", "roadmap", "plan", "verification")
UP = 4
HEAD_LINES = 50
HEAD_CHARACTERS = 6000
MOST_ARTEFACTS = 200


@dataclass(frozen=True)
class FoundArtefact:
    path: str
    text: str
    type: ArtefactType
    guessed: str


@dataclass(frozen=True)
class ReviewMaterial:
    found: tuple[FoundArtefact, ...]
    around: tuple[Neighbour, ...]
    context: str
    config: str | None
    state: str = ""
    """Path of STATE.md, if any."""
    origins: Origins = field(default_factory=dict)
    left_out: tuple[NotAnalysed, ...] = ()


def read_planning(paths: Sequence[str], kind: ArtefactType | None, context: str | None) -> ReviewMaterial:
    """The named artefacts with their context; all must be of one project."""
    materials = [_read_material(path, kind, context) for path in paths]
    if len({(material.context, material.config, material.state) for material in materials}) > 1:
        raise UsageError(f"{', '.join(paths)} belong to several projects; review one project at a time")
    found = {one.path: one for material in materials for one in material.found}
    around = {near.path: near for material in materials for near in material.around}
    left_out = {spot.file: spot for material in materials for spot in material.left_out}
    return replace(
        materials[0],
        found=tuple(found.values()),
        around=tuple(around.values()),
        origins={path: origin for material in materials for path, origin in material.origins.items()},
        left_out=tuple(left_out.values()),
    )


def _read_material(path: str, kind: ArtefactType | None, context: str | None) -> ReviewMaterial:
    """The artefact, or all artefacts of the folder; errors name the file and the remedy."""
    place = Path(path)
    if not place.exists():
        raise UsageError(f"there is no file {path!r}")
    if place.is_dir() and kind is not None:
        raise UsageError("--type is for a single file; in a folder the type is detected by file name")
    root = place if place.is_dir() else _root(place)
    named = dict(_find_artefacts(root)) if root else {}
    around, left_out = _neighbours(named)
    if place.is_dir():
        if not around:
            raise UsageError(
                f"the folder {path!r} holds no artefact (REQUIREMENTS.md, ROADMAP.md, *PLAN.md, *VERIFICATION.md)"
            )
        if len(around) > MOST_ARTEFACTS:
            most = f"more than the limit of {MOST_ARTEFACTS} per session"
            raise UsageError(f"{path!r} holds {len(around)} artefacts, {most}; name a subfolder")
        found = [FoundArtefact(n.path, n.text, n.type, f"by its name {n.path.rsplit('/', 1)[-1]}") for n in around]
    else:
        found, left_out = [_one(place, kind)], []
    home = root or place.parent
    # Not from the name that is shown: a checkout may have a folder that is called `~`.
    places = {format_path(file): str(file.resolve()) for file in (*named, place)}
    return ReviewMaterial(
        found=tuple(found),
        around=tuple(around),
        context=_context(context, home, place),
        config=_optional(home / "config.json"),
        state=_find_state(home, place.parent),
        origins={f.path: (places[f.path], hashlib.sha256(f.text.encode()).hexdigest()) for f in found},
        left_out=tuple(left_out),
    )


def _one(place: Path, kind: ArtefactType | None) -> FoundArtefact:
    text = read_text(place)
    if kind is not None:
        return FoundArtefact(format_path(place), text, kind, "as told by --type")
    guessed = guess(place.name, text)
    if guessed.type is None:
        what = f"cannot tell what kind of artefact {format_path(place)} is: {guessed.how}"
        raise UsageError(f"{what}; set it with --type ({', '.join(ORDER)})")
    return FoundArtefact(format_path(place), text, guessed.type, guessed.how)


def _root(place: Path) -> Path | None:
    """The folder of the project's planning files, searched upwards."""
    for folder in [place.resolve().parent, *place.resolve().parents[1:UP]]:
        if folder.name == ".planning" or any((folder / name).is_file() for name in ROOT_FILES if name != "config.json"):
            return folder
    return None


def _find_artefacts(root: Path) -> Iterator[tuple[Path, ArtefactType]]:
    """Artefacts by name, in review order, without archived ones."""
    files = []
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED and not name.startswith(".")]
        files += [Path(folder) / name for name in names if name.lower().endswith(".md")]
    kinds = [(f, guessed.type) for f in sorted(files) if (guessed := guess(f.name, "")).type and f.is_file()]
    refuse_links_out((f for f, _ in kinds), root)
    for wanted in ORDER:
        yield from ((f, kind) for f, kind in kinds if kind == wanted)


def _neighbours(named: dict[Path, ArtefactType]) -> tuple[list[Neighbour], list[NotAnalysed]]:
    around: list[Neighbour] = []
    left_out: list[NotAnalysed] = []
    for file, kind in named.items():
        try:
            around.append(Neighbour(path=format_path(file), type=kind, text=read_text(file)))
        except UsageError as problem:
            left_out.append(NotAnalysed(file=format_path(file), line=0, why=str(problem)))
    return around, left_out


def _find_state(*folders: Path) -> str:
    """What is decided is written into it, so it must not be a link to another file of the user."""
    found = (folder / "STATE.md" for folder in folders)
    return next((str(file.resolve()) for file in found if file.is_file() and lies_in(file, file.parent)), "")


def _context(given: str | None, home: Path, place: Path) -> str:
    """The beginning of PROJECT.md: enough to know what is built, for whom, and under which constraints."""
    if given is not None:
        text = read_text(Path(given))
    else:
        text = next((t for f in (home / "PROJECT.md", place.parent / "PROJECT.md") if (t := _optional(f))), "")
    return "\n".join(text.splitlines()[:HEAD_LINES])[:HEAD_CHARACTERS]


def _optional(file: Path) -> str | None:
    try:
        own = file.is_file() and lies_in(file, file.parent)
        return file.read_text(encoding="utf-8", errors="replace") if own else None
    except OSError:
        return None


def read_text(file: Path) -> str:
    shown = format_path(file)
    if file.is_dir() or not file.exists():
        raise UsageError(f"there is no file {shown!r}")
    try:
        data = file.read_bytes()
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}") from None
    return decode_source(data, shown, "a text", "review")
