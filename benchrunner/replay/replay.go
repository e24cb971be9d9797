package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"tutti/benchrunner"
	"tutti/coll"
)

// Noise describes the random factor by which a replayed time differs from the recorded one.
type Noise struct {
	Sigma           float64 // relative, lognormal: time · exp(Sigma·z)
	TailProbability float64 // probability of an outlier, which is TailLow to TailHigh times slower
}

// An outlier is slower by a uniformly distributed factor between these bounds. Single runs on shared
// clusters had outliers of this size.
const (
	TailLow  = 1.3
	TailHigh = 3.0
)

// Options describe the random effects and costs that a Machine adds to the recorded times.
type Options struct {
	Seed        uint64
	Noise       Noise   // noise of candidates with one recorded time; other candidates use their repetitions
	JobNoise    float64 // relative, lognormal, one factor for all times of a batch
	Launch      benchrunner.LaunchCost
	Start       benchrunner.Start // says which candidates can share a launch; nil: as Launch.Model says
	FailureRate float64           // fraction of trials that fail
}

// Validate returns every fault of the options at once.
func (o Options) Validate() error {
	var faults []error
	check := func(name string, v, high float64) {
		if !(v >= 0 && v <= high) {
			faults = append(faults, fmt.Errorf("%s: %g: want a number from 0 to %g", name, v, high))
		}
	}
	check("noise", o.Noise.Sigma, 1)
	check("noise tail", o.Noise.TailProbability, 1)
	check("job noise", o.JobNoise, 1)
	check("failure rate", o.FailureRate, 1)
	check("launch seconds", o.Launch.Seconds, math.MaxFloat64)
	check("launch seconds per node", o.Launch.SecondsPerNode, math.MaxFloat64)
	return errors.Join(faults...)
}

// Machine answers requests from recorded measurements. It is safe for concurrent use.
type Machine struct {
	opt         Options
	recorded    map[coll.Candidate]coll.Measurement   // the median of repetitions
	repetitions map[coll.Candidate][]coll.Measurement // sorted by time; only for candidates with several
	order       []coll.Candidate                      // sorted by coll.CompareCandidates
}

var _ benchrunner.Runner = (*Machine)(nil)

// New returns a machine that replays the measurements. A candidate may have several repetitions, which differ
// in the field Rep. The error reports a time that is not positive, a negative cost, or a duplicate.
func New(recorded []coll.Measurement, opt Options) (*Machine, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	m := &Machine{opt: opt, recorded: make(map[coll.Candidate]coll.Measurement, len(recorded)), repetitions: map[coll.Candidate][]coll.Measurement{}}
	for _, r := range recorded {
		if err := r.Validate(); err != nil {
			return nil, err
		}
		if err := m.add(r); err != nil {
			return nil, err
		}
	}
	for c, runs := range m.repetitions {
		slices.SortFunc(runs, func(a, b coll.Measurement) int {
			return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Rep, b.Rep))
		})
		truth := runs[(len(runs)-1)/2]
		truth.Rep = 0
		m.recorded[c] = truth
	}
	slices.SortFunc(m.order, coll.CompareCandidates)
	return m, nil
}

func (m *Machine) add(r coll.Measurement) error {
	runs := m.repetitions[r.Candidate]
	_, known := m.recorded[r.Candidate]
	if known && len(runs) == 0 || slices.ContainsFunc(runs, func(q coll.Measurement) bool { return r.Rep == 0 || r.Rep == q.Rep }) {
		return fmt.Errorf("%v is recorded twice", r.Candidate)
	}
	if !known {
		m.order = append(m.order, r.Candidate)
	}
	m.recorded[r.Candidate] = r
	if r.Rep != 0 {
		m.repetitions[r.Candidate] = append(runs, r)
	}
	return nil
}

// Candidates returns the recorded candidates in the order of coll.CompareCandidates. The caller must not
// change the slice.
func (m *Machine) Candidates() []coll.Candidate { return m.order }

// Space returns the space of all recorded points and algorithms.
func (m *Machine) Space() *coll.Space {
	points := make([]coll.Point, len(m.order))
	algorithms := make([]coll.Algorithm, len(m.order))
	for i, c := range m.order {
		points[i], algorithms[i] = c.Point, c.Algorithm
	}
	return coll.NewSpace(points, algorithms, func(c coll.Candidate) error {
		if _, ok := m.recorded[c]; !ok {
			return fmt.Errorf("%v is not recorded", c)
		}
		return nil
	})
}

