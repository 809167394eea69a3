"""Reads code from files, folders, a git diff or standard input, and writes patched code back."""

import hashlib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from moot.core.errors import UsageError
from moot.core.types import SUFFIXES, Code, Language, NotAnalysed, SourceFile, Tests
from moot.edge.files.links import is_below, refuse_links_out
from moot.edge.files.names import FileNames, escape_name, format_path
from moot.edge.files.needs import read_needs
from moot.edge.files.skips import REASONS, Reason, folder_reason, is_generated
from moot.edge.git import ForeignWorktree, GitError, git, is_repository, top_of

LANGUAGES: tuple[Language, ...] = get_args(Language)
MAX_FILE_BYTES = 2_000_000
MAX_FILES = 500
UNCHANGED = f"nothing in {', '.join(LANGUAGES)} differs from"

Origins = Mapping[str, tuple[str, str]]
"""Displayed path -> absolute path, and sha256 of the bytes as read."""


@dataclass(frozen=True)
class Gathered:
    code: Code
    origins: Origins = field(default_factory=dict)
    left_out: tuple[NotAnalysed, ...] = ()
    """What is in a folder and could not be read as code: files, or folders inside."""
    skipped: Mapping[Reason, int] = field(default_factory=dict)
    """How many files of folders were skipped, and why; a file named explicitly never is."""


def read_code(
    paths: Sequence[str], language: str | None, base: str | None, stdin: Callable[[], bytes], *, whole: bool = False
) -> Gathered:
    """All named code; errors name the input and the remedy. `whole`: any number of files, without generated ones; else
    what a session can hold."""
    chosen = parse_language(language)
    if list(paths) == ["-"]:
        return Gathered(Code(files=(from_text(decode_source(stdin(), "standard input"), chosen),)))
    sources: list[SourceFile] = []
    origins: dict[str, tuple[str, str]] = {}
    left_out: list[NotAnalysed] = []
    skipped: Counter[Reason] = Counter(dict.fromkeys(REASONS, 0))
    most = None if whole else MAX_FILES
    found = _collect_changed(paths, base) if base else _collect_named(paths, chosen, skipped, left_out, most)
    names = FileNames()
    for path, named in found:
        try:
            _check_name(shown := names.format(path))
            data = _bytes(path)
            if not named and not data.strip():
                continue  # ignore an empty `__init__.py`
            written_in = chosen or _language(path)
            text = decode_source(data, shown)
        except UsageError as problem:
            if named:
                raise
            left_out.append(NotAnalysed(file=escape_name(format_path(path)), line=0, why=str(problem)))
            continue
        if whole and not named and is_generated(text, written_in):
            skipped["generated"] += 1
            continue
        before = _before(path, base) if base else None
        sources.append(SourceFile(path=shown, language=written_in, text=text, base=before))
        origins[shown] = (names.find_real(path), hashlib.sha256(data).hexdigest())
    if not sources:
        if base and not left_out:
            raise NothingChanged(f"{UNCHANGED} {base}, but for empty or generated files")
        raise UsageError(f"there is no readable code in {', '.join(paths)}{_but(skipped)}{_because(left_out)}")
    needs = read_needs(path for path, _ in origins.values())
    return Gathered(Code(files=tuple(sources), needs=needs), origins, tuple(left_out), skipped)


def _but(skipped: Mapping[Reason, int]) -> str:
    counted = ", ".join(f"{count} {reason}" for reason, count in skipped.items() if count)
    return f"; skipped: {counted} (a file that you name yourself is never skipped)" if counted else ""


def _because(left_out: Sequence[NotAnalysed]) -> str:
    more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
    return f": {left_out[0].why}{more}" if left_out else ""


def from_text(text: str, language: Language | None) -> SourceFile:
    if language is None:
        raise UsageError("code without a file name needs a language: " + ", ".join(LANGUAGES))
    suffix = next(suffix for suffix, known in SUFFIXES.items() if known == language)
    return SourceFile(path=f"stdin{suffix}", language=language, text=text)


def read_tests(path: str) -> Tests:
    """Test files; a folder gives every file below it that a test may need."""
    root = Path(path)
    if not root.exists():
        raise UsageError(f"there are no tests at {path!r}")
    files = (
        [root]
        if root.is_file()
        else [f for f in sorted(root.rglob("*")) if f.is_file() and folder_reason(f.relative_to(root).parts) is None]
    )
    named = [f for f in files if f.suffix in SUFFIXES or f.suffix in (".json", ".txt")]
    modules = _module_files(root)
    refuse_links_out(named, root)
    for file in modules:
        refuse_links_out([file], file.parent)
    wanted = [*named, *modules]
    for file in wanted:
        _check_name(format_path(file))
    given = [
        (format_path(f), decode_source(data, format_path(f)) if data.strip() else "")
        for f in wanted
        for data in [_bytes(f)]
    ]
    languages = [SUFFIXES[f.suffix] for f in files if f.suffix in SUFFIXES]
    if not languages:
        raise UsageError(f"there are no test files in {path!r} (looked for {', '.join(sorted(SUFFIXES))})")
    return Tests(files=tuple(given), language=max(set(languages), key=languages.count))


