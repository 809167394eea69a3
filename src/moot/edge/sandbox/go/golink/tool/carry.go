package main

import (
	"fmt"
	"go/types"
	"strings"
)

// Packages whose types are plain data: the same bytes mean the same on both sides.
var plainPackages = map[string]bool{
	"bytes": true, "strings": true, "time": true, "math/big": true, "net/url": true, "encoding/json": true,
	"container/list": true, "container/ring": true, "image": true, "image/color": true, "sort": true, "strconv": true,
	"io/fs": true, "errors": true, "database/sql": true, "syscall": true, "net/http": true, "unicode": true,
	"encoding/base64": true, "encoding/hex": true, "math/bits": true, "slices": true, "maps": true, "cmp": true,
	"go/token": true, "text/scanner": true, "net/textproto": true, "encoding/csv": true, "time/tzdata": true,
}

// carrier decides what can be carried between the tests and the code.
type carrier struct {
	*view
	looked map[*types.TypeName]bool // structs of the code whose content the tests look at
	hidden map[*types.TypeName]bool // those that could only be seen behind an any, and cannot be shown
	closer bool                     // nothing is opaque, and what is no data does not pass for it
	needed *needed
}

// reason is why a value of this type cannot be carried, or nothing.
func (c *carrier) reason(t types.Type) string { return c.check(t, map[types.Type]bool{}) }

func (c *carrier) check(t types.Type, seen map[types.Type]bool) string {
	t = types.Unalias(t)
	if seen[t] {
		return ""
	}
	seen[t] = true
	if named, isNamed := t.(*types.Named); isNamed {
		return c.checkNamed(named, seen)
	}
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.UnsafePointer || t.Kind() == types.Invalid {
			return "a " + t.String()
		}
	case *types.Pointer:
		if c.isOpaque(t.Elem()) {
			return ""
		}
		return c.check(t.Elem(), seen)
	case *types.Slice:
		return c.check(t.Elem(), seen)
	case *types.Array:
		return c.check(t.Elem(), seen)
	case *types.Map:
		if why := c.check(t.Key(), seen); why != "" {
			return why
		}
		return c.check(t.Elem(), seen)
	case *types.Chan:
		return "a channel"
	case *types.Struct:
		for at := 0; at < t.NumFields(); at++ {
			// Of a channel inside something else it is carried whether there is one.
			if _, isChannel := t.Field(at).Type().Underlying().(*types.Chan); isChannel && !c.closer {
				continue
			}
			if why := c.check(t.Field(at).Type(), seen); why != "" {
				return why
			}
		}
	case *types.Signature:
		if why := c.checkTuple(t.Params(), seen); why != "" {
			return why
		}
		return c.checkTuple(t.Results(), seen)
	case *types.Interface:
		if t.NumMethods() > 0 && t.String() != "error" {
			return c.checkMethods(t)
		}
	case *types.TypeParam:
		return "a type that is not known yet"
	}
	return ""
}

func (c *carrier) checkTuple(t *types.Tuple, seen map[types.Type]bool) string {
	for at := 0; at < t.Len(); at++ {
		if why := c.check(t.At(at).Type(), seen); why != "" {
			return why
		}
	}
	return ""
}

func (c *carrier) checkNamed(named *types.Named, seen map[types.Type]bool) string {
	object := named.Obj()
	name := types.TypeString(named, shortName)
	switch {
	case object.Pkg() == nil: // error
		return ""
	case c.isTest(object):
		return "its own type " + name
	case c.isLocal(object):
		if under, isInterface := named.Underlying().(*types.Interface); isInterface {
			return c.checkMethods(under)
		}
		for at := 0; at < named.TypeArgs().Len(); at++ {
			if why := c.check(named.TypeArgs().At(at), seen); why != "" {
				return why
			}
		}
		return c.check(named.Underlying(), seen)
	case object.Pkg().Path() == "sync" && !c.closer:
		return "" // each side has its own
	case object.Pkg().Path() == "time" && (object.Name() == "Time" || object.Name() == "Location"):
		return ""
	case object.Pkg().Path() == "sync/atomic" && object.Name() != "Pointer" && object.Name() != "Value":
		return ""
	case !plainPackages[object.Pkg().Path()]:
		return "a " + name
	}
	if _, isInterface := named.Underlying().(*types.Interface); isInterface {
		return "a " + name
	}
	if why := c.check(named.Underlying(), seen); why != "" {
		return "a " + name
	}
	return ""
}

