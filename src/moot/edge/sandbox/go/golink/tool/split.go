package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
	"strings"
)

func split(spec Spec) Plan {
	plan := Plan{Apart: []string{}, Folders: []string{}, Needs: map[string]Need{}, Judge: map[string]string{}, Worker: map[string]string{}, Key: map[string]string{}}
	w, err := load(spec)
	if err != nil {
		return whole(plan, err)
	}
	for _, p := range w.tested() {
		plan.Folders = append(plan.Folders, p.folder)
		signEnd(p, plan.Key)
	}
	looked := map[string]bool{}
	var views []*judge
	for _, p := range w.tested() {
		j := &judge{carrier: &carrier{view: w.look(p), looked: map[*types.TypeName]bool{}, hidden: map[*types.TypeName]bool{}}}
		if err := ownFault(j.view); err != nil {
			return whole(plan, err)
		}
		j.findLooked()
		for each := range j.looked {
			looked[each.Pkg().Path()+"."+each.Name()] = true
		}
		views = append(views, j)
	}
	verdicts := map[*judge]map[string]*Need{}
	for _, j := range views {
		// Both sides of the link have one opinion on each type, whichever tests look at it.
		j.lookAlso(looked)
		j.needed = &needed{variables: map[*types.Var]bool{}, standard: map[string]bool{}, types: map[string]bool{}}
		j.readTests()
		j.findRedefined()
		verdicts[j] = j.verdicts()
		if j.problem != "" {
			plan.Problem = j.problem
			return plan
		}
	}
	plan = write(plan, w, views, verdicts)
	if err := verify(plan, spec, w.module); err != nil {
		return whole(plan, err)
	}
	return plan
}

// verify reads what was written: stubs that do not fit the tests are no reason to fail them.
func verify(plan Plan, spec Spec, module string) error {
	w := newWorld(module, spec.Exports)
	for _, file := range sortedKeys(plan.Judge) {
		if err := w.put(spec.Folder, file, plan.Judge[file], true); err != nil {
			return err
		}
	}
	for _, p := range w.tested() {
		if err := ownFault(w.look(p)); err != nil {
			return err
		}
	}
	return nil
}

func whole(plan Plan, err error) Plan {
	plan.Whole = &Need{"it could not be separated: " + strings.SplitN(err.Error(), "\n", 2)[0], true}
	return plan
}

// ownFault is what is wrong with the files themselves; packages from elsewhere need not be here.
func ownFault(v *view) error {
	for _, each := range v.faults {
		fault, isFault := each.(types.Error)
		if isFault && !strings.Contains(fault.Msg, "could not import") {
			return fault
		}
	}
	return nil
}

func (j *judge) lookAlso(looked map[string]bool) {
	for _, done := range j.done {
		for _, name := range done.Scope().Names() {
			object, isType := done.Scope().Lookup(name).(*types.TypeName)
			if isType && looked[done.Path()+"."+name] {
				j.looked[object] = true
			}
		}
	}
	j.lookDeeper()
}

func write(plan Plan, w *world, views []*judge, verdicts map[*judge]map[string]*Need) Plan {
	s := &sides{map[string]*text{}, map[string]*text{}, map[string]*text{}}
	for _, j := range views {
		j.nameAll(s)
		for name, need := range verdicts[j] {
			full := j.under.path + "." + name
			if need != nil {
				plan.Needs[full] = *need
			} else {
				plan.Apart = append(plan.Apart, full)
			}
		}
		for _, file := range j.testFiles() {
			plan.Judge[file.path] = j.edit(file, verdicts[j])
		}
	}
	sort.Strings(plan.Apart)
	for _, j := range views {
		for name := range j.done {
			if p := w.packs[name]; p != nil {
				j.writePackage(&plan, s, p)
			}
		}
		if len(j.under.files) == 0 {
			names := get(s.judge, j.under.path)
			plan.Judge[filepath.Join(j.under.folder, "moot_names_test.go")] =
				names.head(j.testFiles()[0].tree.Name.Name) + strings.Join(names.lines, "\n") + "\n"
		}
		j.writeMain(&plan, s)
	}
	return plan
}

