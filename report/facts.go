package report

import (
	"slices"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/hpo"
	"tutti/journal"
	"tutti/metrics"
	"tutti/verify"
)

// Facts contains all values of a report. It has no wall-clock time, so that interrupted and
// uninterrupted campaigns give the same report.
//
// Slices have a fixed order: libraries as configured, problems by library and collective, cells by ppn,
// nodes and size. A number that is not known is null.
type Facts struct {
	Tutti        string         `json:"tutti"` // version of the program
	Campaign     string         `json:"campaign"`
	Journal      string         `json:"journal,omitempty"`      // digest of the journal; see journal.Digest
	Measurements string         `json:"measurements,omitempty"` // digest of its part without verifications, which exported files have; see journal.MeasurementDigest
	Machine      string         `json:"machine"`
	Seed         uint64         `json:"seed"`
	Method       string         `json:"method"`
	Scaling      string         `json:"scaling"`
	Criteria     Criteria       `json:"criteria"`
	Libraries    []LibraryFacts `json:"libraries"`
	Problems     []ProblemFacts `json:"problems"`
	Versions     []Version      `json:"versions"` // of the toolchain and the numeric libraries
	Warnings     []string       `json:"warnings"`

	// These fields are left out if the journal has no records about them.
	Verification []VerificationFacts `json:"verification,omitempty"` // by library as configured
	MachineTime  []MachineTimeFacts  `json:"machine_time,omitempty"` // by problem, verifications last
	Excluded     []ExcludedFacts     `json:"excluded,omitempty"`     // candidates, by problem
	Environments []EnvironmentFacts  `json:"environments,omitempty"` // by library
	Evidence     []EvidenceFacts     `json:"evidence,omitempty"`     // by library
}

// Criteria say when a selection is good enough to stop.
type Criteria struct {
	Slowdown         float64 `json:"slowdown"`          // upper limit of the average slowdown
	Mistakes         float64 `json:"mistakes"`          // upper limit of the proportion of mistakes
	MistakeThreshold float64 `json:"mistake_threshold"` // 0.1: a mistake is more than 10 % slower than the best
	Patience         int     `json:"patience"`          // number of consecutive evaluations
}

// LibraryFacts describes an MPI library and the files that were written for it.
type LibraryFacts struct {
	Library  string   `json:"library"`
	Version  string   `json:"version"`
	Origin   string   `json:"origin"` // source of the list of algorithms: the installed library or the catalogue
	Files    []string `json:"files"`
	Sum      string   `json:"files_sha256"` // of the names and contents of Files
	Replayed int      `json:"replayed"`     // grid points whose choice the reader of the files confirmed

	Verified bool `json:"verified"` // a verification on the machine has proved the files

	Placement *coll.Placements `json:"placement,omitempty"` // of the measurements; null when unknown
	Benefit   *Benefit         `json:"benefit,omitempty"`   // null when the time of the default is unknown
	Verdict   *Verdict         `json:"verdict,omitempty"`
}

// Benefit compares the cost of measuring a library with the collective time that its selection saves.
type Benefit struct {
	NodeSeconds     float64  `json:"node_seconds"`            // of all jobs or, without jobs, of the trials; verifications included
	Saved           float64  `json:"saved"`                   // share of the collective time with the default; negative if the selection is slower
	Workload        string   `json:"workload"`                // calls for which Saved holds
	CollectiveShare float64  `json:"collective_share"`        // share of collectives in the time of an application, traced or assumed
	BreakEven       *float64 `json:"break_even_node_seconds"` // node-seconds of collective time; null if nothing is saved

	SavedLow  float64          `json:"saved_low"` // 95 % interval of Saved: of the verification, else by bootstrap over the points
	SavedHigh float64          `json:"saved_high"`
	Verified  *verify.Interval `json:"verified,omitempty"` // Saved as a verification measured it; null: Saved is not verified
	Noise     float64          `json:"noise,omitzero"`     // relative standard deviation of a measured time between jobs, largest of the problems
}

