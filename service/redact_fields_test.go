package service_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/journal"
	"tutti/service"
)

// mark sets every text that a value contains, at any depth, to a marker that names its path. Lists get one element.
func mark(v reflect.Value, path string) {
	if v.Type() == reflect.TypeFor[coll.Algorithm]() { // a word, as package coll checks it
		v.FieldByName("Name").SetString("binomial")
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("secret:" + path + ";")
	case reflect.Pointer:
		if v.Type().Elem() != reflect.TypeFor[json.RawMessage]() {
			v.Set(reflect.New(v.Type().Elem()))
			mark(v.Elem(), path)
		}
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes(fmt.Appendf(nil, "%q", "secret:"+path+";"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		mark(v.Index(0), path)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		mark(key, path)
		mark(value, path)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "-" || f.Type.PkgPath() == "time" {
				continue
			}
			if f.Anonymous && name == "" {
				mark(v.Field(i), path)
				continue
			}
			mark(v.Field(i), strings.TrimPrefix(path+"."+name, "."))
		}
	}
}

// markers returns the paths of the markers in a text, sorted, each once.
func markers(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`secret:([^;"]*);`).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestRedactedSchema puts a marker into every text key of a campaign file, of the header and of the records of a
// journal. Users with the role "read" must see the markers of listed keys only.
func TestRedactedSchema(t *testing.T) {
	var spec config.Campaign
	mark(reflect.ValueOf(&spec).Elem(), "spec")
	header := journal.Header{}
	mark(reflect.ValueOf(&header).Elem(), "header")
	header.Spec = testutil.Must(json.Marshal(spec))(t)
	content := testutil.Must(json.Marshal(struct {
		Kind string `json:"kind"`
		journal.Header
	}{"header", header}))(t)
	if n := len(markers(string(content))); n < 40 {
		t.Fatalf("%d markers, want one for each text key: %s", n, content)
	}
	shown := service.Event{Type: "header", Data: content}.Redacted().Data
	want := []string{
		"header.campaign", "header.id", "header.version",
		"spec.benchmark.program", "spec.collectives", "spec.grid.between", "spec.libraries.name", "spec.libraries.version", "spec.machine", "spec.method", "spec.model.criterion",
		"spec.model.kind", "spec.model.scaling", "spec.name", "spec.runner.kind", "spec.stop.criteria_from",
	}
	if got := markers(string(shown)); !slices.Equal(got, want) {
		t.Errorf("of the header, readers see\n%q, want\n%q", got, want)
	}
}

var journalKinds = []journal.Kind{
	journal.KindBatch, journal.KindJob, journal.KindTrial, journal.KindEvaluation, journal.KindGrow, journal.KindHPO, journal.KindComparison,
	journal.KindStop, journal.KindResume, journal.KindVerify,
}

// TestRedactedRecords does the same for the records of a journal.
func TestRedactedRecords(t *testing.T) {
	want := []string{
		"batch.collective", "evaluation.source", "grow.collective", "job.id", "job.name", "job.outcome", "job.state", "problem.collective", "problem.library",
		"stop", "trial.collective", "trial.job", "trial.phase", "trial.placement.order", "trial.state",
	}
	for _, kind := range journalKinds {
		var r journal.Record
		mark(reflect.ValueOf(&r).Elem(), "")
		r.Kind = kind
		content := testutil.Must(json.Marshal(r))(t)
		shown := service.Event{Type: string(kind), Data: content}.Redacted().Data
		if got := markers(string(shown)); len(got) > 0 && !slices.Equal(got, want) || (len(got) == 0) != (kind == journal.KindVerify) {
			t.Errorf("of a record of the kind %s, readers see %q, want %q", kind, got, want)
		}
	}
}
