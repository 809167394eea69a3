"""`moot export --format site`: a session as a folder or zip file for a browser."""

import io
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec

from moot.core.errors import UsageError
from moot.core.types import Result
from moot.edge.files.outputs import check_output, write_folder, write_output
from moot.edge.store import SqlStore
from moot.edge.store.snapshots import whole
from moot.record.chain import SessionSnapshot
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.history.documents import load_result


def write_site(session: str, output: str | None, store: str | None, *, force: bool) -> None:
    if output is None:
        raise UsageError("a site is several files; name a folder or a zip file: -o FOLDER or -o FILE.zip")
    if any(find_spec(name) is None for name in ("fastapi", "jinja2")):
        raise UsageError("the page needs further packages; pip install 'moot[server]'")
    from moot.surfaces.page.site import build_site

    async def load(db: SqlStore) -> tuple[SessionSnapshot, Result | None]:
        kept = await whole(db, session)
        return kept, await load_result(kept.session, db)

    packed = output.endswith(".zip")
    if packed:
        check_output(output, force=force, flag="--output")
    files = build_site(*with_store(store, load))
    if packed:
        write_output(output, pack_files(files), force=force)
    else:
        write_folder(output, files, force=force)


def pack_files(files: Mapping[str, bytes]) -> bytes:
    """Reproducible: entries have no date."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()
