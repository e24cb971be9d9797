package report

import (
	"strings"

	"tutti/coll"
)

// Facts is everything a report shows, as plain values: report.json is its JSON
// form and report.html a drawing of it. It holds no wall-clock time, so that an
// interrupted campaign and an uninterrupted one give the same bytes.
//
// Slices are in a fixed order: libraries as configured, problems by library and
// collective, cells by ppn, nodes and size. Absent figures are null.
type Facts struct {
	Tutti     string         `json:"tutti"` // version of the program
	Campaign  string         `json:"campaign"`
	Machine   string         `json:"machine"`
	Seed      uint64         `json:"seed"`
	Strategy  string         `json:"strategy"`
	Scaling   string         `json:"scaling"`
	Criteria  Criteria       `json:"criteria"`
	Libraries []LibraryFacts `json:"libraries"`
	Problems  []ProblemFacts `json:"problems"`
	Versions  []Version      `json:"versions"` // of the toolchain and the numeric libraries
	Warnings  []string       `json:"warnings"`

	// What a journal may hold beside the problems; absent where it does not.
	Verification []VerificationFacts `json:"verification,omitempty"` // by library as configured
	MachineTime  []MachineTimeFacts  `json:"machine_time,omitempty"` // by problem, verifications last
	Excluded     []ExcludedFacts     `json:"excluded,omitempty"`     // candidates, by problem
	Environments []EnvironmentFacts  `json:"environments,omitempty"` // by library
}

// Criteria say when a selection is good enough.
type Criteria struct {
	Slowdown         float64 `json:"slowdown"`          // average slowdown must be below
	Mistakes         float64 `json:"mistakes"`          // proportion of significant mistakes must be below
	MistakeThreshold float64 `json:"mistake_threshold"` // 0.1: a mistake is more than 10 % slower than the best
	Patience         int     `json:"patience"`          // evaluations in a row
}

// LibraryFacts says what was written for one MPI library.
type LibraryFacts struct {
	Library string   `json:"library"`
	Version string   `json:"version"`
	Origin  string   `json:"origin"` // where the list of algorithms comes from: the installed library or the catalogue
	Files   []string `json:"files"`
	Checked int      `json:"checked"` // grid points replayed through the written files

	Verified bool `json:"verified"` // a verification on the machine has come to its end

	Placement *coll.Placements `json:"placement,omitempty"` // of what was measured; null when unknown
}

// Unverified names the libraries that no verification was ended for, as "mpich, openmpi".
func (f Facts) Unverified() string {
	var names []string
	for _, l := range f.Libraries {
		if !l.Verified {
			names = append(names, l.Library)
		}
	}
	return strings.Join(names, ", ")
}

// Version is a component and its version.
type Version struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ProblemFacts is one library and one collective.
type ProblemFacts struct {
	Library    string `json:"library"`
	Collective string `json:"collective"`
	Stop       string `json:"stop"` // stop reason; only "converged" is good; "" while running

	Rounds            int     `json:"rounds"`
	Points            int     `json:"points"` // of the grid
	PointsMeasured    int     `json:"points_measured"`
	Candidates        int     `json:"candidates"` // point x algorithm, feasible
	Trials            int     `json:"trials"`     // attempts, failed ones included
	Failed            int     `json:"failed"`
	Repeats           int     `json:"repeats,omitzero"` // candidates that were measured twice
	MachineSeconds    float64 `json:"machine_seconds"`
	NodeSeconds       float64 `json:"node_seconds"`
	ExhaustiveSeconds float64 `json:"exhaustive_seconds,omitzero"` // cost of measuring everything; zero when unknown

	Curve      []CurvePoint     `json:"curve"`
	Scores     []Score          `json:"scores"` // of the tuned selection, then of the library's default
	Algorithms []AlgorithmFacts `json:"algorithms"`
	Cells      []Cell           `json:"cells"`
	HPO        []HPOTrial       `json:"hpo"`
	Forest     []Param          `json:"forest"` // hyperparameters of the shipped model
	Leaves     int              `json:"leaves"` // of the selection tree
	TreeLoss   float64          `json:"tree_loss"`
	Warnings   []string         `json:"warnings"`

	// What not every campaign has.
	Model    string          `json:"model,omitempty"`    // that is shipped: forest, process (a Gaussian process) or stack
	Ties     *int            `json:"ties,omitempty"`     // cells with a tie; null when nobody looked
	Even     int             `json:"even,omitempty"`     // cells that are even
	Weighted *WeightFacts    `json:"weighted,omitempty"` // null when all points count alike
	Reasons  []RoundReasons  `json:"reasons,omitempty"`  // by round
	Compared []ComparedFacts `json:"compared,omitempty"` // by earlier campaign
}

// WeightFacts says how unevenly points count in every average of a problem.
type WeightFacts struct {
	Points   int     `json:"points"`   // that count at all
	Half     int     `json:"half"`     // so few of the weightiest hold half of the weight
	Greatest float64 `json:"greatest"` // weight of the weightiest; 1 is the mean
	Where    string  `json:"where"`    // the weightiest point, in words
}

// RoundReasons says why the candidates of a round were chosen: the most worthwhile
// ones, and all of them together.
type RoundReasons struct {
	Round      int      `json:"round"`
	Candidates int      `json:"candidates"`
	Spares     float64  `json:"spares"`  // of the average slowdown over the grid, all together, as a part
	Seconds    float64  `json:"seconds"` // expected price of all
	Top        []Reason `json:"top"`
}

