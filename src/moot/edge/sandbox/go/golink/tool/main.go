// The tool that separates Go tests from the code they test. `split` reads both and writes what each of two sandboxes
// gets; `work` builds the code in its sandbox and runs it. It is ours, and never runs anything that was given.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

// Spec is what there is to split. Files lie below the current folder.
type Spec struct {
	Folder  string   `json:"folder"`  // of the module
	Tests   []string `json:"tests"`   // files that were given as tests
	Code    []string `json:"code"`    // all other files
	Exports string   `json:"exports"` // the compiled standard library
}

// Need is why a test cannot be judged apart from the code.
type Need struct {
	Why         string `json:"why"`
	CodeDecides bool   `json:"code_decides"`
}

// Plan is what came of it.
type Plan struct {
	Problem string            `json:"problem"` // nothing can be said about these tests
	Whole   *Need             `json:"whole"`   // none of them can be judged apart
	Apart   []string          `json:"apart"`
	Needs   map[string]Need   `json:"needs"`
	Folders []string          `json:"folders"` // of the packages that have tests
	Judge   map[string]string `json:"judge"`
	Worker  map[string]string `json:"worker"`
	Key     map[string]string `json:"key"` // for one process: what signs the end of the tests
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "work" {
		work()
		return
	}
	var spec Spec
	text, err := os.ReadFile(os.Args[2]) // moot: ignore[go-path] Moot starts this program and names the file
	if err == nil {
		err = json.Unmarshal(text, &spec)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	json.NewEncoder(os.NewFile(3, "report")).Encode(split(spec))
}
