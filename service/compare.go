package service

import (
	"context"
	"errors"
	"slices"
)

// Compare holds two campaigns against each other, for every problem that both
// have learnt something of. The error matches ErrNotYet when there is none.
func (s *Service) Compare(ctx context.Context, a, b string) (Comparison, error) {
	c := Comparison{A: a, B: b, Problems: []ProblemDrift{}}
	left, err := s.Problems(a)
	if err != nil {
		return Comparison{}, err
	}
	right, err := s.Problems(b)
	if err != nil {
		return Comparison{}, err
	}
	var notYet error = ErrNotYet
	for _, p := range left {
		if !slices.Contains(right, p) {
			continue
		}
		x, err := s.learnt(ctx, a, p)
		var y Learnt
		if err == nil {
			y, err = s.learnt(ctx, b, p)
		}
		switch {
		case errors.Is(err, ErrNotYet):
			continue
		case err != nil:
			return Comparison{}, err
		}
		notYet = nil
		c.Problems = append(c.Problems, ProblemDrift{Problem: p, Points: drift(x.Selection, y.Selection)})
	}
	return c, notYet
}

// drift joins two selections by point.
func drift(a, b Selection) []Drift {
	type point struct {
		nodes, ppn int
		bytes      int64
	}
	at := make(map[point]Choice, len(b.Choices))
	for _, c := range b.Choices {
		at[point{c.Nodes, c.PPN, c.Bytes}] = c
	}
	out := []Drift{}
	for _, x := range a.Choices {
		y, both := at[point{x.Nodes, x.PPN, x.Bytes}]
		if !both {
			continue
		}
		d := Drift{Nodes: x.Nodes, PPN: x.PPN, Bytes: x.Bytes, A: x.Algorithm, B: y.Algorithm, SecondsA: x.Seconds, SecondsB: y.Seconds}
		if x.Seconds > 0 && y.Seconds > 0 {
			d.Ratio = y.Seconds / x.Seconds
		}
		out = append(out, d)
	}
	return out
}
