"""Workers of a fleet, and their model slots."""

import sqlalchemy as sa
from alembic import op

from moot.edge.store.migrations.columns import Json, words

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ID = sa.Uuid(as_uuid=False)
AT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", words(128), nullable=False),
        sa.Column("host", words(255), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", words(32), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("concurrency", sa.Integer(), nullable=False),
        sa.Column("started_at", AT, nullable=False),
        sa.Column("seen_at", AT, nullable=False),
        sa.Column("left_at", AT, nullable=True),
        sa.Column("draining", sa.Boolean(), nullable=False),
        sa.Column("holding", Json, nullable=False),
        sa.Column("refused", Json, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "model_leases",
        sa.Column("id", ID, nullable=False),
        sa.Column("model", words(256), nullable=False),
        sa.Column("holder", ID, nullable=False),
        sa.Column("taken_at", AT, nullable=False),
        sa.Column("expires_at", AT, nullable=False),
        sa.Column("released_at", AT, nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_model_leases_model", "model_leases", ["model", "taken_at"])
