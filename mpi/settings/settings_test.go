package settings

import (
	"math"
	"slices"
	"strings"
	"testing"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

func TestLibraries(t *testing.T) {
	for _, l := range Libraries() {
		t.Run(l.Facts().Name, func(t *testing.T) { mpilibrarytest.Run(t, l) })
	}
}

// buildOf returns the build for a release of a library.
func buildOf(t testing.TB, name, version string) build {
	t.Helper()
	i := slices.IndexFunc(Libraries(), func(l mpi.Library) bool { return l.Facts().Name == name })
	l := Libraries()[i].(*library)
	return build{l, mpilibrarytest.Release(t, l, version)}
}

func intel(t testing.TB) build   { return buildOf(t, "intel", "2019") }
func mvapich(t testing.TB) build { return buildOf(t, "mvapich2", "2.3") }

// row returns a row for a broadcast. Its options are two named algorithms and the default, with the given
// times in seconds.
func row(l coll.Layout, bytes int64, names [2]string, first, second, byDefault float64) selection.Row {
	return selection.Row{
		Point: coll.Point{Collective: coll.Bcast, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: bytes},
		Options: []selection.Option{
			{Algorithm: coll.Algorithm{Name: names[0]}, Seconds: first},
			{Algorithm: coll.Algorithm{Name: names[1]}, Seconds: second},
			{Algorithm: coll.Default, Seconds: byDefault},
		},
	}
}

func TestGolden(t *testing.T) {
	tests := []struct {
		build   build
		rows    []selection.Row
		maxLoss float64
	}{
		{intel(t), intelRows(), 0.01},
		{mvapich(t), mvapichRows(), 0.02},
	}
	for _, tc := range tests {
		_, x := mpilibrarytest.FitAndExport(t, tc.build, tc.rows, mpi.FitOptions{MaxLoss: tc.maxLoss})
		snippet := testutil.Must(x.Setup.Shell())(t)
		testutil.CheckGolden(t, x.Snippet, snippet)
	}
}

func TestSize(t *testing.T) {
	tests := []struct {
		build      build
		collective coll.Collective
		want       int64 // of 4 KiB on 6 ranks
	}{
		{intel(t), coll.Bcast, 4096}, {intel(t), coll.Allreduce, 4096}, {intel(t), coll.Reduce, 4096},
		{intel(t), coll.ReduceScatter, 4096}, {intel(t), coll.Allgather, 4096}, {intel(t), coll.Alltoall, 4096},
		{intel(t), coll.Gather, 4096}, {intel(t), coll.Scatter, 4096}, {intel(t), coll.Allgatherv, 6 * 4096},
		{intel(t), coll.Alltoallv, 0}, {intel(t), coll.Barrier, 0},
		{mvapich(t), coll.Bcast, 4096}, {mvapich(t), coll.Scatter, 4096}, {mvapich(t), coll.Allgatherv, 6 * 4096}, {mvapich(t), coll.Barrier, 0},
	}
	for _, tc := range tests {
		p := coll.Point{Collective: tc.collective, Nodes: 3, PPN: 2, MsgBytes: 4096}
		if got := tc.build.lib.Size(p); got != tc.want {
			t.Errorf("%s: Size(%v) = %d, want %d", tc.build.cat.Library, p, got, tc.want)
		}
	}
	huge := coll.Point{Collective: coll.Bcast, Nodes: 3, PPN: 2, MsgBytes: 1 << 40}
	for _, b := range []build{intel(t), mvapich(t)} {
		if got := b.lib.Size(huge); got != math.MaxInt32-1 {
			t.Errorf("%s: Size of 1 TiB = %d", b.cat.Library, got)
		}
	}
}

// TestTableFaults checks that an invalid table is an error that names the row.
func TestTableFaults(t *testing.T) {
	const columns = "name,snippet,syntax,max_ranges,launcher_version,file_version\n"
	const good = columns + "x,x.env,sizes,0,,\n"
	tests := []struct{ name, libraries, variables, want string }{
		{"syntax", columns + "x,x.env,files,0,,\n", "", `syntax "files"`},
		{"number", columns + "x,x.env,sizes,many,,\n", "", `"many"`},
		{"regular expression", columns + "x,x.env,sizes,0,(,\n", "", "error parsing regexp"},
		{"columns", columns + "x\n", "", "wrong number of fields"},
		{"collective", good, "x,broadcast,X,message\n", "X: unknown collective"},
		{"size", good, "x,bcast,X,bits\n", `X: bytes "bits"`},
		{"library", good, "y,bcast,X,message\n", `X: library "y"`},
		{"none", good, "x,bcast,X,message\n", ""},
	}
	for _, tc := range tests {
		_, err := readLibraries(tc.libraries, "library,collective,variable,bytes\n"+tc.variables, nil)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, want %q", tc.name, err, tc.want)
		}
	}
}
