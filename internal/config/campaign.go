package config

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/runners"
	"tutti/coll"
	"tutti/hpo"
	"tutti/mpi"
	"tutti/preprocess"
)

// Campaign is the content of a campaign file. All values are valid and all paths absolute. The journal
// contains the campaign in JSON form, so a campaign can be resumed without its file.
type Campaign struct {
	Name             string    `json:"name"`
	Machine          string    `json:"machine"`
	Site             string    `json:"site,omitempty"` // path of the site profile; the other fields include its values
	Seed             uint64    `json:"seed"`
	Output           string    `json:"output"`
	Workers          int       `json:"workers"`
	Attempts         int       `json:"attempts"`
	Libraries        []Library `json:"libraries"`
	Collectives      []string  `json:"collectives"`
	Grid             Grid      `json:"grid"`
	Runner           Runner    `json:"runner"`
	Benchmark        Benchmark `json:"benchmark"`
	runners.Sections           // of the kinds of runners
	Method           string    `json:"method"`
	Strategy         Strategy  `json:"strategy"`
	Model            Model     `json:"model"`
	Stop             Stop      `json:"stop"`
	HPO              HPO       `json:"hpo"`
	Export           Export    `json:"export"`
	From             []Earlier `json:"from,omitempty"` // campaigns named by tutti tune --from; not a key of the file
	Source           *Source   `json:"source,omitempty"`
}

// Source is the campaign file from which a campaign was read.
type Source struct {
	File    string            `json:"file"`              // absolute path
	Keys    map[string]string `json:"keys"`              // values in the file or that Amend has set, as texts
	Amended map[string]string `json:"amended,omitempty"` // values in the file of keys that Amend has set; "" if they are not there
}

// Library is one MPI library to tune.
type Library struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Path         string   `json:"path,omitempty"`          // path of libmpich.so or libmpi.so if it is on this machine
	Benchmark    string   `json:"benchmark,omitempty"`     // program built with the library, or a folder of several
	Launcher     string   `json:"launcher,omitempty"`      // srun, hydra, mpirun or pals
	LauncherPath string   `json:"launcher_path,omitempty"` // path of mpiexec.hydra or mpirun
	LauncherArgs []string `json:"launcher_args,omitempty"` // further arguments, for example --cpu-bind=cores
	PMI          string   `json:"pmi,omitempty"`           // process management interface of srun: pmi2 or pmix
	Env          []string `json:"env,omitempty"`           // NAME=VALUE for every launch

	Algorithms []string   `json:"algorithms,omitempty"` // libtutti: paths of shared objects with algorithms of the user
	Users      []mpi.User `json:"users,omitempty"`      // these algorithms; resuming does not read the objects

	Site *mpi.Site `json:"-"` // settings of the machine that select algorithms; the journal has them
}

// Grid selects the points to tune and gives them weights. An axis without numbers gets the numbers that
// occur in the recorded data.
type Grid struct {
	coll.Grid
	Between []string `json:"between,omitempty"` // axes with numbers between the given ones: see the names below
	Weights []Weight `json:"weights,omitempty"`
	Trace   string   `json:"trace,omitempty"`

	// Contents of the trace: resuming does not need the file.
	Calls           []preprocess.Calls `json:"calls,omitempty"`
	CollectiveShare float64            `json:"collective_share,omitzero"` // of the time of the application; 0 when unknown
}

// The values of the key grid.between. Nodes and PPN include numbers between powers of two. With the method regret,
// message sizes join while a campaign runs; with others, Sizes includes them.
const (
	BetweenNodes = "nodes"
	BetweenPPN   = "ppn"
	BetweenSizes = "sizes"
)

// addBetween adds the numbers between powers of two to the axes that grid.between names. If sizesJoin is true, message
// sizes join later.
func (g *Grid) addBetween(sizesJoin bool) {
	if slices.Contains(g.Between, BetweenNodes) {
		g.Nodes = withBetween(g.Nodes)
	}
	if slices.Contains(g.Between, BetweenPPN) {
		g.PPN = withBetween(g.PPN)
	}
	if slices.Contains(g.Between, BetweenSizes) && !sizesJoin {
		g.Sizes = withBetween(g.Sizes)
	}
}

