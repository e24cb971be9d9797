package native_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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
)

// site is an MPI library that is installed on this machine, with its launcher.
type site struct {
	testutil.Toolchain
	library, version string // names in the catalogue
}

var (
	mpich   = &site{testutil.MPICH, "mpich", "4.0.2"}
	openmpi = &site{testutil.OpenMPI, "openmpi", "4.1.4"}
)

// program returns the path of the compiled program. It skips the test if the library is missing.
func (s *site) program(t *testing.T) string {
	t.Helper()
	return testutil.BuildProgram(t, s.Toolchain, csource.Bench)
}

func quick(path string) native.Options {
	o := options()
	o.Path, o.Slice, o.MinSamples, o.Warmup, o.Precision = path, 20*time.Millisecond, 6, 2, 0.2
	return o
}

func (s *site) launch(t *testing.T, n int, environ []string, args ...string) benchrunner.Output {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testutil.HangTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.Launcher, append([]string{"-n", strconv.Itoa(n)}, args...)...)
	cmd.Env = testutil.LaunchEnv(t, s.Launcher, append(os.Environ(), environ...))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begin := time.Now()
	err := cmd.Run()
	out := benchrunner.Output{
		Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Exit: cmd.ProcessState.ExitCode(),
		Ended: ctx.Err() == nil, TimedOut: ctx.Err() != nil, Wall: time.Since(begin),
	}
	if out.TimedOut {
		t.Errorf("%s %v: not done in 60 s: %v", s.Launcher, args, err)
	}
	return out
}

func (s *site) measure(t *testing.T, opt native.Options, cases []benchrunner.Case, environ ...string) (benchrunner.Reading, benchrunner.Output) {
	t.Helper()
	p := program(t, opt)
	st := benchrunner.Launch{Layout: cases[0].Layout(), Cases: cases, Dir: t.TempDir()}
	cmd := testutil.Must(p.Command(st))(t)
	for name, text := range cmd.Files {
		testutil.NoError(t, os.WriteFile(filepath.Join(st.Dir, name), text, 0o644))
	}
	for i, v := range cmd.Env {
		if v.File != nil {
			v.Value = filepath.Join(st.Dir, fmt.Sprint("env", i))
			testutil.NoError(t, os.WriteFile(v.Value, v.File, 0o644))
		}
		environ = append(environ, v.Name+"="+v.Value)
	}
	out := s.launch(t, st.Layout.Ranks(), environ, cmd.Args...)
	return p.Read(st, out), out
}

// forcedCase returns a case with the settings that force the algorithm in this release of the library.
func (s *site) forcedCase(t *testing.T, l coll.Layout, c coll.Collective, bytes int64, algorithm string) benchrunner.Case {
	t.Helper()
	lib, cat, err := libraries.Release(s.library, s.version)
	testutil.NoError(t, err)
	a := testutil.Must(coll.ParseAlgorithm(algorithm))(t)
	cand := coll.Candidate{Point: coll.Point{Collective: c, Nodes: l.Nodes, PPN: l.PPN, MsgBytes: bytes}, Algorithm: a}
	f := testutil.Must(mpi.Force(lib, cat, cand))(t)
	return benchrunner.Case{Candidate: cand, Forcing: f}
}

// switchCase returns a case in which the control variables `switches` are set, including values that tutti
// itself would never set. The case is labelled as the library's default, so the checks accept whichever
// algorithm runs.
func switchCase(l coll.Layout, c coll.Collective, bytes int64, newComm bool, switches ...mpi.Switch) benchrunner.Case {
	out := one(c, bytes, coll.Default.Name, switches...)
	out.Nodes, out.PPN, out.NewComm = l.Nodes, l.PPN, newComm
	return out
}

func checkAllDone(t *testing.T, cases []benchrunner.Case, r benchrunner.Reading, out benchrunner.Output) {
	t.Helper()
	for i, o := range r.Outcomes {
		if o.State != benchrunner.OutcomeDone {
			t.Errorf("%v: %+v\n%s", cases[i].Candidate, o, out.Stderr)
		}
	}
}

var pair = coll.Layout{Nodes: 1, PPN: 2}

