package native_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
)

const (
	hello = `{"event":"hello","format":1,"source":"x","ranks":2,"nodes":[{"host":"a","domain":0,"ranks":1},{"host":"b","domain":1,"ranks":1}],"library":"MPI 1"}` + "\n"
	end   = `{"event":"end","cases":3,"at":1}` + "\n"
)

func form(i int, name string) string {
	return fmt.Sprintf(`{"event":"check","case":%d,"form":%q}`, i, name) + "\n"
}
func begin(i int) string { return fmt.Sprintf(`{"event":"begin","case":%d,"at":0.5}`, i) + "\n" }

// result returns the line that the program prints for the result of case i. `more` contains JSON keys to add
// or to replace.
func result(i int, more string) string {
	return fmt.Sprintf(`{"event":"result","case":%d,"bytes":64,"median":2e-6,"low":1e-6,"high":3e-6,"min":1e-6,"samples":10,"late":0,"sync":"clock",`+
		`"stop":"tight","verified":"no","seen":"","warmup":0.01,"measure":0.01,"wall":0.03%s}`, i, more) + "\n"
}

func whole(i int) string { return begin(i) + result(i, "") }

func three() benchrunner.Launch {
	s := start(one(coll.Bcast, 64, "library_default"), one(coll.Bcast, 64, "ring"), one(coll.Bcast, 64, "binomial"))
	s.Order = coll.Cyclic
	return s
}

func outcomesText(outcomes []benchrunner.Outcome) string {
	var b strings.Builder
	for _, o := range outcomes {
		switch o.State {
		case benchrunner.OutcomeDone:
			fmt.Fprintf(&b, "done %g %g-%g %d cost %g\n", o.Seconds, o.Low, o.High, o.Samples, o.CostSeconds)
		case benchrunner.OutcomeFailed:
			fmt.Fprintf(&b, "failed %s: %s cost %g\n", o.Phase, o.Error, o.CostSeconds)
		default:
			fmt.Fprintln(&b, o.State)
		}
	}
	return b.String()
}

