"""Worker process of a scan: groups of files in, results out, as lines."""

import gc
import json
import signal
import sys
from collections.abc import Sequence

from moot.core.errors import ConfigError
from moot.core.types import NotAnalysed, Scan, SourceFile
from moot.scan.engine.stack import call_with_room
from moot.scan.groups import Group
from moot.scan.traced import TracedScan
from moot.scan.traces import scan_group


def settle() -> None:
    """Freeze loaded modules, and look for cycles rarely: trees and values of a group are freed without."""
    gc.freeze()
    gc.set_threshold(1_000_000, 20, 100)


def look(group: Group) -> tuple[TracedScan, bool]:
    """Scan a group, and say whether the result is complete. A failure is reported and does not stop other groups."""
    try:
        return call_with_room(lambda: scan_group(group)), True
    except Exception as error:
        why = str(error) if isinstance(error, ConfigError) else type(error).__name__
        return fail_files(group.files, f"the analyser failed here or on a linked file: {why}"), False


def fail_files(files: Sequence[SourceFile], why: str) -> TracedScan:
    gaps = tuple(NotAnalysed(file=file.path, line=0, why=why) for file in files)
    return TracedScan(scan=Scan(not_analysed=gaps), traces={})


def encode_group(group: Group) -> bytes:
    files = [[file.path, file.language, file.text] for file in group.files]
    return json.dumps([files, sorted(group.own), sorted(group.passive)]).encode() + b"\n"


def decode_group(line: bytes) -> Group:
    files, own, passive = json.loads(line)
    read = (SourceFile(path=path, language=language, text=text) for path, language, text in files)
    return Group(tuple(read), frozenset(own), frozenset(passive))


def main() -> None:
    """Until input ends: no worker outlives its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    settle()
    for line in sys.stdin.buffer:
        scan, complete = look(decode_group(line))
        try:
            sys.stdout.write(f"{complete:d}{scan.model_dump_json()}\n")
            sys.stdout.flush()
        except BrokenPipeError:
            break


if __name__ == "__main__":
    main()