// TestLiveAlgorithms measures, on two ranks, every algorithm that the catalogue can force. It checks that
// every collective delivers the right data. If the library shows which algorithm ran, it must be the
// requested one.
func TestLiveAlgorithms(t *testing.T) {
	sizes := []int64{64, 4096}
	least := map[string]int{"mpich": 58, "openmpi": 100} // least number of cases in which the algorithm must be observed
	if !testutil.AllCases() {
		sizes, least = sizes[:1], map[string]int{"mpich": 29, "openmpi": 50}
	}
	for _, s := range []*site{mpich, openmpi} {
		t.Run(s.library, func(t *testing.T) {
			opt := quick(s.program(t))
			lib, cat, err := libraries.Release(s.library, s.version)
			testutil.NoError(t, err)
			var cases []benchrunner.Case
			collectives := map[coll.Collective]bool{}
			for _, c := range coll.Collectives() {
				for _, a := range append(cat.Algorithms(c), coll.Default) {
					for _, size := range sizes {
						p := coll.Point{Collective: c, Nodes: 1, PPN: 2, MsgBytes: size}
						f, err := mpi.Force(lib, cat, coll.Candidate{Point: p, Algorithm: a})
						e, _ := cat.Lookup(c, a)
						if err != nil || e.Has(mpi.SameTypes) || !c.Sized() && size > 64 {
							continue // cannot run on two ranks, or is wrong for the types of a check
						}
						cases = append(cases, benchrunner.Case{Candidate: coll.Candidate{Point: p, Algorithm: a}, Forcing: f})
						collectives[c] = true
					}
				}
			}
			if len(collectives) != len(coll.Collectives()) {
				t.Errorf("%d collectives can be forced, want all %d", len(collectives), len(coll.Collectives()))
			}
			verified := 0
			for _, group := range program(t, opt).Group(cases) {
				r, out := s.measure(t, opt, group)
				checkAllDone(t, group, r, out)
				for _, how := range []string{"error stack", "enumeration", "function"} {
					verified += bytes.Count(out.Stdout, []byte(`"verified":"`+how+`"`))
				}
			}
			t.Logf("%d cases, %d with an observed algorithm", len(cases), verified)
			if verified < least[s.library] {
				t.Errorf("the algorithm was observed in %d cases, want at least %d", verified, least[s.library])
			}
		})
	}
}

// TestLiveProbe checks the call by which the program observes the running algorithm. It must not block a rank,
// even if ranks forward data, and it must find the requested algorithm.
func TestLiveProbe(t *testing.T) {
	opt := quick(mpich.program(t))
	lib, cat, err := libraries.Release(mpich.library, mpich.version)
	testutil.NoError(t, err)
	var cases []benchrunner.Case
	for _, c := range []coll.Collective{coll.Bcast, coll.Scatter, coll.Gather, coll.Reduce, coll.Allreduce} {
		for _, a := range cat.Algorithms(c) {
			p := coll.Point{Collective: c, Nodes: 1, PPN: 4, MsgBytes: 64}
			f, err := mpi.Force(lib, cat, coll.Candidate{Point: p, Algorithm: a})
			if err != nil || len(f.Base) > 1 {
				continue // cannot run on one node, or needs its own launch
			}
			cases = append(cases, benchrunner.Case{Candidate: coll.Candidate{Point: p, Algorithm: a}, Forcing: f})
		}
	}
	r, out := mpich.measure(t, opt, cases)
	checkAllDone(t, cases, r, out)
	if n := bytes.Count(out.Stdout, []byte(`"verified":"error stack"`)); n < 11 {
		t.Errorf("%d of %d algorithms were observed, want at least 11:\n%s", n, len(cases), out.Stdout)
	}
}

// TestLiveSwitchesOpenMPI forces several algorithms one after another. It checks that Open MPI calls their
// functions in this order. The log of the dynamic loader on rank 0 shows the first call of each function, and its first
// call after the program has emptied the loader's slots.
func TestLiveSwitchesOpenMPI(t *testing.T) {
	prog := openmpi.program(t)
	want := []string{"bcast_intra_pipeline", "bcast_intra_binomial", "bcast_intra_chain", "bcast_intra_basic_linear"}
	var cases []benchrunner.Case
	for _, w := range want {
		cases = append(cases, openmpi.forcedCase(t, pair, coll.Bcast, 4096, strings.TrimPrefix(w, "bcast_intra_")))
	}
	logs, dir := t.TempDir(), t.TempDir()
	script := filepath.Join(dir, "traced")
	text := "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 0 ] && export LD_DEBUG=bindings LD_DEBUG_OUTPUT='" + logs + "/log'\nexec '" + prog + "' \"$@\"\n"
	testutil.NoError(t, os.WriteFile(script, []byte(text), 0o755))
	r, out := openmpi.measure(t, quick(script), cases)
	checkAllDone(t, cases, r, out)
	files := testutil.Must(filepath.Glob(logs + "/log*"))(t)
	form := regexp.MustCompile(`binding file \S*mca_coll_tuned\.so .*normal symbol .ompi_coll_base_(bcast_intra_\w+)'`)
	var called []string
	for _, name := range files {
		log := testutil.Must(os.ReadFile(name))(t)
		for _, m := range form.FindAllSubmatch(log, -1) {
			called = append(called, string(m[1]))
		}
	}
	if got := strings.Join(slices.Compact(called), " "); got != strings.Join(want, " ") {
		t.Errorf("called %s, want %s", got, strings.Join(want, " "))
	}
}

