package lab

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"

	"tutti/activelearn"
	"tutti/campaign"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/journal"
	"tutti/metrics"
	"tutti/report"
	"tutti/selection"
)

// Guarding names a selection of a campaign that MeasureHarm compares with the library's default.
type Guarding string

// The selections. Unguarded and Guarded are those after learning: what is predicted, and what the guard keeps of it.
// Confirmed is the one after confirmation, which the files have.
const (
	Unguarded Guarding = "unguarded"
	Guarded   Guarding = "guarded"
	Confirmed Guarding = "confirmed"
)

// Harm compares one selection of one problem with the library's default, by recorded times without noise.
type Harm struct {
	Library        string   `json:"library"`
	Collective     string   `json:"collective"`
	Seed           uint64   `json:"seed"`
	Selection      Guarding `json:"selection"`
	OffGrid        bool     `json:"off_grid"` // at points that the campaign does not have
	Stop           string   `json:"stop"`     // why learning ended
	MachineSeconds float64  `json:"machine_seconds"`
	Points         int      `json:"points"`  // at which the times of the choice and of the default are recorded
	Slower2        int      `json:"slower2"` // of them: more than 2 % slower than the default
	Slower5        int      `json:"slower5"`
	Slower10       int      `json:"slower10"`
	Worst          float64  `json:"worst"`  // largest time relative to the default's
	Weight         float64  `json:"weight"` // sum of the points' weights
	Gain           float64  `json:"gain"`   // sum of weight times the natural logarithm of the speed-up
}

// HarmOptions say which campaigns MeasureHarm runs.
type HarmOptions struct {
	File    string   // campaign file on recorded data with defaults
	Set     []string // KEY=VALUE, as for tutti tune
	Seeds   []uint64
	OffGrid []string // files of recorded data with other points
}

// MeasureHarm runs the campaign of a file once for each seed, without its hyperparameter study. emit receives the
// results of each seed.
func MeasureHarm(ctx context.Context, opt HarmOptions, emit func([]Harm)) (all []Harm, err error) {
	for _, seed := range opt.Seeds {
		cfg, err := config.Load(opt.File, config.Layers{Set: append(slices.Clone(opt.Set), "seed="+strconv.FormatUint(seed, 10))})
		if err != nil {
			return nil, err
		}
		h := harmRun{seed: seed}
		if h.elsewhere, err = recordedElsewhere(*cfg, opt.OffGrid); err != nil {
			return nil, err
		}
		if h.Campaign, err = assembly.New(cfg); err != nil {
			return nil, err
		}
		of, err := h.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		emit(of)
		all = append(all, of...)
	}
	return all, nil
}

// recordedElsewhere returns the recorded times in other files, translated as those of the campaign are.
func recordedElsewhere(cfg config.Campaign, files []string) (map[journal.Problem][]coll.Measurement, error) {
	if len(files) == 0 {
		return nil, nil
	}
	sets, _, err := Load(files)
	if err != nil {
		return nil, err
	}
	cfg.Runner.Data, cfg.Grid, cfg.Collectives = nil, config.Grid{}, nil
	for _, path := range files {
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		cfg.Runner.Data = append(cfg.Runner.Data, whole)
	}
	for _, s := range sets {
		cfg.Collectives = append(cfg.Collectives, string(s.Collective))
	}
	c, err := assembly.New(&cfg)
	if err != nil {
		return nil, err
	}
	out := map[journal.Problem][]coll.Measurement{}
	for _, p := range c.Problems {
		out[p.Problem] = p.Truth
	}
	return out, nil
}

// harmRun is the campaign of one seed.
type harmRun struct {
	*assembly.Campaign
	seed      uint64
	elsewhere map[journal.Problem][]coll.Measurement
}

