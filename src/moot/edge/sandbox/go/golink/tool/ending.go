package main

import (
	"go/ast"
	"go/token"
	"path/filepath"
)

// signEnd is for tests that run in one process with the code. Their results are printed, so code can print some too and
// end the process; the end of the tests is therefore signed, with a key that is put in the place of @KEY@.
func signEnd(p *pack, files map[string]string) {
	name, own := p.name(), "m.Run()"
	if len(p.files)+len(p.tests) == 0 {
		name = p.outer[0].tree.Name.Name
	}
	for _, file := range append(append([]*source{}, p.tests...), p.outer...) {
		if changes := takeOver(file); changes != nil {
			files[file.path] = apply(file.text, changes)
			name, own = file.tree.Name.Name, "moot_TestMain(m)"
		}
	}
	files[filepath.Join(p.folder, "moot_end_test.go")] = "package " + name + `

import (
	moot_os "os"
	moot_reflect "reflect"
	moot_strconv "strconv"
	moot_testing "testing"
)

func TestMain(m *moot_testing.M) {
	` + own + `
	moot_end(int(moot_reflect.ValueOf(m).Elem().FieldByName("exitCode").Int()))
}

func moot_end(code int) {
	file, err := moot_os.OpenFile(moot_os.Getenv("MOOT_END"), moot_os.O_APPEND|moot_os.O_CREATE|moot_os.O_WRONLY, 0o600)
	if err == nil {
		file.WriteString("@KEY@ ` + p.path + ` " + moot_strconv.Itoa(code) + "\n")
		file.Close()
	}
	moot_os.Exit(code)
}
`
}

// takeOver renames a TestMain, and has it end by our function.
func takeOver(file *source) []change {
	var changes []change
	for _, declared := range file.tree.Decls {
		function, isFunction := declared.(*ast.FuncDecl)
		if !isFunction || function.Recv != nil || function.Name.Name != "TestMain" {
			continue
		}
		changes = append(changes, change{at(file, function.Name.Pos()), at(file, function.Name.End()), "moot_TestMain"})
		ast.Inspect(function.Body, func(node ast.Node) bool {
			selector, isSelector := node.(*ast.SelectorExpr)
			if !isSelector || selector.Sel.Name != "Exit" {
				return true
			}
			if home, isName := selector.X.(*ast.Ident); isName && home.Name == "os" {
				changes = append(changes, change{at(file, selector.Pos()), at(file, selector.End()), "moot_end"})
			}
			return true
		})
		changes = append(changes, change{len(file.text), len(file.text), "\nvar _ = moot_end\n"})
	}
	if changes == nil {
		return nil
	}
	for _, each := range file.tree.Imports {
		if importPath(each) == "os" && each.Name == nil {
			changes = append(changes, change{len(file.text), len(file.text), "\nvar _ = os.Exit\n"})
		}
	}
	return changes
}

func at(file *source, position token.Pos) int { return int(position - file.tree.FileStart) }
