package imports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/internal/testutil"
)

const module = "tutti"

// pkg is a package with its imports, as go list prints it.
type pkg struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// folder returns the folder of the package inside the module.
func (p pkg) folder() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

func TestImports(t *testing.T) {
	packages := testutil.Must(list())(t)
	if len(packages) < 10 {
		t.Fatalf("go list returns %d packages, want the whole module", len(packages))
	}
	for _, p := range packages {
		for _, fault := range faultsOf(p) {
			t.Error(fault)
		}
	}
}

// list returns the packages of the module. It includes packages that do not build, since go
// list reports their imports too.
func list() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages, nil
		case err != nil:
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// faultsOf returns what is wrong with the imports of one package.
func faultsOf(p pkg) []string {
	var faults []string
	from := tierOf(p.folder())
	if from < 0 {
		faults = append(faults, p.folder()+" is in no tier of internal/imports")
	}
	for _, imported := range p.Imports {
		faults = append(faults, reservedFault(p, imported, false)...)
		folder, local := strings.CutPrefix(imported, module+"/")
		if !local || from < 0 {
			continue
		}
		if to := tierOf(folder); to > from {
			faults = append(faults, fmt.Sprintf("%s (%s) imports %s (%s): want the same or a lower tier", p.folder(), tiers[from].name, folder, tiers[to].name))
		}
		if strings.HasPrefix(folder, p.folder()+"/") {
			faults = append(faults, fmt.Sprintf("%s imports its child %s: want the child to import its parent", p.folder(), folder))
		}
	}
	tests := slices.Concat(p.TestImports, p.XTestImports)
	slices.Sort(tests)
	for _, imported := range slices.Compact(tests) {
		faults = append(faults, reservedFault(p, imported, true)...)
	}
	return faults
}

// tierOf returns the index of the tier that lists the folder or else the nearest folder above it, or -1
// if no tier lists one.
func tierOf(folder string) int {
	for ; folder != "."; folder = path.Dir(folder) {
		for i, tier := range tiers {
			if slices.Contains(tier.folders, folder) {
				return i
			}
		}
	}
	return -1
}

func reservedFault(p pkg, imported string, test bool) []string {
	var faults []string
	for _, r := range reserved {
		if !matches(imported, r.pattern) || imported == r.except || test && r.tests {
			continue
		}
		allowed := slices.ContainsFunc(r.importers, func(folder string) bool {
			return p.folder() == folder || strings.HasPrefix(p.folder(), folder+"/")
		})
		if !allowed {
			faults = append(faults, fmt.Sprintf("%s imports %s: want that in %s only", p.folder(), imported, strings.Join(r.importers, ", ")))
		}
	}
	return faults
}

func matches(path, pattern string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "..."); ok {
		return strings.HasPrefix(path, prefix)
	}
	return path == pattern
}