// checkMethods: a value behind an interface of the code can be one of the tests, if they have one that fits.
func (c *carrier) checkMethods(under *types.Interface) string {
	for _, each := range c.testTypes() {
		if types.Implements(each, under) || types.Implements(types.NewPointer(each), under) {
			return "its own type " + types.TypeString(each, shortName)
		}
	}
	return ""
}

func (c *carrier) testTypes() []types.Type {
	var found []types.Type
	for _, object := range c.info.Defs {
		name, isType := object.(*types.TypeName)
		if isType && !name.IsAlias() && c.isTest(name) && !types.IsInterface(name.Type()) {
			if named, ok := name.Type().(*types.Named); ok && named.TypeParams().Len() == 0 {
				found = append(found, named)
			}
		}
	}
	return found
}

// isLocal says whether something belongs to the module, code or not.
func (c *carrier) isLocal(object types.Object) bool {
	return object.Pkg() != nil && c.packs[object.Pkg().Path()] != nil
}

// isOpaque says whether pointers to this type are carried without what they point at.
func (c *carrier) isOpaque(t types.Type) bool {
	named, isNamed := types.Unalias(t).(*types.Named)
	if !isNamed || c.closer || !c.isCode(named.Obj()) {
		return false
	}
	_, isStruct := named.Underlying().(*types.Struct)
	return isStruct && !c.looked[named.Origin().Obj()]
}

// isOwn says whether it is a type of the code that stands in the way, and not what the tests do: the code could have
// been written in another way.
func (c *carrier) isOwn(t types.Type) bool {
	for {
		switch inner := types.Unalias(typeOr(t)).(type) {
		case *types.Pointer:
			t = inner.Elem()
		case *types.Slice:
			t = inner.Elem()
		case *types.Array:
			t = inner.Elem()
		case *types.Map:
			t = inner.Elem()
		case *types.Named:
			return c.isCode(inner.Obj()) && !types.IsInterface(inner)
		default:
			return false
		}
	}
}

// isDark says whether there is something in a type that cannot be carried, or that is not data: a lock, a channel.
func (c *carrier) isDark(t types.Type) bool {
	closer := &carrier{view: c.view, looked: c.looked, closer: true}
	return closer.reason(t) != ""
}

// given is why this value cannot be handed over as a parameter of that type.
func (c *carrier) given(value, as types.Type) string {
	if value == nil {
		return "something unknown"
	}
	if basic, isBasic := value.(*types.Basic); isBasic && basic.Kind() == types.UntypedNil {
		return ""
	}
	if !types.IsInterface(as) {
		return c.reason(as)
	}
	if types.IsInterface(value) {
		if isContext(value) {
			// Tests that make any other than the empty ones are found by that.
			c.needed.contexts = true
			return c.checkMethods(value.Underlying().(*types.Interface))
		}
		named, isNamed := types.Unalias(value).(*types.Named)
		if isNamed && !c.isLocal(named.Obj()) && named.Obj().Pkg() != nil {
			return "a " + types.TypeString(value, shortName)
		}
		return c.reason(value)
	}
	return c.reason(types.Default(value))
}

func isContext(t types.Type) bool {
	named, isNamed := types.Unalias(t).(*types.Named)
	return isNamed && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "context" && named.Obj().Name() == "Context"
}

func shortName(p *types.Package) string { return p.Name() }

// key is the name of a type on the link, as link.TypeName makes it.
func (c *carrier) key(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return types.Typ[t.Kind()].Name()
	case *types.Pointer:
		return "*" + c.key(t.Elem())
	case *types.Slice:
		return "[]" + c.key(t.Elem())
	case *types.Array:
		return fmt.Sprintf("[%d]%s", t.Len(), c.key(t.Elem()))
	case *types.Map:
		return "map[" + c.key(t.Key()) + "]" + c.key(t.Elem())
	case *types.Interface:
		if t.NumMethods() == 0 {
			return "any"
		}
	case *types.Named:
		if t.Obj().Pkg() == nil {
			return t.Obj().Name()
		}
		name := t.Obj().Pkg().Path() + "." + t.Obj().Name()
		if t.TypeArgs().Len() > 0 {
			var inner []string
			for at := 0; at < t.TypeArgs().Len(); at++ {
				inner = append(inner, c.key(t.TypeArgs().At(at)))
			}
			name += "[" + strings.Join(inner, ",") + "]"
		}
		return name
	}
	return ""
}
