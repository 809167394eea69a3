"""A session as one signed file: its record as JSON lines, and a manifest of what must be there."""

import base64
import binascii
import hashlib
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from pydantic import Field, ValidationError

from moot import __version__
from moot.core.errors import UsageError
from moot.core.gates import GateRequest
from moot.core.ports import FORMAT, JournalEntry, LogRow, SessionRecord, TurnRow, VersionRow
from moot.core.types import Value
from moot.record.chain import SessionSnapshot, flaws_of, select_standing, step_of

ARCHIVE = 1
MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
MEMBERS: Mapping[str, type[Value]] = {
    "session.jsonl": SessionRecord,
    "entries.jsonl": JournalEntry,
    "turns.jsonl": TurnRow,
    "versions.jsonl": VersionRow,
    "gates.jsonl": GateRequest,
    "logs.jsonl": LogRow,
}
LARGEST = 256 * 1024 * 1024
"""Bytes of an archive, and of its content."""
LARGEST_MANIFEST = 64 * 1024
LONG_AGO = (1980, 1, 1, 0, 0, 0)


class Signer(Protocol):
    @property
    def public(self) -> bytes: ...

    def sign(self, data: bytes) -> bytes: ...


class ArchiveMember(Value):
    sha256: str
    bytes: int = Field(ge=0, le=LARGEST)
    lines: int = Field(ge=0)


class Manifest(Value):
    archive: int
    moot: str
    session: str
    entries: int
    head: str
    """The mark of the last entry, which covers all of them."""
    signer: str
    """The public key, base64."""
    members: dict[str, ArchiveMember]

    @property
    def key(self) -> bytes:
        try:
            return base64.b64decode(self.signer, validate=True)
        except binascii.Error:
            raise ArchiveRefused("its signer cannot be read") from None


class ArchiveRefused(UsageError):
    def __init__(self, why: str) -> None:
        super().__init__(f"the archive is refused: {why}")


def pack_archive(whole: SessionSnapshot, signer: Signer) -> bytes:
    texts = {name: _lines(rows) for name, rows in _rows(whole).items()}
    manifest = Manifest(
        archive=ARCHIVE,
        moot=__version__,
        session=whole.session.id,
        entries=len(whole.entries),
        head=whole.session.chain,
        signer=base64.b64encode(signer.public).decode(),
        members={
            name: ArchiveMember(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data), lines=data.count(b"\n"))
            for name, data in texts.items()
        },
    )
    manifest_json = json.dumps(manifest.model_dump(mode="json"), indent=1).encode()
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in {MANIFEST: manifest_json, SIGNATURE: signer.sign(manifest_json), **texts}.items():
            file.writestr(zipfile.ZipInfo(name, LONG_AGO), data, zipfile.ZIP_DEFLATED)
    return held.getvalue()


def _rows(whole: SessionSnapshot) -> dict[str, Sequence[Value]]:
    tables = (whole.session,), whole.entries, whole.turns, whole.versions, whole.gates, whole.logs
    return dict(zip(MEMBERS, tables, strict=True))


def _lines(rows: Sequence[Value]) -> bytes:
    return "".join(json.dumps(row.model_dump(), default=_moment) + "\n" for row in rows).encode()


def _moment(value: object) -> str:
    assert isinstance(value, datetime), value
    return value.isoformat()


DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, EOFError, RuntimeError, OSError,
    ValueError, ArithmeticError,  # an offset below zero or beyond the file
)  # fmt: skip


def unpack_archive(
    data: bytes, verify: Callable[[bytes, bytes, bytes], bool], trusted: Callable[[bytes], bool]
) -> "Opened":
    """Unpack an archive; `ArchiveRefused` unless it is complete and signed by a trusted key. The signature is checked
    before anything else is read, and nothing is written."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            manifest = _manifest(file, verify, trusted)
            texts = {name: _text(file, name, manifest.members[name]) for name in MEMBERS}
    except DAMAGE as error:
        raise ArchiveRefused(f"it is damaged or not a Moot archive ({type(error).__name__})") from None
    return Opened(manifest=manifest, whole=_whole(manifest, texts))


class Opened(Value):
    manifest: Manifest
    whole: SessionSnapshot


def _manifest(
    file: zipfile.ZipFile, verify: Callable[[bytes, bytes, bytes], bool], trusted: Callable[[bytes], bool]
) -> Manifest:
    names = file.namelist()
    if sorted(names) != sorted([MANIFEST, SIGNATURE, *MEMBERS]):
        raise ArchiveRefused("its files are not those of a Moot archive")
    text, signature = _read(file, MANIFEST, LARGEST_MANIFEST), _read(file, SIGNATURE, LARGEST_MANIFEST)
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError:
        raise ArchiveRefused("its manifest cannot be read") from None
    if manifest.archive != ARCHIVE:
        raise ArchiveRefused(f"it has format {manifest.archive}, but this Moot reads format {ARCHIVE}")
    if not verify(manifest.key, text, signature):
        raise ArchiveRefused("its signature is wrong")
    if not trusted(manifest.key):
        raise ArchiveRefused("its signer is unknown; trust signers with --trust KEYFILE, or anyone with --any-signer")
    if manifest.members.keys() != MEMBERS.keys() or sum(m.bytes for m in manifest.members.values()) > LARGEST:
        raise ArchiveRefused(f"its manifest names other files, or more than {LARGEST} bytes")
    return manifest


def _read(file: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Read no more than that, whatever size the archive claims."""
    with file.open(name) as member:
        data = member.read(most + 1)
    if len(data) > most:
        raise ArchiveRefused(f"{name} is too large")
    return data


def _text(file: zipfile.ZipFile, name: str, member: ArchiveMember) -> bytes:
    data = _read(file, name, member.bytes)
    if len(data) != member.bytes or hashlib.sha256(data).hexdigest() != member.sha256:
        raise ArchiveRefused(f"{name} is not what was signed")
    if data.count(b"\n") != member.lines:
        raise ArchiveRefused(f"{name} has different lines than were signed")
    return data


def _whole(manifest: Manifest, texts: Mapping[str, bytes]) -> SessionSnapshot:
    try:
        rows = {name: [MEMBERS[name].model_validate(json.loads(line)) for line in texts[name].splitlines()]
                for name in MEMBERS}  # fmt: skip
        (session,) = rows["session.jsonl"]
        kept = {name.removesuffix(".jsonl"): tuple(lines) for name, lines in rows.items() if name != "session.jsonl"}
        entries = [entry for entry in rows["entries.jsonl"] if isinstance(entry, JournalEntry)]
        whole = SessionSnapshot.model_validate(
            {"session": session, "steps": [step_of(e) for e in select_standing(entries)], **kept}
        )
    except (ValueError, TypeError, RecursionError):
        raise ArchiveRefused("its lines cannot be read") from None
    if whole.session.format > FORMAT:
        raise ArchiveRefused("its session was started by a newer version of Moot")
    if found := flaws_of(whole):
        raise ArchiveRefused(f"its record was changed: {found[0]}")
    if (whole.session.id, len(whole.entries), whole.session.chain) != (
        manifest.session,
        manifest.entries,
        manifest.head,
    ):
        raise ArchiveRefused("its manifest names another session")
    if any(gate.session_id != whole.session.id for gate in whole.gates):
        raise ArchiveRefused("it contains a gate of another session")
    return whole