// NotGuarded reports whether the selection of a library is as predicted for some collective.
func (f Facts) NotGuarded(library string) bool {
	return slices.ContainsFunc(f.Problems, func(p ProblemFacts) bool { return p.Library == library && p.NotGuarded })
}

// Version is the version of a part of the software, such as a library.
type Version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ProblemFacts contains the results for one problem: a collective of a library.
type ProblemFacts struct {
	Library    string `json:"library"`
	Collective string `json:"collective"`
	Stop       string `json:"stop"`              // stop reason; only "converged" is good; "" while running
	GoesOn     string `json:"goes_on,omitempty"` // why the criteria do not end it; "" after its end or if unknown

	Rounds            int     `json:"rounds"`
	Points            int     `json:"points"` // of the grid
	PointsMeasured    int     `json:"points_measured"`
	Candidates        int     `json:"candidates"` // point x algorithm, feasible
	Trials            int     `json:"trials"`     // attempts, failed ones included
	Failed            int     `json:"failed"`
	Replicates        int     `json:"replicates,omitzero"` // candidates measured twice
	MachineSeconds    float64 `json:"machine_seconds"`
	NodeSeconds       float64 `json:"node_seconds"`
	ExhaustiveSeconds float64 `json:"exhaustive_seconds,omitzero"` // machine time of measuring all candidates; zero when unknown

	Curve      []activelearn.Evaluation `json:"curve"`  // by round
	Scores     []Score                  `json:"scores"` // of the tuned selection, then of the library's default
	Algorithms []AlgorithmFacts         `json:"algorithms"`
	Cells      []Cell                   `json:"cells"`
	HPO        []HPOTrial               `json:"hpo"`
	Forest     []Param                  `json:"forest"` // hyperparameters of the forests
	Leaves     int                      `json:"leaves"` // of the selection tree
	TreeLoss   float64                  `json:"tree_loss"`
	Warnings   []string                 `json:"warnings"`

	// These fields are left out where they do not apply to the problem.
	Noise       float64                  `json:"noise,omitzero"`         // relative standard deviation of a measured time between jobs, median of the points
	NotGuarded  bool                     `json:"not_guarded,omitzero"`   // the selection is as predicted: no default was measured, or export.guard is false
	Unconfirmed *activelearn.Unconfirmed `json:"unconfirmed,omitempty"`  // predicted gain that is left to the library; null without
	Model       string                   `json:"model,omitempty"`        // kind of the final model
	HeldOut     *hpo.Comparison          `json:"held_out,omitempty"`     // null without a comparison of models
	Ties        *int                     `json:"ties,omitempty"`         // cells with a tie; null when unknown
	DefaultKept int                      `json:"default_kept,omitempty"` // cells with DefaultKept
	Weights     *WeightFacts             `json:"weights,omitempty"`      // null when all points count the same
	Reasons     []RoundReasons           `json:"reasons,omitempty"`      // by round
	Compared    []ComparedFacts          `json:"compared,omitempty"`     // by earlier campaign
	Unsafe      *UnsafeFacts             `json:"unsafe,omitempty"`       // null when no algorithm is left out
}

// UnsafeFacts describes the algorithms that export.op_safe leaves out. The figures compare the tuned
// selection with the fastest of all algorithms; they are null where the times are unknown.
type UnsafeFacts struct {
	Algorithms []string `json:"algorithms"`
	Slowdown   *float64 `json:"slowdown"`
	Mistakes   *float64 `json:"mistakes"`
}

// WeightFacts describes the weights that points have in averages. The mean weight is 1.
type WeightFacts struct {
	Points    int     `json:"points"`  // with a positive weight
	Half      int     `json:"half"`    // smallest number of points that have half of the total weight
	Largest   float64 `json:"largest"` // weight of a point
	LargestAt string  `json:"largest_at"`
}

