package link

import (
	"encoding/binary"
	"math"
	"reflect"
	"time"
	"unsafe"
)

const mostEmpty = 1 << 24 // elements without size, as in []struct{}

// reader takes nothing for granted: every length is checked against what is left, every number against its type.
type reader struct {
	h      *heap
	in     []byte
	arrays []*array
	depth  int
	// The call that is read: functions which come with it are called back while it runs.
	call   uint64
	during map[uint64]uint64
}

func (r *reader) take(n uint64) []byte {
	if n > uint64(len(r.in)) {
		fail("data that is cut off")
	}
	taken := r.in[:n]
	r.in = r.in[n:]
	return taken
}

func (r *reader) byte() byte { return r.take(1)[0] }

func (r *reader) number() uint64 {
	n, used := binary.Uvarint(r.in)
	if used <= 0 {
		fail("data that is cut off")
	}
	r.in = r.in[used:]
	return n
}

func (r *reader) signed() int64 {
	n, used := binary.Varint(r.in)
	if used <= 0 {
		fail("data that is cut off")
	}
	r.in = r.in[used:]
	return n
}

func (r *reader) string() string { return string(r.take(r.number())) }

func (r *reader) flag() bool {
	b := r.byte()
	if b > 1 {
		fail("a flag that is neither set nor clear")
	}
	return b == 1
}

func (r *reader) float() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(r.take(8))) }

// length is a number of things of which each takes at least so many bytes.
func (r *reader) length(least uint64) int {
	n := r.number()
	if least > 0 && n > uint64(len(r.in))/least || n > mostEmpty && least == 0 {
		fail("data that is cut off")
	}
	return int(n)
}

func (r *reader) end() {
	if len(r.in) > 0 {
		fail("%d bytes too many", len(r.in))
	}
}

// value reads into a variable, in place: what was handed over by reference is changed where it lies.
func (r *reader) value(v reflect.Value) {
	if r.depth++; r.depth > mostDeep+100 {
		fail("data that is too deep")
	}
	defer func() { r.depth-- }()
	kind := v.Type()
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.flag())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := r.signed()
		if v.OverflowInt(n) {
			fail("%d where a %s belongs", n, kind)
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n := r.number()
		if v.OverflowUint(n) {
			fail("%d where a %s belongs", n, kind)
		}
		v.SetUint(n)
	case reflect.Float32:
		*(*uint32)(v.Addr().UnsafePointer()) = binary.LittleEndian.Uint32(r.take(4))
	case reflect.Float64:
		v.SetFloat(r.float())
	case reflect.Complex64, reflect.Complex128:
		re := r.float()
		v.SetComplex(complex(re, r.float()))
	case reflect.String:
		v.SetString(r.string())
	case reflect.Array:
		for at := 0; at < v.Len(); at++ {
			r.value(v.Index(at))
		}
	case reflect.Slice:
		r.slice(v)
	case reflect.Map:
		r.mapping(v)
	case reflect.Pointer:
		r.pointer(v)
	case reflect.Struct:
		if kind == timeType {
			*v.Addr().Interface().(*time.Time) = r.time()
			return
		}
		for at := 0; at < v.NumField(); at++ {
			if isData(kind.Field(at)) {
				r.value(fieldOf(v, at))
			}
		}
	case reflect.Interface:
		r.behind(v)
	case reflect.Func:
		r.function(v)
	case reflect.Chan:
		if !r.flag() {
			v.SetZero()
		} else if v.IsNil() {
			v.Set(reflect.MakeChan(reflect.ChanOf(reflect.BothDir, kind.Elem()), 0).Convert(kind))
		}
	default:
		fail("a %s, not plain data", kind)
	}
}

// leastSize is how few bytes a value of this type can take.
func leastSize(kind reflect.Type, depth int) uint64 {
	switch kind.Kind() {
	case reflect.Struct:
		if kind == timeType {
			return 3
		}
		sum := uint64(0)
		for at := 0; at < kind.NumField() && depth < 8; at++ {
			if isData(kind.Field(at)) {
				sum += leastSize(kind.Field(at).Type, depth+1)
			}
		}
		return sum
	case reflect.Array:
		return uint64(kind.Len()) * leastSize(kind.Elem(), depth+1)
	}
	return 1
}

func (r *reader) slice(v reflect.Value) {
	switch r.byte() {
	case sliceNil:
		v.SetZero()
	case sliceNew:
		least := leastSize(v.Type().Elem(), 0)
		if isNumber(v.Type().Elem()) {
			least = uint64(v.Type().Elem().Size())
		}
		n := r.length(least)
		into := reflect.MakeSlice(v.Type(), n, n)
		r.arrays = append(r.arrays, &array{slice: into})
		r.elements(into)
		v.Set(into)
	case sliceKnown:
		at, from, n := r.number(), r.number(), r.number()
		if at >= uint64(len(r.arrays)) {
			fail("an array that was never handed over")
		}
		whole := r.arrays[at].slice
		if whole.Type() != v.Type() || from > uint64(whole.Len()) || n > uint64(whole.Len())-from {
			fail("a part of an array that is none")
		}
		if r.flag() {
			r.elements(whole)
		}
		v.Set(whole.Slice(int(from), int(from+n)))
	default:
		fail("a slice of no kind")
	}
}

