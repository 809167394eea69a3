package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"sort"
	"strings"
)

// part is a declaration of the tests: what speaks against judging it apart, and which others it uses.
type part struct {
	name    string
	why     []Need
	uses    map[types.Object]bool
	starts  bool // goroutines
	touches bool // an object of the code whose content both sides have
}

// judge finds, for every test, why it cannot be judged apart.
type judge struct {
	*carrier
	parts   map[types.Object]*part
	always  []*part // what runs before any test
	tests   []string
	problem string
}

func (j *judge) readTests() {
	j.parts = map[types.Object]*part{}
	for _, file := range j.testFiles() {
		for _, declared := range file.tree.Decls {
			switch declared := declared.(type) {
			case *ast.FuncDecl:
				object := j.info.Defs[declared.Name]
				p := j.readPart(declared, declared.Name.Name)
				if object != nil {
					j.parts[object] = p
				}
				if declared.Recv == nil && (declared.Name.Name == "init" || declared.Name.Name == "TestMain") {
					j.always = append(j.always, p)
				}
				if declared.Recv == nil && isTestName(declared.Name.Name) {
					j.tests = append(j.tests, declared.Name.Name)
				}
			case *ast.GenDecl:
				p := j.readPart(declared, "")
				if declared.Tok == token.VAR {
					j.always = append(j.always, p)
				}
			}
		}
	}
}

func isTestName(name string) bool {
	for _, prefix := range []string{"Test", "Fuzz", "Example"} {
		rest, is := strings.CutPrefix(name, prefix)
		if is && name != "TestMain" && (rest == "" || strings.ToUpper(rest[:1]) == rest[:1]) {
			return true
		}
	}
	return false
}

func (j *judge) readPart(declared ast.Node, name string) *part {
	p := &part{name: name, uses: map[types.Object]bool{}}
	ast.Inspect(declared, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Ident:
			j.readName(p, node)
		case *ast.CallExpr:
			j.readCall(p, node)
		case *ast.GoStmt:
			p.starts = true
		case *ast.AssignStmt:
			for _, left := range node.Lhs {
				j.readChange(p, left)
			}
		case *ast.IncDecStmt:
			j.readChange(p, node.X)
		case *ast.SelectorExpr:
			j.readSelection(p, node)
		}
		return true
	})
	return p
}

func (p *part) need(why string, codeDecides bool) {
	if why != "" {
		p.why = append(p.why, Need{why, codeDecides})
	}
}

func (j *judge) readName(p *part, name *ast.Ident) {
	object := j.info.Uses[name]
	if object == nil || object.Pkg() == nil {
		return
	}
	isTop := object.Parent() == object.Pkg().Scope()
	_, isMethod := object.(*types.Func)
	switch {
	case j.isTest(object):
		if isTop || isMethod {
			p.uses[object] = true
		}
		j.readMethods(p, object)
	case j.isCode(object):
		j.readCode(p, name, object, isTop)
	case !j.isLocal(object):
		j.readStandard(p, object)
	}
}

// readMethods: who uses a type may call its methods without naming them.
func (j *judge) readMethods(p *part, object types.Object) {
	named, isNamed := object.Type().(*types.Named)
	if _, isType := object.(*types.TypeName); !isType || !isNamed {
		return
	}
	for at := 0; at < named.NumMethods(); at++ {
		p.uses[named.Method(at)] = true
	}
}

// findRedefined: no honest code takes these over, and what we write ourselves is made of them.
func (j *judge) findRedefined() {
	for name, done := range j.done {
		for _, word := range []string{"nil", "true", "false", "iota", "error", "string"} {
			object := done.Scope().Lookup(word)
			if p := j.packs[name]; p != nil && p.code && object != nil && j.isCode(object) {
				j.problem = "the code under test redefines " + word
			}
		}
	}
}

func (j *judge) readCode(p *part, name *ast.Ident, object types.Object, isTop bool) {
	if isTop && types.Universe.Lookup(object.Name()) != nil {
		if oftenRedefined[object.Name()] {
			p.need("the code has its own "+object.Name(), true)
		} else if j.problem == "" {
			j.problem = "the code under test redefines " + object.Name() + ", which its tests use"
		}
	}
	switch object := object.(type) {
	case *types.Var:
		if isTop && !object.IsField() {
			j.needed.variables[object] = true
			if why := j.reason(object.Type()); why != "" {
				p.need("it uses the variable "+object.Name()+" of the code, which holds "+why, j.isOwn(object.Type()))
			}
		}
	case *types.Func:
		signature := object.Type().(*types.Signature)
		if instance, isInstance := j.info.Instances[name]; isInstance {
			j.readInstance(p, object, instance)
			signature, _ = instance.Type.(*types.Signature)
		}
		if signature != nil && signature.TypeParams().Len() == 0 && signature.RecvTypeParams().Len() == 0 {
			for at := 0; at < signature.Results().Len(); at++ {
				t := signature.Results().At(at).Type()
				if why := j.reason(t); why != "" {
					p.need("it gets "+why+" from "+object.Name()+" of the code", j.isOwn(t))
				}
			}
		}
		if signature != nil && signature.Recv() != nil {
			p.touches = p.touches || j.isShared(signature.Recv().Type())
		}
	}
}

