// Package link carries calls and plain data between Go tests and the code they test. Each side has a copy of its own
// of every value: what comes from the other side is decoded by the declared types, and is never trusted.
package link

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// heap knows which value here is which value on the other side.
type heap struct {
	next  uint64 // the tests give even numbers, the code odd ones
	byID  map[uint64]reflect.Value
	byRef map[ref]uint64
	// call makes a function of the other side callable here.
	call func(id uint64, kind reflect.Type) reflect.Value
}

// ref is a pointer, a map or a function. A struct and its first field have the same address, so the type counts too.
type ref struct {
	at   unsafe.Pointer
	kind reflect.Type
}

func newHeap(first uint64) *heap {
	return &heap{next: first, byID: map[uint64]reflect.Value{}, byRef: map[ref]uint64{}}
}

func (h *heap) id(at unsafe.Pointer, v reflect.Value) uint64 {
	key := ref{at, v.Type()}
	id, known := h.byRef[key]
	if !known {
		id = h.next
		h.next += 2
		h.keep(id, key, v)
	}
	return id
}

func (h *heap) keep(id uint64, key ref, v reflect.Value) {
	// A copy of the reference itself: the variable it came from may be changed.
	kept := reflect.New(v.Type()).Elem()
	kept.Set(v)
	h.byID[id], h.byRef[key] = kept, id
}

// known is the value of this number, if it has one; numbers of this side are never made up by the other.
func (h *heap) known(id uint64, kind reflect.Type) (reflect.Value, bool) {
	v, known := h.byID[id]
	if known && v.Type() != kind {
		fail("a %s where a %s belongs", v.Type(), kind)
	}
	if !known && id%2 == h.next%2 {
		fail("an object that was never handed over")
	}
	return v, known
}

// badData says why a value cannot be carried, or why what was received is none.
type badData struct{ text string }

func fail(format string, words ...interface{}) {
	panic(badData{fmt.Sprintf(format, words...)})
}

// caught runs a function and gives back the badData it ended with. Nonsense from the other side may make reflect panic.
func caught(do func()) (problem string) {
	defer func() {
		if r := recover(); r != nil {
			if bad, ours := r.(badData); ours {
				problem = bad.text
			} else {
				problem = fmt.Sprint(r)
			}
		}
	}()
	do()
	return ""
}

var (
	types     = map[string]reflect.Type{}
	names     = map[reflect.Type]string{}
	opaque    = map[reflect.Type]bool{}
	hidden    = map[reflect.Type]bool{}
	sentinels = map[string]*error{}
	constants = map[string]interface{}{}

	anyType      = reflect.TypeOf((*interface{})(nil)).Elem()
	errorType    = reflect.TypeOf((*error)(nil)).Elem()
	timeType     = reflect.TypeOf(time.Time{})
	locationType = reflect.TypeOf(time.Location{})
)

// Type names a type, given by a pointer to it, for values behind interfaces.
func Type(name string, pointer interface{}) int {
	kind := reflect.TypeOf(pointer).Elem()
	types[name], names[kind] = kind, name
	return 0
}

// Opaque is for types that the tests never look into: pointers to them are carried as a number, without content.
func Opaque(name string, pointer interface{}) int {
	Type(name, pointer)
	opaque[reflect.TypeOf(pointer).Elem()] = true
	return 0
}

// Hidden is for opaque types in tests that print or compare whatever is behind an any: such a value would look like any
// other one of its type.
func Hidden(pointer interface{}) int {
	hidden[reflect.TypeOf(pointer)] = true
	return 0
}

// Sentinel names a variable that holds an error; it is the same error on both sides.
func Sentinel(name string, at *error) int {
	sentinels[name] = at
	return 0
}

// Value names a value that each side has of its own.
func Value(name string, value interface{}) int {
	constants[name] = value
	return 0
}

func init() {
	for _, each := range []interface{}{
		new(bool), new(string), new(int), new(int8), new(int16), new(int32), new(int64),
		new(uint), new(uint8), new(uint16), new(uint32), new(uint64), new(uintptr),
		new(float32), new(float64), new(complex64), new(complex128),
	} {
		Type(reflect.TypeOf(each).Elem().String(), each)
	}
	Type("any", (*interface{})(nil))
	Type("error", (*error)(nil))
	Type("time.Time", (*time.Time)(nil))
	Type("time.Duration", (*time.Duration)(nil))
	Type("time.Location", (*time.Location)(nil))
}

// typeName is the name by which both sides know a type; composed ones need no registration.
func typeName(kind reflect.Type) string {
	if name, known := names[kind]; known {
		return name
	}
	if kind.Name() == "" {
		switch kind.Kind() {
		case reflect.Pointer:
			return "*" + typeName(kind.Elem())
		case reflect.Slice:
			return "[]" + typeName(kind.Elem())
		case reflect.Array:
			return fmt.Sprintf("[%d]%s", kind.Len(), typeName(kind.Elem()))
		case reflect.Map:
			return "map[" + typeName(kind.Key()) + "]" + typeName(kind.Elem())
		case reflect.Struct:
			if kind.NumField() == 0 {
				return "struct{}"
			}
		}
	}
	fail("a %s, not plain data", kind)
	return ""
}

const mostOfType = 1 << 16

// typeOf reads such a name and gives the rest that it did not use.
func typeOf(name string, depth int) (reflect.Type, string) {
	if depth > 32 {
		fail("a type that is too deep")
	}
	switch {
	case strings.HasPrefix(name, "*"):
		elem, rest := typeOf(name[1:], depth+1)
		return reflect.PointerTo(elem), rest
	case strings.HasPrefix(name, "[]"):
		elem, rest := typeOf(name[2:], depth+1)
		return reflect.SliceOf(elem), rest
	case strings.HasPrefix(name, "struct{}"):
		return reflect.TypeOf(struct{}{}), name[len("struct{}"):]
	case strings.HasPrefix(name, "map["):
		key, rest := typeOf(name[4:], depth+1)
		if !strings.HasPrefix(rest, "]") || !key.Comparable() {
			fail("no type: %q", name)
		}
		elem, rest := typeOf(rest[1:], depth+1)
		return reflect.MapOf(key, elem), rest
	case strings.HasPrefix(name, "["):
		size, at := 0, 1
		for ; at < len(name) && name[at] >= '0' && name[at] <= '9' && size < mostOfType; at++ {
			size = size*10 + int(name[at]-'0')
		}
		if at == 1 || at == len(name) || name[at] != ']' {
			fail("no type: %q", name)
		}
		elem, rest := typeOf(name[at+1:], depth+1)
		if uintptr(size)*elem.Size() > mostOfType {
			fail("a type that is too large")
		}
		return reflect.ArrayOf(size, elem), rest
	}
	// The longest name that fits: generic types have others inside their brackets.
	for end := len(name); end > 0; end-- {
		if kind, known := types[name[:end]]; known && (end == len(name) || name[end] == ']') {
			return kind, name[end:]
		}
	}
	fail("a type that nobody declared: %q", name)
	return nil, ""
}

// TypeName is for generic functions: which of their instances is called.
func TypeName(pointer interface{}) (name string) {
	kind := reflect.TypeOf(pointer).Elem()
	if caught(func() { name = typeName(kind) }) != "" {
		return kind.String()
	}
	return name
}