func (r *reader) elements(v reflect.Value) {
	if isNumber(v.Type().Elem()) {
		memory := memoryOf(v)
		copy(memory, r.take(uint64(len(memory))))
		return
	}
	for at := 0; at < v.Len(); at++ {
		r.value(v.Index(at))
	}
}

func (r *reader) mapping(v reflect.Value) {
	id := r.number()
	if id == 0 {
		v.SetZero()
		return
	}
	id--
	into, known := r.h.known(id, v.Type())
	if !known {
		into = reflect.MakeMap(v.Type())
		r.h.keep(id, ref{into.UnsafePointer(), v.Type()}, into)
	}
	v.Set(into)
	if !r.flag() {
		return
	}
	n := r.length(leastSize(v.Type().Key(), 0) + leastSize(v.Type().Elem(), 0))
	into.Clear()
	for left := n; left > 0; left-- {
		key, held := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		r.value(key)
		r.value(held)
		if key.Kind() == reflect.Interface && !key.IsNil() && !key.Elem().Comparable() {
			fail("a key that cannot be one")
		}
		into.SetMapIndex(key, held)
	}
	if into.Len() != n {
		fail("a key twice")
	}
}

func (r *reader) pointer(v reflect.Value) {
	id := r.number()
	if id == 0 {
		v.SetZero()
		return
	}
	id--
	kind := v.Type().Elem()
	into, known := r.h.known(id, v.Type())
	if kind == locationType {
		r.location(id, v, into, known)
		return
	}
	if !known {
		into = reflect.New(kind).Convert(v.Type())
		r.h.keep(id, ref{into.UnsafePointer(), v.Type()}, into)
	}
	v.Set(into)
	if !opaque[kind] && r.flag() {
		r.value(into.Elem())
	}
}

func (r *reader) location(id uint64, v, into reflect.Value, known bool) {
	if r.flag() {
		name, offset := r.string(), r.signed()
		if !known {
			into = reflect.ValueOf(place(name, int(offset)))
			r.h.keep(id, ref{into.UnsafePointer(), v.Type()}, into)
			known = true
		}
	}
	if !known {
		fail("a place that was never handed over")
	}
	v.Set(into)
}

func place(name string, offset int) *time.Location {
	if name == "UTC" && offset == 0 {
		return time.UTC
	}
	if found, err := time.LoadLocation(name); err == nil && name != "" && name != "Local" {
		if _, there := time.Unix(0, 0).In(found).Zone(); there == offset {
			return found
		}
	}
	return time.FixedZone(name, offset)
}

func (r *reader) time() time.Time {
	seconds, rest := r.signed(), r.number()
	if rest >= 1e9 {
		fail("a time that is none")
	}
	at := time.Unix(seconds, int64(rest))
	switch r.byte() {
	case 0:
		return at.UTC()
	case 1:
		return at.Local()
	case 2:
		var where *time.Location
		r.pointer(reflect.ValueOf(&where).Elem())
		r.signed()
		if where != nil {
			return at.In(where)
		}
	}
	fail("a time that is none")
	return at
}

func (r *reader) behind(v reflect.Value) {
	switch r.byte() {
	case behindNil:
		v.SetZero()
	case behindSentinel:
		at, known := sentinels[r.string()]
		if !known || *at == nil {
			fail("an error that nobody declared")
		}
		put(v, reflect.ValueOf(*at))
	case behindValue:
		kind, rest := typeOf(r.string(), 0)
		if rest != "" || kind.Kind() == reflect.Interface {
			fail("a value of no type")
		}
		if hidden[kind] && v.NumMethod() == 0 {
			fail("a %s, which cannot be shown to the test", kind)
		}
		inner := reflect.New(kind).Elem()
		r.value(inner)
		put(v, inner)
	case behindConstant:
		value, known := constants[r.string()]
		if !known {
			fail("a value that nobody declared")
		}
		put(v, reflect.ValueOf(value))
	case behindError:
		put(v, reflect.ValueOf(r.error()))
	default:
		fail("a value of no kind")
	}
}

func put(v, inner reflect.Value) {
	if !inner.Type().AssignableTo(v.Type()) {
		fail("a %s where a %s belongs", inner.Type(), v.Type())
	}
	v.Set(inner)
}

func (r *reader) function(v reflect.Value) {
	id := r.number()
	if id == 0 {
		v.SetZero()
		return
	}
	id--
	into, known := r.h.known(id, v.Type())
	if !known {
		into = copied(r.h.call(id, v.Type()))
		r.h.keep(id, ref{*(*unsafe.Pointer)(into.Addr().UnsafePointer()), v.Type()}, into)
	}
	if r.during != nil && id%2 != r.h.next%2 {
		r.during[id] = r.call
	}
	v.Set(into)
}
