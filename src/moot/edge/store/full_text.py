"""Full text search by the database itself: FTS5 in SQLite, a GIN index of `tsvector` in PostgreSQL.

Both index the column `words` of a lesson, which holds stems that `evidence.lessons` has chosen: the database keeps the
index current and finds rows, the thesaurus says what means the same.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, text

from moot.core.errors import StoreError

NO_FTS5 = (
    "the SQLite of this Python ({version}) lacks full text search (FTS5), which lessons need; use a Python whose "
    "SQLite has it, or a store on PostgreSQL"
)
TOKENS = "tokenize = \"unicode61 remove_diacritics 0 tokenchars '-_'\""
SQLITE = (
    f"CREATE VIRTUAL TABLE lesson_index USING fts5(lesson_id UNINDEXED, words, {TOKENS})",
    "CREATE VIRTUAL TABLE lesson_index_terms USING fts5vocab(lesson_index, row)",
    "CREATE TRIGGER lessons_in AFTER INSERT ON lessons BEGIN"
    " INSERT INTO lesson_index (lesson_id, words) VALUES (new.id, new.words); END",
    "CREATE TRIGGER lessons_out AFTER DELETE ON lessons BEGIN DELETE FROM lesson_index WHERE lesson_id = old.id; END",
    "CREATE TRIGGER lessons_changed AFTER UPDATE OF words ON lessons BEGIN"
    " UPDATE lesson_index SET words = new.words WHERE lesson_id = old.id; END",
)
POSTGRESQL = (
    "ALTER TABLE lessons ADD COLUMN lexemes tsvector"
    " GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED",
    "CREATE INDEX ix_lessons_lexemes ON lessons USING gin (lexemes)",
)


def create_index(db: Connection) -> None:
    """For a table of lessons without one. Rows that it has already are not indexed in SQLite."""
    if db.dialect.name == "sqlite" and not has_fts5():
        raise StoreError(NO_FTS5.format(version=sqlite3.sqlite_version))
    for statement in POSTGRESQL if db.dialect.name == "postgresql" else SQLITE:
        db.exec_driver_sql(statement)


def has_fts5() -> bool:
    with sqlite3.connect(":memory:") as memory:
        found = memory.execute("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'").fetchone()
    memory.close()
    return found is not None


def count_words(db: Connection, words: Sequence[str], most: int) -> dict[str, int]:
    """How many lessons have each word, counted up to `most`; words that none has are left out."""
    if not words:
        return {}
    rows: Iterable[Any]
    if db.dialect.name == "postgresql":
        query = text(
            "SELECT word, (SELECT count(*) FROM (SELECT 1 FROM lessons"
            " WHERE lexemes @@ CAST(quote_literal(word) AS tsquery) LIMIT :most) AS counted)"
            " FROM unnest(CAST(:words AS text[])) AS word"
        )
        rows = db.execute(query, {"words": list(words), "most": most})
    else:
        query = text("SELECT term, doc FROM lesson_index_terms WHERE term = :word")
        rows = (row for word in words for row in db.execute(query, {"word": word}))
    return {str(word): min(int(found), most) for word, found in rows if found}


def find_lesson_ids(db: Connection, words: Sequence[str], most: int) -> list[str]:
    """Lessons with at least one of these words, the closest first."""
    if db.dialect.name == "postgresql":
        query = text(
            "SELECT id FROM lessons, CAST(:wanted AS tsquery) AS wanted WHERE lexemes @@ wanted"
            " ORDER BY ts_rank(lexemes, wanted) DESC, id LIMIT :most"
        )
        wanted = " | ".join(f"'{word}'" for word in words)
    else:
        # The best first, then their ids: FTS5 would read the row of every match for a second key.
        query = text(
            "SELECT lesson_id FROM lesson_index WHERE rowid IN"
            " (SELECT rowid FROM lesson_index WHERE words MATCH :wanted ORDER BY rank LIMIT :most)"
        )
        wanted = " OR ".join(f'"{word}"' for word in words)
    return [str(found) for found in db.execute(query, {"wanted": wanted, "most": most}).scalars()]