// Reason is why one candidate was chosen; see journal.Reason.
type Reason struct {
	Nodes     int     `json:"nodes"`
	PPN       int     `json:"ppn"`
	MsgBytes  int64   `json:"msg_bytes"`
	Algorithm string  `json:"algorithm"`
	Rival     string  `json:"rival,omitempty"`
	Doubt     float64 `json:"doubt"`
	Spares    float64 `json:"spares"`
	Seconds   float64 `json:"seconds"`
	Check     bool    `json:"check,omitempty"` // drawn, whatever it spares
	Again     bool    `json:"again,omitempty"` // measured before, slower than all others let expect
}

// ComparedFacts is what new measurements say of an earlier campaign.
type ComparedFacts struct {
	Campaign   string        `json:"campaign"`
	Earlier    int           `json:"earlier"`    // measurements of the earlier campaign
	Again      int           `json:"again"`      // of them measured again
	Fresh      int           `json:"fresh"`      // measured now and not then
	Noise      float64       `json:"noise"`      // changes by less count as none, 0.05 for 5 %
	Algorithms []ChangeFacts `json:"algorithms"` // by algorithm
	Sizes      []ChangeFacts `json:"sizes"`      // by message size, without algorithms that changed by themselves
}

// ChangeFacts is by how much times differ from those expected by the earlier campaign.
type ChangeFacts struct {
	Name     string `json:"name"`
	Measured int    `json:"measured"` // the new measurements it rests on
	Factor   *Range `json:"factor"`   // 2: twice as slow now; null where nothing was measured
	Changed  bool   `json:"changed"`  // the interval lies outside the noise
}

// CurvePoint is one evaluation: the state of the selection after a round.
type CurvePoint struct {
	Round          int     `json:"round"`
	Trials         int     `json:"trials"`
	Points         int     `json:"points"`
	PointShare     float64 `json:"point_share"`
	MachineSeconds float64 `json:"machine_seconds"`
	Source         string  `json:"source"` // "reference", "cross-validated", "predicted" or "measured"
	R2             float64 `json:"r2"`
	Slowdown       float64 `json:"slowdown"`
	Accuracy       float64 `json:"accuracy"`
	Mistakes       float64 `json:"mistakes"`
	P95            float64 `json:"p95_slowdown"`
	Worst          float64 `json:"worst_slowdown"`
	// Upper ends, which the criteria are held against; zero where nothing is predicted.
	SlowdownUpper float64 `json:"slowdown_upper,omitzero"`
	MistakesUpper float64 `json:"mistakes_upper,omitzero"`
}

// Score says how good a way of choosing is, over all points where it is known.
type Score struct {
	Name         string   `json:"name"`   // "tuned" or "default"
	Source       string   `json:"source"` // "measured": against recorded times of every algorithm; "predicted": against the model
	Points       int      `json:"points"`
	Slowdown     float64  `json:"slowdown"`
	SlowdownLow  float64  `json:"slowdown_low"` // 95 % bootstrap interval
	SlowdownHigh float64  `json:"slowdown_high"`
	Accuracy     float64  `json:"accuracy"`
	Mistakes     float64  `json:"mistakes"`
	MistakesLow  float64  `json:"mistakes_low"`
	MistakesHigh float64  `json:"mistakes_high"`
	P95          float64  `json:"p95_slowdown"`
	Worst        float64  `json:"worst_slowdown"`
	Slower       *int     `json:"slower_than_default,omitempty"` // points where it is slower than the default beyond noise; null when unknown
	SlowerWorst  *float64 `json:"slower_than_default_worst,omitempty"`
}

// AlgorithmFacts is how well one algorithm is known and how often it was chosen.
type AlgorithmFacts struct {
	Name     string   `json:"name"`
	Measured int      `json:"measured"`         // trials done
	Selected int      `json:"selected"`         // grid points where the selection takes it
	Barred   int      `json:"barred,omitempty"` // grid points where it must not be selected, since it failed
	R2       *float64 `json:"r2"`               // held-out predictions, scaled units; null when too few points
	Parity   []Parity `json:"parity"`
}

// Parity is a held-out prediction beside its measurement, both in scaled units.
type Parity struct {
	Measured  float64 `json:"measured"`
	Predicted float64 `json:"predicted"`
}

// Cell is one grid point.
type Cell struct {
	Nodes           int      `json:"nodes"`
	PPN             int      `json:"ppn"`
	MsgBytes        int64    `json:"msg_bytes"`
	Measured        int      `json:"measured"` // algorithms measured here
	Selected        string   `json:"selected"`
	Tie             string   `json:"tie,omitempty"`    // an algorithm that is as fast as the selected one, as far as measurements tell
	Even            bool     `json:"even,omitempty"`   // the default stays: what was measured to be faster is so by no difference that could be measured
	Best            string   `json:"best,omitempty"`   // fastest recorded; empty when unknown
	TunedSlowdown   *float64 `json:"tuned_slowdown"`   // against the best recorded, else the best predicted
	DefaultSlowdown *float64 `json:"default_slowdown"` // null where the default is unknown
}

// HPOTrial is one trial of the hyperparameter study.
type HPOTrial struct {
	Number int      `json:"number"`
	State  string   `json:"state"` // complete, pruned or failed
	Value  *float64 `json:"value"` // cross-validated slowdown, mistakes added as the criteria weigh them; null when failed
	Best   *float64 `json:"best"`  // best complete value so far
	Params []Param  `json:"params"`
}

// Param is a named hyperparameter.
type Param struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}
