package lab_test

import (
	"testing"
	"time"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/internal/lab"
	"tutti/internal/testutil/synthetic"
	"tutti/preprocess"
	"tutti/surrogate/forest"
	"tutti/surrogate/learner"
)

// machine has 10 algorithms at 40 points of each size: the four of the synthetic
// machine, and copies of them that are slower by a share of their own.
func machine(t testing.TB, sizes int) lab.Set {
	t.Helper()
	g := coll.Grid{Nodes: []int{2, 4, 6, 8, 12, 16, 24, 32, 48, 64}, PPN: []int{1, 4, 8, 16}}
	for i := range sizes {
		g.MsgBytes = append(g.MsgBytes, int64(1)<<i)
	}
	points, err := g.Points(coll.Bcast)
	if err != nil {
		t.Fatal(err)
	}
	var ms []coll.Measurement
	for copied, suffix := range []string{"", "_b", "_c"} {
		for i, m := range synthetic.Measurements(points) {
			if copied == 2 && i%4 >= 2 {
				continue
			}
			m.Algorithm, err = coll.NewAlgorithm(m.Algorithm.Name + suffix)
			if err != nil {
				t.Fatal(err)
			}
			m.Seconds *= 1 + 0.03*float64(copied)*float64(1+i%3)
			ms = append(ms, m)
		}
	}
	s, err := lab.NewSet("synthetic", ms)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// BenchmarkCampaign replays one collective of 800 points and 10 algorithms until
// it converges and half of it is measured, and further when it does not.
func BenchmarkCampaign(b *testing.B) {
	s := machine(b, 20)
	for _, strategy := range activelearn.Names() {
		b.Run(strategy, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o, err := replay(s, strategy, 1, lab.DefaultOptions())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(o.Curve)), "rounds")
				b.ReportMetric(o.PointShare, "share")
			}
		})
	}
}

// BenchmarkCampaignRecorded is BenchmarkCampaign on the largest recorded set:
// 831 points and 11 algorithms.
func BenchmarkCampaignRecorded(b *testing.B) {
	sets, _, err := lab.Load([]string{"../../data/simgrid/A_bcast.csv"})
	if err != nil {
		b.Fatal(err)
	}
	for _, strategy := range activelearn.Names() {
		b.Run(strategy, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o, err := replay(sets[0], strategy, 1, lab.DefaultOptions())
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(o.Curve)), "rounds")
				b.ReportMetric(o.PointShare, "share")
				b.ReportMetric(o.MachineShare, "machine")
			}
		})
	}
}

// progress is a campaign between two rounds.
type progress struct {
	set      lab.Set
	strategy activelearn.Strategy
	ledger   *activelearn.Ledger
	truth    map[coll.Candidate]coll.Measurement
	round    int
}

func begin(b *testing.B, s lab.Set, strategy string) *progress {
	b.Helper()
	p := &progress{set: s, ledger: activelearn.NewLedger(s.Space), truth: map[coll.Candidate]coll.Measurement{}}
	for _, m := range s.Truth {
		p.truth[m.Candidate] = m
	}
	var err error
	p.strategy, err = activelearn.New(strategy, activelearn.Options{Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// step asks for a batch, tells the answers and trains the forests.
func (p *progress) step(b *testing.B) {
	p.round++
	batch, err := p.strategy.Ask(activelearn.State{Round: p.round, Want: 10, Ledger: p.ledger})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range batch {
		if err := p.ledger.Pend(c); err != nil {
			b.Fatal(err)
		}
		if err := p.ledger.Record(coll.Trial{Measurement: p.truth[c], State: coll.TrialDone}); err != nil {
			b.Fatal(err)
		}
	}
	_, err = learner.Fit(learner.Data{Measurements: p.ledger.Measurements(), Missing: p.ledger.Missing}, learner.Options{
		Scaling: preprocess.AlgorithmLog10, Forest: forest.Options{Workers: 1},
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRound is one round at 500 to 600 measurements of 10 000 candidates:
// ask, tell, train 10 forests of 100 trees, on one processor.
func BenchmarkRound(b *testing.B) {
	s := machine(b, 25)
	if s.Space.Size() != 10_000 {
		b.Fatalf("%d candidates, want 10 000", s.Space.Size())
	}
	for _, strategy := range activelearn.Names() {
		b.Run(strategy, func(b *testing.B) {
			p := begin(b, s, strategy)
			worst := time.Duration(0)
			for b.Loop() {
				b.StopTimer()
				if len(p.ledger.Measurements()) > 600 {
					p = begin(b, s, strategy)
				}
				for len(p.ledger.Measurements()) < 500 {
					p.step(b)
				}
				b.StartTimer()
				began := time.Now()
				p.step(b)
				worst = max(worst, time.Since(began))
			}
			b.ReportMetric(float64(worst.Milliseconds()), "worst-ms")
		})
	}
}
