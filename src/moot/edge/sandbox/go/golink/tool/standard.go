package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// Whatever of the standard library acts on more than the process of the tests: the code would not see it.
var sharedPackages = map[string]string{
	"net": "the network", "net/http/httptest": "the network", "net/rpc": "the network", "os/exec": "processes",
	"os/signal": "signals", "runtime/debug": "the runtime", "testing/synctest": "the clock", "unsafe": "memory",
	"testing/iotest": "readers", "plugin": "processes", "flag": "flags", "expvar": "global state",
	"runtime/pprof": "the runtime", "runtime/trace": "the runtime", "testing/fstest": "files",
}

var sharedNames = map[string]string{
	"os.WriteFile": "files", "os.Create": "files", "os.CreateTemp": "files", "os.MkdirTemp": "files", "os.Mkdir": "files",
	"os.MkdirAll": "files", "os.OpenFile": "files", "os.Remove": "files", "os.RemoveAll": "files", "os.Rename": "files",
	"os.Chdir": "the working folder", "os.TempDir": "files", "os.Stat": "files", "os.Lstat": "files", "os.Chmod": "files",
	"os.ReadDir": "files", "os.Symlink": "files", "os.Truncate": "files", "os.DirFS": "files", "os.Pipe": "",
	"os.Setenv": "the environment", "os.Unsetenv": "the environment", "os.Clearenv": "the environment",
	"os.Getpid": "processes", "os.Getwd": "the working folder", "os.FindProcess": "processes",
	"io/ioutil.WriteFile": "files", "io/ioutil.TempDir": "files", "io/ioutil.TempFile": "files",
	"testing.T.TempDir": "files", "testing.common.TempDir": "files", "testing.T.Setenv": "the environment",
	"testing.common.Setenv": "the environment", "testing.T.Chdir": "the working folder",
	"testing.common.Chdir": "the working folder", "testing.common.Context": "a context",
	"testing.AllocsPerRun": "the runtime", "testing.Benchmark": "the runtime",
	"log.SetOutput": "the log", "log.SetFlags": "the log", "log.SetPrefix": "the log", "log.Default": "the log",
	"log.Writer": "the log", "log/slog.SetDefault": "the log", "log/slog.SetLogLoggerLevel": "the log",
	"math/rand.Seed": "random numbers", "net/http.ListenAndServe": "the network", "net/http.Get": "the network",
	"net/http.Post": "the network", "net/http.Handle": "the network", "net/http.HandleFunc": "the network",
	"syscall.Kill": "processes", "syscall.Getpid": "processes",
}

var runtimeFree = map[string]bool{"GOOS": true, "GOARCH": true, "Error": true, "Caller": true, "Version": true,
	"FuncForPC": true, "Gosched": true, "GOMAXPROCS": true, "NumCPU": true, "Callers": true, "Goexit": true}

// Names that a package may take over from the language, and that older code does take over, for helpers of its own.
var oftenRedefined = map[string]bool{"min": true, "max": true, "clear": true, "any": true}

func (j *judge) readStandard(p *part, object types.Object) {
	home := object.Pkg().Path()
	full := home + "." + object.Name()
	if function, isFunction := object.(*types.Func); isFunction {
		if receiver := function.Type().(*types.Signature).Recv(); receiver != nil {
			full = strings.TrimPrefix(types.TypeString(receiver.Type(), nil), "*") + "." + object.Name()
			if home != "testing" && home != "sync" {
				return
			}
		}
	}
	if home == "context" && (strings.HasPrefix(object.Name(), "With") || object.Name() == "AfterFunc") {
		p.need("it shares a context with the code", false)
	}
	if what, shared := sharedPackages[home]; shared {
		p.need("it shares "+what+" with the code", false)
	}
	if what := sharedNames[full]; what != "" {
		p.need("it shares "+what+" with the code", false)
	}
	if _, isFunction := object.(*types.Func); isFunction && home == "runtime" && !runtimeFree[object.Name()] {
		p.need("it shares the runtime with the code", false)
	}
	j.noteStandard(p, object, full)
}

// noteStandard notes errors of the standard library that the tests know by name.
func (j *judge) noteStandard(p *part, object types.Object, full string) {
	switch object := object.(type) {
	case *types.Var:
		if types.TypeString(object.Type(), nil) == "error" && object.Exported() && !object.IsField() {
			j.needed.standard[full] = true
			if home := object.Pkg().Path(); home == "os" || home == "io/fs" {
				j.needed.types["syscall.Errno"] = true
			}
		}
	case *types.TypeName:
		j.noteType(object.Type())
	case *types.Func:
		if full == "errors.Is" || full == "errors.As" || full == "errors.AsType" {
			p.why = append(p.why, j.matchers()...)
		}
	}
}

func (j *judge) noteType(t types.Type) {
	if pointer, isPointer := t.(*types.Pointer); isPointer {
		t = pointer.Elem()
	}
	named, isNamed := types.Unalias(t).(*types.Named)
	if !isNamed || named.Obj().Pkg() == nil || j.isLocal(named.Obj()) || !named.Obj().Exported() {
		return
	}
	if !types.IsInterface(named) && named.TypeParams().Len() == 0 && j.reason(named) == "" && named.Obj().Pkg().Path() != "sync" {
		j.needed.types[named.Obj().Pkg().Path()+"."+named.Obj().Name()] = true
	}
}

// matchers: an error of the code that says itself what it is.
func (j *judge) matchers() []Need {
	for _, each := range j.codeTypes() {
		for _, name := range []string{"Is", "As"} {
			method, _, _ := types.LookupFieldOrMethod(types.NewPointer(each), true, nil, name)
			function, isMethod := method.(*types.Func)
			if isMethod && j.isCode(function) && function.Type().(*types.Signature).Params().Len() == 1 {
				why := "the code's own method " + name + " would decide which error it is"
				return []Need{{why, true}}
			}
		}
	}
	return nil
}

func fileRead(object types.Object) bool {
	if object == nil || object.Pkg() == nil {
		return false
	}
	full := object.Pkg().Path() + "." + object.Name()
	return full == "os.ReadFile" || full == "os.Open" || full == "io/ioutil.ReadFile"
}

// readsGiven: what lies in testdata came with the tests.
func readsGiven(call *ast.CallExpr) bool {
	if len(call.Args) != 1 {
		return false
	}
	given := false
	ast.Inspect(call.Args[0], func(node ast.Node) bool {
		text, isText := node.(*ast.BasicLit)
		given = given || isText && strings.HasPrefix(strings.Trim(text.Value, "\"`"), "testdata")
		return true
	})
	return given
}
