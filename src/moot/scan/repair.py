from collections.abc import Callable, Sequence
from typing import Any

from moot.types import Code, Repair


def repair(code: Code, fingerprints: Sequence[str], scan: Any) -> Repair:
    return Repair()