// withBetween adds numbers between successive powers of two: 3 between 2 and 4, 12 between 8 and 16. If the axis
// skips powers of two, it adds the whole number nearest to the geometric mean of two neighbouring numbers. Collectives
// run other algorithms if the number of ranks is not a power of two.
func withBetween[T int | int64](axis []T) []T {
	given := slices.Compact(slices.Sorted(slices.Values(axis)))
	power := func(n T) bool { return bits.OnesCount64(uint64(n)) == 1 }
	for i := 1; i < len(given); i++ {
		if low, high := given[i-1], given[i]; power(low) && power(high) {
			middle := T(1) << ((bits.TrailingZeros64(uint64(low)) + bits.TrailingZeros64(uint64(high))) / 2)
			if n := middle + middle/2; n > low {
				axis = append(axis, n)
			}
		}
	}
	return axis
}

// MaxConfirm is the largest value of the key stop.confirm.
const MaxConfirm = 1000

// Runner determines how candidates are measured.
type Runner struct {
	Kind     string   `json:"kind"`
	Data     []string `json:"data"`
	Names    string   `json:"names,omitempty"`
	Defaults string   `json:"defaults,omitempty"`
	Recorded string   `json:"recorded,omitempty"` // name of the machine in the file of defaults
	Noise    float64  `json:"noise"`
	Tail     float64  `json:"noise_tail"`
	JobNoise float64  `json:"job_noise,omitempty"`
	Failures float64  `json:"failures"`
	Launch   Launch   `json:"launch"`

	PPN             int           `json:"ppn,omitempty"`   // maximum number of processes of a local runner
	Hosts           string        `json:"hosts,omitempty"` // file of the nodes of an allocation
	Modules         []string      `json:"modules,omitempty"`
	Setup           []string      `json:"setup,omitempty"` // shell commands that run before each benchmark
	Env             []string      `json:"env,omitempty"`   // NAME=VALUE for every launch
	LaunchAllowance time.Duration `json:"launch_allowance,omitempty"`
	RankAllowance   time.Duration `json:"rank_allowance,omitempty"` // 0 means none
	Settle          time.Duration `json:"settle,omitempty"`
	JobTime         time.Duration `json:"job_time,omitempty"`
	Confirm         float64       `json:"confirm,omitempty"`     // node-hours
	NodeMemory      int64         `json:"node_memory,omitempty"` // bytes; 0: as the scheduler reports
	Parallel        string        `json:"parallel,omitempty"`
	ParallelNodes   int           `json:"parallel_nodes,omitempty"`
	Switches        []string      `json:"switches,omitempty"` // node lists such as n[1-16], given or read from Topology
	Topology        string        `json:"topology,omitempty"` // topology file; resuming does not need it
	Order           string        `json:"order,omitempty"`    // order of ranks over nodes; empty means block
}

// The values of the key runner.parallel. They say which benchmarks may run at the same time on the nodes of
// a job.
const (
	Never  = "never"  // one benchmark at a time
	Switch = "switch" // benchmarks whose nodes share no switch
	Always = "always" // as many benchmarks as fit
)

// Benchmark names the benchmark program and limits its measurements.
type Benchmark struct {
	Program string `json:"program,omitempty"`
	benchrunner.ProgramOptions
}

// Kind returns the kind of the benchmark program.
func (b Benchmark) Kind() benchrunner.ProgramKind { return runners.Program(b.Program) }

// Launch is the cost of starting a parallel program. A replay of recorded data assumes this cost for each
// start.
type Launch struct {
	Model       string        `json:"model"`
	Time        time.Duration `json:"time"`
	TimePerNode time.Duration `json:"time_per_node"`
}

// Strategy contains the sizes of the batches. A batch is a group of candidates that are measured together.
type Strategy struct {
	Initial int     `json:"initial"`
	Batch   int     `json:"batch"`
	Growth  float64 `json:"growth"`
}

