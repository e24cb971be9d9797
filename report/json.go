package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// WriteJSON writes f as indented JSON ending in a newline. The same facts give
// the same bytes: fields are in the order of the types and a nil slice is
// written like an empty one, [].
//
// It returns an error naming the field when a figure is NaN or infinite.
func WriteJSON(w io.Writer, f Facts) error {
	if err := check(f); err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(withoutNil(f)); err != nil {
		return fmt.Errorf("report as JSON: %w", err)
	}
	return nil
}

// withoutNil returns f with every nil slice replaced by an empty one. It shares
// the elements with f but changes none of them.
func withoutNil(f Facts) Facts {
	f.Libraries = copied(f.Libraries)
	for i := range f.Libraries {
		f.Libraries[i].Files = orEmpty(f.Libraries[i].Files)
	}
	f.Problems = copied(f.Problems)
	for i, p := range f.Problems {
		f.Problems[i] = p.withoutNil()
	}
	f.Versions, f.Warnings = orEmpty(f.Versions), orEmpty(f.Warnings)
	f.Verification = slices.Clone(f.Verification) // absent when there is none, as are the others
	for i := range f.Verification {
		v := &f.Verification[i]
		v.Points, v.PutBack, v.Slower, v.Obedience = orEmpty(v.Points), orEmpty(v.PutBack), orEmpty(v.Slower), orEmpty(v.Obedience)
		v.Collectives = copied(v.Collectives)
		for j := range v.Collectives {
			v.Collectives[j].Obedience = orEmpty(v.Collectives[j].Obedience)
		}
	}
	f.Environments = slices.Clone(f.Environments)
	for i := range f.Environments {
		f.Environments[i].Nodes = orEmpty(f.Environments[i].Nodes)
	}
	return f
}

func (p ProblemFacts) withoutNil() ProblemFacts {
	p.Curve, p.Scores, p.Cells = orEmpty(p.Curve), orEmpty(p.Scores), orEmpty(p.Cells)
	p.Forest, p.Warnings = orEmpty(p.Forest), orEmpty(p.Warnings)
	p.Algorithms = copied(p.Algorithms)
	for i := range p.Algorithms {
		p.Algorithms[i].Parity = orEmpty(p.Algorithms[i].Parity)
	}
	p.Reasons = slices.Clone(p.Reasons) // absent when there are none, as are comparisons
	for i := range p.Reasons {
		p.Reasons[i].Top = orEmpty(p.Reasons[i].Top)
	}
	p.Compared = slices.Clone(p.Compared)
	for i := range p.Compared {
		p.Compared[i].Algorithms, p.Compared[i].Sizes = orEmpty(p.Compared[i].Algorithms), orEmpty(p.Compared[i].Sizes)
	}
	p.HPO = copied(p.HPO)
	for i := range p.HPO {
		p.HPO[i].Params = orEmpty(p.HPO[i].Params)
	}
	return p
}

func copied[T any](s []T) []T { return orEmpty(slices.Clone(s)) }

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
