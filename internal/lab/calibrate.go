package lab

import (
	"context"
	"time"

	"tutti/activelearn"
	"tutti/benchrunner/replay"
	"tutti/campaign"
	"tutti/coll"
	"tutti/metrics"
	"tutti/surrogate/learner"
)

// Calibration is one replay judged by predictions, beside the truth.
type Calibration struct {
	Data       string  `json:"data"`
	Collective string  `json:"collective"`
	Strategy   string  `json:"strategy"`
	Noise      float64 `json:"noise"`
	Tail       float64 `json:"tail"`
	Launch     string  `json:"launch"`
	Seed       uint64  `json:"seed"`
	// Machine time after the first evaluation at which the truth met the criteria, and
	// after that at which it had done so for long enough; 0 for never.
	FirstSeconds float64 `json:"first_seconds"`
	HeldSeconds  float64 `json:"held_seconds"`
	// The evaluation at which the predictions had met the criteria for long enough, the
	// last one when Stopped is false.
	Stopped       bool    `json:"stopped"`
	Exhausted     bool    `json:"exhausted"` // stopped because everything was measured
	StopSeconds   float64 `json:"stop_seconds"`
	StopShare     float64 `json:"stop_share"` // of the machine time of measuring every candidate
	Slowdown      float64 `json:"slowdown"`   // true
	Mistakes      float64 `json:"mistakes"`
	SlowdownUpper float64 `json:"slowdown_upper"`
	MistakesUpper float64 `json:"mistakes_upper"`
	Good          bool    `json:"good"` // the truth met the criteria there
	// Evaluations, and those at which both upper ends were above the truth.
	Evaluations int     `json:"evaluations"`
	Covered     int     `json:"covered"`
	WallSeconds float64 `json:"wall_seconds"`
}

// Beyond so many times the machine time at which the truth had held, a replay whose
// predictions have not met the criteria is broken off.
const calibrationMost = 4

// calibrating follows one replay.
type calibrating struct {
	Calibration
	stopping   bool // it ends where the predictions say so, and there alone
	set        Set
	exhaustive float64
	truth      *activelearn.Watch
	ended      bool // nothing more is to be learnt of the replay
}

// CalibrationDesign says which replays there are: each set with each noise, tail and seed.
type CalibrationDesign struct {
	Sets     []Set
	Strategy string
	Seeds    []uint64
	Noise    []float64
	Tail     []float64
	Known    []Calibration // of an earlier run with the same options, not replayed again
}

