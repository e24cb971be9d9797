package suites

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
)

const imbSampleName = "imb-mpi1_np2_bcast_allreduce_barrier"

// TestIMBSample checks what parseIMB reads from an output of IMB 2021.11.
func TestIMBSample(t *testing.T) {
	checkSamples(t, "imb*.txt", 1, func(lines iter.Seq[string]) (string, error) {
		l := parseIMB(lines)
		var b strings.Builder
		fmt.Fprintf(&b, "worlds %d\n", l.worlds)
		for _, s := range l.sections {
			fmt.Fprintf(&b, "%s, %d ranks\n", s.name, s.ranks)
			for _, r := range s.rows {
				fmt.Fprintf(&b, "%d bytes: min %.4g avg %.4g max %.4g s, %d calls\n", r.bytes, r.min, r.avg, r.max, r.calls)
			}
		}
		return b.String(), nil
	})
}

func TestIMBRead(t *testing.T) {
	complete := sample(t, imbSampleName+".txt")
	banner := func(release string) string {
		return strings.Replace(complete, "Intel(R) MPI Benchmarks 2021.11,", release, 1)
	}
	const line = "          256           50         0.18         0.23         0.21"
	at := strings.Index(complete, line)
	done := []string{"done 50 calls 5.3e-07", "done 50 calls 2.3e-07"}
	s := launchOf(coll.Bcast, 2, 1, "ring", 8, 256)
	checkRead(t, imb(0), s, append(commonReadTests(complete, twoHosts, done), []readTest{
		{"two worlds of 2018", strings.Repeat(banner("Intel (R) MPI Benchmarks 2018,"), 2), twoHosts, ended, []string{"failed launch 2 worlds", "failed launch"}},
		{"two worlds of 2019", strings.Repeat(banner("Intel(R) MPI Benchmarks 2019 Update 6,"), 2), twoHosts, ended, []string{"failed launch 2 worlds", "failed launch"}},
		{"job ended", complete[:at], twoHosts, killed, []string{"done 50 calls 5.3e-07", "not reached"}},
		{"line cut", complete[:at+45], twoHosts, killed, []string{"done 50 calls 5.3e-07", "not reached"}},
		{"crash", complete[:at], twoHosts + "assert\n", crashed(9), []string{"done", "failed run exit code 9: assert"}},
		{"too few lines", complete[:at], twoHosts, ended, []string{"done", "failed parse the program ended well"}},
		{"other size of the world", strings.ReplaceAll(complete, "#processes = 2", "#processes = 3"), twoHosts, ended, []string{"failed launch a world of 3 ranks, want 2", "failed launch"}},
		{"hang", complete[:at], twoHosts, hung, []string{"done 50 calls 5.3e-07", "failed run not done after"}},
		{"locale commas", strings.Replace(complete, line, strings.ReplaceAll(line, ".", ","), 1), twoHosts, ended, []string{"done 50 calls 5.3e-07", "done 50 calls 2.3e-07"}},
		{"interleaved", strings.Replace(complete, line, line[:40]+"n2: warning: eth0\n"+line[40:], 1), twoHosts, ended, []string{"done 50 calls 5.3e-07", "failed parse"}},
		{"two lines in one", strings.Replace(complete, line, line+line, 1), twoHosts, ended, []string{"done 50 calls 5.3e-07", "failed parse"}},
		{"too large", strings.Replace(complete, "          256           50         0.18         0.23         0.21", "          256 out-of-mem.; needed X=  4.003 GB", 1),
			twoHosts, ended, []string{"done", "failed run IMB left the size out: out-of-mem.; needed X= 4.003 GB"}},
		{"more calls than fit", strings.Replace(complete, line, strings.Replace(line, " 50 ", " 9000000000000000000 ", 1), 1), twoHosts, ended,
			[]string{"done", "failed parse 9000000000000000000 calls of 2.3e-07 s: a time of 2.07e+12 s"}},
		{"no calls", strings.Replace(complete, line, strings.Replace(line, " 50 ", " 0 ", 1), 1), twoHosts, ended, []string{"done", "failed parse IMB counted 0 calls"}},
		{"no number", strings.Replace(complete, line, strings.Replace(line, "0.23", "nan", 1), 1), twoHosts, ended,
			[]string{"done", "failed parse IMB printed t_max[usec] \"nan\": want a decimal number"}},
		{"order of columns", strings.Replace(complete, "0.18         0.23         0.21", "0.18         0.21         0.23", 1), twoHosts, ended,
			[]string{"done", "failed parse times 0.18 ≤ 0.23 ≤ 0.21 us do not hold"}},
	}...))
	r := imb(0).Read(launchOf(coll.Barrier, 2, 1, "tree", 0), benchrunner.Output{Stdout: []byte(complete), Stderr: []byte(twoHosts), Ended: true})
	if o := r.Outcomes[0]; o.State != benchrunner.OutcomeDone || math.Abs(o.Seconds-0.35e-6) > 1e-12 || math.Abs(r.MeasureSeconds-50*0.35e-6) > 1e-12 {
		t.Errorf("barrier: %+v, measured %g s", o, r.MeasureSeconds)
	}
}

// TestIMBReadWaiting checks that a case fails if IMB ran its benchmark on fewer ranks while the other ranks
// waited in a barrier.
func TestIMBReadWaiting(t *testing.T) {
	text := strings.ReplaceAll(sample(t, imbSampleName+".txt"), "# #processes = 2 \n", "# #processes = 2 \n# ( 2 additional processes waiting in MPI_Barrier)\n")
	four := strings.Repeat(twoHosts, 2)
	r := imb(0).Read(launchOf(coll.Bcast, 2, 2, "ring", 8), benchrunner.Output{Stdout: []byte(text), Stderr: []byte(four), Ended: true})
	if o := r.Outcomes[0]; o.State != benchrunner.OutcomeFailed || !strings.Contains(o.Error, "a world of 2 ranks, want 4") {
		t.Errorf("%+v", o)
	}
}

// TestIMBReadParts checks that the size in IMB's output of Reduce_scatter_block counts as the size of one
// rank's part.
func TestIMBReadParts(t *testing.T) {
	const text = `#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
# Benchmarking Reduce_scatter_block
# #processes = 4
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
           16         1000         1.00         3.00         2.00
`
	s := launchOf(coll.ReduceScatterBlock, 1, 4, "pairwise", 64)
	r := imb(0).Read(s, benchrunner.Output{Stdout: []byte(text), Stderr: []byte(strings.Repeat("tutti: process on host n1\n", 4)), Ended: true})
	if o := r.Outcomes[0]; o.State != benchrunner.OutcomeDone || o.Seconds != 3e-6 || o.Samples != 1000 {
		t.Errorf("outcome %+v, want 3 us", o)
	}
}