// Model determines the model that predicts times. Most keys are hyperparameters of forests.
type Model struct {
	Kind        string `json:"kind"`
	Scaling     string `json:"scaling"`
	Trees       int    `json:"trees"`
	Criterion   string `json:"criterion"`
	MaxDepth    int    `json:"max_depth"`
	MinSplit    int    `json:"min_split"`
	MinLeaf     int    `json:"min_leaf"`
	MaxFeatures int    `json:"max_features"`
	Folds       int    `json:"folds"`
}

// Stop has the stopping criteria and the budgets.
type Stop struct {
	CriteriaFrom     string        `json:"criteria_from"`
	Slowdown         float64       `json:"slowdown"`
	Mistakes         float64       `json:"mistakes"`
	MistakeThreshold float64       `json:"mistake_threshold"`
	Patience         int           `json:"patience"`
	MachineTime      time.Duration `json:"machine_time"`
	NodeHours        float64       `json:"node_hours,omitempty"`
	WallTime         time.Duration `json:"wall_time"`
	Confidence       float64       `json:"confidence"`
	Confirm          float64       `json:"confirm"`
}

// Criteria returns the criteria that end the campaign.
func (s Stop) Criteria() activelearn.Criteria {
	return activelearn.Criteria{Slowdown: s.Slowdown, Mistakes: s.Mistakes, Patience: s.Patience, Confidence: s.Confidence}
}

// HPO configures the hyperparameter study after the last measurement.
type HPO struct {
	Trials int `json:"trials"`
}

// Export configures the selection files and their report.
type Export struct {
	MaxLoss float64 `json:"max_loss"`
	OpSafe  bool    `json:"op_safe"`
	Guard   bool    `json:"guard"`

	CollectiveShare float64 `json:"collective_share"` // of the time of applications, for the break-even
}

// CollectiveShare returns the share of their time that applications spend in collectives: as traced or, if the trace
// does not have it, as assumed.
func (c *Campaign) CollectiveShare() float64 {
	return cmp.Or(c.Grid.CollectiveShare, c.Export.CollectiveShare)
}

// LibraryNames returns the names of the campaign's libraries, in order.
func (c *Campaign) LibraryNames() (names []string) {
	for _, lib := range c.Libraries {
		names = append(names, lib.Name)
	}
	return names
}

// HasSecrets reports whether the campaign file may contain secrets: variables or lines of shell.
func (c *Campaign) HasSecrets() bool {
	return len(c.Runner.Env)+len(c.Runner.Setup) > 0 || slices.ContainsFunc(c.Libraries, func(l Library) bool { return len(l.Env) > 0 })
}

// Earlier has the measurements of an earlier campaign. A new campaign that uses them copies them into its
// own journal, so that it can be resumed without the earlier campaign.
type Earlier struct {
	Campaign string           `json:"campaign"`
	ID       string           `json:"id,omitempty"`
	Machine  string           `json:"machine,omitempty"`
	Problems []EarlierProblem `json:"problems"`
}

// EarlierProblem has the measurements that an earlier campaign made for one library and collective.
type EarlierProblem struct {
	Library      string             `json:"library"` // empty: any library that has the algorithms
	Version      string             `json:"version"`
	Users        []mpi.User         `json:"users,omitempty"` // algorithms of users that it had
	Collective   coll.Collective    `json:"collective"`
	Measurements []coll.Measurement `json:"measurements"`
	Forest       *hpo.ForestParams  `json:"forest,omitempty"` // hyperparameters of the study's best forest; nil without a study
}

// Of returns the measurements of a library and a collective. It returns false if there are none.
func (e Earlier) Of(library string, collective coll.Collective) (EarlierProblem, bool) {
	for _, p := range e.Problems {
		if (p.Library == library || p.Library == "") && p.Collective == collective && len(p.Measurements) > 0 {
			return p, true
		}
	}
	return EarlierProblem{}, false
}
