package suites

import (
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
)

func launchOf(collective coll.Collective, nodes, ppn int, algorithm string, sizes ...int64) benchrunner.Launch {
	s := benchrunner.Launch{Layout: coll.Layout{Nodes: nodes, PPN: ppn}, Dir: "/work/1"}
	for _, size := range sizes {
		s.Cases = append(s.Cases, benchrunner.Case{
			Candidate: coll.Candidate{
				Point:     coll.Point{Collective: collective, Nodes: nodes, PPN: ppn, MsgBytes: size},
				Algorithm: coll.Algorithm{Name: algorithm},
			},
			Forcing: mpi.Forcing{Env: []mpi.Var{{Name: "ALG", Value: algorithm}}},
		})
	}
	return s
}

// hosts returns the text that ranks on the named hosts print to report their hosts.
func hosts(names ...string) string {
	var b strings.Builder
	for _, h := range names {
		b.WriteString("tutti: process on host " + h + "\n")
	}
	return b.String()
}

var twoHosts = hosts("n1", "n2")

func sample(t testing.TB, name string) string {
	t.Helper()
	text := testutil.Must(os.ReadFile("testdata/" + name))(t)
	return string(text)
}

func osu(t testing.TB, opt OSUOptions) *Program {
	opt.Dir = "/opt/osu"
	return testutil.Must(NewOSU(opt))(t)
}

func imb(iterations int) *Program { return NewIMB("/opt/IMB-MPI1", iterations) }

func reprompi(repetitions int) *Program { return NewReproMPI("/opt/mpibenchmark", repetitions) }

func TestNewRejects(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	for _, opt := range []any{
		OwnOptions{Path: "/t", Args: "-m {size}"},
		OwnOptions{Path: "/t", Pattern: "("},
		OwnOptions{Path: "/t", Pattern: "time ([0-9]+)"},
		OwnOptions{Path: "/t", Pattern: "(?P<s>.)(?P<us>.)"},
		OSUOptions{Dir: "/o", Version: "seven"},
		OSUOptions{Dir: "/o", Version: "3.9"},
	} {
		var err error
		switch opt := opt.(type) {
		case OSUOptions:
			_, err = NewOSU(opt)
		case OwnOptions:
			_, err = NewOwn(opt)
		}
		golden(fmt.Sprintf("%+v", opt), err)
	}
}

func TestCommand(t *testing.T) {
	for _, tc := range []struct {
		program       benchrunner.Program
		launch        benchrunner.Launch
		want, lengths string // lengths is IMB's file of sizes
	}{
		{osu(t, OSUOptions{}), launchOf(coll.Bcast, 2, 2, "binomial", 1024, 2048, 4096), "/opt/osu/osu_bcast -f -m 1024:4096", ""},
		{osu(t, OSUOptions{}), launchOf(coll.Alltoall, 2, 2, "pairwise", 1000), "/opt/osu/osu_alltoall -f -m 1000:1000", ""},
		{osu(t, OSUOptions{}), launchOf(coll.Barrier, 2, 2, "tree", 0), "/opt/osu/osu_barrier -f", ""},
		{osu(t, OSUOptions{Version: "7.4", Iterations: 50, Warmup: 5}), launchOf(coll.Allreduce, 2, 2, "ring", 4),
			"/opt/osu/osu_allreduce -f -i 50 -x 5 -m 4:4 -T mpi_float", ""},
		{osu(t, OSUOptions{Version: "7.0"}), launchOf(coll.Allreduce, 2, 2, "ring", 4), "/opt/osu/osu_allreduce -f -m 4:4", ""},
		{osu(t, OSUOptions{Version: "7.4"}), launchOf(coll.Allgather, 2, 2, "ring", 4), "/opt/osu/osu_allgather -f -m 4:4", ""},
		{imb(0), launchOf(coll.Bcast, 2, 2, "binomial", 0, 1, 1000, 4096), "/opt/IMB-MPI1 -npmin 4 -msglen /work/1/lengths Bcast", "0\n1\n1000\n4096\n"},
		{imb(50), launchOf(coll.Allreduce, 3, 2, "ring", 4), "/opt/IMB-MPI1 -npmin 6 -iter 50 -msglen /work/1/lengths Allreduce", "4\n"},
		{imb(0), launchOf(coll.ReduceScatterBlock, 2, 2, "pairwise", 16, 4096), "/opt/IMB-MPI1 -npmin 4 -msglen /work/1/lengths Reduce_scatter_block", "4\n1024\n"},
		{imb(0), launchOf(coll.Barrier, 2, 2, "tree", 0), "/opt/IMB-MPI1 -npmin 4 Barrier", ""},
		{reprompi(0), launchOf(coll.Bcast, 2, 2, "binomial", 1, 1000, 4096), "/opt/mpibenchmark --calls-list=MPI_Bcast --msizes-list=1,1000,4096 --nrep=100", ""},
		{reprompi(30), launchOf(coll.Allreduce, 2, 2, "ring", 4, 8), "/opt/mpibenchmark --calls-list=MPI_Allreduce --msizes-list=4,8 --nrep=30 --datatype=MPI_FLOAT --operation=MPI_SUM", ""},
		{reprompi(0), launchOf(coll.ReduceScatter, 2, 2, "ring", 64), "/opt/mpibenchmark --calls-list=MPI_Reduce_scatter --msizes-list=16 --nrep=100 --datatype=MPI_FLOAT --operation=MPI_SUM", ""},
		{reprompi(0), launchOf(coll.Barrier, 2, 2, "tree", 0), "/opt/mpibenchmark --calls-list=MPI_Barrier --msizes-list=1 --nrep=100", ""},
	} {
		cmd, err := tc.program.Command(tc.launch)
		if err != nil {
			t.Errorf("%s: %v", tc.want, err)
			continue
		}
		if got := strings.Join(cmd.Args, " "); got != "/bin/sh /work/1/placed.sh "+tc.want {
			t.Errorf("Args\n got %s\nwant %s", got, tc.want)
		}
		if got := string(cmd.Files["lengths"]); got != tc.lengths || len(cmd.Files["placed.sh"]) == 0 {
			t.Errorf("%s: lengths %q, want %q; files %v", tc.want, got, tc.lengths, cmd.Files)
		}
		if d := cmp.Diff(tc.launch.Cases[0].Env, cmd.Env); d != "" {
			t.Errorf("%s: Env (-want +got):\n%s", tc.want, d)
		}
	}
}

