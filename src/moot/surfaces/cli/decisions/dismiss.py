"""`moot review dismiss`: dismisses a review comment permanently."""

import getpass
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from moot.core.errors import UsageError
from moot.edge.files.dismissals import DismissalFile
from moot.edge.store import SqlStore
from moot.evidence.failures import stamp
from moot.protocols.review.changes import Dismissal, ReviewComment
from moot.protocols.review.script import ReviewResult
from moot.surfaces.cli.open_store import with_store
from moot.surfaces.cli.options import StoreFlag
from moot.surfaces.cli.screen import out, plain
from moot.text.secrets import Vault


def register(app: typer.Typer) -> None:
    app.command("dismiss")(dismiss_command)


def dismiss_command(
    session: Annotated[str, typer.Argument(help="Session id, or a unique prefix.")],
    comment: Annotated[str, typer.Argument(help="Id of the comment, such as R1.")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why it is wrong or does not matter.")],
    store: StoreFlag = None,
) -> None:
    """Dismiss a comment on a code change. Later reviews of this project leave the same point out, and are told why.

    Kept in .moot/dismissed.jsonl; commit it to share it. For others it counts once it was there before a change.
    """
    if not reason.strip():
        raise UsageError("a dismissal needs a reason; say why the point is wrong or does not matter")

    async def find(db: SqlStore) -> ReviewComment:
        return await find_comment(db, session, comment)

    found = with_store(store, find)
    place, hide = DismissalFile(Path.cwd(), Dismissal, os.environ), Vault(os.environ).hide
    if any((each.fingerprint, each.problem) == (found.fingerprint, found.problem) for each in place.read()):
        return out().print(plain(f"{found.id} was dismissed before"))
    kept = {name: getattr(found, name) for name in ("file", "quote", "problem", "fingerprint")}
    at = stamp(datetime.now(UTC))
    place.add(Dismissal(**kept, reason=hide(reason.strip()), by=getpass.getuser(), at=at))
    out().print(plain(f"dismissed: {found.file}:{found.line}: {found.problem}"))


async def find_comment(store: SqlStore, session: str, comment: str) -> ReviewComment:
    record = await store.session(session)
    kept = record.outcome.get("result") if isinstance(record.outcome, dict) and record.protocol == "review" else None
    change = ReviewResult.model_validate(kept).change if kept else None
    if change is None:
        raise UsageError(f"session {session} is not a finished review of a code change")
    known = {each.id.casefold(): each for each in (*change.comments, *change.held_back)}
    if comment.casefold() not in known:
        raise UsageError(f"there is no comment {comment!r}; there are: {', '.join(known).upper() or 'none'}")
    return known[comment.casefold()]
