package suites

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

func reprompi(t *testing.T, opt ReproMPIOptions) *ReproMPI {
	t.Helper()
	if opt.Path == "" {
		opt.Path = "/opt/mpibenchmark"
	}
	p, err := NewReproMPI(opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func renderReproMPI(l reproListing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "worlds %d ranks %d datatype %d bytes\n", l.worlds, l.ranks, l.typeBytes)
	keys := slices.SortedFunc(maps.Keys(l.results), func(a, b reproKey) int {
		return cmp.Or(cmp.Compare(a.call, b.call), cmp.Compare(a.count, b.count))
	})
	for _, k := range keys {
		r := l.results[k]
		fmt.Fprintf(&b, "%s %d: median %.4g s of %d, %d invalid, calls", k.call, k.count, r.median, r.valid, r.invalid)
		for _, s := range r.seconds {
			fmt.Fprintf(&b, " %.4g", s)
		}
		b.WriteByte('\n')
	}
	for _, line := range l.damaged {
		fmt.Fprintf(&b, "damaged %q\n", line)
	}
	return b.String()
}

// TestSamples: what is read of outputs of 1.0.1 and of the development version.
func TestReproMPISamples(t *testing.T) {
	names, err := filepath.Glob("testdata/reprompi*.txt")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			l, err := parseReproMPI(benchrunner.Output{Stdout: text}.Lines())
			got := renderReproMPI(l)
			if err != nil {
				got = "error: " + err.Error() + "\n"
			}
			testutil.CheckGolden(t, strings.TrimSuffix(filepath.Base(name), ".txt")+".golden", []byte(got))
		})
	}
}

func TestReproMPINew(t *testing.T) {
	for _, tc := range []struct {
		opt  ReproMPIOptions
		want string
	}{{ReproMPIOptions{Path: "mpibenchmark"}, "want an absolute path"}, {ReproMPIOptions{Path: "/m", Repetitions: -1}, "want no negative number"}} {
		if _, err := NewReproMPI(tc.opt); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("New(%+v) error = %v, want %q", tc.opt, err, tc.want)
		}
	}
	if got := reprompi(t, ReproMPIOptions{}).Name(); got != "reprompi" {
		t.Errorf("Name = %q", got)
	}
}

func TestReproMPICommand(t *testing.T) {
	tests := []struct {
		name   string
		opt    ReproMPIOptions
		launch benchrunner.Launch
		want   string
	}{
		{"sizes", ReproMPIOptions{}, launchOf(coll.Bcast, 2, 2, "binomial", 1, 1000, 4096), "--calls-list=MPI_Bcast --msizes-list=1,1000,4096 --nrep=100"},
		{"reduction", ReproMPIOptions{Repetitions: 30}, launchOf(coll.Allreduce, 2, 2, "ring", 4, 8), "--calls-list=MPI_Allreduce --msizes-list=4,8 --nrep=30 --datatype=MPI_FLOAT --operation=MPI_SUM"},
		{"parts of ranks", ReproMPIOptions{}, launchOf(coll.ReduceScatter, 2, 2, "ring", 64), "--calls-list=MPI_Reduce_scatter --msizes-list=16 --nrep=100 --datatype=MPI_FLOAT --operation=MPI_SUM"},
		{"barrier, summary", ReproMPIOptions{Summary: true}, launchOf(coll.Barrier, 2, 2, "tree", 0), "--calls-list=MPI_Barrier --msizes-list=1 --nrep=100 --summary=median"},
	}
	for _, tc := range tests {
		cmd, err := reprompi(t, tc.opt).Command(tc.launch)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := strings.Join(cmd.Args, " "); got != "/bin/sh /work/1/placed.sh /opt/mpibenchmark "+tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
		if len(cmd.Env) != 1 || cmd.Env[0].Name != "ALG" {
			t.Errorf("%s: Env = %v", tc.name, cmd.Env)
		}
	}
	for _, tc := range []struct {
		launch benchrunner.Launch
		want   string
	}{
		{launchOf(coll.Bcast, 2, 2, "ring"), "without a case"},
		{launchOf(coll.Alltoallv, 2, 2, "ring", 4), "ReproMPI has no call for alltoallv"},
		{launchOf(coll.Allreduce, 2, 2, "ring", 2), "begins at 4 bytes"},
		{launchOf(coll.Allreduce, 2, 2, "ring", 10), "whole elements of 4 bytes"},
		{launchOf(coll.ReduceScatter, 3, 1, "ring", 64), "equal parts"},
		{launchOf(coll.ReduceScatter, 2, 2, "ring", 8), "begins at 4 bytes"},
		{launchOf(coll.Bcast, 2, 2, "ring", 8, 8), "cannot follow"},
	} {
		if _, err := reprompi(t, ReproMPIOptions{}).Command(tc.launch); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error = %v, want %q", err, tc.want)
		}
	}
}