// Validate reports what is wrong with the options under a noise and tail of the design.
func (d CalibrationDesign) Validate(opt Options) error {
	for _, opt.Noise = range d.Noise {
		for _, opt.Tail = range d.Tail {
			if err := opt.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

// noisyEntry is one replay of a calibration design.
type noisyEntry struct {
	entry
	noise, tail float64
}

// entries are the replays of the design in the order of noise, tail, set and seed.
func (d CalibrationDesign) entries() []noisyEntry {
	var all []noisyEntry
	for _, noise := range d.Noise {
		for _, tail := range d.Tail {
			for _, s := range d.Sets {
				for _, seed := range d.Seeds {
					all = append(all, noisyEntry{entry{s, d.Strategy, seed}, noise, tail})
				}
			}
		}
	}
	return all
}

// calibrationKey tells calibrations with the same options apart.
type calibrationKey struct {
	replayKey
	noise, tail float64
}

// Calibrations replays what a design says, in the order of noise, tail, set and seed.
// emit receives the fresh ones in that order; known ones that the design does not name
// are left out.
func Calibrations(ctx context.Context, d CalibrationDesign, opt Options, emit func(Calibration) error) ([]Calibration, error) {
	known := map[calibrationKey]Calibration{}
	for _, c := range d.Known {
		known[calibrationKey{replayKey{c.Data, c.Collective, c.Strategy, c.Launch, c.Seed}, c.Noise, c.Tail}] = c
	}
	all := d.entries()
	of := func(i int) (Calibration, bool) {
		e := all[i]
		c, ok := known[calibrationKey{replayKey{e.set.Data, string(e.set.Collective), e.strategy, LaunchName(opt.Launch), e.seed}, e.noise, e.tail}]
		return c, ok
	}
	next := 0
	return inOrder(ctx, opt.Workers, len(all), func(ctx context.Context, i int) (Calibration, error) {
		if c, ok := of(i); ok {
			return c, nil
		}
		e, o := all[i], opt
		o.Noise, o.Tail = e.noise, e.tail
		return Calibrate(ctx, e.set, e.strategy, e.seed, o)
	}, func(c Calibration) error {
		_, old := of(next)
		next++
		if emit == nil || old {
			return nil
		}
		return emit(c)
	})
}

// Calibrate replays a set under a strategy, judged by predictions, until the
// predictions and the truth have both met the criteria, or it takes too long.
func Calibrate(ctx context.Context, s Set, strategy string, seed uint64, opt Options) (Calibration, error) {
	return calibrate(ctx, entry{s, strategy, seed}, opt, false)
}

// calibrate is Calibrate, or with stopping a replay that ends where the predictions say so,
// and there alone.
func calibrate(ctx context.Context, e entry, opt Options, stopping bool) (Calibration, error) {
	s, strategy, seed := e.set, e.strategy, e.seed
	began := time.Now()
	machine, err := s.machine(opt.replay(seed))
	if err != nil {
		return Calibration{}, err
	}
	exhaustive, err := s.Exhaustive(opt.Launch, opt.Nodes)
	if err != nil {
		return Calibration{}, err
	}
	c := &calibrating{
		Calibration: Calibration{
			Data: s.Data, Collective: string(s.Collective), Strategy: strategy,
			Noise: opt.Noise, Tail: opt.Tail, Launch: LaunchName(opt.Launch), Seed: seed,
		},
		stopping: stopping, set: s, exhaustive: exhaustive,
		truth: activelearn.NewWatch(opt.Criteria, activelearn.Limits{}),
	}
	res, err := e.selfJudged(ctx, machine, opt, c)
	if err != nil {
		return Calibration{}, err
	}
	if !c.ended {
		c.exhaust(res)
	}
	c.WallSeconds = time.Since(began).Seconds()
	return c.Calibration, nil
}

// selfJudged runs a campaign that does not know the truth, until the observer ends it.
func (e entry) selfJudged(ctx context.Context, machine *replay.Machine, opt Options, observer campaign.Observer) (campaign.Result, error) {
	spec, problem := opt.spec(e), e.problem(machine)
	spec.CriteriaFrom, problem.Observer = activelearn.Predicted, observer
	return campaign.Run(ctx, spec, problem, nil, nil, nil)
}

// Evaluated compares a prediction with the truth. It implements campaign.Observer.
func (c *calibrating) Evaluated(e activelearn.Evaluation, converged bool, selected func() (activelearn.Choice, error)) (bool, error) {
	if e.Source != activelearn.Predicted { // everything is measured
		return converged, nil
	}
	choose, err := selected()
	if err != nil {
		return false, err
	}
	truth, err := c.set.quality(choose)
	if err != nil {
		return false, err
	}
	c.Evaluations++
	if e.SlowdownUpper >= truth.Slowdown && e.MistakesUpper >= truth.Mistakes {
		c.Covered++
	}
	good := c.truth.Meets(truth)
	if good && c.FirstSeconds == 0 {
		c.FirstSeconds = e.MachineSeconds
	}
	if c.truth.ObserveAll(truth) && c.HeldSeconds == 0 {
		c.HeldSeconds = e.MachineSeconds
	}
	if !c.Stopped {
		c.Stopped = converged
		c.at(e, truth, good)
	}
	c.ended = c.enough(e.MachineSeconds)
	return c.ended, nil
}

// enough reports whether the replay has nothing more to tell after so much machine time.
func (c *calibrating) enough(seconds float64) bool {
	if c.stopping {
		return c.Stopped
	}
	return c.HeldSeconds > 0 && (c.Stopped || seconds > calibrationMost*c.HeldSeconds)
}

// at notes where the replay stands.
func (c *calibrating) at(e activelearn.Evaluation, truth metrics.Summary, good bool) {
	c.Good = good
	c.StopSeconds, c.StopShare = e.MachineSeconds, e.MachineSeconds/c.exhaustive
	c.Slowdown, c.Mistakes = truth.Slowdown, truth.Mistakes
	c.SlowdownUpper, c.MistakesUpper = e.SlowdownUpper, e.MistakesUpper
}

// exhaust ends a replay that measured everything: the fastest measured algorithm is
// the choice.
func (c *calibrating) exhaust(res campaign.Result) {
	if c.Stopped || len(res.Evaluations) == 0 {
		return
	}
	e := res.Evaluations[len(res.Evaluations)-1]
	chosen, least := map[coll.Point]coll.Algorithm{}, map[coll.Point]float64{}
	for _, m := range res.Ledger.Measurements() {
		if t, ok := least[m.Point]; !ok || m.Seconds < t {
			chosen[m.Point], least[m.Point] = m.Algorithm, m.Seconds
		}
	}
	truth, err := c.set.quality(func(p coll.Point) coll.Algorithm { return chosen[p] })
	if err != nil {
		return // every candidate of recorded data has a time
	}
	if res.Stop == activelearn.Converged {
		c.at(e, truth, c.truth.Meets(truth))
		c.Stopped, c.Exhausted = true, true
	}
}

// quality sums up the slowdowns of choices at all points of the set, by its truth.
func (s Set) quality(choose activelearn.Choice) (metrics.Summary, error) {
	of := learner.Slowdowns(s.Truth, choose)
	var slowdowns []float64
	for _, p := range s.Space.Points() {
		slowdowns = append(slowdowns, of[p])
	}
	return metrics.Summarize(slowdowns, metrics.Options{})
}
