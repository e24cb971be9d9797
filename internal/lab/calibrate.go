package lab

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/coll"
	"tutti/metrics"
	"tutti/report"
)

// Calibration compares the predictions of one replay with the truth.
type Calibration struct {
	Replay
	// FirstSeconds is the machine time until the selection met the stopping criteria for the first time,
	// judged by the recorded times. ConvergedSeconds is the machine time until it met them in
	// Criteria.Patience successive evaluations. Each is 0 if this never happened.
	FirstSeconds     float64 `json:"first_seconds"`
	ConvergedSeconds float64 `json:"converged_seconds"`
	// The fields up to Good describe the evaluation at which the campaign stops by its own predictions, or the
	// last evaluation if Stopped is false.
	Stopped       bool    `json:"stopped"`
	Exhausted     bool    `json:"exhausted"` // stopped because everything was measured
	StopSeconds   float64 `json:"stop_seconds"`
	StopShare     float64 `json:"stop_share"` // share of the machine time of measuring every candidate
	Slowdown      float64 `json:"slowdown"`   // true
	Mistakes      float64 `json:"mistakes"`   // true
	SlowdownUpper float64 `json:"slowdown_upper"`
	MistakesUpper float64 `json:"mistakes_upper"`
	Good          bool    `json:"good"` // the truth met the criteria
	Evaluations   int     `json:"evaluations"`
	Covered       int     `json:"covered"` // evaluations at which both upper ends were at least as high as the truth
	WallSeconds   float64 `json:"wall_seconds"`
}

// calibrationLimit is the time limit of a replay whose predictions do not meet the stopping criteria, as a
// multiple of ConvergedSeconds.
const calibrationLimit = 4

// calibrationRun is the state of one replay. It observes the campaign that the replay runs.
type calibrationRun struct {
	Calibration
	ownStop    bool // the predictions alone end the replay
	set        Set
	exhaustive float64 // machine time of measuring everything, seconds
	criteria   activelearn.Criteria
	truth      *activelearn.Watch
	ended      bool
}

// Calibrations runs the replays of a design with each noise and each probability of outliers (tail). The
// results are in the order of the noises, then of the tails, then of the design. `keep` and
// `progress` have the same meaning as in Compare.
func Calibrations(ctx context.Context, d Design, noise, tail []float64, opt Options, keep *ResultFile[Calibration], progress func(Calibration)) ([]Calibration, error) {
	type noisyEntry struct {
		entry
		opt Options
	}
	var all []noisyEntry
	for _, opt.Noise = range noise {
		for _, opt.Tail = range tail {
			for _, e := range d.entries() {
				all = append(all, noisyEntry{e, opt})
			}
		}
	}
	return inOrder(ctx, opt.Workers, all, func(ctx context.Context, e noisyEntry) (Calibration, error) {
		if c, ok := keep.find(e.replay(e.opt)); ok {
			return c, nil
		}
		c, err := e.calibrate(ctx, e.opt, false)
		if err == nil {
			err = keep.Add(c)
		}
		if err == nil && progress != nil {
			progress(c)
		}
		return c, err
	})
}

// calibrate runs a replay whose strategy chooses candidates by the predictions alone. The replay ends when the
// stopping criteria have held both by the predictions and by the truth, or at calibrationLimit. If ownStop is true,
// the predictions alone end it.
func (e entry) calibrate(ctx context.Context, opt Options, ownStop bool) (Calibration, error) {
	s := e.set
	began := time.Now()
	exhaustive, err := s.Exhaustive(opt.Launch)
	if err != nil {
		return Calibration{}, err
	}
	c := &calibrationRun{
		Calibration: Calibration{Replay: e.replay(opt)}, ownStop: ownStop, set: s, exhaustive: exhaustive,
		criteria: opt.Criteria, truth: activelearn.NewWatch(opt.Criteria),
	}
	res, err := e.predictedCampaign(ctx, opt, c)
	if err != nil {
		return Calibration{}, err
	}
	if !c.ended {
		c.recordExhaustion(res)
	}
	c.WallSeconds = time.Since(began).Seconds()
	return c.Calibration, nil
}

// predictedCampaign runs a campaign that knows its own predictions but not the recorded times. It ends when the
// observer ends it.
func (e entry) predictedCampaign(ctx context.Context, opt Options, observer campaign.Observer) (campaign.Result, error) {
	problem, err := e.problem(opt)
	if err != nil {
		return campaign.Result{}, err
	}
	spec := opt.spec(e)
	spec.CriteriaFrom, problem.Observer = activelearn.Predicted, observer
	return campaign.Run(ctx, spec, problem, nil, nil, nil)
}

