"""Functions that read a file in a folder still read it after the repair, and none outside."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import repaired, rules

HEAD = "import os\nfrom pathlib import Path\n"
SHAPES = {
    "joinpath": "def read(folder, name):\n    target = Path(folder).joinpath(name)\n    return target.read_text()\n",
    "a path of two": "def read(folder, name):\n    return Path(folder, name).read_text()\n",
    "resolved": (
        "def read(folder, name):\n    full = os.path.realpath(os.path.join(folder, name))\n"
        "    with open(full) as file:\n        return file.read()\n"
    ),
    "resolved object": "def read(folder, name):\n    return (Path(folder) / name).resolve().read_text()\n",
    "separator": (
        "def read(folder, name):\n    full = folder + os.sep + name\n    with open(full) as file:\n"
        "        return file.read()\n"
    ),
    "helper": (
        "def place(folder, name):\n    return os.path.join(folder, name)\n\n\n"
        "def read(folder, name):\n    full = place(folder, name)\n    if not os.path.isfile(full):\n"
        "        raise FileNotFoundError(name)\n    with open(full) as file:\n        return file.read()\n"
    ),
    "method": (
        "class Store:\n    def __init__(self, root):\n        self.root = Path(root)\n\n"
        "    def _place(self, name):\n        return self.root / name\n\n"
        "    def read(self, name):\n        return self._place(name).read_text()\n\n\n"
        "def read(folder, name):\n    return Store(folder).read(name)\n"
    ),
    "prefix": (
        "def read(folder, name):\n    base = os.path.abspath(folder)\n"
        "    full = os.path.abspath(os.path.join(base, name))\n    if not full.startswith(base):\n"
        "        raise ValueError(name)\n    with open(full) as file:\n        return file.read()\n"
    ),
    "prefix of an object": (
        "def read(folder, name):\n    full = (Path(folder) / name).resolve()\n"
        "    if not str(full).startswith(str(Path(folder).resolve())):\n        raise ValueError(name)\n"
        "    return full.read_text()\n"
    ),
}


def reader(text: str) -> Callable[[str, str], str]:
    space: dict[str, object] = {}
    exec(text, space)
    found = space["read"]
    assert callable(found)
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_only_files_below_the_folder_are_read(shape: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in {"box/a.txt": "a", "box/in/..b.txt": "b", "key.txt": "key", "box-2/key.txt": "key"}.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    before, after = reader(HEAD + SHAPES[shape]), reader(repaired("python", HEAD + SHAPES[shape])[0])
    assert [after("box", name) for name in ("a.txt", "in/..b.txt", "in/../a.txt")] == ["a", "b", "a"]
    attacks = ["../box-2/key.txt", "in/../../box-2/key.txt"]
    if shape != "separator":
        attacks.append(os.path.abspath("box-2/key.txt"))
    if "prefix" not in shape:
        attacks.append("../key.txt")
    for attack in attacks:
        assert before("box", attack) == "key"
        with pytest.raises((ValueError, OSError)):
            after("box", attack)


@pytest.mark.parametrize(
    "check",
    [
        "full.startswith(base + os.sep)",
        "full.startswith(os.path.join(base, ''))",
        "full.startswith('/srv/files/')",
        "os.path.commonpath([base, full]) == base and full.startswith(base)",
        "name.startswith(base)",
    ],
)
def test_a_prefix_with_its_separator_is_no_finding(check: str) -> None:
    text = (
        f"import os\ndef inside(folder, name):\n    base = os.path.abspath(folder)\n"
        f"    full = os.path.abspath(os.path.join(base, name))\n    return {check}\n"
    )
    assert "python-path-prefix" not in rules("python", text)


def test_a_folder_that_may_be_no_path_object_is_left() -> None:
    text = "def read(self, name):\n    target = self.files().joinpath(name)\n    return target.read_text()\n"
    assert repaired("python", text)[0] == text
