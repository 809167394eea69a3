"""The record in a database: SQLite by default, any other by URL."""

from moot.edge.store.sql import SqlStore

__all__ = ["SqlStore"]
