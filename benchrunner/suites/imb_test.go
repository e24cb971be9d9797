package suites

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

const imbSampleName = "imb-mpi1_np2_bcast_allreduce_barrier"

func imb(t *testing.T, opt IMBOptions) *IMB {
	t.Helper()
	if opt.Path == "" {
		opt.Path = "/opt/IMB-MPI1"
	}
	p, err := NewIMB(opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSample: what is read of an output of 2021.11.
func TestIMBSample(t *testing.T) {
	l := parseIMB(benchrunner.Output{Stdout: []byte(sample(t, imbSampleName+".txt"))}.Lines())
	var b strings.Builder
	fmt.Fprintf(&b, "worlds %d version %q damaged %q\n", l.worlds, l.version, l.damaged)
	for _, s := range l.sections {
		fmt.Fprintf(&b, "%s, %d ranks\n", s.benchmark, s.ranks)
		for _, r := range s.rows {
			fmt.Fprintf(&b, "%d bytes: min %.4g avg %.4g max %.4g s, %d calls\n", r.bytes, r.min, r.avg, r.max, r.repetitions)
		}
	}
	testutil.CheckGolden(t, imbSampleName+".golden", []byte(b.String()))
}

func TestIMBNew(t *testing.T) {
	for _, tc := range []struct {
		opt  IMBOptions
		want string
	}{{IMBOptions{Path: "IMB-MPI1"}, "want an absolute path"}, {IMBOptions{Path: "/i", Iterations: -1}, "want no negative number"}} {
		if _, err := NewIMB(tc.opt); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("New(%+v) error = %v, want %q", tc.opt, err, tc.want)
		}
	}
	if got := imb(t, IMBOptions{}).Name(); got != "imb" {
		t.Errorf("Name = %q", got)
	}
}

func TestIMBCommand(t *testing.T) {
	tests := []struct {
		name          string
		opt           IMBOptions
		launch        benchrunner.Launch
		want, lengths string
	}{
		{"sizes", IMBOptions{}, launchOf(coll.Bcast, 2, 2, "binomial", 0, 1, 1000, 4096), "-npmin 4 -msglen /work/1/lengths Bcast", "0\n1\n1000\n4096\n"},
		{"iterations", IMBOptions{Iterations: 50}, launchOf(coll.Allreduce, 3, 2, "ring", 4), "-npmin 6 -iter 50 -msglen /work/1/lengths Allreduce", "4\n"},
		{"parts", IMBOptions{}, launchOf(coll.ReduceScatterBlock, 2, 2, "pairwise", 16, 4096), "-npmin 4 -msglen /work/1/lengths Reduce_scatter_block", "4\n1024\n"},
		{"barrier", IMBOptions{}, launchOf(coll.Barrier, 2, 2, "tree", 0), "-npmin 4 Barrier", ""},
	}
	for _, tc := range tests {
		cmd, err := imb(t, tc.opt).Command(tc.launch)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := strings.Join(cmd.Args, " "); got != "/bin/sh /work/1/placed.sh /opt/IMB-MPI1 "+tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, got, tc.want)
		}
		if got := string(cmd.Files["lengths"]); got != tc.lengths || len(cmd.Env) != 1 {
			t.Errorf("%s: lengths %q, want %q; Env %v", tc.name, got, tc.lengths, cmd.Env)
		}
	}
	for _, tc := range []struct {
		launch benchrunner.Launch
		want   string
	}{
		{launchOf(coll.Bcast, 2, 2, "ring"), "without a case"},
		{launchOf(coll.Scan, 2, 2, "ring", 4), "IMB has no benchmark of scan"},
		{launchOf(coll.Allreduce, 2, 2, "ring", 10), "whole elements of 4 bytes"},
		{launchOf(coll.ReduceScatterBlock, 2, 2, "ring", 18), "equal parts of whole elements of 4 bytes: 18 bytes for 4 ranks"},
		{launchOf(coll.ReduceScatterBlock, 2, 2, "ring", 8), "equal parts"},
		{launchOf(coll.Bcast, 2, 2, "ring", 1<<31), "up to 2147483647"},
		{launchOf(coll.Bcast, 2, 2, "ring", 8, 8), "cannot follow"},
	} {
		if _, err := imb(t, IMBOptions{}).Command(tc.launch); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("error = %v, want %q", err, tc.want)
		}
	}
}