// TestRules checks that the rules accept allowed imports and refuse forbidden ones.
func TestRules(t *testing.T) {
	tests := []struct {
		name string
		pkg  pkg
		want []string
	}{
		{name: "down", pkg: pkg{ImportPath: "tutti/surrogate/learner", Imports: []string{"tutti/coll", "tutti/preprocess", "fmt", "math/rand/v2"}}},
		{name: "child imports parent", pkg: pkg{ImportPath: "tutti/topology/discover", Imports: []string{"tutti/topology"}}},
		{
			name: "parent imports child",
			pkg:  pkg{ImportPath: "tutti/mpi", Imports: []string{"tutti/mpi/libraries"}},
			want: []string{"mpi imports its child mpi/libraries: want the child to import its parent"},
		},
		{name: "sideways", pkg: pkg{ImportPath: "tutti/mpi/mpich", Imports: []string{"tutti/journal"}}},
		{
			name: "up",
			pkg:  pkg{ImportPath: "tutti/coll", Imports: []string{"tutti/mpi"}},
			want: []string{"coll (core) imports mpi (drivers): want the same or a lower tier"},
		},
		{name: "no tier", pkg: pkg{ImportPath: "tutti/util"}, want: []string{"util is in no tier of internal/imports"}},
		{name: "a test goes up", pkg: pkg{ImportPath: "tutti/coll", TestImports: []string{"tutti/campaign"}, XTestImports: []string{"tutti/benchrunner/replay"}}},
		{
			name: "a test imports the command",
			pkg:  pkg{ImportPath: "tutti/campaign", XTestImports: []string{"tutti/cmd/tutti"}},
			want: []string{"campaign imports tutti/cmd/tutti: want that in cmd only"},
		},
		{
			name: "a runner by name",
			pkg:  pkg{ImportPath: "tutti/campaign", Imports: []string{"tutti/benchrunner", "tutti/benchrunner/replay"}},
			want: []string{"campaign imports tutti/benchrunner/replay: want that in benchrunner/runners, campaign/assembly, campaign/recording, doctor, internal/lab only"},
		},
		{name: "a runner by name where it may", pkg: pkg{ImportPath: "tutti/internal/lab", Imports: []string{"tutti/benchrunner/replay"}}},
		{
			name: "an exporter by name",
			pkg:  pkg{ImportPath: "tutti/internal/lab", Imports: []string{"tutti/mpi/mpich"}},
			want: []string{"internal/lab imports tutti/mpi/mpich: want that in mpi/libraries only"},
		},
		{
			name: "libraries of others",
			pkg: pkg{ImportPath: "tutti/campaign", Imports: []string{
				"github.com/c-bata/goptuna/tpe", "github.com/go-gota/gota/dataframe", "github.com/spf13/viper", "math/rand",
			}},
			want: []string{
				"campaign imports github.com/c-bata/goptuna/tpe: want that in hpo only",
				"campaign imports github.com/go-gota/gota/dataframe: want that in preprocess only",
				"campaign imports github.com/spf13/viper: want that in internal/config, cmd only",
				"campaign imports math/rand: want that in hpo only",
			},
		},
		{
			name: "old random numbers in a test",
			pkg:  pkg{ImportPath: "tutti/metrics", XTestImports: []string{"math/rand", "math/rand/v2"}},
			want: []string{"metrics imports math/rand: want that in hpo only"},
		},
		{name: "where they may be", pkg: pkg{ImportPath: "tutti/hpo", Imports: []string{"github.com/c-bata/goptuna", "math/rand"}}},
		{name: "flags", pkg: pkg{ImportPath: "tutti/cmd/tutti", Imports: []string{"github.com/spf13/cobra"}, XTestImports: []string{"tutti/cmd/tutti"}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, faultsOf(tc.pkg)); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// tiers lists the folders of Go code, lowest tier first. A folder stands for the
// packages below it that are not listed themselves. A package imports packages of its own
// tier and of lower ones.
var tiers = []struct {
	name    string
	folders []string
}{
	{"core", []string{ // values in, values out: no clock, no MPI, no files but input files that internal/infile opens
		"activelearn", "coll", "hpo", "internal/infile", "internal/lazyregexp", "metrics", "preprocess", "selection", "surrogate", "topology",
	}},
	{"drivers", []string{ // machines, libraries, files
		"benchrunner", "csource", "journal", "mpi", "topology/files",
	}},
	{"applications", []string{
		"campaign", "cmd", "doctor", "internal/config", "internal/imports", "internal/lab", "online", "report", "service", "topology/pairs", "verify",
	}},
	{"test helpers", []string{"internal/testutil"}},
}

// outsideCore lists the folders that may use files, processes and the network.
var outsideCore = []string{
	"benchrunner", "campaign", "cmd", "csource", "doctor", "internal", "journal", "mpi", "online", "report", "service", "topology/files", "topology/pairs", "verify",
}

// reserved lists packages that only some folders may import. A pattern that ends in ...
// stands for every path with that prefix. An importer stands for the packages below it, too.
var reserved = []struct {
	pattern   string
	except    string // a path that the pattern does not stand for
	importers []string
	tests     bool // test files anywhere may import it
}{
	{pattern: "tutti/benchrunner/runners", importers: []string{"campaign/assembly", "cmd", "doctor", "internal/config"}, tests: true},
	{pattern: "tutti/benchrunner/...", except: "tutti/benchrunner/runners", importers: []string{"benchrunner/runners", "campaign/assembly", "campaign/recording", "doctor", "internal/lab"}, tests: true},
	{pattern: "tutti/mpi/mpich", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/openmpi", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/nccl", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/settings", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/libtutti", importers: []string{"mpi/libraries", "cmd/tutti"}, tests: true},
	{pattern: "tutti/internal/testutil...", importers: []string{"internal/testutil"}, tests: true},
	{pattern: "tutti/campaign...", importers: []string{"campaign", "cmd", "doctor", "internal", "service", "topology/pairs", "verify"}, tests: true}, // not report
	{pattern: "tutti/cmd/...", importers: []string{"cmd"}},
	{pattern: "os...", importers: outsideCore, tests: true},
	{pattern: "net...", importers: outsideCore, tests: true},
	{pattern: "github.com/google/renameio/...", importers: outsideCore, tests: true},
	{pattern: "math/rand", importers: []string{"hpo"}}, // version 1: its global state cannot be reproduced
	{pattern: "github.com/c-bata/...", importers: []string{"hpo"}},
	{pattern: "github.com/go-gota/...", importers: []string{"preprocess"}},
	{pattern: "github.com/spf13/...", importers: []string{"internal/config", "cmd"}},
}