func TestCommandRejects(t *testing.T) {
	golden := testutil.GoldenErrors(t)
	mixed := launchOf(coll.Bcast, 2, 2, "ring", 4, 8)
	mixed.Cases[1].Algorithm = coll.Algorithm{Name: "chain"}
	for _, tc := range []struct {
		program benchrunner.Program
		launch  benchrunner.Launch
	}{
		{osu(t, OSUOptions{}), launchOf(coll.Scan, 2, 2, "ring", 4)},
		{osu(t, OSUOptions{}), launchOf(coll.Barrier, 1, 1, "tree", 0)},
		{osu(t, OSUOptions{}), launchOf(coll.Bcast, 2, 2, "ring", 0)},
		{osu(t, OSUOptions{}), launchOf(coll.Allreduce, 2, 2, "ring", 2)},
		{osu(t, OSUOptions{}), launchOf(coll.Allreduce, 2, 2, "ring", 10)},
		{osu(t, OSUOptions{Version: "5.3"}), launchOf(coll.Bcast, 2, 2, "ring", 1000)},
		{osu(t, OSUOptions{}), launchOf(coll.Bcast, 2, 2, "ring", 4, 16)},
		{osu(t, OSUOptions{}), mixed},
		{imb(0), launchOf(coll.Scan, 2, 2, "ring", 4)},
		{imb(0), launchOf(coll.Allreduce, 2, 2, "ring", 10)},
		{imb(0), launchOf(coll.ReduceScatterBlock, 2, 2, "ring", 18)},
		{imb(0), launchOf(coll.ReduceScatterBlock, 2, 2, "ring", 8)},
		{imb(0), launchOf(coll.Bcast, 2, 2, "ring", 1<<31)},
		{imb(0), launchOf(coll.Bcast, 2, 2, "ring", 8, 8)},
		{reprompi(0), launchOf(coll.Alltoallv, 2, 2, "ring", 4)},
		{reprompi(0), launchOf(coll.Allreduce, 2, 2, "ring", 2)},
		{reprompi(0), launchOf(coll.Allreduce, 2, 2, "ring", 10)},
		{reprompi(0), launchOf(coll.ReduceScatter, 3, 1, "ring", 64)},
		{reprompi(0), launchOf(coll.ReduceScatter, 2, 2, "ring", 8)},
		{reprompi(0), launchOf(coll.Bcast, 2, 2, "ring", 8, 8)},
	} {
		_, err := tc.program.Command(tc.launch)
		golden(fmt.Sprintf("%s, %d cases from %s", tc.program.Name(), len(tc.launch.Cases), tc.launch.Cases[0].Candidate), err)
	}
}

