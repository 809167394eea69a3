"""Tokens of the server's users. Only digests are stored, so that nobody can read a token from the store."""

import hashlib
import hmac
import re
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Connection, RowMapping, insert, select, update

from moot.core.errors import UsageError
from moot.core.types import Value
from moot.edge.settings.server_token import new_secret
from moot.edge.store import tables
from moot.edge.store.sql import SqlStore

Scope = Literal["read", "run", "approve", "admin", "metrics"]
SCOPES: tuple[Scope, ...] = ("read", "run", "approve", "admin", "metrics")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
LOCAL = "local"
"""The holder of the server's token file; no other token may have this name."""
NO_TOKEN = "(no token)"
"""A client without a token, if allowed; no token can have this name."""
tokens = tables.tokens


class Token(Value):
    name: str
    owner: str
    """Whose sessions it sees: those started with any token of this owner."""
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def status_at(self, now: datetime) -> Literal["valid", "expired", "revoked"]:
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"


class TokenStore:
    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def create(
        self, name: str, scopes: Sequence[Scope], expires_at: datetime | None = None, owner: str = ""
    ) -> str:
        """The secret, shown once. A name is used once, so that actions under it belong to one token."""
        for each in (name, owner or name):
            if not NAME.fullmatch(each) or each.casefold() == LOCAL:
                raise UsageError(
                    f"a token cannot be named {each!r}; use letters, digits and . _ @ -, and not {LOCAL!r}"
                )
        if not scopes:
            raise UsageError(f"a token needs a scope; scopes are {', '.join(SCOPES)}")
        secret = new_secret()
        now = datetime.now(UTC)
        if expires_at is not None and expires_at <= now:
            raise UsageError("the expiry time is in the past; give a future one")
        row = {
            "id": str(uuid.uuid4()), "name": name, "digest": digest_of(secret), "scopes": list(dict.fromkeys(scopes)),
            "created_at": now, "expires_at": expires_at, "owner": owner or None,
        }  # fmt: skip
        await self._store.work(lambda db: _create(db, row))
        return secret

    async def holder(self, secret: str) -> Token | None:
        """Whose secret this is, valid or not."""
        wanted = digest_of(secret)
        query = select(tokens).where(tokens.c.digest == wanted)
        row = await self._store.read(lambda db: db.execute(query).mappings().first())
        return _token(row) if row is not None and hmac.compare_digest(str(row["digest"]), wanted) else None

    async def find_named(self, name: str) -> Token | None:
        query = select(tokens).where(tokens.c.name == name)
        row = await self._store.read(lambda db: db.execute(query).mappings().first())
        return None if row is None else _token(row)

    async def tokens(self) -> list[Token]:
        query = select(tokens).order_by(tokens.c.created_at, tokens.c.name)
        return await self._store.read(lambda db: [_token(row) for row in db.execute(query).mappings()])

    async def usable(self, now: datetime) -> bool:
        """Whether any valid token exists."""
        return any(token.status_at(now) == "valid" for token in await self.tokens())

    async def revoke(self, name: str) -> None:
        change = update(tokens).where(tokens.c.name == name, tokens.c.revoked_at.is_(None))
        now = datetime.now(UTC)
        if await self._store.work(lambda db: db.execute(change.values(revoked_at=now)).rowcount) != 1:
            raise UsageError(f"no token {name!r} to revoke; `moot token list` shows them")


def digest_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _create(db: Connection, row: dict[str, object]) -> None:
    if db.execute(select(tokens.c.id).where(tokens.c.name == row["name"])).first() is not None:
        raise UsageError(f"the token name {row['name']!r} is or was in use; names are not reused, choose another")
    db.execute(insert(tokens).values(**row))


def _token(row: RowMapping) -> Token:
    return Token.model_validate(
        {name: row[name] for name in Token.model_fields} | {"owner": row["owner"] or row["name"]}
    )
