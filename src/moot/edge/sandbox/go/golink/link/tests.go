package link

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The side of the tests. Nothing that the code does may end it, hang it, or be taken for a result of a test.

const mostPrinted = 200_000

var (
	once  sync.Once
	link  *peer
	state = struct {
		sync.Mutex
		change  *sync.Cond
		up      bool   // the code runs
		broken  string // why it never will again
		deaths  []string
		stops   []string
		lost    map[ref]bool // objects of a process that ended
		heaps   []*heap      // they stay, so that nothing else comes to lie at their addresses
		guards  int
		calls   int
		printed int
	}{lost: map[ref]bool{}}
	usual    = os.Stdout
	usualErr = os.Stderr
	folder   = workingFolder()
	seconds  = limit()
)

func init() { state.change = sync.NewCond(&state) }

func workingFolder() string {
	here, err := os.Getwd()
	if err != nil {
		return ""
	}
	rest, err := filepath.Rel(os.Getenv("MOOT_WORK"), here)
	if err != nil {
		return here
	}
	return rest
}

func limit() time.Duration {
	if n, err := strconv.ParseFloat(os.Getenv("MOOT_SECONDS"), 64); err == nil && n > 0 {
		return time.Duration(n * float64(time.Second))
	}
	return 20 * time.Second
}

