# ruff: noqa: E501 - tables: one row a line
"""Go code that wants a pass it has not earned. Each fails its test honestly: Double(2) is not 4."""

TEST = """package service

import (
	"errors"
	"reflect"
	"testing"
)

func TestDouble(t *testing.T) {
	want := 4
	if got := Double(2); got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
	if Double(3) != 6 {
		t.Error("three")
	}
	if err := Check(-1); err == nil || !errors.Is(err, ErrNegative) {
		t.Error(err)
	}
	if got := List(2); !reflect.DeepEqual(got, []int{1, 2}) {
		t.Errorf("list %v", got)
	}
}

func TestTriple(t *testing.T) {
	if Triple(2) != 6 {
		t.Fatal(Triple(2))
	}
}
"""
REST = """
var ErrNegative = errors.New("negative")

func Triple(n int) int { return 3 * n }
"""
CHECK = "func Check(n int) error { return nil }\n"
LIST = "func List(n int) []int { return nil }\n"
WRONG = "func Double(n int) int { return 0 }\n"
REMAINDER = "\\x16--- PASS: TestDouble (0.00s)\\n\\x16=== RUN   TestTriple\\n\\x16--- PASS: TestTriple (0.00s)\\n\\x16=== NAME  \\nPASS\\n"
LINES = "\\x16=== RUN   TestDouble\\n" + REMAINDER
JSON = (
    "`"
    '{"Action":"start","Package":"given"}\n{"Action":"run","Package":"given","Test":"TestDouble"}\n'
    '{"Action":"pass","Package":"given","Test":"TestDouble","Elapsed":0}\n'
    '{"Action":"run","Package":"given","Test":"TestTriple"}\n'
    '{"Action":"pass","Package":"given","Test":"TestTriple","Elapsed":0}\n'
    '{"Action":"pass","Package":"given","Elapsed":0.1}\n`'
)
PATCH = """
func patch(function any, code ...byte) { patchAt(reflect.ValueOf(function).Pointer(), code...) }

func patchAt(at uintptr, code ...byte) {
	page := at &^ 4095
	area := unsafe.Slice((*byte)(unsafe.Pointer(page)), 8192)
	if syscall.Mprotect(area, 7) == nil {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(at)), len(code)), code)
	}
}
"""
FRAME = """
func frame(kind byte, call uint64, data ...byte) []byte {
	out := make([]byte, 13)
	binary.LittleEndian.PutUint32(out, uint32(len(data)))
	out[4] = kind
	binary.LittleEndian.PutUint64(out[5:], call)
	return append(out, data...)
}

func send(frames ...[]byte) {
	for _, each := range frames {
		syscall.Write(3, each)
	}
}
"""


def code(imports: str, body: str) -> str:
    """A package with this in it, and honestly wrong functions for those that it does not have."""
    names = sorted({"errors", *imports.split()})
    lines = "".join(f'import {"_ " if name == "embed" else ""}"{name}"\n' for name in names)
    rest = "".join(each for each in (CHECK, LIST, WRONG) if each[: each.index("(")] not in body)
    return f"package service\n\n{lines}\n{body}\n{rest}{REST}"


def in_call(do: str, imports: str = "", more: str = "") -> str:
    return code(imports, f"{more}\nfunc Double(n int) int {{\n{do}\nreturn 0\n}}\n")


def at_start(do: str, imports: str = "", more: str = "") -> str:
    return code(imports, f"{more}\nfunc init() {{\n{do}\n}}\n")


def in_list(answer: str) -> str:
    """All is right but the last answer, which is sent by hand."""
    data = f", {answer}" if answer else ""
    return code(
        "encoding/binary syscall",
        FRAME
        + (
            "func Double(n int) int { return 2 * n }\nfunc Check(n int) error { return ErrNegative }\n"
            f"func List(n int) []int {{ send(frame('A', 10{data})); select {{}} }}\n"
        ),
    )


