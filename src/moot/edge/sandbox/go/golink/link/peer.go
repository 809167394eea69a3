package link

import (
	"fmt"
	"reflect"
	"runtime"
	"sync"
)

// How a call ended.
const (
	endReturned = iota
	endPanicked
	endLeft    // runtime.Goexit
	endRefused // what it gave or got cannot be carried, or nobody answered
)

// outcome is what a call came to.
type outcome struct {
	how   byte
	value interface{} // of a panic
	why   string
}

// peer is one end of the link: it calls functions of the other side and runs those that it is asked for.
type peer struct {
	sync.Mutex // values are written and read whole
	h          *heap
	calls      uint64
	waiting    map[uint64]chan Frame
	left       map[uint64]bool // calls whose answer nobody waits for any more
	during     map[uint64]uint64
	send       func(Frame)
	wait       func(name string, answers chan Frame) (Frame, string)
	settle     func(name string, end outcome)
}

func newPeer(first uint64) *peer {
	p := &peer{h: newHeap(first), calls: first}
	p.waiting, p.left, p.during = map[uint64]chan Frame{}, map[uint64]bool{}, map[uint64]uint64{}
	p.h.call = p.remote
	return p
}

// target is what is called: a function of the code by its name, or one that was handed over, by its number.
type target struct {
	name string
	id   uint64
}

// ask writes the arguments, waits, and reads the changed arguments and the results back. While it waits it runs what
// the other side calls in turn: on this goroutine, as it would be without the link.
func (p *peer) ask(what target, in, out []reflect.Value) outcome {
	p.Lock()
	w, told := newWriter(p.h, nil), images
	problem := caught(func() {
		w.number(p.during[what.id])
		w.string(what.name)
		w.number(what.id)
		w.all(in)
		w.tell(told)
	})
	if problem != "" {
		p.Unlock()
		return outcome{how: endRefused, why: "the test hands over " + problem}
	}
	p.calls += 2
	call, answers := p.calls, make(chan Frame, 1)
	p.waiting[call] = answers
	p.Unlock()
	answered := false
	defer func() {
		p.Lock()
		delete(p.waiting, call)
		if !answered {
			p.left[call] = true
		}
		p.Unlock()
	}()
	p.send(Frame{FrameCall, call, w.out})
	for {
		frame, why := p.wait(what.name, answers)
		if why != "" {
			return outcome{how: endRefused, why: why}
		}
		if frame.Kind == FrameCall {
			p.run(frame)
			continue
		}
		answered = true
		return p.read(frame, w.arrays, told, in, out)
	}
}

func (p *peer) read(frame Frame, arrays []*array, told []*variable, in, out []reflect.Value) (got outcome) {
	p.Lock()
	defer p.Unlock()
	r := &reader{h: p.h, in: frame.Data, arrays: append([]*array{}, arrays...)}
	problem := caught(func() {
		got.how = r.byte()
		switch got.how {
		case endReturned:
			r.all(in)
			r.contents(told)
			r.all(out)
			r.end()
		case endPanicked:
			r.all(in)
			r.contents(told)
			r.value(reflect.ValueOf(&got.value).Elem())
			r.end()
		case endLeft:
			r.end()
		case endRefused:
			got.why = "the code gave " + r.string()
		default:
			fail("an answer of no kind")
		}
	})
	if problem != "" {
		return outcome{how: endRefused, why: "the code gave " + problem}
	}
	return got
}

// deliver brings a frame to who waits for it. It says what is wrong with one that nobody can have asked for.
func (p *peer) deliver(frame Frame) string {
	p.Lock()
	call := frame.Call
	if frame.Kind == FrameCall {
		call = (&reader{in: frame.Data}).peek()
	}
	answers, wanted := p.waiting[call]
	if !wanted && frame.Kind == FrameCall {
		answers, wanted = p.latest()
	}
	late := p.left[call]
	delete(p.left, call)
	p.Unlock()
	switch {
	case wanted:
		select {
		case answers <- frame:
		default:
			if frame.Kind == FrameAnswer {
				return "a second answer to one call"
			}
			go func() { answers <- frame }()
		}
	case frame.Kind == FrameCall:
		go p.run(frame)
	case !late:
		return "an answer to a call that was never made"
	}
	return ""
}

