package preprocess_test

import (
	"slices"
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
	golden := testutil.GoldenErrors(t)
	const header = "collective,recorded,library,algorithm\n"
	tests := []struct{ name, text string }{
		{"no rows", header},
		{"no column", "collective,recorded,library\nbcast,a,mpich\n"},
		{"torn", header + "bcast,a,mpich\n"},
		{"unknown collective", header + "bcst,a,mpich,b\n"},
		{"bad recorded name", header + "bcast,a b,mpich,b\n"},
		{"bad algorithm", header + "bcast,a,mpich,b(\n"},
		{"no library", header + "bcast,a,,b\n"},
		{"twice", header + "bcast,a,mpich,b\nbcast,c,mpich,d\nbcast,a,mpich,b\n"},
		{"ambiguous", header + "bcast,a,mpich,b\nbcast,c,mpich,b\n"},
		{"quote never closed", header + "bcast,\"a,mpich,b\nbcast,a,mpich,b\n"},
	}
	for _, tc := range tests {
		_, err := preprocess.ReadNames(write(t, tc.text))
		golden(tc.name, err)
	}
	fine := header + "bcast,a,mpich,b\nreduce,c,mpich,b\nbcast,c,openmpi,b\nbcast,d,mpich,\nbcast,e,mpich,\n"
	if _, err := preprocess.ReadNames(write(t, fine)); err != nil {
		t.Errorf("ReadNames of different collectives and libraries: %v", err)
	}
	_, err := preprocess.ReadNames("testdata")
	golden("a folder", err)
}

func TestReadDefaultsErrors(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	const header = "machine,collective,nodes,ppn,msg_bytes,mpich\n"
	tests := []struct{ name, text string }{
		{"no library", "machine,collective,nodes,ppn,msg_bytes\nA,bcast,2,1,1\n"},
		{"no machine column", "collective,nodes,ppn,msg_bytes,mpich\nbcast,2,1,1,a\n"},
		{"no machine", header + ",bcast,2,1,1,a\n"},
		{"bad number", header + "A,bcast,2,x,1,a\n"},
		{"bad name", header + "A,bcast,2,1,1,a b\n"},
		{"twice", header + "A,bcast,2,1,1,a\nA,bcast,2,1,1,b\n"},
	}
	for _, tc := range tests {
		_, err := preprocess.ReadDefaults(write(t, tc.text))
		golden(tc.name, err)
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