func (j *judge) writePackage(plan *Plan, s *sides, p *pack) {
	if !p.code {
		for _, file := range p.files {
			plan.Judge[file.path], plan.Worker[file.path] = file.text, file.text
		}
		return
	}
	if len(p.files) == 0 {
		return
	}
	names := filepath.Join(p.folder, "moot_names.go")
	if _, done := plan.Judge[names]; done {
		return
	}
	j.forward(s, p)
	for _, file := range p.files {
		plan.Worker[file.path] = j.renameMain(p, file)
		plan.Judge[file.path] = j.stub(s, p, file)
	}
	judge, worker := get(s.judge, p.path), get(s.worker, p.path)
	plan.Judge[names] = judge.head(p.name()) + strings.Join(judge.lines, "\n") + "\n"
	plan.Worker[filepath.Join(p.folder, "zz_moot_names.go")] =
		worker.head(p.name()) + "\nfunc init() {\n\t" + strings.Join(worker.lines, "\n\t") + "\n}\n"
}

// writeMain writes the program that serves the tests of this package.
func (j *judge) writeMain(plan *Plan, s *sides) {
	main := get(s.mains, j.under.path)
	body := "\nfunc init() {\n\t" + strings.Join(main.lines, "\n\t") + "\n}\n\nfunc main() { moot_link.Serve() }\n"
	place := filepath.Join(j.under.folder, "mootwork", "main.go")
	if j.under.name() == "main" && len(j.under.files) > 0 {
		place = filepath.Join(j.under.folder, "zz_moot_main.go")
	}
	plan.Worker[place] = main.head("main") + body
}

// change is a piece of text put in the place of another.
type change struct {
	from, to int
	text     string
}

func apply(text string, changes []change) string {
	sort.SliceStable(changes, func(a, b int) bool { return changes[a].from > changes[b].from })
	for _, each := range changes {
		text = text[:each.from] + each.text + text[each.to:]
	}
	return text
}

func (w *world) offset(at token.Pos) int { return w.set.PositionFor(at, false).Offset }

func (j *judge) renameMain(p *pack, file *source) string {
	if p.name() != "main" {
		return file.text
	}
	var changes []change
	object := j.done[p.path].Scope().Lookup("main")
	ast.Inspect(file.tree, func(node ast.Node) bool {
		name, isName := node.(*ast.Ident)
		if isName && object != nil && (j.info.Defs[name] == object || j.info.Uses[name] == object) {
			changes = append(changes, change{j.offset(name.Pos()), j.offset(name.End()), "moot_main"})
		}
		return true
	})
	return apply(file.text, changes)
}

// edit has every test note what goes wrong with the link, and takes those out that are run in another way. Lines keep
// their numbers.
func (j *judge) edit(file *source, verdicts map[string]*Need) string {
	end := j.offset(file.tree.Name.End())
	changes := []change{{end, end, `; import moot_link "moot.invalid/link"; var _ = moot_link.Guard`}}
	if len(file.tree.Imports) > 0 {
		// Declarations come after all imports.
		changes[0].text = `; import moot_link "moot.invalid/link"`
		last := file.tree.Imports[len(file.tree.Imports)-1].End()
		for _, declared := range file.tree.Decls {
			if imports, is := declared.(*ast.GenDecl); is && imports.Tok == token.IMPORT && imports.End() > last {
				last = imports.End()
			}
		}
		at := j.offset(last)
		changes = append(changes, change{at, at, "; var _ = moot_link.Guard"})
	}
	ast.Inspect(file.tree, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			if node.Recv == nil && verdicts[node.Name.Name] != nil {
				at := j.offset(node.Name.Pos())
				changes = append(changes, change{at, at, "moot_"})
			}
			changes = append(changes, j.guard(node.Type, node.Body)...)
		case *ast.FuncLit:
			changes = append(changes, j.guard(node.Type, node.Body)...)
		}
		return true
	})
	return apply(file.text, changes)
}

func (j *judge) guard(kind *ast.FuncType, body *ast.BlockStmt) []change {
	if body == nil || kind.Params == nil {
		return nil
	}
	for _, field := range kind.Params.List {
		t := types.TypeString(underPointer(j.info.TypeOf(field.Type)), nil)
		if (t == "testing.T" || t == "testing.F") && len(field.Names) > 0 && field.Names[0].Name != "_" {
			at := j.offset(body.Lbrace) + 1
			return []change{{at, at, fmt.Sprintf(" defer moot_link.Guard(%s)();", field.Names[0].Name)}}
		}
	}
	return nil
}

func underPointer(t types.Type) types.Type {
	if pointer, isPointer := t.(*types.Pointer); isPointer {
		return pointer.Elem()
	}
	return types.Typ[types.Invalid]
}
