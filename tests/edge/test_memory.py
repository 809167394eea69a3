"""The memory folder: files that only grow, with several writers at once, torn lines, and every debate noted once."""

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from moot.core.errors import ConfigError, StoreError
from moot.edge.files.memory import MemoryFolder, PastDebate, action_digest, hook_memory, memory_folder, quick_setting
from moot.evidence.failures import next_step, task_id

NOW = datetime(2026, 1, 29, 14, 30, tzinfo=UTC)
TASK = "Fix the authentication test"


@pytest.fixture
def memory(tmp_path: Path) -> MemoryFolder:
    return MemoryFolder(tmp_path / "memory", {"MY_API_KEY": "hunter2hunter2hunter2"})


def debate(name: str = "d1", **more: object) -> PastDebate:
    return PastDebate(name, "planning", "delete cache", "PROCEED", task_id=task_id("delete cache"), **more)  # type: ignore[arg-type]


def test_failures_are_numbered_and_counted(memory: MemoryFolder) -> None:
    assert memory.track("fail", TASK, NOW, error="boom", approach="one").attempt == 1
    assert memory.track("fail", f"{TASK}!", NOW, error="boom").attempt == 2
    assert next_step(memory.standings(NOW), task_id(TASK)).due == "debate"
    memory.track("success", TASK, NOW)
    assert memory.track("fail", TASK, NOW).attempt == 1
    first = (memory.folder / "failures.jsonl").read_text().splitlines()[1]
    assert json.loads(first) == {
        "task_id": "2fba088a8d564d54", "attempt": 1, "ts": "2026-01-29T14:30:00Z", "error": "boom", "approach": "one",
        "task": TASK,
    }  # fmt: skip


def test_every_task_of_a_session_can_be_begun_afresh(memory: MemoryFolder) -> None:
    memory.track("fail", "one", NOW, session="s")
    memory.track("fail", "two", NOW, session="z")
    memory.reset_all(NOW, "s")
    assert set(memory.standings(NOW)) == {task_id("two")}
    memory.reset_all(NOW)
    assert memory.standings(NOW) == {}


def test_old_failures_are_reset_where_that_is_set(tmp_path: Path) -> None:
    memory = MemoryFolder(tmp_path, {}, reset_after_hours=2)
    memory.track("fail", TASK, NOW - timedelta(hours=3))
    assert memory.standings(NOW) == {} and memory.track("fail", TASK, NOW).attempt == 1


@pytest.mark.parametrize(
    ("file", "entries", "unreadable"),
    [
        (b"", 0, 0),
        (b"# a comment\n\n", 0, 0),
        (b'{"task_id": "t", "attempt": 1, "ts": ""}', 1, 0),
        (b'{"task_id": "t", "attempt": 1, "ts": ""}\n{"task_id": "t", "att', 1, 1),
        (b'{"task_id": "t"}\n\xff\xfe\x00\n[1]\n"x"\n{"task_id": 7}\n{"task_id": "u"}\n', 2, 4),
        (b'{"task_id": "t"}\r\n{"task_id": "u"}\r\n', 2, 0),
        (b"[" * 100_000 + b'\n{"task_id": "t"}\n', 1, 1),
    ],
)
def test_whatever_stands_in_the_file_the_rest_is_read(
    memory: MemoryFolder, file: bytes, entries: int, unreadable: int
) -> None:
    memory.folder.mkdir()
    (memory.folder / "failures.jsonl").write_bytes(file)
    read = memory.failures()
    assert (len(read.entries), read.unreadable) == (entries, unreadable)


def test_the_next_writer_closes_a_torn_line(memory: MemoryFolder) -> None:
    memory.folder.mkdir()
    path = memory.folder / "failures.jsonl"
    path.write_bytes(b'{"task_id": "t", "attempt": 1, "ts": ""}\n{"task_id": "t", "att')
    memory.track("fail", TASK, NOW)
    assert path.read_text().splitlines()[1] == '{"task_id": "t", "att'
    assert len(memory.failures().entries) == 2 and memory.failures().unreadable == 1


