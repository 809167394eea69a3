"""Token owners: several tokens may see the sessions of one owner."""

import sqlalchemy as sa
from alembic import op

from moot.edge.store.migrations.columns import words

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("tokens", sa.Column("owner", words(128), nullable=True))
