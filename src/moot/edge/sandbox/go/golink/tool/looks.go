package main

import (
	"go/ast"
	"go/token"
	"go/types"
)

// findLooked notes the structs of the code into which the tests look: by a field, a literal, a copy, or by handing them
// to something that prints or compares. Pointers to all others are carried as numbers: what they point at stays with
// the code, with its locks, channels and goroutines, and costs nothing.
func (c *carrier) findLooked() {
	for _, file := range c.testFiles() {
		parents := []ast.Node{}
		ast.Inspect(file.tree, func(node ast.Node) bool {
			if node == nil {
				parents = parents[:len(parents)-1]
				return true
			}
			c.lookAt(node, parents)
			c.lookBehind(node, c.resultsOf(parents))
			parents = append(parents, node)
			return true
		})
	}
	c.lookDeeper()
}

// resultsOf is what the innermost function around gives.
func (c *carrier) resultsOf(parents []ast.Node) *types.Tuple {
	for at := len(parents) - 1; at >= 0; at-- {
		var t types.Type
		switch function := parents[at].(type) {
		case *ast.FuncLit:
			t = c.info.TypeOf(function)
		case *ast.FuncDecl:
			if object := c.info.Defs[function.Name]; object != nil {
				t = object.Type()
			}
		}
		if signature, is := t.(*types.Signature); is {
			return signature.Results()
		}
	}
	return nil
}

func (c *carrier) lookAt(node ast.Node, parents []ast.Node) {
	var parent ast.Node
	if len(parents) > 0 {
		parent = parents[len(parents)-1]
	}
	switch node := node.(type) {
	case *ast.SelectorExpr:
		if chosen := c.info.Selections[node]; chosen != nil && chosen.Kind() == types.FieldVal {
			c.lookAlong(chosen)
		}
	case *ast.CompositeLit:
		if len(node.Elts) > 0 {
			c.look1(c.info.TypeOf(node))
		}
		return
	case *ast.CallExpr:
		if !c.callsCode(node) {
			for _, each := range node.Args {
				c.lookInto(c.info.TypeOf(each), map[types.Type]bool{})
			}
		}
	}
	expr, isExpr := node.(ast.Expr)
	if !isExpr || !c.info.Types[expr].IsValue() {
		return
	}
	// The struct itself as a value. A method is called on its address, a field is noted above.
	switch parent := parent.(type) {
	case *ast.SelectorExpr:
		return
	case *ast.UnaryExpr:
		if parent.Op == token.AND {
			return
		}
	case *ast.AssignStmt:
		for _, left := range parent.Lhs {
			if left == expr && parent.Tok == token.DEFINE {
				return
			}
		}
	}
	if t := c.info.TypeOf(expr); t != nil {
		if _, isStruct := t.Underlying().(*types.Struct); isStruct {
			c.look1(t)
		}
	}
}

// lookBehind: what is put behind an interface can be printed or compared from then on.
func (c *carrier) lookBehind(node ast.Node, results *types.Tuple) {
	put := func(into types.Type, value ast.Expr) {
		if into != nil && types.IsInterface(into) && !types.IsInterface(typeOr(c.info.TypeOf(value))) {
			c.lookInto(c.info.TypeOf(value), map[types.Type]bool{})
		}
	}
	switch node := node.(type) {
	case *ast.AssignStmt:
		for at := range node.Lhs {
			if len(node.Lhs) == len(node.Rhs) && node.Tok != token.DEFINE {
				put(c.info.TypeOf(node.Lhs[at]), node.Rhs[at])
			}
		}
	case *ast.ValueSpec:
		for _, each := range node.Values {
			if node.Type != nil {
				put(c.info.TypeOf(node.Type), each)
			}
		}
	case *ast.SendStmt:
		if channel, isChannel := underlying(c.info.TypeOf(node.Chan)).(*types.Chan); isChannel {
			put(channel.Elem(), node.Value)
		}
	case *ast.ReturnStmt:
		for at, each := range node.Results {
			if results != nil && results.Len() == len(node.Results) {
				put(results.At(at).Type(), each)
			}
		}
	case *ast.CompositeLit:
		c.lookInLiteral(node, put)
	case *ast.CallExpr:
		if c.info.Types[node.Fun].IsType() && len(node.Args) == 1 {
			put(c.info.TypeOf(node), node.Args[0])
		} else if slice, isSlice := underlying(c.info.TypeOf(node)).(*types.Slice); isSlice && len(node.Args) > 1 {
			for _, each := range node.Args[1:] { // append
				put(slice.Elem(), each)
			}
		}
	}
}

func typeOr(t types.Type) types.Type {
	if t == nil {
		return types.Typ[types.Invalid]
	}
	return t
}

func (c *carrier) lookInLiteral(node *ast.CompositeLit, put func(types.Type, ast.Expr)) {
	for at, each := range node.Elts {
		pair, isPair := each.(*ast.KeyValueExpr)
		value := each
		if isPair {
			value = pair.Value
		}
		switch t := underlying(c.info.TypeOf(node)).(type) {
		case *types.Slice:
			put(t.Elem(), value)
		case *types.Array:
			put(t.Elem(), value)
		case *types.Map:
			put(t.Elem(), value)
			if isPair {
				put(t.Key(), pair.Key)
			}
		case *types.Struct:
			if isPair {
				name, _ := pair.Key.(*ast.Ident)
				if field, isField := c.info.Uses[name].(*types.Var); isField {
					put(field.Type(), value)
				}
			} else if at < t.NumFields() {
				put(t.Field(at).Type(), value)
			}
		}
	}
}