func TestReproMPIGroup(t *testing.T) {
	p := reprompi(t, ReproMPIOptions{})
	cases := slices.Concat(launchOf(coll.Bcast, 2, 2, "ring", 64, 4, 4, 1000).Cases, launchOf(coll.Bcast, 2, 2, "chain", 8).Cases)
	var got []string
	for _, group := range p.Group(cases) {
		text := group[0].Algorithm.String()
		for _, c := range group {
			text += fmt.Sprintf(" %d", c.MsgBytes)
		}
		got = append(got, text)
		if _, err := p.Command(benchrunner.Launch{Layout: group[0].Layout(), Cases: group, Dir: "/w"}); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"chain 8", "ring 4", "ring 4 64 1000"}; !slices.Equal(got, want) {
		t.Errorf("Group = %q, want %q", got, want)
	}
	if d := p.Allowance(launchOf(coll.Bcast, 2, 2, "ring", 4)); d < 10*time.Second || d > time.Minute {
		t.Errorf("Allowance = %v", d)
	}
}

func TestReproMPIRead(t *testing.T) {
	raw := sample(t, "reprompi-dev_np2_raw.txt")
	// What Open MPI 4.1.4 printed for the unknown number 99 before it ran its own choice.
	const unknownID = `--------------------------------------------------------------------------
An invalid value was supplied for an enum variable.

  Variable     : coll_tuned_bcast_algorithm
  Value        : 99
  Valid values : 0:"ignore", 1:"basic_linear"
--------------------------------------------------------------------------
`
	tests := []struct {
		name   string
		text   string
		out    benchrunner.Output
		stderr string
		want   []string // of bcast with 8 and 1024 bytes
	}{
		{"raw", raw, benchrunner.Output{Ended: true}, twoHosts, []string{"done 5 calls 2.8e-07", "done 5 calls"}},
		{"1.0.1", sample(t, "reprompi-1.0.1_np2_raw.txt"), benchrunner.Output{Ended: true}, twoHosts, []string{"done 3 calls 1.573e-06", "done 3 calls 4.847e-06"}},
		{"summary", sample(t, "reprompi-dev_np2_summary.txt"), benchrunner.Output{Ended: true}, twoHosts, []string{"done 50 calls 2e-07", "done 50 calls 2.0985e-06"}},
		{"verbose", sample(t, "reprompi-1.0.1_np2_verbose.txt"), benchrunner.Output{Ended: true}, twoHosts, []string{"done 3 calls 1.302e-06", "failed parse the program ended well but printed nothing for 1KiB"}},
		{"cut among the calls", raw[:strings.Index(raw, "MPI_Bcast          3            8")], benchrunner.Output{}, twoHosts, []string{"not reached", "not reached"}},
		{"crash", raw[:strings.Index(raw, "MPI_Bcast          1         1024")], benchrunner.Output{Ended: true, Exit: 9}, twoHosts + "assert\n", []string{"done 5 calls", "failed run exit code 9: assert"}},
		{"hang", raw[:strings.Index(raw, "MPI_Bcast          0         1024")], benchrunner.Output{TimedOut: true}, twoHosts, []string{"done 5 calls", "failed run not done after"}},
		{"nothing", "", benchrunner.Output{Ended: true, Exit: 1}, "", []string{"failed launch exit code 1", "failed launch"}},
		{"other size of the world", strings.ReplaceAll(raw, "nprocs=2", "nprocs=3"), benchrunner.Output{Ended: true}, twoHosts, []string{"failed launch a world of 3 ranks, want 2", "failed launch"}},
		{"worlds of one", strings.Repeat(strings.ReplaceAll(raw, "nprocs=2", "nprocs=1"), 2), benchrunner.Output{Ended: true}, twoHosts, []string{"failed launch 2 worlds of 1 ranks", "failed launch"}},
		{"one world of one", strings.ReplaceAll(raw, "nprocs=2", "nprocs=1"), benchrunner.Output{Ended: true}, twoHosts, []string{"failed launch 2 worlds of 1 ranks", "failed launch"}},
		{"on one node", raw, benchrunner.Output{Ended: true}, strings.ReplaceAll(twoHosts, "n2", "n1"), []string{"failed launch 2 ranks on n1, want 1 on each of 2 nodes", "failed launch"}},
		{"predictions", sample(t, "reprompi-1.0.1_np2_pred.txt"), benchrunner.Output{Ended: true}, twoHosts, []string{"failed parse a listing of mpibenchPredNreps", "failed parse"}},
		{"prefixed by Open MPI", "[1,0]<stdout>:" + strings.ReplaceAll(raw, "\n", "\n[1,0]<stdout>:"), benchrunner.Output{Ended: true}, strings.ReplaceAll(twoHosts, "tutti", "[1,0]<stderr>:tutti"), []string{"done 5 calls 2.8e-07", "done 5 calls"}},
		{"prefixed by MPICH", "[0] " + strings.ReplaceAll(raw, "\n", "\n[0] "), benchrunner.Output{Ended: true}, strings.ReplaceAll(twoHosts, "tutti", "[0] tutti"), []string{"done 5 calls 2.8e-07", "done 5 calls"}},
		{"locale commas", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 0,25\n MPI_Bcast 0 1024 0,5\n", benchrunner.Output{Ended: true}, twoHosts, []string{"done 1 calls 0.25", "done 1 calls 0.5"}},
		{"thousands", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 1,000.25\n MPI_Bcast 0 1024 0.5\n", benchrunner.Output{Ended: true}, twoHosts, []string{"failed parse", "done 1 calls 0.5"}},
		{"interleaved", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 0.2n2: warning\n5\n MPI_Bcast 0 1024 0.5\n", benchrunner.Output{Ended: true}, twoHosts, []string{"failed parse", "done 1 calls 0.5"}},
		{"two lines in one", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 0.25 MPI_Bcast 0 8 0.25\n MPI_Bcast 0 1024 0.5\n", benchrunner.Output{Ended: true}, twoHosts, []string{"failed parse", "done 1 calls 0.5"}},
		{"silent fallback of Open MPI", raw, benchrunner.Output{Ended: true}, twoHosts + unknownID, []string{"failed run Open MPI has no value 99 for coll_tuned_bcast_algorithm and ran its own choice", "failed run"}},
		{"fallback of MPICH", raw, benchrunner.Output{Ended: true}, twoHosts + "User set collective algorithm is not usable for the provided arguments\nBcast smp cannot be applied.\n",
			[]string{"failed run MPICH: Bcast smp cannot be applied", "failed run"}},
		{"all invalid", "#@nprocs=2\n test nrep count errorcode runtime_sec\n MPI_Bcast 0 8 1 0.1\n MPI_Bcast 0 1024 0 0.1\n", benchrunner.Output{Ended: true}, twoHosts, []string{"failed run all 1 calls were not synchronised", "done 1 calls 0.1"}},
		{"damage", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 nan\n MPI_Bcast 0 1024 -1\n", benchrunner.Output{Ended: true}, twoHosts, []string{"failed parse", "failed parse"}},
		{"bytes instead of counts", "#@nprocs=2\n#@datatype_size_bytes=4\n test nrep msize_bytes runtime_sec\n MPI_Bcast 0 8 0.5\n MPI_Bcast 0 1024 0.25\n", benchrunner.Output{Ended: true}, twoHosts, []string{"done 1 calls 0.5", "done 1 calls 0.25"}},
		{"counts of a larger type", "#@nprocs=2\n#@datatype_size_bytes=4\n test nrep count runtime_sec\n MPI_Bcast 0 2 0.5\n MPI_Bcast 0 256 0.25\n", benchrunner.Output{Ended: true}, twoHosts, []string{"done 1 calls 0.5", "done 1 calls 0.25"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			out := tc.out
			out.Stdout, out.Stderr = []byte(tc.text), []byte(tc.stderr)
			r := reprompi(t, ReproMPIOptions{Repetitions: 5}).Read(launchOf(coll.Bcast, 2, 1, "ring", 8, 1024), out)
			for i, o := range r.Outcomes {
				got := string(o.State)
				switch o.State {
				case benchrunner.OutcomeDone:
					got += fmt.Sprintf(" %d calls %.6g", o.Samples, o.Seconds)
				case benchrunner.OutcomeFailed:
					got += " " + o.Phase + " " + o.Error
				}
				if !strings.HasPrefix(got, tc.want[i]) {
					t.Errorf("case %d\n got %s\nwant %s", i, got, tc.want[i])
				}
			}
		})
	}
}

// The interval is the one of order statistics: of ten samples the second and the
// ninth.
func TestReproMPIReadInterval(t *testing.T) {
	text := "#@nprocs=2\n test nrep count runtime_sec\n"
	for i := range 10 {
		text += fmt.Sprintf(" MPI_Bcast %d 8 0.%d\n", i, (i*7)%10+1)
	}
	text = strings.ReplaceAll(text, "0.10\n", "1.0\n")
	r := reprompi(t, ReproMPIOptions{Repetitions: 10}).Read(launchOf(coll.Bcast, 2, 1, "ring", 8), benchrunner.Output{Stdout: []byte(text), Stderr: []byte(twoHosts), Ended: true})
	o := r.Outcomes[0]
	if o.Seconds != 0.55 || o.Low != 0.2 || o.High != 0.9 || math.Abs(o.CostSeconds-5.5) > 1e-12 || r.MeasureSeconds != o.CostSeconds {
		t.Errorf("%+v, measured %g s", o, r.MeasureSeconds)
	}
}

func FuzzReadReproMPI(f *testing.F) {
	names, err := filepath.Glob("testdata/reprompi*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, true, 0)
	}
	p, err := NewReproMPI(ReproMPIOptions{Path: "/m", Repetitions: 5})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, ended bool, exit int) {
		s := launchOf(coll.Bcast, 2, 1, "ring", 8, 1024)
		r := p.Read(s, benchrunner.Output{Stdout: text, Stderr: []byte(twoHosts), Ended: ended, Exit: exit})
		if len(r.Outcomes) != len(s.Cases) {
			t.Fatalf("%d outcomes of %d cases", len(r.Outcomes), len(s.Cases))
		}
		for _, o := range r.Outcomes {
			if o.State == benchrunner.OutcomeDone && (!(o.Seconds > 0) || math.IsInf(o.Seconds, 0) || o.Samples < 1) ||
				o.State == benchrunner.OutcomeFailed && (o.Phase == "" || o.Error == "") {
				t.Errorf("%+v", o)
			}
		}
	})
}

func ExampleNewReproMPI() {
	p, err := NewReproMPI(ReproMPIOptions{Path: "/opt/reprompi/mpibenchmark", Repetitions: 50})
	if err != nil {
		fmt.Println(err)
		return
	}
	cmd, err := p.Command(launchOf(coll.Bcast, 4, 2, "binomial", 1024, 3000))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Join(cmd.Args[2:], " "))
	// Output: /opt/reprompi/mpibenchmark --calls-list=MPI_Bcast --msizes-list=1024,3000 --nrep=50
}
