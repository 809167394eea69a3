package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"path"
	"strings"
)

// stub writes a file of the code as the tests' side has it: types and constants as they are, functions that send
// their arguments over the link. No body, no initial value, no comment that the compiler obeys comes along.
func (j *judge) stub(s *sides, p *pack, file *source) string {
	out := &bytes.Buffer{}
	used := map[string]bool{}
	print := func(node ast.Node) string {
		ast.Inspect(node, func(inner ast.Node) bool {
			name, isName := inner.(*ast.Ident)
			if !isName {
				return true
			}
			switch object := j.info.Uses[name].(type) {
			case nil:
			case *types.PkgName:
				used[name.Name] = true
			case *types.Var:
				j.declare(s, p, object)
			default:
				if object.Pkg() != nil && object.Pkg().Path() != p.path {
					used["."+object.Pkg().Path()] = true // seen without its package's name before it
				}
			}
			return true
		})
		text := &bytes.Buffer{}
		printer.Fprint(text, token.NewFileSet(), node)
		return text.String()
	}
	for _, declared := range file.tree.Decls {
		switch declared := declared.(type) {
		case *ast.GenDecl:
			if declared.Tok == token.CONST || declared.Tok == token.TYPE {
				fmt.Fprintln(out, print(bare(declared)))
			}
		case *ast.FuncDecl:
			name := declared.Name.Name
			if name != "_" && (name != "init" || declared.Recv != nil) {
				fmt.Fprintln(out, stubFunction(p, declared, print))
			}
		}
	}
	head := "package " + file.tree.Name.Name + "\n\nimport moot_link \"moot.invalid/link\"\n"
	for _, each := range file.tree.Imports {
		name := path.Base(importPath(each))
		if each.Name != nil {
			name = each.Name.Name
		} else if known, err := j.Import(importPath(each)); err == nil {
			name = known.Name()
		}
		if used[name] || name == "." && used["."+importPath(each)] {
			head += fmt.Sprintf("import %s %q\n", name, importPath(each))
		}
	}
	return head + "\nvar _ = moot_link.Call\n\n" + out.String()
}

// declare writes a variable of which a constant or a type wants the size.
func (j *judge) declare(s *sides, p *pack, object *types.Var) {
	if object.Pkg() != nil && object.Parent() == object.Pkg().Scope() && !j.needed.variables[object] {
		judge := get(s.judge, p.path)
		judge.add("var %s %s", object.Name(), judge.of(object.Type(), p.path))
	}
}

// bare is the same without comments.
func bare(declared *ast.GenDecl) *ast.GenDecl {
	ast.Inspect(declared, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GenDecl:
			node.Doc = nil
		case *ast.ValueSpec:
			node.Doc, node.Comment = nil, nil
		case *ast.TypeSpec:
			node.Doc, node.Comment = nil, nil
		case *ast.Field:
			node.Doc, node.Comment = nil, nil
		}
		return true
	})
	return declared
}

type printing func(ast.Node) string

func stubFunction(p *pack, declared *ast.FuncDecl, print printing) string {
	name := declared.Name.Name
	key := fmt.Sprintf("%q", p.path+"."+name)
	head, in := "func ", ""
	if declared.Recv != nil {
		kind := declared.Recv.List[0].Type
		head += "(moot_recv " + print(kind) + ") "
		in = "&moot_recv, "
		key = receiverKey(p, kind) + fmt.Sprintf(" + %q", "."+name)
	} else if declared.Type.TypeParams != nil {
		key = fmt.Sprintf("%q", p.path+"."+name+"[") + typeNames(fieldNames(declared.Type.TypeParams)) + ` + "]"`
	}
	head += name
	if declared.Type.TypeParams != nil {
		head += "[" + fields(declared.Type.TypeParams, "", print, nil) + "]"
	}
	var given, gives []string
	head += "(" + fields(declared.Type.Params, "moot_p", print, &given) + ")"
	if declared.Type.Results != nil {
		head += " (" + fields(declared.Type.Results, "moot_r", print, &gives) + ")"
	}
	for _, each := range given {
		in += "&" + each + ", "
	}
	out := ""
	for _, each := range gives {
		out += "&" + each + ", "
	}
	return fmt.Sprintf("%s {\n\tmoot_link.Call(%s, []interface{}{%s}, []interface{}{%s})\n\treturn\n}\n", head, key, in, out)
}

