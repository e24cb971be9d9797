package suites

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

func osu(t *testing.T, opt OSUOptions) *OSU {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = "/opt/osu"
	}
	p, err := NewOSU(opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOSUNew(t *testing.T) {
	tests := []struct {
		name string
		opt  OSUOptions
		want string
	}{
		{"relative", OSUOptions{Dir: "osu"}, "want an absolute path"},
		{"negative", OSUOptions{Dir: "/o", Iterations: -1}, "want no negative number"},
		{"version", OSUOptions{Dir: "/o", Version: "seven"}, "want a version as 7.4"},
		{"old", OSUOptions{Dir: "/o", Version: "3.9"}, "want 5.0 or newer"},
		{"tail of an old one", OSUOptions{Dir: "/o", Version: "7.2", Tail: true}, "want 7.3 or newer"},
		{"tail of who knows", OSUOptions{Dir: "/o", Tail: true}, "want 7.3 or newer"},
	}
	for _, tc := range tests {
		if _, err := NewOSU(tc.opt); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error = %v, want %q", tc.name, err, tc.want)
		}
	}
	if got := osu(t, OSUOptions{}).Name(); got != "osu" {
		t.Errorf("Name = %q", got)
	}
}

func TestOSUCommand(t *testing.T) {
	tests := []struct {
		name   string
		opt    OSUOptions
		launch benchrunner.Launch
		want   string
	}{
		{"sweep", OSUOptions{}, launchOf(coll.Bcast, 2, 2, "binomial", 1024, 2048, 4096), "/opt/osu/osu_bcast -f -m 1024:4096"},
		{"one size", OSUOptions{}, launchOf(coll.Alltoall, 2, 2, "pairwise", 1000), "/opt/osu/osu_alltoall -f -m 1000:1000"},
		{"barrier", OSUOptions{MemLimit: 5}, launchOf(coll.Barrier, 2, 2, "tree", 0), "/opt/osu/osu_barrier -f"},
		{"all options", OSUOptions{Version: "7.4", Iterations: 50, Warmup: 5, MemLimit: 1 << 30, Tail: true}, launchOf(coll.Allreduce, 2, 2, "ring", 4),
			"/opt/osu/osu_allreduce -f -i 50 -x 5 -m 4:4 -M 1073741824 -T mpi_float -z"},
		{"floats by themselves", OSUOptions{Version: "7.0"}, launchOf(coll.Allreduce, 2, 2, "ring", 4), "/opt/osu/osu_allreduce -f -m 4:4"},
		{"characters", OSUOptions{Version: "7.4"}, launchOf(coll.Allgather, 2, 2, "ring", 4), "/opt/osu/osu_allgather -f -m 4:4"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			cmd, err := osu(t, tc.opt).Command(tc.launch)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Args, " "); got != "/bin/sh /work/1/placed.sh "+tc.want {
				t.Errorf("Args\n got %s\nwant %s", got, tc.want)
			}
			if d := cmp.Diff(tc.launch.Cases[0].Env, cmd.Env); d != "" {
				t.Errorf("Env (-want +got):\n%s", d)
			}
			if len(cmd.Files["placed.sh"]) == 0 {
				t.Error("placed.sh is not written")
			}
		})
	}
}

func TestOSUCommandRefuses(t *testing.T) {
	mixed := launchOf(coll.Bcast, 2, 2, "ring", 4, 8)
	mixed.Cases[1].Algorithm = coll.Algorithm{Name: "chain"}
	tests := []struct {
		name   string
		opt    OSUOptions
		launch benchrunner.Launch
		want   string
	}{
		{"no case", OSUOptions{}, launchOf(coll.Bcast, 2, 2, "ring"), "launch without a case"},
		{"no program", OSUOptions{}, launchOf(coll.Scan, 2, 2, "ring", 4), "OSU has no program for scan"},
		{"one rank", OSUOptions{}, launchOf(coll.Barrier, 1, 1, "tree", 0), "two ranks or more"},
		{"nothing", OSUOptions{}, launchOf(coll.Bcast, 2, 2, "ring", 0), "OSU begins at 1 bytes"},
		{"below the datatype", OSUOptions{}, launchOf(coll.Allreduce, 2, 2, "ring", 2), "OSU begins at 4 bytes"},
		{"half an element", OSUOptions{}, launchOf(coll.Allreduce, 2, 2, "ring", 10), "whole elements of 4 bytes"},
		{"between powers of two", OSUOptions{Version: "5.3"}, launchOf(coll.Bcast, 2, 2, "ring", 1000), "OSU 5.3 measures powers of two only"},
		{"gap", OSUOptions{}, launchOf(coll.Bcast, 2, 2, "ring", 4, 16), "cannot follow"},
		{"another algorithm", OSUOptions{}, mixed, "cannot follow"},
	}
	for _, tc := range tests {
		if _, err := osu(t, tc.opt).Command(tc.launch); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error = %v, want %q", tc.name, err, tc.want)
		}
	}
}

