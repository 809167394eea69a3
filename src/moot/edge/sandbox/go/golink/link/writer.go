package link

import (
	"encoding/binary"
	"math"
	"reflect"
	"time"
	"unsafe"
)

const (
	mostDeep   = 50_000
	mostArrays = 64 // beyond so many, only slices that begin at the same place are seen to share memory
)

// array is the memory of a slice. What both sides know as one stays one, within a call.
type array struct {
	slice reflect.Value
	sent  bool
}

type writer struct {
	h      *heap
	out    []byte
	sent   map[uint64]bool
	arrays []*array
	starts map[ref]int
	depth  int
	inFull bool // the next error is told in full, although it has a name
}

func newWriter(h *heap, arrays []*array) *writer {
	w := &writer{h: h, sent: map[uint64]bool{}, starts: map[ref]int{}}
	for _, each := range arrays {
		w.add(each.slice)
	}
	return w
}

func (w *writer) add(slice reflect.Value) {
	if slice.Len() > 0 {
		w.starts[ref{slice.UnsafePointer(), slice.Type().Elem()}] = len(w.arrays)
	}
	w.arrays = append(w.arrays, &array{slice: slice})
}

func (w *writer) byte(b byte)     { w.out = append(w.out, b) }
func (w *writer) number(n uint64) { w.out = binary.AppendUvarint(w.out, n) }
func (w *writer) signed(n int64)  { w.out = binary.AppendVarint(w.out, n) }
func (w *writer) string(s string) { w.number(uint64(len(s))); w.out = append(w.out, s...) }
func (w *writer) float(f float64) {
	w.out = binary.LittleEndian.AppendUint64(w.out, math.Float64bits(f))
}
func (w *writer) float32(f float32) {
	w.out = binary.LittleEndian.AppendUint32(w.out, math.Float32bits(f))
}

// value writes what a variable holds. Fields are read by their address, so unexported ones too.
func (w *writer) value(v reflect.Value) {
	if w.depth++; w.depth > mostDeep {
		fail("data that is more than %d levels deep", mostDeep)
	}
	defer func() { w.depth-- }()
	kind := v.Type()
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			w.byte(1)
		} else {
			w.byte(0)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.signed(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		w.number(v.Uint())
	case reflect.Float32:
		w.float32(*(*float32)(v.Addr().UnsafePointer()))
	case reflect.Float64:
		w.float(v.Float())
	case reflect.Complex64, reflect.Complex128:
		w.float(real(v.Complex()))
		w.float(imag(v.Complex()))
	case reflect.String:
		w.string(v.String())
	case reflect.Array:
		for at := 0; at < v.Len(); at++ {
			w.value(v.Index(at))
		}
	case reflect.Slice:
		w.slice(v)
	case reflect.Map:
		w.mapping(v)
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Struct:
		if kind == timeType {
			w.time(v.Addr().Interface().(*time.Time))
			return
		}
		for at := 0; at < v.NumField(); at++ {
			if isData(kind.Field(at)) {
				w.value(fieldOf(v, at))
			}
		}
	case reflect.Interface:
		w.behind(v)
	case reflect.Func:
		w.function(v)
	case reflect.Chan:
		// What goes through it cannot be carried; that there is one can.
		if v.IsNil() {
			w.byte(0)
		} else {
			w.byte(1)
		}
	default:
		fail("a %s, not plain data", kind)
	}
}

// isData is false for locks and the like: each side has its own.
func isData(field reflect.StructField) bool {
	kind := field.Type
	return field.Name != "_" && !(kind.Kind() == reflect.Struct && kind.PkgPath() == "sync")
}

func fieldOf(v reflect.Value, at int) reflect.Value {
	field := v.Field(at)
	// moot: ignore[go-unsafe] reads unexported fields of values under test; Go has no other way
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}

const (
	sliceNil = iota
	sliceNew
	sliceKnown
)

func (w *writer) slice(v reflect.Value) {
	if v.IsNil() {
		w.byte(sliceNil)
		return
	}
	if at, from := w.find(v); at >= 0 {
		w.byte(sliceKnown)
		w.number(uint64(at))
		w.number(uint64(from))
		w.number(uint64(v.Len()))
		if w.arrays[at].sent {
			w.byte(0)
			return
		}
		w.byte(1)
		w.arrays[at].sent = true
		w.elements(w.arrays[at].slice)
		return
	}
	w.byte(sliceNew)
	w.number(uint64(v.Len()))
	kept := reflect.New(v.Type()).Elem()
	kept.Set(v)
	w.add(kept)
	w.arrays[len(w.arrays)-1].sent = true
	w.elements(kept)
}

func (w *writer) elements(v reflect.Value) {
	if isNumber(v.Type().Elem()) {
		w.out = append(w.out, memoryOf(v)...)
		return
	}
	for at := 0; at < v.Len(); at++ {
		w.value(v.Index(at))
	}
}

