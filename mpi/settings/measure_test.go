package settings

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/mpilibrarytest"
	"tutti/mpi"
	"tutti/selection"
)

// TestForce checks the variables of launches that measure an algorithm. They hold for all calls.
func TestForce(t *testing.T) {
	for name, tests := range map[string][]mpilibrarytest.Forced{
		"intel": {
			{Name: "ranks", Release: "2021", Collective: coll.Bcast, Algorithm: "ring", Env: []string{"I_MPI_ADJUST_BCAST=3"}},
			{Name: "default", Release: "2021", Collective: coll.Bcast, Algorithm: "library_default"},
		},
		"mvapich2": {{Name: "sizes", Release: "2.3", Collective: coll.Alltoall, Algorithm: "bruck", Env: []string{"MV2_ALLTOALL_TUNING=0"}}},
		"mvapich": {{
			Name: "names", Release: "4.0", Collective: coll.Reduce, Algorithm: "binomial",
			Env: []string{"MPIR_CVAR_REDUCE_INTRA_ALGORITHM=binomial", "MPIR_CVAR_REDUCE_DEVICE_COLLECTIVE=0"},
		}},
		"cray": {
			{Name: "switch", Release: "8.1", Collective: coll.Allreduce, Algorithm: "flat", Env: []string{"MPICH_ALLREDUCE_NO_SMP=1"}},
			{Name: "threshold", Release: "8.1", Collective: coll.Bcast, Algorithm: "tree(internode_radix=8)", Env: []string{"MPICH_BCAST_INTERNODE_RADIX=8"}},
		},
		"ucc":   {{Name: "scores", Release: "1.4", Collective: coll.Bcast, Algorithm: "dbt", Env: []string{"UCC_TL_UCP_TUNE=bcast:0-inf:host:inf:@dbt"}}},
		"hcoll": {{Name: "off", Release: "4.8", Collective: coll.Barrier, Algorithm: "off", Env: []string{"HCOLL_ML_DISABLE_BARRIER=1"}}},
		"libnbc": {
			{Name: "name", Release: "4.1", Collective: coll.Iallreduce, Algorithm: "recursive_doubling", Env: []string{"OMPI_MCA_coll_libnbc_iallreduce_algorithm=recursive_doubling"}},
			{
				Name: "radix", Release: "5.0", Collective: coll.Ibcast, Algorithm: "knomial(radix=8)",
				Env: []string{"OMPI_MCA_coll_libnbc_ibcast_algorithm=knomial", "OMPI_MCA_coll_libnbc_ibcast_knomial_radix=8"},
			},
		},
	} {
		for i := range tests {
			tests[i].Base = tests[i].Env
		}
		mpilibrarytest.CheckForced(t, named(t, name), tests)
	}
}

func named(t testing.TB, name string) *library {
	t.Helper()
	for _, l := range Libraries() {
		if l.Facts().Name == name {
			return l.(*library)
		}
	}
	t.Fatalf("no library %s", name)
	return nil
}

// TestBadParameters checks that a value outside the range of a variable is refused, with the range.
func TestBadParameters(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	cat := mpilibrarytest.Release(t, named(t, "cray"), "8.1")
	for _, text := range []string{"tree(internode_radix=1)", "tree(internode_radix=many)", "tree", "tree(radix=2)", "trees"} {
		_, err := cat.Lookup(coll.Bcast, mpilibrarytest.Algorithm(t, text))
		golden(text, err, mpi.ErrUnknown)
	}
}

// threeReleases describes a library whose variables come and go.
const (
	threeLibraries = "name,title,family,snippet,syntax,max_ranges,launcher_version,file_version\nx,X,mpich,x.env,job,1,,\n"
	threeVariables = "library,from,before,collective,algorithm,variable,value,range,bytes\n" +
		"x,,2.0,bcast,,OLD,{id},,message\nx,2.0,,bcast,,NEW,{name},,message\nx,2.0,,bcast,,K,{k},2-64,message\nx,3.0,,barrier,,B,{id},,none\n"
	threeAlgorithms = "library,version,collective,algorithm,id,function,params,requires,op_safe\n" +
		"x,1.0,bcast,tree,7,,,,yes\nx,1.0,barrier,linear,1,,,,yes\nx,2.0,bcast,tree,7,,k=2|4,,yes\nx,2.0,barrier,linear,1,,,,yes\nx,3.0,barrier,linear,1,,,,yes\n"
)

