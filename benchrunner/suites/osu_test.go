package suites

import (
	"fmt"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

const osuFull = `
# OSU MPI Broadcast Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations
`

func TestOSURead(t *testing.T) {
	const (
		four    = "4                       1.00              0.50              2.00        1000\n"
		eight   = "8                       1.00              0.50              3.00        1000\n"
		sixteen = "16                      1.00              0.50              4.00        1000\n"

		complete = osuFull + four + eight + sixteen
	)
	s, good := launchOf(coll.Bcast, 2, 2, "ring", 4, 8, 16), hosts("n1", "n1", "n2", "n2")
	done := []string{"done 1000 calls 2e-06", "done 1000 calls 3e-06", "done 1000 calls 4e-06"}
	checkRead(t, osu(t, OSUOptions{}), s, append(commonReadTests(complete, good, done), []readTest{
		{"no calls", osuFull + "4 1.00 0.50 2.00 0\n8 1.00 0.50 3.00 9223372036854775807\n16 1.00 0.50 1e305 1000\n", good, ended,
			[]string{"failed parse OSU counted 0 calls", "failed parse 9223372036854775807 calls of 3e-06 s: a time of", "failed parse OSU printed Max Latency(us) \"1e305\": want a decimal number"}},
		{"short launch", complete, good, benchrunner.Output{Ended: true, Wall: 2 * time.Millisecond}, done},
		{"a thousand times longer than the launch", osuFull + "4 1.00 0.50 2000.00 1000\n" + eight + sixteen, good, benchrunner.Output{Ended: true, Wall: 100 * time.Millisecond},
			[]string{"failed parse 1000 calls of 0.002 s: 2 s of measuring in a launch of 0.1 s", "done", "done"}},
		{"a text of as many words", osuFull + "8 GPUs were found here\n" + four + eight + sixteen, good, ended, done},
		{"job ended half way", osuFull + four + eight[:40], good, killed,
			[]string{"done 1000 calls 2e-06", "not reached", "not reached"}},
		{"crash", osuFull + four, good + "MPIR_Bcast_intra_x: assertion failed\n----\n", crashed(15),
			[]string{"done 1000 calls 2e-06", "failed run exit code 15: MPIR_Bcast_intra_x: assertion failed", "not reached"}},
		{"hang", osuFull + four + eight, good, hung,
			[]string{"done 1000 calls 2e-06", "done 1000 calls 3e-06", "failed run not done after 60 s"}},
		{"hang in MPI_Init", "", good, hung,
			[]string{"failed launch not done after 60 s", "failed launch not done after 60 s", "failed launch not done after 60 s"}},
		{"no such program", "", "/bin/sh: 3: exec: /opt/osu/osu_bcast: not found\n", crashed(127),
			[]string{"not reached", "not reached", "not reached"}},
		{"hang behind the last line", complete, good, hung,
			[]string{"done 1000 calls 2e-06", "done 1000 calls 3e-06", "done 1000 calls 4e-06"}},
		{"too few lines", osuFull + four + sixteen, good, ended,
			[]string{"done 1000 calls 2e-06", "failed parse the program ended well but printed nothing for 8B", "done 1000 calls 4e-06"}},
		{"disk full", (complete)[:len(osuFull)+90], good, ended,
			[]string{"done 1000 calls 2e-06", "failed parse", "failed parse"}},
		{"interleaved", osuFull + four + eight[:20] + "n1: warning: xyz\n" + eight[20:] + sixteen, good, ended,
			[]string{"done 1000 calls 2e-06", "failed parse", "done 1000 calls 4e-06"}},
		{"worlds of one", "", strings.Repeat(osuOneRank+"\n", 4) + good, crashed(1),
			[]string{"failed launch worlds of one rank, want one of 4", "failed launch", "failed launch"}},
		{"other ppn", complete, hosts("n1", "n2", "n3", "n4"), ended,
			[]string{"failed launch 1 ranks on n1", "failed launch", "failed launch"}},
		{"fewer ranks", complete, hosts("n1", "n1"), ended,
			[]string{"failed launch 2 ranks started, want 4", "failed launch", "failed launch"}},
		{"fewer ranks, and the launcher says why", complete, hosts("n1", "n1", "n2") + "srun: error: Task launch for StepId=7.0 failed on node n2\n", ended,
			[]string{"failed launch 3 ranks started, want 4: srun: error: Task launch for StepId=7.0 failed on node n2", "failed launch", "failed launch"}},
		{"algorithm that MPICH does not know", "", good + "Abort(202493455): Fatal error in internal_Init: Other MPI error, Invalid MPIR_CVAR_BCAST_INTRA_ALGORITHM value (nosuch)\n", crashed(15),
			[]string{"failed run MPICH: Invalid MPIR_CVAR_BCAST_INTRA_ALGORITHM value (nosuch)", "failed run", "failed run"}},
		{"another program", sample(t, "osu-7.4_alltoall_np2_full.txt"), good, ended,
			[]string{`failed parse the program measured "All-to-All Personalized Exchange", want "Broadcast"`, "failed parse", "failed parse"}},
		{"non-blocking", sample(t, "osu-5.3_ibcast_np2_full.txt"), good, ended,
			[]string{`failed parse the program measured "Non-Blocking Broadcast", want "Broadcast"`, "failed parse", "failed parse"}},
		{"not full", sample(t, "osu-7.4_bcast_np2_default.txt"), good, ended,
			[]string{"failed parse not the full listing", "failed parse", "failed parse"}},
		{"zero", osuFull + "4     0.00     0.00    0.00     1000\n" + eight + sixteen, good, ended,
			[]string{"failed parse OSU printed a time of 0.00 us", "done 1000 calls 3e-06", "done 1000 calls 4e-06"}},
		{"twice", osuFull + four + four + eight + sixteen, good, ended,
			[]string{"failed parse OSU printed 2 lines for the size", "done 1000 calls 3e-06", "done 1000 calls 4e-06"}},
		{"out of order", osuFull + "4     3.00     2.00    1.00     1000\n" + eight + sixteen, good, ended,
			[]string{"failed parse times 2 ≤ 3 ≤ 1 us do not hold", "done 1000 calls 3e-06", "done 1000 calls 4e-06"}},
	}...))
	o := osu(t, OSUOptions{}).Read(s, benchrunner.Output{Stdout: []byte(complete), Stderr: []byte(good), Ended: true}).Outcomes[0]
	if o.Low != 0 || o.High != 0 || math.Abs(o.CostSeconds-2.4e-3) > 1e-12 {
		t.Errorf("%+v, want no interval and the cost of 1000 calls and 200 warm-up calls", o)
	}
}

// TestOSUReadSamples checks what is read from three recorded outputs. They are of a barrier, which has no size, of a
// reduction with several datatypes, and of a program that lists the time of each call.
func TestOSUReadSamples(t *testing.T) {
	read := func(name string, s benchrunner.Launch) benchrunner.Reading {
		out := benchrunner.Output{Stdout: []byte(sample(t, name)), Stderr: []byte(twoHosts), Ended: true}
		return osu(t, OSUOptions{}).Read(s, out)
	}
	if o := read("osu-7.4_barrier_np2_full.txt", launchOf(coll.Barrier, 2, 1, "tree", 0)).Outcomes[0]; o.State != benchrunner.OutcomeDone || o.Seconds < 11331e-6 || o.Seconds > 11332e-6 {
		t.Errorf("barrier: %+v", o)
	}
	r := read("osu-7.4_reduce_np2_T_all.txt", launchOf(coll.Reduce, 2, 1, "linear", 4))
	if o := r.Outcomes[0]; o.Seconds < 12.7e-6 || o.Seconds > 12.8e-6 {
		t.Errorf("reduce of floats: %+v", o)
	}
	r = read("osu-7.4_allreduce_np2_full_z.txt", launchOf(coll.Allreduce, 2, 1, "ring", 128, 256))
	if want := 1000 * (0.93e-6 + 33.24e-6); r.MeasureSeconds < want*0.999 || r.MeasureSeconds > want*1.001 || r.WarmupSeconds < want*0.19 {
		t.Errorf("measured %g s, warm-up %g s, want %g s", r.MeasureSeconds, r.WarmupSeconds, want)
	}
}

// TestOSUSamples checks what parseOSU reads from outputs of OSU 5.3 to 7.4 with MPICH and Open MPI.
func TestOSUSamples(t *testing.T) {
	checkSamples(t, "osu*.txt", 30, func(lines iter.Seq[string]) (string, error) {
		l, err := parseOSU(lines)
		var b strings.Builder
		fmt.Fprintf(&b, "title %q version %q headers %d\n", l.title, l.release, l.worlds)
		for _, s := range l.sections {
			fmt.Fprintf(&b, "datatype %q\n", s.name)
			for _, r := range s.rows {
				fmt.Fprintf(&b, "%d bytes: avg %.4g min %.4g max %.4g s, %d calls", r.bytes, r.avg, r.min, r.max, r.calls)
				if r.overall > 0 {
					fmt.Fprintf(&b, ", overall %.4g compute %.4g s", r.overall, r.compute)
				}
				if r.wrong {
					b.WriteString(", wrong")
				}
				b.WriteByte('\n')
			}
		}
		return b.String(), err
	})
}

func TestOSUParseRow(t *testing.T) {
	columns := []string{"Size", "Avg Latency(us)", "Min Latency(us)", "Max Latency(us)", "Iterations"}
	tests := []struct {
		name, text string
		want       row
		ok         bool
	}{
		{"plain", "1024    0.37    0.33    0.41    500", row{bytes: 1024, avg: 0.37e-6, min: 0.33e-6, max: 0.41e-6, calls: 500}, true},
		{"decimal comma", "1024    0,37    0,33    1000,41    500", row{bytes: 1024, avg: 0.37e-6, min: 0.33e-6, max: 1000.41e-6, calls: 500}, true},
		{"a field is missing", "1024    0.37    0.33    0.41", row{}, false},
		{"two lines in one", "1024    0.37    0.33    0.41    5002048    0.40    0.31    0.42    500", row{}, false},
		{"not a number", "1024    nan    0.33    0.41    500", row{}, false},
		{"infinite", "1024    inf    0.33    0.41    500", row{}, false},
		{"exponent", "1024    1e3    0.33    0.41    500", row{}, false},
		{"negative", "1024    -0.37    0.33    0.41    500", row{}, false},
		{"hexadecimal", "1024    0x1p3    0.33    0.41    500", row{}, false},
		{"underscore", "1024    1_0    0.33    0.41    500", row{}, false},
		{"one comma is certain", "1024    1,234    0,500    2,345    500", row{bytes: 1024, avg: 1.234e-6, min: 0.5e-6, max: 2.345e-6, calls: 500}, true},
		{"no comma is certain", "1024    1,234    1,500    2,345    500", row{}, false},
		{"size out of range", "99999999999999999999    0.37    0.33    0.41    500", row{}, false},
		{"thousands", "1024    1,234.56    0.33    0.41    500", row{}, false},
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseOSURow(columns, tc.text)
			ok := err == nil
			if ok != tc.ok {
				t.Fatalf("parseRow(%q) = %v, want no error: %t", tc.text, err, tc.ok)
			}
			if ok && (got.bytes != tc.want.bytes || got.calls != tc.want.calls ||
				!near(got.avg, tc.want.avg) || !near(got.min, tc.want.min) || !near(got.max, tc.want.max)) {
				t.Errorf("parseRow(%q) = %+v, want %+v", tc.text, got, tc.want)
			}
		})
	}
}

