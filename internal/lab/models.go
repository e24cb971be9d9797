package lab

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/metrics"
	"tutti/report"
	"tutti/surrogate/learner"
)

// ModelLoss is the loss of the selection that one model makes after a number of measurements.
type ModelLoss struct {
	Data       string        `json:"data"`
	Collective string        `json:"collective"`
	Seed       uint64        `json:"seed"`
	Measured   int           `json:"measured"` // number of measured candidates
	Model      learner.Model `json:"model"`
	Slowdown   float64       `json:"slowdown"` // mean
	Mistakes   float64       `json:"mistakes"` // share of the points
	Loss       float64       `json:"loss"`     // of slowdown and mistakes, in units of the criteria
}

// CheckSizes returns an error for the first invalid size of a training set.
func CheckSizes(sizes []int) error {
	for i, n := range sizes {
		if n < 2 || i > 0 && n <= sizes[i-1] {
			return fmt.Errorf("sizes %v: want numbers from 2 on, each greater than the one before", sizes)
		}
	}
	if len(sizes) == 0 {
		return fmt.Errorf("no sizes of training sets")
	}
	return nil
}

// CompareModels compares all models on training sets of the given ascending sizes. A training set has the first
// measurements of a campaign of the design. Sizes above a data set's number of candidates are left out. The losses
// are ordered by campaign, size and model. The campaigns choose measurements with the default model of their
// strategy.
func CompareModels(ctx context.Context, d Design, sizes []int, opt Options) ([]ModelLoss, error) {
	if err := CheckSizes(sizes); err != nil {
		return nil, err
	}
	parts, err := inOrder(ctx, opt.Workers, d.entries(), func(ctx context.Context, e entry) ([]ModelLoss, error) { return e.models(ctx, sizes, opt) })
	return slices.Concat(parts...), err
}

// models returns the losses of all models for one campaign, after each of the given numbers of measurements.
func (e entry) models(ctx context.Context, sizes []int, opt Options) ([]ModelLoss, error) {
	size := e.set.Space.Size()
	sizes = slices.DeleteFunc(slices.Clone(sizes), func(n int) bool { return n > size })
	if len(sizes) == 0 {
		return nil, nil
	}
	ms, err := e.firstMeasurements(ctx, sizes[len(sizes)-1], opt)
	if err != nil {
		return nil, err
	}
	var out []ModelLoss
	for _, n := range sizes {
		for _, model := range learner.Models() {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			o := opt.learner(opt.Scaling, e.seed)
			o.Model = model
			q, err := qualityOf(e.set, ms[:n], o)
			if err != nil {
				return nil, fmt.Errorf("%s: %s of %d measurements: %w", e.set.name(), model, n, err)
			}
			out = append(out, ModelLoss{
				Data: e.set.Data, Collective: string(e.set.Collective), Seed: e.seed, Measured: n, Model: model,
				Slowdown: q.Slowdown, Mistakes: q.Mistakes, Loss: opt.allowed().Loss(q.Slowdown-1, q.Mistakes),
			})
		}
	}
	return out, nil
}

// firstMeasurements replays a campaign until at least n candidates are measured, and returns its measurements.
// The campaign does not compare its selection with the recorded times.
func (e entry) firstMeasurements(ctx context.Context, n int, opt Options) ([]coll.Measurement, error) {
	res, err := e.predictedCampaign(ctx, opt, untilShare(float64(n)/float64(e.set.Space.Size())))
	if err != nil {
		return nil, err
	}
	return res.Ledger.Measurements(), nil
}

// untilShare is an observer that ends a campaign when this share of the candidates is measured.
type untilShare float64

func (s untilShare) Evaluated(e activelearn.Evaluation, _ bool, _ func() (activelearn.Choice, error)) (bool, error) {
	return e.CandidateShare >= float64(s), nil
}

// allowed returns the slowdown and the mistakes that the stopping criteria permit. Losses are in units of these.
func (o Options) allowed() metrics.Allowed {
	return metrics.Allowed{Slowdown: o.Criteria.Slowdown - 1, Mistakes: o.Criteria.Mistakes}
}

// WriteModels prints the mean loss of each model on each data set. It also prints the loss of the Gaussian process
// divided by that of the forest.
func WriteModels(w io.Writer, all []ModelLoss) error {
	type name struct{ data, collective string }
	var sets []name
	losses := map[name]map[learner.Model][]float64{}
	for _, l := range all {
		s := name{l.Data, l.Collective}
		if losses[s] == nil {
			sets, losses[s] = append(sets, s), map[learner.Model][]float64{}
		}
		losses[s][l.Model] = append(losses[s][l.Model], l.Loss)
	}
	t := report.NewTable(table.Row{"data", "collective", "training sets", "forest", "gp", "gp / forest"})
	means := map[learner.Model][]float64{}
	var ratios []float64
	for _, s := range sets {
		mean := map[learner.Model]float64{}
		for model, l := range losses[s] {
			mean[model] = stat.Mean(l, nil)
			means[model] = append(means[model], mean[model])
		}
		over := mean[learner.GaussianProcess] / mean[learner.Forest]
		ratios = append(ratios, over)
		t.AppendRow(table.Row{
			s.data, s.collective, len(losses[s][learner.GaussianProcess]),
			ratio(mean[learner.Forest]), ratio(mean[learner.GaussianProcess]), ratio(over),
		})
	}
	t.AppendSeparator()
	t.AppendRow(table.Row{
		"geometric mean", "", len(all) / len(learner.Models()),
		ratio(geometricMean(means[learner.Forest])), ratio(geometricMean(means[learner.GaussianProcess])), ratio(geometricMean(ratios)),
	})
	_, err := fmt.Fprintln(w, t.Render())
	return err
}