// TestLiveRefused checks a case whose algorithm the library cannot run. The case must fail with the library's
// message, and the next case must be measured.
func TestLiveRefused(t *testing.T) {
	three := coll.Layout{Nodes: 1, PPN: 3}
	tuned := func(l coll.Layout, c coll.Collective, id int) benchrunner.Case {
		return switchCase(l, c, 64, true, mpi.Switch{Name: "coll_tuned_" + string(c) + "_algorithm", Value: id})
	}
	flat := func(l coll.Layout, c coll.Collective, id int) benchrunner.Case {
		name := "MPIR_CVAR_" + strings.ToUpper(string(c))
		return switchCase(l, c, 64, false, mpi.Switch{Name: name + "_DEVICE_COLLECTIVE", Value: 0}, mpi.Switch{Name: name + "_INTRA_ALGORITHM", Value: id})
	}
	rules := "OMPI_MCA_coll_tuned_use_dynamic_rules=1"
	fallback := "MPIR_CVAR_COLLECTIVE_FALLBACK=error"
	tests := []struct {
		name    string
		site    *site
		c       benchrunner.Case
		environ string // separated by blanks
		want    string
	}{
		{"recursive doubling of three", mpich, flat(three, coll.Allgather, 3), fallback, "not usable"},
		{"no such variable", mpich, switchCase(pair, coll.Bcast, 64, false, mpi.Switch{Name: "MPIR_CVAR_NONE", Value: 1}), fallback, "MPIR_CVAR_NONE: no such control variable"},
		{"variable that is text", mpich, switchCase(pair, coll.Bcast, 64, false, mpi.Switch{Name: "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", Value: 1}), fallback, "is not an integer"},
		{"no such algorithm", openmpi, tuned(pair, coll.Bcast, 99), rules, "not in the variable's enumeration"},
		{"two ranks of three", openmpi, tuned(three, coll.Alltoall, 5), rules, "MPI_ERR_UNSUPPORTED_OPERATION"},
		{"rules that are off", openmpi, tuned(pair, coll.Bcast, 1), "", "the library would ignore the algorithm"},
		{"a component above coll/tuned", openmpi, tuned(pair, coll.Bcast, 1), rules + " OMPI_MCA_coll_adapt_priority=100", "coll/adapt has priority 100, above coll/tuned"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			after := switchCase(tc.c.Layout(), coll.Bcast, 64, tc.c.NewComm)
			r, out := tc.site.measure(t, quick(tc.site.program(t)), []benchrunner.Case{tc.c, after}, strings.Fields(tc.environ)...)
			if o := r.Outcomes[0]; o.State != benchrunner.OutcomeFailed || o.Phase != benchrunner.PhaseRun || !strings.Contains(o.Error, tc.want) {
				t.Errorf("outcome %+v, want refused with %q\n%s%s", o, tc.want, out.Stdout, out.Stderr)
			}
			if o := r.Outcomes[1]; o.State != benchrunner.OutcomeDone {
				t.Errorf("the case after it: %+v, want done", o)
			}
		})
	}
}

// TestLiveNoise checks that a case gives no time if its times vary more than the noise limit allows. This limit is below
// what a clock resolves, so that the test does not depend on the load of the machine.
func TestLiveNoise(t *testing.T) {
	opt := quick(mpich.program(t))
	opt.Slice, opt.NoiseLimit, opt.Precision = time.Second, 1e-8, 1e-9
	r, out := mpich.measure(t, opt, []benchrunner.Case{switchCase(pair, coll.Allreduce, 64, false)})
	if o := r.Outcomes[0]; o.State != benchrunner.OutcomeFailed || o.Phase != benchrunner.PhaseNoise || !strings.HasPrefix(o.Error, "too noisy") {
		t.Errorf("outcome %+v, want too noisy\n%s%s", o, out.Stdout, out.Stderr)
	}
}

