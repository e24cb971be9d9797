package discover

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// RankParameters holds the PLogP parameters of all pairs of ranks.
type RankParameters struct {
	Ranks []Endpoint
	Pairs [][]Parameters // Pairs[i][j] is of the ranks i and j, for j < i; without sizes for a pair that was not measured
}

// ReadParameters reads PLogP parameters of pairs of ranks, as the command `topology discover --plogp all` writes them.
// Parameters of classes of pairs are ignored. Errors begin with the name `file`.
//
// The error matches ErrParameters if the file has no pair of ranks or the parameters of one are invalid.
func ReadParameters(r io.Reader, file string) (RankParameters, error) {
	var all []ClassParameters
	if err := json.NewDecoder(r).Decode(&all); err != nil {
		return RankParameters{}, fmt.Errorf("%s: %w: %w", file, ErrParameters, err)
	}
	var out RankParameters
	number, known := map[string]int{}, map[[2]int]Parameters{}
	for _, p := range all {
		if p.A == nil || p.B == nil {
			continue
		}
		if err := p.check(); err != nil {
			return RankParameters{}, fmt.Errorf("%s: %s: %w", file, p.Class, err)
		}
		var at [2]int
		for k, rank := range []*Endpoint{p.A, p.B} {
			i, seen := number[rank.String()]
			if !seen {
				i = len(out.Ranks)
				number[rank.String()], out.Ranks = i, append(out.Ranks, *rank)
			}
			at[k] = i
		}
		known[[2]int{max(at[0], at[1]), min(at[0], at[1])}] = p.Parameters
	}
	if len(out.Ranks) == 0 {
		return RankParameters{}, fmt.Errorf("%s: %w: no pair of ranks: want a file of tutti topology discover --plogp all", file, ErrParameters)
	}
	for i := range out.Ranks {
		row := make([]Parameters, i)
		for j := range row {
			row[j] = known[[2]int{i, j}]
		}
		out.Pairs = append(out.Pairs, row)
	}
	return out, nil
}

// check returns an error if a value is negative or not finite, or if the sizes are not in ascending order.
func (p Parameters) check() error {
	if len(p.Sizes) == 0 {
		return fmt.Errorf("%w: no sizes", ErrParameters)
	}
	values := []float64{p.Latency}
	for i, o := range p.Sizes {
		if i > 0 && o.Bytes <= p.Sizes[i-1].Bytes {
			return fmt.Errorf("%w: %d bytes after %d: want ascending sizes", ErrParameters, o.Bytes, p.Sizes[i-1].Bytes)
		}
		values = append(values, o.Send, o.Receive, o.Gap)
	}
	for _, x := range values {
		if !(x >= 0) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %g s: want 0 or more", ErrParameters, x)
		}
	}
	return nil
}

// Complete returns an error that names the first pair without parameters, or nil. The error matches ErrParameters.
func (r RankParameters) Complete() error {
	for i, row := range r.Pairs {
		for j, p := range row {
			if len(p.Sizes) == 0 {
				return fmt.Errorf("%w: the ranks %v and %v have no parameters: run tutti topology discover --plogp all again", ErrParameters, r.Ranks[j], r.Ranks[i])
			}
		}
	}
	return nil
}

// Times returns the time of a message between each two ranks with parameters (Parameters.Time). Ranks are named by their nodes if each
// node has one, otherwise by Endpoint.String.
func (r RankParameters) Times(bytes int) []PairTime {
	hosts := map[string]bool{}
	for _, rank := range r.Ranks {
		hosts[rank.Host] = true
	}
	name := func(e Endpoint) string {
		if len(hosts) == len(r.Ranks) {
			return e.Host
		}
		return e.String()
	}
	var out []PairTime
	for i, row := range r.Pairs {
		for j, p := range row {
			if len(p.Sizes) == 0 {
				continue
			}
			out = append(out, PairTime{A: name(r.Ranks[j]), B: name(r.Ranks[i]), Seconds: p.Time(bytes)})
		}
	}
	return out
}