// latest is the last call that somebody waits for: who was handed a function earlier calls it now.
func (p *peer) latest() (answers chan Frame, found bool) {
	last := uint64(0)
	for call, each := range p.waiting {
		if call >= last {
			last, answers, found = call, each, true
		}
	}
	return answers, found
}

func (r *reader) peek() (n uint64) {
	caught(func() { n = r.number() })
	return n
}

func (r *reader) all(values []reflect.Value) {
	for _, each := range values {
		r.value(each)
	}
}

func (w *writer) all(values []reflect.Value) {
	for _, each := range values {
		if !each.CanAddr() {
			each = copied(each)
		}
		w.value(each)
	}
}

// functions are those of the code, by name; the tests have none here.
var functions = map[string]reflect.Value{}

// run does what the other side asks for, and answers.
func (p *peer) run(frame Frame) {
	p.Lock()
	r := &reader{h: p.h, in: frame.Data, call: frame.Call, during: p.during}
	var name string
	var function reflect.Value
	var in []reflect.Value
	var told []*variable
	problem := caught(func() {
		r.number()
		name = r.string()
		function = p.find(target{name, r.number()})
		kind := function.Type()
		for at := 0; at < kind.NumIn(); at++ {
			in = append(in, reflect.New(kind.In(at)).Elem())
		}
		r.all(in)
		told = r.told()
		r.end()
	})
	p.Unlock()
	if problem != "" {
		p.refuse(frame.Call, problem)
		return
	}
	p.answer(running{frame.Call, name, function, in, told, r.arrays})
}

// running is a call that was read and is to be answered.
type running struct {
	call     uint64
	name     string
	function reflect.Value
	in       []reflect.Value
	told     []*variable
	arrays   []*array
}

func (p *peer) find(what target) reflect.Value {
	function, known := functions[what.name]
	if what.name == "" {
		function, known = p.h.byID[what.id]
	}
	if !known || function.Kind() != reflect.Func {
		fail("no function %q", what.name)
	}
	return function
}

func (p *peer) refuse(call uint64, why string) {
	w := &writer{}
	w.byte(endRefused)
	w.string(why)
	p.send(Frame{FrameAnswer, call, w.out})
}

func (p *peer) answer(c running) {
	var out []reflect.Value
	how := byte(endLeft)
	defer func() {
		var panicked interface{}
		if how == endLeft {
			if panicked = recover(); panicked != nil {
				how = endPanicked
			}
		}
		p.Lock()
		w := newWriter(p.h, c.arrays)
		problem := caught(func() {
			w.byte(how)
			if how != endLeft {
				w.all(c.in)
				w.contents(c.told)
			}
			if how == endPanicked {
				w.panicked(panicked)
			}
			w.inFull = c.name == "!error"
			w.all(out)
		})
		p.Unlock()
		if problem != "" {
			p.refuse(c.call, problem)
			return
		}
		p.send(Frame{FrameAnswer, c.call, w.out})
	}()
	given := append([]reflect.Value{}, c.in...)
	if c.function.Type().IsVariadic() {
		out = c.function.CallSlice(given)
	} else {
		out = c.function.Call(given)
	}
	how = endReturned
}

func (w *writer) panicked(value interface{}) {
	if crash, isCrash := value.(runtime.Error); isCrash {
		value = &Crash{crash.Error()}
	}
	mark := len(w.out)
	if caught(func() { w.value(reflect.ValueOf(&value).Elem()) }) != "" {
		value = fmt.Sprint(value)
		w.out = w.out[:mark]
		w.value(reflect.ValueOf(&value).Elem())
	}
}

// remote is a function of the other side as one of this side.
func (p *peer) remote(id uint64, kind reflect.Type) reflect.Value {
	return reflect.MakeFunc(kind, func(given []reflect.Value) []reflect.Value {
		in, out := make([]reflect.Value, len(given)), make([]reflect.Value, kind.NumOut())
		for at := range given {
			in[at] = copied(given[at])
		}
		for at := range out {
			out[at] = reflect.New(kind.Out(at)).Elem()
		}
		p.settle("a function value", p.ask(target{id: id}, in, out))
		return out
	})
}

func init() {
	Type("link.Crash", (*Crash)(nil))
}
