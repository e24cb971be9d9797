package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tutti/internal/testutil"
)

func TestGolden(t *testing.T) {
	tests := []struct {
		file  string
		write func(io.Writer, Facts) error
	}{
		{file: "report.json", write: func(w io.Writer, f Facts) error { return WriteJSON(w, f) }},
		{file: "curve.csv", write: WriteCurve},
		{file: "summary.txt", write: func(w io.Writer, f Facts) error { _, err := io.WriteString(w, Summary(f)); return err }},
	}
	for _, tc := range tests {
		t.Run(tc.file, func(t *testing.T) {
			var got bytes.Buffer
			testutil.NoError(t, tc.write(&got, shortFacts()))
			testutil.CheckGolden(t, tc.file, got.Bytes())
		})
	}
}

// shortFacts returns smallFacts with few elements of each kind, so that golden files are short. It also has
// a problem that has just started.
func shortFacts() Facts {
	f := smallFacts()
	for i := range f.Problems {
		p := &f.Problems[i]
		p.Curve, p.Cells, p.HPO, p.Algorithms = p.Curve[:3], p.Cells[:2], p.HPO[4:7], p.Algorithms[2:4]
		for j := range p.Algorithms {
			p.Algorithms[j].Parity = p.Algorithms[j].Parity[:1]
		}
	}
	f.Problems = append(f.Problems, ProblemFacts{Library: "openmpi", Collective: "barrier", Points: 6})
	return f
}

func TestJSONRoundTrip(t *testing.T) {
	want := smallFacts()
	var first, second bytes.Buffer
	testutil.NoError(t, WriteJSON(&first, want))
	got := readJSON(t, first.Bytes())
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("after reading (-want +got):\n%s", diff)
	}
	testutil.NoError(t, WriteJSON(&second, got))
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the second writing differs from the first")
	}
	if diff := cmp.Diff(smallFacts(), want); diff != "" {
		t.Errorf("WriteJSON changed its facts:\n%s", diff)
	}
}

// readJSON decodes what WriteJSON wrote. Unknown fields, and text after the facts, are errors.
func readJSON(t *testing.T, text []byte) Facts {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var f Facts
	testutil.NoError(t, d.Decode(&f))
	if rest := bytes.TrimSpace(text[d.InputOffset():]); len(rest) > 0 {
		t.Fatalf("behind the facts: %q", rest)
	}
	return f
}

// TestNotFinite checks that facts with a NaN or infinite number are not written at all.
func TestNotFinite(t *testing.T) {
	for want, spoil := range map[string]func(*Facts){
		"/criteria/slowdown":                          func(f *Facts) { f.Criteria.Slowdown = math.NaN() },
		"/problems/1/curve/2/r2":                      func(f *Facts) { f.Problems[1].Curve[2].R2 = math.Inf(-1) },
		"/problems/0/cells/3/slowdown":                func(f *Facts) { *f.Problems[0].Cells[3].Slowdown = math.Inf(1) },
		"/problems/0/exhaustive_seconds":              func(f *Facts) { f.Problems[0].ExhaustiveSeconds = math.NaN() },
		"/problems/0/algorithms/0/parity/0/predicted": func(f *Facts) { f.Problems[0].Algorithms[0].Parity[0].Predicted = math.NaN() },
	} {
		f := smallFacts()
		spoil(&f)
		var json, html bytes.Buffer
		for _, err := range []error{WriteJSON(&json, f), WriteHTML(&html, f)} {
			semantic, _ := errors.AsType[*jsonv2.SemanticError](err)
			if semantic == nil || string(semantic.JSONPointer) != want || json.Len()+html.Len() > 0 {
				t.Errorf("error = %v after %d bytes, want one before any that names %s", err, json.Len()+html.Len(), want)
			}
		}
	}
}

func TestFormat(t *testing.T) {
	tests := []struct{ got, want string }{
		{FormatSeconds(0), "0 s"},
		{FormatSeconds(3e-6), "3 µs"},
		{FormatSeconds(0.25), "250 ms"},
		{FormatSeconds(90), "90 s"},
		{FormatSeconds(600), "10 min"},
		{FormatSeconds(9000), "2.5 h"},
		{FormatNodeSeconds(9000), "2.5 node h"},
		{FormatShare(0), "0 %"},
		{FormatShare(0.0001), "<0.1 %"},
		{FormatShare(-0.0001), ">-0.1 %"},
		{FormatShare(math.Copysign(0, -1)), "0 %"},
		{FormatShare(1), "100 %"},
		{formatOf(1, 4), "1 of 4 (25 %)"},
		{formatOf(0, 0), "0"},
		{FormatSlowdown(1.0304), "1.030"},
		{FormatSlowdown(12.345), "12.3"},
		{stopText(""), "STILL RUNNING"},
		{stopText("converged"), "converged"},
		{stopText("budget"), "NOT CONVERGED: budget"},
	}
	for _, tc := range tests {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}

func TestLiveText(t *testing.T) {
	testutil.CheckGolden(t, "live.txt", []byte(VerificationTable(liveFacts())))
	if got := VerificationTable(smallFacts()); got != "" {
		t.Errorf("without a verification: %q", got)
	}
}

func TestLiveJSON(t *testing.T) {
	f := liveFacts()
	f.Problems = nil
	f.Verification[0].Points = f.Verification[0].Points[:2]
	var got bytes.Buffer
	testutil.NoError(t, WriteJSON(&got, f))
	if strings.Contains(got.String(), `"points": null`) {
		t.Error("an empty list is written as null")
	}
	testutil.CheckGolden(t, "live.json", got.Bytes())
	readJSON(t, got.Bytes())
	var old map[string]any
	got.Reset()
	testutil.NoError(t, WriteJSON(&got, smallFacts()))
	testutil.NoError(t, json.Unmarshal(got.Bytes(), &old))
	for _, key := range []string{"verification", "machine_time", "excluded", "environments"} {
		if _, there := old[key]; there {
			t.Errorf("%s is written where there is none", key)
		}
	}
}