// Evaluated implements campaign.Observer. It compares the predicted quality of the selection with the true quality,
// and reports whether the replay ends.
func (c *calibrationRun) Evaluated(e activelearn.Evaluation, converged bool, selected func() (activelearn.Choice, error)) (bool, error) {
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
	good := c.criteria.Meets(truth)
	if good && c.FirstSeconds == 0 {
		c.FirstSeconds = e.MachineSeconds
	}
	if c.truth.ObserveAll(truth) && c.ConvergedSeconds == 0 {
		c.ConvergedSeconds = e.MachineSeconds
	}
	if !c.Stopped {
		c.Stopped = converged
		c.recordStop(e, truth, good)
	}
	c.ended = c.complete(e.MachineSeconds)
	return c.ended, nil
}

// complete reports whether all fields of the calibration are set. `seconds` is the machine time so far.
func (c *calibrationRun) complete(seconds float64) bool {
	if c.ownStop {
		return c.Stopped
	}
	return c.ConvergedSeconds > 0 && (c.Stopped || seconds > calibrationLimit*c.ConvergedSeconds)
}

// recordStop stores the results of an evaluation in the fields that describe the stop. `truth` has the
// true quality of the selection, and `good` says whether it met the stopping criteria.
func (c *calibrationRun) recordStop(e activelearn.Evaluation, truth metrics.Summary, good bool) {
	c.Good = good
	c.StopSeconds, c.StopShare = e.MachineSeconds, e.MachineSeconds/c.exhaustive
	c.Slowdown, c.Mistakes = truth.Slowdown, truth.Mistakes
	c.SlowdownUpper, c.MistakesUpper = e.SlowdownUpper, e.MistakesUpper
}

// recordExhaustion completes the record of a replay that measured all candidates before its stopping criteria
// held. It takes the algorithm with the shortest measured time at each point as the selection.
func (c *calibrationRun) recordExhaustion(res campaign.Result) {
	if c.Stopped || len(res.Evaluations) == 0 || res.Stop != activelearn.Converged {
		return
	}
	chosen, shortest := map[coll.Point]coll.Algorithm{}, map[coll.Point]float64{}
	for _, m := range res.Ledger.Measurements() {
		if t, ok := shortest[m.Point]; !ok || m.Seconds < t {
			chosen[m.Point], shortest[m.Point] = m.Algorithm, m.Seconds
		}
	}
	truth, err := c.set.quality(func(p coll.Point) coll.Algorithm { return chosen[p] })
	if err != nil {
		return // impossible: every candidate of recorded data has a time
	}
	c.recordStop(res.Evaluations[len(res.Evaluations)-1], truth, c.criteria.Meets(truth))
	c.Stopped, c.Exhausted = true, true
}

// quality compares choices with the recorded times at all points of the data set, and returns the metrics.
func (s Set) quality(choose activelearn.Choice) (metrics.Summary, error) {
	of := slowdowns(s.Truth, choose)
	var all []float64
	for _, p := range s.Space.Points() {
		all = append(all, of[p])
	}
	return metrics.Summarize(all, metrics.Options{})
}

// slowdowns compares choices with the measurements in `truth`. For each measured point it returns the time
// of the chosen algorithm, divided by the shortest time. If the chosen algorithm was not measured, the time
// of the slowest one counts.
func slowdowns(truth []coll.Measurement, choose func(coll.Point) coll.Algorithm) map[coll.Point]float64 {
	best, out := map[coll.Point]float64{}, map[coll.Point]float64{}
	chosen := map[coll.Point]float64{}
	for _, m := range truth {
		if t, known := best[m.Point]; !known || m.Seconds < t {
			best[m.Point] = m.Seconds
		}
		out[m.Point] = max(out[m.Point], m.Seconds)
		if choose(m.Point) == m.Algorithm {
			chosen[m.Point] = m.Seconds
		}
	}
	for p := range out {
		if took, known := chosen[p]; known {
			out[p] = took
		}
		out[p] /= best[p]
	}
	return out
}

type calibrationGroup struct {
	name                 string
	runs, stopped, good  int
	evaluations, covered int
	overFirst            []float64 // StopSeconds / FirstSeconds
	overConverged        []float64 // StopSeconds / ConvergedSeconds
	mistakes, slowdowns  []float64 // true, at the stop
}

