package live_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"tutti/benchrunner"
	"tutti/benchrunner/live"
	"tutti/benchrunner/local"
	"tutti/coll"
	"tutti/internal/testutil"
	"tutti/internal/testutil/campaigntest"
	"tutti/journal"
)

// TestMain runs the tests or, if TUTTI_SOAK_DIR is set, the tutti process that TestSoak kills.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TUTTI_SOAK_DIR"); dir != "" {
		if err := tune(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	soakRounds   = 4
	soakAttempts = 2
)

// soakCases returns the candidates that a round of a tuning problem measures for the first time.
func soakCases(problem, round int) []coll.Candidate {
	behaviours := []string{"a", "b", "slow", "a", "crash", "a", "half", "a", "nolaunch", "b"}
	if problem == 0 && round == 2 {
		behaviours[5] = "hang"
	}
	var out []coll.Candidate
	for i, behaviour := range behaviours {
		out = append(out, at(1+i/5, int64(1000*problem+100*round+i), behaviour))
	}
	return out
}

// tune runs a small campaign with two problems on one machine. Each round measures new candidates, and
// again those that failed before. A journal records everything.
func tune(dir string) error {
	j, past, err := journal.Open(dir)
	if errors.Is(err, os.ErrNotExist) {
		past = &journal.Contents{}
		j, err = journal.Create(dir, journal.Header{Campaign: "soak", ID: "soak"})
	}
	if err != nil {
		return err
	}
	defer j.Close()
	s, err := local.New(local.Options{})
	if err != nil {
		return err
	}
	m, err := live.New(live.Options{
		Campaign: "soak", Dir: dir, Scheduler: s, Launcher: fakeLauncher{}, Force: fakeForce,
		Program:    fakeProgram{path: filepath.Join(dir, "fake program.sh"), ledger: filepath.Join(dir, "ledger"), most: 4, allowance: time.Second},
		LaunchTime: time.Second, Settle: time.Second, Poll: live.Poll{Min: 2 * time.Millisecond, Max: 200 * time.Millisecond},
	})
	if err != nil {
		return err
	}
	var group errgroup.Group
	for p := range 2 {
		problem := journal.Problem{Library: fmt.Sprint("library", p), Collective: coll.Bcast}
		group.Go(func() error { return tuneProblem(m, j, problem, p, past.State().Rounds) })
	}
	return group.Wait()
}

type journalLog struct {
	journal *journal.Journal
	problem journal.Problem
	round   int
	trial   func(coll.Trial)
}

func (l journalLog) Job(j coll.Job) error {
	return l.journal.Append(journal.Record{Kind: journal.KindJob, Problem: l.problem, Round: l.round, Job: &j})
}

func (l journalLog) Trial(t coll.Trial) error {
	l.trial(t)
	return l.journal.Append(journal.Record{Kind: journal.KindTrial, Problem: l.problem, Round: l.round, Trial: &t})
}

func tuneProblem(m *live.Machine, j *journal.Journal, problem journal.Problem, number int, past []*journal.Round) error {
	attempts := map[coll.Candidate]int{}
	var retry []coll.Candidate
	for round := 1; round <= soakRounds; round++ {
		asked := append(soakCases(number, round), retry...)
		retry = nil
		trial := func(t coll.Trial) {
			attempts[t.Candidate]++
			if t.State == coll.TrialFailed && t.Attempt < soakAttempts {
				retry = append(retry, t.Candidate)
			}
		}
		known := &memory{}
		for _, r := range past {
			if r.Problem == problem && r.Number == round {
				known.jobs, known.trials = r.Jobs(), slices.Collect(r.Trials())
			}
		}
		batch := benchrunner.Batch{Label: problem.Library + "-bcast", Round: round}
		for _, c := range asked {
			batch.Requests = append(batch.Requests, benchrunner.Request{Candidate: c, Attempt: attempts[c] + 1})
		}
		for _, t := range known.trials {
			trial(t)
		}
		if err := m.Run(context.Background(), resumedBatch(batch, known), journalLog{j, problem, round, trial}); err != nil {
			return err
		}
		slices.SortFunc(retry, coll.CompareCandidates) // the order in which trials end is random
	}
	return nil
}