// TestGroup checks which cases share a launch, and that Command accepts every group. For OSU each size must
// be twice the size before; the other suites accept any ascending sizes.
func TestGroup(t *testing.T) {
	var cases []benchrunner.Case
	for _, s := range []benchrunner.Launch{
		launchOf(coll.Bcast, 2, 2, "ring", 64, 4, 8, 16, 1000, 128),
		launchOf(coll.Bcast, 2, 2, "chain", 8, 16),
		launchOf(coll.Barrier, 2, 2, "tree", 0), launchOf(coll.Barrier, 2, 2, "bruck", 0),
		launchOf(coll.Allreduce, 2, 2, "ring", 16, 16, 32),
	} {
		cases = append(cases, s.Cases...)
	}
	ascending := []string{
		"allreduce ring 16", "allreduce ring 16 32", "barrier bruck 0", "barrier tree 0", "bcast chain 8 16", "bcast ring 4 8 16 64 128 1000",
	}
	for _, tc := range []struct {
		program benchrunner.Program
		want    []string
	}{
		{osu(t, OSUOptions{}), append(ascending[:5:5], "bcast ring 4 8 16", "bcast ring 64 128", "bcast ring 1000")},
		{imb(0), ascending},
		{reprompi(0), ascending},
	} {
		var got []string
		for _, group := range tc.program.Group(cases) {
			text := fmt.Sprint(group[0].Collective, " ", group[0].Algorithm)
			for _, c := range group {
				text += fmt.Sprint(" ", c.MsgBytes)
			}
			got = append(got, text)
			if _, err := tc.program.Command(benchrunner.Launch{Layout: group[0].Layout(), Cases: group, Dir: "/w"}); err != nil {
				t.Error(err)
			}
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s: groups (-want +got):\n%s", tc.program.Name(), d)
		}
	}
}

func TestAllowance(t *testing.T) {
	small, large := launchOf(coll.Bcast, 2, 2, "ring", 4), launchOf(coll.Alltoall, 64, 8, "ring", 1<<20)
	for _, p := range []benchrunner.Program{osu(t, OSUOptions{}), imb(0), reprompi(0)} {
		if got := p.Allowance(small); got != 30*time.Second {
			t.Errorf("%s: small %v, want 30s", p.Name(), got)
		}
		if got := p.Allowance(large); got < time.Minute {
			t.Errorf("%s: large %v, want more than a minute", p.Name(), got)
		}
	}
	if few, many := osu(t, OSUOptions{Iterations: 10, Warmup: 1}).Allowance(large), osu(t, OSUOptions{}).Allowance(large); few >= many {
		t.Errorf("Allowance of 11 calls %v, of 110 %v", few, many)
	}
}

// readTest is the output of a program, with the expected outcomes. For each outcome, `want` has the beginning of a
// text: the state, then the number of calls and the seconds, or the phase and the error.
type readTest struct {
	name, stdout, stderr string
	out                  benchrunner.Output
	want                 []string
}

var (
	ended  = benchrunner.Output{Ended: true}
	hung   = benchrunner.Output{TimedOut: true, Wall: time.Minute}
	killed = benchrunner.Output{} // the job ended during the launch
)

func crashed(exit int) benchrunner.Output { return benchrunner.Output{Ended: true, Exit: exit} }

