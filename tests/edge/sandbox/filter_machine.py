"""The kernel's filter machine, as far as our filters use it: what a program says of a call."""

import struct
from collections.abc import Sequence


def run_filter(program: bytes, number: int, kind: int, args: Sequence[int]) -> int:
    words = [*args, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<IIQ6Q", number, kind, 0, *words)
    steps = list(struct.iter_unpack("=HBBI", program))
    place, held = 0, 0
    while True:
        code, yes, no, value = steps[place]
        place += 1
        if code == 0x20:
            held = struct.unpack_from("<I", data, value)[0]
        elif code == 0x54:
            held &= value
        elif code == 0x05:
            place += value
        elif code in (0x15, 0x35, 0x45):
            true = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            place += yes if true else no
        elif code == 0x06:
            return int(value)
        else:
            raise ValueError(f"step {place - 1}: {code:#x}")
