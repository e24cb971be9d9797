package campaign

import (
	"cmp"
	"fmt"
	"slices"

	"tutti/activelearn"
	"tutti/benchrunner"
	"tutti/coll"
	"tutti/journal"
)

// trials counts the attempts at candidates and collects retries for the next round.
//
// An algorithm is suspect if it failed while it ran, and has not worked with any parameters. Only one of its candidates
// is tried again at a time. If this candidate is given up, all waiting candidates of the algorithm are given up, too.
type trials struct {
	most     int                    // number of failed attempts after which a candidate is given up
	attempts map[coll.Candidate]int // number of attempts; omits candidates whose only attempt succeeded
	noisy    map[coll.Candidate]int // number of attempts that the machine was too noisy for
	refused  map[coll.Layout]bool   // layouts that the machine never runs
	retry    []coll.Candidate       // pending candidates to measure: they failed, or they are new in the space
	worked   map[string]bool        // by name of an algorithm: false for suspects
}

func newTrials(most int) trials {
	return trials{most: most, attempts: map[coll.Candidate]int{}, noisy: map[coll.Candidate]int{}, refused: map[coll.Layout]bool{}, worked: map[string]bool{coll.Default.Name: true}}
}

// record adds a trial to a result. If the trial failed, record schedules a retry. After the last attempt, it
// gives the candidate up with a warning. Failures through noise are counted apart, because they are not the
// candidate's. A candidate in a layout that the machine refuses is not tried again.
func (t *trials) record(res *Result, trial coll.Trial) error {
	n := t.count(res.Ledger, trial.Candidate)
	if n > 0 || trial.State != coll.TrialDone {
		t.attempts[trial.Candidate] = n + 1
	}
	if err := res.Ledger.Record(trial); err != nil {
		return err
	}
	name := trial.Algorithm.Name
	if trial.State == coll.TrialDone || trial.Phase == benchrunner.PhaseRun {
		t.worked[name] = t.worked[name] || trial.State == coll.TrialDone
	}
	if trial.Phase == benchrunner.PhaseNoise {
		t.noisy[trial.Candidate]++
	}
	noisy := t.noisy[trial.Candidate]
	switch {
	case trial.State == coll.TrialDone, res.Ledger.IsDone(trial.Candidate): // a failed second measurement changes nothing
	case trial.Phase == benchrunner.PhaseRefused:
		t.endLayout(res, trial)
	case trial.Phase == benchrunner.PhaseNoise && noisy >= t.most:
		res.Ledger.MarkNoisy(trial.Candidate)
		res.Warnings = append(res.Warnings, fmt.Sprintf("%v is noisy: %d times too noisy to be used: %s", trial.Candidate, noisy, trial.Error))
	case trial.Phase == benchrunner.PhaseNoise || t.attempts[trial.Candidate]-noisy < t.most:
		t.retry = append(t.retry, trial.Candidate)
	default:
		t.giveUp(res, trial)
	}
	return nil
}

// endLayout marks a candidate whose layout the machine never runs. It adds a warning for each such layout.
func (t *trials) endLayout(res *Result, trial coll.Trial) {
	res.Ledger.MarkRefused(trial.Candidate)
	if layout := trial.Layout(); !t.refused[layout] {
		t.refused[layout] = true
		res.Warnings = append(res.Warnings, fmt.Sprintf("%v is left out, because the machine never runs it: %s", layout, trial.Error))
	}
}

// giveUp marks a candidate as given up. If its algorithm is suspect (see trials), giveUp also gives up all candidates of
// the algorithm that wait for a retry.
func (t *trials) giveUp(res *Result, trial coll.Trial) {
	name, others := trial.Algorithm.Name, ""
	waiting := len(t.retry)
	t.retry = slices.DeleteFunc(t.retry, func(c coll.Candidate) bool {
		if c.Algorithm.Name != name || !t.suspect(name) {
			return false
		}
		res.Ledger.Abandon(c)
		return true
	})
	if n := waiting - len(t.retry); n > 0 {
		others = fmt.Sprintf(", and so are %d other candidates of %s", n, name)
	}
	res.Ledger.Abandon(trial.Candidate)
	own := t.attempts[trial.Candidate] - t.noisy[trial.Candidate]
	res.Warnings = append(res.Warnings, fmt.Sprintf("%v is given up after %d attempts%s: %s: %s", trial.Candidate, own, others, trial.Phase, trial.Error))
}

func (t *trials) suspect(algorithm string) bool {
	worked, known := t.worked[algorithm]
	return known && !worked
}

// count returns the number of attempts at a candidate so far.
func (t *trials) count(l *activelearn.Ledger, c coll.Candidate) int {
	if n, counted := t.attempts[c]; counted || !l.IsMeasured(c) {
		return n
	}
	return 1
}

