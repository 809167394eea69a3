"""The system call filter: which calls are allowed, with which arguments, as a BPF program.

Everything is refused by default. The same rules make the program for bubblewrap and the warm interpreter, and the
profile for a container engine.
Our own instead of libseccomp: the rules are a table, and no compiled binding is needed.
"""

import errno
import json
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Literal

from moot.core.errors import SandboxError
from moot.edge.sandbox.syscalls import ALLOWED, MACHINE, MACHINES, REFUSED, numbers

KINDS = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The kernel's architecture constant for native calls, not 32 bit ones."""
ALLOW, KILL, ERROR = 0x7FFF0000, 0x80000000, 0x00050000
UNIX, INET, INET6 = 1, 2, 10
STREAM, DATAGRAM, PACKETS = 1, 2, 5
ANY, ICMP, TCP, UDP = 0, 1, 6, 17
NEW_NAMESPACES = 0x00020000 | 0x7E000000
NO_RANDOM_ADDRESSES = 0x00040000
"""Go's race detector asks for it."""
TERMINAL_TRICKS = (0x5412, 0x541C, 0x541D, 0x5423)
"""Typing or pasting into a terminal, taking over the console, another line discipline."""
OWN_SETTINGS = (
    *range(1, 5), 7, 8, *range(13, 17), 21, *range(23, 28), 29, 30, *range(36, 43), 47, *range(50, 57), 60, 61,
    *range(63, 67), 74, 75, 76, 0x53564D41,
)  # fmt: skip
"""What a process may set about itself by `prctl`. Not: its own filters, its tracer, its memory layout."""
WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class ArgumentRule:
    """Only the lower half of an argument is checked: the kernel uses no more of those named here."""

    argument: int
    test: Literal["only", "never", "without"]
    values: tuple[int, ...]
    """`without`: bits that must not be set."""
    error: int
    mask: int = WORD


RULES: Mapping[str, tuple[ArgumentRule, ...]] = {
    "socket": (
        ArgumentRule(0, "only", (UNIX, INET, INET6), errno.EAFNOSUPPORT),
        ArgumentRule(1, "only", (STREAM, DATAGRAM, PACKETS), errno.ESOCKTNOSUPPORT, mask=0xF),
        ArgumentRule(2, "only", (ANY, ICMP, TCP, UDP), errno.EPROTONOSUPPORT),
    ),
    "socketpair": (ArgumentRule(0, "only", (UNIX,), errno.EAFNOSUPPORT),),
    "clone": (ArgumentRule(0, "without", (NEW_NAMESPACES,), errno.EPERM),),
    "ioctl": (ArgumentRule(1, "never", TERMINAL_TRICKS, errno.EPERM),),
    "prctl": (ArgumentRule(0, "only", OWN_SETTINGS, errno.EINVAL),),
    "personality": (ArgumentRule(0, "only", (0, NO_RANDOM_ADDRESSES, WORD), errno.EPERM),),
}
SOCKETS = ("socket", "socketpair")
Step = tuple[int, int, int, int]
"""One BPF instruction: code, jump if true, jump if false, value."""
LOAD, AND, EQUAL, ABOVE, ANY_BIT, GO, END = 0x20, 0x54, 0x15, 0x35, 0x45, 0x05, 0x06
NUMBER_AT, KIND_AT, ARGUMENTS_AT = 0, 4, 16
FARTHEST = 255


