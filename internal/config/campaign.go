package config

import (
	"time"

	"tutti/preprocess"
)

// Campaign is a campaign file after reading: every value checked, every path
// absolute. Its JSON form is kept in the journal, so that a campaign can be
// resumed without its file.
type Campaign struct {
	Name        string    `json:"name"`
	Machine     string    `json:"machine"`
	Site        string    `json:"site,omitempty"` // profile that the file named; what it says is in the other fields
	Seed        uint64    `json:"seed"`
	Output      string    `json:"output"`
	Workers     int       `json:"workers"`
	Attempts    int       `json:"attempts"`
	Libraries   []Library `json:"libraries"`
	Collectives []string  `json:"collectives"`
	Grid        Grid      `json:"grid"`
	Runner      Runner    `json:"runner"`
	Benchmark   Benchmark `json:"benchmark"`
	Slurm       Slurm     `json:"slurm"`
	Strategy    Strategy  `json:"strategy"`
	Model       Model     `json:"model"`
	Stop        Stop      `json:"stop"`
	HPO         HPO       `json:"hpo"`
	Export      Export    `json:"export"`
	From        []Earlier `json:"from,omitempty"` // of tutti tune --from; no key of the file
}

// Library is one MPI build to tune for.
type Library struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Path         string   `json:"path,omitempty"`          // of libmpich.so or libmpi.so, when it is on this machine
	Benchmark    string   `json:"benchmark,omitempty"`     // program built with it, or the folder of several
	Launcher     string   `json:"launcher,omitempty"`      // srun, hydra or mpirun
	LauncherPath string   `json:"launcher_path,omitempty"` // of mpiexec.hydra or mpirun
	LauncherArgs []string `json:"launcher_args,omitempty"` // of the site, as --cpu-bind=cores
	PMI          string   `json:"pmi,omitempty"`           // what srun speaks: pmi2 or pmix
	Env          []string `json:"env,omitempty"`           // NAME=VALUE for every launch
}

// Grid restricts the points; an axis without numbers takes what is recorded. It also
// says which points matter more than others.
type Grid struct {
	Nodes   []int              `json:"nodes,omitempty"`
	PPN     []int              `json:"ppn,omitempty"`
	Sizes   []int64            `json:"sizes,omitempty"` // bytes
	Weights []Weight           `json:"weights,omitempty"`
	Trace   string             `json:"trace,omitempty"`
	Calls   []preprocess.Calls `json:"calls,omitempty"` // of the trace, so that the file is needed once
}

// Runner says how candidates are measured.
type Runner struct {
	Kind     string   `json:"kind"`
	Data     []string `json:"data"`
	Names    string   `json:"names,omitempty"`
	Defaults string   `json:"defaults,omitempty"`
	Recorded string   `json:"recorded,omitempty"` // machine in the defaults file
	Noise    float64  `json:"noise"`
	Tail     float64  `json:"noise_tail"`
	JobNoise float64  `json:"job_noise,omitempty"`
	Failures float64  `json:"failures"`
	Launch   Launch   `json:"launch"`

	PPN             int           `json:"ppn,omitempty"` // processes that local runs at most
	Modules         []string      `json:"modules,omitempty"`
	Setup           []string      `json:"setup,omitempty"` // lines of shell
	Env             []string      `json:"env,omitempty"`   // NAME=VALUE for every launch
	LaunchAllowance time.Duration `json:"launch_allowance,omitempty"`
	RankAllowance   time.Duration `json:"rank_allowance,omitempty"` // 0 in journals of earlier releases
	Settle          time.Duration `json:"settle,omitempty"`
	JobTime         time.Duration `json:"job_time,omitempty"`
	Confirm         float64       `json:"confirm,omitempty"`     // node-hours
	NodeMemory      int64         `json:"node_memory,omitempty"` // bytes; 0: what the scheduler says
	Parallel        string        `json:"parallel,omitempty"`
	ParallelNodes   int           `json:"parallel_nodes,omitempty"`
	Switches        []string      `json:"switches,omitempty"` // hostlists, as n[1-16]; those of Topology when it is named
	Topology        string        `json:"topology,omitempty"` // file of the tree, needed once
	Order           string        `json:"order,omitempty"`    // of ranks over nodes; empty in journals of earlier releases: block
}

