"""Keys that the kernel keeps for the user: not to be found, read, linked or named inside, and none is left behind."""

import ctypes
import json
import os
import subprocess

import pytest
from sandbox_runs import run_script

from moot.edge.sandbox.keyring import start_without_keys

KEYCTL = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}
"""`add_key`, `request_key`, `keyctl`."""
INSIDE = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
ADD, REQUEST, KEYCTL = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[os.uname().machine]
THREAD, PROCESS, SESSION, USER, USER_SESSION = -1, -2, -3, -4, -5
def call(number, *args):
    words = [arg if isinstance(arg, bytes) else ctypes.c_long(arg) for arg in args]
    found = libc.syscall(ctypes.c_long(number), *words)
    return found if found != -1 else None
def listed():
    found = ""
    for path in ("/proc/keys", "/proc/key-users"):
        try: found += open(path).read()
        except OSError: pass
    return found
def reach(name, ids):
    # What of these keys can be had, by each way there is.
    got, text = [], ctypes.create_string_buffer(1000)
    rings = (THREAD, PROCESS, SESSION, USER, USER_SESSION)
    for ring in rings:
        if call(KEYCTL, 0, ring, 0): got.append(f"id of {ring}")
        if call(KEYCTL, 10, ring, b"user", name, 0): got.append(f"search {ring}")
        if call(ADD, b"user", b"left by " + name, b"left", 4, ring): got.append(f"add to {ring}")
    if call(REQUEST, b"user", name, 0, SESSION): got.append("request")
    if call(KEYCTL, 22, -1, SESSION): got.append("persistent")
    for key in ids:
        if libc.syscall(ctypes.c_long(KEYCTL), 11, key, text, 1000) != -1: got.append("read")
        if libc.syscall(ctypes.c_long(KEYCTL), 6, key, text, 1000) != -1: got.append("describe")
        if call(KEYCTL, 8, key, SESSION) is not None: got.append("link")
        if call(KEYCTL, 2, key, b"changed", 7) is not None: got.append("update")
        if call(KEYCTL, 3, key) is not None: got.append("revoke")
        if call(KEYCTL, 21, key) is not None: got.append("invalidate")
    if call(KEYCTL, 1, 0): got.append("new session")
    if call(KEYCTL, 18): got.append("session to parent")
    if "moot" in listed() or "_uid" in listed(): got.append("names: " + listed())
    return got
"""
OUTSIDE = """
import asyncio, json, sys
from uuid import uuid4
exec(sys.stdin.read())
from sandbox_runs import boxed, cold, code_of, suite_of, warm
from moot.edge.sandbox import probes
name = b"moot-" + uuid4().hex.encode()
assert call(KEYCTL, 1, 0), "no session keyring"
call(KEYCTL, 8, USER, SESSION)
persistent = call(KEYCTL, 22, -1, SESSION)
rings = [ring for ring in (SESSION, USER, persistent) if ring]
ids = [call(ADD, b"user", name, b"secret", 6, ring) for ring in rings]
assert all(ids)
for key in ids: call(KEYCTL, 5, key, 0x3F3F3F3F)
before = [bool(call(KEYCTL, 10, ring, b"user", name, 0)) for ring in rings] + [name.decode() in listed()]
test = f"import keys\\ndef test_a(): assert keys.reach({name!r}, {ids!r}) == []\\n"
code = code_of(keys=INSIDE_TEXT)
async def main():
    found = {}
    for make in (cold, warm):
        for time in ("first", "second"):
            run = await make().run(code, suite_of(test, "test_keys.py"))
            found[f"{make.__name__}, {time}"] = [run.problem, [o.detail for o in run.outcomes if o.status != "passed"]]
    probes.leaves_nothing = lambda texts, calls: True
    told = await boxed().probe(code, [f"reach({name!r}, {ids!r})"])
    found["calls"] = [told.problem, [a.text + a.detail for a in told.answers if a.text != "[]"]]
    return found
text = ctypes.create_string_buffer(100)
try:
    found = asyncio.run(main())
    read = [libc.syscall(ctypes.c_long(KEYCTL), 11, key, text, 100) for key in ids]
    after, left = read == [6] * len(ids) and text.value == b"secret", "left by " + name.decode() in listed()
finally:
    for key, ring in zip(ids, rings): call(KEYCTL, 9, key, ring)
print(json.dumps([before, found, after, left]))
"""


def keys_work() -> bool:
    call = KEYCTL.get(os.uname().machine)
    return bool(call) and ctypes.CDLL(None).syscall(ctypes.c_long(call[2] if call else 0), 0, -3, 0) != -1


@pytest.mark.parametrize("ordinary", [False, True], ids=["root", "ordinary user"])
def test_keys_of_the_user_are_out_of_reach(ordinary: bool) -> None:
    if not keys_work():
        pytest.skip("not run: this kernel has no keys, or nobody here may use them")
    if ordinary and os.geteuid() != 0:
        pytest.skip("not run: the tests are not run by root; the other case covers an ordinary user")
    said = run_script(OUTSIDE.replace("INSIDE_TEXT", repr(INSIDE)), INSIDE, ordinary=ordinary)
    before, found, after, left = json.loads(said)
    assert all(before), "outside, the same ways lead to the keys"
    assert found == {way: ["", []] for way in found} and len(found) == 5
    assert after and not left, "no key was changed from inside, and none was left behind"


APART = """
import sys
exec(sys.stdin.read())
from moot.edge.sandbox.keyring import start_without_keys
import json, os, subprocess, tempfile
name = b"moot-apart"
assert call(KEYCTL, 1, 0) and call(ADD, b"user", name, b"secret", 6, SESSION)
mine = call(KEYCTL, 0, SESSION, 0)
program = INSIDE_TEXT + "print(call(KEYCTL, 0, SESSION, 1), call(KEYCTL, 10, SESSION, b'user', b'moot-apart', 0))"
rings = []
for _ in range(2):
    with tempfile.TemporaryFile() as said, open(os.devnull, "rb") as nothing:
        ends = (nothing, said, subprocess.DEVNULL)
        started = start_without_keys([sys.executable, "-c", program], ends, {}, [])
        assert started.process.wait() == 0
        said.seek(0)
        rings.append(said.read().decode().split())
print(json.dumps([rings, mine, call(KEYCTL, 0, SESSION, 0)]))
"""


def test_what_is_started_for_a_sandbox_has_a_keyring_of_its_own_before_any_filter() -> None:
    if not keys_work():
        pytest.skip("not run: this kernel has no keys, or nobody here may use them")
    rings, before, after = json.loads(run_script(APART.replace("INSIDE_TEXT", repr(INSIDE)), INSIDE, ordinary=False))
    assert [found for _, found in rings] == ["None", "None"], "the user's key is not there"
    assert len({*(ring for ring, _ in rings), str(before)}) == 3, "each has one of its own"
    assert before == after, "Moot keeps the user's"


def test_a_process_nobody_waits_for_is_reaped() -> None:
    nowhere = subprocess.DEVNULL
    process = start_without_keys(("/bin/true",), (nowhere, nowhere, nowhere), {}, ())
    process.ended.result(timeout=60)
    assert process.process.returncode == 0
