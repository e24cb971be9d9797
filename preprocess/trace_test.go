package preprocess

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
)

func TestReadTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.csv")
	text := "# ranks=64,run_seconds=4,collective_seconds=0.5\nmsg_bytes,collective,processes,ppn,calls,seconds,shortest,longest\n" +
		"1024,allreduce,48,32,10,0.5,0.04,0.07\n" +
		"1024,allreduce,48,32,5,0.25,0.01,0.06\n" +
		"8,bcast,4,8,1,0,0,0\n" + // fewer processes than a node holds
		"77,barrier,64,32,3,1e-3,0,1e-3\n" +
		"16,iallreduce,2,2,1,0,0,0\n" +
		"16,bcast_init,2,2,1,0,0,0\n"
	testutil.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	trace := testutil.Must(ReadTrace(path))(t)
	if share := trace.CollectiveShare(); share != 0.125 {
		t.Errorf("share of collectives %g, want 1/8", share)
	}
	got := trace.Calls
	want := []Calls{
		{Point: coll.Point{Collective: coll.Allreduce, Nodes: 2, PPN: 32, MsgBytes: 1024}, Calls: 15, Seconds: 0.75, Shortest: 0.01, Longest: 0.07},
		{Point: coll.Point{Collective: coll.Barrier, Nodes: 2, PPN: 32}, Calls: 3, Seconds: 1e-3, Longest: 1e-3},
		{Point: coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 4, MsgBytes: 8}, Calls: 1},
		{Point: coll.Point{Collective: "bcast_init", Nodes: 1, PPN: 2, MsgBytes: 16}, Calls: 1},
		{Point: coll.Point{Collective: "iallreduce", Nodes: 1, PPN: 2, MsgBytes: 16}, Calls: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(append(want[:3:3], want[4]), Tunable(got)); diff != "" {
		t.Errorf("tunable calls (-want +got):\n%s", diff)
	}
}

func TestReadTraceFaults(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	const head = "collective,nodes,ppn,msg_bytes,calls\n"
	tests := []struct{ name, text string }{
		{"empty", ""},
		{"no rows", head},
		{"no calls", "collective,nodes,ppn,msg_bytes\nbcast,1,2,8\n"},
		{"no layout", "collective,ppn,msg_bytes,calls\nbcast,2,8,1\n"},
		{"two layouts", "collective,nodes,processes,ppn,msg_bytes,calls\nbcast,1,2,2,8,1\n"},
		{"misspelt column", "collective,nodes,ppn,msg_bytes,calls,second\nbcast,1,2,8,1,1\n"},
		{"unknown collective", head + "bcast,1,2,8,1\nbrodcast,1,2,8,1\n"},
		{"size with a unit", head + "bcast,1,2,8KiB,1\n"},
		{"negative calls", head + "bcast,1,2,8,-1\n"},
		{"no number", head + "bcast,1,2,8,NaN\n"},
		{"half a node", head + "bcast,0.5,2,8,1\n"},
		{"torn", head + "bcast,1,2,8\n"},
		{"no run time", "# ranks=2,run_seconds=long\n" + head + "bcast,1,2,8,1\n"},
		{"too much", head + "bcast,1,2,8,1e308\nbcast,1,2,8,1e308\n"},
	}
	for _, tc := range tests {
		_, err := readTrace(strings.NewReader(tc.text), "app.csv")
		golden(tc.name, err)
	}
}

func TestCallWeights(t *testing.T) {
	at := func(nodes int, bytes int64) coll.Point {
		return coll.Point{Collective: coll.Bcast, Nodes: nodes, PPN: 4, MsgBytes: bytes}
	}
	points := []coll.Point{at(2, 8), at(2, 1024), at(8, 8), at(8, 1024)}
	call := func(p coll.Point, calls, seconds float64) Calls {
		return Calls{Point: p, Calls: calls, Seconds: seconds}
	}
	other := call(coll.Point{Collective: coll.Reduce, Nodes: 2, PPN: 4, MsgBytes: 8}, 1000, 0)
	tests := []struct {
		name  string
		trace []Calls
		want  []float64
		far   float64
	}{
		{"by calls", []Calls{call(at(2, 8), 3, 0), call(at(8, 1024), 1, 0), other}, []float64{3, 0, 0, 1}, 0},
		{"by time of all ranks", []Calls{call(at(2, 8), 300, 4), call(at(8, 1024), 1, 3)}, []float64{1, 0, 0, 3}, 0}, // 32 s and 96 s
		{"nearest, first of equals", []Calls{call(at(3, 10), 1, 0), call(at(4, 8), 1, 0), call(at(6, 700), 2, 0)}, []float64{2, 0, 0, 2}, 0},
		{"far", []Calls{call(at(2, 8), 3, 0), call(at(32, 1024), 1, 0)}, []float64{3, 0, 0, 1}, 0.25},
		{"never called", []Calls{other, call(at(2, 8), 0, 0)}, nil, 0},
		{"empty", nil, nil, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, far, ok := CallWeights(points, tc.trace)
			if ok != (tc.want != nil) {
				t.Fatalf("ok = %t, want %t", ok, tc.want != nil)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || math.Abs(far-tc.far) > 1e-12 {
				t.Errorf("far %g, want %g; weights (-want +got):\n%s", far, tc.far, diff)
			}
		})
	}
}
