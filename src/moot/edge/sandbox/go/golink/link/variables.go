package link

import "reflect"

// variable is one of a package's own: the code has it, the tests have its image.
type variable struct {
	name  string
	at    reflect.Value
	unset bool // the tests do not know yet what it holds
}

var (
	images    []*variable                  // on the side of the tests
	variables = map[string]reflect.Value{} // on the side of the code
)

// tell writes the images with a call of the tests; a call of the code has none.
func (w *writer) tell(told []*variable) {
	w.number(uint64(len(told)))
	for _, each := range told {
		w.string(each.name)
		w.number(w.h.id(each.at.UnsafePointer(), each.at))
		if each.unset {
			w.byte(0)
		} else {
			w.byte(1)
			w.contents([]*variable{each})
		}
	}
}

func (r *reader) told() (told []*variable) {
	for n := r.length(1); n > 0; n-- {
		name, id := r.string(), r.number()
		at, isKnown := variables[name]
		if !isKnown {
			fail("no variable %q", name)
		}
		if _, bound := r.h.known(id, at.Type()); !bound {
			r.h.keep(id, ref{at.UnsafePointer(), at.Type()}, at)
		}
		each := &variable{name: name, at: at}
		if r.flag() {
			r.contents([]*variable{each})
		}
		told = append(told, each)
	}
	return told
}

// contents go back with the answer.
func (w *writer) contents(told []*variable) {
	for _, each := range told {
		if !opaque[each.at.Type().Elem()] {
			w.value(each.at.Elem())
		}
	}
}

func (r *reader) contents(told []*variable) {
	for _, each := range told {
		if !opaque[each.at.Type().Elem()] {
			r.value(each.at.Elem())
		}
		each.unset = false
	}
}
