package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// WriteJSON writes f as indented JSON ending in a newline. The same facts give the same bytes: fields are
// in the order of the types, and a nil slice is written as [], like an empty slice.
//
// It returns an error that names the field if a number is NaN or infinite.
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

// withoutNil returns a copy of f in which nil slices are replaced by empty ones, except in fields with
// omitempty. It does not change f.
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
	f.Verification = slices.Clone(f.Verification) // a nil slice stays absent
	for i := range f.Verification {
		v := &f.Verification[i]
		v.Points, v.Reverted, v.Slower, v.Obedience = orEmpty(v.Points), orEmpty(v.Reverted), orEmpty(v.Slower), orEmpty(v.Obedience)
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
	p.Reasons = slices.Clone(p.Reasons) // a nil slice stays absent
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

// WriteCurve writes all evaluations of all problems as CSV: a header with the names of the columns, then
// one row for each evaluation. Times are in seconds. Shares are between 0 and 1.
//
// It returns an error that names the field if a number is NaN or infinite.
func WriteCurve(w io.Writer, f Facts) error {
	if err := check(f); err != nil {
		return err
	}
	rows := [][]string{{
		"library", "collective", "round", "trials", "points", "point_share", "machine_seconds", "source",
		"slowdown", "accuracy", "mistakes", "p95_slowdown", "worst_slowdown", "r2",
		"slowdown_upper", "mistakes_upper",
	}}
	for _, p := range f.Problems {
		for _, c := range p.Curve {
			rows = append(rows, []string{
				p.Library, p.Collective, strconv.Itoa(c.Round), strconv.Itoa(c.Trials), strconv.Itoa(c.Points),
				exact(c.PointShare), exact(c.MachineSeconds), c.Source,
				exact(c.Slowdown), exact(c.Accuracy), exact(c.Mistakes), exact(c.P95), exact(c.Worst), exact(c.R2),
				upperEnd(c, c.SlowdownUpper), upperEnd(c, c.MistakesUpper),
			})
		}
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("report as CSV: %w", err)
	}
	return nil
}

// upperEnd formats x, which is an upper bound that was predicted. It returns "" if nothing was predicted.
func upperEnd(c CurvePoint, x float64) string {
	if c.SlowdownUpper == 0 {
		return ""
	}
	return exact(x)
}

// exact formats x with the fewest digits from which x can be read back.
func exact(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// check returns an error for the first number in f that is NaN or infinite. The error contains the number's
// path in the JSON form, for example problems[0].curve[2].r2.
func check(f Facts) error { return checkValue("", reflect.ValueOf(f)) }

func checkValue(path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("report: %s is %v: want a finite number", path, x)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return checkValue(path, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkValue(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkFields(path, v)
	}
	return nil
}

func checkFields(path string, v reflect.Value) error {
	if path != "" {
		path += "."
	}
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if err := checkValue(path+name, v.Field(i)); err != nil {
			return err
		}
	}
	return nil
}
