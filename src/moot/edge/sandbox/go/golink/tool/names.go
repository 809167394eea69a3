package main

import (
	"fmt"
	"go/types"
	"path"
	"sort"
	"strconv"
	"strings"
)

// text is a generated file: lines that stand once, and what they import.
type text struct {
	lines   []string
	have    map[string]bool
	imports map[string]string
}

func newText() *text { return &text{have: map[string]bool{}, imports: map[string]string{}} }

func (t *text) add(format string, words ...interface{}) {
	line := fmt.Sprintf(format, words...)
	if !t.have[line] {
		t.have[line] = true
		t.lines = append(t.lines, line)
	}
}

// name is how this file calls a package.
func (t *text) name(importPath string) string {
	alias := "moot_" + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, importPath)
	t.imports[importPath] = alias
	return alias
}

// of writes a type as this file, which belongs to a package, has to.
func (t *text) of(kind types.Type, home string) string {
	return types.TypeString(kind, func(p *types.Package) string {
		if p.Path() == home {
			return ""
		}
		return t.name(p.Path())
	})
}

func (t *text) head(packageName string) string {
	out := "package " + packageName + "\n\nimport moot_link \"moot.invalid/link\"\n"
	for _, each := range sortedKeys(t.imports) {
		out += fmt.Sprintf("import %s %q\n", t.imports[each], each)
	}
	return out + "\nvar _ = moot_link.Type\n"
}

func sortedKeys[V any](all map[string]V) []string {
	keys := make([]string, 0, len(all))
	for each := range all {
		keys = append(keys, each)
	}
	sort.Strings(keys)
	return keys
}

// instanceOf is a generic function of the code with the types that the tests use it with.
type instanceOf struct {
	function *types.Func
	with     *types.TypeList
}

// needed is what the tests use besides functions.
type needed struct {
	variables map[*types.Var]bool
	functions []instanceOf
	standard  map[string]bool // errors of the standard library
	types     map[string]bool // its types
	contexts  bool
}

// sides is the generated files of both sides, by package; mains by the package whose tests they serve.
type sides struct {
	judge, worker, mains map[string]*text
}

func get(all map[string]*text, key string) *text {
	if all[key] == nil {
		all[key] = newText()
	}
	return all[key]
}

// both adds a line that names something on both sides.
func (s *sides) both(home string, line func(t *text) string) {
	judge, worker := get(s.judge, home), get(s.worker, home)
	judge.add("var _ = moot_link.%s", line(judge))
	worker.add("moot_link.%s", line(worker))
}

// nameAll writes the names of all that may cross the link in this view.
func (j *judge) nameAll(s *sides) {
	main := get(s.mains, j.under.path)
	for name := range j.done {
		if p := j.packs[name]; p != nil && p.code && len(p.files) > 0 {
			j.namePackage(s, p)
			if p.name() != "main" {
				main.imports[p.path] = "_"
			}
		}
	}
	tests := get(s.judge, j.under.path)
	for _, full := range sortedKeys(j.needed.types) {
		home, name := path.Split(full)
		home += name[:strings.LastIndex(name, ".")]
		name = name[strings.LastIndex(name, ".")+1:]
		tests.add("var _ = moot_link.Type(%q, (*%s.%s)(nil))", full, tests.name(home), name)
		main.add("moot_link.Type(%q, (*%s.%s)(nil))", full, main.name(home), name)
	}
	for _, full := range sortedKeys(j.needed.standard) {
		at := strings.LastIndex(full, ".")
		tests.add("var _ = moot_link.Sentinel(%q, &%s.%s)", full, tests.name(full[:at]), full[at+1:])
		main.add("moot_link.Sentinel(%q, &%s.%s)", full, main.name(full[:at]), full[at+1:])
	}
	if j.needed.contexts {
		for _, name := range []string{"Background", "TODO"} {
			tests.add("var _ = moot_link.Value(%q, %s.%s())", "context."+name, tests.name("context"), name)
			main.add("moot_link.Value(%q, %s.%s())", "context."+name, main.name("context"), name)
		}
	}
	j.nameInstances(s)
}

// namePackage names the types and functions of a package of the code; the tests' side has stubs for the latter.
func (j *judge) namePackage(s *sides, p *pack) {
	scope := j.done[p.path].Scope()
	worker := get(s.worker, p.path)
	for _, name := range scope.Names() {
		object := scope.Lookup(name)
		if !j.isCode(object) || name == "_" {
			continue
		}
		switch object := object.(type) {
		case *types.Func:
			if object.Type().(*types.Signature).TypeParams().Len() == 0 {
				worker.add("moot_link.Function(%q, %s)", p.path+"."+name, renamed(p, name))
			}
		case *types.TypeName:
			named, isNamed := object.Type().(*types.Named)
			if isNamed && !object.IsAlias() && !types.IsInterface(named) && named.TypeParams().Len() == 0 {
				j.nameType(s, p.path, named)
			}
		}
	}
	var variables []*types.Var
	for each := range j.needed.variables {
		if each.Pkg().Path() == p.path {
			variables = append(variables, each)
		}
	}
	sort.Slice(variables, func(a, b int) bool { return variables[a].Name() < variables[b].Name() })
	j.nameVariables(s, p, variables)
}

// renamed: the program that runs the code has a main function of its own.
func renamed(p *pack, name string) string {
	if name == "main" && p.name() == "main" {
		return "moot_main"
	}
	return name
}