func (h harmRun) run(ctx context.Context) (out []Harm, err error) {
	tunings, err := inOrder(ctx, h.Workers(), h.Problems, func(ctx context.Context, p campaign.Problem) (*campaign.Tuning, error) {
		return campaign.Learn(ctx, h.Spec, p, nil, nil, nil)
	})
	if err != nil {
		return nil, err
	}
	unguarded := h.Spec
	unguarded.Guard = false
	for _, spec := range []campaign.Spec{unguarded, h.Spec} {
		more, err := h.compare(ctx, spec, tunings, map[bool]Guarding{false: Unguarded, true: Guarded}[spec.Guard])
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	if err := campaign.Confirm(ctx, h.Spec, tunings, h.Workers()); err != nil {
		return nil, err
	}
	more, err := h.compare(ctx, h.Spec, tunings, Confirmed)
	return append(out, more...), err
}

// compare compares the present selections of all problems with the default.
func (h harmRun) compare(ctx context.Context, spec campaign.Spec, tunings []*campaign.Tuning, name Guarding) ([]Harm, error) {
	indices := make([]int, len(tunings))
	for i := range indices {
		indices[i] = i
	}
	all, err := inOrder(ctx, h.Workers(), indices, func(_ context.Context, i int) ([]Harm, error) {
		p, res := h.Problems[i], tunings[i].Result()
		t, err := campaign.Train(spec, p, res)
		if err != nil {
			return nil, err
		}
		c, err := t.Conclude(selection.Rejected{})
		if err != nil {
			return nil, err
		}
		row := Harm{
			Library: p.Library, Collective: string(p.Collective), Seed: h.seed, Selection: name,
			Stop: string(res.Stop), MachineSeconds: res.Ledger.CostSeconds(),
		}
		weights := p.Weigh(metrics.Options{}, p.Space.Points())
		out := []Harm{row.against(p.Truth, c.Selection.Choose, func(at coll.Point) float64 {
			i, _ := p.Space.Index(at)
			return weights.Weight(i)
		})}
		if other := h.elsewhere[p.Problem]; len(other) > 0 {
			row.OffGrid = true
			other = slices.DeleteFunc(slices.Clone(other), func(m coll.Measurement) bool {
				_, has := p.Space.Index(m.Point)
				return has
			})
			out = append(out, row.against(other, c.Selection.Choose, func(coll.Point) float64 { return 1 }))
		}
		return out, nil
	})
	return slices.Concat(all...), err
}

// against returns the row with the figures of a selection, compared by recorded times.
func (h Harm) against(truth []coll.Measurement, choose activelearn.Choice, weight func(coll.Point) float64) Harm {
	seconds := make(map[coll.Candidate]float64, len(truth))
	for _, m := range truth {
		seconds[m.Candidate] = m.Seconds
	}
	for _, m := range truth {
		if !m.Algorithm.IsDefault() {
			continue
		}
		own, known := seconds[coll.Candidate{Point: m.Point, Algorithm: choose(m.Point)}]
		if !known {
			continue
		}
		ratio := own / m.Seconds
		h.Points++
		for limit, count := range map[float64]*int{1.02: &h.Slower2, 1.05: &h.Slower5, 1.1: &h.Slower10} {
			if ratio > limit {
				*count++
			}
		}
		h.Worst = max(h.Worst, ratio)
		h.Weight += weight(m.Point)
		h.Gain -= weight(m.Point) * math.Log(ratio)
	}
	return h
}

// join adds the figures of another problem.
func (h *Harm) join(other Harm) {
	h.MachineSeconds += other.MachineSeconds
	h.Points += other.Points
	h.Slower2, h.Slower5, h.Slower10 = h.Slower2+other.Slower2, h.Slower5+other.Slower5, h.Slower10+other.Slower10
	h.Worst, h.Weight, h.Gain = max(h.Worst, other.Worst), h.Weight+other.Weight, h.Gain+other.Gain
}

// harmGroup has the figures of one selection, summed over the problems of each seed.
type harmGroup struct {
	selection Guarding
	offGrid   bool
	seeds     []Harm
}

// groupHarm returns the groups on the grid, then those off it.
func groupHarm(all []Harm) (groups []harmGroup) {
	for _, off := range []bool{false, true} {
		for _, name := range []Guarding{Unguarded, Guarded, Confirmed} {
			g := harmGroup{selection: name, offGrid: off}
			for _, h := range all {
				switch n := len(g.seeds); {
				case h.Selection != name || h.OffGrid != off:
				case n > 0 && g.seeds[n-1].Seed == h.Seed:
					g.seeds[n-1].join(h)
				default:
					g.seeds = append(g.seeds, h)
				}
			}
			if len(g.seeds) > 0 {
				groups = append(groups, g)
			}
		}
	}
	return groups
}

// mean returns the mean of a figure over the seeds.
func (g harmGroup) mean(of func(Harm) float64) float64 {
	values := make([]float64, len(g.seeds))
	for i, h := range g.seeds {
		values[i] = of(h)
	}
	return stat.Mean(values, nil)
}

// count formats a number of points: the mean over the seeds, and the largest one.
func (g harmGroup) count(of func(Harm) int) string {
	most := of(slices.MaxFunc(g.seeds, func(a, b Harm) int { return cmp.Compare(of(a), of(b)) }))
	return fmt.Sprintf("%.1f (%d)", g.mean(func(h Harm) float64 { return float64(of(h)) }), most)
}

// WriteHarm writes a table of the selections, first at the points of the campaigns, then at others. Counts of points are
// means over the seeds, with the largest in parentheses. Worst is that of all seeds. Gain is the mean logarithm of the
// speed-up over the default; its smallest value over the seeds is in parentheses.
func WriteHarm(w io.Writer, all []Harm) error {
	t := report.NewTable(table.Row{"selection", "seeds", "points", "> 2 % slower", "> 5 %", "> 10 %", "worst", "gain", "machine min"})
	for _, g := range groupHarm(all) {
		name := string(g.selection)
		if g.offGrid {
			name += ", off the grid"
		}
		gain := func(h Harm) float64 { return h.Gain / h.Weight }
		least := slices.MinFunc(g.seeds, func(a, b Harm) int { return cmp.Compare(gain(a), gain(b)) })
		worst := slices.MaxFunc(g.seeds, func(a, b Harm) int { return cmp.Compare(a.Worst, b.Worst) })
		t.AppendRow(table.Row{
			name, len(g.seeds), fmt.Sprintf("%.0f", g.mean(func(h Harm) float64 { return float64(h.Points) })),
			g.count(func(h Harm) int { return h.Slower2 }), g.count(func(h Harm) int { return h.Slower5 }), g.count(func(h Harm) int { return h.Slower10 }),
			fmt.Sprintf("%.3f", worst.Worst), fmt.Sprintf("%.4f (%.4f)", g.mean(gain), gain(least)),
			fmt.Sprintf("%.2f", g.mean(func(h Harm) float64 { return h.MachineSeconds })/60),
		})
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}
