"""The blind examples keep their form: ten per family or pairs only, each one parses, fixes go with what they fix."""

import subprocess
import sysconfig
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript
from blind_examples import BLIND_LANGUAGES, BlindBatch, BlindExample, BlindLanguage, read_examples
from tree_sitter import Language, Parser

_GRAMMARS: dict[str, Callable[[], object]] = {
    ".py": tree_sitter_python.language,
    ".js": tree_sitter_javascript.language,
    ".jsx": tree_sitter_javascript.language,
    ".mjs": tree_sitter_javascript.language,
    ".ts": tree_sitter_typescript.language_typescript,
    ".tsx": tree_sitter_typescript.language_tsx,
    ".go": tree_sitter_go.language,
}
_FEWEST_FAMILIES: dict[BlindBatch, dict[BlindLanguage, int]] = {
    "blind": {"python": 28, "javascript": 28, "go": 27},
    "blind_second": {"python": 3, "javascript": 3, "go": 4},
    "blind_third": {"python": 22, "javascript": 23, "go": 21},
    "blind_fourth": {"python": 12, "javascript": 9, "go": 7},
    "blind_fifth": {"python": 10, "javascript": 7, "go": 6},
    "blind_sixth": {"python": 21, "javascript": 21, "go": 21},
    "blind_seventh": {"python": 15, "javascript": 15, "go": 15},
}
_FEWEST_PAIRS: dict[BlindBatch, dict[BlindLanguage, int]] = {
    "blind_third": {"python": 28, "javascript": 28, "go": 28},
    "blind_fourth": {"python": 40, "javascript": 18, "go": 14},
    "blind_fifth": {"python": 27, "javascript": 12, "go": 9},
    "blind_sixth": {"python": 30, "javascript": 30, "go": 30},
    "blind_seventh": {"python": 20, "javascript": 20, "go": 20},
}
_ALL = [(language, batch) for batch in _FEWEST_FAMILIES for language in BLIND_LANGUAGES]
every_batch = pytest.mark.parametrize(("language", "batch"), _ALL)
batches_of_ten = pytest.mark.parametrize(("language", "batch"), [one for one in _ALL if one[1] not in _FEWEST_PAIRS])
batches_of_pairs = pytest.mark.parametrize(("language", "batch"), [one for one in _ALL if one[1] in _FEWEST_PAIRS])
_GOFMT = Path(sysconfig.get_path("purelib")) / "go" / "bin" / "gofmt"


def _gather_families(language: BlindLanguage, batch: BlindBatch) -> dict[str, list[BlindExample]]:
    families: dict[str, list[BlindExample]] = defaultdict(list)
    for example in read_examples(language, batch):
        families[example.family].append(example)
    return families


@every_batch
def test_no_family_is_lost(language: BlindLanguage, batch: BlindBatch) -> None:
    assert len(_gather_families(language, batch)) >= _FEWEST_FAMILIES[batch][language]


@batches_of_ten
def test_every_family_has_five_flawed_and_five_safe_examples(language: BlindLanguage, batch: BlindBatch) -> None:
    families = _gather_families(language, batch)
    counts = {family: [e.flawed for e in examples] for family, examples in families.items()}
    assert {f: c for f, c in counts.items() if (c.count(True), c.count(False)) != (5, 5)} == {}


@batches_of_pairs
def test_every_flawed_example_has_its_fix(language: BlindLanguage, batch: BlindBatch) -> None:
    examples = read_examples(language, batch)
    flawed = [(e.family, e.name, e.path) for e in examples if e.flawed]
    safe = [(e.family, e.name, e.path) for e in examples if not e.flawed]
    assert flawed == safe
    assert len(flawed) >= _FEWEST_PAIRS[batch][language]
    assert len({(family, name) for family, name, _ in flawed}) == len(flawed)


@batches_of_ten
def test_three_fixes_go_with_what_they_fix_and_no_name_comes_twice(language: BlindLanguage, batch: BlindBatch) -> None:
    for family, examples in _gather_families(language, batch).items():
        flawed = [e.name for e in examples if e.flawed]
        safe = [e.name for e in examples if not e.flawed]
        assert len(set(flawed)) == len(flawed), family
        assert len(set(safe)) == len(safe), family
        assert len(set(flawed) & set(safe)) >= 3, family


@every_batch
def test_every_example_parses(language: BlindLanguage, batch: BlindBatch) -> None:
    broken = [f"{e.family}/{e.name}" for e in read_examples(language, batch) if not _is_parsed(e)]
    assert broken == []


def _is_parsed(example: BlindExample) -> bool:
    parser = Parser(Language(_GRAMMARS[Path(example.path).suffix]()))
    return not parser.parse(example.code.encode()).root_node.has_error


@pytest.mark.skipif(not _GOFMT.exists(), reason="gofmt is not installed")
def test_go_itself_reads_every_go_example(tmp_path: Path) -> None:
    for number, example in enumerate(one for batch in _FEWEST_FAMILIES for one in read_examples("go", batch)):
        (tmp_path / f"{number}_{example.family}_{example.name}.go").write_text(example.code)
    asked = subprocess.run([_GOFMT, "-l", "-e", tmp_path], capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stdout, asked.stderr) == (0, "", "")


@every_batch
def test_examples_are_short_and_differ(language: BlindLanguage, batch: BlindBatch) -> None:
    examples = read_examples(language, batch)
    assert [f"{e.family}/{e.name}" for e in examples if not 4 <= len(e.code.splitlines()) <= 60] == []
    assert len({e.code for e in examples}) == len(examples)
