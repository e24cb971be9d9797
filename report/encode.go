package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"tutti/activelearn"
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
// omitempty.
func withoutNil(f Facts) Facts {
	fillSlices(reflect.ValueOf(&f).Elem())
	return f
}

// fillSlices copies the slices in v, and replaces nil slices by empty ones. It does not follow pointers.
func fillSlices(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		filled := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(filled, v)
		v.Set(filled)
		for i := range v.Len() {
			fillSlices(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if omitted := strings.Contains(v.Type().Field(i).Tag.Get("json"), ",omitempty"); !omitted || !v.Field(i).IsZero() {
				fillSlices(v.Field(i))
			}
		}
	}
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
				exact(c.PointShare), exact(c.MachineSeconds), string(c.Source),
				exact(c.Slowdown), exact(c.Accuracy), exact(c.Mistakes), exact(c.P95Slowdown), exact(c.WorstSlowdown), exact(c.R2),
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
func upperEnd(c activelearn.Evaluation, x float64) string {
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
		if err := checkValue(strings.TrimSuffix(path+name, "."), v.Field(i)); err != nil { // an embedded struct has no name
			return err
		}
	}
	return nil
}