func (j *judge) nameVariables(s *sides, p *pack, variables []*types.Var) {
	judge, worker := get(s.judge, p.path), get(s.worker, p.path)
	for _, isError := range []bool{true, false} {
		for _, each := range variables {
			full := p.path + "." + each.Name()
			if isError != (types.TypeString(each.Type(), nil) == "error") {
				continue
			}
			judge.add("var %s %s", each.Name(), judge.of(each.Type(), p.path))
			if isError {
				judge.add("var _ = moot_link.Known(%q, &%s)", full, each.Name())
				worker.add("moot_link.Sentinel(%q, &%s)", full, each.Name())
			} else {
				judge.add("var _ = moot_link.Seen(%q, &%s)", full, each.Name())
				worker.add("moot_link.Variable(%q, &%s)", full, each.Name())
			}
		}
	}
}

func (j *judge) nameType(s *sides, home string, named *types.Named) {
	how := "Type"
	if j.isOpaque(named) {
		how = "Opaque"
	}
	key := j.key(named)
	s.both(home, func(t *text) string { return fmt.Sprintf("%s(%q, (*%s)(nil))", how, key, t.of(named, home)) })
	if how == "Opaque" && j.hidden[named.Origin().Obj()] {
		get(s.judge, home).add("var _ = moot_link.Hidden((*%s)(nil))", get(s.judge, home).of(named, home))
	}
	worker := get(s.worker, home)
	for _, each := range j.methods(named) {
		receiver := worker.of(named, home)
		if each.pointer {
			receiver = "(*" + receiver + ")"
		}
		worker.add("moot_link.Function(%q, %s.%s)", key+"."+each.name, receiver, each.name)
	}
}

// method is one that a type of the code has, of its own or from what it embeds.
type method struct {
	name    string
	pointer bool // only its pointer has it
	own     bool
	as      *types.Signature
}

func (j *judge) methods(named *types.Named) []method {
	var found []method
	onValue := map[string]bool{}
	values := types.NewMethodSet(named)
	for at := 0; at < values.Len(); at++ {
		onValue[values.At(at).Obj().Name()] = true
	}
	all := types.NewMethodSet(types.NewPointer(named))
	for at := 0; at < all.Len(); at++ {
		function, isFunction := all.At(at).Obj().(*types.Func)
		signature, _ := all.At(at).Type().(*types.Signature)
		// What is embedded as an interface is behind it whatever it is.
		if !isFunction || signature == nil || !j.isCode(function) || types.IsInterface(function.Type().(*types.Signature).Recv().Type()) {
			continue
		}
		own := len(all.At(at).Index()) == 1
		if !own && function.Pkg().Path() != named.Obj().Pkg().Path() && !function.Exported() {
			continue
		}
		found = append(found, method{function.Name(), !onValue[function.Name()], own, signature})
	}
	return found
}

// nameInstances names the instances of generic functions and types that the tests use.
func (j *judge) nameInstances(s *sides) {
	for _, each := range j.needed.functions {
		var keys []string
		foreign := false
		for at := 0; at < each.with.Len(); at++ {
			keys = append(keys, j.key(each.with.At(at)))
			foreign = foreign || j.isForeign(each.with.At(at), each.function.Pkg().Path())
			j.nameInside(s, each.with.At(at), map[types.Type]bool{})
		}
		home, into := each.function.Pkg().Path(), get(s.worker, each.function.Pkg().Path())
		name := each.function.Name()
		if foreign {
			home, into = "", get(s.mains, j.under.path)
			name = into.name(each.function.Pkg().Path()) + "." + name
		}
		var with []string
		for at := 0; at < each.with.Len(); at++ {
			with = append(with, into.of(each.with.At(at), home))
		}
		key := each.function.Pkg().Path() + "." + each.function.Name() + "[" + strings.Join(keys, ",") + "]"
		into.add("moot_link.Function(%s, %s[%s])", strconv.Quote(key), name, strings.Join(with, ", "))
	}
	seen := map[types.Type]bool{}
	for expr, known := range j.info.Types {
		if strings.HasSuffix(j.set.Position(expr.Pos()).Filename, "_test.go") {
			j.nameInside(s, known.Type, seen)
		}
	}
}

// isForeign: a type of another package of the module, which the package of the code may not import.
func (j *judge) isForeign(t types.Type, home string) bool {
	found := false
	types.TypeString(t, func(p *types.Package) string {
		found = found || p.Path() != home && j.packs[p.Path()] != nil
		return ""
	})
	return found
}

func (j *judge) nameInside(s *sides, t types.Type, seen map[types.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if !j.isCode(t.Obj()) {
			return
		}
		home := t.Obj().Pkg().Path()
		if t.TypeArgs().Len() > 0 && t.Obj().Parent() == t.Obj().Pkg().Scope() && j.reason(t) == "" && !j.isForeign(t, home) && !types.IsInterface(t) {
			j.nameType(s, home, t)
		}
		j.nameInside(s, t.Underlying(), seen)
	case *types.Pointer:
		j.nameInside(s, t.Elem(), seen)
	case *types.Slice:
		j.nameInside(s, t.Elem(), seen)
	case *types.Array:
		j.nameInside(s, t.Elem(), seen)
	case *types.Map:
		j.nameInside(s, t.Key(), seen)
		j.nameInside(s, t.Elem(), seen)
	case *types.Struct:
		for at := 0; at < t.NumFields(); at++ {
			j.nameInside(s, t.Field(at).Type(), seen)
		}
	case *types.Tuple:
		for at := 0; at < t.Len(); at++ {
			j.nameInside(s, t.At(at).Type(), seen)
		}
	case *types.Signature:
		j.nameInside(s, t.Params(), seen)
		j.nameInside(s, t.Results(), seen)
	}
}
