package main

import (
	"errors"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

var moduleLine = regexp.MustCompile(`(?m)^module\s+"?([^\s"]+)"?`)

// pack is a package of the module.
type pack struct {
	path, folder string
	code         bool // to be replaced by stubs where the tests are
	files        []*source
	tests        []*source // in the package itself
	outer        []*source // in the package with _test behind its name
}

type source struct {
	path string
	text string
	tree *ast.File
}

func (p *pack) name() string {
	for _, each := range append(append([]*source{}, p.files...), p.tests...) {
		return each.tree.Name.Name
	}
	if len(p.outer) > 0 {
		return strings.TrimSuffix(p.outer[0].tree.Name.Name, "_test")
	}
	return ""
}

// world is all that was given.
type world struct {
	set     *token.FileSet
	packs   map[string]*pack // by import path
	module  string
	exports string
	std     types.Importer
}

func newWorld(module, exports string) *world {
	w := &world{set: token.NewFileSet(), packs: map[string]*pack{}, exports: exports, module: module}
	w.std = importer.ForCompiler(w.set, "gc", w.lookup)
	return w
}

func load(spec Spec) (*world, error) {
	w := newWorld("given", spec.Exports)
	if text, err := os.ReadFile(filepath.Join(spec.Folder, "go.mod")); err == nil {
		if found := moduleLine.FindSubmatch(text); found != nil {
			w.module = string(found[1])
		}
	}
	given := map[string]bool{}
	for _, each := range spec.Tests {
		given[each] = true
	}
	for _, each := range append(append([]string{}, spec.Code...), spec.Tests...) {
		if err := w.add(spec.Folder, each, given[each]); err != nil {
			return nil, err
		}
	}
	w.spread()
	return w, nil
}

// lookup opens what the compiler wrote about a package of the standard library.
func (w *world) lookup(name string) (io.ReadCloser, error) {
	mark, err := os.ReadFile(filepath.Join(w.exports, "moot-plain-"+strings.ReplaceAll(name, "/", ".")))
	if err != nil || len(mark) == 0 {
		return nil, errors.New("not compiled: " + name)
	}
	return os.Open(filepath.Join(w.exports, strings.TrimSpace(string(mark))))
}

func (w *world) add(top, file string, given bool) error {
	isTest := strings.HasSuffix(file, "_test.go")
	// The code brings no tests of its own, and no program that somebody else wrote.
	if !strings.HasSuffix(file, ".go") || isTest && !given || strings.Contains("/"+file, "/vendor/") {
		return nil
	}
	if folder, err := filepath.Rel(top, filepath.Dir(file)); err != nil || strings.HasPrefix(folder, "..") {
		return nil
	}
	context := build.Default
	context.CgoEnabled = false
	if fits, err := context.MatchFile(filepath.Dir(file), filepath.Base(file)); err != nil || !fits {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return w.put(top, file, string(text), given)
}

// put takes a file in.
func (w *world) put(top, file, text string, given bool) error {
	folder, err := filepath.Rel(top, filepath.Dir(file))
	if err != nil {
		return err
	}
	tree, err := parser.ParseFile(w.set, file, text, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return err
	}
	name := path.Join(w.module, filepath.ToSlash(folder))
	p := w.packs[name]
	if p == nil {
		p = &pack{path: name, folder: filepath.Dir(file)}
		w.packs[name] = p
	}
	s, isTest := &source{file, text, tree}, strings.HasSuffix(file, "_test.go")
	switch {
	case isTest && strings.HasSuffix(tree.Name.Name, "_test"):
		p.outer = append(p.outer, s)
	case isTest:
		p.tests = append(p.tests, s)
	default:
		p.files = append(p.files, s)
		p.code = p.code || !given
	}
	return nil
}

// spread makes code of all that code uses, and of all that uses code: only what the tests alone use stays with them.
func (w *world) spread() {
	for again := true; again; {
		again = false
		for _, p := range w.packs {
			for _, file := range p.files {
				for _, each := range file.tree.Imports {
					other := w.packs[importPath(each)]
					if other != nil && other.code != p.code {
						other.code, p.code, again = true, true, true
					}
				}
			}
		}
	}
	// A package with tests is what they test, whoever brought it.
	for _, p := range w.packs {
		if len(p.tests)+len(p.outer) > 0 && !p.code && len(p.files) > 0 {
			p.code = true
			w.spread()
		}
	}
}

func importPath(spec *ast.ImportSpec) string { return strings.Trim(spec.Path.Value, "\"`") }

// tested is the packages that have tests, in order.
func (w *world) tested() []*pack {
	var found []*pack
	for _, p := range w.packs {
		if len(p.tests)+len(p.outer) > 0 {
			found = append(found, p)
		}
	}
	sort.Slice(found, func(a, b int) bool { return found[a].path < found[b].path })
	return found
}

// view is what a program of tests is made of, with all types known.
type view struct {
	*world
	under  *pack
	info   *types.Info
	done   map[string]*types.Package
	busy   map[string]bool
	outer  *types.Package
	faults []error // of our own files; what a package from elsewhere lacks does not count
}

func (w *world) look(under *pack) *view {
	v := &view{world: w, under: under, done: map[string]*types.Package{}, busy: map[string]bool{}}
	v.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
		Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
		Instances: map[*ast.Ident]types.Instance{}, Implicits: map[ast.Node]types.Object{},
	}
	v.Import(under.path)
	if len(under.outer) > 0 {
		v.outer = v.check(under.path+"_test", under.outer)
	}
	return v
}

func (v *view) Import(name string) (*types.Package, error) {
	if known, ok := v.done[name]; ok {
		return known, nil
	}
	if p := v.packs[name]; p != nil {
		if v.busy[name] {
			return nil, errors.New("import cycle")
		}
		v.busy[name] = true
		files := p.files
		if p == v.under {
			files = append(append([]*source{}, files...), p.tests...)
		}
		v.done[name] = v.check(name, files)
		return v.done[name], nil
	}
	if name == "unsafe" {
		return types.Unsafe, nil
	}
	return v.std.Import(name)
}

func (v *view) check(name string, files []*source) *types.Package {
	var trees []*ast.File
	for _, each := range files {
		trees = append(trees, each.tree)
	}
	config := types.Config{Importer: v, FakeImportC: true, Error: func(err error) { v.faults = append(v.faults, err) }}
	found, _ := config.Check(name, v.set, trees, v.info)
	return found
}

func (v *view) testFiles() []*source {
	return append(append([]*source{}, v.under.tests...), v.under.outer...)
}

// isTest says whether something is declared by the tests.
func (v *view) isTest(object types.Object) bool {
	return object.Pos().IsValid() && strings.HasSuffix(v.set.Position(object.Pos()).Filename, "_test.go")
}

// isCode says whether something is declared by the code under test.
func (v *view) isCode(object types.Object) bool {
	if object == nil || object.Pkg() == nil || v.isTest(object) {
		return false
	}
	p := v.packs[object.Pkg().Path()]
	return p != nil && p.code
}
