"""Alembic's entry: it gets its connection from the store that is being brought up to date."""

from alembic import context

from moot.edge.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
