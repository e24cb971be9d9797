package report

// VerificationFacts is what it showed to run one library with its files and as
// shipped side by side. Ratios are tuned over default; intervals are at 95 %.
type VerificationFacts struct {
	Library        string               `json:"library"`
	Ended          bool                 `json:"ended"`     // false while it runs or after it was cut short
	Tolerance      float64              `json:"tolerance"` // slower means by more than this
	Alpha          float64              `json:"alpha"`     // probability of one false alarm or more
	Passes         int                  `json:"passes"`
	Trials         int                  `json:"trials"`
	Failed         int                  `json:"failed"`
	MachineSeconds float64              `json:"machine_seconds"`
	Collectives    []VerifiedCollective `json:"collectives"`
	Points         []VerifiedPoint      `json:"points"`    // by point
	PutBack        []CondemnedPoint     `json:"put_back"`  // found slower and left to the default
	Slower         []CondemnedPoint     `json:"slower"`    // slower still, with nothing left to put back
	Obedience      []ObedienceFacts     `json:"obedience"` // empty when nobody looked

	// Elsewhere says, in words, where ranks lay otherwise than when the library was tuned,
	// by number of nodes: what was verified does not hold for the placement that was tuned.
	Elsewhere []string `json:"elsewhere,omitempty"`
}

// VerifiedCollective is how much faster one collective became.
type VerifiedCollective struct {
	Collective string   `json:"collective"`
	Points     int      `json:"points"`
	Changed    int      `json:"changed"` // where the file selects an algorithm
	Speedup    *Range   `json:"speedup"` // default over tuned, geometric mean over the changed; null for none
	Same       *Range   `json:"same"`    // over those left to the library; null for none
	PutBack    int      `json:"put_back"`
	Left       bool     `json:"left"` // the whole collective is left to the library
	Slower     int      `json:"slower"`
	Obedience  []string `json:"obedience"` // what was seen, each once: obeyed, not obeyed, cannot be seen
}

// Range is a value with its interval.
type Range struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// VerifiedPoint is one point as it was measured last.
type VerifiedPoint struct {
	Collective string `json:"collective"`
	Nodes      int    `json:"nodes"`
	PPN        int    `json:"ppn"`
	MsgBytes   int64  `json:"msg_bytes"`
	Choice     string `json:"choice"` // of the file
	Why        string `json:"why"`    // grid, control, switch, between or again
	Blocks     int    `json:"blocks"` // with both times
	Failed     int    `json:"failed"` // blocks without
	Ratio      *Range `json:"ratio"`  // null without blocks
	PutBack    bool   `json:"put_back"`
}

// CondemnedPoint is a point where the library with its file was found slower.
type CondemnedPoint struct {
	Collective string  `json:"collective"`
	Nodes      int     `json:"nodes"`
	PPN        int     `json:"ppn"`
	MsgBytes   int64   `json:"msg_bytes"`
	Choice     string  `json:"choice"` // of the file then
	Reason     string  `json:"reason"` // slower or fails
	Ratio      *Range  `json:"ratio"`  // null where it failed
	P          float64 `json:"p"`      // of the deciding measurements, uncorrected
	Blocks     int     `json:"blocks"`
	Error      string  `json:"error,omitempty"`
}

// ObedienceFacts is what was seen of a library's obedience at one point.
type ObedienceFacts struct {
	Collective string `json:"collective"`
	Nodes      int    `json:"nodes"`
	PPN        int    `json:"ppn"`
	MsgBytes   int64  `json:"msg_bytes"`
	Choice     string `json:"choice"`
	State      string `json:"state"`          // obeyed, not obeyed or cannot be seen
	Note       string `json:"note,omitempty"` // what was seen instead, or why nothing can be
}

// MachineTimeFacts is where the time of the jobs of one problem went. Queue is in
// seconds of waiting, which costs nothing; the others are node-seconds.
type MachineTimeFacts struct {
	Library    string  `json:"library"`
	Collective string  `json:"collective"` // empty for the verification
	Jobs       int     `json:"jobs"`
	Queue      float64 `json:"queue_seconds"`
	Launch     float64 `json:"launch_node_seconds"`
	Warmup     float64 `json:"warmup_node_seconds"`
	Measure    float64 `json:"measure_node_seconds"`
	Idle       float64 `json:"idle_node_seconds"`
}

// Held is the time the nodes were held, in node-seconds.
func (m MachineTimeFacts) Held() float64 { return m.Launch + m.Warmup + m.Measure + m.Idle }

// ExcludedFacts is a candidate that was given up.
type ExcludedFacts struct {
	Library    string `json:"library"`
	Collective string `json:"collective"`
	Nodes      int    `json:"nodes"`
	PPN        int    `json:"ppn"`
	MsgBytes   int64  `json:"msg_bytes"`
	Algorithm  string `json:"algorithm"`
	Attempts   int    `json:"attempts"`
	Phase      string `json:"phase"` // of the last attempt: launch, run or parse
	Error      string `json:"error"`
}

// EnvironmentFacts is a place where jobs of a library ran; jobs that differ in the
// nodes alone are together.
type EnvironmentFacts struct {
	Library  string   `json:"library"`
	MPI      string   `json:"mpi"`      // what the library says of itself
	Checksum string   `json:"checksum"` // SHA-256 of its file
	Kernel   string   `json:"kernel"`
	CPU      string   `json:"cpu"`
	Governor string   `json:"governor"`
	Nodes    []string `json:"nodes"`
	Jobs     int      `json:"jobs"`
}