// TestLiveSlowCheck checks that a case gets enough timed calls for a confidence interval. This must hold even
// if checking the case uses up its whole time slice, as on a busy machine.
func TestLiveSlowCheck(t *testing.T) {
	testutil.NeedAllCases(t)
	shim := mpich.preload(t, `int MPI_Bcast(void *b, int n, MPI_Datatype d, int root, MPI_Comm c) {
		static int calls;
		if (++calls <= 8) usleep(500000);
		return PMPI_Bcast(b, n, d, root, c);
	}`)
	opt := quick(mpich.program(t))
	opt.Slice, opt.Check = 3*time.Second, true
	r, out := mpich.measure(t, opt, []benchrunner.Case{switchCase(pair, coll.Bcast, 64, false)}, "LD_PRELOAD="+shim)
	if o := r.Outcomes[0]; o.State != benchrunner.OutcomeDone || o.Samples < 6 || o.High == 0 {
		t.Errorf("outcome %+v, want 6 samples and their interval\n%s%s", o, out.Stdout, out.Stderr)
	}
}

// TestLiveCrash checks the outcomes after a crash of MPICH: the forced algorithm aborts because the number of ranks
// is not a power of two.
func TestLiveCrash(t *testing.T) {
	three := coll.Layout{Nodes: 1, PPN: 3}
	name := "MPIR_CVAR_REDUCE_SCATTER"
	crash := switchCase(three, coll.ReduceScatter, 64, false, mpi.Switch{Name: name + "_DEVICE_COLLECTIVE", Value: 0}, mpi.Switch{Name: name + "_INTRA_ALGORITHM", Value: 2})
	good := switchCase(three, coll.Barrier, 0, false)
	r, out := mpich.measure(t, quick(mpich.program(t)), []benchrunner.Case{good, crash, good}, "MPIR_CVAR_COLLECTIVE_FALLBACK=error")
	if out.Exit == 0 || r.Outcomes[0].State != benchrunner.OutcomeDone || r.Outcomes[1].State != benchrunner.OutcomeFailed ||
		r.Outcomes[1].Phase != benchrunner.PhaseRun || r.Outcomes[2].State != benchrunner.OutcomeNotReached {
		t.Errorf("exit code %d, outcomes\n%swant done, failed, not reached", out.Exit, outcomesText(r.Outcomes))
	}
}

// TestLiveHang checks that the program reports a case that hangs, and then ends by itself.
func TestLiveHang(t *testing.T) {
	prog := mpich.program(t)
	text := strings.Join([]string{
		"tutti-native-plan 1", "nodes 1", "ppn 2", "warmup 1", "min 6", "max 20", "precision 0.5", "slice 0.1", "hang 1", "abort_factor 0", "check no",
		"case 0 bcast 64 same", "case 1 bcast 128 same", "case 2 bcast 256 same", "end", "",
	}, "\n")
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan")
	testutil.NoError(t, os.WriteFile(plan, []byte(text), 0o644))
	shim := mpich.preload(t, `int MPI_Bcast(void *b, int n, MPI_Datatype d, int root, MPI_Comm c) {
		while (n == 128) sleep(1);
		return PMPI_Bcast(b, n, d, root, c);
	}`)
	out := mpich.launch(t, 2, []string{"LD_PRELOAD=" + shim}, prog, plan)
	s := benchrunner.Launch{Layout: pair, Cases: []benchrunner.Case{switchCase(pair, coll.Bcast, 64, false), switchCase(pair, coll.Bcast, 128, false), switchCase(pair, coll.Bcast, 256, false)}}
	r := program(t, quick(prog)).Read(s, out)
	if o := r.Outcomes; o[0].State != benchrunner.OutcomeDone || !strings.HasPrefix(o[1].Error, "hung") || o[2].State != benchrunner.OutcomeNotReached || o[1].CostSeconds < 1 {
		t.Errorf("outcomes\n%swant done, hung, not reached\n%s%s", outcomesText(o), out.Stdout, out.Stderr)
	}
}