def test_a_debate_is_noted_once_and_its_outcome_later(memory: MemoryFolder) -> None:
    assert memory.record(debate()) and not memory.record(debate())
    assert memory.debates().debates[0].outcome is None
    told = memory.settle("success", NOW, task=task_id("Deleting the cache"), helped=lambda d: d.resolution != "PROCEED")
    assert told is not None and (told.debate_id, told.outcome, told.helped) == ("d1", "success", False)
    assert memory.settle("success", NOW, task=task_id("delete cache")) is None, "there is no open debate left"
    (kept,) = memory.debates().debates
    assert (kept.outcome, kept.helped) == ("success", False)
    lines = (memory.folder / "debate-metrics.jsonl").read_text().splitlines()
    assert len(lines) == 3 and lines[0].startswith("#"), "nothing was rewritten"
    assert not memory.record(debate()), "an outcome does not make room for a second record"


def test_an_outcome_can_name_its_debate(memory: MemoryFolder) -> None:
    memory.record(debate("abc1"))
    memory.record(debate("def2"))
    assert memory.settle("failure", NOW, debate_id="abc") is not None
    assert [d.outcome for d in memory.debates().debates] == ["failure", None]


def test_the_form_of_the_seed_is_read(memory: MemoryFolder) -> None:
    memory.folder.mkdir()
    (memory.folder / "debate-metrics.jsonl").write_text(
        '{"debate_id": "abc123", "type": "planning", "task": "delete-cache", "resolution": "PROCEED", '
        '"outcome": "success", "helped": false}\n{"debate_id": "zz", "outcome": "success"}\n'
    )
    read = memory.debates()
    assert [(d.debate_id, d.outcome, d.helped) for d in read.debates] == [("abc123", "success", False)]
    assert read.unreadable == 1, "an outcome of an unknown debate says nothing"


def test_only_the_very_same_action_was_debated_in_the_session(memory: MemoryFolder) -> None:
    memory.record(debate("d1", session="s", action=action_digest("rm -rf ./build")))
    assert task_id("rm -rf ./build") == task_id("rm -rf /build")
    assert memory.find_debate("s", " rm -rf ./build\n") is not None
    assert memory.find_debate("s", "rm -rf /build") is None
    assert memory.find_debate("z", "rm -rf ./build") is None
    assert MemoryFolder(memory.folder).find_debate("", "rm -rf ./build") is None


def test_a_failure_debate_is_noted_once(memory: MemoryFolder) -> None:
    assert memory.record_debate(TASK, task_id(TASK), "d1", "RETRY", "2026-01-29T14:30:00Z")
    assert not memory.record_debate(TASK, task_id(TASK), "d1", "RETRY", "2026-01-29T14:30:00Z")


def test_the_log_of_a_day_has_a_debate_once(memory: MemoryFolder) -> None:
    assert memory.log("2026-01-29", "d1", "14:30 DEBATE_PLANNING\n  Stakes: high")
    assert not memory.log("2026-01-29", "d1", "14:30 DEBATE_PLANNING\n  Stakes: high")
    assert memory.log("2026-01-29", "d", "14:31 DEBATE_PLANNING")
    text = (memory.folder / "2026-01-29.md").read_text()
    assert text == "14:30 DEBATE_PLANNING\n  Stakes: high\n  Debate: d1\n14:31 DEBATE_PLANNING\n  Debate: d\n"


def test_no_secret_is_written(memory: MemoryFolder) -> None:
    secret = "hunter2hunter2hunter2"
    memory.track("fail", f"use {secret}", NOW, error=f"bad {secret}", approach=secret)
    memory.record(debate(rationale=secret, modifications=(secret,), next_approach=secret))
    memory.log("2026-01-29", "d1", secret)
    written = sorted(memory.folder.rglob("*.*"))
    assert [path.name for path in written] == ["2026-01-29.md", "debate-metrics.jsonl", "failures.jsonl"]
    for path in written:
        assert secret not in path.read_text() and "REDACTED_MY_API_KEY" in path.read_text()


