"""One nursery of workers for all tests of a fleet; a store of its own for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fleetkit import Fleet, Nursery, opened


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    made = Nursery()
    yield made
    made.end()


@pytest.fixture
def fleet(pg_store: str, tmp_path: Path, nursery: Nursery) -> Iterator[Fleet]:
    with opened(pg_store, tmp_path, nursery) as made:
        yield made