// open returns the number of candidates that wait for another attempt and without which nothing can be concluded: those
// that the machine was too noisy for, and defaults.
func (t *trials) open() int {
	n := 0
	for _, c := range t.retry {
		if t.noisy[c] > 0 || c.Algorithm.IsDefault() {
			n++
		}
	}
	return n
}

// next returns the retries for the next round. Of each suspect algorithm (see trials) it returns one.
func (t *trials) next() []coll.Candidate {
	var out []coll.Candidate
	taken := map[string]bool{}
	for _, c := range t.retry {
		if name := c.Algorithm.Name; !taken[name] || !t.suspect(name) {
			taken[name] = true
			out = append(out, c)
		}
	}
	return out
}

// cut ends a round that the time limit left without some trials. Their candidates are free again. Those that failed in an
// earlier round are measured again if there is another round.
func (t *trials) cut(res *Result, batch []coll.Candidate, why string) {
	left := 0
	for _, c := range batch {
		switch l := res.Ledger; {
		case !l.IsPending(c) || slices.Contains(t.retry, c):
			continue
		case t.attempts[c] > 0 && !l.IsMeasured(c):
			t.retry = append(t.retry, c)
		default:
			l.Release(c)
		}
		left++
	}
	res.Warnings = append(res.Warnings, fmt.Sprintf("%d measurements were left out: %s", left, why))
}

// begin marks the candidates of a batch as pending and removes them from the retries.
func (t *trials) begin(l *activelearn.Ledger, batch []coll.Candidate) error {
	begun := make(map[coll.Candidate]bool, len(batch))
	for _, c := range batch {
		begun[c] = true
		if l.IsFree(c) || l.IsDone(c) { // a retry is pending already
			if err := l.Pend(c); err != nil {
				return err
			}
		}
	}
	t.retry = slices.DeleteFunc(t.retry, func(c coll.Candidate) bool { return begun[c] })
	return nil
}

// roundLog records the jobs and trials of one round. It implements benchrunner.Log.
type roundLog struct {
	run   *run
	round int
}

// Job writes the state of a job to the campaign's log.
func (l roundLog) Job(j coll.Job) error {
	if err := l.run.append(journal.Record{Kind: journal.KindJob, Round: l.round, Job: &j}); err != nil {
		return err
	}
	delete(l.run.submitted, j.Name)
	if j.State == coll.JobSubmitted {
		l.run.submitted[j.Name] = true
	}
	l.run.report(PhaseMeasure)
	return nil
}

// Trial records a trial and adds it to the result.
func (l roundLog) Trial(t coll.Trial) error {
	if err := l.run.append(journal.Record{Kind: journal.KindTrial, Round: l.round, Trial: &t}); err != nil {
		return err
	}
	return l.run.trials.record(&l.run.result, t)
}

// Restore returns the result of a problem from its log, without measuring or training. `past`
// is nil if there are no records. Stop is "" if the problem has not stopped. The error matches ErrLog if
// records contradict the campaign.
func Restore(spec Spec, p Problem, past *journal.ProblemState) (Result, error) {
	if err := p.validate(spec); err != nil {
		return Result{}, err
	}
	past = cmp.Or(past, &journal.ProblemState{})
	res := Result{Ledger: activelearn.NewLedger(p.Space), Stop: activelearn.StopReason(past.Stop), Files: past.Files}
	trials := newTrials(spec.Attempts)
	for number := 1; ; number++ {
		round, ok := past.Round(number)
		if !ok {
			break
		}
		if err := restoreRound(&res, &trials, p, round); err != nil {
			return res, err
		}
	}
	var err error
	res.Study, err = studyOf(past)
	return res, err
}

// restoreRound adds a round of the log to a result.
func restoreRound(res *Result, all *trials, p Problem, round *journal.Round) error {
	res.Rounds = round.Number
	batch, err := round.Batch()
	if err != nil {
		return err
	}
	addLoggedCandidates(res.Ledger, batch)
	if err := all.begin(res.Ledger, batch); err != nil {
		return err
	}
	for t, err := range round.Trials() {
		if err != nil {
			return err
		}
		if err := all.record(res, t); err != nil {
			return fmt.Errorf("%s: round %d: %w: %w", p.Problem, round.Number, ErrLog, err)
		}
	}
	if round.Cut != "" {
		all.cut(res, batch, round.Cut)
	}
	if round.Evaluation != nil {
		res.Evaluations = append(res.Evaluations, *round.Evaluation)
	}
	if len(round.Grow) > 0 {
		_, err := enlarge(res, p, round.Grow)
		return err
	}
	return nil
}