func (j *judge) isShared(t types.Type) bool {
	pointer, isPointer := t.(*types.Pointer)
	return isPointer && !j.isOpaque(pointer.Elem())
}

func (j *judge) readInstance(p *part, object *types.Func, instance types.Instance) {
	for at := 0; at < instance.TypeArgs.Len(); at++ {
		if why := j.reason(instance.TypeArgs.At(at)); why != "" {
			p.need("it uses "+object.Name()+" of the code with "+why, false)
			return
		}
	}
	j.needed.functions = append(j.needed.functions, instanceOf{object, instance.TypeArgs})
}

func (j *judge) readCall(p *part, call *ast.CallExpr) {
	object := j.called(call)
	if name := fileRead(object); name && !readsGiven(call) {
		p.need("it shares files with the code", false)
	}
	for _, each := range call.Args {
		if t := j.info.TypeOf(each); t != nil {
			j.noteType(types.Default(t))
		}
	}
	if object == nil || !j.isCode(object) {
		return
	}
	signature, isFunction := underlying(j.info.TypeOf(call.Fun)).(*types.Signature)
	if !isFunction {
		return
	}
	for at, each := range call.Args {
		if why := j.given(j.info.TypeOf(each), parameter(signature, at, call.Ellipsis.IsValid())); why != "" {
			p.need("it hands "+why+" to "+object.Name()+" of the code", j.isOwn(j.info.TypeOf(each)))
		}
		if words, isText := ast.Unparen(each).(*ast.BasicLit); isText && strings.Contains(words.Value, "testdata") {
			p.need("it shares files with the code", false)
		}
	}
}

func parameter(signature *types.Signature, at int, spread bool) types.Type {
	last := signature.Params().Len() - 1
	if signature.Variadic() && at >= last && !spread {
		return signature.Params().At(last).Type().(*types.Slice).Elem()
	}
	if at > last {
		return types.Typ[types.Invalid]
	}
	return signature.Params().At(at).Type()
}

// readChange: a variable of the standard library that the tests change is changed for them alone.
func (j *judge) readChange(p *part, left ast.Expr) {
	selector, isSelector := ast.Unparen(left).(*ast.SelectorExpr)
	if !isSelector {
		return
	}
	object, isVariable := j.info.Uses[selector.Sel].(*types.Var)
	if isVariable && !object.IsField() && object.Pkg() != nil && !j.isLocal(object) {
		if full := object.Pkg().Path() + "." + object.Name(); full != "os.Stdout" && full != "os.Stderr" {
			p.need("it changes "+full+" for the code", false)
		}
	}
}

// readSelection: a lock or a channel of the code that the tests use themselves.
func (j *judge) readSelection(p *part, node *ast.SelectorExpr) {
	chosen := j.info.Selections[node]
	if chosen == nil {
		return
	}
	_, isChannel := underlying(chosen.Type()).(*types.Chan)
	if chosen.Kind() == types.FieldVal && j.isCode(chosen.Obj()) {
		if isChannel {
			p.need("it uses a channel of the code", false)
		} else if why := j.reason(chosen.Type()); why != "" {
			p.need("it uses "+why+" inside the code", true)
		}
	}
	home := chosen.Obj().Pkg()
	if chosen.Kind() != types.FieldVal && home != nil && home.Path() == "sync" && j.holdsCode(chosen.Recv(), node.X) {
		p.need("it uses a lock of the code", false)
	}
}

func (j *judge) holdsCode(t types.Type, of ast.Expr) bool {
	if pointer, isPointer := t.(*types.Pointer); isPointer {
		t = pointer.Elem()
	}
	if named, isNamed := types.Unalias(t).(*types.Named); isNamed && j.isCode(named.Obj()) {
		return true
	}
	inner, isSelector := ast.Unparen(of).(*ast.SelectorExpr)
	return isSelector && j.isCode(j.info.Uses[inner.Sel])
}

// verdicts says for each test why it needs the code's own process; nothing where it does not.
func (j *judge) verdicts() map[string]*Need {
	found := map[string]*Need{}
	for object, p := range j.parts {
		if !isTestName(p.name) || object.Parent() != object.Pkg().Scope() {
			continue
		}
		reached := map[types.Object]bool{}
		whole := &part{}
		for _, each := range append([]*part{p}, j.always...) {
			j.gather(each, reached, whole)
		}
		if whole.starts && whole.touches {
			whole.need("its goroutines share an object with the code", false)
		}
		found[p.name] = worst(whole.why)
	}
	return found
}

func (j *judge) gather(p *part, reached map[types.Object]bool, into *part) {
	into.why = append(into.why, p.why...)
	into.starts, into.touches = into.starts || p.starts, into.touches || p.touches
	for object := range p.uses {
		if next := j.parts[object]; next != nil && !reached[object] {
			reached[object] = true
			j.gather(next, reached, into)
		}
	}
}

// worst is the first reason by name that is not the code's doing, else the first.
func worst(all []Need) *Need {
	if len(all) == 0 {
		return nil
	}
	sort.SliceStable(all, func(a, b int) bool {
		if all[a].CodeDecides != all[b].CodeDecides {
			return !all[a].CodeDecides
		}
		return all[a].Why < all[b].Why
	})
	return &all[0]
}
