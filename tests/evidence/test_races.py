"""Reports of Go's race detector, read. The reports here were written by real runs of small programs of ours."""

from moot.core.findings import in_question
from moot.core.types import Code, SourceFile, Tests
from moot.evidence.races import MAX_CHARACTERS, MAX_REPORTS, accesses, count_unlocated, find_races, in_tests_only, split

STORE = """package store

type Store struct {
	hits map[string]int
	names []string
}

func (s *Store) Hit(name string) {
	s.hits[name]++
}

func (s *Store) Add(name string) {
	s.names = append(s.names, name)
}
"""
TEST = """package store

import "testing"

func TestMap(t *testing.T) {
	s := New()
	both(func() { s.Hit("a") }, func() { _ = s.hits["b"] })
	n := 0
	both(func() { n++ }, func() { n++ })
}
"""
MAP = """WARNING: DATA RACE
Write at 0x00c000086030 by goroutine 9:
  runtime.mapassign_faststr()
      /opt/go/src/internal/runtime/maps/runtime_faststr.go:261 +0x0
  given/pkg.(*Store).Hit()
      pkg/store.go:9 +0x8c
  given/pkg.both.func1()
      pkg/store_test.go:7 +0x7b

Previous read at 0x00c000086030 by goroutine 8:
  runtime.mapaccess1_faststr()
      /opt/go/src/internal/runtime/maps/runtime_faststr.go:115 +0x17
  given/pkg.TestMap.func2()
      pkg/store_test.go:7 +0x3a
  testing.tRunner()
      /opt/go/src/testing/testing.go:2195 +0x21c

Goroutine 9 (running) created at:
  given/pkg.(*Store).Add()
      pkg/store.go:13 +0x106

Goroutine 8 (running) created at:
  main.main()
      _testmain.go:52 +0x164
"""
TURNED = """WARNING: DATA RACE
Read at 0x00c0000aa0f0 by main goroutine:
  given/pkg.TestMap.func2()
      pkg/store_test.go:7 +0x99

Previous write at 0x00c0000aa0f0 by goroutine 77:
  given/pkg.(*Store).Hit()
      pkg/store.go:9 +0x12
"""
OWN = """WARNING: DATA RACE
Read at 0x00c000018238 by goroutine 15:
  given/pkg.TestMap.func3()
      pkg/store_test.go:9 +0x2e

Previous write at 0x00c000018238 by goroutine 14:
  given/pkg.TestMap.func4()
      pkg/store_test.go:9 +0x44
"""
BORDER = "==================\n"
CODE = Code(files=(SourceFile(path="pkg/store.go", language="go", text=STORE),))
TESTS = Tests(files=(("pkg/store_test.go", TEST),), language="go")


def test_a_race_is_a_finding_at_both_places() -> None:
    (race,) = find_races([MAP], CODE, TESTS)
    assert (race.file, race.line, race.evidence) == ("pkg/store.go", 9, "s.hits[name]++")
    assert (race.rule, race.category, race.cwe, race.source) == ("go-data-race", "race_condition", 362, "executed")
    assert [(step.file, step.line, step.what) for step in race.path] == [
        ("pkg/store.go", 9, "write in (*Store).Hit"),
        ("pkg/store_test.go", 7, "read in TestMap.func2"),
    ]
    assert "pkg/store_test.go:7" in race.description and race.confidence is not None and race.confidence > 0.9
    assert race.fix.startswith("Add mutex/channel synchronization for shared state")


def test_the_same_two_places_are_one_finding_whoever_came_first() -> None:
    assert [f.fingerprint for f in find_races([TURNED], CODE, TESTS)] == [
        f.fingerprint for f in find_races([MAP], CODE, TESTS)
    ]
    assert len(find_races([MAP, TURNED, MAP], CODE, TESTS)) == 1
    moved = CODE.with_texts({"pkg/store.go": "// a line above\n" + STORE})
    (race,) = find_races([MAP.replace("store.go:9", "store.go:10")], moved, TESTS)
    assert race.fingerprint == find_races([MAP], CODE, TESTS)[0].fingerprint
    (other,) = find_races([MAP.replace("store.go:9", "store.go:13")], CODE, TESTS)
    assert other.fingerprint != race.fingerprint


def test_a_race_of_the_tests_is_no_flaw_of_the_code() -> None:
    assert find_races([OWN], CODE, TESTS) == ()
    assert in_tests_only([OWN, MAP], CODE, TESTS) == ("pkg/store_test.go:9 and pkg/store_test.go:9",)


def test_kinds_of_access_are_told_apart() -> None:
    text = MAP.replace("Write at", "Atomic write at").replace("Previous read", "Previous atomic read")
    assert [access.what for access in accesses(text)] == ["atomic write", "atomic read"]
    assert [len(access.frames) for access in accesses(MAP)] == [3, 3]


def test_a_log_is_split_into_its_reports() -> None:
    log = f"{BORDER}{MAP}{BORDER}{BORDER}{OWN}{BORDER}Found 2 data race(s)\n"
    assert split(log) == (MAP.strip("\n"), OWN.strip("\n"))
    assert split("") == split("all is well\n") == ()
    flood = split((BORDER + MAP) * 500 + BORDER + "WARNING: DATA RACE\n" + "x" * 99_999)
    assert len(flood) == MAX_REPORTS and max(map(len, flood)) <= MAX_CHARACTERS


def test_hostile_reports_name_nothing_that_is_not_there() -> None:
    lies = [
        "WARNING: DATA RACE\n",
        MAP.replace("Previous read at", "Gentle look at"),
        MAP.replace("store.go:9 ", "store.go:999 ").replace("store_test.go:7 ", "store_test.go:0 "),
        MAP.replace("pkg/", "/etc/"),
        MAP.replace("pkg/", "../pkg/"),
        MAP.replace(":9 ", ":" + "9" * 5000 + " ").replace(":7 ", ":-7 "),
        "WARNING: DATA RACE\n" + "Write at 0x0 by a:\n" * 400,
        "WARNING: DATA RACE\n" + "Write at 0x0 by goroutine 1:\n" + "  f()\n" * 900,
    ]
    assert [find_races([lie], CODE, TESTS) for lie in lies] == [()] * len(lies)
    assert count_unlocated([MAP.replace("pkg/", "/etc/"), MAP], CODE, TESTS) == 1


def test_a_lost_stack_leaves_one_place() -> None:
    lost = (
        MAP[: MAP.index("Previous read")]
        + "Previous read at 0x00c000086030 by goroutine 8:\n  [failed to restore the stack]\n"
    )
    (race,) = find_races([lost], CODE, TESTS)
    assert [step.line for step in race.path] == [9] and "no longer knew" in race.description


def test_under_diff_either_place_may_be_the_new_one() -> None:
    here = TESTS.model_copy(update={"files": ()})
    text = STORE + "\nfunc (s *Store) Hits(name string) int {\n	return s.hits[name]\n}\n"
    report = MAP.replace("pkg/store_test.go:7 +0x3a", "pkg/store.go:17 +0x3a")
    code = Code(files=(SourceFile(path="pkg/store.go", language="go", text=text, base=STORE),))
    (race,) = find_races([report], code, here)
    assert race.line == 9 and in_question(race, code)
    old = Code(files=(SourceFile(path="pkg/store.go", language="go", text=text, base=text),))
    assert not in_question(race, old)