def _module_files(root: Path) -> list[Path]:
    """The `go.mod` of Go tests at this place, and its sums; nothing above the working folder is read."""
    here = Path.cwd().resolve()
    inner = [f.parent for f in sorted(root.rglob("go.mod")) if folder_reason(f.relative_to(root).parts) is None]
    outer = [
        folder for folder in root.resolve().parents if folder.is_relative_to(here) and (folder / "go.mod").exists()
    ]
    folders = inner or outer[:1]
    return [f for folder in folders for name in ("go.mod", "go.sum") if (f := folder / name).is_file()]


def write_code(texts: Mapping[str, str], origins: Origins) -> list[str]:
    """Write patched texts atomically, each only if the file has not changed meanwhile."""
    for shown in texts:
        path, digest = origins[shown]
        try:
            now = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        except OSError as error:
            raise UsageError(f"{shown} can no longer be read ({error.strerror}); nothing was written") from None
        if now != digest:
            raise UsageError(f"{shown} changed while the session ran; nothing was written. Run it again")
    for shown, text in texts.items():
        replace_file(Path(origins[shown][0]), text.encode("utf-8"))
    return list(texts)


def replace_file(path: Path, data: bytes) -> None:
    """Write atomically; whoever reads the file meanwhile sees the old text or the new one."""
    try:
        _replace(path, data)
    except OSError as error:
        raise UsageError(f"cannot write {format_path(path)!r}: {error.strerror}") from None


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, path.stat().st_mode)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class NothingChanged(UsageError):
    """The commit is known, and no code differs from it."""


def parse_language(language: str | None) -> Language | None:
    if language is None:
        return None
    names = {"py": "python", "js": "javascript", "ts": "typescript", "tsx": "typescript", "golang": "go"}
    wanted = names.get(language.lower(), language.lower())
    for known in LANGUAGES:
        if known == wanted:
            return known
    raise UsageError(f"unknown language {language!r}; known are {', '.join(LANGUAGES)}")


def _language(path: Path) -> Language:
    if known := SUFFIXES.get(path.suffix.lower()):
        return known
    raise UsageError(
        f"cannot tell the language of {format_path(path)!r}; set it with --language ({', '.join(LANGUAGES)})"
    )


def _collect_named(
    paths: Sequence[str],
    chosen: Language | None,
    skipped: Counter[Reason],
    left_out: list[NotAnalysed],
    most: int | None,
) -> list[tuple[Path, bool]]:
    """The files, and whether the user named each one explicitly."""
    if not paths:
        raise UsageError("no code given; name a file or a folder, or - for standard input")
    files: dict[Path, bool] = {}
    for name in paths:
        path = Path(name)
        if path.is_dir():
            closed = _list_closed_folders(path)
            left_out += closed
            all_code = [
                f for f in _below(path) if (known := SUFFIXES.get(f.suffix.lower())) and chosen in (None, known)
            ]
            reasons = [folder_reason(f.relative_to(path).parts) for f in all_code]
            skipped.update(reason for reason in reasons if reason is not None)
            inside = [f for f, reason in zip(all_code, reasons, strict=True) if reason is None]
            if not inside:
                if closed:
                    raise UsageError(f"there is no readable code in {name!r}: {closed[0].why}")
                raise UsageError(f"the folder {name!r} holds no code in {', '.join(LANGUAGES)}{_but(skipped)}")
            files |= dict.fromkeys(inside, False)
        elif path.exists():
            files[path] = True
        else:
            raise UsageError(f"there is no file {name!r}")
    if most is not None and len(files) > most:
        raise UsageError(f"{len(files)} files exceed the limit of {most} per session; name fewer, or a subfolder")
    return list(files.items())