// Consecutive doublings share a start, each case is dealt once, and every group
// is one that Command takes.
func TestOSUGroup(t *testing.T) {
	p := osu(t, OSUOptions{})
	var cases []benchrunner.Case
	for _, s := range []benchrunner.Launch{
		launchOf(coll.Bcast, 2, 2, "ring", 64, 4, 8, 16, 1000, 128),
		launchOf(coll.Bcast, 2, 2, "chain", 8, 16),
		launchOf(coll.Barrier, 2, 2, "tree", 0), launchOf(coll.Barrier, 2, 2, "bruck", 0),
		launchOf(coll.Allreduce, 2, 2, "ring", 16, 16, 32),
	} {
		cases = append(cases, s.Cases...)
	}
	var got []string
	for _, group := range p.Group(cases) {
		var names []string
		for _, c := range group {
			names = append(names, fmt.Sprintf("%s %s %d", c.Collective, c.Algorithm, c.MsgBytes))
		}
		got = append(got, strings.Join(names, ", "))
		if _, err := p.Command(benchrunner.Launch{Layout: group[0].Layout(), Cases: group, Dir: "/w"}); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"allreduce ring 16", "allreduce ring 16, allreduce ring 32",
		"barrier bruck 0", "barrier tree 0",
		"bcast chain 8, bcast chain 16",
		"bcast ring 4, bcast ring 8, bcast ring 16", "bcast ring 64, bcast ring 128", "bcast ring 1000",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestOSUAllowance(t *testing.T) {
	p := osu(t, OSUOptions{})
	small := p.Allowance(launchOf(coll.Bcast, 2, 2, "ring", 4))
	large := p.Allowance(launchOf(coll.Alltoall, 64, 8, "ring", 1<<20))
	if small != 30*time.Second || large < 2*time.Minute {
		t.Errorf("Allowance: small %v, want 30s; large %v, want minutes", small, large)
	}
	if few := osu(t, OSUOptions{Iterations: 10, Warmup: 1}).Allowance(launchOf(coll.Alltoall, 64, 8, "ring", 1<<20)); few >= large {
		t.Errorf("Allowance of 11 calls %v, of 110 %v", few, large)
	}
}

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
	)
	osuSample := func(name string) string {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	good := hosts("n1", "n1", "n2", "n2")
	tests := []struct {
		name   string
		opt    OSUOptions
		stdout string
		stderr string
		exit   int
		ended  bool
		late   bool
		want   []string // state, phase, text of each case of 4, 8 and 16 bytes
	}{
		{name: "whole", stdout: osuFull + four + eight + sixteen, stderr: good, ended: true,
			want: []string{"done 2e-06", "done 3e-06", "done 4e-06"}},
		{name: "on one host as configured", opt: OSUOptions{OneHost: true}, stdout: osuFull + four + eight + sixteen, stderr: hosts("n1", "n1", "n1", "n1"), ended: true,
			want: []string{"done 2e-06", "done 3e-06", "done 4e-06"}},
		{name: "job ended half way", stdout: osuFull + four + eight[:40], stderr: good,
			want: []string{"done 2e-06", "not reached", "not reached"}},
		{name: "job ended at once", stdout: "", stderr: "",
			want: []string{"not reached", "not reached", "not reached"}},
		{name: "crash", stdout: osuFull + four, stderr: good + "MPIR_Bcast_intra_x: assertion failed\n----\n", exit: 15, ended: true,
			want: []string{"done 2e-06", "failed run exit code 15: MPIR_Bcast_intra_x: assertion failed", "not reached"}},
		{name: "hang", stdout: osuFull + four + eight, stderr: good, late: true,
			want: []string{"done 2e-06", "done 3e-06", "failed run not done after 60 s"}},
		{name: "hang in MPI_Init", stdout: "", stderr: good, late: true,
			want: []string{"failed launch not done after 60 s", "failed launch not done after 60 s", "failed launch not done after 60 s"}},
		{name: "no such program", stderr: "/bin/sh: 3: exec: /opt/osu/osu_bcast: not found\n", exit: 127, ended: true,
			want: []string{"failed launch exit code 127: /bin/sh: 3: exec: /opt/osu/osu_bcast: not found", "failed launch", "failed launch"}},
		{name: "hang behind the last line", stdout: osuFull + four + eight + sixteen, stderr: good, late: true,
			want: []string{"done 2e-06", "done 3e-06", "done 4e-06"}},
		{name: "too few lines", stdout: osuFull + four + sixteen, stderr: good, ended: true,
			want: []string{"done 2e-06", "failed parse the program ended well but printed nothing for 8B", "done 4e-06"}},
		{name: "disk full", stdout: (osuFull + four + eight + sixteen)[:len(osuFull)+90], stderr: good, ended: true,
			want: []string{"done 2e-06", "failed parse", "failed parse"}},
		{name: "interleaved", stdout: osuFull + four + eight[:20] + "n1: warning: xyz\n" + eight[20:] + sixteen, stderr: good, ended: true,
			want: []string{"done 2e-06", "failed parse", "done 4e-06"}},
		{name: "worlds of one", stderr: strings.Repeat(osuOneRank+"\n", 4) + good, exit: 1, ended: true,
			want: []string{"failed launch worlds of one rank, want one of 4", "failed launch", "failed launch"}},
		{name: "two worlds", stdout: osuFull + four + osuFull + four + eight + eight + sixteen + sixteen, stderr: good, ended: true,
			want: []string{"failed launch 2 worlds", "failed launch", "failed launch"}},
		{name: "all on the first node", stdout: osuFull + four + eight + sixteen, stderr: hosts("n1", "n1", "n1", "n1"), ended: true,
			want: []string{"failed launch 4 ranks on n1, want 2 on each of 2 nodes", "failed launch", "failed launch"}},
		{name: "other ppn", stdout: osuFull + four + eight + sixteen, stderr: hosts("n1", "n2", "n3", "n4"), ended: true,
			want: []string{"failed launch 1 ranks on n1", "failed launch", "failed launch"}},
		{name: "fewer ranks", stdout: osuFull + four + eight + sixteen, stderr: hosts("n1", "n1"), ended: true,
			want: []string{"failed launch 2 ranks started, want 4", "failed launch", "failed launch"}},
		{name: "fewer ranks, and the launcher says why", stdout: osuFull + four + eight + sixteen,
			stderr: hosts("n1", "n1", "n2") + "srun: error: Task launch for StepId=7.0 failed on node n2\n", ended: true,
			want: []string{"failed launch 3 ranks started, want 4: srun: error: Task launch for StepId=7.0 failed on node n2", "failed launch", "failed launch"}},
		{name: "silent fallback of Open MPI", stdout: osuSample("osu-7.4_ompi_bad_algorithm_id.txt"), stderr: good, ended: true,
			want: []string{"failed run Open MPI has no value 99 for coll_tuned_bcast_algorithm and ran its own choice", "failed run", "failed run"}},
		{name: "fallback of MPICH", stdout: osuFull + four + eight + sixteen,
			stderr: good + "User set collective algorithm is not usable for the provided arguments\nBcast smp cannot be applied.\n", ended: true,
			want: []string{"failed run MPICH: Bcast smp cannot be applied", "failed run", "failed run"}},
		{name: "algorithm that MPICH does not know", stderr: good + "Abort(202493455): Fatal error in internal_Init: Other MPI error, Invalid MPIR_CVAR_BCAST_INTRA_ALGORITHM value (nosuch)\n", exit: 15, ended: true,
			want: []string{"failed run MPICH: Invalid MPIR_CVAR_BCAST_INTRA_ALGORITHM value (nosuch)", "failed run", "failed run"}},
		{name: "another program", stdout: osuSample("osu-7.4_alltoall_np2_full.txt"), stderr: good, ended: true,
			want: []string{`failed parse the program measured "All-to-All Personalized Exchange", want "Broadcast"`, "failed parse", "failed parse"}},
		{name: "non-blocking", stdout: osuSample("osu-5.3_ibcast_np2_full.txt"), stderr: good, ended: true,
			want: []string{"failed parse a listing of a non-blocking collective", "failed parse", "failed parse"}},
		{name: "not full", stdout: osuSample("osu-7.4_bcast_np2_default.txt"), stderr: good, ended: true,
			want: []string{"failed parse not the full listing", "failed parse", "failed parse"}},
		{name: "prefixed", stdout: strings.ReplaceAll(osuFull+four+eight+sixteen, "\n", "\n[1,0]<stdout>:"), stderr: strings.ReplaceAll(good, "tutti", "[1,0]<stderr>:tutti"), ended: true,
			want: []string{"done 2e-06", "done 3e-06", "done 4e-06"}},
		{name: "zero", stdout: osuFull + "4     0.00     0.00    0.00     1000\n" + eight + sixteen, stderr: good, ended: true,
			want: []string{"failed parse OSU printed a time of 0.00 us", "done 3e-06", "done 4e-06"}},
		{name: "twice", stdout: osuFull + four + four + eight + sixteen, stderr: good, ended: true,
			want: []string{"failed parse OSU printed 2 lines for the size", "done 3e-06", "done 4e-06"}},
		{name: "out of order", stdout: osuFull + "4     3.00     2.00    1.00     1000\n" + eight + sixteen, stderr: good, ended: true,
			want: []string{"failed parse times 2 ≤ 3 ≤ 1 us do not hold", "done 3e-06", "done 4e-06"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			out := benchrunner.Output{Stdout: []byte(tc.stdout), Stderr: []byte(tc.stderr), Exit: tc.exit, Ended: tc.ended, TimedOut: tc.late, Wall: time.Minute}
			r := osu(t, tc.opt).Read(launchOf(coll.Bcast, 2, 2, "ring", 4, 8, 16), out)
			for i, o := range r.Outcomes {
				got := string(o.State)
				switch o.State {
				case benchrunner.OutcomeDone:
					got += fmt.Sprintf(" %.6g", o.Seconds)
					if o.Samples != 1000 || o.Low != 0 || o.High != 0 || !(o.CostSeconds > 1000*o.Seconds) {
						t.Errorf("case %d: %+v", i, o)
					}
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

// A barrier has no size, reductions are read for floats, and doubtful means give
// a warning.
func TestOSUReadSamples(t *testing.T) {
	read := func(name string, s benchrunner.Launch) benchrunner.Reading {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		out := benchrunner.Output{Stdout: text, Stderr: []byte(hosts("n1", "n2")), Ended: true}
		return osu(t, OSUOptions{}).Read(s, out)
	}
	if o := read("osu-7.4_barrier_np2_full.txt", launchOf(coll.Barrier, 2, 1, "tree", 0)).Outcomes[0]; o.State != benchrunner.OutcomeDone || o.Seconds < 11331e-6 || o.Seconds > 11332e-6 {
		t.Errorf("barrier: %+v", o)
	}
	r := read("osu-7.4_reduce_np2_T_all.txt", launchOf(coll.Reduce, 2, 1, "linear", 4))
	if o := r.Outcomes[0]; o.Seconds < 12.7e-6 || o.Seconds > 12.8e-6 || len(r.Warnings) != 0 {
		t.Errorf("reduce of floats: %+v, %v", o, r.Warnings)
	}
	r = read("osu-7.4_allreduce_np2_full_z.txt", launchOf(coll.Allreduce, 2, 1, "ring", 128, 256))
	if len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "256B ring: mean 31.24 us, median 1.15 us") || !strings.Contains(r.Warnings[1], "MPI_CHAR") {
		t.Errorf("warnings: %q", r.Warnings)
	}
	if want := 1000 * (0.93e-6 + 33.24e-6); r.MeasureSeconds < want*0.999 || r.MeasureSeconds > want*1.001 || r.WarmupSeconds < want*0.19 {
		t.Errorf("measured %g s, warm-up %g s, want %g s", r.MeasureSeconds, r.WarmupSeconds, want)
	}
}

func ExampleNewOSU() {
	p, err := NewOSU(OSUOptions{Dir: "/opt/osu/mpi/collective"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, group := range p.Group(launchOf(coll.Bcast, 4, 2, "binomial", 1024, 2048, 8192).Cases) {
		cmd, err := p.Command(benchrunner.Launch{Layout: group[0].Layout(), Cases: group, Dir: "/scratch/1"})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(strings.Join(cmd.Args[2:], " "))
	}
	// Output:
	// /opt/osu/mpi/collective/osu_bcast -f -m 1024:2048
	// /opt/osu/mpi/collective/osu_bcast -f -m 8192:8192
}

func TestOSUHasTail(t *testing.T) {
	for version, want := range map[string]bool{"": false, "seven": false, "5.9": false, "7.2": false, "7.3": true, "7.10": true, "8.0": true, "7.4-lrbison3": true, "7.0-lrbison3": false} {
		if got := OSUHasTail(version); got != want {
			t.Errorf("HasTail(%q) = %t, want %t", version, got, want)
		}
	}
}

// render writes all that a listing holds.
func renderOSU(l osuListing) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title %q version %q headers %d\n", l.title, l.version, l.headers)
	for _, s := range l.sections {
		fmt.Fprintf(&b, "datatype %q\n", s.datatype)
		for _, r := range s.rows {
			fmt.Fprintf(&b, "%d bytes: avg %.4g min %.4g max %.4g median %.4g s, %d calls", r.bytes, r.avg, r.min, r.max, r.median, r.iterations)
			if r.wrong {
				b.WriteString(", wrong")
			}
			b.WriteByte('\n')
		}
	}
	for _, line := range l.damaged {
		fmt.Fprintf(&b, "damaged %q\n", line)
	}
	return b.String()
}

// TestSamples: what is read of outputs of OSU 5.3 to 7.4 under MPICH and Open MPI.
func TestOSUSamples(t *testing.T) {
	names, err := filepath.Glob("testdata/osu*.txt")
	if err != nil || len(names) < 30 {
		t.Fatalf("%d samples, %v", len(names), err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			l, err := parseOSU(benchrunner.Output{Stdout: text}.Lines())
			got := renderOSU(l)
			if err != nil {
				got = "error: " + err.Error() + "\n"
			}
			testutil.CheckGolden(t, strings.TrimSuffix(filepath.Base(name), ".txt")+".golden", []byte(got))
		})
	}
}

func TestOSUParseRow(t *testing.T) {
	osuFull := []string{"Size", "Avg Latency(us)", "Min Latency(us)", "Max Latency(us)", "Iterations"}
	tests := []struct {
		name, text string
		want       osuRow
		ok         bool
	}{
		{"plain", "1024    0.37    0.33    0.41    500", osuRow{bytes: 1024, avg: 0.37e-6, min: 0.33e-6, max: 0.41e-6, iterations: 500}, true},
		{"decimal comma", "1024    0,37    0,33    1000,41    500", osuRow{bytes: 1024, avg: 0.37e-6, min: 0.33e-6, max: 1000.41e-6, iterations: 500}, true},
		{"a field is missing", "1024    0.37    0.33    0.41", osuRow{}, false},
		{"two lines in one", "1024    0.37    0.33    0.41    5002048    0.40    0.31    0.42    500", osuRow{}, false},
		{"not a number", "1024    nan    0.33    0.41    500", osuRow{}, false},
		{"infinite", "1024    inf    0.33    0.41    500", osuRow{}, false},
		{"exponent", "1024    1e3    0.33    0.41    500", osuRow{}, false},
		{"negative", "1024    -0.37    0.33    0.41    500", osuRow{}, false},
		{"negative size", "-4    0.37    0.33    0.41    500", osuRow{}, false},
		{"size out of range", "99999999999999999999    0.37    0.33    0.41    500", osuRow{}, false},
		{"thousands", "1024    1,234.56    0.33    0.41    500", osuRow{}, false},
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12 }
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, ok := parseOSURow(osuFull, tc.text)
			if ok != tc.ok {
				t.Fatalf("parseRow(%q) ok = %t, want %t", tc.text, ok, tc.ok)
			}
			if ok && (got.bytes != tc.want.bytes || got.iterations != tc.want.iterations ||
				!near(got.avg, tc.want.avg) || !near(got.min, tc.want.min) || !near(got.max, tc.want.max)) {
				t.Errorf("parseRow(%q) = %+v, want %+v", tc.text, got, tc.want)
			}
		})
	}
}

func FuzzReadOSU(f *testing.F) {
	names, err := filepath.Glob("testdata/osu*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, true, false, 0)
	}
	p, err := NewOSU(OSUOptions{Dir: "/opt/osu", OneHost: true})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, ended, late bool, exit int) {
		s := launchOf("allreduce", 2, 1, "ring", 4, 8, 16, 32)
		stderr := strings.Repeat("tutti: process on host n1\n", 2)
		r := p.Read(s, benchrunner.Output{Stdout: text, Stderr: []byte(stderr), Ended: ended, TimedOut: late, Exit: exit})
		if len(r.Outcomes) != len(s.Cases) {
			t.Fatalf("%d outcomes of %d cases", len(r.Outcomes), len(s.Cases))
		}
		for i, o := range r.Outcomes {
			switch o.State {
			case benchrunner.OutcomeDone:
				if !(o.Seconds > 0) || math.IsInf(o.Seconds, 0) || o.Samples < 0 || !(o.CostSeconds >= 0) {
					t.Errorf("%v: %+v", s.Cases[i].Candidate, o)
				}
			case benchrunner.OutcomeFailed:
				if o.Phase == "" || o.Error == "" {
					t.Errorf("%v: failed without a reason: %+v", s.Cases[i].Candidate, o)
				}
			case benchrunner.OutcomeNotReached:
			default:
				t.Errorf("%v: state %q", s.Cases[i].Candidate, o.State)
			}
		}
	})
}