// preload compiles C code into a library that replaces MPI functions, and returns its path.
func (s *site) preload(t *testing.T, code string) string {
	t.Helper()
	dir := t.TempDir()
	src, lib := filepath.Join(dir, "shim.c"), filepath.Join(dir, "shim.so")
	text := "#include <mpi.h>\n#include <string.h>\n#include <unistd.h>\n" + code + "\n"
	testutil.NoError(t, os.WriteFile(src, []byte(text), 0o644))
	if text, err := exec.Command(s.Compiler, "-shared", "-fPIC", "-o", lib, src).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return lib
}

// TestLiveWrongData checks that the program checks the data of every collective. The preloaded library
// damages one element on one rank, so each case must fail.
func TestLiveWrongData(t *testing.T) {
	prog := mpich.program(t)
	shim := mpich.preload(t, `
static int bad(int error, void *b) { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); if (r == 1) ((unsigned char *)b)[2] ^= 64; return error; }
static int at0(int error, void *b) { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); if (r == 0) ((unsigned char *)b)[2] ^= 64; return error; }
#define T MPI_Datatype
#define C MPI_Comm
int MPI_Allgather(const void *s, int n, T a, void *b, int m, T d, C c) { return bad(PMPI_Allgather(s, n, a, b, m, d, c), b); }
int MPI_Allgatherv(const void *s, int n, T a, void *b, const int *m, const int *p, T d, C c) { return bad(PMPI_Allgatherv(s, n, a, b, m, p, d, c), b); }
int MPI_Allreduce(const void *s, void *b, int n, T d, MPI_Op o, C c) { return bad(PMPI_Allreduce(s, b, n, d, o, c), b); }
int MPI_Alltoall(const void *s, int n, T a, void *b, int m, T d, C c) { return bad(PMPI_Alltoall(s, n, a, b, m, d, c), b); }
int MPI_Alltoallv(const void *s, const int *n, const int *q, T a, void *b, const int *m, const int *p, T d, C c) { return bad(PMPI_Alltoallv(s, n, q, a, b, m, p, d, c), b); }
int MPI_Barrier(C c) { return MPI_SUCCESS; }
int MPI_Bcast(void *b, int n, T d, int root, C c) { return bad(PMPI_Bcast(b, n, d, root, c), b); }
int MPI_Exscan(const void *s, void *b, int n, T d, MPI_Op o, C c) { return bad(PMPI_Exscan(s, b, n, d, o, c), b); }
int MPI_Gather(const void *s, int n, T a, void *b, int m, T d, int root, C c) { return at0(PMPI_Gather(s, n, a, b, m, d, root, c), b); }
int MPI_Reduce(const void *s, void *b, int n, T d, MPI_Op o, int root, C c) { return at0(PMPI_Reduce(s, b, n, d, o, root, c), b); }
int MPI_Reduce_scatter(const void *s, void *b, const int *n, T d, MPI_Op o, C c) { return bad(PMPI_Reduce_scatter(s, b, n, d, o, c), b); }
int MPI_Reduce_scatter_block(const void *s, void *b, int n, T d, MPI_Op o, C c) { return bad(PMPI_Reduce_scatter_block(s, b, n, d, o, c), b); }
int MPI_Scan(const void *s, void *b, int n, T d, MPI_Op o, C c) { return bad(PMPI_Scan(s, b, n, d, o, c), b); }
int MPI_Scatter(const void *s, int n, T a, void *b, int m, T d, int root, C c) { return bad(PMPI_Scatter(s, n, a, b, m, d, root, c), b); }
#define Q MPI_Request *q
#define DONE *q = MPI_REQUEST_NULL; return
int MPI_Iallgather(const void *s, int n, T a, void *b, int m, T d, C c, Q) { DONE MPI_Allgather(s, n, a, b, m, d, c); }
int MPI_Iallreduce(const void *s, void *b, int n, T d, MPI_Op o, C c, Q) { DONE MPI_Allreduce(s, b, n, d, o, c); }
int MPI_Ialltoall(const void *s, int n, T a, void *b, int m, T d, C c, Q) { DONE MPI_Alltoall(s, n, a, b, m, d, c); }
int MPI_Ibcast(void *b, int n, T d, int root, C c, Q) { DONE MPI_Bcast(b, n, d, root, c); }
int MPI_Ireduce(const void *s, void *b, int n, T d, MPI_Op o, int root, C c, Q) { DONE MPI_Reduce(s, b, n, d, o, root, c); }
`)
	var cases []benchrunner.Case
	for _, c := range coll.Collectives() {
		bytes := int64(256)
		if !c.Sized() {
			bytes = 0
		}
		cases = append(cases, switchCase(pair, c, bytes, false))
	}
	r, out := mpich.measure(t, quick(prog), cases, "LD_PRELOAD="+shim)
	for i, o := range r.Outcomes {
		if o.State != benchrunner.OutcomeFailed || !strings.HasPrefix(o.Error, "data: wrong") {
			t.Errorf("%v: %+v, want wrong data\n%s", cases[i].Candidate, o, out.Stderr)
		}
	}
}

