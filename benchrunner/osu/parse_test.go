package osu

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/internal/testutil"
)

// render writes all that a listing holds.
func render(l listing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title %q version %q headers %d\n", l.title, l.version, l.headers)
	for _, s := range l.sections {
		fmt.Fprintf(&b, "datatype %q\n", s.datatype)
		for _, r := range s.rows {
			fmt.Fprintf(&b, "%d bytes: avg %.4g min %.4g max %.4g median %.4g s, %d calls", r.bytes, r.avg, r.min, r.max, r.median, r.iterations)
			if r.wrong {
				b.WriteString(", wrong")
			}
			b.WriteByte('\n')
		}
	}
	for _, line := range l.damaged {
		fmt.Fprintf(&b, "damaged %q\n", line)
	}
	return b.String()
}

// TestSamples: what is read of outputs of OSU 5.3 to 7.4 under MPICH and Open MPI.
func TestSamples(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			l, err := parse(benchrunner.Output{Stdout: text}.Lines())
			got := render(l)
			if err != nil {
				got = "error: " + err.Error() + "\n"
			}
			testutil.CheckGolden(t, strings.TrimSuffix(filepath.Base(name), ".txt")+".golden", []byte(got))
		})
	}
}

func TestParseRow(t *testing.T) {
	full := []string{"Size", "Avg Latency(us)", "Min Latency(us)", "Max Latency(us)", "Iterations"}
	tests := []struct {
		name, text string
		want       row
		ok         bool
	}{
		{"plain", "1024    0.37    0.33    0.41    500", row{bytes: 1024, avg: 0.37e-6, min: 0.33e-6, max: 0.41e-6, iterations: 500}, true},
		{"decimal comma", "1024    0,37    0,33    1000,41    500", row{bytes: 1024, avg: 0.37e-6, min: 0.33e-6, max: 1000.41e-6, iterations: 500}, true},
		{"a field is missing", "1024    0.37    0.33    0.41", row{}, false},
		{"two lines in one", "1024    0.37    0.33    0.41    5002048    0.40    0.31    0.42    500", row{}, false},
		{"not a number", "1024    nan    0.33    0.41    500", row{}, false},
		{"infinite", "1024    inf    0.33    0.41    500", row{}, false},
		{"exponent", "1024    1e3    0.33    0.41    500", row{}, false},
		{"negative", "1024    -0.37    0.33    0.41    500", row{}, false},
		{"negative size", "-4    0.37    0.33    0.41    500", row{}, false},
		{"size out of range", "99999999999999999999    0.37    0.33    0.41    500", row{}, false},
		{"thousands", "1024    1,234.56    0.33    0.41    500", row{}, false},
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := parseRow(full, tc.text)
			if ok != tc.ok {
				t.Fatalf("parseRow(%q) ok = %t, want %t", tc.text, ok, tc.ok)
			}
			if ok && (got.bytes != tc.want.bytes || got.iterations != tc.want.iterations ||
				!near(got.avg, tc.want.avg) || !near(got.min, tc.want.min) || !near(got.max, tc.want.max)) {
				t.Errorf("parseRow(%q) = %+v, want %+v", tc.text, got, tc.want)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, true, false, 0)
	}
	p, err := New(Options{Dir: "/opt/osu", OneHost: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, ended, late bool, exit int) {
		s := start("allreduce", 2, 1, "ring", 4, 8, 16, 32)
		stderr := strings.Repeat("tutti: process on host n1\n", 2)
		r := p.Read(s, benchrunner.Output{Stdout: text, Stderr: []byte(stderr), Ended: ended, TimedOut: late, Exit: exit})
		if len(r.Outcomes) != len(s.Cases) {
			t.Fatalf("%d outcomes of %d cases", len(r.Outcomes), len(s.Cases))
		}
		for i, o := range r.Outcomes {
			switch o.State {
			case benchrunner.OutcomeDone:
				if !(o.Seconds > 0) || math.IsInf(o.Seconds, 0) || o.Samples < 0 || !(o.CostSeconds >= 0) {
					t.Errorf("%v: %+v", s.Cases[i].Candidate, o)
				}
			case benchrunner.OutcomeFailed:
				if o.Phase == "" || o.Error == "" {
					t.Errorf("%v: failed without a reason: %+v", s.Cases[i].Candidate, o)
				}
			case benchrunner.OutcomeNotReached:
			default:
				t.Errorf("%v: state %q", s.Cases[i].Candidate, o.State)
			}
		}
	})
}
