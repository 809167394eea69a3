"""Attacks from outside that worked once, each as it was tried."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from serving_kit import HARDEN, run, serving
from test_server_doors import token

from moot.core.errors import ConfigError, UsageError
from moot.core.types import Language
from moot.edge.command_inspection import look_at_command
from moot.edge.files.needs import read_needs
from moot.edge.files.plans import read_planning
from moot.edge.files.sources import read_tests
from moot.edge.models import is_hosted, parse_name
from moot.edge.models.names import read_endpoint
from moot.evidence.failures import fingerprint
from moot.evidence.trials.examples import examples_in
from moot.routing import route
from moot.scan.blind_spots import blind_spots
from moot.scan.syntax import parse
from moot.surfaces.bench.suites import SuiteSource
from moot.surfaces.bench.suites.custom import read_tasks as read_custom
from moot.surfaces.bench.suites.harden import read_tasks as read_labelled
from moot.surfaces.extensions.vet import memory_of
from moot.surfaces.hooks.outcomes import note_failure
from moot.surfaces.session.settings import Settings

LINKS: dict[str, tuple[str, Callable[[], object]]] = {
    "tests": ("tests/fixture.json", lambda: read_tests("tests")),
    "module": ("tests/go.mod", lambda: read_tests("tests")),
    "review": (".planning/REQUIREMENTS.md", lambda: read_planning([".planning"], None, None)),
    "context": (".planning/PROJECT.md", lambda: read_planning([".planning/01-PLAN.md"], None, None)),
    "configuration": (".planning/config.json", lambda: read_planning([".planning/01-PLAN.md"], None, None)),
    "task": ("tasks/one/task.md", lambda: read_custom(SuiteSource(folder=Path("tasks")))),
    "labelled": ("tasks/safe/a.py", lambda: read_labelled(SuiteSource(folder=Path("tasks")))),
    "packages": ("requirements.txt", lambda: read_needs([str(Path("app.py").resolve())])),
}
HOSTILE: dict[str, Callable[[], object]] = {
    "letters": lambda: examples_in("f(2) == 4 " + "a" * 200_000),
    "dots": lambda: examples_in("f(2) == 4 " + "a." * 100_000),
    "calls": lambda: examples_in("f(2) == 4 " + "a(" * 100_000),
    "lines": lambda: examples_in("f(2) == 4" + "\n" * 200_000, "g"),
    "path": lambda: fingerprint("a." * 100_000),
    "brackets": lambda: route("rm -rf " + "[" * 100_000),
}
ADDRESS = "huggingface:https://attacker.example/v1"


def test_an_address_is_no_name_of_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client of Hugging Face takes an address for a model, and sends the user's key there."""
    with pytest.raises(UsageError, match="is an address"):
        parse_name(ADDRESS)
    with pytest.raises(ConfigError, match="is an address"):
        read_endpoint("mine", {"provider": "huggingface", "model": "https://attacker.example"})
    assert parse_name("groq:openai/gpt-oss-120b").model == "openai/gpt-oss-120b"

    assert not is_hosted(ADDRESS)  # so that imported sessions ask for it, and checkouts wait for trust
    (tmp_path / ".git").mkdir()
    (tmp_path / "moot.toml").write_text(f'model = "{ADDRESS}"\n')
    monkeypatch.chdir(tmp_path)
    assert ADDRESS not in Settings.load({}, tmp_path)["model"]

    async def story() -> None:
        async with serving(tmp_path / "s.db") as client:
            answer = await client.post("/v1/debates", {**HARDEN, "models": ADDRESS})
            assert answer.status_code == 422 and "is an address" in answer.text

    run(story())


def test_the_memory_of_vet_is_its_owners_alone(tmp_path: Path) -> None:
    """Failures that another owner had reported came back as that owner's errors, or ended a debate before it began."""
    place, failed = tmp_path / "s.db", {"action": "upgrade the invoice library", "failed": True}
    wanted = {"protocol": "vet", "models": "openai:fake", "input": failed}

    async def story() -> None:
        alice, bob = [await token(place, name, "read", "run") for name in ("alice", "bob")]
        async with serving(place, vet__memory=str(tmp_path / "memory")) as client:
            note_failure(
                memory_of(client.server.site.settings, "bob"),
                "upgrade the invoice library",
                route("upgrade"),
                "cannot reach db-7.internal",
            )
            theirs = await client.post("/v1/debates", wanted, headers=alice)
            assert theirs.status_code == 422 and "no failure of this task is known" in theirs.text
            mine = await client.post("/v1/debates", wanted, headers=bob)
            plan = (await client.get(f"/v1/debates/{mine.json()['id']}", headers=bob)).json()["plan"]
            assert plan["input"]["errors"] == ["cannot reach db-7.internal"]

    run(story())