def test_long_and_odd_texts_are_kept_as_far_as_they_can_be(memory: MemoryFolder) -> None:
    memory.track("fail", TASK, NOW, error="é\ud800\n" + "x" * 9000)
    (entry,) = memory.failures().entries
    assert len(entry.error) == 2000 and entry.error.startswith("é?\nx") and entry.error.endswith("…")


def test_a_folder_that_cannot_be_written_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        MemoryFolder(tmp_path / "file" / "memory").track("fail", TASK, NOW)


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from moot.edge.files.memory import PastDebate, MemoryFolder

memory, who = MemoryFolder(Path(sys.argv[1]), {}), sys.argv[2]
for number in range(40):
    now = datetime(2026, 1, 29, tzinfo=UTC)
    memory.track("fail", "the one task", now, error="x" * 1500, approach=f"{who} {number}")
    memory.record(PastDebate(f"d{number}", "planning", "t", "PROCEED"))
    memory.log("2026-01-29", f"d{number}", "line\\n" * 200)
"""


def test_several_processes_write_at_once_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(folder), f"w{n}"]) for n in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    memory = MemoryFolder(folder)
    read = memory.failures()
    assert read.unreadable == 0
    assert sorted(e.attempt for e in read.entries) == list(range(1, 161)), "each attempt has a number of its own"
    assert {e.approach for e in read.entries} == {f"w{n} {i}" for n in range(4) for i in range(40)}
    assert sorted(d.debate_id for d in memory.debates().debates) == sorted(f"d{i}" for i in range(40))
    day = (folder / "2026-01-29.md").read_text().splitlines()
    assert len(day) == 40 * 201 and len([line for line in day if line.startswith("  Debate: ")]) == 40
    for name in ("failures.jsonl", "debate-metrics.jsonl"):
        assert len([line for line in (folder / name).read_text().splitlines() if line.startswith("#")]) == 1


def test_each_project_has_its_own_folder_outside_of_it(tmp_path: Path) -> None:
    env = {"XDG_DATA_HOME": str(tmp_path / "data")}
    one, two = tmp_path / "one", tmp_path / "two"
    for project in (one, two):
        (project / "src").mkdir(parents=True)
        (project / ".git").mkdir()
    assert memory_folder("", one / "src", env) == memory_folder("", one, env) != memory_folder("", two, env)
    assert memory_folder("", one, env).parent == tmp_path / "data/moot/memory"
    assert memory_folder("memory", one / "src", env) == one / "memory"
    assert memory_folder(str(tmp_path / "x"), one, env) == tmp_path / "x"


def test_settings_are_found_without_the_engine(tmp_path: Path) -> None:
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}
    assert quick_setting("vet.memory", env) is None
    (tmp_path / "config/moot").mkdir(parents=True)
    (tmp_path / "config/moot/moot.toml").write_text('[vet]\nmemory = "user"\nreset_after_hours = 5\n')
    assert quick_setting("vet.memory", env) == "user"
    assert quick_setting("vet.memory", env | {"MOOT_VET_MEMORY": "environment"}) == "environment"
    assert hook_memory(tmp_path, env).reset_after_hours == 5.0
    with pytest.raises(ConfigError, match="number of hours"):
        hook_memory(tmp_path, env | {"MOOT_VET_RESET_AFTER_HOURS": "soon"})
    (tmp_path / "config/moot/moot.toml").write_text("[vet\n")
    with pytest.raises(ConfigError, match=r"moot\.toml"):
        quick_setting("vet.memory", env)


def test_the_memory_loads_nothing_but_the_standard_library() -> None:
    code = (
        "import sys; before = set(sys.modules); import moot.edge.files.memory; "
        "print(sorted({m.split('.')[0] for m in set(sys.modules) - before} - set(sys.stdlib_module_names)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['moot']"