// soakKills returns how often TestSoak kills tutti. The environment variable SOAK overrides the default
// number.
func soakKills(t *testing.T) int {
	switch s := os.Getenv("SOAK"); {
	case s != "":
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("SOAK=%q: want a number of kills", s)
		}
		return n
	case testing.Short() || !testutil.AllCases():
		return 5
	}
	return 30
}

// TestSoak kills the tutti process of a campaign at random times until no kills remain. It checks that the
// journal has the same trials as the journal of an undisturbed campaign.
func TestSoak(t *testing.T) {
	testutil.NeedAllCases(t)
	t.Parallel() // the test mostly waits for jobs
	kills := soakKills(t)
	want := soak(t, new(int), nil)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	done, campaigns := 0, 0
	for left := kills; left > 0; campaigns++ {
		before := left
		got := soak(t, &left, rng)
		done += before - left
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("campaign %d, after %d kills (-undisturbed +killed):\n%s", campaigns+1, done, diff)
		}
	}
	fmt.Printf("soak: %d kills of tutti in %d campaigns of %d trials: nothing lost, nothing doubled\n", done, campaigns, len(want))
}

// soak runs one campaign. It kills the process at random times until no kills remain, and returns the
// result of soakFacts.
func soak(t *testing.T, kills *int, rng *rand.Rand) []string {
	t.Helper()
	dir := t.TempDir()
	newFakeProgram(t, dir)
	for {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), "TUTTI_SOAK_DIR="+dir)
		var said strings.Builder
		cmd.Stderr = &said
		testutil.NoError(t, cmd.Start())
		var killed sync.WaitGroup
		stop := make(chan struct{})
		if *kills > 0 {
			// Most processes run for as long as a few jobs need, some only for a few milliseconds.
			life := time.Duration(5+rng.ExpFloat64()*150) * time.Millisecond
			killed.Go(func() {
				select {
				case <-time.After(life):
					_ = cmd.Process.Kill() // the process may have ended already
				case <-stop:
				}
			})
		}
		err := cmd.Wait()
		close(stop)
		killed.Wait()
		var exit *exec.ExitError
		switch {
		case err == nil:
			return soakFacts(t, dir)
		case errors.As(err, &exit) && exit.ExitCode() < 0:
			*kills--
		default:
			t.Fatalf("%v: %s", err, said.String())
		}
	}
}

// soakFacts checks that the journal and the ledger of a campaign agree. It returns one line for each trial,
// sorted.
func soakFacts(t *testing.T, dir string) []string {
	t.Helper()
	measured := soakLedger(t, dir)
	var facts []string
	var jobs []coll.Job
	for _, r := range campaigntest.Records(t, dir) {
		if r.Kind == journal.KindJob {
			jobs = append(jobs, *r.Job)
			continue
		}
		tr := r.Trial
		facts = append(facts, fmt.Sprintf("%v round %d: %v attempt %d %s %g %s", r.Problem, r.Round, tr.Candidate, tr.Attempt, tr.State, tr.Seconds, tr.Phase))
		launches := measured[fmt.Sprint(tr.MsgBytes)]
		if want := tr.State == coll.TrialDone; want != (len(launches) == 1 && strings.Contains(launches[0], "/"+tr.Job+"/")) || !want && len(launches) != 0 {
			t.Errorf("%v is %s by job %s, measured by %v: want one launch of that job, none for what failed", tr.Candidate, tr.State, tr.Job, launches)
		}
	}
	checkOrder(t, jobs)
	slices.Sort(facts)
	if n := len(slices.Compact(slices.Clone(facts))); n != len(facts) {
		t.Errorf("%d of %d trials are there twice", len(facts)-n, len(facts))
	}
	return facts
}

// soakLedger returns the launches that measured each case. The keys are the numbers of the cases.
func soakLedger(t *testing.T, dir string) map[string][]string {
	t.Helper()
	text := testutil.Must(os.ReadFile(filepath.Join(dir, "ledger")))(t)
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		launch, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		out[number] = append(out[number], launch)
	}
	return out
}