func TestIMBGroup(t *testing.T) {
	p := imb(t, IMBOptions{})
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

func TestIMBRead(t *testing.T) {
	whole := sample(t, imbSampleName+".txt")
	const line = "          256           50         0.18         0.23         0.21"
	at := strings.Index(whole, line)
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
		want   []string // of bcast with 8 and 256 bytes
	}{
		{"whole", whole, benchrunner.Output{Ended: true}, twoHosts, []string{"done 50 calls 5.3e-07", "done 50 calls 2.3e-07"}},
		{"job ended", whole[:at], benchrunner.Output{}, twoHosts, []string{"done 50 calls 5.3e-07", "not reached"}},
		{"line cut", whole[:at+45], benchrunner.Output{}, twoHosts, []string{"done 50 calls 5.3e-07", "not reached"}},
		{"crash", whole[:at], benchrunner.Output{Ended: true, Exit: 9}, twoHosts + "assert\n", []string{"done", "failed run exit code 9: assert"}},
		{"too few lines", whole[:at], benchrunner.Output{Ended: true}, twoHosts, []string{"done", "failed parse the program ended well"}},
		{"nothing", "", benchrunner.Output{Ended: true, Exit: 1}, "", []string{"failed launch exit code 1", "failed launch"}},
		{"other size of the world", strings.ReplaceAll(whole, "#processes = 2", "#processes = 3"), benchrunner.Output{Ended: true}, twoHosts, []string{"failed launch a world of 3 ranks, want 2", "failed launch"}},
		{"two worlds", whole + whole, benchrunner.Output{Ended: true}, twoHosts, []string{"failed launch 2 worlds", "failed launch"}},
		{"on one node", whole, benchrunner.Output{Ended: true}, strings.ReplaceAll(twoHosts, "n2", "n1"), []string{"failed launch 2 ranks on n1", "failed launch"}},
		{"hang", whole[:at], benchrunner.Output{TimedOut: true}, twoHosts, []string{"done 50 calls 5.3e-07", "failed run not done after"}},
		{"locale commas", strings.Replace(whole, line, strings.ReplaceAll(line, ".", ","), 1), benchrunner.Output{Ended: true}, twoHosts, []string{"done 50 calls 5.3e-07", "done 50 calls 2.3e-07"}},
		{"prefixed by Open MPI", "[1,0]<stdout>:" + strings.ReplaceAll(whole, "\n", "\n[1,0]<stdout>:"), benchrunner.Output{Ended: true}, strings.ReplaceAll(twoHosts, "tutti", "[1,0]<stderr>:tutti"), []string{"done 50 calls 5.3e-07", "done 50 calls 2.3e-07"}},
		{"prefixed by MPICH", "[0] " + strings.ReplaceAll(whole, "\n", "\n[0] "), benchrunner.Output{Ended: true}, strings.ReplaceAll(twoHosts, "tutti", "[0] tutti"), []string{"done 50 calls 5.3e-07", "done 50 calls 2.3e-07"}},
		{"interleaved", strings.Replace(whole, line, line[:40]+"n2: warning: eth0\n"+line[40:], 1), benchrunner.Output{Ended: true}, twoHosts, []string{"done 50 calls 5.3e-07", "failed parse"}},
		{"two lines in one", strings.Replace(whole, line, line+line, 1), benchrunner.Output{Ended: true}, twoHosts, []string{"done 50 calls 5.3e-07", "failed parse"}},
		{"silent fallback of Open MPI", whole, benchrunner.Output{Ended: true}, twoHosts + unknownID, []string{"failed run Open MPI has no value 99 for coll_tuned_bcast_algorithm and ran its own choice", "failed run"}},
		{"fallback of MPICH", whole, benchrunner.Output{Ended: true}, twoHosts + "User set collective algorithm is not usable for the provided arguments\nBcast smp cannot be applied.\n",
			[]string{"failed run MPICH: Bcast smp cannot be applied", "failed run"}},
		{"too large", strings.Replace(whole, "          256           50         0.18         0.23         0.21", "          256 out-of-mem.; needed X=  4.003 GB", 1),
			benchrunner.Output{Ended: true}, twoHosts, []string{"done", "failed run IMB left the size out: out-of-mem.; needed X= 4.003 GB"}},
		{"order of columns", strings.Replace(whole, "0.18         0.23         0.21", "0.18         0.21         0.23", 1), benchrunner.Output{Ended: true}, twoHosts,
			[]string{"done", "failed parse times 0.18 ≤ 0.23 ≤ 0.21 us do not hold"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			out := tc.out
			out.Stdout, out.Stderr = []byte(tc.text), []byte(tc.stderr)
			r := imb(t, IMBOptions{}).Read(launchOf(coll.Bcast, 2, 1, "ring", 8, 256), out)
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
	r := imb(t, IMBOptions{}).Read(launchOf(coll.Barrier, 2, 1, "tree", 0), benchrunner.Output{Stdout: []byte(whole), Stderr: []byte(twoHosts), Ended: true})
	if o := r.Outcomes[0]; o.State != benchrunner.OutcomeDone || math.Abs(o.Seconds-0.35e-6) > 1e-12 || math.Abs(r.MeasureSeconds-50*0.35e-6) > 1e-12 {
		t.Errorf("barrier: %+v, measured %g s", o, r.MeasureSeconds)
	}
}

// Ranks that wait in a barrier are of no section that was asked for.
func TestIMBReadWaiting(t *testing.T) {
	text := strings.ReplaceAll(sample(t, imbSampleName+".txt"), "# #processes = 2 \n", "# #processes = 2 \n# ( 2 additional processes waiting in MPI_Barrier)\n")
	four := strings.Repeat(twoHosts, 2)
	r := imb(t, IMBOptions{}).Read(launchOf(coll.Bcast, 2, 2, "ring", 8), benchrunner.Output{Stdout: []byte(text), Stderr: []byte(four), Ended: true})
	if o := r.Outcomes[0]; o.State != benchrunner.OutcomeFailed || !strings.Contains(o.Error, "a world of 2 ranks, want 4") {
		t.Errorf("%+v", o)
	}
}

func FuzzReadIMB(f *testing.F) {
	text, err := os.ReadFile("testdata/" + imbSampleName + ".txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text, true, 0)
	f.Add(text[:len(text)/2], false, 1)
	p, err := NewIMB(IMBOptions{Path: "/i"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, ended bool, exit int) {
		s := launchOf(coll.Bcast, 2, 1, "ring", 8, 256)
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

func ExampleNewIMB() {
	p, err := NewIMB(IMBOptions{Path: "/opt/imb/IMB-MPI1", Iterations: 200})
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
	// Output: /opt/imb/IMB-MPI1 -npmin 8 -iter 200 -msglen /work/1/lengths Bcast
}

// The size that IMB prints of Reduce_scatter_block is the part of one rank.
func TestIMBReadParts(t *testing.T) {
	const text = `#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
# Benchmarking Reduce_scatter_block
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
           16         1000         1.00         3.00         2.00
`
	s := launchOf(coll.ReduceScatterBlock, 1, 4, "pairwise", 64)
	r := imb(t, IMBOptions{OneHost: true}).Read(s, benchrunner.Output{Stdout: []byte(text), Stderr: []byte(strings.Repeat("tutti: process on host n1\n", 4)), Ended: true})
	if o := r.Outcomes[0]; o.State != benchrunner.OutcomeDone || o.Seconds != 3e-6 || o.Samples != 1000 {
		t.Errorf("outcome %+v, want 3 us", o)
	}
}
