"""Repairing looks at the whole file again for every try: what that may cost is bounded, and what is left is said."""

from moot.core.types import Code, Repair, SourceFile
from moot.scan import StaticTeam
from moot.scan.repair import MAX_READ, repair
from moot.scan.team import FileScan, list_found, scan_code

TEXT = """import hashlib
import yaml


def first(text):
    return yaml.load(text, Loader=yaml.Loader)


def second(text):
    print(hashlib.md5(text).hexdigest())
"""
CODE = Code(files=(SourceFile(path="app.py", language="python", text=TEXT),))


def repaired(most: int) -> tuple[Repair, list[str]]:
    looked: list[str] = []

    def look(file: SourceFile) -> FileScan:
        looked.append(file.text)
        return scan_code(CODE.with_texts({file.path: file.text}), whole=False)[file.path]

    return repair(CODE, [finding.fingerprint for finding in StaticTeam().scan(CODE).findings], look, most), looked


def test_within_the_budget_everything_is_repaired() -> None:
    done, _ = repaired(MAX_READ)
    assert len(done.fixed) == 2 and not done.left


def test_a_spent_budget_leaves_the_rest_and_says_so() -> None:
    done, looked = repaired(len(TEXT))
    assert len(done.fixed) == 1 and len(done.left) == 1
    assert all("too large to repair everything in one go" in why for why in done.left.values())
    assert len(set(looked)) == 2  # as it was, and with the first rewrite


def test_without_any_budget_nothing_is_changed() -> None:
    done, looked = repaired(-1)
    assert not done.fixed and not done.texts and len(done.left) == 2
    assert set(looked) == {TEXT}


def test_a_scan_alone_finds_what_a_session_finds() -> None:
    whole, alone = StaticTeam().scan(CODE), list_found(scan_code(CODE, whole=False).values())
    assert whole.findings and alone.findings == whole.findings and alone.not_analysed == whole.not_analysed