func TestRead(t *testing.T) {
	const done = "done 2e-06 1e-06-3e-06 10 cost 0.03\n"
	ended := benchrunner.Output{Ended: true, Wall: 2 * time.Second}
	crashed := benchrunner.Output{Ended: true, Exit: 9, Wall: 2 * time.Second, Stderr: []byte("Assertion failed\n")}
	timedOut := benchrunner.Output{TimedOut: true, Wall: 90 * time.Second}
	lost := benchrunner.Output{Wall: 2 * time.Second}
	all := hello + whole(0) + whole(1) + whole(2) + end
	failed := func(text string) string { return strings.Repeat("failed launch: "+text+" cost 0\n", 3) }
	tests := []struct {
		name   string
		stdout string
		out    benchrunner.Output
		want   string
	}{
		{"all", all, ended, done + done + done},
		{"crash after the end", all, crashed, done + done + done},
		{"tags of ranks", "[1,0]<stdout>:" + strings.ReplaceAll(strings.TrimSuffix(all, "\n"), "\n", "\n[1,0]<stdout>:") + "\n", ended, done + done + done},
		{"tags of hydra", strings.ReplaceAll(all, `{"event"`, `[0] {"event"`), ended, done + done + done},
		{"lines of others", "warning: eth0\n" + strings.ReplaceAll(all, "}\n", "} noise\n\n"), ended, done + done + done},
		{"noise before a line", strings.ReplaceAll(all, `{"event"`, `noise{"event"`), ended, done + done + done},
		{"lost begin", hello + result(0, "") + whole(1) + whole(2) + end, ended, done + done + done},
		{"crash", hello + whole(0) + begin(1), crashed, done + "failed run: exit code 9: Assertion failed cost 1.5\nnot reached\n"},
		{"crash in another form", hello + whole(0) + begin(1) + form(1, "in place"), crashed,
			done + "failed run: a call in place: exit code 9: Assertion failed cost 1.5\nnot reached\n"},
		{"crash behind it", hello + whole(0) + begin(1) + form(1, "in place") + form(1, ""), crashed,
			done + "failed run: exit code 9: Assertion failed cost 1.5\nnot reached\n"},
		{"hang", hello + whole(0) + begin(1), timedOut, done + "failed run: not done after 90 s cost 89.5\nnot reached\n"},
		{"hang seen by the program", hello + whole(0) + begin(1) + `{"event":"hang"}` + "\n", crashed, done + "failed run: hung: not done after 15 s cost 1.5\nnot reached\n"},
		{"job lost", hello + whole(0) + begin(1), lost, done + "not reached\nnot reached\n"},
		{"cut off", hello + whole(0) + begin(1) + result(1, "")[:80], lost, done + "not reached\nnot reached\n"},
		{"damaged line", hello + whole(0) + begin(1) + result(1, "")[:80] + "\n" + whole(2) + end, ended,
			done + "failed parse: its line is missing or damaged cost 0\n" + done},
		{"damaged last line", hello + whole(0) + whole(1) + begin(2) + result(2, "")[:80] + "\n" + end, ended,
			done + done + "failed parse: its line is missing or damaged cost 0\n"},
		{"refused", hello + whole(0) + begin(1) + `{"event":"refused","case":1,"step":"call","why":"a\nb\nnot usable","rank":0,"wall":0.5,"warmup":0,"measure":0}` + "\n" + whole(2) + end, ended,
			done + "failed run: call: a ... not usable cost 0.5\n" + done},
		{"twice", hello + whole(0) + whole(0) + whole(1) + whole(2) + end, ended, "failed parse: 2 lines about one case cost 0\n" + done + done},
		{"never started", "", crashed, failed("exit code 9: Assertion failed")},
		{"hung at the start", hello, timedOut, failed("not done after 90 s")},
		{"job lost at the start", hello, lost, "not reached\nnot reached\nnot reached\n"},
		{"worlds of one", strings.Repeat(`{"event":"hello","format":1,"ranks":1}`+"\n"+`{"event":"error","why":"a world of one rank"}`+"\n", 2), ended, failed("a world of one rank")},
		{"two worlds", hello + hello + whole(0), ended, failed("2 worlds, want one of 2 ranks: the launcher is not the library's")},
		{"other nodes", strings.Replace(all, `,{"host":"b","domain":1,"ranks":1}`, "", 1), ended, failed("2 ranks on 1 nodes, want 2x1")},
		{"another order", strings.Replace(all, `"library"`, `"order":"block","library"`, 1), ended, failed("ranks in block order over the nodes, want cyclic: runner.order of the campaign says which")},
		{"any order", strings.Replace(all, `"library"`, `"order":"any","library"`, 1), ended, done + done + done},
		{"other ppn", strings.Replace(all, `"domain":0,"ranks":1`, `"domain":0,"ranks":2`, 1), ended, failed("2 ranks on a, want 1 on each of 2 nodes")},
		{"other format", strings.Replace(all, `"format":1`, `"format":2`, 1), ended, failed("the program speaks format 2, want 1: build it again")},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.out.Stdout = []byte(tc.stdout)
			r := program(t, options()).Read(three(), tc.out)
			if got := outcomesText(r.Outcomes); got != tc.want {
				t.Errorf("outcomes:\n%swant:\n%s", got, tc.want)
			}
		})
	}
}

func TestReadImpossibleValues(t *testing.T) {
	change := func(old, new string) string {
		line := result(1, "")
		if !strings.Contains(line, old) {
			t.Fatalf("no %s in %s", old, line)
		}
		return strings.Replace(line, old, new, 1)
	}
	tests := []struct{ name, line string }{
		{"not a number", change("2e-6", "NaN")},
		{"infinite", change("2e-6", "1e999")},
		{"zero", change("2e-6", "0")},
		{"negative", change("2e-6", "-2e-6")},
		{"faster than light", change("2e-6", "2e-10")},
		{"longer than the case", change("2e-6", "2")},
		{"no median", change(`"median":2e-6,`, "")},
		{"interval without the median", change(`"high":3e-6`, `"high":1e-6`)},
		{"half an interval", change(`"low":1e-6,`, "")},
		{"minimum above the median", change(`"min":1e-6`, `"min":3e-6`)},
		{"negative with computation", result(1, `,"overall":-1e-6`)},
		{"no sample", change(`"samples":10`, `"samples":0`)},
		{"more samples than time", change(`"samples":10`, `"samples":1000000`)},
		{"warm-up longer than all", change(`"warmup":0.01`, `"warmup":9`)},
		{"unknown key", result(1, `,"mean":2`)},
		{"its own error", result(1, `,"error":"a number is not finite"`)},
		{"unknown case", strings.Replace(result(3, ""), `"case":3`, `"case":-1`, 1)},
		{"no case", change(`"case":1,`, "")},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			out := benchrunner.Output{Ended: true, Wall: 2 * time.Second, Stdout: []byte(hello + whole(0) + begin(1) + tc.line + whole(2) + end)}
			r := program(t, options()).Read(three(), out)
			if o := r.Outcomes[1]; o.State != benchrunner.OutcomeFailed || o.Phase != benchrunner.PhaseParse {
				t.Errorf("outcome %+v, want a failure of phase parse", o)
			}
			for _, i := range []int{0, 2} {
				if r.Outcomes[i].State != benchrunner.OutcomeDone {
					t.Errorf("outcome %d %+v, want done", i, r.Outcomes[i])
				}
			}
		})
	}
}

