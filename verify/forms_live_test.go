package verify_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/benchrunner/native"
	"tutti/coll"
	"tutti/csource"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/verify"
)

// bench is a runner that measures each candidate in its own launch. With the tuned selection files, it makes
// MPICH run an algorithm whose results are right in the timed call and wrong for datatypes with gaps.
type bench struct {
	t       *testing.T
	program benchrunner.Program
	choose  func(coll.Point) coll.Algorithm
}

var planted = []mpi.Var{
	{Name: "MPIR_CVAR_REDUCE_SCATTER_BLOCK_DEVICE_COLLECTIVE", Value: "0"},
	{Name: "MPIR_CVAR_REDUCE_SCATTER_BLOCK_INTRA_ALGORITHM", Value: "noncommutative"},
}

func (b *bench) Run(_ context.Context, batch benchrunner.Batch, log benchrunner.Log) error {
	for _, r := range batch.Requests {
		c := benchrunner.Case{Candidate: r.Candidate}
		if r.Algorithm == verify.Tuned && !b.choose(r.Point).IsDefault() {
			c.Forcing = mpi.Forcing{Env: planted, Base: planted}
		}
		o := start(b.t, b.program, []string{"mpiexec.hydra"}, c)
		trial := coll.Trial{
			Measurement: coll.Measurement{Candidate: r.Candidate, Seconds: o.Seconds, CostSeconds: o.CostSeconds},
			Attempt:     r.Attempt, State: coll.TrialDone,
		}
		if o.State != benchrunner.OutcomeDone {
			trial.State, trial.Phase, trial.Error = coll.TrialFailed, o.Phase, o.Error
		}
		if err := log.Trial(trial); err != nil {
			return err
		}
	}
	return nil
}

// TestLiveWrong checks that a selection is reverted if its algorithm is right in the timed call but wrong
// for a derived datatype. The error must name the derived datatype.
func TestLiveWrong(t *testing.T) {
	tc := testutil.MPICH
	program, err := native.New(native.Options{Path: testutil.BuildProgram(t, tc, csource.Bench), ProgramOptions: benchrunner.ProgramOptions{
		Check: true, Warmup: 2, MinSamples: 6, MaxSamples: 100, Precision: 0.2, Slice: 100 * time.Millisecond,
	}})
	testutil.NoError(t, err)
	point := coll.Point{Collective: coll.ReduceScatterBlock, Nodes: 1, PPN: 2, MsgBytes: 64}
	b := &bench{t: t, program: program}
	r := rules(1)
	r.MinBlocks, r.MaxBlocks, r.Alpha = 2, 2, 0.9 // a case that always fails needs few blocks
	log := &memory{}
	b.choose = func(coll.Point) coll.Algorithm {
		if rejected := log.rejected(point.Collective); rejected.All || len(rejected.Points) > 0 {
			return coll.Default
		}
		return coll.Algorithm{Name: "noncommutative"}
	}
	problems := []verify.Problem{{Collective: point.Collective, Choose: b.choose, Grid: []coll.Point{point}, OffGrid: true}}
	session := testutil.Must(verify.Open(verify.Options{Library: "mpich", Rules: r}, nil, problems, log.append))(t)
	for ended := false; !ended; {
		ended = testutil.Must(session.RunPass(t.Context(), verify.Files{Problems: problems, Machine: b}))(t)
	}
	res, err := session.Result()
	if err != nil || len(res.Reverted) != 1 || res.Reverted[0].Reason != verify.Fails || !strings.Contains(res.Reverted[0].Error, "a call of a derived type: ") {
		t.Errorf("reverted %+v, %v, want the point that is wrong for a derived type", res.Reverted, err)
	}
}
