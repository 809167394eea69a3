"""`moot import` and `moot key`: signed archives of sessions."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from moot.core.errors import StoreError, UsageError
from moot.core.ports import SessionRecord
from moot.edge.files.outputs import write_output
from moot.edge.signing import fingerprint, format_public_key, own_key, read_keys, verify
from moot.edge.store import SqlStore
from moot.edge.store.session_copy import take_in
from moot.edge.store.snapshots import whole
from moot.record.archive import LARGEST, ArchiveRefused, Opened, pack_archive, unpack_archive
from moot.record.chain import flaws_of
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import JsonFlag, StoreFlag
from moot.surfaces.cli.screen import out, plain, print_json
from moot.surfaces.history.choices import whoever


def register(app: typer.Typer) -> None:
    app.command("import")(import_command)
    keys = typer.Typer(help="The key that signs your archives.", no_args_is_help=True)
    keys.command("show")(show_key_command)
    app.add_typer(keys, name="key")


def write_archive(session: str, output: str | None, store: str | None, *, force: bool = False) -> None:
    """`moot export --format archive`."""
    if output is None:
        raise UsageError("an archive is binary; name a file to write: -o FILE.moot")
    kept = with_store(store, lambda db: whole(db, session))
    if found := flaws_of(kept):
        raise StoreError(f"session {kept.session.id} cannot be exported: its record was changed ({found[0]})")
    write_output(output, pack_archive(kept, own_key()), force=force)


def import_command(
    file: Annotated[str, typer.Argument(help="An archive made by `moot export --format archive`.")],
    trust: Annotated[
        str | None, typer.Option("--trust", help="File of trusted public keys (see `moot key show`).")
    ] = None,
    any_signer: Annotated[bool, typer.Option("--any-signer", help="Accept any signer.")] = False,
    store: StoreFlag = None,
    json_output: JsonFlag = False,
) -> None:
    """Import a session from another store. Its signature, digests and hash chain are checked before anything is
    written. An archive with an unknown signer, or a session that is already in this store, is refused."""
    opened = _open(file, trust, any_signer)
    signer = fingerprint(opened.manifest.key)
    note: JsonValue = {
        "signer": signer, "moot": opened.manifest.moot, "entries": opened.manifest.entries,
        "head": opened.manifest.head, "any_signer": any_signer, "by": whoever(),
    }  # fmt: skip

    async def keep(db: SqlStore) -> SessionRecord:
        return await take_in(db, opened.whole, note)

    record = with_store(store, keep, new=True)
    if json_output:
        return print_json({"session": record.id, "signer": signer, "entries": opened.manifest.entries})
    out().print(plain(f"imported {record.id} ({record.protocol}: {record.topic}), signed by {signer}"))


def _open(file: str, trust: str | None, any_signer: bool) -> Opened:
    try:
        with Path(file).open("rb") as held:
            data = held.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file!r}: {error.strerror}") from None
    if len(data) > LARGEST:
        raise ArchiveRefused(f"it is larger than {LARGEST} bytes")
    known = [*([] if any_signer else [own_key().public]), *(read_keys(Path(trust)) if trust else [])]
    return unpack_archive(data, verify, lambda key: any_signer or key in known)


def show_key_command(json_output: JsonFlag = False) -> None:
    """Print your public key and its fingerprint. Others need it to import your archives. Created on first use."""
    public = own_key().public
    if json_output:
        return print_json({"key": format_public_key(public), "fingerprint": fingerprint(public)})
    out().print(plain(format_public_key(public)), soft_wrap=True)
    out().print(plain(f"# {fingerprint(public)}"), soft_wrap=True)