func (g *calibrationGroup) add(c Calibration) {
	g.runs++
	g.evaluations += c.Evaluations
	g.covered += c.Covered
	if c.FirstSeconds > 0 {
		g.overFirst = append(g.overFirst, c.StopSeconds/c.FirstSeconds)
	}
	if c.ConvergedSeconds > 0 {
		g.overConverged = append(g.overConverged, c.StopSeconds/c.ConvergedSeconds)
	}
	if !c.Stopped {
		return
	}
	g.stopped++
	if c.Good {
		g.good++
	}
	g.mistakes, g.slowdowns = append(g.mistakes, c.Mistakes), append(g.slowdowns, c.Slowdown)
}

// WriteCalibration prints a table of calibrations by noise, by data and for all together. Some columns say how
// often the stopping criteria were met at the stop, and how often the true values were below both upper confidence
// limits. The other columns contain the machine time of a replay relative to FirstSeconds and ConvergedSeconds.
// Ratios have 95 % intervals by a bootstrap over the replays. For replays that did not stop, ratios are lower
// bounds.
func WriteCalibration(w io.Writer, all []Calibration) error {
	var groups []*calibrationGroup
	group := func(name string) *calibrationGroup {
		i := slices.IndexFunc(groups, func(g *calibrationGroup) bool { return g.name == name })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &calibrationGroup{name: name})
		}
		return groups[i]
	}
	for _, by := range []func(Calibration) string{
		func(c Calibration) string { return "noise " + noiseName(c.Noise, c.Tail) },
		func(c Calibration) string { return c.Data },
		func(Calibration) string { return "all" },
	} {
		for _, c := range all {
			group(by(c)).add(c)
		}
	}
	t := report.NewTable(table.Row{
		"data", "replays", "stopped", "truth meets criteria", "upper ends above", "time/first: median", "geo. mean",
		"time/converged: median", "geo. mean", "mistakes at stop: median", "greatest", "slower than the best at stop: median", "greatest",
	})
	for _, g := range groups {
		t.AppendRow(table.Row{
			g.name, g.runs, g.stopped, proportionOfRuns(g.good, g.stopped), proportion(g.covered, g.evaluations),
			withInterval(g.overFirst, metrics.Median), withInterval(g.overFirst, geometricMean),
			withInterval(g.overConverged, metrics.Median), withInterval(g.overConverged, geometricMean),
			percentage(metrics.Median(g.mistakes)), percentage(greatest(g.mistakes)),
			percentage(metrics.Median(g.slowdowns) - 1), percentage(greatest(g.slowdowns) - 1),
		})
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

func noiseName(noise, tail float64) string {
	s := strconv.FormatFloat(100*noise, 'g', 3, 64) + " %"
	if tail > 0 {
		s += " and outliers " + strconv.FormatFloat(100*tail, 'g', 3, 64) + " %"
	}
	return s
}

func proportion(n, of int) string { return percentage(float64(n) / float64(of)) }

func ratio(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// proportionOfRuns formats a proportion of independent runs and its 95 % interval by Jeffreys' prior (Brown, Cai and
// DasGupta, Statistical Science 16 (2001)).
func proportionOfRuns(n, of int) string {
	if of == 0 {
		return proportion(n, of)
	}
	posterior := distuv.Beta{Alpha: float64(n) + 0.5, Beta: float64(of-n) + 0.5}
	return fmt.Sprintf("%s (%.0f to %.0f)", proportion(n, of), 100*posterior.Quantile((1-confidence)/2), 100*posterior.Quantile((1+confidence)/2))
}

// withInterval formats a statistic of values and its bootstrap interval, for example "2.10 (1.80 to 2.41)".
func withInterval(values []float64, statistic func([]float64) float64) string {
	i, err := metrics.Bootstrap(values, statistic, resamples, confidence, 1)
	if err != nil {
		return ratio(math.NaN()) // there are no values
	}
	return fmt.Sprintf("%s (%s to %s)", ratio(statistic(slices.Clone(values))), ratio(i.Low), ratio(i.High))
}

func percentage(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
}

// greatest returns the greatest of the values, NaN if there are none.
func greatest(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return slices.Max(v)
}

func geometricMean(v []float64) float64 { return stat.GeometricMean(v, nil) }
