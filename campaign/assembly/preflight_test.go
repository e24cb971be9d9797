package assembly_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tutti/benchrunner"
	"tutti/benchrunner/local"
	"tutti/campaign/assembly"
	"tutti/coll"
	"tutti/internal/config"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
	"tutti/mpi"
)

// queue is a scheduler whose jobs outlive tutti. It cancels its first jobs.
type queue struct {
	benchrunner.Scheduler
	cancels   int      // jobs to cancel
	submitted []string // names of jobs
}

func (q *queue) Capacity(context.Context) (benchrunner.Capacity, error) {
	return benchrunner.Capacity{Nodes: 4, PPN: 4, SeparateNodes: true}, nil
}

func (q *queue) Submit(ctx context.Context, s benchrunner.Submission) (string, error) {
	q.submitted = append(q.submitted, s.Name)
	if len(q.submitted) <= q.cancels {
		return "cancelled-" + s.Name, nil
	}
	return q.Scheduler.Submit(ctx, s)
}

func (q *queue) Status(ctx context.Context, jobs map[string]benchrunner.Submission) (map[string]benchrunner.Status, error) {
	out, err := q.Scheduler.Status(ctx, jobs)
	for id := range jobs {
		if strings.HasPrefix(id, "cancelled-") {
			out[id] = benchrunner.Status{Phase: benchrunner.JobOver, Outcome: coll.JobCancelled, Started: time.Unix(100, 0), Ended: time.Unix(107, 0)}
		}
	}
	return out, err
}

// preflightCampaign returns a campaign of a queue with fake programs, and its journal.
func preflightCampaign(t *testing.T, cancels int, set ...string) (*assembly.Campaign, *queue, *journal.Journal) {
	t.Helper()
	slurm, _ := commands(t)
	c := fake(t, "slurm", func(cfg *config.Campaign) {
		lib := &cfg.Libraries[0] // one without a tool that lists settings, which takes a second
		lib.Name, lib.Version, lib.Launcher, lib.LauncherPath = "mpich", "4.0.2", "mpirun", filepath.Join(filepath.Dir(cfg.Output), "mpirun")
	}, append(set, "slurm.bin="+slurm)...)
	testutil.NoError(t, c.Connect("k7x2m4qa", nil))
	q := &queue{Scheduler: testutil.Must(local.New(local.Options{}))(t), cancels: cancels}
	c.SetScheduler(q)
	j := campaigntest.Begin(t, c.Config)
	t.Cleanup(func() { testutil.NoError(t, j.Close()) })
	return c, q, j
}

// TestPreflightResumed kills tutti after each record of the launch that reads the settings of the machine. The launch must
// be found again: no job is submitted twice, and the records are those of a run without an interruption.
func TestPreflightResumed(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")
	wanted := ""
	for after := 5; after >= 2; after-- { // all five records first: batch, job (three times) and trial
		c, q, j := preflightCampaign(t, 0)
		var state journal.State
		records := 0
		read := func(most int) error {
			_, err := c.ReadSite(t.Context(), c.Config.Libraries[0], &state, func(r journal.Record) error {
				if records == most {
					return killed
				}
				records++
				return j.AppendTo(&state, r)
			})
			return err
		}
		if err := read(after); !errors.Is(err, killed) && after < 5 {
			t.Fatalf("after %d records: %v", after, err)
		}
		testutil.NoError(t, read(100))
		testutil.NoError(t, read(100)) // everything is in the journal
		if len(q.submitted) != 1 {
			t.Errorf("killed after %d records: submitted %v, want one job", after, q.submitted)
		}
		got := recordTexts(campaigntest.Records(t, c.Config.Output))
		if wanted == "" {
			wanted = got
		}
		if d := cmp.Diff(wanted, got); d != "" {
			t.Errorf("killed after %d records (-without, +with):\n%s", after, d)
		}
	}
}

func recordTexts(records []journal.Record) string {
	var b strings.Builder
	for _, r := range records {
		fmt.Fprintln(&b, r.Kind, r.Problem, r.Round, r.Batch)
		if r.Job != nil {
			fmt.Fprintln(&b, r.Job.State, r.Job.Requests, r.Job.Outcome)
		}
		if r.Trial != nil {
			fmt.Fprintln(&b, r.Trial.Candidate, r.Trial.State)
		}
	}
	return b.String()
}

