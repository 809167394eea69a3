"""Facts about a project that one file leaves open: packages, database URLs, own functions."""

import re
from dataclasses import dataclass

from moot.core.types import Code, Language, SourceFile

PYTHON_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE)
DOTTED = re.compile(r"\b([A-Za-z_]\w*)\.connect\b")
"""`psycopg2.connect`: in an excerpt, a use replaces the missing import."""
SCRIPT_IMPORT = re.compile(r"\b(?:from|import|require)\b[\s(]*['\"`]([^'\"`\n]{1,200})['\"`]")
GO_IMPORT = re.compile(r'^[ \t]*(?:import[ \t]+)?(?:[\w.]+[ \t]+)?"([\w.\-/~]{1,200})"[ \t]*(?://.*)?$', re.MULTILINE)
GO_OPEN = re.compile(r'\b(?:sql|sqlx)\.(?:Must)?(?:Open|Connect)\(\s*(?:ctx,\s*)?"(\w{1,40})"')
SCHEME = re.compile(r"\b(postgres(?:ql)?|mysql|mariadb|sqlite|mssql|oracle)(\+\w+)?://")
DEFINED = {
    "python": re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE),
    "go": re.compile(r"^func[ \t]+(?:\([^)\n]*\)[ \t]*)?(\w+)|^type[ \t]+(\w+)", re.MULTILINE),
    "script": re.compile(
        r"\b(?:function\*?|class)[ \t]+(\w+)|^[ \t]+(?:async[ \t]+)?(\w+)\([^()\n]*\)[ \t]*\{", re.MULTILINE
    ),
}  # fmt: skip
DISTRIBUTIONS = {
    "psycopg2-binary": "psycopg2",
    "psycopg-binary": "psycopg",
    "mysqlclient": "MySQLdb",
    "mysql-connector-python": "mysql",
    "flask-mysqldb": "flask_mysqldb",
    "flask-sqlalchemy": "flask_sqlalchemy",
    "cx-oracle": "cx_Oracle",
    "pyyaml": "yaml",
}
"""Distributions whose import name differs."""


@dataclass(frozen=True)
class ScanProject:
    """Facts from all files of one language."""

    packages: frozenset[str] = frozenset()
    """Imported or required packages: top-level names in Python, full names elsewhere."""
    opened: frozenset[str] = frozenset()
    """Databases named where a connection is opened: URL schemes, driver names of Go's `sql.Open`."""
    mapped: bool = False
    """Whether a database URL is SQLAlchemy's, which has its own placeholders."""
    defined: frozenset[str] = frozenset()
    """The project's own functions, methods and classes."""
    folders: frozenset[str] = frozenset()
    """Folder names: a file in `jinja2/` is the library itself, not a user of it."""
    text: str = ""

    def says(self, pattern: str) -> bool:
        return re.search(pattern, self.text) is not None


def look_around(code: Code, language: Language) -> ScanProject:
    kind = _kind(language)
    files = [file for file in code.files if _kind(file.language) == kind]
    schemes = [found for file in files for found in SCHEME.findall(file.text)]
    opened = {name for name, _ in schemes} | {name for file in files for name in GO_OPEN.findall(file.text)}
    return ScanProject(
        frozenset(
            {name for file in files for name in _list_imports(file)} | {_module(name, kind) for name in code.needs}
        ),
        frozenset(opened),
        any(driver for _, driver in schemes),
        frozenset(name for file in files for found in DEFINED[kind].findall(file.text) for name in _as_names(found)),
        frozenset(part for file in files for part in file.path.replace("\\", "/").split("/")[:-1]),
        "\n".join(file.text for file in files),
    )


def _kind(language: Language) -> str:
    return language if language in ("python", "go") else "script"


def _as_names(found: str | tuple[str, ...]) -> list[str]:
    return [found] if isinstance(found, str) else [name for name in found if name]


def _list_imports(file: SourceFile) -> set[str]:
    if file.language == "go":
        return set(GO_IMPORT.findall(file.text))
    if file.language != "python":
        return {name.removeprefix("node:") for name in SCRIPT_IMPORT.findall(file.text)}
    return list_python_imports(file.text)


def list_python_imports(text: str) -> set[str]:
    listed = [name for one, several in PYTHON_IMPORT.findall(text) for name in (one or several).split(",")]
    words = {name.split(" as ")[0].strip().split(".")[0] for name in listed}
    return {word for word in words | set(DOTTED.findall(text)) if word}


def _module(name: str, kind: str) -> str:
    if kind != "python":
        return name
    plain = re.sub(r"[-_.]+", "-", name).lower()
    return DISTRIBUTIONS.get(plain, plain.replace("-", "_"))
