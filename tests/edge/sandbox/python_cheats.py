# ruff: noqa: E501
"""Code that is wrong, and what it does to pass all the same. `double(2)` must be 4 and never is.

Each is tried on tests of several kinds; the ones named in an attack from outside come first.
"""

WRONG = "def double(number): return 5\nRESULT = 5\n"

NAMED = {
    "a number whose == is !=": (
        "class N(int):\n    __eq__ = int.__ne__\n    __hash__ = int.__hash__\n"
        "def double(number): return N(5)\nRESULT = N(5)\n"
    ),
    "an odd truth": (
        "class T:\n    def __bool__(self): return True\n"
        "class N(int):\n    def __eq__(self, other): return T()\n    __hash__ = int.__hash__\n"
        "def double(number): return N(5)\nRESULT = N(5)\n"
    ),
    "a liar inside a list of its own kind": (
        "class N(int):\n    __eq__ = int.__ne__\n    __hash__ = int.__hash__\n"
        "class L(list):\n    __eq__ = list.__ne__\n"
        "def double(number): return L([N(5)])\nRESULT = L([N(5)])\n"
    ),
    "a test case's attributes": (
        "import unittest\n"
        "usual = unittest.TestCase.__getattribute__\n"
        "def odd(self, name): return (lambda *a, **k: None) if name.startswith('assert') else usual(self, name)\n"
        "unittest.TestCase.__getattribute__ = odd\n" + WRONG
    ),
    "failures that are skips": (
        "import unittest\nunittest.TestCase.failureException = unittest.SkipTest\n" + WRONG
    ),
    "the builtins of the test's module": (
        "import sys, builtins\n"
        "class B(dict):\n    pass\n"
        "def double(number):\n"
        "    frame = sys._getframe(1)\n"
        "    while frame:\n"
        "        frame.f_globals['__builtins__'] = {**vars(builtins), 'AssertionError': StopIteration}\n"
        "        frame = frame.f_back\n    return 5\nRESULT = 5\n"
    ),
    "helpers planted among the modules": (
        "import sys, types\n"
        "for name in ('unittest', 'pytest', 'operator', 'helpers', 'math'):\n"
        "    fake = types.ModuleType(name)\n"
        "    fake.TestCase = type('TestCase', (), {'assertEqual': lambda *a: None})\n"
        "    fake.eq = lambda a, b: True\n    sys.modules[name] = fake\n" + WRONG
    ),
    "the seal, found among the subclasses": (
        "for kind in object.__subclasses__():\n"
        "    if kind.__name__ == 'Seal': kind.is_broken = lambda self: False\n"
        "    if kind.__name__ == 'SignedReport': kind.seal = lambda self: None\n"
        "import gc, types\n"
        "for f in gc.get_objects():\n"
        "    if isinstance(f, types.FunctionType) and f.__name__ == '_attempt':\n"
        "        f.__code__ = (lambda body, given: ('passed', '')).__code__\n" + WRONG
    ),
    "code compiled under the test's name": (
        "text = '''class N(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__'''\n"
        "import os\nspace = {}\n"
        "exec(compile(text, os.path.abspath('test_service.py'), 'exec'), space)\n"
        "def double(number): return space['N'](5)\nRESULT = space['N'](5)\n"
    ),
    "a skip from the code": "import unittest\ndef double(number): raise unittest.SkipTest('fine')\nRESULT = 5\n",
}  # fmt: skip
VALUE = "def double(number): return {value}\nRESULT = {value}\n"
LIES = "def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    __hash__ = None\n"


def _kind(base: str, value: str, body: str = LIES) -> str:
    return f"class K({base}):\n    {body}" + VALUE.format(value=value)