// TestLiveForms checks algorithms that are right for the timed call, but wrong or crashing for other calls of the
// collective, such as calls in place. These cases must fail with an error that names the kind of call. Without
// options.Check, they must be measured.
func TestLiveForms(t *testing.T) {
	const code = `
#define T MPI_Datatype
#define C MPI_Comm
static int last(C c) { int r, n; MPI_Comm_rank(c, &r); MPI_Comm_size(c, &n); return r == n - 1; }
static int bad(int error, void *b, C c) { if (last(c)) ((unsigned char *)b)[2] ^= 64; return error; }
int MPI_Allreduce(const void *s, void *b, int n, T d, MPI_Op o, C c) { int e = PMPI_Allreduce(s, b, n, d, o, c); return s == MPI_IN_PLACE ? bad(e, b, c) : e; }
int MPI_Bcast(void *b, int n, T d, int root, C c) { return PMPI_Bcast(b, n, d, n == 64 ? 0 : root, c); }
int MPI_Alltoall(const void *s, int n, T a, void *b, int m, T d, C c) { return n == 0 ? MPI_ERR_COUNT : PMPI_Alltoall(s, n, a, b, m, d, c); }
int MPI_Scatter(const void *s, int n, T a, void *b, int m, T d, int root, C c) { int e = PMPI_Scatter(s, n, a, b, m, d, root, c); return d != MPI_CHAR ? bad(e, b, c) : e; }
int MPI_Gather(const void *s, int n, T a, void *b, int m, T d, int root, C c) { int e = PMPI_Gather(s, n, a, b, m, d, root, c); return d == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : e; }
int MPI_Alltoallv(const void *s, const int *n, const int *f, T a, void *b, const int *m, const int *g, T d, C c) { return a == MPI_DATATYPE_NULL ? MPI_ERR_TYPE : PMPI_Alltoallv(s, n, f, a, b, m, g, d, c); }
int MPI_Allgather(const void *s, int n, T a, void *b, int m, T d, C c) { if (s == MPI_IN_PLACE) raise(SIGSEGV); return PMPI_Allgather(s, n, a, b, m, d, c); }
`
	want := []struct {
		collective coll.Collective
		why        string
	}{
		{coll.Allreduce, "data: a call in place: wrong data: rank 1, element 0 is "},
		{coll.Bcast, "data: a call with another root: wrong data: rank "},
		{coll.Alltoall, "call: a call without elements: alltoall: "},
		{coll.Scatter, "data: a call of a derived type: wrong data: rank 1, "},
		{coll.Gather, "call: a call with null arguments: gather: "},
		{coll.Alltoallv, "call: a call in place with null arguments: alltoallv: "},
		{coll.Reduce, ""},
		{coll.Allgather, "a call in place: exit code "},
	}
	var cases []benchrunner.Case
	for _, w := range want {
		cases = append(cases, switchCase(pair, w.collective, 64, false))
	}
	for _, s := range []*site{mpich, openmpi} {
		t.Run(s.library, func(t *testing.T) {
			opt := quick(s.program(t))
			shim := "LD_PRELOAD=" + s.preload(t, "#include <signal.h>\n"+code)
			r, out := s.measure(t, opt, cases, shim)
			for i, o := range r.Outcomes {
				w := want[i]
				if failed := o.State == benchrunner.OutcomeFailed; failed != (w.why != "") || !strings.HasPrefix(o.Error, w.why) {
					t.Errorf("%s: %+v, want %q\n%s", w.collective, o, w.why, out.Stderr)
				}
			}
			opt.Check = false
			r, out = s.measure(t, opt, cases, shim)
			for i, o := range r.Outcomes {
				if o.State != benchrunner.OutcomeDone {
					t.Errorf("%s without the check: %+v, want done\n%s", want[i].collective, o, out.Stderr)
				}
			}
		})
	}
}

