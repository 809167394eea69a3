"""Alembic's entry point, with the store's own connection."""

from alembic import context

from moot.edge.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata, render_as_batch=True)
with context.begin_transaction():
    context.run_migrations()