// TestReadAlgorithm checks that a case fails if the library ran another algorithm than the
// requested one.
func TestReadAlgorithm(t *testing.T) {
	composed := map[string]bool{"alpha": true, "gamma": true} // composed algorithms
	tests := []struct{ algorithm, verified, seen, want string }{
		{"ring", "no", "", ""},
		{"ring", "enumeration", "ring", ""},
		{"ring", "enumeration", "bruck", "the library ran bruck instead"},
		{"openmpi.ring", "enumeration", "ring", ""},
		{"openmpi.ring", "enumeration", "bruck", "the library ran bruck instead"},
		{"mpich.scatter_ring_allgather", "error stack", "MPIR_Bcast_intra_scatter_ring_allgather", ""},
		{"scatter_ring_allgather", "error stack", "MPIR_Bcast_intra_scatter_ring_allgather", ""},
		{"alpha", "error stack", "MPIR_Bcast_intra_binomial", ""}, // a part does not identify the whole
		{"alpha", "error stack", "MPIDI_Bcast_intra_composition_gamma MPIR_Bcast_intra_binomial", "the library ran MPIDI_Bcast_intra_composition_gamma MPIR_Bcast_intra_binomial instead"},
		{"gamma", "error stack", "MPIDI_Bcast_intra_composition_gamma MPIR_Bcast_intra_binomial", ""},
		{"smp", "error stack", "MPIR_Bcast_intra_smp MPIR_Bcast_intra_binomial", ""},
		{"binomial", "error stack", "MPIDI_Bcast_intra_composition_gamma MPIR_Bcast_intra_binomial", "the library ran MPIDI_Bcast_intra_composition_gamma MPIR_Bcast_intra_binomial instead"},
		{"ring", "error stack", "MPIR_Bcast_intra_scatter_ring", "the library ran MPIR_Bcast_intra_scatter_ring instead"},
		{"library_default", "error stack", "MPIR_Bcast_intra_binomial", ""},
	}
	for _, tc := range tests {
		t.Run(tc.algorithm+" "+tc.seen, func(t *testing.T) {
			line := strings.Replace(result(0, ""), `"verified":"no","seen":""`, fmt.Sprintf(`"verified":%q,"seen":%q`, tc.verified, tc.seen), 1)
			out := benchrunner.Output{Ended: true, Stdout: []byte(hello + begin(0) + line + end)}
			c := one(coll.Bcast, 64, tc.algorithm)
			c.Parts = composed[tc.algorithm]
			o := program(t, options()).Read(start(c), out).Outcomes[0]
			if o.Error != tc.want || (o.State == benchrunner.OutcomeDone) != (tc.want == "") {
				t.Errorf("outcome %+v, want error %q", o, tc.want)
			}
		})
	}
}

// TestReadRecorded checks what Read returns for recorded outputs of MPICH 4.0.2 and Open MPI 4.1.4 on two
// ranks.
func TestReadRecorded(t *testing.T) {
	for _, name := range []string{"mpich", "openmpi"} {
		t.Run(name, func(t *testing.T) {
			text := testutil.Must(os.ReadFile("testdata/" + name + ".out"))(t)
			plan := testutil.Must(os.ReadFile("testdata/" + name + ".plan"))(t)
			s := planned(t, string(plan))
			r := program(t, options()).Read(s, benchrunner.Output{Ended: true, Wall: 10 * time.Second, Stdout: text})
			got := testutil.Must(json.MarshalIndent(r, "", "  "))(t)
			testutil.CheckGolden(t, name+".json", append(got, '\n'))
		})
	}
}

// planned returns the launch that a plan describes. Comments in the plan contain the names of the
// algorithms.
func planned(t *testing.T, plan string) benchrunner.Launch {
	t.Helper()
	s := benchrunner.Launch{Layout: coll.Layout{Nodes: 1, PPN: 2}}
	algorithm := ""
	for line := range strings.Lines(plan) {
		w := strings.Fields(line)
		switch {
		case w[0] == "#":
			algorithm = w[1]
		case w[0] == "case":
			var bytes int64
			if _, err := fmt.Sscan(w[3], &bytes); err != nil {
				t.Fatal(err)
			}
			c := one(coll.Collective(w[2]), bytes, algorithm)
			c.Nodes, c.PPN = 1, 2
			s.Cases = append(s.Cases, c)
		}
	}
	return s
}