@cache
def filter_program(*, sockets: bool = True, machine: str = MACHINE) -> bytes:
    """The filter as bytes for the kernel. Without `sockets` there are none, not even inside the sandbox."""
    if machine not in MACHINES:
        raise SandboxError(f"no filter of system calls is known for the machine {machine!r}")
    verdicts: dict[int, Step | str] = dict.fromkeys(numbers(REFUSED, machine).values(), _fail(errno.EPERM))
    for name, number in numbers(ALLOWED, machine).items():
        verdicts[number] = name if name in RULES else (END, 0, 0, ALLOW)
        if name in SOCKETS and not sockets:
            verdicts[number] = _fail(errno.EPERM)
    # Numbers above all of them, which includes the x32 calls, are refused with the gaps.
    places = range(max(verdicts) + 2)
    known = [verdicts.get(number, _fail(errno.ENOSYS)) for number in places]
    begins = [number for number in places if number == 0 or known[number] != known[number - 1]]
    steps = [
        *[(LOAD, 0, 0, KIND_AT), (EQUAL, 1, 0, KINDS[machine]), (END, 0, 0, KILL), (LOAD, 0, 0, NUMBER_AT)],
        *_search([(number, known[number]) for number in begins]),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _search(ranges: Sequence[tuple[int, Step | str]]) -> list[Step]:
    """Binary search for a call number's range: a filter runs for every call."""
    if len(ranges) == 1:
        verdict = ranges[0][1]
        return _check_arguments(verdict) if isinstance(verdict, str) else [verdict]
    middle = len(ranges) // 2
    lower, upper, begin = _search(ranges[:middle]), _search(ranges[middle:]), ranges[middle][0]
    if len(lower) <= FARTHEST:
        return [(ABOVE, len(lower), 0, begin), *lower, *upper]
    return [(ABOVE, 0, 1, begin), (GO, 0, 0, len(lower)), *lower, *upper]


def _check_arguments(name: str) -> list[Step]:
    return [*(step for rule in RULES[name] for step in _check(rule)), (END, 0, 0, ALLOW)]


def _check(rule: ArgumentRule) -> list[Step]:
    """Continues after its last step, or ends with the error."""
    load = [(LOAD, 0, 0, ARGUMENTS_AT + 8 * rule.argument), *([(AND, 0, 0, rule.mask)] if rule.mask != WORD else [])]
    count, fail = len(rule.values), _fail(rule.error)
    if rule.test == "without":
        return [*load, (ANY_BIT, 0, 1, rule.values[0]), fail]
    if rule.test == "only":
        return [*load, *((EQUAL, count - place, 0, value) for place, value in enumerate(rule.values)), fail]
    found = [(EQUAL, count - place, 0, value) for place, value in enumerate(rule.values)]
    return [*load, *found, (GO, 0, 0, 1), fail]


def _fail(error: int) -> Step:
    return (END, 0, 0, ERROR | error)


@contextmanager
def filter_handle() -> Iterator[int]:
    handle = os.memfd_create("filter", 0)
    try:
        os.write(handle, filter_program())
        os.lseek(handle, 0, os.SEEK_SET)
        yield handle
    finally:
        os.close(handle)


def container_profile(machine: str = MACHINE) -> str:
    """The same rules for a container engine. It cannot express `never`, so terminals are left to its own isolation: our
    containers have none."""
    if machine not in MACHINES:
        raise SandboxError(f"no filter of system calls is known for the machine {machine!r}")
    names = [name for name in numbers(ALLOWED, machine) if not _conditions(name)]
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ERRNO",
            "defaultErrnoRet": errno.ENOSYS,
            "architectures": [f"SCMP_ARCH_{machine.upper()}"],
            "syscalls": [
                {"names": names, "action": "SCMP_ACT_ALLOW"},
                {"names": [*numbers(REFUSED, machine)], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.EPERM},
                *(
                    {"names": [name], "action": "SCMP_ACT_ALLOW", "args": arguments}
                    for name in numbers(ALLOWED, machine)
                    for arguments in _conditions(name)
                ),
            ],
        }
    )


def _conditions(name: str) -> list[list[dict[str, object]]]:
    """Alternatives, each a list of arguments that must all match. None if every argument is allowed."""
    found: list[list[dict[str, object]]] = [[]]
    for rule in RULES.get(name, ()):
        if rule.test == "never":
            return []
        fits = [(rule.values[0], 0)] if rule.test == "without" else [(rule.mask, value) for value in rule.values]
        words = [
            {"index": rule.argument, "value": mask, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"}
            for mask, value in fits
        ]
        found = [[*before, word] for before in found for word in words]
    return found if found != [[]] else []
