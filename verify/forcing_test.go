package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/verify"
)

// fakeProbe simulates a probe, which finds out whether the library obeys its selection file. The field `says`
// contains the error of each trial, and answer what the probe found out. Both are empty if the library obeys the file.
type fakeProbe struct {
	says   string
	answer verify.ForcingState
	asked  int
}

func (w *fakeProbe) Run(_ context.Context, b benchrunner.Batch, log benchrunner.Log) error {
	w.asked++
	for _, r := range b.Requests {
		t := coll.Trial{Measurement: coll.Measurement{Candidate: r.Candidate, Seconds: 1, CostSeconds: 1}, Attempt: r.Attempt, State: coll.TrialDone, Answer: string(verify.Obeyed)}
		if w.says != "" {
			t.Seconds, t.State, t.Phase, t.Error = 0, coll.TrialFailed, "run", w.says
			t.Answer = string(w.answer)
		}
		if err := log.Trial(t); err != nil {
			return err
		}
	}
	return nil
}

// TestIgnoredFiles checks a library that ignores its files. It must not be measured, and the result must name
// the algorithm that ran instead. Once the library obeys, the verification must continue.
func TestIgnoredFiles(t *testing.T) {
	rows := rowsOf([]int{2}, []int64{64, 4096, 65536}, coll.Bcast)
	m := &machine{seed: 1, ran: map[string]int{}, ratio: func(coll.Point) float64 { return 0.8 }}
	opt := verify.Options{Library: "lib", Rules: rules(1)}
	log := &memory{}

	stubborn := &fakeProbe{says: "another algorithm ran: binomial instead of ring", answer: verify.Ignored}
	res := testutil.Must(verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows, probe: stubborn}, log))(t)
	if d := res.Unforced(); len(d) == 0 || !strings.Contains(d[0].Note, "binomial instead of ring") {
		t.Errorf("ignored: %+v, want what ran instead", d)
	}
	if res.Ended || res.Proved() || len(m.ran) > 0 {
		t.Errorf("ended: %t, proved: %t, %d candidates measured, want nothing of it", res.Ended, res.Proved(), len(m.ran))
	}

	obedient := &fakeProbe{}
	res = testutil.Must(verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows, probe: obedient}, log))(t)
	if obedient.asked != 1 || len(res.Unforced()) > 0 || !res.Proved() {
		t.Errorf("asked %d times, ignored %+v, proved %t, want proved after one check", obedient.asked, res.Unforced(), res.Proved())
	}
}

// TestNotObservable checks libraries that do not show which algorithm runs. They must be verified nevertheless. But
// nothing may count as proved if another component of the library may have served the calls.
func TestNotObservable(t *testing.T) {
	rows := rowsOf([]int{2}, []int64{64, 4096}, coll.Bcast)
	for _, want := range []verify.ForcingState{verify.NotObservable, verify.NotChecked} {
		m := &machine{seed: 1, ran: map[string]int{}, ratio: func(coll.Point) float64 { return 0.8 }}
		res := testutil.Must(verifyAll(t.Context(), verify.Options{Library: "lib", Rules: rules(1)}, &fileWriter{machine: m, rows: rows, probe: &fakeProbe{says: "the error names no algorithm", answer: want}}, &memory{}))(t)
		for _, s := range res.ForcingChecks {
			if s.State != want {
				t.Errorf("%v: %s, want %s", s.TestPoint, s.State, want)
			}
		}
		if len(res.ForcingChecks) == 0 || !res.Ended || res.Proved() != (want == verify.NotObservable) {
			t.Errorf("%s: %d checks, ended %t, proved %t", want, len(res.ForcingChecks), res.Ended, res.Proved())
		}
	}
}

// TestNonblockingNotObservable checks that no probe runs for a nonblocking collective: nothing shows its algorithm.
func TestNonblockingNotObservable(t *testing.T) {
	m := &machine{seed: 1, ran: map[string]int{}, ratio: func(coll.Point) float64 { return 0.8 }}
	probe := &fakeProbe{says: "an unknown collective", answer: verify.NoAnswer}
	rows := rowsOf([]int{2}, []int64{64, 4096, 65536}, coll.Iallreduce)
	res := testutil.Must(verifyAll(t.Context(), verify.Options{Library: "lib", Rules: rules(1)}, &fileWriter{machine: m, rows: rows, probe: probe}, &memory{}))(t)
	if len(res.ForcingChecks) == 0 || res.ForcingChecks[0].State != verify.NotObservable || probe.asked > 0 || !res.Proved() {
		t.Errorf("checks %+v, asked %d times, proved %t, want not observable without a probe", res.ForcingChecks, probe.asked, res.Proved())
	}
}

