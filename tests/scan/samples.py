"""How the tests of the scan put questions to it."""

from moot.core.types import Code, Language, Repair, Scan, SourceFile
from moot.scan import StaticTeam

ENDINGS: dict[Language, str] = {"python": "a.py", "javascript": "a.js", "typescript": "a.ts", "go": "a.go"}


def code(language: Language, text: str) -> Code:
    return Code(files=(SourceFile(path=ENDINGS[language], language=language, text=text),))


def scanned(language: Language, text: str) -> Scan:
    return StaticTeam().scan(code(language, text))


def rules(language: Language, text: str) -> list[str]:
    return [finding.rule for finding in scanned(language, text).findings]


def repaired(language: Language, text: str) -> tuple[str, Repair]:
    """The text after a repair of everything that was found in it."""
    team, given = StaticTeam(), code(language, text)
    repair = team.repair(given, [finding.fingerprint for finding in team.scan(given).findings])
    return repair.texts.get(ENDINGS[language], text), repair


def repaired_files(texts: dict[str, str], needs: tuple[str, ...] = ()) -> tuple[dict[str, str], Repair]:
    """The same for a project of several files; `needs` are the packages its own files ask for."""
    languages = {ending.rpartition(".")[2]: language for language, ending in ENDINGS.items()}
    files = tuple(
        SourceFile(path=path, language=languages[path.rpartition(".")[2]], text=text) for path, text in texts.items()
    )
    team, given = StaticTeam(), Code(files=files, needs=needs)
    repair = team.repair(given, [finding.fingerprint for finding in team.scan(given).findings])
    return {path: repair.texts.get(path, text) for path, text in texts.items()}, repair
