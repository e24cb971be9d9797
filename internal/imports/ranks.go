package imports

// ranks gives every folder with Go code its place: a package imports packages of
// lower ranks only, and a child its parent.
var ranks = map[string]int{
	"coll":             0,
	"internal/binfile": 0,
	"internal/robust":  0,
	"internal/version": 0,

	"internal/exitcode": 0,

	"csource":          1,
	"store":            1,
	"metrics":          1,
	"selection":        1,
	"selection/table":  1,
	"mpi/mpich/csel":   1,
	"surrogate/forest": 1,
	"surrogate/gp":     1,

	"topology":          1,
	"topology/cluster":  1,
	"topology/hwloc":    1,
	"topology/mpich":    1,
	"topology/plogp":    1,
	"topology/schedule": 1,
	"topology/slurm":    1,
	"topology/suspect":  1,
	"topology/measured": 2,
	"topology/files":    3,

	"csource/test": 2,
	"preprocess":   2,
	"mpi":          2,
	"mpi/mpich":    2,
	"mpi/openmpi":  2,
	"mpi/intel":    2,
	"mpi/mvapich":  2,
	"mpi/libtutti": 2,

	"mpi/libraries":        3,
	"benchrunner":          3,
	"benchrunner/replay":   3,
	"benchrunner/live":     3,
	"benchrunner/slurm":    3,
	"benchrunner/local":    3,
	"benchrunner/launch":   3,
	"benchrunner/native":   3,
	"benchrunner/osu":      3,
	"benchrunner/reprompi": 3,
	"benchrunner/imb":      3,
	"surrogate/learner":    3,
	"hpo":                  3,

	"activelearn": 4,
	"doctor":      4,
	"verify":      4,

	"campaign": 5,

	"campaign/evaluate": 6,
	"campaign/report":   6,
	"service":           6,
	"service/api":       6,
	"service/client":    6,
	"service/page":      6,
	"service/token":     6,

	"campaign/online": 7,

	"internal/config":  7,
	"internal/imports": 7,

	"campaign/assembly": 8,

	"campaign/drift":  9,
	"campaign/export": 9,

	"campaign/proof":    10,
	"campaign/discover": 10,
	"service/views":     10,

	"cmd/tutti":      11,
	"cmd/tutti-load": 11,

	// for tests alone
	"internal/test/campaigntest":   12,
	"internal/test/fault":          12,
	"internal/test/golden":         12,
	"internal/test/mpilibrarytest": 12,
	"internal/test/simgrid":        12,
	"internal/test/mpitest":        12,
	"internal/test/executable":     11,
	"internal/test/need":           11,
	"internal/test/pagetest":       12,
	"internal/test/patience":       11,
	"internal/test/runnertest":     12,
	"internal/test/slurmtest":      12,
	"internal/test/smalldisk":      12,
	"internal/test/synthetic":      12,
}

// reserved names what few packages may import. A pattern ending in ... stands for
// all that begins so. The importers are folders and what lies below them.
var reserved = []struct {
	pattern   string
	importers []string
	tests     bool // test files anywhere may import it
}{
	{pattern: "tutti/benchrunner/...", importers: []string{"campaign/assembly", "campaign/evaluate", "doctor"}, tests: true},
	{pattern: "tutti/mpi/mpich...", importers: []string{"mpi/libraries", "mpi/mpich"}, tests: true},
	{pattern: "tutti/mpi/openmpi", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/intel", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/mvapich", importers: []string{"mpi/libraries"}, tests: true},
	{pattern: "tutti/mpi/libtutti", importers: []string{"mpi/libraries", "cmd/tutti"}, tests: true},
	{pattern: "tutti/csource/test", importers: []string{"internal/test"}, tests: true},
	{pattern: "tutti/internal/test/...", importers: []string{"internal/test"}, tests: true},
	{pattern: "tutti/cmd/...", importers: []string{"cmd"}},
	{pattern: "math/rand", importers: []string{"hpo"}}, // version 1: its global state cannot be told again
	{pattern: "github.com/c-bata/...", importers: []string{"hpo"}},
	{pattern: "github.com/go-gota/...", importers: []string{"preprocess"}},
	{pattern: "github.com/spf13/...", importers: []string{"internal/config", "cmd"}},
}