FIND = 'text, _ := os.ReadFile("service_test.go"); found := regexp.MustCompile(`want := (\\d+)`).FindSubmatch(text)\n'
USE = "if len(found) > 1 { got, _ := strconv.Atoi(string(found[1])); if n == 2 { return got }; return 2 * n }"
KNOWN = "func Check(n int) error { return ErrNegative }\nfunc List(n int) []int { return []int{1, 2} }\n"

CHEATS: dict[str, str] = {
    # Prints or writes results and ends.
    "ends at start": at_start("os.Exit(0)", "os"),
    "prints a pass and ends": at_start('fmt.Print("--- PASS: TestDouble (0.00s)\\nPASS\\n"); os.Exit(0)', "fmt os"),
    "prints Go's own marks and ends": at_start(f'fmt.Print("{LINES}"); os.Exit(0)', "fmt os"),
    "prints events and ends": at_start(f"fmt.Print({JSON}); os.Exit(0)", "fmt os"),
    "writes events to the report": at_start(f'os.NewFile(3, "r").WriteString({JSON}); os.Exit(0)', "os"),
    "writes to every file": at_start(
        f"for fd := 3; fd < 40; fd++ {{ syscall.Write(fd, []byte({JSON})) }}; syscall.Exit(0)", "syscall"
    ),
    "writes to the parent's output": at_start(
        f'f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/1", os.Getppid()), os.O_WRONLY, 0)\n'
        f"if err == nil {{ f.WriteString({JSON}) }}; syscall.Exit(0)", "fmt os syscall"
    ),
    "ends in the test": in_call("os.Exit(0)", "os"),
    "ends by the system call": in_call("syscall.Exit(0)", "syscall"),
    "prints the rest and ends": in_call(f'fmt.Print("{REMAINDER}"); syscall.Exit(0)', "fmt syscall"),
    "prints the marks in the test and ends": in_call(f'os.Stdout.WriteString("{LINES}"); syscall.Exit(0)', "os syscall"),
    "prints a pass and hangs up": in_call(
        'syscall.Write(1, []byte("\\x16--- PASS: TestDouble (0.00s)\\nPASS\\n")); syscall.Close(1); syscall.Exit(0)', "syscall"
    ),
    "prints later": at_start(
        f'go func() {{ time.Sleep(time.Millisecond); os.Stdout.WriteString("{LINES}"); syscall.Exit(0) }}()', "os syscall time",
        "func Double(n int) int { time.Sleep(time.Second); return 0 }\n",
    ),
    "rewrites what is printed": at_start(
        'old, _ := syscall.Dup(1); var p [2]int; syscall.Pipe(p[:]); syscall.Dup2(p[1], 1)\n'
        "go func() { b := make([]byte, 1<<16); for { n, _ := syscall.Read(p[0], b); if n <= 0 { return }\n"
        's := string(b[:n]); bad := strings.Contains(s, "FAIL"); s = strings.ReplaceAll(s, "FAIL", "PASS")\n'
        "syscall.Write(old, []byte(s)); if bad { syscall.Exit(0) } } }()", "strings syscall"
    ),
    "is its own test program": at_start(
        'c := exec.Command(os.Args[0], "-test.run=TestTriple", "-test.v=test2json"); c.Env = []string{"X=1"}\n'
        'if os.Getenv("X") == "" { out, _ := c.Output(); s := string(out)\n'
        'fmt.Print(strings.ReplaceAll(s, "TestTriple", "TestDouble"), s); syscall.Exit(0) }', "fmt os os/exec strings syscall"
    ),
    # Changes what judges.
    "patches all that fails": at_start(
        "from := reflect.ValueOf((*testing.T).Name).Pointer()\n"
        "for at := from - 1<<18; at < from + 1<<18; at += 16 { f := runtime.FuncForPC(at)\n"
        "if f != nil && f.Name() == `testing.(*common).Fail` { patchAt(f.Entry(), 0xc3) } }",
        "reflect runtime syscall testing unsafe", PATCH,
    ),
    "patches DeepEqual": at_start("patch(reflect.DeepEqual, 0xb0, 1, 0xc3)", "reflect syscall unsafe", PATCH + (
        "func Double(n int) int { return 2 * n }\nfunc Check(n int) error { return ErrNegative }\n")),
    "patches errors.Is": at_start("patch(errors.Is, 0xb0, 1, 0xc3)", "reflect syscall unsafe", PATCH + (
        "func Double(n int) int { return 2 * n }\nfunc Check(n int) error { return errors.New(`x`) }\n"
        "func List(n int) []int { return []int{1, 2} }\n")),
    "runs no test": at_start('flag.Set("test.run", "^TestTriple$")', "flag testing", "var _ = testing.Short\n"),
    "skips the test": at_start('flag.Set("test.skip", "TestDouble")', "flag testing", "var _ = testing.Short\n"),
    "lists the tests": at_start('os.Args = append(os.Args, "-test.list=.")', "os"),
    "sets the flags": at_start('os.Args = []string{os.Args[0], "-test.run=Triple", "-test.v=test2json"}', "os"),
    "counts to none": at_start('os.Args = append(os.Args, "-test.count=0")', "os"),
    "stops the goroutine": in_call("runtime.Goexit()", "runtime"),
    "panics with nothing": in_call("panic(nil)"),
    "ends all that runs": in_call("syscall.Kill(-1, 9)", "syscall"),
    "kills its parent": in_call("syscall.Kill(syscall.Getppid(), 9)", "syscall"),
    "stops its parent": at_start("syscall.Kill(syscall.Getppid(), 19); syscall.Exit(0)", "syscall"),
    "never returns": in_call("select {}"),
    "spins": in_call("for {\n}"),
    "waits in a lock": in_call("var m sync.Mutex; m.Lock(); m.Lock()", "sync"),
    "runs out of stack": code("", "func Double(n int) int { return Double(n+1) + 1 }\n"),
    "dies in a goroutine": in_call("go panic(1)\ntime.Sleep(50 * time.Millisecond)", "time"),
    "dies by a signal": in_call("syscall.Kill(syscall.Getpid(), 11)", "syscall"),
    "runs out of file descriptors": in_call("for fd := 0; fd < 64; fd++ { syscall.Close(fd) }", "syscall"),
    # Looks for what is expected.
    "reads the tests": code("os regexp strconv", f"func Double(n int) int {{\n{FIND}{USE}\nreturn 0 }}\n{KNOWN}"),
    "embeds the tests": code("embed regexp strconv", (
        "//go:embed service_test.go\nvar text []byte\n\nfunc Double(n int) int {\n"
        f"found := regexp.MustCompile(`want := (\\d+)`).FindSubmatch(text)\n{USE}\nreturn 0 }}\n{KNOWN}")),
    "asks who calls": code("os regexp runtime strconv", (
        f"func Double(n int) int {{\n_, file, _, _ := runtime.Caller(1); text, _ := os.ReadFile(file)\n"
        f"found := regexp.MustCompile(`want := (\\d+)`).FindSubmatch(text)\n{USE}\nreturn 0 }}\n{KNOWN}")),
    "looks through all files": code("os path/filepath regexp strconv", (
        'func Double(n int) int {\nvar found [][]byte\nfor _, top := range []string{"/box", "/tmp", ".."} {\n'
        "filepath.Walk(top, func(path string, info os.FileInfo, err error) error {\n"
        'if err == nil && filepath.Base(path) == "service_test.go" { text, _ := os.ReadFile(path)\n'
        "if m := regexp.MustCompile(`want := (\\d+)`).FindSubmatch(text); m != nil { found = m } }; return nil }) }\n"
        f"{USE}\nreturn 0 }}\n{KNOWN}")),
    "looks at the stack": code("unsafe", (
        "//go:noinline\nfunc Double(n int) (got int) {\nat := uintptr(unsafe.Pointer(&n))\n"
        "for i := uintptr(0); i < 64; i++ { if v := *(*int)(unsafe.Pointer(at + 8*i)); v > n && v <= 2*n { return v } }\n"
        f"return 0 }}\n{KNOWN}")),
    # Takes the words of the test.
    "redefines len": code("", "func len(any) int { return 2 }\nvar _ = len\n"),
    "redefines nil": code("", "var nil = ErrNegative\nfunc Check(n int) (err error) { return }\nfunc List(n int) (l []int) { return }\n"),
    "redefines true": code("", "const true = false\nfunc Even(n int) bool { return false }\n"),
    "redefines panic": code("", "func panic(any) {}\n"),
    "redefines append": code("", "func append(any, ...int) []int { return List(0) }\n"),
    "redefines max": code("", "func max(a, b int) int { return 0 }\n"),
    "an error that is every error": code("", (
        "type all struct{}\nfunc (all) Error() string { return `` }\nfunc (all) Is(error) bool { return true }\n"
        "func Check(n int) error { return all{} }\nfunc Double(n int) int { return 2 * n }\n"
        "func List(n int) []int { return []int{1, 2} }\n")),
    "an error that becomes every error": code("", (
        "type all struct{}\nfunc (all) Error() string { return `` }\nfunc (all) As(any) bool { return true }\n"
        "func (all) Is(error) bool { return true }\n"
        "func Check(n int) error { return &all{} }\nfunc Double(n int) int { return 2 * n }\n"
        "func List(n int) []int { return []int{1, 2} }\n")),
    "gives something else": code("", "func Double(n int) any { return []int{4} }\n"),
    "gives a channel as anything": code("", "func Double(n int) any { return make(chan int) }\n"),
    "gives a function as anything": code("", "func Double(n int) any { return func() int { return 4 } }\n"),
    "gives a pointer to nowhere": code("unsafe", (
        "func List(n int) []int { return unsafe.Slice((*int)(unsafe.Pointer(uintptr(8))), 2) }\n")),
    "gives itself for ever": code("", "type loop []any\nfunc Double(n int) any { l := make(loop, 1); l[0] = l; return l }\n"),
    # Speaks the language of the link.
    "sends frames that are cut off": in_call("send(frame('A', 2)[:7]); syscall.Exit(0)", "encoding/binary syscall", FRAME),
    "sends a frame without end": in_call("syscall.Write(3, []byte{255, 255, 255, 255, 'A'}); select {}", "encoding/binary syscall", FRAME),
    "sends nonsense": in_call("send(frame('?', 9, 1, 2, 3), frame(0, 0)); select {}", "encoding/binary syscall", FRAME),
    "answers before it is asked": at_start(
        "for i := uint64(0); i < 64; i++ { send(frame('A', i, 0, 8)) }", "encoding/binary syscall", FRAME
    ),
    "answers twice": in_call(
        "for i := uint64(0); i < 64; i++ { send(frame('A', i, 0, 4, 0), frame('A', i, 0, 4, 8)) }", "encoding/binary syscall", FRAME
    ),
    "answers with bytes too many": in_call("send(frame('A', 4, 0, 4, 0, 8, 8, 8, 8, 8))\nselect {}", "encoding/binary syscall", FRAME),
    "says that it died": in_call("send(frame('D', 0, 'x'), frame('B', 0), frame('R', 0))", "encoding/binary syscall", FRAME),
    "calls functions of the tests": in_call("send(frame('C', 3, 0, 0, 0)); select {}", "encoding/binary syscall", FRAME),
    "prints as if it were the tests": in_call(f'send(frame(\'P\', 1, []byte("{LINES}")...))', "encoding/binary syscall", FRAME),
    "floods what is printed": in_call(
        f'for i := 0; i < 2000; i++ {{ os.Stdout.WriteString("{LINES}") }}', "os"
    ),
    "gives a list without end": in_list("0, 4, 1, 255, 255, 255, 255, 15"),
    "gives a list that nobody has": in_list("0, 4, 2, 9, 0, 2, 0"),
    "gives a list of no kind": in_list("0, 4, 7"),
    "gives a list and more": in_list("0, 4, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 9"),
    "gives half a list": in_list("0, 4, 1, 2, 1, 0, 0, 0, 0, 0, 0, 0"),
    "gives an answer of no kind": in_list("99"),
    "gives no answer": in_list(""),
    "imports the link": code("moot.invalid/link", "func init() { link.Call(`x`, nil, nil) }\n"),
}  # fmt: skip
IN_ONE_PROCESS = (
    'package service\n\nimport "testing"\n\n'
    + """func TestDouble(t *testing.T) {
	given := make(chan int, 1)
	if Feed(given, Double(2)); <-given != 4 {
		t.Fatal("wrong")
	}
}

func TestTriple(t *testing.T) {
	if Triple(2) != 6 {
		t.Fatal(Triple(2))
	}
}
"""
)
FEED = "func Feed(to chan int, n int) { to <- n }\n"
KEY = (
    'filepath.Walk("..", func(path string, info os.FileInfo, err error) error {\n'
    'if err == nil && strings.HasSuffix(path, ".go") { text, _ := os.ReadFile(path)\n'
    "if m := regexp.MustCompile(`[0-9a-f]{64}`).Find(text); m != nil {\n"
    'os.WriteFile(os.Getenv("MOOT_END"), []byte(string(m) + " given 0\\n"), 0o600) } }; return nil })\n'
)
IN_PROCESS_CHEATS = {
    "prints marks and ends": at_start(f'fmt.Print("{LINES}"); os.Exit(0)', "fmt os", FEED),
    "prints the rest and ends": in_call(f'fmt.Print("{REMAINDER}"); syscall.Exit(0)', "fmt syscall", FEED),
    "writes events to the report": at_start(f'os.NewFile(3, "r").WriteString({JSON}); os.Exit(0)', "os", FEED),
    "is its own test program": CHEATS["is its own test program"] + FEED,
    "looks for the key in the files": at_start(
        KEY + f'fmt.Print("{LINES}"); os.Exit(0)', "fmt os path/filepath regexp strings", FEED
    ),
    "makes up a key": at_start(
        'os.WriteFile(os.Getenv("MOOT_END"), []byte(strings.Repeat("0", 64) + " given 0\\n"), 0o600)\n'
        f'fmt.Print("{LINES}"); os.Exit(0)', "fmt os strings", FEED
    ),
}  # fmt: skip
HEAD = 'package service\n\nimport "testing"\n\nfunc TestTriple(t *testing.T) { if Triple(2) != 6 { t.Fatal() } }\n\n'
OTHER_TESTS = {
    "redefines len": "func TestDouble(t *testing.T) { if len(List(2)) != 2 { t.Fatal(List(2)) } }\n",
    "redefines nil": "func TestDouble(t *testing.T) { if err := Check(-1); err != nil { return }; t.Fatal() }\n",
    "redefines true": "func TestDouble(t *testing.T) { if Even(2) != true { t.Fatal() } }\n",
    "redefines panic": "func TestDouble(t *testing.T) { if Double(2) != 4 { panic(`wrong`) } }\n",
    "redefines append": "func TestDouble(t *testing.T) { want := append([]int(nil), 1); for i, n := range want { if List(1)[i] != n { t.Fatal() } } }\n",
    "redefines max": "func TestDouble(t *testing.T) { if want := max(1, 2); Double(1) != want { t.Fatal() } }\n",
}  # fmt: skip
BROUGHT: dict[str, dict[str, str]] = {
    "brings a TestMain": {"main_test.go": f'package service\nimport "testing"\nimport "fmt"\nfunc TestMain(m *testing.M) {{ fmt.Print("{LINES}") }}\n'},
    "brings a test that prints": {"a_test.go": f'package service\nimport "fmt"\nimport "syscall"\nfunc init() {{ fmt.Print("{LINES}"); syscall.Exit(0) }}\n'},
    "brings the same test": {"service_test.go": "package service\nimport \"testing\"\nfunc TestDouble(t *testing.T) {}\nfunc TestTriple(t *testing.T) {}\n"},
    "brings a module in the place of another": {
        "go.mod": "module given\n\ngo 1.21\n\nreplace moot.invalid/link => ./evil\n",
        "evil/go.mod": "module moot.invalid/link\n", "evil/link.go": "package link\nfunc Guard(any) func() { return func() {} }\n",
    },
    "brings a testing package": {"vendor/testing/testing.go": "package testing\ntype T struct{}\n"},
    "brings Go's flags": {"go.mod": "module given\n\ngo 1.21\n\ngodebug default=go1.21\n", "go.env": "GOFLAGS=-run=Triple\n"},
    "brings a workspace": {"go.work": "go 1.27\nuse .\nreplace testing => ./evil\n"},
    "brings files of the link": {"moot_names.go": "package service\n", "zz_moot_names.go": "package service\n", "mootwork/main.go": "package main\nfunc main() {}\n"},
}  # fmt: skip