// TestOSUNonblocking checks what is read from listings of nonblocking collectives, with and without the columns of the
// slowest rank. The time to completion counts; the time with computation is scaled to a computation of the same length.
func TestOSUNonblocking(t *testing.T) {
	const title, columns = "# OSU MPI Non-blocking Allreduce Latency Test v7.4\n# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n", "# Size           Overall(us)       Compute(us)    Pure Comm.(us)"
	s, good := launchOf(coll.Iallreduce, 2, 1, "ring", 4), hosts("n1", "n2")
	for _, tc := range []struct {
		name, text                        string
		seconds, overall, recordedSeconds float64
		mean                              bool
	}{
		{"short", title + columns + "    Overlap(%)\n4    25.00    20.00    10.00    50.00\n", 10e-6, 15e-6, 10e-6, true},
		{"hidden", title + columns + "    Overlap(%)\n4    19.00    20.00    10.00    100.00\n", 10e-6, 10e-6, 10e-6, true},
		{"full", title + columns + "     Min Comm.(us)     Max Comm.(us)    Overlap(%)\n4    25.00    20.00    10.00    8.00    12.00    50.00\n", 12e-6, 18e-6, 12e-6, false},
	} {
		o := osu(t, OSUOptions{Iterations: 100, Warmup: 10}).Read(s, benchrunner.Output{Stdout: []byte(tc.text), Stderr: []byte(good), Ended: true}).Outcomes[0]
		if o.State != benchrunner.OutcomeDone || math.Abs(o.Seconds-tc.seconds) > 1e-12 || math.Abs(o.Overall-tc.overall) > 1e-12 || o.Samples != 100 {
			t.Errorf("%s: %+v, want %g s, with computation %g s", tc.name, o, tc.seconds, tc.overall)
		}
		_, recorded, err := ReadRecorded([]byte(tc.text), 2)
		if err != nil || len(recorded) != 1 {
			t.Fatalf("%s: recorded %+v, %v", tc.name, recorded, err)
		}
		r := recorded[0]
		if r.Fault != "" || r.Collective != coll.Iallreduce || r.Mean != tc.mean || math.Abs(r.Seconds-tc.recordedSeconds) > 1e-12 || math.Abs(r.Overall-tc.overall) > 1e-12 {
			t.Errorf("%s: recorded %+v", tc.name, r)
		}
	}
	if args := strings.Join(testutil.Must(testutil.Must(NewOSU(OSUOptions{Dir: "/osu/blocking"}))(t).Command(s))(t).Args, " "); !strings.Contains(args, "/osu/non_blocking/osu_iallreduce -f") {
		t.Errorf("command %s, want the program in the folder non_blocking", args)
	}
}
