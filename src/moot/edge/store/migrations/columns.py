"""Column types for migrations, on SQLite and PostgreSQL."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

Json = sa.JSON().with_variant(JSONB(), "postgresql")


def words(length: int) -> TypeEngine[str]:
    return sa.String(length).with_variant(sa.Text(), "postgresql")