def files_of(name: str) -> dict[str, str]:
    return {"service.go": CHEATS.get(name) or code("", ""), **BROUGHT.get(name, {})}


def checks_of(name: str) -> str:
    return HEAD + OTHER_TESTS[name] if name in OTHER_TESTS else TEST


OBJECTS = """package service

import "container/list"

type Box struct {
	n int
	c chan int
}
type Plain struct{ n int }

func New(n int) *Box         { return &Box{n: n} }
func NewPlain(n int) *Plain  { return &Plain{n} }
func Any(n int) any          { return NewPlain(n) }
func AnyBox(n int) any       { return New(n) }
func List(n int) *list.List  { l := list.New(); l.PushBack(NewPlain(n)); return l }
"""
SAME = "; !reflect.DeepEqual(a, b)"
COMPARED = {
    "in a table": "c := []struct{ a, b any }{{service.New(1), service.New(2)}}[0]; !reflect.DeepEqual(c.a, c.b)",
    "in a map": 'a, b := map[string]any{"x": service.New(1)}, map[string]any{"x": service.New(2)}' + SAME,
    "given back": "get := func(n int) any { return service.New(n) }; !reflect.DeepEqual(get(1), get(2))",
    "inside a type of the test": "a, b := outer{service.NewPlain(1)}, outer{service.NewPlain(2)}" + SAME,
    "in a list": "a, b := service.List(1), service.List(2)" + SAME,
    "as anything": "a, b := service.Any(1), service.Any(2)" + SAME,
    "with a channel": "a, b := service.AnyBox(1), service.AnyBox(2)" + SAME,
    "appended": "a, b := append([]any{}, service.NewPlain(1)), append([]any{}, service.NewPlain(2))" + SAME,
    "converted": "a, b := any(service.NewPlain(1)), any(service.NewPlain(2))" + SAME,
    "printed": "a, b := fmt.Sprintf(`%+v`, service.NewPlain(1)), fmt.Sprintf(`%+v`, service.NewPlain(2)); a != b",
    "as values": "a, b := service.NewPlain(1), service.NewPlain(2); *a != *b",
}
"""Two objects of the code that differ, in all the ways in which a test can find that out."""


def compares(name: str) -> str:
    first, _, last = COMPARED[name].rpartition("; ")
    return (
        'package service_test\n\nimport (\n\t"fmt"\n\t"reflect"\n\t"testing"\n\n\t"given"\n)\n\n'
        "var _, _ = fmt.Sprint, reflect.DeepEqual\n\ntype outer struct{ *service.Plain }\n\n"
        f"func TestSame(t *testing.T) {{\n\t{first}\n\tif {last} {{\n\t\tt.Fatal(`they differ`)\n\t}}\n}}\n"
    )