@pytest.mark.parametrize("name", LINKS)
def test_a_link_in_a_checkout_shows_nobody_the_users_files(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, read = LINKS[name]
    own = tmp_path / "own.txt"
    own.write_text("opensesame\n")
    link = tmp_path / "checkout" / place
    for folder in (".git", ".planning", "tests", "tasks/one", "tasks/safe"):
        (tmp_path / "checkout" / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "checkout")
    for path, text in ((".planning/01-PLAN.md", "# Plan\n"), ("tests/test_a.py", "x = 1\n"), ("app.py", "x = 1\n")):
        Path(path).write_text(text)
    link.symlink_to(own)
    try:
        assert "opensesame" not in repr(read())
    except UsageError as refusal:
        assert "is a link out of" in str(refusal)


def test_nothing_is_written_through_a_linked_state(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("mine\n")
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "01-PLAN.md").write_text("# Plan\n")
    (tmp_path / "plans" / "STATE.md").symlink_to(tmp_path / "own.txt")
    assert read_planning([str(tmp_path / "plans" / "01-PLAN.md")], None, None).state == ""


def test_a_folder_named_as_the_home_folder_is_not_taken_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A review that is written back would have gone to the user's own file of that name."""
    checkout, home = tmp_path / "checkout", tmp_path / "home"
    for folder in (checkout / "~", home):
        folder.mkdir(parents=True)
        (folder / "01-PLAN.md").write_text("# Plan\n")
    monkeypatch.chdir(checkout)
    monkeypatch.setenv("HOME", str(home))
    (origin, _), *_ = read_planning([str(checkout / "~" / "01-PLAN.md")], None, None).origins.values()
    assert origin == str(checkout / "~" / "01-PLAN.md")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raises in what takes longer. Each of the texts took more than a minute once."""

    def stop(number: int, frame: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("language", ["python", "javascript", "go"])
def test_long_texts_are_scanned_in_linear_time(language: Language) -> None:
    """A server answered nobody while it looked for odd names in a file with one long word."""
    with within(30):
        assert blind_spots(parse("a", language, f'x = "{"A" * 400_000}"\n')) is not None


@pytest.mark.parametrize("name", HOSTILE)
def test_long_words_are_read_in_linear_time(name: str) -> None:
    """As a task, an error or a command, by any client."""
    with within(30):
        HOSTILE[name]()


@pytest.mark.parametrize("command", ["bash deploy.sh", "psql -f deploy.sh", "git apply deploy.sh", "make -f deploy.sh"])
def test_a_link_named_by_a_command_shows_nobody_the_users_files(command: str, tmp_path: Path) -> None:
    """The text of what a command runs is material for the models that vet it."""
    home, checkout = tmp_path / "home", tmp_path / "checkout"
    for place in (home / ".aws", checkout):
        place.mkdir(parents=True)
    for own in (home / ".aws" / "credentials", home / "notes.txt"):
        own.write_text("opensesame\n")
        (checkout / "deploy.sh").unlink(missing_ok=True)
        (checkout / "deploy.sh").symlink_to(own)
        looked = look_at_command(command, checkout, {}, home)
        assert "opensesame" not in repr(looked)
        if command.startswith("bash"):
            assert "is a link out of the folder" in repr(looked) or "is a file of secrets" in repr(looked)
            assert looked.route.stakes != "low"


@pytest.mark.parametrize("command", ["bash .env", "psql -f .env", "make -f .env", "./.env"])
def test_a_file_of_secrets_named_by_a_command_is_shown_to_nobody(command: str, tmp_path: Path) -> None:
    """It lies in the folder itself: no link leads out."""
    (tmp_path / ".env").write_text("echo opensesame\n")
    (tmp_path / ".env").chmod(0o700)
    looked = look_at_command(command, tmp_path, {}, tmp_path)
    assert "opensesame" not in repr(looked) and looked.route.stakes != "low"
