package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"moot.invalid/link"
)

const (
	mostDeaths  = 3 // in a row, before it has answered anything
	mostPrinted = 200_000
	mostSaid    = 4_000
)

// worker builds the programs that run the code, keeps one of them running, and passes frames on. The program is not
// trusted: it has neither the socket of the tests nor anything of theirs.
type worker struct {
	tests    *os.File
	sending  sync.Mutex
	built    map[string]string // folder of the package -> program
	failure  string
	ready    chan struct{}
	mutex    sync.Mutex
	child    *child
	turn     int // grows with each process that the tests ask for
	deaths   int
	printed  int
	printing sync.Mutex
}

// child is one process.
type child struct {
	command *exec.Cmd
	link    *os.File
	printed [2]*os.File
	queue   chan link.Frame
	turn    int
}

func work() {
	number, err := strconv.Atoi(os.Getenv("MOOT_LINK"))
	if err != nil {
		os.Exit(2)
	}
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(number)
	os.Unsetenv("MOOT_LINK")
	w := &worker{tests: os.NewFile(uintptr(number), "link"), built: map[string]string{}, ready: make(chan struct{})}
	go w.build(os.Getenv("MOOT_FOLDERS"))
	in := bufio.NewReader(w.tests)
	folder := ""
	for {
		frame, err := link.ReadFrame(in)
		if err != nil {
			w.stop()
			return
		}
		switch frame.Kind {
		case link.FrameOpen:
			w.stop()
			folder = string(frame.Data)
			w.send(frame)
			<-w.ready
			w.start(folder, w.turn)
		case link.FrameKill:
			w.stop()
			w.send(link.Frame{Kind: link.FrameDied})
			w.start(folder, w.turn)
		default:
			w.mutex.Lock()
			if w.child != nil {
				select {
				case w.child.queue <- frame:
				default: // it does not read; the tests' own limit ends this
				}
			}
			w.mutex.Unlock()
		}
	}
}

func (w *worker) send(frame link.Frame) {
	w.sending.Lock()
	defer w.sending.Unlock()
	link.WriteFrame(w.tests, frame)
}

// build compiles one program for each package that has tests.
func (w *worker) build(folders string) {
	defer close(w.ready)
	for at, folder := range strings.Split(folders, "\n") {
		// Fails only without a working folder; the build then fails and says so.
		target, _ := filepath.Abs(fmt.Sprintf("../bin/work%d", at))
		place := "./mootwork"
		// moot: ignore[go-path] the folders are Moot's own, inside the sandbox
		if _, err := os.Stat(filepath.Join(folder, "zz_moot_main.go")); err == nil {
			place = "."
		}
		// moot: ignore[go-exec] Moot sets this variable for the sandbox, before any other code runs there
		build := exec.Command(os.Getenv("MOOT_GO"), "build", "-ldflags=-s -w", "-o", target, place)
		build.Dir = folder
		said, err := build.CombinedOutput()
		if err != nil {
			text := strings.TrimSpace(string(said))
			w.failure = "the code under test cannot be built: " + text[:min(len(text), mostSaid)]
			return
		}
		w.built[folder] = target
	}
}

func (w *worker) start(folder string, turn int) {
	program := w.built[folder]
	if w.failure != "" || program == "" {
		w.send(link.Frame{Kind: link.FrameBroken, Data: []byte(w.failure)})
		return
	}
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		w.send(link.Frame{Kind: link.FrameBroken, Data: []byte(err.Error())})
		return
	}
	there := os.NewFile(uintptr(ends[1]), "there")
	c := &child{command: exec.Command(program), link: os.NewFile(uintptr(ends[0]), "here")}
	c.queue = make(chan link.Frame, 4096)
	var writing [2]*os.File
	for at := range writing {
		c.printed[at], writing[at], _ = os.Pipe()
	}
	c.command.Dir = folder
	c.command.ExtraFiles = []*os.File{there}
	c.command.Stdout, c.command.Stderr = writing[0], writing[1]
	c.turn = turn
	w.mutex.Lock()
	if w.turn == turn {
		err = c.command.Start()
		w.child = c
	} else {
		err = os.ErrClosed
	}
	w.mutex.Unlock()
	there.Close()
	writing[0].Close()
	writing[1].Close()
	if err == os.ErrClosed {
		return // the tests have asked for another one
	}
	if err != nil {
		w.send(link.Frame{Kind: link.FrameBroken, Data: []byte(err.Error())})
		return
	}
	go c.feed()
	go w.read(c, folder)
	for at := range c.printed {
		go w.pump(c.printed[at], uint64(at+1))
	}
}

func (c *child) feed() {
	for frame := range c.queue {
		if link.WriteFrame(c.link, frame) != nil {
			return
		}
	}
}

// read passes on what the process answers. What it printed before comes first.
func (w *worker) read(c *child, folder string) {
	in := bufio.NewReader(c.link)
	for {
		frame, err := link.ReadFrame(in)
		if err != nil {
			break
		}
		for at := range c.printed {
			w.drain(c.printed[at], uint64(at+1))
		}
		switch frame.Kind {
		case link.FrameAnswer:
			w.mutex.Lock()
			w.deaths = 0
			w.mutex.Unlock()
			w.send(frame)
		case link.FrameReady, link.FrameCall:
			w.send(frame)
		}
	}
	c.command.Process.Kill()
	err := c.command.Wait()
	for at := range c.printed {
		w.drain(c.printed[at], uint64(at+1))
	}
	w.mutex.Lock()
	current := w.turn == c.turn
	if w.child == c {
		w.child = nil
	}
	if current {
		w.deaths++
	}
	deaths := w.deaths
	w.mutex.Unlock()
	close(c.queue)
	if !current {
		return // its end is ours
	}
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	text := []byte("the code under test ended its process (" + how + ")")
	if deaths >= mostDeaths {
		w.send(link.Frame{Kind: link.FrameBroken, Data: text})
		return
	}
	w.send(link.Frame{Kind: link.FrameDied, Data: text})
	w.start(folder, c.turn)
}

func (w *worker) stop() {
	w.mutex.Lock()
	c := w.child
	w.child = nil
	w.turn++
	w.deaths = 0
	w.mutex.Unlock()
	if c != nil {
		c.command.Process.Kill()
		c.link.Close()
	}
}

// pump passes on what is printed while nothing else happens.
func (w *worker) pump(from *os.File, where uint64) {
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	for open := true; open; {
		err := raw.Read(func(fd uintptr) bool {
			some, end := w.pass(fd, where)
			open = !end
			return some || end
		})
		if err != nil {
			return
		}
	}
}

func (w *worker) drain(from *os.File, where uint64) {
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		for {
			if some, end := w.pass(fd, where); !some || end {
				return
			}
		}
	})
}

// pass reads and sends under one lock, so that nothing printed is overtaken.
func (w *worker) pass(fd uintptr, where uint64) (some, end bool) {
	w.printing.Lock()
	defer w.printing.Unlock()
	buffer := make([]byte, 1<<15)
	n, err := syscall.Read(int(fd), buffer)
	if n <= 0 {
		return false, err != syscall.EAGAIN && err != syscall.EINTR
	}
	if w.printed += n; w.printed <= mostPrinted {
		w.send(link.Frame{Kind: link.FramePrinted, Call: where, Data: buffer[:n]})
	}
	return true, false
}
