package report

import (
	"cmp"
	"fmt"
	"slices"

	"tutti/campaign"
	"tutti/journal"
)

// topReasons of a round are told, those that spare most.
const topReasons = 5

// reasonsOf says why the candidates of each round of a problem were chosen; past is
// nil where nothing is known.
func reasonsOf(past *journal.ProblemState) []RoundReasons {
	if past == nil {
		return nil
	}
	var out []RoundReasons
	for _, r := range past.Rounds {
		if len(r.Reasons) > 0 {
			out = append(out, reasonsOfRound(r))
		}
	}
	return out
}

// reasonsOfRound condenses the reasons of one batch.
func reasonsOfRound(r *journal.Round) RoundReasons {
	out := RoundReasons{Round: r.Number, Candidates: len(r.Batch)}
	for i, why := range r.Reasons {
		if why == (journal.Reason{}) {
			continue // tried again
		}
		c := r.Batch[i]
		told := Reason{
			Nodes: c.Nodes, PPN: c.PPN, MsgBytes: c.MsgBytes, Algorithm: c.Algorithm.String(),
			Doubt: why.Doubt, Spares: why.Spares, Seconds: why.Seconds, Check: why.Check, Again: why.Again,
		}
		if why.Rival.Name != "" {
			told.Rival = why.Rival.String()
		}
		out.Spares += why.Spares
		out.Seconds += why.Seconds
		out.Top = append(out.Top, told)
	}
	slices.SortStableFunc(out.Top, func(a, b Reason) int { return cmp.Compare(b.Spares, a.Spares) })
	out.Top = out.Top[:min(len(out.Top), topReasons)]
	return out
}

// weightFacts says how unevenly the points of a problem count, nil when they count
// alike.
func weightFacts(p campaign.Problem) *WeightFacts {
	if p.Weights == nil {
		return nil
	}
	f := &WeightFacts{}
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
