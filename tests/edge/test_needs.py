"""What a project asks for is read from its own lists, beside the code or above it, and from nowhere else."""

from pathlib import Path

import pytest

from moot.edge.files.needs import read_needs
from moot.edge.files.sources import read_code
from moot.scan import StaticTeam

PYPROJECT = '[project]\ndependencies = ["psycopg2-binary>=2.9", "flask[async]; python_version > \'3\'"]\n'
LISTS = [
    ("requirements.txt", "# ours\n-r base.txt\nPyMySQL==1.1 \\\n    --hash=sha256:0\nflask>=2\n", ("PyMySQL", "flask")),
    ("requirements-dev.txt", "pytest\n", ("pytest",)),
    ("pyproject.toml", PYPROJECT, ("psycopg2-binary", "flask")),
    ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3.11"\naiosqlite = "*"\n', ("python", "aiosqlite")),
    ("package.json", '{"dependencies": {"mysql2": "^3"}, "devDependencies": {"jest": "1"}}', ("mysql2",)),
    ("go.mod", "module a\n\ngo 1.21\n\nrequire (\n\tgithub.com/lib/pq v1.10.9\n)\n", ("github.com/lib/pq",)),
    ("pyproject.toml", "not toml [", ()),
    ("package.json", "[]", ()),
    ("requirements.txt", "", ()),
]


@pytest.mark.parametrize(("name", "text", "needs"), LISTS)
def test_names_are_read_from_lists(name: str, text: str, needs: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / name).write_text(text)
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    assert read_needs([str(tmp_path / "src" / "a.py")]) == needs


def test_nothing_is_read_above_the_project(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("psycopg2\n")
    (tmp_path / "app" / ".git").mkdir(parents=True)
    (tmp_path / "app" / "a.py").write_text("x = 1\n")
    assert read_needs([str(tmp_path / "app" / "a.py")]) == ()
    assert read_needs([str(tmp_path / "app" / "absent.py")]) == ()


def test_a_single_file_is_repaired_with_the_driver_its_project_asks_for(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    users = tmp_path / "users.py"
    users.write_text("def find(cur, name: str):\n    cur.execute(f\"SELECT * FROM t WHERE n = '{name}'\")\n")
    code = read_code([str(users)], None, None, bytes).code
    team = StaticTeam()
    repair = team.repair(code, [finding.fingerprint for finding in team.scan(code).findings])
    (text,) = repair.texts.values()
    assert 'cur.execute("SELECT * FROM t WHERE n = %s", (name,))' in text