// TestOutranked starts launches with launchers that change the environment of the ranks. A variable that forces algorithms
// must reach them, or the campaign must refuse to measure. Another launch is needed only where the ranks have another
// value of such a variable.
func TestOutranked(t *testing.T) {
	t.Parallel()
	const variable = "MPIR_CVAR_COLLECTIVE_FALLBACK" // forced algorithms need the value error
	tests := []struct {
		name, wrapper, env, want string
		launches                 int
	}{
		{"another value", "export " + variable + "=silent", "", "the launcher gives the ranks " + variable + "=silent", 2},
		{"a variable that forces nothing", "export MPIR_CVAR_ENABLE_SMP_BCAST=0", "", "", 1},
		{"a user's value", "", variable + "=abort", "", 2},
		{"a pin", "export MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial", "", "MPIR_CVAR_BCAST_INTRA_ALGORITHM=auto does not turn it off", 2},
		{"no environment", "exec env -i PATH=\"$PATH\" DIR/mpirun \"$@\"", "", "does not pass the environment on", 1},
	}
	for i, tc := range tests {
		if i >= 2 && !testutil.AllCases() {
			break
		}
		c, q, j := preflightCampaign(t, 0)
		lib := c.Config.Libraries[0]
		if tc.env != "" {
			lib.Env = append(lib.Env, tc.env)
		}
		dir := filepath.Dir(lib.LauncherPath)
		lib.LauncherPath = filepath.Join(t.TempDir(), "launcher")
		text := strings.ReplaceAll("#!/bin/sh\n"+tc.wrapper+"\nexec DIR/mpirun \"$@\"\n", "DIR", dir)
		testutil.NoError(t, os.WriteFile(lib.LauncherPath, []byte(text), 0o777))
		var state journal.State
		_, err := c.ReadSite(t.Context(), lib, &state, func(r journal.Record) error { return j.AppendTo(&state, r) })
		if errors.Is(err, mpi.ErrSite) != (tc.want != "") || tc.want != "" && !strings.Contains(err.Error(), tc.want) || len(q.submitted) != tc.launches {
			t.Errorf("%s: %v after jobs %v, want %q after %d", tc.name, err, q.submitted, tc.want, tc.launches)
		}
	}
}

// TestPreflightCancelled cancels the first job that reads the settings. Another job must read them, both must count
// against the limits of the campaign, and a campaign that has only these jobs must be withdrawn.
func TestPreflightCancelled(t *testing.T) {
	t.Parallel()
	c, q, j := preflightCampaign(t, 1, "stop.machine_time=100s", "stop.node_hours=1")
	var state journal.State
	site, err := c.ReadSite(t.Context(), c.Config.Libraries[0], &state, func(r journal.Record) error { return j.AppendTo(&state, r) })
	if err != nil || site == nil || len(q.submitted) != 2 {
		t.Fatalf("ReadSite = %v, %v after jobs %v, want the second to succeed", site, err, q.submitted)
	}
	machine, node := state.PreflightSeconds()
	if machine < 7 || machine > 60 || node < machine {
		t.Errorf("preflights took %g s, %g node-seconds, want 7 s of the cancelled job and a little", machine, node)
	}
	contents := testutil.Must(journal.Read(c.Config.Output))(t)
	again := testutil.Must(assembly.Restore(contents, c.Config.Output))(t)
	if got := again.Spec.Limits.MachineSeconds * float64(len(again.Problems)); got != 100-machine {
		t.Errorf("limit %g s after %g s of preflights, want the rest of 100 s", got, machine)
	}
	if got := again.Spec.Limits.NodeSeconds * float64(len(again.Problems)); got != 3600-node {
		t.Errorf("limit %g node-seconds after %g, want the rest of 3600", got, node)
	}
	if problems := contents.State().Problems; len(problems) != 0 || len(contents.State().Rounds) != 0 || slices.ContainsFunc(contents.State().Jobs, (*journal.Job).Open) {
		t.Errorf("problems %v in the journal, want none", problems)
	}
	if removed, err := c.Withdraw(t.Context()); err != nil || !removed {
		t.Errorf("Withdraw = %t, %v", removed, err)
	}
	if left, err := filepath.Glob(filepath.Join(c.Config.Output, "*")); err != nil || len(left) > 1 {
		t.Errorf("left behind: %v, %v, want the lock alone", left, err)
	}
}