// RoundReasons says why the candidates of a round were chosen. Gain and Seconds are the sums of the expected
// gains and machine times of all candidates. Top lists the candidates with the largest gain.
type RoundReasons struct {
	Round      int              `json:"round"`
	Candidates int              `json:"candidates"`
	Gain       float64          `json:"gain"`    // expected decrease of the average slowdown over the grid
	Seconds    float64          `json:"seconds"` // expected machine time
	Top        []journal.Reason `json:"top"`
}

// ComparedFacts compares new measurements with the measurements of an earlier campaign.
type ComparedFacts struct {
	Campaign   string        `json:"campaign"`
	Earlier    int           `json:"earlier"`    // measurements of the earlier campaign
	Remeasured int           `json:"remeasured"` // measured again in this campaign
	New        int           `json:"new"`        // candidates measured only now
	Noise      float64       `json:"noise"`      // smaller changes are ignored, 0.05 for 5 %
	Algorithms []ChangeFacts `json:"algorithms"` // by algorithm
	Sizes      []ChangeFacts `json:"sizes"`      // by message size, over the algorithms whose own factor did not change
}

// ChangeFacts compares the new times of candidates with their times in the earlier campaign.
type ChangeFacts struct {
	Name     string          `json:"name"`
	Measured int             `json:"measured"` // number of candidates that both campaigns measured
	Factor   verify.Interval `json:"factor"`   // 2: twice as slow now; null without measurements
	Changed  bool            `json:"changed"`  // the interval lies outside 1 ± Noise
}

// Score says how good the tuned selection or the default is. Both are scored at the same points. The chosen
// algorithms are compared with the fastest algorithm that the campaign may select.
type Score struct {
	Name   string `json:"name"`   // "tuned" or "default"
	Source string `json:"source"` // see SourceText
	metrics.Summary
	SlowdownLow  float64  `json:"slowdown_low,omitzero"` // 95 % interval; the high ends are zero when unknown
	SlowdownHigh float64  `json:"slowdown_high,omitzero"`
	MistakesLow  float64  `json:"mistakes_low,omitzero"`
	MistakesHigh float64  `json:"mistakes_high,omitzero"`
	Slower       *int     `json:"slower_than_default,omitempty"` // points where the choice is slower than the default beyond noise; null when unknown
	SlowerWorst  *float64 `json:"slower_than_default_worst,omitempty"`
}

// AlgorithmFacts contains the results for one algorithm of a problem (one collective of one MPI library).
type AlgorithmFacts struct {
	Name     string   `json:"name"`
	Measured int      `json:"measured"`           // trials done
	Selected int      `json:"selected"`           // grid points where it is selected
	Excluded int      `json:"excluded,omitempty"` // grid points where it failed and cannot be selected
	R2       *float64 `json:"r2"`                 // of held-out predictions, scaled units; null with too few points
	Parity   []Parity `json:"parity"`
}

// Parity is a prediction for a candidate that was not used for training, together with its measurement. Both
// are in the model's scaled units.
type Parity struct {
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
}

// Cell is one grid point.
type Cell struct {
	coll.Point
	MeasuredAlgorithms int      `json:"measured_algorithms"`
	Algorithm          string   `json:"algorithm"`                 // selected
	Tie                bool     `json:"tie,omitempty"`             // Rival is as fast as Algorithm within the precision of the measurements
	Rival              string   `json:"rival,omitempty"`           // the next best choice; empty when unknown
	PMistake           *float64 `json:"p_mistake,omitempty"`       // mistake probability; null when unknown
	DefaultKept        bool     `json:"default_kept,omitempty"`    // the default stays, because no measured algorithm is measurably faster
	Guard              string   `json:"guard"`                     // why the choice is as it is; see activelearn.GuardResult
	Best               string   `json:"best,omitempty"`            // fastest recorded; empty when unknown
	Risk               float64  `json:"risk,omitzero"`             // expected share of time by which Algorithm is slower than the default; zero with Best
	PSlower            float64  `json:"p_slower,omitzero"`         // probability that it is slower by more than SlowerTolerance; zero with Best
	Slowdown           *float64 `json:"slowdown"`                  // of Algorithm, against the best recorded, else the best predicted
	DefaultSlowdown    *float64 `json:"default_slowdown"`          // null where the default is unknown
	Overlap            *float64 `json:"overlap,omitempty"`         // share of a nonblocking call of Algorithm that computation hides; null if not measured
	DefaultOverlap     *float64 `json:"default_overlap,omitempty"` // the same of the default
}

