"""Webhooks: signed POST requests about a gate, retried until acknowledged."""

import asyncio
import hashlib
import hmac
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import datetime, timedelta
from email.message import Message
from typing import IO, NamedTuple

from pydantic import JsonValue
from sqlalchemy import Connection, select, update

from moot.edge.store import SqlStore, tables

WEBHOOK_SECRET = "MOOT_WEBHOOK_SECRET"
SIGNATURE = "Moot-Signature"
MOST_ATTEMPTS = 8
FIRST_WAIT = 5.0
SECONDS = 10.0
AT_ONCE = 20
Post = Callable[[str, bytes, dict[str, str]], None]


class Notice(NamedTuple):
    id: int
    url: str
    payload: JsonValue
    attempts: int


class DeliveryFailed(Exception):
    """A receiver's answer other than 2xx, or why there was none."""


def signature(secret: str, at: datetime, body: bytes) -> str:
    """The receiver checks both parts: the time against replays, the rest against forgery."""
    seconds = str(int(at.timestamp()))
    mark = hmac.new(secret.encode(), seconds.encode() + b"." + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={mark}"


class Webhooks:
    """The outbox of one store. Several processes may empty it: each notice is sent by one of them at a time."""

    def __init__(self, store: SqlStore, secret: str = "", post: Post | None = None) -> None:
        self._store = store
        self._secret = secret or os.environ.get(WEBHOOK_SECRET, "")
        self._post = post or post_notice

    async def send(self, now: datetime) -> int:
        """Send everything that is due; returns how many were acknowledged."""
        due = await self._store.work(lambda db: _take_due(db, now))
        heard = await asyncio.gather(*(self._send(notice, now) for notice in due))
        return sum(heard)

    async def _send(self, notice: Notice, now: datetime) -> bool:
        body = json.dumps(notice.payload, sort_keys=True).encode()
        headers = {"Content-Type": "application/json", "Moot-Delivery": str(notice.id)}
        headers[SIGNATURE] = signature(self._secret, now, body)
        problem = ""
        try:
            if not self._secret:
                raise DeliveryFailed(f"no signing secret; set {WEBHOOK_SECRET}")
            await asyncio.to_thread(self._post, notice.url, body, headers)
        except DeliveryFailed as error:
            problem = str(error)
        await self._store.work(lambda db: _record_delivery(db, notice, problem, now))
        return not problem


def _take_due(db: Connection, now: datetime) -> list[Notice]:
    """Take the due notices and postpone them, so that other processes leave them to us."""
    of = tables.notices
    query = select(of).where(of.c.next_at <= now).order_by(of.c.next_at).limit(AT_ONCE)
    due = db.execute(query.with_for_update(skip_locked=True)).mappings().all()
    for row in due:
        wait = FIRST_WAIT * 2.0 ** row["attempts"] + SECONDS
        later = {"attempts": row["attempts"] + 1, "next_at": now + timedelta(seconds=wait)}
        db.execute(update(of).where(of.c.id == row["id"]).values(**later))
    return [Notice(row["id"], row["url"], row["payload"], row["attempts"] + 1) for row in due]


def _record_delivery(db: Connection, notice: Notice, problem: str, now: datetime) -> None:
    of = tables.notices
    change: dict[str, object] = {"problem": problem}
    if not problem:
        change |= {"delivered_at": now, "next_at": None}
    elif notice.attempts >= MOST_ATTEMPTS:
        change["next_at"] = None
    db.execute(update(of).where(of.c.id == notice.id).values(**change))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """What is signed for one address must not be forwarded to another."""

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message, newurl: str
    ) -> None:
        return None


def post_notice(url: str, body: bytes, headers: dict[str, str]) -> None:
    if not url.startswith(("http://", "https://")):
        raise DeliveryFailed("a webhook must be an http or https URL")
    try:
        request = urllib.request.Request(url, data=body, headers=headers, method="POST")
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=SECONDS) as answer:
            answer.read(1)
    except urllib.error.HTTPError as error:
        error.close()  # it is the answer too, and holds the connection
        raise DeliveryFailed(f"answered {error.code}") from None
    except (OSError, ValueError) as error:
        raise DeliveryFailed(f"could not be reached: {error}") from None
