package campaign

import (
	"cmp"
	"fmt"
	"slices"

	"tutti/campaign/report"
	"tutti/store"
)

// topReasons of a round are told, those that spare most.
const topReasons = 5

// addReasons gives each problem of f why the candidates of its rounds were chosen.
func addReasons(f *report.Facts, records []store.Record) {
	for i := range f.Problems {
		p := &f.Problems[i]
		for _, r := range records {
			if r.Problem.Library == p.Library && string(r.Problem.Collective) == p.Collective && len(r.Reasons) > 0 {
				p.Reasons = append(p.Reasons, reasonsOf(r))
			}
		}
	}
}

// reasonsOf condenses the reasons of one batch.
func reasonsOf(r store.Record) report.RoundReasons {
	out := report.RoundReasons{Round: r.Round, Candidates: len(r.Batch)}
	for i, why := range r.Reasons {
		if why == (store.Reason{}) {
			continue // tried again
		}
		c := r.Batch[i]
		told := report.Reason{
			Nodes: c.Nodes, PPN: c.PPN, MsgBytes: c.MsgBytes, Algorithm: c.Algorithm.String(),
			Doubt: why.Doubt, Spares: why.Spares, Seconds: why.Seconds,
		}
		if why.Rival.Name != "" {
			told.Rival = why.Rival.String()
		}
		out.Spares += why.Spares
		out.Seconds += why.Seconds
		out.Top = append(out.Top, told)
	}
	slices.SortStableFunc(out.Top, func(a, b report.Reason) int { return cmp.Compare(b.Spares, a.Spares) })
	out.Top = out.Top[:min(len(out.Top), topReasons)]
	return out
}

// weightFacts says how unevenly the points of a problem count, nil when they count
// alike.
func weightFacts(p Problem) *report.WeightFacts {
	if p.Weights == nil {
		return nil
	}
	f := &report.WeightFacts{}
	order := make([]int, len(p.Weights))
	total := 0.0
	for i, w := range p.Weights {
		order[i] = i
		total += w
		if w > 0 {
			f.Points++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Weights[b], p.Weights[a]) })
	for sum := 0.0; f.Half < len(order) && sum < total/2; f.Half++ {
		sum += p.Weights[order[f.Half]]
	}
	f.Greatest = p.Weights[order[0]]
	f.Where = fmt.Sprint(p.Space.Points()[order[0]])
	return f
}
