package preprocess_test

import (
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/preprocess"
)

func TestTranslateSample(t *testing.T) {
	table := testutil.Must(preprocess.ReadTable("testdata/bcast.csv"))(t)
	names := testutil.Must(preprocess.ReadNames("testdata/names.csv"))(t)
	defaults := testutil.Must(preprocess.ReadDefaults("testdata/defaults.csv"))(t)
	if got := names.Libraries(); !slices.Equal(got, []string{"mpich", "openmpi"}) {
		t.Errorf("Names.Libraries = %v", got)
	}
	if got := defaults.Libraries(); !slices.Equal(got, []string{"mpich", "openmpi"}) {
		t.Errorf("Defaults.Libraries = %v", got)
	}
	if got := defaults.Machines(); !slices.Equal(got, []string{"A"}) {
		t.Errorf("Defaults.Machines = %v", got)
	}
	ms := table.Measurements()
	out := names.Translate(ms, "mpich")
	if len(out) != 36 { // flattree has no counterpart
		t.Errorf("Translate to mpich: %d of %d, want 36", len(out), len(ms))
	}
	if got := out[0].Algorithm.String(); got != "pipelined_tree(chunk=8192,k=1)" {
		t.Errorf("NTSL is %s in mpich", got)
	}
	if out := names.Translate(ms, "openmpi"); len(out) != 48 {
		t.Errorf("Translate to openmpi: %d of %d, want 48", len(out), len(ms))
	}
	if out := names.Translate(ms, "another"); len(out) != 0 {
		t.Errorf("Translate to another: %d of %d, want 0", len(out), len(ms))
	}
	own := defaults.Rows(ms, "A", "mpich")
	if len(own) != 10 { // two points chose an algorithm that is not in the sample
		t.Errorf("Rows of mpich: %d, want 10", len(own))
	}
	for _, m := range own {
		if !m.Algorithm.IsDefault() {
			t.Errorf("Rows: %v, want the default", m.Candidate)
		}
		recorded := m
		recorded.Algorithm = coll.Algorithm{Name: "binomial_tree"}
		if !slices.Contains(ms, recorded) {
			t.Errorf("Rows: %v of %g s is not the time of binomial_tree", m.Candidate, m.Seconds)
		}
	}
	if out := names.Translate(own, "mpich"); len(out) != 10 {
		t.Errorf("Translate of defaults: %d, want 10", len(out))
	}
	if got := defaults.Rows(ms, "B", "mpich"); got != nil {
		t.Errorf("Rows of an unknown machine = %v", got)
	}
}

func TestReadNamesErrors(t *testing.T) {
	const header = "collective,recorded,library,algorithm\n"
	tests := []struct{ name, text, want string }{
		{"no rows", header, "no data rows"},
		{"no column", "collective,recorded,library\nbcast,a,mpich\n", "no column algorithm"},
		{"torn", header + "bcast,a,mpich\n", ":2: torn row: 3 fields, want 4"},
		{"unknown collective", header + "bcst,a,mpich,b\n", `:2: unknown collective "bcst"`},
		{"bad recorded name", header + "bcast,a b,mpich,b\n", ":2: recorded: algorithm name"},
		{"bad algorithm", header + "bcast,a,mpich,b(\n", ":2: algorithm"},
		{"no library", header + "bcast,a,,b\n", ":2: library is empty"},
		{"twice", header + "bcast,a,mpich,b\nbcast,c,mpich,d\nbcast,a,mpich,b\n", ":4: bcast a for mpich is at line 2 already"},
		{"ambiguous", header + "bcast,a,mpich,b\nbcast,c,mpich,b\n", ":3: bcast b of mpich has another recorded name at line 2 already"},
		{"quote never closed", header + "bcast,\"a,mpich,b\nbcast,a,mpich,b\n", ":2: a quote is opened"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := preprocess.ReadNames(write(t, tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ReadNames = %v, want %q", err, tc.want)
			}
		})
	}
	fine := header + "bcast,a,mpich,b\nreduce,c,mpich,b\nbcast,c,openmpi,b\nbcast,d,mpich,\nbcast,e,mpich,\n"
	if _, err := preprocess.ReadNames(write(t, fine)); err != nil {
		t.Errorf("ReadNames of different collectives and libraries: %v", err)
	}
	if _, err := preprocess.ReadNames("testdata"); err == nil {
		t.Error("ReadNames of a folder = nil, want an error")
	}
}

func TestReadDefaultsErrors(t *testing.T) {
	const header = "machine,collective,nodes,ppn,msg_bytes,mpich\n"
	tests := []struct{ name, text, want string }{
		{"no library", "machine,collective,nodes,ppn,msg_bytes\nA,bcast,2,1,1\n", "no column of a library"},
		{"no machine column", "collective,nodes,ppn,msg_bytes,mpich\nbcast,2,1,1,a\n", "no column machine"},
		{"no machine", header + ",bcast,2,1,1,a\n", ":2: machine is empty"},
		{"bad number", header + "A,bcast,2,x,1,a\n", `:2: bad number: ppn "x"`},
		{"bad name", header + "A,bcast,2,1,1,a b\n", ":2: mpich: algorithm name"},
		{"twice", header + "A,bcast,2,1,1,a\nA,bcast,2,1,1,b\n", ":3: bcast 2x1 1B of machine A is at line 2 already"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, err := preprocess.ReadDefaults(write(t, tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ReadDefaults = %v, want %q", err, tc.want)
			}
		})
	}
}

func TestMentions(t *testing.T) {
	names := testutil.Must(preprocess.ReadNames("testdata/names.csv"))(t)
	tests := []struct {
		name       string
		collective coll.Collective
		recorded   coll.Algorithm
		want       bool
	}{
		{"has a counterpart", coll.Bcast, coll.Algorithm{Name: "binomial_tree"}, true},
		{"has none, and a row says so", coll.Bcast, coll.Algorithm{Name: "flattree"}, true},
		{"no row", coll.Bcast, coll.Algorithm{Name: "flatree"}, false},
		{"row of another collective", coll.Reduce, coll.Algorithm{Name: "flattree"}, false},
		{"the library's own choice", coll.Reduce, coll.Default, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got := names.Mentions(tc.collective, tc.recorded); got != tc.want {
				t.Errorf("Mentions(%s, %v) = %v, want %v", tc.collective, tc.recorded, got, tc.want)
			}
		})
	}
}