// TestCancelledProbe checks a probe whose job was cancelled. It must prove nothing, and the next verification must
// run it again without measuring anything.
func TestCancelledProbe(t *testing.T) {
	rows := rowsOf([]int{2}, []int64{64, 4096, 65536}, coll.Bcast)
	m := &machine{seed: 1, ran: map[string]int{}, ratio: func(coll.Point) float64 { return 0.8 }}
	opt := verify.Options{Library: "lib", Rules: rules(1)}
	log := &memory{}
	for _, tc := range []struct {
		probe *fakeProbe
		want  verify.ForcingState
	}{{&fakeProbe{says: "job lib-probe-1: cancelled"}, verify.NoAnswer}, {&fakeProbe{}, verify.Obeyed}} {
		res := testutil.Must(verifyAll(t.Context(), opt, &fileWriter{machine: m, rows: rows, probe: tc.probe}, log))(t)
		for _, c := range res.ForcingChecks {
			if c.State != tc.want {
				t.Errorf("%v: %s, want %s", c.TestPoint, c.State, tc.want)
			}
		}
		if res.Proved() != (tc.want == verify.Obeyed) || tc.probe.asked != 1 || res.Sessions != 1 {
			t.Errorf("%s: proved %t, asked %d times, session %d", tc.want, res.Proved(), tc.probe.asked, res.Sessions)
		}
	}
}

// TestReadNothing checks the answer of a probe that printed nothing: for Open MPI, another component of the library
// may have served the call; MPICH says nothing.
func TestReadNothing(t *testing.T) {
	for name, version := range map[string]string{"mpich": "4.0.2", "openmpi": "4.1.4"} {
		port, cat, err := libraries.Release(name, version)
		testutil.NoError(t, err)
		p := &verify.Probe{Library: port.(mpi.Measurable), Catalogue: cat, Choose: func(coll.Point) coll.Algorithm { return coll.Algorithm{Name: "binomial"} }}
		c := benchrunner.Case{Candidate: coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 2, MsgBytes: 64}}}
		o := p.Read(benchrunner.Launch{Cases: []benchrunner.Case{c}}, benchrunner.Output{Ended: true}).Outcomes[0]
		want := map[string]verify.ForcingState{"mpich": verify.NoAnswer, "openmpi": verify.NotChecked}[name]
		if verify.ForcingState(o.Answer) != want || !strings.HasSuffix(o.Error, "nothing was printed: no output") {
			t.Errorf("%s: %q, %q", name, o.Answer, o.Error)
		}
	}
}

// TestReadLongStack checks an error stack that MPI cut off, and that MPICH then printed as a whole when it
// ended the program. The probe must find the algorithm in the whole stack.
func TestReadLongStack(t *testing.T) {
	const cut = "saw MPI_Allreduce MPID_Allreduce MPIDI_Allreduce_intra_composition_beta MPIR_Allreduce_allcomm_auto\n"
	const whole = "Abort(336178190) on node 1 (rank 1 in comm 0): Fatal error in internal_Allreduce: Message truncated, error stack:\n" +
		"internal_Allreduce(104).................: MPI_Allreduce(sbuf=0x1, rbuf=0x2, count=16, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD) failed\n" +
		"MPID_Allreduce(493).....................: \nMPIDI_Allreduce_intra_composition_beta(1): \nMPIR_Allreduce_intra_%s(188): \nMPIC_Sendrecv(324)......................: \n"
	port, cat, err := libraries.Release("mpich", "5.0.2")
	testutil.NoError(t, err)
	ring := coll.Algorithm{Name: "ring"}
	p := &verify.Probe{Library: port.(mpi.Measurable), Catalogue: cat, Choose: func(coll.Point) coll.Algorithm { return ring }}
	s := benchrunner.Launch{Cases: []benchrunner.Case{{Candidate: coll.Candidate{Point: coll.Point{Collective: coll.Allreduce, Nodes: 1, PPN: 2, MsgBytes: 64}}}}}
	for text, want := range map[string]string{
		cut:                                 "names no algorithm",
		cut + fmt.Sprintf(whole, "ring"):    "",
		cut + fmt.Sprintf(whole, "recexch"): "MPIR_Allreduce_intra_recexch instead of MPIR_Allreduce_intra_ring",
	} {
		o := p.Read(s, benchrunner.Output{Stdout: []byte(text), Ended: true}).Outcomes[0]
		if (o.State == benchrunner.OutcomeDone) != (want == "") || !strings.Contains(o.Error, want) {
			t.Errorf("%s: %+v, want %q", text, o, want)
		}
	}
}
