package verify_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/native"
	"tutti/coll"
	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/mpi/settings"
	"tutti/verify"
)

// described is a real library and variables and values that describe it; "collective" stands for the name of each collective.
type described struct {
	name, version string
	toolchain     testutil.Toolchain
	launcher      []string
	nodes         int      // that its launches simulate
	variables     []string // name, value
}

var describedLibraries = []described{
	{"mpich", "4.0.2", testutil.MPICH, []string{"mpiexec.hydra"}, 2, []string{
		"MPIR_CVAR_COLLECTIVE_INTRA_ALGORITHM,{name}", "MPIR_CVAR_COLLECTIVE_DEVICE_C,0",
	}},
	{"openmpi", "4.1.4", testutil.OpenMPI, []string{"mpirun.openmpi", "--oversubscribe"}, 1, []string{
		"OMPI_MCA_coll_tuned_use_dynamic_rules,1", "OMPI_MCA_coll_tuned_collective_algorithm,{id}",
	}},
}

// tables returns a library that tables describe, with the algorithms of the real one that need no parameter.
func (d described) tables(t *testing.T, cat *mpi.Catalogue) mpi.Library {
	t.Helper()
	vars := "library,from,before,collective,algorithm,variable,value,range,bytes\n"
	algs := "library,version,collective,algorithm,id,function,params,requires,op_safe\n"
	for _, c := range slices.DeleteFunc(coll.Collectives(), coll.Collective.Nonblocking) { // what runs them is not visible
		for _, v := range d.variables {
			v = strings.NewReplacer("DEVICE_C,", "DEVICE_COLLECTIVE,", "COLLECTIVE", strings.ToUpper(string(c)), "collective", string(c)).Replace(v)
			vars += fmt.Sprintf("%s,,,%s,,%s,,message\n", d.name, c, v)
		}
		for _, e := range cat.Entries(c) {
			if !strings.Contains(e.Function, "_composition_") {
				algs += fmt.Sprintf("%s,%s,%s,%s,%d,,,,yes\n", d.name, d.version, c, e.Name, e.ID)
			}
		}
	}
	libs := "name,title,family,snippet,syntax,max_ranges,launcher_version,file_version\n" + d.name + ",X,x,x.env,job,1,,\n"
	return testutil.Must(settings.Read(libs, vars, algs))(t)[0]
}

// TestLiveVariables forces algorithms of real libraries by environment variables that a table describes. The library must
// run each of them.
func TestLiveVariables(t *testing.T) {
	testutil.NeedAllCases(t)
	for _, d := range describedLibraries {
		t.Run(d.name, func(t *testing.T) {
			testutil.BuildProgram(t, d.toolchain, testutil.CollectivesProgram)
			path := testutil.Must(verify.BuildProbe(t.Context(), d.toolchain.Compiler, t.TempDir()))(t)
			port, cat, err := libraries.Release(d.name, d.version)
			testutil.NoError(t, err)
			table := d.tables(t, cat)
			seen, tried := 0, 0
			for _, c := range []coll.Collective{coll.Allgather, coll.Allreduce, coll.Alltoall, coll.Bcast, coll.Reduce} {
				for _, e := range table.Releases()[0].Entries(c) {
					cand := coll.Candidate{Point: coll.Point{Collective: c, Nodes: 2, PPN: 2, MsgBytes: 4096}, Algorithm: coll.Algorithm{Name: e.Name}}
					if real := testutil.Must(cat.Lookup(c, cand.Algorithm))(t); real.Has(mpi.InPlace) || cat.Check(cand) != nil && len(real.Params) == 0 {
						continue
					}
					p := &verify.Probe{Path: path, Library: port.(mpi.Measurable), Catalogue: cat, Choose: func(coll.Point) coll.Algorithm { return cand.Algorithm }}
					f := testutil.Must(mpi.Force(table, table.Releases()[0], cand))(t)
					got := start(t, p, d.launcher, benchrunner.Case{Candidate: coll.Candidate{Point: cand.Point, Algorithm: verify.Tuned}, Forcing: f})
					tried++
					if got.State == benchrunner.OutcomeDone {
						seen++
					} else if strings.HasPrefix(got.Error, "another algorithm ran") {
						t.Errorf("%v: %s", cand, got.Error)
					}
				}
			}
			t.Logf("%d of %d algorithms seen", seen, tried)
			if 4*seen < 3*tried {
				t.Errorf("%d of %d algorithms seen", seen, tried)
			}
		})
	}
}

// TestLiveVariablesSelect measures algorithms by variables of a table, one launch each, and by MPI_T. The algorithm that
// the variables select must not be more than 2 % slower than that of MPI_T, beyond noise. Both are measured in turn.
func TestLiveVariablesSelect(t *testing.T) {
	testutil.NeedAllCases(t)
	for _, d := range describedLibraries {
		t.Run(d.name, func(t *testing.T) {
			path := testutil.BuildProgram(t, d.toolchain, csource.Bench)
			port, cat, err := libraries.Release(d.name, d.version)
			testutil.NoError(t, err)
			table := d.tables(t, cat)
			program := testutil.Must(native.New(native.Options{Path: filepath.Clean(path), ProgramOptions: benchrunner.ProgramOptions{
				Warmup: 5, MinSamples: 20, MaxSamples: 300, Precision: 0.02, Slice: 2 * time.Second,
			}}))(t)
			seconds := func(lib mpi.Library, cat *mpi.Catalogue, cand coll.Candidate) float64 {
				o := start(t, program, d.launcher, benchrunner.Case{Candidate: cand, Forcing: testutil.Must(mpi.Force(lib, cat, cand))(t)})
				if o.State != benchrunner.OutcomeDone {
					t.Errorf("%v: %s", cand, o.Error)
				}
				return o.Seconds
			}
			for _, at := range []coll.Point{
				{Collective: coll.Allreduce, Nodes: d.nodes, PPN: 4 / d.nodes, MsgBytes: 1024}, {Collective: coll.Bcast, Nodes: d.nodes, PPN: 4 / d.nodes, MsgBytes: 65536},
			} {
				var all []coll.Candidate
				for _, e := range cat.Entries(at.Collective) {
					cand := coll.Candidate{Point: at, Algorithm: coll.Algorithm{Name: e.Name}}
					if _, err := table.Releases()[0].Lookup(at.Collective, cand.Algorithm); err == nil && cat.Check(cand) == nil {
						all = append(all, cand)
					}
				}
				best := func(lib mpi.Library, cat *mpi.Catalogue) coll.Candidate {
					times := map[coll.Candidate]float64{}
					for _, c := range all {
						times[c] = seconds(lib, cat, c)
					}
					return slices.MinFunc(all, func(a, b coll.Candidate) int { return cmp.Compare(times[a], times[b]) })
				}
				byVariables, byMPIT := best(table, table.Releases()[0]), best(port, cat)
				if byVariables == byMPIT {
					t.Logf("%v: %v by variables and by MPI_T", at, byMPIT.Algorithm)
					continue
				}
				var ratios []float64
				for range 9 {
					ratios = append(ratios, seconds(port, cat, byVariables)/seconds(port, cat, byMPIT))
				}
				slices.Sort(ratios)
				low, mid, high := ratios[1], ratios[4], ratios[7] // 96 % interval of the median of nine
				t.Logf("%v: %v by variables, %v by MPI_T: ratio %.3f [%.3f, %.3f]", at, byVariables.Algorithm, byMPIT.Algorithm, mid, low, high)
				if low > 1.02 {
					t.Errorf("%v: %v is slower than %v", at, byVariables.Algorithm, byMPIT.Algorithm)
				}
			}
		})
	}
}
