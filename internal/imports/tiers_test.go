package imports

// tiers lists the folders of Go code, lowest tier first. A folder stands for the
// packages below it that are not listed themselves. A package imports packages of its own
// tier and of lower ones.
var tiers = []struct {
	name    string
	folders []string
}{
	{"core", []string{ // values in, values out: no clock, no files, no MPI
		"activelearn", "coll", "hpo", "metrics", "online", "preprocess", "selection", "surrogate", "topology",
	}},
	{"drivers", []string{ // machines, libraries, files
		"benchrunner", "csource", "journal", "mpi", "topology/files",
	}},
	{"applications", []string{
		"campaign", "cmd", "doctor", "internal/config", "internal/imports", "internal/lab", "report", "service", "verify",
	}},
	{"test helpers", []string{"internal/testutil"}},
}

// reserved lists packages that only some folders may import. A pattern that ends in ...
// stands for every path with that prefix. An importer stands for the packages below it, too.
var reserved = []struct {
	pattern   string
	importers []string
	tests     bool // test files anywhere may import it
}{
	{pattern: "tutti/benchrunner/...", importers: []string{"campaign/assembly", "doctor", "internal/lab"}, tests: true},
	{pattern: "tutti/mpi/mpich", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/openmpi", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/settings", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/libtutti", importers: []string{"mpi/libraries", "cmd/tutti"}, tests: true},
	{pattern: "tutti/internal/testutil...", importers: []string{"internal/testutil"}, tests: true},
	{pattern: "tutti/cmd/...", importers: []string{"cmd"}},
	{pattern: "math/rand", importers: []string{"hpo"}}, // version 1: its global state cannot be reproduced
	{pattern: "github.com/c-bata/...", importers: []string{"hpo"}},
	{pattern: "github.com/go-gota/...", importers: []string{"preprocess"}},
	{pattern: "github.com/spf13/...", importers: []string{"internal/config", "cmd"}},
}
