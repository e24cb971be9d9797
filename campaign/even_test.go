package campaign_test

import (
	"context"
	"testing"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/internal/testutil/synthetic"
	"tutti/journal"
)

// doubtful is a machine whose measurements come with intervals, so much wide to either side.
type doubtful struct {
	benchrunner.Runner
	wide float64 // part of the time
}

// Run answers as the machine does, with intervals.
func (d doubtful) Run(ctx context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	return d.Runner.Run(ctx, b, doubtfulLog{log, d.wide})
}

type doubtfulLog struct {
	benchrunner.Log
	wide float64
}

// Trial passes a trial on, with an interval around its time.
func (l doubtfulLog) Trial(t coll.Trial) error {
	t.Low, t.High = t.Seconds*(1-l.wide), t.Seconds*(1+l.wide)
	return l.Log.Trial(t)
}

// Where the intervals of the default and of what is faster overlap the default stays, and
// the report says so. The default is 5 % slower than the tree.
func TestDefaultStaysWithinNoise(t *testing.T) {
	for _, tc := range []struct {
		name  string
		wide  float64
		stays bool
	}{{"clear", 0.01, false}, {"within noise", 0.03, true}} {
		t.Run(tc.name, func(t *testing.T) {
			var truth []coll.Measurement
			for _, m := range synthetic.Measurements(grid(t)) {
				if m.Algorithm.Name == "tree" {
					truth = append(truth, m)
					m.Algorithm, m.Seconds = coll.Default, 1.05*m.Seconds
					truth = append(truth, m)
				}
			}
			m, err := replay.New(truth, replay.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := campaign.Problem{
				Problem: journal.Problem{Library: "mpich", Collective: coll.Bcast},
				Space:   m.Space(), Runner: doubtful{m, tc.wide}, Fit: fit,
			}
			s := spec("uncertainty")
			s.HPO, s.CriteriaFrom, s.Batch.Candidates = 0, activelearn.CrossValidated, 1<<20
			res, err := campaign.Run(context.Background(), s, p, nil, nil, nil)
			if err != nil || res.Stop != activelearn.Converged {
				t.Fatalf("Run: stop %q, %v, want a whole grid to converge", res.Stop, err)
			}
			f := facts(t, s, p, res)
			for _, cell := range f.Cells {
				if stays := cell.Algorithm == coll.Default.String(); stays != tc.stays || cell.DefaultKept != tc.stays {
					t.Errorf("%dx%d %d B: %s is selected, even: %t", cell.Nodes, cell.PPN, cell.MsgBytes, cell.Algorithm, cell.DefaultKept)
				}
			}
			if (f.DefaultKept > 0) != tc.stays {
				t.Errorf("%d even points", f.DefaultKept)
			}
		})
	}
}