// callsCode says whether a call goes to the code; conversions and the tests' own functions pass values on.
func (c *carrier) callsCode(call *ast.CallExpr) bool {
	if c.info.Types[call.Fun].IsType() {
		return true
	}
	object := c.called(call)
	if object == nil {
		// A function value, or a builtin: no parameter of the first is an interface, unless it says so.
		signature, isFunction := underlying(c.info.TypeOf(call.Fun)).(*types.Signature)
		return isFunction && !takesInterfaces(signature)
	}
	if _, isBuiltin := object.(*types.Builtin); isBuiltin {
		return true
	}
	signature, isFunction := underlying(object.Type()).(*types.Signature)
	return c.isCode(object) || isFunction && !takesInterfaces(signature)
}

func underlying(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	return t.Underlying()
}

func takesInterfaces(signature *types.Signature) bool {
	for at := 0; at < signature.Params().Len(); at++ {
		t := signature.Params().At(at).Type()
		if slice, isSlice := t.(*types.Slice); isSlice && signature.Variadic() {
			t = slice.Elem()
		}
		if types.IsInterface(t) {
			return true
		}
	}
	return signature.TypeParams().Len() > 0
}

// called is the function, method or variable that is called by its name.
func (c *carrier) called(call *ast.CallExpr) types.Object {
	fun := ast.Unparen(call.Fun)
	switch inner := fun.(type) {
	case *ast.IndexExpr:
		fun = inner.X
	case *ast.IndexListExpr:
		fun = inner.X
	}
	switch fun := fun.(type) {
	case *ast.Ident:
		return c.info.Uses[fun]
	case *ast.SelectorExpr:
		return c.info.Uses[fun.Sel]
	}
	return nil
}

func (c *carrier) lookAlong(chosen *types.Selection) {
	t := chosen.Recv()
	for _, at := range chosen.Index() {
		c.look1(t)
		if pointer, isPointer := t.Underlying().(*types.Pointer); isPointer {
			t = pointer.Elem()
			c.look1(t)
		}
		fields, isStruct := t.Underlying().(*types.Struct)
		if !isStruct {
			return
		}
		t = fields.Field(at).Type()
	}
}

func (c *carrier) look1(t types.Type) {
	if t == nil {
		return
	}
	if pointer, isPointer := t.Underlying().(*types.Pointer); isPointer {
		t = pointer.Elem()
	}
	if named, isNamed := types.Unalias(t).(*types.Named); isNamed && c.isCode(named.Obj()) {
		c.looked[named.Origin().Obj()] = true
	}
}

// lookInto notes all that can be reached from a value.
func (c *carrier) lookInto(t types.Type, seen map[types.Type]bool) {
	if t == nil || seen[t] {
		return
	}
	seen[t] = true
	if named, isNamed := types.Unalias(t).(*types.Named); isNamed {
		c.look1(named)
		for at := 0; at < named.TypeArgs().Len(); at++ {
			c.lookInto(named.TypeArgs().At(at), seen)
		}
		home := named.Obj().Pkg()
		if home != nil && !c.isLocal(named.Obj()) && !c.isTest(named.Obj()) && !plainPackages[home.Path()] {
			return
		}
	}
	switch t := t.Underlying().(type) {
	case *types.Pointer:
		c.lookInto(t.Elem(), seen)
	case *types.Slice:
		c.lookInto(t.Elem(), seen)
	case *types.Array:
		c.lookInto(t.Elem(), seen)
	case *types.Map:
		c.lookInto(t.Key(), seen)
		c.lookInto(t.Elem(), seen)
	case *types.Struct:
		for at := 0; at < t.NumFields(); at++ {
			c.lookInto(t.Field(at).Type(), seen)
		}
	case *types.Interface:
		for _, each := range c.codeTypes() {
			if t.NumMethods() == 0 && c.isDark(each) {
				c.hidden[each.(*types.Named).Obj()] = true
			} else if types.Implements(each, t) || types.Implements(types.NewPointer(each), t) {
				c.lookInto(each, seen)
			}
		}
	}
}

// lookDeeper: who sees a struct whole sees what it holds.
func (c *carrier) lookDeeper() {
	seen := map[types.Type]bool{}
	for before := -1; before != len(c.looked); {
		before = len(c.looked)
		for object := range c.looked {
			c.lookInto(object.Type(), seen)
		}
	}
}

// codeTypes is all types that the code declares, without generic ones.
func (c *carrier) codeTypes() []types.Type {
	var found []types.Type
	for _, done := range c.done {
		for _, name := range done.Scope().Names() {
			object, isType := done.Scope().Lookup(name).(*types.TypeName)
			if !isType || object.IsAlias() || !c.isCode(object) || types.IsInterface(object.Type()) {
				continue
			}
			if named, ok := object.Type().(*types.Named); ok && named.TypeParams().Len() == 0 {
				found = append(found, named)
			}
		}
	}
	return found
}