func FuzzRead(f *testing.F) {
	f.Add(hello+whole(0)+whole(1)+whole(2)+end, true, false, 0)
	f.Add(hello+whole(0)+begin(1)+result(1, "")[:70], false, true, 0)
	f.Add(hello+begin(0)+`{"event":"refused","case":0,"why":"x","step":"call"}`+"\n"+`{"event":"hang"}`+"\n", true, false, 4)
	f.Add(`[0] {"event":"error","why":"x"} y`+"\n", true, false, 3)
	for _, name := range []string{"mpich", "openmpi"} {
		text := testutil.Must(os.ReadFile("testdata/" + name + ".out"))(f)
		f.Add(string(text), true, false, 0)
	}
	f.Fuzz(func(t *testing.T, stdout string, ended, timedOut bool, exit int) {
		out := benchrunner.Output{Stdout: []byte(stdout), Ended: ended, TimedOut: timedOut, Exit: exit, Wall: time.Second}
		r := program(t, options()).Read(three(), out)
		if len(r.Outcomes) != 3 {
			t.Fatalf("%d outcomes, want 3", len(r.Outcomes))
		}
		finite := func(x float64) bool { return x >= 0 && !math.IsInf(x, 0) }
		if !finite(r.WarmupSeconds) || !finite(r.MeasureSeconds) {
			t.Errorf("spent %g and %g s", r.WarmupSeconds, r.MeasureSeconds)
		}
		for _, o := range r.Outcomes {
			done := o.State == benchrunner.OutcomeDone
			if done && !(finite(o.Seconds) && o.Seconds > 0 && finite(o.Low) && finite(o.High) && o.Samples > 0) || !finite(o.CostSeconds) {
				t.Errorf("outcome %+v cannot be", o)
			}
			if o.State == benchrunner.OutcomeFailed && (o.Error == "" || o.Phase == "") {
				t.Errorf("outcome %+v failed without a reason", o)
			}
		}
	})
}

// TestReadNoise checks that a time fails if its interval is wider than the limit. An aborted case does not fail.
// A few samples, which have no interval, are judged by their range.
func TestReadNoise(t *testing.T) {
	opt := options()
	opt.NoiseLimit, opt.Precision = 0.9, 0.02
	out := hello + begin(0) + result(0, `,"high":2.5e-6`) + whole(1) + begin(2) + result(2, `,"stop":"abort_factor"`) + end
	r := program(t, opt).Read(three(), benchrunner.Output{Stdout: []byte(out), Ended: true})
	const want = "done 2e-06 1e-06-2.5e-06 10 cost 0.03\n" +
		"failed noise: too noisy: the interval of the median, 2e-06 s, is 1e-06 to 3e-06 s, wider than benchmark.noise_limit, 0.9, allows cost 0.03\n" +
		"done 2e-06 1e-06-3e-06 10 cost 0.03\n"
	if got := outcomesText(r.Outcomes); got != want {
		t.Errorf("outcomes\n%swant\n%s", got, want)
	}
	few := `,"low":0,"high":0,"max":%g,"samples":2`
	out = hello + begin(0) + result(0, fmt.Sprintf(few, 3e-6)) + begin(1) + result(1, fmt.Sprintf(few, 2.5e-6))
	noisy := program(t, opt).Read(three(), benchrunner.Output{Stdout: []byte(out)})
	if a, b := noisy.Outcomes[0], noisy.Outcomes[1]; !strings.HasPrefix(a.Error, "too noisy") || b.State != benchrunner.OutcomeDone || b.High != 0 {
		t.Errorf("outcomes\n%swant too noisy, done without an interval", outcomesText(noisy.Outcomes))
	}
}

// TestReadOverall checks the time of a nonblocking call with computation before the wait.
func TestReadOverall(t *testing.T) {
	s := start(one(coll.Iallreduce, 64, "library_default"))
	out := benchrunner.Output{Ended: true, Wall: 2 * time.Second, Stdout: []byte(hello + begin(0) + result(0, `,"overall":3e-6`) + `{"event":"end","cases":1}` + "\n")}
	o := program(t, options()).Read(s, out).Outcomes[0]
	if share, ok := (coll.Measurement{Seconds: o.Seconds, Overall: o.Overall}).Overlap(); o.State != benchrunner.OutcomeDone || !ok || share != 0.5 {
		t.Errorf("%+v: overlap %g, want half", o, share)
	}
}