// isNumber: any bytes of this type's size are a value of it, so many of them are carried as they lie in memory.
func isNumber(kind reflect.Type) bool {
	return kind.Kind() >= reflect.Int && kind.Kind() <= reflect.Complex128
}

func memoryOf(v reflect.Value) []byte {
	// moot: ignore[go-unsafe] compares where slices lie; nothing is read through it beyond the slice
	return unsafe.Slice((*byte)(v.UnsafePointer()), uintptr(v.Len())*v.Type().Elem().Size())
}

// find is the known array that this slice is a part of, and where the part begins.
func (w *writer) find(v reflect.Value) (int, int) {
	if v.Len() == 0 {
		return -1, 0
	}
	if at, known := w.starts[ref{v.UnsafePointer(), v.Type().Elem()}]; known {
		if whole := w.arrays[at].slice; whole.Type() == v.Type() && v.Len() <= whole.Len() {
			return at, 0
		}
	}
	size := v.Type().Elem().Size()
	for at, each := range w.arrays {
		if at >= mostArrays || size == 0 {
			break
		}
		whole := each.slice
		if whole.Type() != v.Type() || whole.Pointer() > v.Pointer() {
			continue
		}
		from := (v.Pointer() - whole.Pointer()) / size
		if (v.Pointer()-whole.Pointer())%size == 0 && int(from)+v.Len() <= whole.Len() {
			return at, int(from)
		}
	}
	return -1, 0
}

func (w *writer) mapping(v reflect.Value) {
	if v.IsNil() {
		w.number(0)
		return
	}
	id := w.h.id(v.UnsafePointer(), v)
	w.number(id + 1)
	if w.sent[id] {
		w.byte(0)
		return
	}
	w.sent[id] = true
	w.byte(1)
	w.number(uint64(v.Len()))
	for entries := v.MapRange(); entries.Next(); {
		w.value(copied(entries.Key()))
		w.value(copied(entries.Value()))
	}
}

// copied is a variable with this value: only those have addresses.
func copied(v reflect.Value) reflect.Value {
	into := reflect.New(v.Type()).Elem()
	into.Set(v)
	return into
}

func (w *writer) pointer(v reflect.Value) {
	if v.IsNil() {
		w.number(0)
		return
	}
	id := w.h.id(v.UnsafePointer(), v)
	w.number(id + 1)
	if opaque[v.Type().Elem()] {
		w.sendOpaque(id, v)
		return
	}
	if w.sent[id] {
		w.byte(0)
		return
	}
	w.sent[id] = true
	w.byte(1)
	if v.Type().Elem() == locationType {
		place := v.Interface().(*time.Location)
		w.string(place.String())
		_, offset := time.Unix(0, 0).In(place).Zone()
		w.signed(int64(offset))
		return
	}
	w.value(v.Elem())
}

// sendOpaque checks that the other side still has what this number stands for.
func (w *writer) sendOpaque(id uint64, v reflect.Value) {
	if lost != nil && lost(v) {
		fail("an object that was lost when the process of the code ended")
	}
}

// lost is set on the side of the tests.
var lost func(v reflect.Value) bool

func (w *writer) time(at *time.Time) {
	// What the clock of this process said as well means nothing in another.
	w.signed(at.Unix())
	w.number(uint64(at.Nanosecond()))
	place := at.Location()
	switch place {
	case time.UTC:
		w.byte(0)
	case time.Local:
		w.byte(1)
	default:
		w.byte(2)
		w.pointer(copied(reflect.ValueOf(place)))
		_, offset := at.Zone()
		w.signed(int64(offset))
	}
}

const (
	behindNil = iota
	behindSentinel
	behindValue
	behindError
	behindConstant
)

func (w *writer) behind(v reflect.Value) {
	if v.IsNil() {
		w.byte(behindNil)
		return
	}
	inner := v.Elem()
	err, isError := inner.Interface().(error)
	if isError && !w.inFull {
		if name, known := sentinelOf(err); known {
			w.byte(behindSentinel)
			w.string(name)
			return
		}
	}
	for name, value := range constants {
		if inner.Comparable() && inner.Interface() == value {
			w.byte(behindConstant)
			w.string(name)
			return
		}
	}
	w.inFull = false
	name := ""
	unknown := caught(func() { name = typeName(inner.Type()) })
	if unknown == "" {
		w.byte(behindValue)
		w.string(name)
		w.value(copied(inner))
		return
	}
	if !isError {
		fail("%s", unknown)
	}
	w.byte(behindError)
	w.error(err)
}

func (w *writer) function(v reflect.Value) {
	if v.IsNil() {
		w.number(0)
		return
	}
	// A function value is a pointer to its closure.
	closure := *(*unsafe.Pointer)(v.Addr().UnsafePointer())
	w.number(w.h.id(closure, v) + 1)
}
