package report

import (
	"encoding/json"
	"strings"
	"testing"

	"tutti/coll"
)

// TestVerdictText checks the lines of verdicts: the source of the gain is in the first, the command in the last.
func TestVerdictText(t *testing.T) {
	others := 0.047
	gain := &Gain{Value: 0.129, Low: 0.112, High: 0.148}
	tests := []struct {
		name string
		give Verdict
		want string
	}{
		{"predicted", Verdict{Library: "openmpi", Evidence: Predicted, Gain: gain, Changed: 10, Points: 40, Slower: &SlowerShare{Points: 0.4, Of: 40},
			Cost: Cost{Tuning: 528}, Next: NextStep{Why: "compare", Command: "tutti verify", Options: "--library openmpi"}},
			`openmpi: 12.9 % [11.2 %, 14.8 %] less collective time, predicted, not verified
  slower than the default: 1 % of the points expected (0.4 of 40)
  cost: 8.8 node min, no verification yet
  next: compare
    tutti verify 'a b' --library openmpi
`},
		{"verified", Verdict{Library: "mpich", Evidence: Verified, Date: "2026-03-01", Gain: gain, Changed: 10, Slower: &SlowerShare{Of: 62, Others: &others},
			Cost: Cost{Tuning: 3600, Verification: 7200}, Next: NextStep{Why: "use the files in jobs", Command: ".", File: "mpich.env"}},
			`mpich: 12.9 % [11.2 %, 14.8 %] less collective time, verified on 2026-03-01
  slower than the default: 0 % of the points (0 of 62 compared); of the others
    at most 4.7 %
  cost: 3 node h, 2 node h of it for the verification
  next: use the files in jobs
    . 'a b'/mpich.env
`},
		{"slower, not proved", Verdict{Library: "mpich", Evidence: Measured, Gain: &Gain{Value: -0.02, Low: -0.05, High: 0.01}, Changed: 1,
			Open: []string{"bcast not converged: budget"}, Slower: &SlowerShare{Points: 1, Of: 4, Maybe: 2, Worst: 1.5}, Next: NextStep{Why: "go on"}},
			`mpich: 2 % [-1 %, 5 %] more collective time, measured, not proved
  open: bcast not converged: budget
  slower than the default: 25 % of the points (1 of 4 compared), 2 more may be,
    worst 1.500
  cost: 0 node s, no verification yet
  next: go on
`},
		{"unknown", Verdict{Library: "mpich", NoGain: "the times of the library's default are not known", Next: NextStep{Why: "nothing"}},
			`mpich: gain unknown: the times of the library's default are not known
  slower than the default: no point: the default is selected everywhere
  cost: 0 node s, no verification yet
  next: nothing
`},
	}
	for _, tc := range tests {
		if got := VerdictText(tc.give, "'a b'", 80); got != tc.want {
			t.Errorf("%s:\n%swant\n%s", tc.name, got, tc.want)
		}
	}
}

// TestZeroGain checks that a gain of exactly zero, of files that select the default everywhere, is still known after
// a report was written and read.
func TestZeroGain(t *testing.T) {
	text, err := json.Marshal(Verdict{Library: "mpich", Evidence: Recorded, Gain: &Gain{}})
	var v Verdict
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if got, want := v.GainText(), "0 % [0 %, 0 %] less collective time, recorded"; err != nil || got != want {
		t.Errorf("%q, error %v; want %q", got, err, want)
	}
}

func TestNotConvergedWhileMeasuring(t *testing.T) {
	f := ProblemFacts{GoesOn: "the slowdown is 1.080, want below 1.050"}
	if got := f.NotConverged(); got != f.GoesOn {
		t.Errorf("%q, want %q", got, f.GoesOn)
	}
	cut := ProblemFacts{Stop: "budget", Algorithms: []AlgorithmFacts{{Name: "a", Measured: 1}, {Name: "b"}, {Name: "c"}}}
	for failed, want := range []string{"budget; only a was measured", "budget; only a was measured", "budget; only a could be measured"} {
		if cut.Failed = failed; cut.NotConverged() != want {
			t.Errorf("%d failed: %q, want %q", failed, cut.NotConverged(), want)
		}
	}
	if got, want := (ProblemFacts{}).NotConverged(), "measuring goes on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRiskiest(t *testing.T) {
	one, two, tie := 1.0, 1.5, 1.001
	f := Facts{Problems: []ProblemFacts{{Library: "mpich", Collective: "bcast", Cells: []Cell{
		{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 8}, Algorithm: "binomial", Risk: 0.01},
		{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 16}, Algorithm: "binomial", Slowdown: &two, DefaultSlowdown: &one, Best: "x"},
		{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 32}, Algorithm: "binomial", Slowdown: &tie, DefaultSlowdown: &one, Best: "x"},
		{Point: coll.Point{Collective: coll.Bcast, Nodes: 2, PPN: 1, MsgBytes: 64}, Algorithm: "library_default", Risk: 1},
	}}, {Library: "openmpi", Collective: "bcast", Cells: []Cell{{Algorithm: "x", Risk: 1}}}}}
	got := Riskiest(f, "mpich")
	if len(got) != 2 || got[0].MsgBytes != 16 || got[0].Evidence != Recorded || got[1].MsgBytes != 8 || got[1].Evidence != Predicted {
		t.Errorf("got %+v, want the recorded point of 16 bytes, then the predicted one of 8", got)
	}
	if text := RiskTable([]Verdict{{Library: "mpich", Riskiest: got}}); !strings.Contains(text, "1.500 recorded") {
		t.Errorf("table:\n%s", text)
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("x", 90)
	if got, want := Wrap("  a "+long+" b", 80), "  a\n    "+long+"\n    b\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for text, want := range map[string]string{
		"may save 0.3 % of it": "may save\n  0.3 % of\n  it\n",
		"costs 62 node s, ok":  "costs\n  62 node s,\n  ok\n",
		"takes 35.3 s and":     "takes 35.3 s\n  and\n",
		"a % b":                "a % b\n",
	} {
		if got := Wrap(text, 12); got != want {
			t.Errorf("Wrap(%q) = %q, want %q", text, got, want)
		}
	}
}
