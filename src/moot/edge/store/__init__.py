"""The record in a database: SQLite by default, others by URL."""

from moot.edge.store.sql import SqlStore

__all__ = ["SqlStore"]