// HPOTrial is one trial of the study that searches for hyperparameters.
type HPOTrial struct {
	Number int      `json:"number"`
	State  string   `json:"state"` // complete, pruned or failed
	Value  *float64 `json:"value"` // cross-validated slowdown, mistakes added as the criteria weigh them; null when failed
	Best   *float64 `json:"best"`  // best complete value so far
	Params []Param  `json:"params"`
}

// Param is the name of a hyperparameter, and its value as text.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// VerificationFacts is the result of a verification, which compares a library that uses its selection files
// with the library as shipped.
type VerificationFacts struct {
	verify.Result

	Date string `json:"date,omitempty"` // of its last step, such as 2026-03-01; empty for recorded data

	// OtherPlacements describes, by number of nodes, where the verification placed ranks differently than the
	// campaign. For these numbers of nodes, the verification says nothing about the placement for which the
	// selection was tuned.
	OtherPlacements []string `json:"other_placements,omitempty"`
}

// MachineTimeFacts is the time that the jobs of one problem spent in each phase. Queue is in seconds. The
// other phases are in node-seconds.
type MachineTimeFacts struct {
	Library    string  `json:"library"`
	Collective string  `json:"collective"` // empty for the verification, preflight for reading the settings of the machine
	Jobs       int     `json:"jobs"`
	Queue      float64 `json:"queue_seconds"`
	Launch     float64 `json:"launch_node_seconds"`
	Warmup     float64 `json:"warmup_node_seconds"`
	Measure    float64 `json:"measure_node_seconds"`
	Idle       float64 `json:"idle_node_seconds"`
}

// NodeSeconds returns the node-seconds of the jobs: the sum of all phases except waiting in the queue.
func (m MachineTimeFacts) NodeSeconds() float64 { return m.Launch + m.Warmup + m.Measure + m.Idle }

// ExcludedFacts is a candidate that failed in every attempt to measure it.
type ExcludedFacts struct {
	Library string `json:"library"`
	coll.Candidate
	Attempts int    `json:"attempts"`
	Phase    string `json:"phase"` // of the last attempt: launch, run or parse
	Error    string `json:"error"`
}

// EvidenceFacts has the numbers of a library's measurements of forced algorithms by what shows which algorithm ran.
type EvidenceFacts struct {
	Library     string `json:"library"`
	Observed    int    `json:"observed"`     // the algorithm was seen to run
	Accepted    int    `json:"accepted"`     // the library took the setting, and nothing that is known outranks it
	NotObserved int    `json:"not_observed"` // the setting was given, and nothing shows what ran
}

// EnvironmentFacts describes the software and hardware on which jobs of a library ran. Jobs that ran on
// different nodes but are otherwise equal share one entry.
type EnvironmentFacts struct {
	Library    string   `json:"library"`
	MPIVersion string   `json:"mpi_version"` // as the library reports it
	Checksum   string   `json:"checksum"`    // SHA-256 of the library's file
	Kernel     string   `json:"kernel"`
	CPU        string   `json:"cpu"`
	Governor   string   `json:"governor"`
	Nodes      []string `json:"nodes"`
	Jobs       int      `json:"jobs"`
}