// TestVariableReleases checks that each release has its own variables. A collective without one cannot be forced, and
// its choice is left to the library.
func TestVariableReleases(t *testing.T) {
	l := testutil.Must(Read(threeLibraries, threeVariables, threeAlgorithms))(t)[0].(*library)
	force := func(version string, c coll.Collective, alg string) string {
		cand := mpilibrarytest.Candidate(t, c, coll.Layout{Nodes: 2, PPN: 2}, 4096, alg)
		f, err := mpi.Force(l, mpilibrarytest.Release(t, l, version), cand)
		if err != nil {
			if !errors.Is(err, mpi.ErrInfeasible) {
				t.Errorf("%s %v: %v", version, cand, err)
			}
			return "cannot"
		}
		return strings.Join(mpilibrarytest.Vars(f.Env), " ")
	}
	got := []string{
		force("1.0", coll.Bcast, "tree"), force("2.0", coll.Bcast, "tree"), force("2.0", coll.Bcast, "tree(k=4)"),
		force("2.0", coll.Barrier, "linear"), force("3.0", coll.Barrier, "linear"),
	}
	if d := cmp.Diff([]string{"OLD=7", "NEW=tree", "NEW=tree K=4", "cannot", "B=1"}, got); d != "" {
		t.Error(d)
	}
}

// TestJob checks that settings for a job exist only for layouts where one algorithm is never slower than the default, and
// that a replay finds settings that were changed.
func TestJob(t *testing.T) {
	l := named(t, "mvapich")
	b := build{l, l.releases[0]}
	names := [2]string{"binomial", "scatter_ring_allgather"}
	one, other, never := coll.Layout{Nodes: 2, PPN: 2}, coll.Layout{Nodes: 4, PPN: 2}, coll.Layout{Nodes: 8, PPN: 2}
	rows := []selection.Row{
		row(one, 64, names, 1, 2, 3), row(one, 65536, names, 1.01, 1, 3), // one algorithm serves both
		row(other, 64, names, 1, 2, 3), row(other, 65536, names, 3, 1, 2), // the second is never slower than the default
		row(never, 64, names, 1, 2, 1.5), row(never, 65536, names, 3, 1, 2), // either is slower at a size
	}
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.02})
	want := []mpi.LayoutSettings{{Layout: one, Settings: []mpi.Setting{
		{Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Value: "binomial"}, {Name: "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", Value: "0"},
	}}, {Layout: other, Settings: []mpi.Setting{
		{Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Value: "scatter_ring_allgather"}, {Name: "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE", Value: "0"},
	}}}
	if d := cmp.Diff(want, x.Setup.Layouts); d != "" || len(x.Setup.Settings) > 0 {
		t.Errorf("%v\n%s", x.Setup.Settings, d)
	}
	testutil.CheckGolden(t, x.Snippet, testutil.Must(x.Setup.Shell())(t))
	onSite := build{l, b.cat.OnSite(&mpi.Site{Settings: []mpi.SiteSetting{{Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Value: "smp", Effect: mpi.ShapesDefault}}})}
	_, kept := mpilibrarytest.FitAndExport(t, onSite, rows, mpi.MergeOptions{MaxLoss: 0.02})
	if d := cmp.Diff([]mpi.Setting{{Name: "MPIR_CVAR_BCAST_INTRA_ALGORITHM", Value: "smp"}}, kept.Setup.Settings); d != "" {
		t.Errorf("the site's value in jobs of other layouts:\n%s", d)
	}
	golden := testutil.GoldenErrors(t)
	x.Setup.Layouts[0].Settings[0].Value = "ring"
	golden("changed", b.Replay(x, sel, rows))
	x.Setup.Layouts[0].Layout = never
	golden("left to the library", b.Replay(x, sel, rows[4:]))
}

