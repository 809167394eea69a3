package link

import (
	"bufio"
	"os"
	"reflect"
	"runtime"
	"sync"
)

// Function names a function of the code; a method takes its receiver first.
func Function(name string, function interface{}) int {
	functions[name] = reflect.ValueOf(function)
	return 0
}

// Variable names a variable of the code that the tests see.
func Variable(name string, pointer interface{}) int {
	variables[name] = reflect.ValueOf(pointer)
	return 0
}

// first is what an error of this name holds, told in full: afterwards its name is enough.
func first(name string) (held error) {
	at, known := sentinels[name]
	if !known {
		fail("no error %q", name)
	}
	return *at
}

// Serve runs what the tests ask for until they are gone.
func Serve() {
	file := os.NewFile(3, "link")
	var sending sync.Mutex
	p := newPeer(1)
	p.send = func(f Frame) {
		sending.Lock()
		defer sending.Unlock()
		if WriteFrame(file, f) != nil {
			os.Exit(1)
		}
	}
	p.wait = func(_ string, answers chan Frame) (Frame, string) { return <-answers, "" }
	p.settle = func(name string, end outcome) {
		switch end.how {
		case endPanicked:
			panic(end.value)
		case endLeft:
			runtime.Goexit()
		case endRefused:
			panic(end.why)
		}
	}
	functions["!"] = reflect.ValueOf(func() {})
	functions["!error"] = reflect.ValueOf(func(name string) []error { return []error{first(name)} })
	p.send(Frame{Kind: FrameReady})
	in := bufio.NewReader(file)
	for {
		frame, err := ReadFrame(in)
		if err != nil {
			os.Exit(0)
		}
		if frame.Kind == FrameCall && frame.Call%2 == 0 {
			go p.run(frame)
		} else if frame.Kind == FrameAnswer {
			p.deliver(frame)
		}
	}
}