func checkRead(t *testing.T, p benchrunner.Program, s benchrunner.Launch, tests []readTest) {
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.out.Stdout, tc.out.Stderr = []byte(tc.stdout), []byte(tc.stderr)
			for i, o := range p.Read(s, tc.out).Outcomes {
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

// unknownID is the text that Open MPI 4.1.4 printed for the unknown algorithm 99. Then it ran another
// algorithm.
const unknownID = `--------------------------------------------------------------------------
An invalid value was supplied for an enum variable.

  Variable     : coll_tuned_bcast_algorithm
  Value        : 99
  Valid values : 0:"ignore", 1:"basic_linear"
--------------------------------------------------------------------------
`

// commonReadTests returns the tests that all suites share. `complete` is an output with one result for each
// case, `good` the text that ranks on n1 and n2 print to standard error. `done` has the expected outcomes.
func commonReadTests(complete, good string, done []string) []readTest {
	all := func(text string) []string { return slices.Repeat([]string{text}, len(done)) }
	oneNode := strings.ReplaceAll(good, "n2", "n1")
	misplaced := all(fmt.Sprintf("failed launch %d ranks on n1, want %d on each of 2 nodes", strings.Count(good, "\n"), strings.Count(good, "n2")))
	banner := regexp.MustCompile(`(?m)^#.*(MPI Benchmarks|Latency Test|nprocs=).*$`)
	tag := func(text, tag string) string { return tag + strings.ReplaceAll(text, "\n", "\n"+tag) }
	return []readTest{
		{"complete", complete, good, ended, done},
		{"nothing", "", "", crashed(1), all("failed launch exit code 1")},
		{"job ended at once", "", "", killed, all("not reached")},
		{"two worlds", complete + complete, good, ended, all("failed launch 2 worlds")},
		{"all on the first node", complete, oneNode, ended, misplaced},
		{"all on the first node, another banner", banner.ReplaceAllString(complete, "# tomorrow"), oneNode, ended, misplaced},
		{"tags of Open MPI", tag(complete, "[1,0]<stdout>:"), strings.ReplaceAll(good, "tutti", "[1,0]<stderr>:tutti"), ended, done},
		{"tags of MPICH", tag(complete, "[0] "), strings.ReplaceAll(good, "tutti", "[0] tutti"), ended, done},
		{"silent fallback of Open MPI", complete, good + unknownID, ended, all("failed run Open MPI has no value 99 for coll_tuned_bcast_algorithm and ran its own choice")},
		{"fallback of MPICH", complete, good + "User set collective algorithm is not usable for the provided arguments\nBcast smp cannot be applied.\n", ended,
			all("failed run MPICH: Bcast smp cannot be applied")},
	}
}

// checkSamples parses the recorded outputs of a suite and compares the results with golden files. It fails if
// there are fewer than `least` outputs.
func checkSamples(t *testing.T, pattern string, least int, read func(lines iter.Seq[string]) (string, error)) {
	names, err := filepath.Glob("testdata/" + pattern)
	if err != nil || len(names) < least {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	for _, name := range names {
		name = filepath.Base(name)
		t.Run(name, func(t *testing.T) {
			got, err := read(benchrunner.Output{Stdout: []byte(sample(t, name))}.Lines())
			if err != nil {
				got = "error: " + err.Error() + "\n"
			}
			testutil.CheckGolden(t, strings.TrimSuffix(name, ".txt")+".golden", []byte(got))
		})
	}
}

// fuzzRead checks that Read returns one valid outcome for each case, whatever the output is.
func fuzzRead(f *testing.F, pattern string, p benchrunner.Program, s benchrunner.Launch) {
	names := testutil.Must(filepath.Glob("testdata/" + pattern))(f)
	for _, name := range names {
		text := sample(f, filepath.Base(name))
		f.Add([]byte(text), true, false, 0)
		f.Add([]byte(text[:len(text)/2]), false, false, 1)
	}
	f.Fuzz(func(t *testing.T, text []byte, ended, late bool, exit int) {
		r := p.Read(s, benchrunner.Output{Stdout: text, Stderr: []byte(twoHosts), Ended: ended, TimedOut: late, Exit: exit})
		if len(r.Outcomes) != len(s.Cases) {
			t.Fatalf("%d outcomes of %d cases", len(r.Outcomes), len(s.Cases))
		}
		for i, o := range r.Outcomes {
			done := o.Seconds > 0 && !math.IsInf(o.Seconds, 0) && o.Samples >= 0 && o.CostSeconds >= 0
			failed := o.Phase != "" && o.Error != ""
			if o.State == benchrunner.OutcomeDone && !done || o.State == benchrunner.OutcomeFailed && !failed || o.State == "" {
				t.Errorf("%v: %+v", s.Cases[i].Candidate, o)
			}
		}
	})
}

func FuzzReadOSU(f *testing.F) {
	fuzzRead(f, "osu*.txt", osu(f, OSUOptions{}), launchOf(coll.Allreduce, 2, 1, "ring", 4, 8, 16, 32))
}

func FuzzReadIMB(f *testing.F) {
	fuzzRead(f, "imb*.txt", imb(0), launchOf(coll.Bcast, 2, 1, "ring", 8, 256))
}

func FuzzReadReproMPI(f *testing.F) {
	fuzzRead(f, "reprompi*.txt", reprompi(5), launchOf(coll.Bcast, 2, 1, "ring", 8, 1024))
}
