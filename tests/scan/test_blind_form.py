"""The blind examples keep their form: ten per family, five and five, each one parses, fixes go with what they fix."""

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
from blind_examples import BLIND_LANGUAGES, BlindExample, BlindLanguage, read_examples
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
_FEWEST_FAMILIES: dict[BlindLanguage, int] = {"python": 28, "javascript": 28, "go": 27}
_GOFMT = Path(sysconfig.get_path("purelib")) / "go" / "bin" / "gofmt"


def _gather_families(language: BlindLanguage) -> dict[str, list[BlindExample]]:
    families: dict[str, list[BlindExample]] = defaultdict(list)
    for example in read_examples(language):
        families[example.family].append(example)
    return families


@pytest.mark.parametrize("language", BLIND_LANGUAGES)
def test_every_family_has_five_flawed_and_five_safe_examples(language: BlindLanguage) -> None:
    families = _gather_families(language)
    assert len(families) >= _FEWEST_FAMILIES[language]
    counts = {family: [e.flawed for e in examples] for family, examples in families.items()}
    assert {f: c for f, c in counts.items() if (c.count(True), c.count(False)) != (5, 5)} == {}


@pytest.mark.parametrize("language", BLIND_LANGUAGES)
def test_three_fixes_go_with_what_they_fix_and_no_name_comes_twice(language: BlindLanguage) -> None:
    for family, examples in _gather_families(language).items():
        flawed = [e.name for e in examples if e.flawed]
        safe = [e.name for e in examples if not e.flawed]
        assert len(set(flawed)) == len(flawed), family
        assert len(set(safe)) == len(safe), family
        assert len(set(flawed) & set(safe)) >= 3, family


@pytest.mark.parametrize("language", BLIND_LANGUAGES)
def test_every_example_parses(language: BlindLanguage) -> None:
    broken = [f"{e.family}/{e.name}" for e in read_examples(language) if not _is_parsed(e)]
    assert broken == []


def _is_parsed(example: BlindExample) -> bool:
    parser = Parser(Language(_GRAMMARS[Path(example.path).suffix]()))
    return not parser.parse(example.code.encode()).root_node.has_error


@pytest.mark.skipif(not _GOFMT.exists(), reason="gofmt is not installed")
def test_go_itself_reads_every_go_example(tmp_path: Path) -> None:
    for number, example in enumerate(read_examples("go")):
        (tmp_path / f"{number}_{example.family}_{example.name}.go").write_text(example.code)
    asked = subprocess.run([_GOFMT, "-l", "-e", tmp_path], capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stdout, asked.stderr) == (0, "", "")


@pytest.mark.parametrize("language", BLIND_LANGUAGES)
def test_examples_are_short_and_differ(language: BlindLanguage) -> None:
    examples = read_examples(language)
    assert [f"{e.family}/{e.name}" for e in examples if not 4 <= len(e.code.splitlines()) <= 40] == []
    assert len({e.code for e in examples}) == len(examples)
