package imports

// ranks gives every folder with Go code its place: a package imports packages of
// lower ranks only, and a child its parent.
var ranks = map[string]int{
	"coll":           0,
	"coll/catalogue": 0,
	"coll/mpichtree": 0,

	"internal/exitcode": 0,

	"store":            1,
	"metrics":          1,
	"forcing":          1,
	"native":           1,
	"surrogate/forest": 1,
	"surrogate/gp":     1,

	"preprocess":           2,
	"selection":            2,
	"selection/mpich":      2,
	"selection/openmpi":    2,
	"selection/intel":      2,
	"selection/mvapich":    2,
	"selection/table":      2,
	"benchrunner":          2,
	"benchrunner/replay":   2,
	"benchrunner/live":     2,
	"benchrunner/slurm":    2,
	"benchrunner/local":    2,
	"benchrunner/launch":   2,
	"benchrunner/native":   2,
	"benchrunner/osu":      2,
	"benchrunner/reprompi": 2,
	"benchrunner/imb":      2,

	"surrogate/learner": 3,
	"activelearn":       3,
	"hpo":               3,
	"campaign/report":   3,
	"doctor":            3,
	"verify":            3,

	"campaign": 4,

	"campaign/evaluate": 5,
	"service":           5,
	"service/api":       5,
	"service/client":    5,
	"service/page":      5,
	"service/token":     5,

	"internal/config":  6,
	"internal/imports": 6,

	"cmd/tutti":      7,
	"cmd/tutti-load": 7,

	// for tests alone
	"internal/test/fault":      8,
	"internal/test/golden":     8,
	"internal/test/mpitest":    8,
	"internal/test/pagetest":   8,
	"internal/test/runnertest": 8,
	"internal/test/slurmtest":  8,
	"internal/test/synthetic":  8,
}

// reserved names what few packages may import. A pattern ending in /... stands for
// all that lies below it. The importers are folders and what lies below them.
var reserved = []struct {
	pattern   string
	importers []string
	tests     bool // test files anywhere may import it
}{
	{pattern: "tutti/benchrunner/...", importers: []string{"cmd/tutti", "doctor", "campaign/evaluate"}, tests: true},
	{pattern: "tutti/selection/...", importers: []string{"cmd/tutti"}, tests: true},
	{pattern: "tutti/internal/test/...", importers: []string{"internal/test"}, tests: true},
	{pattern: "tutti/cmd/...", importers: []string{"cmd"}},
	{pattern: "math/rand", importers: []string{"hpo"}}, // version 1: its global state cannot be told again
	{pattern: "github.com/c-bata/...", importers: []string{"hpo"}},
	{pattern: "github.com/go-gota/...", importers: []string{"preprocess"}},
	{pattern: "github.com/spf13/...", importers: []string{"internal/config", "cmd"}},
}
