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

// TestReproMPISamples checks what parseReproMPI reads from outputs of ReproMPI 1.0.1 and its development
// version.
func TestReproMPISamples(t *testing.T) {
	checkSamples(t, "reprompi*.txt", 7, func(lines iter.Seq[string]) (string, error) {
		l, err := parseReproMPI(lines)
		var b strings.Builder
		fmt.Fprintf(&b, "worlds %d\n", l.worlds)
		for _, s := range l.sections {
			for _, r := range s.rows {
				fmt.Fprintf(&b, "%s on %d ranks, %d bytes: %d invalid, calls", s.name, s.ranks, r.bytes, r.invalid)
				for _, x := range r.samples {
					fmt.Fprintf(&b, " %.4g", x)
				}
				if r.calls > 0 {
					fmt.Fprintf(&b, " %d, median %.4g", r.calls, r.max)
				}
				b.WriteByte('\n')
			}
		}
		return b.String(), err
	})
}

func TestReproMPIRead(t *testing.T) {
	raw := sample(t, "reprompi-dev_np2_raw.txt")
	s := launchOf(coll.Bcast, 2, 1, "ring", 8, 1024)
	checkRead(t, reprompi(5), s, append(commonReadTests(raw, twoHosts, []string{"done 5 calls 2.8e-07", "done 5 calls"}), []readTest{
		{"1.0.1", sample(t, "reprompi-1.0.1_np2_raw.txt"), twoHosts, ended, []string{"done 3 calls 1.573e-06", "done 3 calls 4.847e-06"}},
		{"summary", sample(t, "reprompi-dev_np2_summary.txt"), twoHosts, ended, []string{"done 50 calls 2e-07", "done 50 calls 2.0985e-06"}},
		{"summary of no valid call", "#@nprocs=2\n test count total_nrep valid_nrep mean_sec\n MPI_Bcast 8 30 0 0\n MPI_Bcast 1024 30 30 0.5\n", twoHosts, ended, []string{"failed run all 30 calls were not synchronised", "done 30 calls 0.5"}},
		{"summary without a time", "#@nprocs=2\n test count total_nrep valid_nrep max_sec\n MPI_Bcast 8 30 30 0.5\n", twoHosts, ended, []string{"failed parse line 2: columns test, count, total_nrep, valid_nrep, max_sec: want one of runtime_sec, median_sec, mean_sec", "failed parse"}},
		{"cut among the calls", raw[:strings.Index(raw, "MPI_Bcast          3            8")], twoHosts, killed, []string{"not reached", "not reached"}},
		{"crash", raw[:strings.Index(raw, "MPI_Bcast          1         1024")], twoHosts + "assert\n", crashed(9), []string{"done 5 calls", "failed run exit code 9: assert"}},
		{"hang", raw[:strings.Index(raw, "MPI_Bcast          0         1024")], twoHosts, hung, []string{"done 5 calls", "failed run not done after"}},
		{"other size of the world", strings.ReplaceAll(raw, "nprocs=2", "nprocs=3"), twoHosts, ended, []string{"failed launch a world of 3 ranks, want 2", "failed launch"}},
		{"worlds of one", strings.Repeat(strings.ReplaceAll(raw, "nprocs=2", "nprocs=1"), 2), twoHosts, ended, []string{"failed launch 2 worlds", "failed launch"}},
		{"one world of one", strings.ReplaceAll(raw, "nprocs=2", "nprocs=1"), twoHosts, ended, []string{"failed launch 2 worlds", "failed launch"}},
		{"predictions", sample(t, "reprompi-1.0.1_np2_pred.txt"), twoHosts, ended, []string{"failed parse line 24: columns test, nrep, count, mean_runtime_sec", "failed parse"}},
		{"locale commas", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 0,25\n MPI_Bcast 0 1024 0,5\n", twoHosts, ended, []string{"done 1 calls 0.25", "done 1 calls 0.5"}},
		{"thousands", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 1,000.25\n MPI_Bcast 0 1024 0.5\n", twoHosts, ended, []string{"failed parse", "done 1 calls 0.5"}},
		{"interleaved", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 0.2n2: warning\n5\n MPI_Bcast 0 1024 0.5\n", twoHosts, ended, []string{"failed parse", "done 1 calls 0.5"}},
		{"two lines in one", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 0.25 MPI_Bcast 0 8 0.25\n MPI_Bcast 0 1024 0.5\n", twoHosts, ended, []string{"failed parse", "done 1 calls 0.5"}},
		{"all invalid", "#@nprocs=2\n test nrep count errorcode runtime_sec\n MPI_Bcast 0 8 1 0.1\n MPI_Bcast 0 1024 0 0.1\n", twoHosts, ended, []string{"failed run all 1 calls were not synchronised", "done 1 calls 0.1"}},
		{"one nan", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 nan\n MPI_Bcast 1 8 0.5\n MPI_Bcast 0 1024 1_0\n", twoHosts, ended,
			[]string{"failed parse ReproMPI printed \"nan\": want a decimal number", "failed parse ReproMPI printed \"1_0\""}},
		{"impossible times", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 1e-300\n MPI_Bcast 0 1024 1e299\n", twoHosts, ended,
			[]string{"failed parse 1 calls of 1e-300 s: a time of", "failed parse 1 calls of 1e+299 s: a time of"}},
		{"damage", "#@nprocs=2\n test nrep count runtime_sec\n MPI_Bcast 0 8 nan\n MPI_Bcast 0 1024 -1\n", twoHosts, ended, []string{"failed parse", "failed parse"}},
		{"bytes instead of counts", "#@nprocs=2\n#@datatype_size_bytes=4\n test nrep msize_bytes runtime_sec\n MPI_Bcast 0 8 0.5\n MPI_Bcast 0 1024 0.25\n", twoHosts, ended, []string{"done 1 calls 0.5", "done 1 calls 0.25"}},
		{"datatype without its size", "#@nprocs=2\n#@datatype=MPI_INT\n test nrep count runtime_sec\n MPI_Bcast 0 2 0.5\n MPI_Bcast 0 256 0.25\n", twoHosts, ended, []string{"done 1 calls 0.5", "done 1 calls 0.25"}},
		{"unknown datatype without its size", "#@nprocs=2\n#@datatype=MPI_C_BOOL\n test nrep count runtime_sec\n MPI_Bcast 0 8 0.5\n MPI_Bcast 0 1024 0.25\n", twoHosts, ended,
			[]string{"failed parse line 3: @datatype=MPI_C_BOOL without @datatype_size_bytes: the bytes of the counts are unknown", "failed parse"}},
		{"counts of a larger type", "#@nprocs=2\n#@datatype_size_bytes=4\n test nrep count runtime_sec\n MPI_Bcast 0 2 0.5\n MPI_Bcast 0 256 0.25\n", twoHosts, ended, []string{"done 1 calls 0.5", "done 1 calls 0.25"}},
	}...))
}

// TestReproMPIReadInterval checks the interval of the median of ten samples: its bounds are the second and
// the ninth sample.
func TestReproMPIReadInterval(t *testing.T) {
	text := "#@nprocs=2\n test nrep count runtime_sec\n"
	for i := range 10 {
		text += fmt.Sprintf(" MPI_Bcast %d 8 0.%d\n", i, (i*7)%10+1)
	}
	text = strings.ReplaceAll(text, "0.10\n", "1.0\n")
	r := reprompi(10).Read(launchOf(coll.Bcast, 2, 1, "ring", 8), benchrunner.Output{Stdout: []byte(text), Stderr: []byte(twoHosts), Ended: true})
	o := r.Outcomes[0]
	if o.Seconds != 0.55 || o.Low != 0.2 || o.High != 0.9 || math.Abs(o.CostSeconds-5.5) > 1e-12 || r.MeasureSeconds != o.CostSeconds {
		t.Errorf("%+v, measured %g s", o, r.MeasureSeconds)
	}
}
