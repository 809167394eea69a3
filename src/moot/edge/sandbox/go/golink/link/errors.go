package link

import "reflect"

// Error stands for an error of the other side whose type only that side has: its text, and the errors it wraps.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// Wrapped wraps one error.
type Wrapped struct {
	Error_ Error
	inner  error
}

func (e *Wrapped) Error() string { return e.Error_.text }
func (e *Wrapped) Unwrap() error { return e.inner }

// Joined wraps several.
type Joined struct {
	Error_ Error
	inner  []error
}

func (e *Joined) Error() string   { return e.Error_.text }
func (e *Joined) Unwrap() []error { return e.inner }

// Crash is an error of Go's runtime that happened on the other side.
type Crash struct{ text string }

func (e *Crash) Error() string { return e.text }
func (e *Crash) RuntimeError() {}

const (
	plainError = iota
	wrappedError
	joinedError
)

func isForeign(v reflect.Value) bool {
	switch v.Interface().(type) {
	case *Error, *Wrapped, *Joined:
		return true
	}
	return false
}

// sentinelOf is the name of the variable that holds this error.
func sentinelOf(err error) (string, bool) {
	if !reflect.TypeOf(err).Comparable() {
		return "", false
	}
	found := ""
	for name, at := range sentinels {
		held := *at
		// The first name in order, so that two names of one error do not differ from call to call.
		if held != nil && reflect.TypeOf(held) == reflect.TypeOf(err) && held == err && (found == "" || name < found) {
			found = name
		}
	}
	return found, found != ""
}

func (w *writer) error(err error) {
	v := reflect.ValueOf(err)
	id := w.h.next
	if v.Kind() == reflect.Pointer {
		id = w.h.id(v.UnsafePointer(), v)
	} else {
		w.h.next += 2
	}
	w.number(id)
	if w.sent[id] || isForeign(v) && id%2 != w.h.next%2 {
		w.byte(0)
		return
	}
	w.sent[id] = true
	w.byte(1)
	w.string(err.Error())
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		w.byte(wrappedError)
		inner := err.Unwrap()
		w.value(reflect.ValueOf(&inner).Elem())
	case interface{ Unwrap() []error }:
		w.byte(joinedError)
		inner := err.Unwrap()
		w.number(uint64(len(inner)))
		for at := range inner {
			w.value(reflect.ValueOf(&inner[at]).Elem())
		}
	default:
		w.byte(plainError)
	}
}

func (r *reader) error() error {
	id := r.number()
	known, isKnown := r.h.byID[id]
	if r.byte() == 0 {
		err, isError := error(nil), false
		if isKnown {
			err, isError = known.Interface().(error)
		}
		if !isError {
			fail("an error that was never handed over")
		}
		return err
	}
	text := r.string()
	inner := []error{}
	how := r.byte()
	switch how {
	case plainError:
	case wrappedError:
		inner = append(inner, nil)
		r.value(reflect.ValueOf(&inner[0]).Elem())
	case joinedError:
		for n := r.length(1); n > 0; n-- {
			inner = append(inner, nil)
			r.value(reflect.ValueOf(&inner[len(inner)-1]).Elem())
		}
	default:
		fail("an error of no kind")
	}
	if isKnown {
		err, isError := known.Interface().(error)
		if !isError {
			fail("an error that is none")
		}
		return err
	}
	if id%2 == r.h.next%2 {
		fail("an error that was never handed over")
	}
	err := remake(how, text, inner)
	v := reflect.ValueOf(err)
	r.h.keep(id, ref{v.UnsafePointer(), v.Type()}, v)
	return err
}

func remake(how byte, text string, inner []error) error {
	switch how {
	case wrappedError:
		return &Wrapped{Error{text}, inner[0]}
	case joinedError:
		return &Joined{Error{text}, inner}
	}
	return &Error{text}
}