// TestLiveClocks checks that the measured times are right if the clocks of ranks drift, or differ by a quarter
// of an hour.
func TestLiveClocks(t *testing.T) {
	prog := mpich.program(t)
	shim := mpich.preload(t, `
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
int MPI_Get_processor_name(char *name, int *length) {
	*length = sprintf(name, "n%s", getenv("NODES") ? getenv("PMI_RANK") : "");
	return MPI_SUCCESS;
}
int clock_gettime(clockid_t id, struct timespec *t) {
	const char *rank = getenv("PMI_RANK");
	int error = (int)syscall(SYS_clock_gettime, id, t);
	if (id == CLOCK_MONOTONIC && rank && rank[0] == '1') {
		t->tv_sec += 900;
		if (getenv("DRIFT")) { /* 100 us in a second */
			long long ns = t->tv_sec * 1000000000LL + t->tv_nsec;
			ns += ns / 10000;
			t->tv_sec = ns / 1000000000;
			t->tv_nsec = ns % 1000000000;
		}
	}
	return error;
}
int MPI_Recv(void *buf, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status *s) {
	static int late;
	int error = PMPI_Recv(buf, n, type, from, tag, comm, s);
	if (tag == 30 && getenv("LATE") && late++ < 50) /* rank 1 is not there when its clock is asked for */
		usleep(30);
	return error;
}`)
	tests := []struct {
		name    string
		layout  coll.Layout
		environ []string
		clock   string
	}{
		{"one clock", pair, nil, "shared"},
		{"apart on one node", pair, []string{"LD_PRELOAD=" + shim}, "estimated"},
		{"apart on two nodes", coll.Layout{Nodes: 2, PPN: 1}, []string{"LD_PRELOAD=" + shim, "NODES=2"}, "estimated"},
		{"drifting on two nodes", coll.Layout{Nodes: 2, PPN: 1}, []string{"LD_PRELOAD=" + shim, "NODES=2", "DRIFT=1"}, "estimated"},
		{"late on two nodes", coll.Layout{Nodes: 2, PPN: 1}, []string{"LD_PRELOAD=" + shim, "NODES=2", "LATE=1"}, "estimated"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if strings.HasSuffix(tc.name, "on two nodes") && !strings.HasPrefix(tc.name, "drifting") {
				testutil.NeedAllCases(t)
			}
			opt := quick(prog)
			opt.MinSamples, opt.Slice = 200, time.Second
			cases := []benchrunner.Case{switchCase(tc.layout, coll.Bcast, 64, false), switchCase(tc.layout, coll.Barrier, 0, false), switchCase(tc.layout, coll.Allreduce, 1<<20, false)}
			r, out := mpich.measure(t, opt, cases, tc.environ...)
			if !bytes.Contains(out.Stdout, []byte(`"clock":"`+tc.clock+`"`)) {
				t.Errorf("want a clock that is %s:\n%s", tc.clock, out.Stdout)
			}
			if exact := bytes.Contains(out.Stdout, []byte(`"clock_error":0,`)); exact != (tc.clock == "shared") {
				t.Errorf("a clock that is %s, exact: %t:\n%s", tc.clock, exact, out.Stdout)
			}
			// Without a correction, times would be off by the 900 s between the clocks. Calls take far less on a busy machine.
			const most = 100.0
			if off := helloNumber(t, out, "clock_error"); off > most {
				t.Errorf("clocks are compared within %g s", off)
			}
			for i, o := range r.Outcomes {
				if o.State != benchrunner.OutcomeDone || o.Seconds > most {
					t.Errorf("%v: %+v, want done in less than %g s\n%s", cases[i].Candidate, o, most, out.Stdout)
				}
			}
		})
	}
}

// helloNumber returns the number with the given key from the event hello, the first one in the program's
// output.
func helloNumber(t *testing.T, out benchrunner.Output, key string) float64 {
	t.Helper()
	first, _, _ := bytes.Cut(out.Stdout, []byte("\n"))
	var hello map[string]any
	if err := json.Unmarshal(first, &hello); err != nil {
		t.Fatalf("%v\n%s", err, out.Stdout)
	}
	v, ok := hello[key].(float64)
	if !ok {
		t.Fatalf("no %s in %s", key, first)
	}
	return v
}