def _below(folder: Path) -> Iterable[Path]:
    """The files git would track, so `.gitignore` applies; all files outside a repository, or in an ignored folder that
    the user names."""
    listed = _ask_git(folder, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    if not listed and _ask_git(folder, "check-ignore", "--quiet", ".") is not None:
        listed = None
    found = _list_all(folder) if listed is None else (os.path.join(folder, name) for name in _split_names(listed))
    code = {file for file in found if os.path.splitext(file)[1].lower() in SUFFIXES}
    return map(Path, sorted(_select_own(code, folder), key=lambda file: file.split(os.sep)))


def _list_all(folder: Path) -> Iterator[str]:
    return (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)


def _list_closed_folders(folder: Path) -> list[NotAnalysed]:
    """Folders whose files this user may not list: what is in them must not pass for harmless."""
    errors: list[OSError] = []
    for place, names, _ in os.walk(folder, onerror=errors.append):
        inner = Path(place).relative_to(folder).parts
        names[:] = [name for name in names if folder_reason((*inner, name, "")) is None]
    closed = [
        (escape_name(format_path(Path(error.filename))), error)
        for error in errors
        if not _is_ignored(folder, error.filename)
    ]
    return [NotAnalysed(file=shown, line=0, why=f"{shown} cannot be read: {e.strerror}") for shown, e in closed]


def _is_ignored(folder: Path, name: str) -> bool:
    """By git; a folder that the user names counts in any case."""
    inner = os.path.relpath(name, folder)
    return inner != "." and _ask_git(folder, "check-ignore", "--quiet", "--", inner) is not None


def _select_own(files: Iterable[str], folder: Path) -> Iterator[str]:
    """Regular files: no links, and none behind a link that leads outside."""
    real, names = os.path.realpath(folder), FileNames()
    return (f for f in files if not os.path.islink(f) and os.path.isfile(f) and is_below(names.find_real(f), real))


def _collect_changed(paths: Sequence[str], base: str) -> list[tuple[Path, bool]]:
    """Files of known languages that differ from `base`, as they are now."""
    here = Path.cwd()
    if not is_repository(here):
        raise UsageError("--diff needs a git repository, and this folder is not in one")
    if _ask_git(here, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}") is not None:
        names = git(here, "diff", "--name-only", "--diff-filter=d", "-z", base, "--", *paths)
    elif base == "HEAD" and _ask_git(here, "rev-list", "--all", "--max-count=1") == b"":
        # Before the first commit everything is new.
        names = git(here, "ls-files", "--cached", "--full-name", "-z", "--", *paths)
    else:
        raise UsageError(f"--diff: unknown commit {base!r}")
    new = git(here, "ls-files", "--others", "--exclude-standard", "--full-name", "-z", "--", *paths)
    root = top_of(here)
    files = [str(root / name) for name in dict.fromkeys(_split_names(names + new))]
    code = [Path(f) for f in _select_own(files, root) if os.path.splitext(f)[1].lower() in SUFFIXES]
    if not code:
        if gone := next((name for name in paths if not Path(name).exists()), None):
            raise UsageError(f"there is no file {gone!r}")
        raise NothingChanged(f"{UNCHANGED} {base}")
    return [(f, False) for f in code]


def _before(path: Path, base: str) -> str:
    """The text at `base`; empty if the file did not exist."""
    name = path.resolve().relative_to(top_of(path.parent).resolve())
    return (_ask_git(path.parent, "cat-file", "blob", f"{base}:{name.as_posix()}") or b"").decode("utf-8", "replace")


def _split_names(listed: bytes) -> list[str]:
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _ask_git(folder: Path, *arguments: str) -> bytes | None:
    """Git's output; None on failure, as outside of a repository."""
    try:
        return git(folder, *arguments)
    except ForeignWorktree:
        raise
    except GitError:
        return None


def _bytes(path: Path) -> bytes:
    try:
        if (length := path.stat().st_size) > MAX_FILE_BYTES:
            size = length / 1_000_000
            raise UsageError(
                f"{format_path(path)} has {size:.1f} MB; the limit is {MAX_FILE_BYTES // 1_000_000} MB per file"
            )
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{format_path(path)} cannot be read: {error.strerror}") from None


def _check_name(shown: str) -> None:
    """A name that is not UTF-8 fits into no prompt and no record."""
    if not shown.isascii() and escape_name(shown) != shown:
        raise UsageError(f"the name {escape_name(shown)} is not valid UTF-8; rename it first")


def decode_source(data: bytes, shown: str, kind: str = "code", purpose: str = "look at") -> str:
    """Decode non-empty text; errors name the file and the remedy."""
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(
            f"{shown} has {len(data) / 1e6:.1f} MB; the limit is {MAX_FILE_BYTES // 1_000_000} MB per file"
        )
    if b"\0" in data:
        raise UsageError(f"{shown} is a binary file, not {kind}")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{shown} is not valid UTF-8 (byte {error.start}); convert it first") from None
    if not text.strip():
        raise UsageError(f"{shown} is empty; there is nothing to {purpose}")
    return text


def read_text(path: str) -> str:
    """The text of a file; `-` is standard input."""
    shown = "standard input" if path == "-" else repr(path)
    try:
        data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1) if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {shown}: {error.strerror}") from None
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"{shown} is larger than {MAX_FILE_BYTES // 1_000_000} MB, which is too large for a text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{shown} is not UTF-8 text") from None