// Truth returns the recorded measurement of a candidate, without noise. If there are several repetitions,
// it returns their median; for an even number, the faster of the two middle ones.
func (m *Machine) Truth(c coll.Candidate) (coll.Measurement, bool) {
	t, ok := m.recorded[c]
	return t, ok
}

// Truths returns the measurements of all candidates, in the order of
// coll.CompareCandidates.
func (m *Machine) Truths() []coll.Measurement {
	out := make([]coll.Measurement, len(m.order))
	for i, c := range m.order {
		out[i] = m.recorded[c]
	}
	return out
}

// ExhaustiveSeconds returns the cost of measuring the given candidates in one batch, launches included, in seconds
// of the whole machine. A candidate without a record costs only its launch.
func (m *Machine) ExhaustiveSeconds(all []coll.Candidate) float64 {
	sum := 0.0
	for i, cost := range m.opt.Launch.Costs(all, m.opt.Start) {
		sum += cost + m.recorded[all[i]].CostSeconds
	}
	return sum
}

// Run implements benchrunner.Runner. It answers, in the order of the batch, the requests that have not
// ended.
func (m *Machine) Run(ctx context.Context, batch benchrunner.Batch, log benchrunner.Log) error {
	candidates := make([]coll.Candidate, len(batch.Requests))
	for i, r := range batch.Requests {
		candidates[i] = r.Candidate
	}
	launches, job, name := m.opt.Launch.Costs(candidates, m.opt.Start), m.job(batch), fmt.Sprintf("%s-r%d", batch.Label, batch.Round)
	machineSeconds, nodeSeconds := 0.0, 0.0
	for i, r := range batch.Requests {
		if r.Ended {
			continue
		}
		if batch.Budget.Spent(machineSeconds, nodeSeconds) {
			return fmt.Errorf("%w: machine time", benchrunner.ErrTimeUp)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		t := m.trial(r, launches[i]+m.drawn(r).CostSeconds, job)
		t.Job = name
		machineSeconds, nodeSeconds = machineSeconds+t.CostSeconds, nodeSeconds+t.NodeSeconds()
		if err := log.Trial(t); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) job(b benchrunner.Batch) float64 {
	if m.opt.JobNoise == 0 {
		return 1
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "job|%s|%d", b.Label, b.Round)
	return Noise{Sigma: m.opt.JobNoise}.factor(rand.New(rand.NewPCG(m.opt.Seed, h.Sum64())))
}

// drawn returns the recorded measurement that answers a request. If the candidate has repetitions,
// successive attempts use them in turn, in an order that depends on the seed and the candidate. Without a
// record, drawn returns the zero value.
func (m *Machine) drawn(r benchrunner.Request) coll.Measurement {
	runs := m.repetitions[r.Candidate]
	if len(runs) == 0 {
		return m.recorded[r.Candidate]
	}
	turn := max(0, r.Attempt-1) % len(runs)
	r.Attempt = 0
	return runs[rand.New(rand.NewPCG(m.opt.Seed, fingerprint(r))).Perm(len(runs))[turn]]
}

// trial returns the trial that answers a request. It depends only on its arguments and the
// seed.
func (m *Machine) trial(r benchrunner.Request, cost, job float64) coll.Trial {
	t := coll.Trial{
		Measurement: coll.Measurement{Candidate: r.Candidate, CostSeconds: cost},
		Attempt:     r.Attempt,
		State:       coll.TrialFailed,
	}
	recorded := m.drawn(r)
	if recorded.Seconds == 0 {
		t.Phase, t.Error = "launch", "no recorded measurement"
		return t
	}
	rng := rand.New(rand.NewPCG(m.opt.Seed, fingerprint(r)))
	if rng.Float64() < m.opt.FailureRate {
		t.Phase, t.Error = "run", "simulated failure"
		return t
	}
	t.State = coll.TrialDone
	t.Seconds, t.Rep = recorded.Seconds*job, recorded.Rep
	if recorded.Rep == 0 {
		t.Seconds *= m.opt.Noise.factor(rng)
	}
	t.Samples, t.Overall = 1, recorded.Overall*t.Seconds/recorded.Seconds
	return t
}

func (n Noise) factor(rng *rand.Rand) float64 {
	f := math.Exp(n.Sigma * rng.NormFloat64())
	if rng.Float64() < n.TailProbability {
		f *= TailLow + (TailHigh-TailLow)*rng.Float64()
	}
	return f
}

func fingerprint(r benchrunner.Request) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s|%s|%s|%d", r.Collective, strings.Join(coll.AxisTexts(r.Point), "|"), r.Algorithm, r.Attempt)
	if r.Independent {
		fmt.Fprint(h, "|independent")
	}
	return h.Sum64()
}
