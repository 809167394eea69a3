"""A session goes from store to store as one signed file; what was tampered with on the way is refused."""

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Cli
from record_kit import SESSIONS, found, run_session, seen, session_id

from moot.edge.signing import key_file, own_key
from moot.record import archive
from moot.record.archive import MANIFEST, SIGNATURE, Manifest, pack_archive

QUICK = ["harden", "app.py", "--no-llm", "--json", "-q"]


@pytest.fixture
def exported(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of a session that is in `a.moot`; the store in use is another one."""
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "from.db"))
    (tmp_path / "app.py").write_text("import os\n\ndef run(name):\n    os.system('ls ' + name)\n")
    session = session_id(cli(*QUICK))
    assert cli("export", session, "--format", "archive", "-o", "a.moot").code == 0
    monkeypatch.setenv("MOOT_STORE", str(tmp_path / "to.db"))
    return session


@pytest.mark.parametrize("name", SESSIONS)
def test_every_session_arrives_as_it_was(
    cli: Cli, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    ran = run_session(cli, name, str(tmp_path / "from.db"), tmp_path, monkeypatch)
    session = session_id(ran)
    before = seen(str(tmp_path / "from.db"), session)
    assert cli("export", session, "--format", "archive", "-o", "a.moot").code == 0
    monkeypatch.setenv("MOOT_STORE", place)
    told = cli("import", "a.moot")
    assert told.code == 0 and "signed by SHA256:" in told.out, told.err
    after = seen(place, session)
    assert found(place, session) == [] and cli("replay", session).code == 0
    assert after.entries[:-1] == before.entries and after.entries[-1].kind == "noted"
    assert (after.steps, after.turns, after.versions) == (before.steps, before.turns, before.versions)
    assert [log.model_dump() for log in after.logs] == [log.model_dump() for log in before.logs]
    assert "noted: imported" in cli("audit", session).out
    again = cli("import", "a.moot")
    assert again.code == 2 and "already in this store" in again.err


def test_the_key_is_made_once_and_is_the_user_s_alone(cli: Cli, exported: str) -> None:
    mode = stat.S_IMODE(key_file().stat().st_mode)
    assert mode == 0o600
    shown = [cli("key", "show").out for _ in range(2)]
    assert shown[0] == shown[1] and shown[0].startswith("moot-ed25519 ")
    assert own_key()._private.private_bytes_raw().hex() not in shown[0]
    key_file().chmod(0o644)
    assert cli("key", "show").code == 2 and "read by others" in cli("key", "show").err


def test_an_unknown_signer_is_refused_unless_it_is_trusted(
    cli: Cli, exported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their.pub").write_text(cli("key", "show").out)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    (tmp_path / "mine.pub").write_text(cli("key", "show").out)
    for words in ([], ["--trust", "mine.pub"]):
        refused = cli("import", "a.moot", *words)
        assert refused.code == 2 and "signer is unknown" in refused.err
    assert cli("import", "a.moot", "--trust", "missing.pub").code == 2
    assert cli("import", "a.moot", "--trust", "app.py").code == 2
    assert json.loads(cli("list", "--json").out) == []
    assert cli("import", "a.moot", "--trust", "their.pub").code == 0
    assert cli("import", "a.moot", "--any-signer", "--store", "third.db").code == 0
    assert seen(str(tmp_path / "third.db"), exported).entries[-1].value["any_signer"] is True  # type: ignore[index,call-overload]


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        return {name: file.read(name) for name in file.namelist()}


def zipped(texts: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in texts.items():
            file.writestr(name, data)
    return held.getvalue()


def signed(texts: dict[str, bytes]) -> bytes:
    """Whatever these say, with digests that fit and the user's own signature."""
    manifest = json.loads(texts[MANIFEST])
    for name in manifest["members"]:
        import hashlib

        data = texts[name]
        manifest["members"][name] = {
            "sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data), "lines": data.count(b"\n"),
        }  # fmt: skip
    told = json.dumps(manifest).encode()
    return zipped({**texts, MANIFEST: told, SIGNATURE: own_key().sign(told)})


def _changed_line(texts: dict[str, bytes]) -> bytes:
    return zipped({**texts, "entries.jsonl": texts["entries.jsonl"].replace(b"injection", b"all clear")})


def _changed_manifest(texts: dict[str, bytes]) -> bytes:
    return zipped({**texts, MANIFEST: texts[MANIFEST].replace(b'"entries": ', b'"entries": 1')})


def _more_files(texts: dict[str, bytes]) -> bytes:
    return zipped({**texts, "../../evil.py": b"x"})


def _other_path(texts: dict[str, bytes]) -> bytes:
    return zipped({("../" + name if name == "turns.jsonl" else name): data for name, data in texts.items()})


def _fewer_files(texts: dict[str, bytes]) -> bytes:
    return zipped({name: data for name, data in texts.items() if name != "turns.jsonl"})


def _bomb(texts: dict[str, bytes]) -> bytes:
    return zipped({**texts, "logs.jsonl": b"\n" * 50_000_000})


def _manifest_bomb(texts: dict[str, bytes]) -> bytes:
    return zipped({**texts, MANIFEST: b" " * 50_000_000})


def _signed_lie(texts: dict[str, bytes]) -> bytes:
    """Signed and with the right digests, but the chain is broken."""
    return signed({**texts, "entries.jsonl": texts["entries.jsonl"].replace(b"injection", b"all clear")})


def _signed_gap(texts: dict[str, bytes]) -> bytes:
    lines = texts["entries.jsonl"].splitlines(keepends=True)
    return signed({**texts, "entries.jsonl": b"".join(lines[:2] + lines[3:])})


def _signed_nonsense(texts: dict[str, bytes]) -> bytes:
    return signed({**texts, "turns.jsonl": b"[" * 100_000 + b"\n"})


def _two_sessions(texts: dict[str, bytes]) -> bytes:
    return signed({**texts, "session.jsonl": texts["session.jsonl"] * 2})


def _newer(texts: dict[str, bytes]) -> bytes:
    return signed({**texts, "session.jsonl": texts["session.jsonl"].replace(b'"format": 1', b'"format": 99')})


TRICKS: dict[str, tuple[Callable[[dict[str, bytes]], bytes], str]] = {
    "a changed line": (_changed_line, "not what was signed"),
    "a changed manifest": (_changed_manifest, "signature is wrong"),
    "a path out of it": (_more_files, "its files are not those"),
    "a member elsewhere": (_other_path, "its files are not those"),
    "a missing member": (_fewer_files, "its files are not those"),
    "a bomb": (_bomb, "is too large"),
    "a bomb of a manifest": (_manifest_bomb, "is too large"),
    "a lie that is signed": (_signed_lie, "was changed"),
    "a gap that is signed": (_signed_gap, "was changed"),
    "nonsense that is signed": (_signed_nonsense, "cannot be read"),
    "two sessions": (_two_sessions, "cannot be read"),
    "a newer session": (_newer, "newer version"),
    "half of it": (lambda texts: zipped(texts)[: len(zipped(texts)) // 2], "not a Moot archive"),
    "text": (lambda texts: b"a letter, not an archive\n" * 99, "not a Moot archive"),
    "nothing": (lambda texts: b"", "not a Moot archive"),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_a_hostile_archive_is_refused_and_leaves_nothing(cli: Cli, exported: str, tmp_path: Path, trick: str) -> None:
    damage, says = TRICKS[trick]
    (tmp_path / "a.moot").write_bytes(damage(members((tmp_path / "a.moot").read_bytes())))
    before = sorted(os.listdir(tmp_path))
    ran = cli("import", "a.moot")
    assert ran.code == 2 and "refused" in ran.err and says in ran.err, ran.err
    assert json.loads(cli("list", "--json").out) == []
    assert set(os.listdir(tmp_path)) - {"to.db", "to.db-wal", "to.db-shm"} == set(before)


def test_any_cut_and_any_flipped_byte_is_refused(cli: Cli, exported: str, tmp_path: Path) -> None:
    import random

    whole, pick = (tmp_path / "a.moot").read_bytes(), random.Random(7)
    trusted = own_key().public
    opened = archive.unpack_archive(whole, verified, lambda key: key == trusted)
    for _ in range(300):
        place = pick.randrange(len(whole))
        flipped = bytes([whole[place] ^ 1 << pick.randrange(8)])
        data = whole[:place] if pick.random() < 0.3 else whole[:place] + flipped + whole[place + 1 :]
        try:
            again = archive.unpack_archive(data, verified, lambda key: key == trusted)
        except archive.ArchiveRefused:
            continue
        assert again == opened, "a byte that says nothing, such as a date of the zip"


def verified(public: bytes, data: bytes, signature: bytes) -> bool:
    from moot.edge.signing import verify

    return verify(public, data, signature)


def test_what_is_too_large_is_refused(cli: Cli, exported: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.surfaces.cli.sessions.archive.LARGEST", 100)
    assert "larger than 100" in cli("import", "a.moot").err


def test_a_changed_record_is_not_exported(cli: Cli, exported: str, tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "from.db") as db:
        db.execute("UPDATE journal SET name = 'sleep' WHERE entry = 2")
    db.close()
    ran = cli("export", exported, "--format", "archive", "-o", "b.moot", "--store", "from.db")
    assert ran.code == 3 and "cannot be exported" in ran.err and not (tmp_path / "b.moot").exists()
    assert cli("export", exported, "--format", "archive", "--store", "from.db").code == 2


def test_a_manifest_names_what_it_covers(exported: str, tmp_path: Path) -> None:
    manifest = Manifest.model_validate_json(members((tmp_path / "a.moot").read_bytes())[MANIFEST])
    whole = seen(str(tmp_path / "from.db"), exported)
    assert (manifest.session, manifest.entries, manifest.head) == (exported, len(whole.entries), whole.session.chain)
    assert pack_archive(whole, own_key()) == pack_archive(whole, own_key()), "the same session is the same archive"