// TestLiveWorld checks an MPI world that differs from the layout. The program must report the difference, measure
// nothing, and end with an exit code other than 0.
func TestLiveWorld(t *testing.T) {
	tests := []struct {
		name    string
		launch  *site
		layout  coll.Layout
		environ string
		want    string // the error, empty for a correct world
	}{
		{"one node", mpich, coll.Layout{Nodes: 1, PPN: 2}, "", ""},
		{"two simulated nodes", mpich, coll.Layout{Nodes: 2, PPN: 2}, "MPIR_CVAR_NUM_CLIQUES=2", ""},
		{"no shared-memory domains", mpich, coll.Layout{Nodes: 1, PPN: 2}, "MPIR_CVAR_NUM_CLIQUES=2", ""},
		{"one instead of two nodes", mpich, coll.Layout{Nodes: 2, PPN: 1}, "", "2 ranks on 1 nodes (2), the plan wants 2 nodes of 1"},
		{"two instead of one node", mpich, coll.Layout{Nodes: 1, PPN: 4}, "MPIR_CVAR_NUM_CLIQUES=2", "4 ranks on 2 nodes (2+2), the plan wants 1 nodes of 4"},
		{"launcher of another library", openmpi, coll.Layout{Nodes: 1, PPN: 2}, "", "a world of one rank instead of 2"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if tc.name == "one instead of two nodes" {
				testutil.NeedAllCases(t)
			}
			prog := mpich.program(t)
			tc.launch.program(t)
			cases := []benchrunner.Case{switchCase(tc.layout, coll.Bcast, 64, false)}
			r, out := tc.launch.measure(t, quick(prog), cases, tc.environ)
			o := r.Outcomes[0]
			if tc.want == "" && (o.State != benchrunner.OutcomeDone || out.Exit != 0) {
				t.Errorf("exit code %d, %+v, want done\n%s%s", out.Exit, o, out.Stdout, out.Stderr)
			}
			if tc.want != "" && (o.Phase != benchrunner.PhaseLaunch || !strings.Contains(o.Error, tc.want) || out.Exit == 0) {
				t.Errorf("exit code %d, %+v, want a failed launch: %s\n%s", out.Exit, o, tc.want, out.Stdout)
			}
		})
	}
}

// TestLivePlan checks that an invalid plan leads to an error that states the number of the invalid line.
func TestLivePlan(t *testing.T) {
	prog := mpich.program(t)
	const good = "tutti-native-plan 1\nnodes 1\nppn 1\nwarmup 1\nmin 6\nmax 20\nprecision 0.5\nslice 0.1\nhang 9\nabort_factor 0\ncheck no\ncase 0 bcast 64 same\nend\n"
	tests := []struct{ name, old, new, want string }{
		{"right", "", "", ""},
		{"comment", "min 6\n", "# why\n\nmin 6\n", ""},
		{"first line", "plan 1", "plan 2", `plan:1: first statement`},
		{"unknown word", "min 6", "mean 6", `plan:5: unknown word "mean"`},
		{"twice", "max 20", "max 20\nmax 20", `plan:7: setting "max": want it once`},
		{"missing", "max 20\n", "", `plan:11: unexpected "case": want all ten settings`},
		{"not a number", "slice 0.1", "slice nan", `plan:8: slice "nan"`},
		{"rest of a line", "ppn 1", "ppn 1 2", `plan:3: unexpected "2": want the end of the line`},
		{"collective", "bcast", "Bcast", `plan:12: collective "Bcast"`},
		{"bytes", "64 same", "-1 same", `plan:12: bytes "-1"`},
		{"communicator", "64 same", "64 old", `plan:12: communicator "old"`},
		{"variable", "64 same", "64 same A=1.5", `plan:12: variable "A=1.5"`},
		{"numbers", "case 0 bcast 64 same", "case 1 bcast 64 same\ncase 1 bcast 64 same", `plan:13: case "1"`},
		{"cut off", "end\n", "", "the plan is cut off"},
		{"behind the end", "end\n", "end\nend\n", `plan:14: unexpected "end"`},
		{"least above most", "min 6", "min 60", "min 60: want at most max 20"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			plan := filepath.Join(t.TempDir(), "plan")
			testutil.NoError(t, os.WriteFile(plan, []byte(strings.Replace(good, tc.old, tc.new, 1)), 0o644))
			out, err := exec.Command(prog, plan).Output() // one rank needs no launcher
			if tc.want == "" && (err != nil || !bytes.Contains(out, []byte(`"event":"result"`))) {
				t.Errorf("%v\n%s", err, out)
			}
			if text := strings.ReplaceAll(string(out), `\"`, `"`); tc.want != "" && (err == nil || !strings.Contains(text, tc.want)) {
				t.Errorf("error %v, want one with %s:\n%s", err, tc.want, text)
			}
		})
	}
}
