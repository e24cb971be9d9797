package verify_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"tutti/benchrunner"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/mpi"
	"tutti/mpi/libraries"
	"tutti/verify"
)

// start runs a program on one case, as a launcher would, and returns the outcome.
func start(t *testing.T, p benchrunner.Program, launcher []string, c benchrunner.Case) benchrunner.Outcome {
	t.Helper()
	s := benchrunner.Launch{Layout: c.Layout(), Cases: []benchrunner.Case{c}, Dir: t.TempDir()}
	command := testutil.Must(p.Command(s))(t)
	for name, text := range command.Files {
		testutil.NoError(t, os.WriteFile(filepath.Join(s.Dir, name), text, 0o666))
	}
	ctx, cancel := context.WithTimeout(t.Context(), p.Allowance(s))
	defer cancel()
	args := append(append(launcher[1:len(launcher):len(launcher)], "-n", strconv.Itoa(c.Ranks())), command.Args...)
	cmd := exec.CommandContext(ctx, launcher[0], args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("MPIR_CVAR_NUM_CLIQUES=%d", c.Nodes))
	cmd.Env = testutil.LaunchEnv(t, launcher[0], cmd.Env)
	for _, v := range command.Env {
		value := v.Value
		if v.File != nil {
			value = filepath.Join(t.TempDir(), "file")
			testutil.NoError(t, os.WriteFile(value, v.File, 0o666))
		}
		cmd.Env = append(cmd.Env, v.Name+"="+value)
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	began := time.Now()
	_ = cmd.Run() // only the output matters
	out := benchrunner.Output{
		Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Exit: cmd.ProcessState.ExitCode(), Ended: true, Wall: time.Since(began),
	}
	return p.Read(s, out).Outcomes[0]
}

// TestLiveProbe forces algorithms. It checks that the probe observes the forced algorithm and no other.
func TestLiveProbe(t *testing.T) {
	for _, lib := range []struct {
		name, version string
		toolchain     testutil.Toolchain
		launcher      []string
		least         int // least number of observed algorithms when all are tried
	}{
		{"mpich", "4.0.2", testutil.MPICH, []string{"mpiexec.hydra"}, 40},
		{"openmpi", "4.1.4", testutil.OpenMPI, []string{"mpirun.openmpi", "--oversubscribe"}, 60},
	} {
		t.Run(lib.name, func(t *testing.T) {
			testutil.BuildProgram(t, lib.toolchain, testutil.CollectivesProgram) // skips where the library is missing
			path := testutil.Must(verify.BuildProbe(t.Context(), lib.toolchain.Compiler, t.TempDir()))(t)
			port, cat, err := libraries.Release(lib.name, lib.version)
			testutil.NoError(t, err)
			seen, tried := 0, 0
			all := os.Getenv("TUTTI_PROBE_ALL") == "1"
			for _, c := range coll.Collectives() {
				entries := cat.Entries(c)
				if few := []coll.Collective{coll.Allgather, coll.Alltoall, coll.Bcast, coll.Reduce}; !all && !slices.Contains(few, c) {
					continue
				}
				if !all && len(entries) > 2 {
					entries = entries[1:2]
				}
				other := coll.Algorithm{Name: cat.Entries(c)[0].Name}
				for _, e := range entries {
					alg := coll.Algorithm{Name: e.Name}
					point := coll.Point{Collective: c, Nodes: 2, PPN: 2, MsgBytes: 4096}
					if e.Has(mpi.TwoRanks) {
						point.PPN = 1
					}
					cand := coll.Candidate{Point: point, Algorithm: alg}
					// Scan's algorithm smp needs consecutive ranks on each node, which the simulated nodes
					// do not have.
					if e.Has(mpi.InPlace) || cat.Check(cand) != nil || c == coll.Scan && !strings.HasPrefix(e.Name, "rec") && lib.name == "mpich" {
						continue
					}
					f := testutil.Must(mpi.Force(port, cat, cand))(t)
					selected := alg
					p := &verify.Probe{Path: path, Library: port.(mpi.Measurable), Catalogue: cat, Choose: func(coll.Point) coll.Algorithm { return selected }}
					cs := benchrunner.Case{Candidate: coll.Candidate{Point: point, Algorithm: verify.Tuned}, Forcing: f}
					got := start(t, p, lib.launcher, cs)
					t.Logf("%v: %s %s", cand, got.State, got.Error)
					tried++
					if got.State == benchrunner.OutcomeDone {
						seen++
					} else if strings.HasPrefix(got.Error, "another algorithm ran") {
						t.Errorf("%v: %s", cand, got.Error)
					}
					// MPICH's gamma passes the call on to another algorithm, here binomial.
					if selected = other; c == coll.Bcast && alg != other && alg.Name != "gamma" {
						if got := start(t, p, lib.launcher, cs); got.State != benchrunner.OutcomeFailed {
							t.Errorf("%v observed where %v ran", other, alg)
						}
					}
				}
			}
			t.Logf("%d of %d algorithms seen", seen, tried)
			if all && seen < lib.least || 4*seen < 3*tried {
				t.Errorf("%d of %d algorithms seen", seen, tried)
			}
		})
	}
}

// TestLiveProbeRival checks a component of Open MPI that takes precedence over coll/tuned. The probe must
// report that this component ran instead of the selected algorithm.
func TestLiveProbeRival(t *testing.T) {
	tc := testutil.OpenMPI
	testutil.BuildProgram(t, tc, testutil.CollectivesProgram) // skips where the library is missing
	path := testutil.Must(verify.BuildProbe(t.Context(), tc.Compiler, t.TempDir()))(t)
	port, cat, err := libraries.Release("openmpi", "4.1.4")
	testutil.NoError(t, err)
	alg := coll.Algorithm{Name: "knomial"}
	cand := coll.Candidate{Point: coll.Point{Collective: coll.Bcast, Nodes: 1, PPN: 2, MsgBytes: 4096}, Algorithm: alg}
	f := testutil.Must(mpi.Force(port, cat, cand))(t)
	p := &verify.Probe{Path: path, Library: port.(mpi.Measurable), Catalogue: cat, Choose: func(coll.Point) coll.Algorithm { return alg }}
	launcher := []string{"mpirun.openmpi", "--oversubscribe", "--mca", "coll_adapt_priority", "100"} // overrides the settings
	got := start(t, p, launcher, benchrunner.Case{Candidate: cand, Forcing: f})
	if !strings.HasPrefix(got.Error, "another algorithm ran: coll/adapt instead of") {
		t.Errorf("%s %q, want coll/adapt as what ran", got.State, got.Error)
	}
}
