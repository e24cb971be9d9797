package campaign

import (
	"fmt"

	"tutti/activelearn"
	"tutti/coll"
	"tutti/journal"
)

// trials counts the attempts at candidates and collects retries for the next round.
type trials struct {
	most     int                    // number of failed attempts after which a candidate is given up
	attempts map[coll.Candidate]int // number of attempts; omits candidates whose only attempt succeeded
	retry    []coll.Candidate       // pending candidates to measure: they failed, or they are new in the space
}

// record adds a trial to a result and schedules a retry if necessary.
func (t *trials) record(res *Result, trial coll.Trial) error {
	if n := t.count(res.Ledger, trial.Candidate); n > 0 || trial.State != coll.TrialDone {
		t.attempts[trial.Candidate] = n + 1
	}
	retry, err := addTrial(res, trial, t.most)
	if retry {
		t.retry = append(t.retry, trial.Candidate)
	}
	return err
}

// count returns the number of attempts at a candidate so far.
func (t *trials) count(l *activelearn.Ledger, c coll.Candidate) int {
	if n, counted := t.attempts[c]; counted || !l.IsMeasured(c) {
		return n
	}
	return 1
}

// takeRetries returns the retries and clears their list.
func (t *trials) takeRetries() []coll.Candidate {
	retry := t.retry
	t.retry = nil
	return retry
}

// addTrial adds a trial to the result's ledger. It reports whether the candidate must be retried. If its
// last attempt failed, the candidate is given up with a warning.
func addTrial(res *Result, t coll.Trial, attempts int) (retry bool, err error) {
	if err := res.Ledger.Record(t); err != nil {
		return false, err
	}
	switch {
	case t.State == coll.TrialDone, res.Ledger.IsDone(t.Candidate): // a failed second measurement changes nothing
		return false, nil
	case t.Attempt < attempts:
		return true, nil
	}
	res.Ledger.Abandon(t.Candidate)
	res.Warnings = append(res.Warnings, fmt.Sprintf("%v is given up after %d attempts: %s: %s", t.Candidate, t.Attempt, t.Phase, t.Error))
	return false, nil
}

// recorder writes the records of a problem into the campaign's log and reports events.
type recorder struct {
	problem journal.Problem
	log     Log             // may be nil
	observe func(Event)     // may be nil
	jobs    map[string]bool // names of jobs that are submitted and have not ended

	evaluation activelearn.Evaluation // of the latest round
}

func (r *recorder) append(rec journal.Record) error {
	if r.log == nil {
		return nil
	}
	rec.Problem = r.problem
	return r.log.Append(rec)
}

// follow updates the set of jobs that are submitted and have not ended, after job j changed.
func (r *recorder) follow(j coll.Job) {
	if j.State == coll.JobSubmitted {
		r.jobs[j.Name] = true
	} else {
		delete(r.jobs, j.Name)
	}
}

func (r *recorder) report(phase Phase, res Result) {
	if r.observe == nil {
		return
	}
	r.observe(Event{Problem: r.problem, Evaluation: r.evaluation, Stop: res.Stop, Phase: phase, Jobs: len(r.jobs)})
}

// roundLog records the jobs and trials of one round. It implements benchrunner.Log.
type roundLog struct {
	run   *run
	round int
}

// Job writes the state of a job to the campaign's log.
func (l roundLog) Job(j coll.Job) error {
	if err := l.run.recorder.append(journal.Record{Kind: journal.KindJob, Round: l.round, Job: &j}); err != nil {
		return err
	}
	l.run.recorder.follow(j)
	l.run.report(PhaseMeasure)
	return nil
}

// Trial records a trial and adds it to the result.
func (l roundLog) Trial(t coll.Trial) error {
	if err := l.run.recorder.append(journal.Record{Kind: journal.KindTrial, Round: l.round, Trial: &t}); err != nil {
		return err
	}
	return l.run.trials.record(&l.run.result, t)
}

// Restore returns the result of a problem from its log, without measuring or training. The parameter `past`
// is nil if there are no records. Stop is "" if the problem has not stopped. The error matches ErrLog if
// records contradict the campaign.
func Restore(spec Spec, p Problem, past *journal.ProblemState) (Result, error) {
	if err := p.validate(spec); err != nil {
		return Result{}, err
	}
	res := Result{Ledger: activelearn.NewLedger(p.Space)}
	if past == nil {
		return res, nil
	}
	res.Stop = activelearn.StopReason(past.Stop)
	for number := 1; ; number++ {
		round, ok := past.Round(number)
		if !ok {
			break
		}
		if err := restoreRound(&res, spec, p, round); err != nil {
			return res, err
		}
	}
	var err error
	res.Study, err = StudyOf(past)
	return res, err
}

// restoreRound adds a round of the log to a result.
func restoreRound(res *Result, spec Spec, p Problem, round *journal.Round) error {
	res.Rounds = round.Number
	batch, err := round.Batch()
	if err != nil {
		return err
	}
	admit(res.Ledger, batch)
	if err := pend(res.Ledger, batch); err != nil {
		return err
	}
	for t, err := range round.Trials() {
		if err != nil {
			return err
		}
		if _, err := addTrial(res, t, spec.Attempts); err != nil {
			return fmt.Errorf("%s: round %d: %w: %w", p.Problem, round.Number, ErrLog, err)
		}
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
