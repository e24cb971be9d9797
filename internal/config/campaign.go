package config

import (
	"time"
)

// Campaign is a campaign file after reading: every value checked, every path
// absolute. Its JSON form is kept in the journal, so that a campaign can be
// resumed without its file.
type Campaign struct {
	Name        string    `json:"name"`
	Machine     string    `json:"machine"`
	Seed        uint64    `json:"seed"`
	Output      string    `json:"output"`
	Workers     int       `json:"workers"`
	Attempts    int       `json:"attempts"`
	Libraries   []Library `json:"libraries"`
	Collectives []string  `json:"collectives"`
	Grid        Grid      `json:"grid"`
	Runner      Runner    `json:"runner"`
	Strategy    Strategy  `json:"strategy"`
	Model       Model     `json:"model"`
	Stop        Stop      `json:"stop"`
	HPO         HPO       `json:"hpo"`
	Export      Export    `json:"export"`
}

// Library is one MPI build to tune for.
type Library struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Path    string `json:"path,omitempty"` // of libmpich.so, when it is on this machine
}

// Grid restricts the points; an axis without numbers takes what is recorded.
type Grid struct {
	Nodes []int   `json:"nodes,omitempty"`
	PPN   []int   `json:"ppn,omitempty"`
	Sizes []int64 `json:"sizes,omitempty"` // bytes
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
	Failures float64  `json:"failures"`
	Launch   Launch   `json:"launch"`
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

// Model says how the forests are trained.
type Model struct {
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
	Judge            string        `json:"judge"`
	Slowdown         float64       `json:"slowdown"`
	Mistakes         float64       `json:"mistakes"`
	MistakeThreshold float64       `json:"mistake_threshold"`
	Patience         int           `json:"patience"`
	MachineTime      time.Duration `json:"machine_time"`
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
