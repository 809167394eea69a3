"""A PostgreSQL server for the tests: made in a temporary folder, reached by a socket, gone when they are done."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import psycopg

SCRIPT = Path(__file__).parent.parent / "scripts" / "need"
OURS = ("listen_addresses=", "max_connections=100")
FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""A machine that loses power in the middle of a test is no case of ours."""


def programs() -> Path:
    """The folder of the server's programs. Where there are none the tests fail and say so: they never skip."""
    found = subprocess.run([SCRIPT, "postgres"], capture_output=True, text=True)
    if found.returncode:
        raise RuntimeError(found.stderr.strip())
    return Path(found.stdout.strip())


@contextmanager
def server(*, safe: bool = False) -> Iterator[str]:
    """The URL of a server that has none of our tables. `safe`: one that waits for its disk, as servers do."""
    folder = new_folder()
    try:
        with running(folder, () if safe else FAST):
            yield url_of(folder)
    finally:
        remove(folder)


def new_folder() -> Path:
    """Not below pytest's own: the path of a socket may not be longer than about a hundred characters."""
    return Path(tempfile.mkdtemp(prefix="moot-pg-"))


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def url_of(folder: Path) -> str:
    return f"postgresql://moot@/postgres?host={quote(str(folder), safe='')}"


@contextmanager
def running(folder: Path, speed: Sequence[str] = FAST) -> Iterator[None]:
    start(folder, speed)
    try:
        yield
    finally:
        stop(folder)


def start(folder: Path, speed: Sequence[str] = FAST) -> None:
    """The server of this folder; its data is made if there is none."""
    _let_it_in(folder)
    if not (folder / "data").exists():
        login = ["-U", "moot", "-A", "trust"]
        _run(folder, "initdb", "-D", str(folder / "data"), *login, "-E", "UTF8", "--locale=C.UTF-8", "-N")
    settings = " ".join(f"-c {setting}" for setting in (*OURS, *speed, f"unix_socket_directories={folder}"))
    control(folder, "-w", "-l", str(folder / "log"), "-o", settings, "start")


def stop(folder: Path) -> None:
    control(folder, "-m", "fast", "stop")


def control(folder: Path, *arguments: str) -> None:
    _run(folder, "pg_ctl", "-D", str(folder / "data"), *arguments)


def copy_server(primary: Path, folder: Path) -> None:
    """The data of a replica that follows the running server of `primary`."""
    _let_it_in(folder)
    login = ["-h", str(primary), "-U", "moot"]
    _run(folder, "pg_basebackup", *login, "-D", str(folder / "data"), "-R", "-X", "stream", "-c", "fast", "-N")


def _let_it_in(folder: Path) -> None:
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        shutil.chown(folder, "nobody", pwd.getpwnam("nobody").pw_gid)


def _run(folder: Path, program: str, *arguments: str) -> None:
    who = pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
    groups: list[int] | None = [] if os.geteuid() == 0 else None
    with (folder / "said").open("w+") as said:  # no pipe: the server would keep it open
        done = subprocess.run(
            [programs() / program, *arguments], cwd=folder, stdout=said, stderr=said, user=who.pw_uid, group=who.pw_gid,
            extra_groups=groups,
        )  # fmt: skip
        said.seek(0)
        if done.returncode:
            raise RuntimeError(f"{program} failed: {said.read().strip()}")


def new_schema(server: str, name: str) -> str:
    """The URL of an empty schema: a store of its own for a test, for a few milliseconds."""
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f'CREATE SCHEMA "{name}"'.encode())
    return f"{server}&options={quote(f'-csearch_path={name}', safe='')}"


def drop_schema(server: str, name: str) -> None:
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f'DROP SCHEMA "{name}" CASCADE'.encode())