// Live reports whether benchmarks are really run.
func (r Runner) Live() bool { return r.Kind != Replay }

// The kinds of runners: recorded data, this machine, Slurm jobs, the Slurm
// allocation that tutti runs in.
const (
	Replay     = "replay"
	Local      = "local"
	SlurmJobs  = "slurm"
	Allocation = "allocation"
)

// Which benchmarks run side by side on the nodes of one job: none, those that share
// no switch, all that fit.
const (
	Never  = "never"
	Switch = "switch"
	Always = "always"
)

// Benchmark says which program measures and how long.
type Benchmark struct {
	Program     string        `json:"program,omitempty"`
	Version     string        `json:"version,omitempty"`
	Warmup      int           `json:"warmup,omitempty"`
	Iterations  int           `json:"iterations,omitempty"`
	MinSamples  int           `json:"min_samples,omitempty"`
	MaxSamples  int           `json:"max_samples,omitempty"`
	Precision   float64       `json:"precision,omitempty"`
	Slice       time.Duration `json:"slice,omitempty"`
	AbortFactor float64       `json:"abort_factor,omitempty"`
	Check       bool          `json:"check,omitempty"`
}

// Slurm says how jobs are submitted.
type Slurm struct {
	Partition   string   `json:"partition,omitempty"`
	Account     string   `json:"account,omitempty"`
	QOS         string   `json:"qos,omitempty"`
	Reservation string   `json:"reservation,omitempty"`
	Constraint  string   `json:"constraint,omitempty"`
	Directives  []string `json:"directives,omitempty"`
	Exclusive   bool     `json:"exclusive,omitempty"`
	Jobs        int      `json:"jobs,omitempty"`
	Bin         string   `json:"bin,omitempty"`
}

// Launch prices the starts of parallel programs.
type Launch struct {
	Model       string        `json:"model"`
	Time        time.Duration `json:"time"`
	TimePerNode time.Duration `json:"time_per_node"`
}

// Strategy says what is measured next.
type Strategy struct {
	Name    string  `json:"name"`
	Initial int     `json:"initial"`
	Batch   int     `json:"batch"`
	Growth  float64 `json:"growth"`
}

// Model says what predicts times and how forests are trained.
type Model struct {
	Kind        string `json:"kind,omitempty"` // empty in journals of earlier releases: that of the strategy
	Scaling     string `json:"scaling"`
	Trees       int    `json:"trees"`
	Criterion   string `json:"criterion"`
	MaxDepth    int    `json:"max_depth"`
	MinSplit    int    `json:"min_split"`
	MinLeaf     int    `json:"min_leaf"`
	MaxFeatures int    `json:"max_features"`
	Folds       int    `json:"folds"`
}

// Stop says when measuring ends.
type Stop struct {
	CriteriaFrom     string        `json:"criteria_from"`
	Slowdown         float64       `json:"slowdown"`
	Mistakes         float64       `json:"mistakes"`
	MistakeThreshold float64       `json:"mistake_threshold"`
	Patience         int           `json:"patience"`
	MachineTime      time.Duration `json:"machine_time"`
	NodeHours        float64       `json:"node_hours,omitempty"`
	WallTime         time.Duration `json:"wall_time"`
}

// HPO is the hyperparameter study after measuring.
type HPO struct {
	Trials int `json:"trials"`
}

// Export says how selection files are written.
type Export struct {
	MaxLoss float64 `json:"max_loss"`
	OpSafe  bool    `json:"op_safe"`
}