// TestSite checks which settings of a site each library names, and what they do.
func TestSite(t *testing.T) {
	environ := []string{"I_MPI_ADJUST_BCAST=3", "I_MPI_COLL_EXTERNAL=1", "MV2_ALLTOALL_TUNING=1", "MPICH_ALLREDUCE_NO_SMP=1", "PATH=/bin"}
	for name, want := range map[string][]string{
		"intel":    {"I_MPI_ADJUST_BCAST prevents", "I_MPI_COLL_EXTERNAL default"},
		"mvapich2": {"MV2_ALLTOALL_TUNING default"},
		"cray":     {"MPICH_ALLREDUCE_NO_SMP default"},
		"hcoll":    nil,
	} {
		var got []string
		for _, s := range named(t, name).Settings(environ, "") {
			got = append(got, s.Name+" "+string(s.Effect))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestComponent checks that a library is not tuned if the component of Open MPI that passes calls to it is absent, off or outranked.
func TestComponent(t *testing.T) {
	const (
		others = "mca:coll:tuned:version:\"mca:2.1.0\"\nmca:coll:tuned:param:coll_tuned_priority:value:30\nmca:coll:libnbc:version:\"mca:2.1.0\"\n"
		ucc    = others + "mca:coll:ucc:version:\"mca:2.1.0\"\n"
		hcoll  = others + "mca:coll:hcoll:version:\"mca:2.1.0\"\n"
	)
	for _, tc := range []struct{ library, listing, want string }{
		{"ucc", others, "coll/ucc=absent (ompi_info)"},
		{"ucc", ucc + "mca:coll:ucc:param:coll_ucc_enable:value:0\nmca:coll:ucc:param:coll_ucc_priority:value:10\n", "coll/ucc=off (ompi_info)"},
		{"ucc", ucc + "mca:coll:ucc:param:coll_ucc_enable:value:1\nmca:coll:ucc:param:coll_ucc_priority:value:10\n", "coll/ucc=priority 10, below 30 of coll/tuned (ompi_info)"},
		{"ucc", ucc + "mca:coll:ucc:param:coll_ucc_enable:value:1\nmca:coll:ucc:param:coll_ucc_priority:value:100\n", ""},
		{"hcoll", hcoll + "mca:coll:hcoll:param:coll_hcoll_enable:value:false\n", "coll/hcoll=off (ompi_info)"},
		{"hcoll", hcoll + "mca:coll:hcoll:param:coll_hcoll_np:value:2\n", ""},
		{"libnbc", others + "mca:coll:libnbc:param:coll_libnbc_priority:value:10\n", ""}, // coll/tuned has no nonblocking collectives
		{"ucc", "", ""}, // ompi_info does not run
		{"intel", others, ""},
	} {
		got := ""
		for _, s := range named(t, tc.library).Settings(nil, tc.listing) {
			if s.Effect == mpi.PreventsTuning {
				got = s.String()
			}
		}
		if got != tc.want {
			t.Errorf("%s with %q: %q, want %q", tc.library, tc.listing, got, tc.want)
		}
	}
}

// TestScores checks the tokens of two collectives in one variable, the tokens of a layout that loses with those of a
// layout of as many ranks, what they select, and values that are no tokens.
func TestScores(t *testing.T) {
	l := named(t, "ucc")
	b := build{l, l.releases[0]}
	names := [2]string{"knomial", "dbt"}
	at := coll.Layout{Nodes: 2, PPN: 2}
	rows := []selection.Row{row(at, 64, names, 1, 2, 3), row(at, 65536, names, 3, 1, 2), row(at, 1<<20, names, 3, 2, 1)}
	reduce := row(at, 64, names, 2, 1, 3)
	reduce.Point.Collective = coll.Reduce
	rows = append(rows, reduce, row(coll.Layout{Nodes: 1, PPN: 4}, 64, names, 2, 1, 3), row(coll.Layout{Nodes: 4, PPN: 2}, 64, names, 2, 1, 3))
	sel, x := mpilibrarytest.FitAndExport(t, b, rows, mpi.MergeOptions{MaxLoss: 0.02})
	testutil.CheckGolden(t, x.Snippet, testutil.Must(x.Setup.Shell())(t))
	golden := testutil.GoldenErrors(t)
	for _, value := range []string{"", "bcast:0-8", "bcast:9-8:host:[4-4]:inf:@dbt", "bcast:0-inf:host:[4-4]:inf:@tree", "bcast:0-inf:host:[4-4]:inf:@dbt"} {
		x.Setup.Settings[0].Value = value
		golden(value, b.Replay(x, sel, rows))
	}
}
