"""What happens after a lost error is the user's decision: a handling is shown where one is known, and never applied."""

import pytest
from samples import repaired, rules

from moot.core.types import Language

SAVE = "func save(n int) error { return nil }\n"


def go(body: str, *imports: str, signature: str = "f(name string) (int, error)") -> str:
    lines = "".join(f'\t"{name}"\n' for name in imports)
    return f"package main\n\nimport (\n{lines})\n\nfunc {signature} {{\n{body}\n}}\n\n{SAVE}"


ATOI = go("\tn, _ := strconv.Atoi(name)\n\treturn n, nil", "strconv")
ATOI_AGAIN = go("\tn, _ = strconv.Atoi(name)\n\treturn n, nil", "strconv")
SECOND = go("\tn, _ := strconv.Atoi(name)\n\terr := save(n)\n\treturn n, err", "strconv")
NAMED = go("\tn, _ = strconv.Atoi(name)\n\treturn n, err", "strconv", signature="f(name string) (n int, err error)")
OPEN = go('\tf, _ := os.Open("x")\n\tuse(f)', "log", "os", signature="main()")
MANY = go("\t_ = save(1)\n\treturn x, nil", signature="f() (string, bool, []int, *T, time.Time, error)")
SHOWN: list[tuple[Language, str, str]] = [
    ("go", ATOI, "n, err := strconv.Atoi(name)|if err != nil {|return 0, err|}"),
    ("go", SECOND, "n, nErr := strconv.Atoi(name)|if nErr != nil {|return 0, nErr|}"),
    ("go", go("\t_ = save(1)\n\treturn 0, nil"), "if err := save(1); err != nil {|return 0, err|}"),
    ("go", go("\tsave(1)\n\treturn nil", signature="f() error"), "if err := save(1); err != nil {|return err|}"),
    ("go", MANY, 'if err := save(1); err != nil {|return "", false, nil, nil, *new(time.Time), err|}'),
    ("go", OPEN, 'f, err := os.Open("x")|if err != nil {|log.Fatal(err)|}'),
    ("go", go("\t_ = save(1)", "log", signature="f()"),
     'if err := save(1); err != nil {|log.Printf("save: %v", err)|}'),
    ("python", "import logging\ntry:\n    f()\nexcept Exception:\n    pass\n",
     'logging.getLogger(__name__).debug("an error was passed over", exc_info=True)'),
    ("javascript", "console.error('up');\ntry { load(); } catch (e) {}\n",
     "try { load(); } catch (e) { console.error(e); }"),
    ("javascript", "console.error('up');\ntry { load(); } catch {}\n",
     "try { load(); } catch (error) { console.error(error); }"),
]  # fmt: skip
ONLY_TOLD: list[tuple[Language, str]] = [
    ("python", "try:\n    f()\nexcept Exception:\n    pass\n"),
    ("python", "import logging\ntry:\n    f()\nexcept Exception:\n    pass  # ignored\n"),
    ("javascript", "try { load(); } catch (e) {}\n"),
    ("go", ATOI_AGAIN),
    ("go", NAMED),
    ("go", go('\t_ = os.Remove("old")\n\treturn 0, nil', "os")),
    ("go", go('\tn, _ := strconv.Atoi(os.Getenv("PORT"))\n\tuse(n)\n\treturn 0, nil', "os", "strconv")),
    ("go", go("\t_ = save(1)", signature="f()")),
    ("go", go("\tif n, _ := strconv.Atoi(name); n > 0 {\n\t}", "strconv")),
    ("go", go("\tv, _ := store.Fetch(name)")),
]


@pytest.mark.parametrize(("language", "before", "lines"), SHOWN)
def test_a_handling_of_a_lost_error_is_shown_and_not_applied(language: Language, before: str, lines: str) -> None:
    after, repair = repaired(language, before)
    (told,) = repair.left.values()
    assert (after, repair.fixed) == (before, {})
    assert "Not rewritten: whether the rest may go on" in told
    assert told.endswith(": " + ", ".join(f"`{line}`" for line in lines.split("|")) + ".")


@pytest.mark.parametrize(("language", "before"), ONLY_TOLD)
def test_a_lost_error_whose_handling_is_not_known_is_only_told(language: Language, before: str) -> None:
    assert rules(language, before)[0].endswith(("swallowed-error", "discarded-error"))
    after, repair = repaired(language, before)
    assert (after, repair.fixed) == (before, {})
    assert all("Suggested" not in told for told in repair.left.values()) and repair.left
