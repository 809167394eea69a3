"""A store, a configuration and an environment of its own for every test."""

import gc
import os
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import postgres
import pytest
from hypothesis import HealthCheck, settings

from moot.__main__ import run
from moot.edge.models import list_key_variables

if TYPE_CHECKING:
    from fleetkit import Fleet, Nursery

COMPILED = platformdirs.user_cache_path("moot") / "go"
"""Go's standard library, compiled once for all tests: it holds nothing of the user's, and takes minutes."""
COMPILED.mkdir(parents=True, exist_ok=True)

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")  # a busy machine is no failure


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


Cli = Callable[..., Ran]


@pytest.fixture(autouse=True)
def own_world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the user's reaches a test, no test reaches a provider by accident, and none needs public data."""
    for name in list(os.environ):
        if name.startswith("MOOT_") and name != "MOOT_TEST_GGUF":
            monkeypatch.delenv(name)
    monkeypatch.setenv("MOOT_DATA", str(tmp_path / "no-data"))
    for name in list_key_variables():
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config-home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data-home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache-home"))
    (tmp_path / "cache-home" / "moot").mkdir(parents=True)
    (tmp_path / "cache-home" / "moot" / "go").symlink_to(COMPILED)


def pytest_collection_finish() -> None:
    """Keep 15,000 tests and what they import out of each garbage collection: a sixth of the processor time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that is skipped says what is missing; one that does not, fails."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and "Skipped: not run: " not in str(report.longrepr):
        report.outcome, report.longrepr = "failed", f"the reason of a skip begins with 'not run: ': {report.longrepr}"
    return report


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """`moot ARGUMENTS` in a folder of its own: exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Ran:
        capsys.readouterr()
        code = run(list(arguments), debug=False)
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def pg_server() -> Iterator[str]:
    """One server for all tests of a process, started by the first that needs it."""
    with postgres.server() as url:
        yield url


@contextmanager
def own_schema(server: str) -> Iterator[str]:
    name = f"t{uuid.uuid4().hex}"
    yield postgres.new_schema(server, name)
    postgres.drop_schema(server, name)


@pytest.fixture
def pg_store(pg_server: str) -> Iterator[str]:
    """The URL of an empty store on PostgreSQL."""
    with own_schema(pg_server) as url:
        yield url


@pytest.fixture
def pg_other(pg_server: str) -> Iterator[str]:
    """Another one."""
    with own_schema(pg_server) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty store of each kind, as `--store` takes it."""
    return str(tmp_path / "s.db") if request.param == "sqlite" else str(request.getfixturevalue("pg_store"))


@pytest.fixture(scope="session")
def nursery() -> "Iterator[Nursery]":
    """The process from which all workers of fleets are forked."""
    from fleetkit import Nursery  # it loads the store and more, which other tests need not wait for

    made = Nursery()
    yield made
    made.end()


@pytest.fixture
def fleet(pg_store: str, tmp_path: Path, nursery: "Nursery") -> "Iterator[Fleet]":
    """Workers on a store of their own."""
    from fleetkit import opened

    with opened(pg_store, tmp_path, nursery) as made:
        yield made