// open connects to the code. Only one program of tests has the link at a time.
func open() {
	number, err := strconv.Atoi(os.Getenv("MOOT_LINK"))
	if err != nil {
		state.broken = "there is no link to the code under test"
		return
	}
	// moot: ignore[go-path] Moot sets this variable for the sandbox
	turn, err := os.OpenFile(os.Getenv("MOOT_TURN"), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = syscall.Flock(int(turn.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		state.broken = "the link to the code under test cannot be used: " + err.Error()
		return
	}
	// The lock is held as long as this program runs.
	runtime.KeepAlive(turn)
	held = turn
	file := os.NewFile(uintptr(number), "link")
	syscall.CloseOnExec(number)
	var sending sync.Mutex
	link = newPeer(0)
	link.send = func(f Frame) {
		sending.Lock()
		defer sending.Unlock()
		WriteFrame(file, f) // who listens sees the end
	}
	link.wait = await
	link.settle = settle
	lost = isLost
	// What an earlier program of tests did not read ends with this number.
	mark := uint64(os.Getpid())
	link.send(Frame{FrameOpen, mark, []byte(folder)})
	go listen(bufio.NewReader(file), mark)
}

var held *os.File

func listen(in *bufio.Reader, mark uint64) {
	opened := false
	for {
		frame, err := ReadFrame(in)
		if err != nil {
			die("the process of the code under test is gone", true)
			return
		}
		if !opened {
			opened = frame.Kind == FrameOpen && frame.Call == mark
			continue
		}
		switch frame.Kind {
		case FrameReady:
			state.Lock()
			state.up = true
			state.Unlock()
			state.change.Broadcast()
		case FrameDied:
			die(clean(frame.Data), false)
		case FrameBroken:
			die(clean(frame.Data), true)
			return
		case FramePrinted:
			show(frame.Call, frame.Data)
		case FrameCall, FrameAnswer:
			if wrong := link.deliver(frame); wrong != "" {
				die("the process of the code under test sent "+wrong, true)
				return
			}
		default:
			die("the process of the code under test sent nonsense", true)
			return
		}
	}
}

// die notes that the process of the code ended; all who wait for it are told. Without a reason, the end was ours.
func die(why string, forever bool) {
	link.Lock()
	state.Lock()
	if why != "" {
		state.deaths = append(state.deaths, why)
	}
	if forever {
		state.broken = why
	}
	state.up = false
	for at := range link.h.byRef {
		state.lost[at] = true
	}
	state.heaps = append(state.heaps, link.h)
	state.Unlock()
	waiting := link.waiting
	link.waiting, link.left, link.during = map[uint64]chan Frame{}, map[uint64]bool{}, map[uint64]uint64{}
	link.h = newHeap(0)
	link.h.call = link.remote
	link.Unlock()
	state.change.Broadcast()
	if why == "" {
		why = "the process of the code under test was ended"
	}
	for _, answers := range waiting {
		go func(answers chan Frame) { answers <- Frame{Kind: FrameDied, Data: []byte(why)} }(answers)
	}
}

func isLost(v reflect.Value) bool {
	state.Lock()
	defer state.Unlock()
	return state.lost[ref{v.UnsafePointer(), v.Type()}]
}

// await gives the next frame for a call, or why there will be none.
func await(name string, answers chan Frame) (Frame, string) {
	late := time.NewTimer(seconds)
	defer late.Stop()
	select {
	case frame := <-answers:
		if frame.Kind == FrameDied {
			return frame, string(frame.Data)
		}
		return frame, ""
	case <-late.C:
		state.Lock()
		state.up = false
		state.Unlock()
		link.send(Frame{Kind: FrameKill})
		return Frame{}, fmt.Sprintf("the code took longer than the limit of %v", seconds)
	}
}

// Call runs a function of the code. What it is given and what it gives are variables, by their addresses.
func Call(name string, in []interface{}, out []interface{}) {
	settle(name, ask(name, values(in), values(out)))
}

func ask(name string, in, out []reflect.Value) outcome {
	once.Do(open)
	state.Lock()
	state.calls++
	for !state.up && state.broken == "" {
		state.change.Wait()
	}
	broken := state.broken
	state.Unlock()
	if broken != "" {
		return outcome{how: endRefused, why: broken}
	}
	return link.ask(target{name: name}, in, out)
}

// Seen makes a variable of the tests the image of one of the code: it is told with every call, and told back.
func Seen(name string, pointer interface{}) int {
	images = append(images, &variable{name: name, at: reflect.ValueOf(pointer), unset: true})
	settle(name, ask("!", nil, nil))
	return 0
}

// Known makes a variable of the tests hold an error of the code, which is the same error on both sides from then on.
func Known(name string, at *error) int {
	held := []error{nil}
	settle(name, ask("!error", values([]interface{}{&name}), values([]interface{}{&held})))
	if len(held) == 1 {
		*at = held[0]
	}
	return Sentinel(name, at)
}

func values(pointers []interface{}) []reflect.Value {
	all := make([]reflect.Value, len(pointers))
	for at, each := range pointers {
		all[at] = reflect.ValueOf(each).Elem()
	}
	return all
}

func settle(name string, end outcome) {
	switch end.how {
	case endPanicked:
		panic(end.value)
	case endLeft:
		stop("%s ended the goroutine it was called on", name)
	case endRefused:
		stop("%s: %s", name, end.why)
	}
}

// stop ends the test that is running as failed. It is no panic: a test that expects one must not be content with this.
func stop(format string, words ...interface{}) {
	text := where() + fmt.Sprintf(format, words...)
	state.Lock()
	state.stops = append(state.stops, text)
	guarded := state.guards > 0
	state.Unlock()
	if !guarded {
		fmt.Fprintln(usualErr, text)
		os.Exit(1)
	}
	runtime.Goexit()
}

// where is the line of the test that made the call.
func where() string {
	for skip := 2; ; skip++ {
		_, file, line, known := runtime.Caller(skip)
		if !known {
			return ""
		}
		if strings.HasSuffix(file, "_test.go") {
			return fmt.Sprintf("%s:%d: ", filepath.Base(file), line)
		}
	}
}

// Test is what testing.T and testing.F have in common.
type Test interface {
	Errorf(format string, words ...interface{})
	FailNow()
}

// Guard is deferred by each test: what went wrong with the link since it began fails the test.
func Guard(t Test) func() {
	state.Lock()
	state.guards++
	deaths, calls := len(state.deaths), state.calls
	state.Unlock()
	return func() {
		state.Lock()
		called := state.calls > calls && state.broken == ""
		state.Unlock()
		if called {
			// Something that the code started may have ended its process just now.
			ask("!", nil, nil)
		}
		state.Lock()
		said := state.stops
		for _, each := range state.deaths[deaths:] {
			if !strings.Contains(strings.Join(said, "\n"), each) {
				said = append(said, each)
			}
		}
		state.stops = nil
		state.guards--
		state.Unlock()
		if len(said) > 0 {
			t.Errorf("%s", strings.Join(said, "\n"))
			t.FailNow()
		}
	}
}

// show prints what the code printed. Where the test has put something else in the place of standard output, there;
// else so that no line of it can be taken for one of Go's own.
func show(where uint64, text []byte) {
	state.Lock()
	defer state.Unlock()
	if state.printed += len(text); state.printed > mostPrinted {
		return
	}
	to, own := os.Stdout, usual
	if where == 2 {
		to, own = os.Stderr, usualErr
	}
	if to != own {
		to.Write(text)
		return
	}
	for _, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		fmt.Fprintf(to, "| %s\n", clean(line))
	}
}

func clean(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' || r == 0x7f {
			return '?'
		}
		return r
	}, string(text))
}