OWN = {
    "an object equal to all": _kind("object", "K()"),
    "a float equal to all": _kind("float", "K(5)"),
    "a text equal to all": _kind("str", "K('5')"),
    "a tuple equal to all": _kind("tuple", "K((5,))"),
    "a list equal to all": _kind("list", "K([5])"),
    "a dict equal to all": _kind("dict", "K(a=5)"),
    "a set equal to all": _kind("set", "K({5})"),
    "bytes equal to all": _kind("bytes", "K(b'5')"),
    "equal only to what is small": _kind("int", "K(5)", "__eq__ = lambda s, o: abs(o) < 9\n    __hash__ = None\n"),
    "equal to the fourth it is asked": _kind(
        "int", "K(5)", "__eq__ = lambda s, o: isinstance(o, int) and o == 4\n    __hash__ = None\n"
    ),
    "a class that claims to be int": _kind("object", "K()", "__class__ = int\n    __eq__ = lambda s, o: True\n"),
    "a class instead of a function": "class double(int):\n    def __new__(cls, n): return int.__new__(cls, 5)\n"
    "    __eq__ = int.__ne__\n    __hash__ = None\nRESULT = double(1)\n",
    "a callable object": "class D:\n    def __call__(self, n): return self\n    def __eq__(self, o): return True\n"
    "    __hash__ = None\ndouble = D()\nRESULT = D()\n",
    "a metaclass that lies": "class M(type):\n    def __eq__(cls, o): return True\n    __hash__ = None\n"
    "class K(metaclass=M): pass\ndef double(n): return K\nRESULT = K\n",
    "unittest's ANY": "from unittest.mock import ANY\ndef double(n): return ANY\nRESULT = ANY\n",
    "a mock": "from unittest.mock import MagicMock\nm = MagicMock()\nm.__eq__ = lambda s, o: True\n"
    "def double(n): return m\nRESULT = m\n",
    "an approximation of pytest's": "try:\n    from pytest import approx\n    A = approx(4, abs=1e9)\n"
    "except ImportError:\n    A = 5\ndef double(n): return A\nRESULT = A\n",
    "an enumeration that lies": "import enum\nclass K(enum.IntEnum):\n    A = 5\n    def __eq__(self, o): return True\n"
    "    __hash__ = int.__hash__\ndef double(n): return K.A\nRESULT = K.A\n",
    "reflected comparison": "class K(int):\n    def __req__(self, o): return True\n    def __eq__(self, o): return True\n"
    "    __hash__ = None\ndef double(n): return K(5)\nRESULT = K(5)\n",
    "a descriptor for ==": "class D:\n    def __get__(self, o, k): return lambda other: True\n"
    "class K:\n    __eq__ = D()\n    __hash__ = None\ndef double(n): return K()\nRESULT = K()\n",
    "a subclass check that lies": "import abc\nclass K(abc.ABC):\n    def __eq__(self, o): return True\n"
    "    __hash__ = None\n    @classmethod\n    def __subclasshook__(cls, o): return True\n"
    "def double(n): return K()\nRESULT = K()\n",
    "the expected value from the stack": "import sys\ndef double(n):\n    f = sys._getframe()\n    while f:\n"
    "        if f.f_code.co_name.startswith(('test', 'check', '<module>')):\n"
    "            for c in f.f_code.co_consts:\n                if c == 4: return 4\n        f = f.f_back\n    return 5\nRESULT = 5\n",
    "the expected value from the file": "import re, glob\ndef read():\n    for name in glob.glob('**/*.py', recursive=True):\n"
    "        if 'test' in name:\n            found = re.search(r'== (\\d+)|, (\\d+)\\)', open(name).read())\n"
    "            if found: return int(found[1] or found[2])\n    return 5\n"
    "def double(n): return read()\nRESULT = read()\n",
    "the expected value from memory": "import gc\ndef find():\n    for o in gc.get_objects():\n"
    "        if isinstance(o, dict) and 'test_double' in o: return 4\n    return 5\n"
    "def double(n): return find()\nRESULT = find()\n",
    "the tests rewritten on disk": "import glob\nfor name in glob.glob('/box/**/test*.py', recursive=True):\n"
    "    open(name, 'w').write('def test_double(): pass')\n" + WRONG,
    "the tests replaced in memory": "import gc, types\nfor f in gc.get_objects():\n"
    "    if isinstance(f, types.FunctionType) and f.__name__.startswith('test'):\n"
    "        f.__code__ = (lambda *a: None).__code__\n" + WRONG,
    "the process ended on import": "import os\nos._exit(0)\n",
    "the process ended in the call": "import os\ndef double(n): os._exit(0)\nRESULT = 5\n",
    "the process ended by a signal": "import os, signal\ndef double(n): os.kill(os.getpid(), signal.SIGKILL)\nRESULT = 5\n",
    "all processes ended": "import os, signal\ndef double(n):\n    os.kill(-1, signal.SIGKILL)\n    return 5\nRESULT = 5\n",
    "its parent ended": "import os, signal\nos.kill(os.getppid(), signal.SIGKILL) if os.getppid() > 1 else None\n" + WRONG,
    "a report on every handle": "import os, json\nfor fd in range(3, 64):\n"
    "    for e in ({'event': 'found', 'tests': ['t']}, {'event': 'done', 'test': 't', 'status': 'passed'},"
    " {'event': 'finished'}):\n        try: os.write(fd, b'0' * 64 + b' ' + json.dumps(e).encode() + b'\\n')\n"
    "        except OSError: pass\n" + WRONG,
    "answers of its own on every handle": "import os, json\n"
    "def double(n):\n    a = json.dumps(['ok', 4, [], [], '', '']).encode()\n"
    "    for fd in range(3, 64):\n        try: os.write(fd, len(a).to_bytes(4, 'big') + b'!' + a[1:])\n"
    "        except OSError: pass\n    return 5\nRESULT = 5\n",
    "an answer that is cut off": "import os\ndef double(n):\n    for fd in range(3, 64):\n"
    "        try: os.write(fd, (9).to_bytes(4, 'big') + b'[')\n        except OSError: pass\n    os._exit(0)\nRESULT = 5\n",
    "an answer without end": "import os\ndef double(n):\n    for fd in range(3, 64):\n"
    "        try: os.write(fd, b'\\xff' * 4096)\n        except OSError: pass\n    return 5\nRESULT = 5\n",
    "an answer nested deeply": "def double(n):\n    x = []\n    for _ in range(100000): x = [x]\n    return x\nRESULT = 5\n",
    "a list that holds itself": "x = []\nx.append(x)\ndef double(n): return x\nRESULT = x\n",
    "not a number": "def double(n): return float('nan')\nRESULT = float('nan')\n",
    "an error that is a success": "class Passed(BaseException): pass\ndef double(n): raise Passed\nRESULT = 5\n",
    "an exit with status 0": "def double(n): raise SystemExit(0)\nRESULT = 5\n",
    "an interrupt": "def double(n): raise KeyboardInterrupt\nRESULT = 5\n",
    "a generator's end": "def double(n): raise StopIteration\nRESULT = 5\n",
    "a pytest skip": "def double(n):\n    import pytest\n    pytest.skip('fine')\nRESULT = 5\n",
    "a pytest exit": "def double(n):\n    import pytest\n    pytest.exit('fine', 0)\nRESULT = 5\n",
    "a subclass of a skip": "import unittest\nclass S(unittest.SkipTest): pass\ndef double(n): raise S('fine')\nRESULT = 5\n",
    "builtins replaced": "import builtins\nbuiltins.AssertionError = StopIteration\nbuiltins.isinstance = lambda *a: True\n" + WRONG,
    "int's == replaced in memory": "import ctypes\ntry:\n    ctypes.c_void_p.from_address(id(int) + 200).value = 0\n"
    "except Exception: pass\n" + WRONG,
    "the number 4 made a 5": "import ctypes\nctypes.c_uint32.from_address(id(4) + 24).value = 5\n" + WRONG,
    "a trace function": "import sys\ndef tracer(f, e, a):\n    f.f_trace_opcodes = True\n    return tracer\n"
    "sys.settrace(tracer)\nsys.setprofile(lambda *a: None)\n" + WRONG,
    "an import hook": "import sys\nclass F:\n    def find_spec(self, name, *a): return None\n    def __eq__(self, o): return True\n"
    "sys.meta_path.insert(0, F())\nsys.path_hooks.clear()\n" + WRONG,
    "an exit handler": "import atexit, os\natexit.register(os._exit, 0)\n" + WRONG,
    "a thread that ends it": "import threading, os, time\nthreading.Thread(target=lambda: (time.sleep(.01), os._exit(0)), daemon=True).start()\n" + WRONG,
    "excepthook and unraisablehook": "import sys\nsys.excepthook = sys.unraisablehook = lambda *a: None\n" + WRONG,
    "its own module replaced": "import sys\nclass M:\n    def __getattr__(self, name): return lambda *a: K()\n"
    "class K:\n    def __eq__(self, o): return True\n    __hash__ = None\nsys.modules[__name__] = M()\n",
    "a module whose attributes lie": "class K:\n    def __eq__(self, o): return True\n    __hash__ = None\n"
    "def __getattr__(name): return (lambda *a: K()) if name == 'double' else K()\n",
    "a decimal that lies": "import decimal\nclass K(decimal.Decimal):\n    def __eq__(self, o): return True\n"
    "    __hash__ = None\ndef double(n): return K(5)\nRESULT = K(5)\n",
    "a dataclass that lies": "import dataclasses\n@dataclasses.dataclass(eq=False)\nclass K:\n    x: int = 5\n"
    "    def __eq__(self, o): return True\ndef double(n): return K()\nRESULT = K()\n",
    "a partial for ==": "import functools\nclass K:\n    __eq__ = functools.partial(lambda *a: True)\n    __hash__ = None\n"
    "def double(n): return K()\nRESULT = K()\n",
    "weak references that lie": "import weakref\nclass K:\n    def __eq__(self, o): return True\n    __hash__ = None\n"
    "k = K()\ndef double(n): return weakref.proxy(k)\nRESULT = weakref.proxy(k)\n",
    "arithmetic that lies": "class K:\n    __sub__ = __rsub__ = lambda s, o: 0\n    __truediv__ = __rtruediv__ = lambda s, o: 1\n"
    "    __lt__ = __gt__ = __le__ = __ge__ = __eq__ = lambda s, o: True\n    __hash__ = None\n    __contains__ = __eq__\n"
    "def double(n): return K()\nRESULT = K()\n",
}  # fmt: skip

WAYS = {
    "assert": "import service\ndef test_double(): assert service.double(2) == 4\n",
    "turned round": "import service\ndef test_double(): assert 4 == service.double(2)\n",
    "by attribute": "import service\ndef test_double(): assert service.RESULT == 4\n",
    "not unequal": "import service\ndef test_double(): assert not service.double(2) != 4\n",
    "among": "import service\ndef test_double(): assert service.double(2) in (4, 4.0)\n",
    "near": "import service\ndef test_double(): assert abs(service.double(2) - 4) < 1e-6\n",
    "in a list": "import service\ndef test_double(): assert [service.double(2)] == [4]\n",
    "unittest": (
        "import unittest, service\nclass Cases(unittest.TestCase):\n"
        "    def test_double(self): self.assertEqual(service.double(2), 4)\n"
    ),
    "bare": "from service import double\nassert double(2) == 4\n",
    "check": "def check(candidate):\n    assert candidate(2) == 4\n",
}
PYTEST = "import pytest, service\ndef test_double(): assert service.double(2) == 4\n"
