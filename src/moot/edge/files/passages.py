"""Finds passages of files by their words, with the full text search of SQLite (FTS5) in memory.

In memory, whatever the store is: the files are recorded with the session already, and the same words find the same
passages on every database.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import pairwise

from moot.core.types import Code, Passage, Passages
from moot.evidence.lessons.words import list_terms
from moot.text.excerpts import CHARACTERS_PER_TOKEN

FEWEST_LINES, MOST_LINES = 8, 40
"""Lines of a passage. In between, it ends before an unindented line that follows an empty one."""
NO_FTS5 = "the SQLite of this Python lacks full text search (FTS5)"


class PassageSearch:
    def search(self, code: Code, words: str, tokens: int) -> Passages:
        every = [passage for file in code.files for passage in split_file(file.path, file.text)]
        wanted = " OR ".join(f'"{term}"' for term in dict.fromkeys(list_terms(words)))
        if not wanted or not every:
            return Passages()
        try:
            ranked = rank_passages(every, wanted)
        except sqlite3.OperationalError as error:
            if "no such module" not in str(error):
                raise
            return Passages(problem=NO_FTS5)
        kept, left = list[int](), int(tokens * CHARACTERS_PER_TOKEN)
        for place in ranked:
            if len(every[place].text) <= left:
                kept.append(place)
                left -= len(every[place].text)
        return Passages(found=tuple(join_neighbours([every[place] for place in sorted(kept)])))


def split_file(path: str, text: str) -> Iterator[Passage]:
    lines = text.split("\n")
    starts = [0]
    for number, line in enumerate(lines):
        size = number - starts[-1]
        if size >= MOST_LINES or (size >= FEWEST_LINES and line[:1].strip() and not lines[number - 1].strip()):
            starts.append(number)
    for start, end in pairwise([*starts, len(lines)]):
        yield Passage(path=path, first=start + 1, last=end, text="\n".join(lines[start:end]))


def rank_passages(passages: Sequence[Passage], wanted: str) -> list[int]:
    """The places of those that have a wanted word, best first."""
    index = sqlite3.connect(":memory:")
    try:
        index.execute("CREATE VIRTUAL TABLE passages USING fts5(words, tokenize = 'porter unicode61')")
        rows = ((place, " ".join(list_terms(f"{p.path} {p.text}"))) for place, p in enumerate(passages))
        index.executemany("INSERT INTO passages (rowid, words) VALUES (?, ?)", rows)
        found = index.execute("SELECT rowid FROM passages WHERE passages MATCH ? ORDER BY rank, rowid", (wanted,))
        return [int(place) for (place,) in found]
    finally:
        index.close()


def join_neighbours(passages: Sequence[Passage]) -> list[Passage]:
    joined: list[Passage] = []
    for passage in passages:
        last = joined[-1] if joined else None
        if last and last.path == passage.path and last.last + 1 == passage.first:
            joined[-1] = last.model_copy(update={"last": passage.last, "text": f"{last.text}\n{passage.text}"})
        else:
            joined.append(passage)
    return joined