// fields writes parameters, under names of our own unless there is no prefix.
func fields(list *ast.FieldList, prefix string, print printing, names *[]string) string {
	var out []string
	for _, field := range list.List {
		count := max(len(field.Names), 1)
		for at := 0; at < count; at++ {
			name := ""
			if prefix == "" {
				name = field.Names[at].Name
			} else {
				name = fmt.Sprintf("%s%d", prefix, len(*names))
				*names = append(*names, name)
			}
			out = append(out, name+" "+print(field.Type))
		}
	}
	return strings.Join(out, ", ")
}

func fieldNames(list *ast.FieldList) []string {
	var names []string
	for _, field := range list.List {
		for _, each := range field.Names {
			names = append(names, each.Name)
		}
	}
	return names
}

func typeNames(names []string) string {
	out := ""
	for at, each := range names {
		if at > 0 {
			out += ` + ","`
		}
		out += " + moot_link.TypeName((*" + each + ")(nil))"
	}
	return out
}

// receiverKey is the name of the type that a method belongs to.
func receiverKey(p *pack, kind ast.Expr) string {
	kind = ast.Unparen(kind)
	if pointer, isPointer := kind.(*ast.StarExpr); isPointer {
		kind = ast.Unparen(pointer.X)
	}
	var with []ast.Expr
	switch generic := kind.(type) {
	case *ast.IndexExpr:
		kind, with = generic.X, []ast.Expr{generic.Index}
	case *ast.IndexListExpr:
		kind, with = generic.X, generic.Indices
	}
	name, _ := kind.(*ast.Ident)
	if name == nil {
		return `""`
	}
	if with == nil {
		return fmt.Sprintf("%q", p.path+"."+name.Name)
	}
	var names []string
	for at, each := range with {
		if parameter, is := each.(*ast.Ident); is {
			// A blank parameter cannot be named; nobody calls such a method through the link.
			if parameter.Name == "_" {
				parameter.Name = fmt.Sprintf("moot_t%d", at)
			}
			names = append(names, parameter.Name)
		}
	}
	return fmt.Sprintf("%q", p.path+"."+name.Name+"[") + typeNames(names) + ` + "]"`
}

// forward writes methods that a type has from what it embeds, as methods of its own: the code's object is the whole.
func (j *judge) forward(s *sides, p *pack) {
	judge := get(s.judge, p.path)
	scope := j.done[p.path].Scope()
	for _, name := range scope.Names() {
		object, isType := scope.Lookup(name).(*types.TypeName)
		if !isType || object.IsAlias() || !j.isCode(object) {
			continue
		}
		named, isNamed := object.Type().(*types.Named)
		if !isNamed || named.TypeParams().Len() > 0 || types.IsInterface(named) || !j.isOpaque(named) {
			continue
		}
		for _, each := range j.methods(named) {
			if each.own {
				continue
			}
			var given, gives, in, out []string
			in = append(in, "&moot_recv")
			for at := 0; at < each.as.Params().Len(); at++ {
				kind := judge.of(each.as.Params().At(at).Type(), p.path)
				if each.as.Variadic() && at == each.as.Params().Len()-1 {
					kind = "..." + strings.TrimPrefix(kind, "[]")
				}
				given = append(given, fmt.Sprintf("moot_p%d %s", at, kind))
				in = append(in, fmt.Sprintf("&moot_p%d", at))
			}
			for at := 0; at < each.as.Results().Len(); at++ {
				gives = append(gives, fmt.Sprintf("moot_r%d %s", at, judge.of(each.as.Results().At(at).Type(), p.path)))
				out = append(out, fmt.Sprintf("&moot_r%d", at))
			}
			star := ""
			if each.pointer {
				star = "*"
			}
			judge.add("func (moot_recv %s%s) %s(%s) (%s) {\n\tmoot_link.Call(%q, []interface{}{%s}, []interface{}{%s})\n\treturn\n}",
				star, name, each.name, strings.Join(given, ", "), strings.Join(gives, ", "),
				j.key(named)+"."+each.name, strings.Join(in, ", "), strings.Join(out, ", "))
		}
	}
}
